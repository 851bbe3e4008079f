"""EdgeArrays: edges between coded nodes as they are read, in memory or in spill files."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopvec.graph.age_weights import CHUNK, EdgeTimes
from hopvec.spill import SpillArray


class EdgeArrays:
    """The codes of both ends of edges, their weights, and their times if they count by age."""

    def __init__(
        self,
        memory_limit: int | None = None,
        spill_dir: str | PathLike[str] | None = None,
        times: EdgeTimes | None = None,
    ) -> None:
        self._times = times
        self.source: SpillArray[np.int32] = SpillArray(np.int32, memory_limit, spill_dir)
        self.target: SpillArray[np.int32] = SpillArray(np.int32, memory_limit, spill_dir)
        self.weight: SpillArray[np.float32] = SpillArray(np.float32, memory_limit, spill_dir)
        self.time: SpillArray[np.int64] = SpillArray(np.int64, memory_limit, spill_dir)
        self._aged: SpillArray[np.float32] = SpillArray(np.float32, memory_limit, spill_dir)

    def append(
        self,
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        weight: NDArray[np.float32] | None,
        time: NDArray[np.int64] | None = None,
    ) -> None:
        """Add edges. Those without weights have weight 1 if others have weights.

        Times are stored only if weights depend on them.
        """
        if weight is not None and not len(self.weight):
            self.weight.append(np.ones(len(self), np.float32))
        elif weight is None and len(self.weight):
            weight = np.ones(len(source), np.float32)
        self.source.append(source)
        self.target.append(target)
        if weight is not None:
            self.weight.append(weight)
        if time is not None and self._times is not None and self._times.by_age:
            self.time.append(time)

    def weights(self) -> NDArray[np.float32] | None:
        """The weights, by age if there is a half-life; None if the edges are unweighted."""
        weights = self.weight.array() if len(self.weight) else None
        if self._times is None or not len(self.time):
            return weights
        times = self.time.array()
        for start in range(0, len(times), CHUNK):
            part = slice(start, start + CHUNK)
            aged = self._times.weigh(None if weights is None else weights[part], times[part])
            if aged is not None:
                self._aged.append(aged)
        return self._aged.array()

    def spill(self) -> None:
        """Move all arrays to spill files."""
        for array in self._arrays:
            if len(array):
                array.spill()

    @property
    def memory(self) -> int:
        """The bytes of the arrays in memory."""
        return sum(array.memory for array in self._arrays)

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays when all edges are there, wherever they are."""
        aged = 4 * len(self.time)
        return aged + sum(array.nbytes for array in self._arrays)

    @property
    def _arrays(self) -> tuple[SpillArray[Any], ...]:
        return self.source, self.target, self.weight, self.time

    def __len__(self) -> int:
        return len(self.source)
