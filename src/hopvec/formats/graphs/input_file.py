"""InputFile: a file or standard input, with its first bytes and transparent decompression."""

from __future__ import annotations

import io
import logging
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from os import PathLike
from pathlib import Path
from threading import Timer
from typing import Any, BinaryIO

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.progress import SHOW_IMMEDIATELY, Progress
from hopvec.spill import spill_errors

logger: logging.Logger = logging.getLogger("hopvec")

WAIT_SECONDS = 1.0  # for a pipe, before it is logged

HEAD = 1 << 16  # bytes by which formats are recognized
BLOCK_BYTES = 1 << 22  # bytes that are copied, or searched for a line end, at a time
MAX_LINE = 1 << 28  # bytes; a longer line cannot be the neighbors of a node
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
SUFFIXES = {"gzip": ".gz", "zstd": ".zst", "bz2": ".bz2"}


@contextmanager
def wait_reported(path: Path | None) -> Iterator[None]:
    """Log which pipe is being waited for, if it takes long; None is standard input."""
    message = "Waiting for data on standard input ..."
    if path is not None:
        message = f"Waiting for a program to write to the named pipe {path} ..."
    timer = Timer(WAIT_SECONDS, logger.warning, [message], {"extra": {SHOW_IMMEDIATELY: True}})
    timer.daemon = True
    if not (path is None and sys.stdin.isatty()):  # at a terminal, the user knows
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def is_pipe(path: str | PathLike[str]) -> bool:
    """Whether a path is standard input or a pipe, which can be read only once."""
    other = Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir())
    return str(path) == "-" or other


class InputFile:
    """An open input file. `head` previews its first bytes; all bytes can be read once.

    Parameters
    ----------
    path : str or path
        The file or directory; "-" is standard input.
    progress : callable, optional
        Called with the bytes read and the size of the file.
    spill_dir : path, optional
        The directory of temporary copies; see `seekable`.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        progress: Progress | None = None,
        spill_dir: str | PathLike[str] | None = None,
    ) -> None:
        self.path: Path | None = None if str(path) == "-" else Path(path)
        self.name: str = "standard input" if self.path is None else str(path)
        self.progress: Progress | None = progress
        self._spill_dir = spill_dir
        if self.path is not None and not self.path.exists():
            raise FormatError(f"{self.name}: there is no such file.")
        try:
            self._raw = self._open()
            self._raw_head = self._raw.read(HEAD) if self._raw else b""
        except OSError as error:
            raise FormatError(f"{self.name}: cannot be read ({error.strerror}).") from error

    def __enter__(self) -> InputFile:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.path is not None and self._raw:
            self._raw.close()

    def _open(self) -> BinaryIO | None:
        """Open the file; of a pipe, wait for the first bytes."""
        if self.path is not None and (self.path.is_dir() or self.path.is_file()):
            return None if self.path.is_dir() else self.path.open("rb")
        with wait_reported(self.path):
            raw = sys.stdin.buffer if self.path is None else self.path.open("rb")
            # stdin may have been replaced, for example by a test.
            if isinstance(raw, io.BufferedReader):
                raw.peek(1)
        return raw

    @cached_property
    def size(self) -> int:
        """The size of the file in bytes, before decompression; 0 if unknown."""
        return self.path.stat().st_size if self.path is not None and self.path.is_file() else 0

    @property
    def is_pipe(self) -> bool:
        """Whether reading may have to wait for data: standard input or another pipe."""
        return self.path is None or not (self.path.is_file() or self.is_directory)

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory, which has no bytes of its own."""
        return self._raw is None

    @property
    def plain_file(self) -> Path | None:
        """The path of a regular, uncompressed file; None for anything else."""
        regular = self.path is not None and self.path.is_file() and not self.compression
        return self.path if regular else None

    @cached_property
    def compression(self) -> str | None:
        """The compression by the first bytes: "gzip", "zstd" or "bz2"; None if there is none."""
        kinds = (kind for magic, kind in MAGIC.items() if self._raw_head.startswith(magic))
        return next(kinds, None)

    @property
    def suffix(self) -> str:
        """The suffix of the format, without that of the compression: .csv for a.csv.gz."""
        suffixes = self.path.suffixes if self.path is not None else []
        if self.compression and suffixes and suffixes[-1] == SUFFIXES[self.compression]:
            suffixes = suffixes[:-1]
        return suffixes[-1].lower() if suffixes else ""

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed, by which formats are recognized."""
        head = b""
        while len(head) < HEAD and (more := self._bytes.read(HEAD - len(head))):
            head += more
        return head

    def read(self, size: int) -> bytes:
        """Read the next decompressed bytes: at most `size`, none at the end."""
        if self._given < len(self.head):
            part = self.head[self._given : self._given + size]
            self._given += len(part)
            return part
        return self._bytes.read(size)

    def seekable(self) -> BinaryIO:
        """The decompressed bytes as a seekable file: a temporary copy if need be."""
        if self.plain_file:
            return self.plain_file.open("rb")
        with spill_errors(self._spill_dir):
            copy = tempfile.TemporaryFile(prefix="hopvec-", dir=self._spill_dir)  # noqa: SIM115
        while block := self.read(BLOCK_BYTES):
            with spill_errors(self._spill_dir):
                copy.write(block)
        with spill_errors(self._spill_dir):
            copy.seek(0)
        return copy

    def stream(self) -> io.BufferedReader:
        """The decompressed bytes as a file that can be read once, from start to end."""
        return io.BufferedReader(_Raw(self), 1 << 20)

    def text(self) -> io.TextIOWrapper:
        """The decompressed bytes as UTF-8 text."""
        return io.TextIOWrapper(self.stream(), encoding="utf-8-sig")

    def lines(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers, counted from 1; raises FormatError if not UTF-8."""
        stream, number = self.stream(), 1
        while line := self._line(stream, number):
            try:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise FormatError(
                    f"{self.name}, line {number:,}: this is not UTF-8 text "
                    f"(byte {error.start + 1:,} of the line)."
                ) from error
            number += 1

    def _line(self, stream: io.BufferedReader, number: int) -> bytes:
        """The next line; raises FormatError for binary data before it fills the memory."""
        parts: list[bytes] = []
        size = 0
        while part := stream.readline(BLOCK_BYTES):
            parts.append(part)
            size += len(part)
            if b"\0" in part:
                raise FormatError(f"{self.name}, line {number:,}: a null byte; this is not text.")
            if part.endswith(b"\n"):
                break
            if size > MAX_LINE:
                raise FormatError(
                    f"{self.name}, line {number:,}: the line is longer than {MAX_LINE:,} bytes."
                )
        return b"".join(parts)

    def report(self, fraction: float) -> None:
        """Report progress as a fraction of the file, for readers that seek in it."""
        if self.progress:
            self.progress(int(self.size * fraction), self.size)

    _given = 0

    @cached_property
    def _bytes(self) -> _Decompressed:
        return _Decompressed(self)


