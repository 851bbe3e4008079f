"""PartialFile: a partially downloaded file, which can be resumed later."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path

from hopvec.datasets.checksum import BLOCK_BYTES
from hopvec.errors import DatasetError
from hopvec.formats.atomic import atomic_write, lock
from hopvec.machine import format_bytes
from hopvec.progress import Progress

logger: logging.Logger = logging.getLogger("hopvec")

WAIT = 0.2  # seconds between two checks whether another process is done


@dataclass(frozen=True)
class Origin:
    """The URL and version of a file, by which the server recognizes it in a later request."""

    url: str
    validator: str | None = None
    """Its ETag, else its Last-Modified date; None if the server sends neither."""
    size: int | None = None


@contextmanager
def locked_part(destination: Path) -> Iterator[PartialFile]:
    """Locks the partial file of a destination; waits while another process has the lock."""
    path, logged = destination.with_name(f"{destination.name}.part"), False
    while True:
        with _open(path) as file:
            if lock(file) is not False and _still_named(file, path):
                part = PartialFile(destination, path, file)
                try:
                    yield part
                finally:
                    if part.size == 0:
                        part.remove()
                return
        if not logged:
            logger.info("%s: waiting for another process to download it.", destination)
            logged = True
        time.sleep(WAIT)


def _open(path: Path) -> FileIO:
    """Open a file for reading and appending. Raises DatasetError for a symbolic link or a device.

    Another user of the directory could have made it, so that another file would be overwritten.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # as the system has them
        flags |= getattr(os, name, 0)
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError:
        if path.is_symlink():
            raise DatasetError(f"{path}: this is a symbolic link. Delete it first.") from None
        raise
    file = FileIO(descriptor, "a+b")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise DatasetError(f"{path}: this is not a regular file. Delete it first.")
    return file


class PartialFile:
    """NAME.part, which becomes the file NAME, and NAME.part.json, which holds its Origin.

    Whenever the process ends, NAME.part contains the first bytes of that file and nothing else.
    """

    def __init__(self, destination: Path, path: Path, file: FileIO) -> None:
        self.path: Path = path
        self._destination, self._file = destination, file
        self._origin_path = path.with_name(f"{path.name}.json")
        self._origin: Origin | None = None
        self.size: int = 0
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes so far, in hexadecimal."""
        return self._digest.hexdigest()

    @property
    def validator(self) -> str | None:
        """The version to send with a request for the rest; None if the rest cannot be requested."""
        return self._origin.validator if self._origin and self.size else None

    @property
    def complete(self) -> bool:
        """Whether the file is complete."""
        return self._origin is not None and self._origin.size == self.size

    @property
    def total(self) -> int:
        """The size of the complete file; 0 if it is unknown."""
        return (self._origin and self._origin.size) or 0

    def resume(self, url: str, progress: Progress) -> None:
        """Read the bytes that an earlier run has downloaded from the same URL."""
        with suppress(OSError, ValueError, TypeError):
            origin = Origin(**json.loads(self._origin_path.read_text(encoding="utf-8")))
            self._origin = origin if origin.url == url else None
        if self._origin is None:
            self.discard()
            return
        self._file.seek(0)
        while block := self._file.read(BLOCK_BYTES):
            self._count(block)
            progress(self.size, self.total)
        if not (self.validator or self.complete):
            self.discard()

    def begin(self, origin: Origin) -> None:
        """Discards all bytes; the next ones are the first of this file."""
        self.discard()
        with atomic_write(self._origin_path, follow_links=False) as (file,):
            file.write(json.dumps(asdict(origin)).encode())
        self._origin = origin

    def write(self, block: bytes) -> None:
        """Append the next bytes."""
        left = memoryview(block)
        try:
            while left:
                written = self._file.write(left)
                self._count(left[:written])
                left = left[written:]
        except OSError as error:
            raise DatasetError(
                f"{self.path}: writing failed after {format_bytes(self.size)} "
                f"({error.strerror}). Free some disk space and run the download again to resume it."
            ) from error

    def finish(self) -> None:
        """Rename the complete file to its final name."""
        os.fsync(self._file.fileno())
        if (
            os.fstat(self._file.fileno()).st_size != self.size
        ):  # written by two processes without locks
            self.remove()
            raise DatasetError(
                f"{self.path}: another process wrote to it at the same time. It was removed."
            )
        self._close_on_windows()
        self.path.replace(self._destination)
        self._origin_path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Discards all bytes."""
        self._file.truncate(0)
        self._origin, self.size, self._digest = None, 0, hashlib.sha256()

    def remove(self) -> None:
        """Delete the files."""
        self._close_on_windows()
        self.path.unlink(missing_ok=True)
        self._origin_path.unlink(missing_ok=True)

    def _count(self, block: bytes | memoryview) -> None:
        self._digest.update(block)
        self.size += len(block)

    def _close_on_windows(self) -> None:
        """Close the file on Windows, where open files can be neither renamed nor deleted."""
        if os.name == "nt":
            self._file.close()


def _still_named(file: FileIO, path: Path) -> bool:
    """Whether an open file still has its name: another process may have renamed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
