"""Spool: a column of numbers that grows, in memory while it is small, then in a file."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopvec.spill import SpillFile

T = TypeVar("T", bound=np.generic)


class Spool(Generic[T]):
    """A column that grows. Beyond `room` bytes it moves to a file without a name."""

    def __init__(self, kind: type[T], room: int | None) -> None:
        self._kind, self._room = np.dtype(kind), room
        self._memory: NDArray[Any] = np.empty(1 << 16, self._kind)
        self._count = 0
        self._file: SpillFile | None = None

    def append(self, values: NDArray[Any]) -> None:
        """Adds values at the end."""
        needed = self._count + len(values)
        too_large = self._room is not None and needed * self._kind.itemsize > self._room
        if self._file is None and too_large:
            self._file = SpillFile()
            self._file.append(self._memory[: self._count])
            self._memory = np.empty(0, self._kind)
        if self._file is not None:
            self._file.append(values.astype(self._kind, copy=False))
        else:
            if needed > len(self._memory):  # pages are moved, not copied, and taken when written
                self._memory.resize(max(needed, 2 * len(self._memory)), refcheck=False)
            self._memory[self._count : needed] = values
        self._count = needed

    def array(self) -> NDArray[T]:
        """All values; a memory map where they are in a file."""
        if self._file is None:
            self._memory.resize(self._count, refcheck=False)
            return self._memory
        return self._file.mapped(self._kind)

    def __len__(self) -> int:
        return self._count
