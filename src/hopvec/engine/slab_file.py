"""SlabFile: vectors that do not fit in memory, written slab by slab and read back by rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.plan import SlabPlan
from hopvec.scratch import Scratch

BLOCK = 16 << 20  # bytes of whole rows in memory at a time


class SlabFile:
    """The columns of the embedding in a scratch file, slab after slab: [slab][row][columns]."""

    def __init__(self, plan: SlabPlan) -> None:
        self.plan = plan
        self._file = Scratch()

    def columns(self, index: int) -> slice:
        """The columns of the embedding that a slab holds."""
        first = index * self.plan.columns
        return slice(first, min(first + self.plan.columns, self.plan.dim))

    def write(self, index: int, block: NDArray[np.float32]) -> None:
        """Keeps a slab: one line of its columns a row."""
        self._file.write(index * block.nbytes, block)

    def read(self, index: int, block: NDArray[np.float32]) -> None:
        """Fills a block with a slab."""
        self._file.read(index * block.nbytes, block)

    def by_rows(
        self,
        work: Callable[[int, NDArray[np.float32]], None],
        advance: Callable[[int], None],
    ) -> NDArray[np.float32]:
        """All rows, in a second file; `work(first, rows)` may change each block of them before.

        `advance` is told how many slabs' worth of work is done by then.
        """
        plan, output = self.plan, Scratch()
        step = max(1, BLOCK // (4 * plan.dim))
        line = 4 * plan.columns
        before = plan.slabs * plan.passes
        for first in range(0, plan.nodes, step):
            count = min(step, plan.nodes - first)
            rows = np.empty((count, plan.dim), dtype=np.float32)
            part = np.empty((count, plan.columns), dtype=np.float32)
            for index in range(plan.slabs):
                columns = self.columns(index)
                self._file.read((index * plan.nodes + first) * line, part)
                rows[:, columns] = part[:, : columns.stop - columns.start]
            work(first, rows)
            output.append(rows)
            advance(before + plan.slabs * (first + count) // plan.nodes)
        return output.mapped(np.float32, (plan.nodes, plan.dim))
