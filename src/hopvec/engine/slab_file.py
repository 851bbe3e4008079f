"""SlabFile: a sum that does not fit in memory, written slab by slab and read back by rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.plan import SlabPlan
from hopvec.spill import SpillFile

BLOCK_BYTES = 16 << 20  # of whole rows in memory at a time


class SlabFile:
    """The sum in a spill file, slab after slab: [slab][row][columns]."""

    def __init__(self, plan: SlabPlan) -> None:
        self.plan = plan
        self._file = SpillFile(plan.spill_dir)

    def columns(self, index: int) -> slice:
        """The columns of a slab."""
        first = index * self.plan.columns
        return slice(first, min(first + self.plan.columns, self.plan.width))

    def write(self, index: int, block: NDArray[np.float32]) -> None:
        """Write a slab, one row per node."""
        self._file.write(index * block.nbytes, block)

    def read(self, index: int, block: NDArray[np.float32], first: int = 0) -> None:
        """Read rows of a slab into a block, from row `first` on."""
        self._file.read(self._offset(index, first), block)

    def write_rows(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write whole rows, from row `first` on."""
        part = np.zeros((len(rows), self.plan.columns), dtype=np.float32)
        for index in range(self.plan.slabs):
            columns = self.columns(index)
            part[:, : columns.stop - columns.start] = rows[:, columns]
            self._file.write(self._offset(index, first), part)

    def permute_rows(self, source: NDArray[np.int32]) -> None:
        """Make row source[i] row i, slab by slab."""
        block = np.empty((self.plan.nodes, self.plan.columns), dtype=np.float32)
        for index in range(self.plan.slabs):
            self.read(index, block)
            self.write(index, block[source])

    def blocks(self, step: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield all rows, `step` at a time, each block with the index of its first row."""
        plan = self.plan
        for first in range(0, plan.nodes, step):
            count = min(step, plan.nodes - first)
            rows = np.empty((count, plan.width), dtype=np.float32)
            part = np.empty((count, plan.columns), dtype=np.float32)
            for index in range(plan.slabs):
                columns = self.columns(index)
                self.read(index, part, first)
                rows[:, columns] = part[:, : columns.stop - columns.start]
            yield first, rows

    def by_rows(
        self,
        work: Callable[[int, NDArray[np.float32]], None],
        done: Callable[[int], object],
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Write all rows to a second spill file; `work(first, rows)` may change each block.

        `done` is called with the number of rows written. Returns the rows and a mask of zero rows.
        """
        plan, output = self.plan, SpillFile(self.plan.spill_dir)
        zero = np.empty(plan.nodes, dtype=bool)
        for first, rows in self.blocks(max(1, BLOCK_BYTES // (4 * plan.width))):
            work(first, rows)
            output.append(rows)
            zero[first : first + len(rows)] = ~rows.any(axis=1)
            done(first + len(rows))
        return output.mapped(np.float32, (plan.nodes, plan.width)), zero

    def _offset(self, index: int, first: int) -> int:
        return 4 * self.plan.columns * (index * self.plan.nodes + first)
