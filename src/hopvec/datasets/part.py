"""Part: the bytes of a file that have arrived so far, kept so that the rest can follow later."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path

from hopvec.datasets.checksum import BLOCK
from hopvec.errors import DatasetError
from hopvec.formats.atomic import atomic_write, lock
from hopvec.machine import format_bytes
from hopvec.progress import Progress

logger = logging.getLogger("hopvec")

WAIT = 0.2  # seconds between two looks whether another process is done


@dataclass(frozen=True)
class Origin:
    """What a server said of a file: by this it is known again when the rest is asked for."""

    address: str
    validator: str | None = None
    """Its ETag, or else the time of its last change; None where the server told neither."""
    size: int | None = None


@contextmanager
def locked_part(destination: Path) -> Iterator[Part]:
    """The Part of a file for this process alone: waits while another one has it."""
    path, told = destination.with_name(f"{destination.name}.part"), False
    while True:
        with path.open("a+b", buffering=0) as file:
            if lock(file) is not False and _is_called(file, path):
                part = Part(destination, path, file)
                try:
                    yield part
                finally:
                    if part.size == 0:
                        part.remove()
                return
        if not told:
            logger.info("%s: waiting for another process that downloads it.", destination)
            told = True
        time.sleep(WAIT)


class Part:
    """NAME.part beside the file NAME that it will be, and NAME.part.json, which tells its Origin.

    Whatever becomes of the process, NAME.part holds first bytes of that one file, nothing else.
    """

    def __init__(self, destination: Path, path: Path, file: FileIO) -> None:
        self._destination, self.path, self._file = destination, path, file
        self._note = path.with_name(f"{path.name}.json")
        self._origin: Origin | None = None
        self.size = 0
        self.digest = hashlib.sha256()
        """Of the bytes so far."""

    @property
    def validator(self) -> str | None:
        """What tells the server of which file the rest is wanted; None where that cannot be."""
        return self._origin.validator if self._origin and self.size else None

    @property
    def whole(self) -> bool:
        """Whether all bytes are there."""
        return self._origin is not None and self._origin.size == self.size

    @property
    def of(self) -> int:
        """The bytes of the whole file; 0 where that is not known."""
        return (self._origin and self._origin.size) or 0

    def recall(self, address: str, progress: Progress) -> None:
        """Takes up what an earlier run has left of the same address."""
        with suppress(OSError, ValueError, TypeError):
            origin = Origin(**json.loads(self._note.read_text(encoding="utf-8")))
            self._origin = origin if origin.address == address else None
        if self._origin is None:
            self.forget()
            return
        self._file.seek(0)
        while block := self._file.read(BLOCK):
            self._count(block)
            progress(self.size, self.of)
        if not (self.validator or self.whole):
            self.forget()

    def begin(self, origin: Origin) -> None:
        """Throws away what there is: the next bytes are the first ones of this file."""
        self.forget()
        with atomic_write(self._note) as (file,):
            file.write(json.dumps(asdict(origin)).encode())
        self._origin = origin

    def write(self, block: bytes) -> None:
        """Adds the next bytes."""
        left = memoryview(block)
        try:
            while left:
                written = self._file.write(left)
                self._count(left[:written])
                left = left[written:]
        except OSError as error:
            raise DatasetError(
                f"{self.path}: no more than {format_bytes(self.size)} can be written "
                f"({error.strerror}). They are kept: make room, and the same download goes on."
            ) from error

    def finish(self) -> None:
        """Gives the bytes the name of the file."""
        os.fsync(self._file.fileno())
        if os.fstat(self._file.fileno()).st_size != self.size:  # two at once, where nothing locks
            self.remove()
            raise DatasetError(f"{self.path}: another process wrote to it too. It was removed.")
        self._let_go()
        self.path.replace(self._destination)
        self._note.unlink(missing_ok=True)

    def forget(self) -> None:
        """Throws away what there is."""
        self._file.truncate(0)
        self._origin, self.size, self.digest = None, 0, hashlib.sha256()

    def remove(self) -> None:
        """Deletes what there is."""
        self._let_go()
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _count(self, block: bytes | memoryview) -> None:
        self.digest.update(block)
        self.size += len(block)

    def _let_go(self) -> None:
        """Closes the file where an open one can be neither renamed nor deleted."""
        if os.name == "nt":
            self._file.close()


def _is_called(file: FileIO, path: Path) -> bool:
    """Whether an open file has still its name: another process may have given it the final one."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
