"""Source: the bytes of a file or of standard input, decompressed, and a first look at them."""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.progress import Progress

HEAD = 1 << 16  # bytes that formats are recognized by
PIECE = 1 << 22  # bytes of a line that are looked at together
LONGEST = 1 << 28  # a line that is longer lists too many neighbors to be meant
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
SUFFIXES = {"gzip": ".gz", "zstd": ".zst", "bz2": ".bz2"}


class Source:
    """What a graph is read from. `head` shows its first bytes, `stream` gives all of them, once."""

    def __init__(self, path: str | PathLike[str], progress: Progress | None = None) -> None:
        self.path = None if str(path) == "-" else Path(path)
        self.name = "standard input" if self.path is None else str(path)
        self._progress = progress
        if self.path is not None and not self.path.exists():
            raise FormatError(f"{self.name}: there is no such file.")
        try:
            self._raw = sys.stdin.buffer if self.path is None else self._open(self.path)
            self._start = self._raw.read(HEAD) if self._raw else b""
        except OSError as error:
            raise FormatError(f"{self.name}: cannot be read ({error.strerror}).") from error

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.path is not None and self._raw:
            self._raw.close()

    @staticmethod
    def _open(path: Path) -> BinaryIO | None:
        return None if path.is_dir() else path.open("rb")

    @cached_property
    def size(self) -> int:
        """The bytes of the file, compressed as they are; 0 where that is not known."""
        return self.path.stat().st_size if self.path is not None and self.path.is_file() else 0

    @property
    def is_pipe(self) -> bool:
        """Whether one may have to wait for its bytes: standard input, or another pipe."""
        return self.path is None or not (self.path.is_file() or self.is_directory)

    @property
    def is_directory(self) -> bool:
        """Whether it is a folder, which has no bytes of its own."""
        return self._raw is None

    @property
    def plain_file(self) -> Path | None:
        """The path, if one can move about in what is there: no pipe, nothing compressed."""
        regular = self.path is not None and self.path.is_file() and not self.compression
        return self.path if regular else None

    @cached_property
    def compression(self) -> str | None:
        """gzip, zstd or bz2, by its first bytes; None for plain bytes."""
        return next((kind for magic, kind in MAGIC.items() if self._start.startswith(magic)), None)

    @property
    def suffix(self) -> str:
        """The suffix that names the format, without that of the compression: .csv of a.csv.gz."""
        suffixes = self.path.suffixes if self.path is not None else []
        if self.compression and suffixes and suffixes[-1] == SUFFIXES[self.compression]:
            suffixes = suffixes[:-1]
        return suffixes[-1].lower() if suffixes else ""

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed: what the format is recognized by."""
        head = b""
        while len(head) < HEAD and (more := self._bytes.read(HEAD - len(head))):
            head += more
        return head

    def read(self, size: int) -> bytes:
        """The next bytes, decompressed, from the first on: `size` of them, fewer at the end."""
        if self._given < len(self.head):
            part = self.head[self._given : self._given + size]
            self._given += len(part)
            return part
        return self._bytes.read(size)

    def whole(self) -> BinaryIO:
        """The decompressed bytes as a file one can move about in."""
        if self.plain_file:
            return self.plain_file.open("rb")
        copy = tempfile.TemporaryFile(prefix="hopvec-")  # noqa: SIM115  (the caller closes it)
        while block := self.read(1 << 22):
            copy.write(block)
        copy.seek(0)
        return copy

    def stream(self) -> io.BufferedReader:
        """The decompressed bytes as a file that is read from start to end, once."""
        return io.BufferedReader(_Raw(self), 1 << 20)

    def text(self) -> io.TextIOWrapper:
        """The decompressed bytes as UTF-8 text, line by line."""
        return io.TextIOWrapper(self.stream(), encoding="utf-8-sig")

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines of the text with their numbers from 1 on; what is not UTF-8 is refused."""
        stream, number = self.stream(), 1
        while line := self._line(stream, number):
            try:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise FormatError(
                    f"{self.name}, line {number:,}: this is no UTF-8 text "
                    f"(byte {error.start + 1:,} of the line)."
                ) from error
            number += 1

    def _line(self, stream: io.BufferedReader, number: int) -> bytes:
        """The next line; what cannot be one is refused before it fills the memory."""
        line = b""
        while piece := stream.readline(PIECE):
            line = line + piece if line else piece
            if b"\0" in piece:
                raise FormatError(f"{self.name}, line {number:,}: a byte 0, so this is no text.")
            if piece.endswith(b"\n"):
                break
            if len(line) > LONGEST:
                raise FormatError(
                    f"{self.name}, line {number:,}: the line is longer than {LONGEST:,} bytes."
                )
        return line

    def report(self, share: float) -> None:
        """Tells how much of the file was read, for readers that move about in it."""
        if self._progress:
            self._progress(int(self.size * share), self.size)

    _given = 0

    @cached_property
    def _bytes(self) -> _Decompressed:
        return _Decompressed(self)


class _Decompressed:
    """The bytes of a source behind its compression; faults are told in a sentence."""

    def __init__(self, source: Source) -> None:
        self._source, self._count = source, 0
        self._stream: Any = _Counted(source)
        if source.compression:
            packed = pa.PythonFile(self._stream, mode="r")
            self._stream = pa.CompressedInputStream(packed, source.compression)

    def read(self, size: int) -> bytes:
        try:
            block: bytes = self._stream.read(size)
        except (OSError, pa.ArrowException) as error:
            kind = self._source.compression
            what = f"damaged {kind} data" if kind else "it"
            if "Truncated" in str(error):
                raise FormatError(
                    f"{self._source.name}: the file is cut short: its {kind} data ends too early, "
                    f"after byte {self._count:,} of what it holds."
                ) from error
            raise FormatError(
                f"{self._source.name}: {what} cannot be read after byte {self._count:,} ({error})."
            ) from error
        self._count += len(block)
        return block


class _Counted:
    """The raw bytes of a source, the ones already looked at first, with progress."""

    closed = False

    def __init__(self, source: Source) -> None:
        self._source, self._done = source, 0

    def read(self, size: int = -1) -> bytes:
        source = self._source
        if source._start:
            block, source._start = source._start[:size], source._start[size:]
        else:
            block = source._raw.read(size) if source._raw else b""
        self._done += len(block)
        if source._progress:
            source._progress(self._done, source.size)
        return block

    def readable(self) -> bool:
        return True


class _Raw(io.RawIOBase):
    def __init__(self, source: Source) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block = self._source.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)
