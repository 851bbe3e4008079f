"""EdgeArrays: edges between coded nodes as they are read, in memory or in spill files."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import NDArray

from hopvec.spill import SpillArray


class EdgeArrays:
    """The codes of both ends of edges, and their weights."""

    def __init__(
        self, memory_limit: int | None = None, spill_dir: str | PathLike[str] | None = None
    ) -> None:
        self.source: SpillArray[np.int32] = SpillArray(np.int32, memory_limit, spill_dir)
        self.target: SpillArray[np.int32] = SpillArray(np.int32, memory_limit, spill_dir)
        self.weight: SpillArray[np.float32] = SpillArray(np.float32, memory_limit, spill_dir)

    def append(
        self,
        source: NDArray[np.int32],
        target: NDArray[np.int32],
        weight: NDArray[np.float32] | None,
    ) -> None:
        """Add edges. Those without weights have weight 1 if others have weights."""
        if weight is not None and not len(self.weight):
            self.weight.append(np.ones(len(self), np.float32))
        elif weight is None and len(self.weight):
            weight = np.ones(len(source), np.float32)
        self.source.append(source)
        self.target.append(target)
        if weight is not None:
            self.weight.append(weight)

    def weights(self) -> NDArray[np.float32] | None:
        """The weights; None if the edges are unweighted."""
        return self.weight.array() if len(self.weight) else None

    def __len__(self) -> int:
        return len(self.source)
