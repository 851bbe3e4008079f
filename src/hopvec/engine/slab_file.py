"""SlabFile: vectors that do not fit in memory, written slab by slab and read back by rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.plan import SlabPlan
from hopvec.spill import SpillFile

BLOCK = 16 << 20  # bytes of whole rows in memory at a time


class SlabFile:
    """The columns of the sum in a spill file, slab after slab: [slab][row][columns]."""

    def __init__(self, plan: SlabPlan) -> None:
        self.plan = plan
        self._file = SpillFile(plan.spill_dir)

    def columns(self, index: int) -> slice:
        """The columns that a slab holds."""
        first = index * self.plan.columns
        return slice(first, min(first + self.plan.columns, self.plan.width))

    def write(self, index: int, block: NDArray[np.float32]) -> None:
        """Keeps a slab: one line of its columns a row."""
        self._file.write(index * block.nbytes, block)

    def read(self, index: int, block: NDArray[np.float32]) -> None:
        """Fills a block with a slab."""
        self._file.read(index * block.nbytes, block)

    def blocks(self, step: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """All rows, `step` at a time, each block with the number of its first row."""
        plan = self.plan
        line = 4 * plan.columns
        for first in range(0, plan.nodes, step):
            count = min(step, plan.nodes - first)
            rows = np.empty((count, plan.width), dtype=np.float32)
            part = np.empty((count, plan.columns), dtype=np.float32)
            for index in range(plan.slabs):
                columns = self.columns(index)
                self._file.read((index * plan.nodes + first) * line, part)
                rows[:, columns] = part[:, : columns.stop - columns.start]
            yield first, rows

    def by_rows(
        self,
        work: Callable[[int, NDArray[np.float32]], None],
        done: Callable[[int], object],
    ) -> NDArray[np.float32]:
        """All rows, in a second file; `work(first, rows)` may change each block of them before.

        `done` is told how many rows are finished by then.
        """
        plan, output = self.plan, SpillFile(self.plan.spill_dir)
        for first, rows in self.blocks(max(1, BLOCK // (4 * plan.width))):
            work(first, rows)
            output.append(rows)
            done(first + len(rows))
        return output.mapped(np.float32, (plan.nodes, plan.width))
