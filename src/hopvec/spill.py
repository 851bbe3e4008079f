"""Spill files: temporary storage on disk for data that does not fit in memory.

The files have no name, so the system deletes them when the process ends, however it ends. They lie
in the directory given as `directory` (`spill_dir=` in the public API), by default in the system's
directory for temporary files, which TMPDIR sets.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopvec.errors import FormatError

T = TypeVar("T", bound=np.generic)


class SpillFile:
    """A temporary file of raw arrays, written at any offset, and read back or memory-mapped."""

    def __init__(self, directory: str | PathLike[str] | None = None) -> None:
        self._directory = directory
        with spill_errors(directory):
            self._file = tempfile.TemporaryFile(prefix="hopvec-", buffering=0, dir=directory)  # noqa: SIM115
        self._size = 0

    def append(self, array: NDArray[Any]) -> None:
        """Write an array at the end of the file."""
        self.write(self._size, array)

    def write(self, offset: int, array: NDArray[Any]) -> None:
        """Write an array at an offset in bytes."""
        left = memoryview(np.ascontiguousarray(array).view(np.uint8).reshape(-1))  # type: ignore[arg-type]
        with spill_errors(self._directory):
            self._file.seek(offset)
            while left:
                left = left[self._file.write(left) :]
        self._size = max(self._size, offset + array.nbytes)

    def scatter(self, rows: NDArray[np.int32], array: NDArray[Any]) -> None:
        """Write row i of an array as row rows[i] of the file."""
        for row, values in zip(rows.tolist(), array, strict=True):
            self.write(row * values.nbytes, values)

    def read(self, offset: int, array: NDArray[Any]) -> None:
        """Fill a contiguous array with the bytes from an offset on."""
        left = memoryview(array.view(np.uint8).reshape(-1))  # type: ignore[arg-type]
        with spill_errors(self._directory):
            self._file.seek(offset)
            while left:
                count = self._file.readinto(left)
                if not count:
                    raise _error(
                        self._directory, f"a file in it ends {len(left):,} bytes too early"
                    )
                left = left[count:]

    def mapped(self, dtype: np.dtype[Any] | type, shape: tuple[int, ...] = (-1,)) -> NDArray[Any]:
        """The whole file as a read-only memory map."""
        if self._size == 0:
            return np.empty(0, dtype).reshape(shape)
        with spill_errors(self._directory):
            return np.memmap(self._file, dtype, "r").reshape(shape)


@contextmanager
def spill_errors(directory: str | PathLike[str] | None) -> Iterator[None]:
    """Raise FormatError with the name of the directory if a file in it cannot be used."""
    try:
        yield
    except OSError as error:
        raise _error(directory, f"cannot be written ({error.strerror or error})") from error


def _error(directory: str | PathLike[str] | None, cause: str) -> FormatError:
    return FormatError(
        f"The spill directory {directory or tempfile.gettempdir()}: {cause}. Choose another one "
        "with spill_dir=, or set TMPDIR."
    )


class SpillArray(Generic[T]):
    """A one-dimensional array that grows: in memory up to a limit, then in a spill file.

    Parameters
    ----------
    dtype : type
        The type of the values.
    memory_limit : int or None
        Bytes to hold in memory. Beyond that, all values move to a file. None: no limit.
    directory : path or None
        The directory of the file.
    """

    def __init__(
        self,
        dtype: type[T],
        memory_limit: int | None = None,
        directory: str | PathLike[str] | None = None,
    ) -> None:
        self._dtype, self._memory_limit, self._directory = np.dtype(dtype), memory_limit, directory
        self._memory: NDArray[Any] = np.empty(0, self._dtype)
        self._file: SpillFile | None = None
        self._length = 0

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        length = self._length + len(values)
        if self._exceeds_limit(length):
            self.spill()
        if self._file is not None:
            self._file.append(values.astype(self._dtype, copy=False))
        else:
            if length > len(self._memory):  # realloc moves pages instead of copying them
                capacity = max(length, 2 * len(self._memory), 1 << 16)
                self._memory.resize(capacity, refcheck=False)
            self._memory[self._length : length] = values
        self._length = length

    def spill(self) -> None:
        """Move all values to a file, if they are in memory."""
        if self._file is None:
            self._file = SpillFile(self._directory)
            self._file.append(self._memory[: self._length])
            self._memory = np.empty(0, self._dtype)

    @property
    def memory(self) -> int:
        """The bytes of the values in memory."""
        return 0 if self._file is not None else self._length * self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all values, wherever they are."""
        return self._length * self._dtype.itemsize

    def array(self) -> NDArray[T]:
        """All values: an array in memory, or a memory map of the file."""
        if self._file is None:
            self._memory.resize(self._length, refcheck=False)
            return self._memory
        return self._file.mapped(self._dtype)

    def __len__(self) -> int:
        return self._length

    def _exceeds_limit(self, length: int) -> bool:
        limit = self._memory_limit
        return limit is not None and length * self._dtype.itemsize > limit
