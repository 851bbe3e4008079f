"""SpillFile: what does not fit in memory, in a file without a name.

The file is gone with the object, whatever happens to the process. It lies where Python puts
temporary files, which TMPDIR decides; on the command line, --spill-dir does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopvec.errors import FormatError


class SpillFile:
    """A file of numbers: written at its end or anywhere, read back into arrays or mapped."""

    def __init__(self) -> None:
        with _told():
            self._file = tempfile.TemporaryFile(prefix="hopvec-", buffering=0)  # noqa: SIM115
        self._size = 0

    def append(self, array: NDArray[Any]) -> None:
        """Writes an array at the end."""
        self.write(self._size, array)

    def write(self, offset: int, array: NDArray[Any]) -> None:
        """Writes an array at a byte of the file."""
        left = memoryview(np.ascontiguousarray(array).view(np.uint8).reshape(-1))  # type: ignore[arg-type]
        with _told():
            self._file.seek(offset)
            while left:
                left = left[self._file.write(left) :]
        self._size = max(self._size, offset + array.nbytes)

    def scatter(self, rows: NDArray[np.int32], array: NDArray[Any]) -> None:
        """Writes each row of an array at one of the rows of the file."""
        for row, values in zip(rows.tolist(), array, strict=True):
            self.write(row * values.nbytes, values)

    def read(self, offset: int, array: NDArray[Any]) -> None:
        """Fills a contiguous array from a byte of the file on."""
        left = memoryview(array.view(np.uint8).reshape(-1))  # type: ignore[arg-type]
        with _told():
            self._file.seek(offset)
            while left:
                count = self._file.readinto(left)
                if not count:
                    raise FormatError(
                        f"The spill directory {tempfile.gettempdir()}: a file in it ends "
                        f"{len(left):,} bytes too early. Name another one: TMPDIR, or --spill-dir."
                    )
                left = left[count:]

    def mapped(self, kind: np.dtype[Any] | type, shape: tuple[int, ...] = (-1,)) -> NDArray[Any]:
        """The whole file as an array that is read from disk as it is touched."""
        if self._size == 0:
            return np.empty(0, kind).reshape(shape)
        return np.memmap(self._file, kind, "r").reshape(shape)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FormatError(
            f"The spill directory {tempfile.gettempdir()}: cannot be written "
            f"({error.strerror or error}). Name another one: TMPDIR, or --spill-dir."
        ) from error
