"""The weighted sum of the orders of a pass, one row per node: in memory, or in a spill file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.normalize import ColumnScaler, fit_column_scaler
from hopvec.engine.slab_file import SlabFile

PANEL_ROWS = 1024  # blocks of rows are a multiple of this, so that sums over rows never change
MEMORY_BLOCK_ROWS = 64 * PANEL_ROWS  # of a sum in memory: progress is reported after each block
FILE_BLOCK_ROWS = 4 * PANEL_ROWS  # of a sum in a file
SLAB_BLOCK_ROWS = 1 << 14  # of one slab of a file


class SlabBlocks(Protocol):
    """A matrix that is read slab by slab."""

    def slab_blocks(self, index: int, columns: slice) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the columns of one slab in blocks, each with the index of its first row."""


class RowSum(SlabBlocks, Protocol):
    """A sum whose rows are read in blocks, and can be replaced."""

    present: NDArray[np.int32]
    """The rows of nodes that have a vector, in the graph's internal order."""

    def fit_columns(self, threads: int) -> ColumnScaler:
        """Fit a scaler to the present rows."""

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield blocks of rows, each with the index of its first row."""

    def replace(self, first: int, rows: NDArray[np.float32]) -> None:
        """Store a block that was changed in place."""


class MemorySum:
    """A sum in memory."""

    def __init__(self, rows: NDArray[np.float32], present: NDArray[np.int32]) -> None:
        self.rows: NDArray[np.float32] = rows
        self.present: NDArray[np.int32] = present

    def fit_columns(self, threads: int) -> ColumnScaler:
        """Fit a scaler to the present rows."""
        return fit_column_scaler(self.rows, self.present, threads)

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield blocks of rows, each with the index of its first row."""
        for first in range(0, len(self.rows), MEMORY_BLOCK_ROWS):
            yield first, self.rows[first : first + MEMORY_BLOCK_ROWS]

    def replace(self, first: int, rows: NDArray[np.float32]) -> None:
        """Nothing is left to do: the block is a part of the matrix."""

    def slab_blocks(self, index: int, columns: slice) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the columns of one slab, all rows at once."""
        yield 0, self.rows[:, columns]


class FileSum:
    """A sum in a spill file."""

    def __init__(self, file: SlabFile, present: NDArray[np.int32]) -> None:
        self.file: SlabFile = file
        self.present: NDArray[np.int32] = present

    def fit_columns(self, threads: int) -> ColumnScaler:
        """Fit a scaler to the present rows, slab by slab."""
        plan = self.file.plan
        mean, factor = np.zeros(plan.width), np.zeros(plan.width)
        block = np.zeros((plan.nodes, plan.columns), dtype=np.float32)
        for index in range(plan.slabs):
            columns = self.file.columns(index)
            count = columns.stop - columns.start
            self.file.read(index, block)
            here = fit_column_scaler(block, self.present, threads)
            mean[columns], factor[columns] = here.mean[:count], here.factor[:count]
        return ColumnScaler(mean, factor)

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield blocks of rows, each with the index of its first row."""
        yield from self.file.blocks(FILE_BLOCK_ROWS)

    def replace(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write a block back to the file."""
        self.file.write_rows(first, rows)

    def slab_blocks(self, index: int, columns: slice) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the columns of one slab in blocks, each with the index of its first row."""
        plan = self.file.plan
        for first in range(0, plan.nodes, SLAB_BLOCK_ROWS):
            block = np.empty((min(SLAB_BLOCK_ROWS, plan.nodes - first), plan.columns), np.float32)
            self.file.read(index, block, first)
            yield first, block[:, : columns.stop - columns.start]


@dataclass(frozen=True)
class WhitenedRows:
    """X: a sum that was whitened. The next pass starts from it instead of R."""

    rows: SlabBlocks
    max_abs: float
    """An upper bound of the absolute entries."""
    scale: ClassVar[float] = 1.0