class _Decompressed:
    """The decompressed bytes of an input file; errors of the decompressor become FormatError."""

    def __init__(self, file: InputFile) -> None:
        self._file, self._count = file, 0
        self._stream: Any = _Counted(file)
        if file.compression:
            compressed = pa.PythonFile(self._stream, mode="r")
            self._stream = pa.CompressedInputStream(compressed, file.compression)

    def read(self, size: int) -> bytes:
        try:
            block: bytes = self._stream.read(size)
        except (OSError, pa.ArrowException) as error:
            kind = self._file.compression
            what = f"damaged {kind} data" if kind else "it"
            if "Truncated" in str(error):
                raise FormatError(
                    f"{self._file.name}: the file is truncated: its {kind} data ends "
                    f"unexpectedly after {self._count:,} decompressed bytes."
                ) from error
            raise FormatError(
                f"{self._file.name}: {what} cannot be read after byte {self._count:,} ({error})."
            ) from error
        self._count += len(block)
        return block


class _Counted:
    """The raw bytes of an input file, starting with those read for `head`; reports progress."""

    closed = False

    def __init__(self, file: InputFile) -> None:
        self._file, self._done = file, 0

    def read(self, size: int = -1) -> bytes:
        file = self._file
        if file._raw_head:
            block, file._raw_head = file._raw_head[:size], file._raw_head[size:]
        else:
            block = file._raw.read(size) if file._raw else b""
        self._done += len(block)
        if file.progress:
            file.progress(self._done, file.size)
        return block

    def readable(self) -> bool:
        return True


class _Raw(io.RawIOBase):
    def __init__(self, file: InputFile) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block = self._file.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)
