"""From the sum of orders to vectors: normalized, and compressed where it has more columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.normalize import ColumnScaler, Normalization, present_rows, statistics
from hopvec.engine.plan import SlabPlan
from hopvec.engine.principal import (
    PCA_BLOCK_ROWS,
    Blocks,
    Components,
    blocks_of,
    principal_components,
)
from hopvec.engine.slab_file import SlabFile
from hopvec.graph import Graph
from hopvec.spill import SpillFile

Done = Callable[[int], object]
"""Told how many rows have been gone through, once for every pass."""


@dataclass(frozen=True)
class FittedStatistics:
    """What was measured in the sum of a run. Another run that uses it makes comparable vectors."""

    columns: ColumnScaler | None = None
    """What standardized the columns of the sum, where that was asked for."""
    components: Components | None = None
    """What compressed it, where it had more columns than the vectors."""


class Finished(NamedTuple):
    """Vectors, rows in the order of the ids, and what was measured to make them."""

    vectors: NDArray[np.float32]
    statistics: FittedStatistics


@dataclass(frozen=True)
class Finish:
    """How the sum of orders becomes vectors."""

    normalization: Normalization
    spectrum: float = 1.0
    """See `principal_components`."""
    like: FittedStatistics | None = None
    """What an earlier run measured, to be used in place of what this one would."""

    def in_memory(
        self,
        total: NDArray[np.float32],
        plan: SlabPlan,
        graph: Graph,
        has_row: NDArray[np.bool_],
        done: Done,
    ) -> Finished:
        """The vectors of a sum, whose rows are `sum_rows`; it is changed in place.

        `has_row` tells which nodes have a row, in the graph's internal order.
        """
        present = present_rows(total, has_row, sum_rows(plan, graph))
        columns = None
        if self.normalization.standard_columns and len(present):
            columns = self.like.columns if self.like else statistics(total, present, plan.threads)
        if columns:
            unit = self.normalization.unit_rows
            columns.apply(total, present, unit=unit, threads=plan.threads)
        if not plan.compresses:
            return Finished(total, FittedStatistics(columns))
        components = self._components(lambda: blocks_of(total), len(present), plan, done)
        vectors = allocate_rows(plan.nodes, plan.dim)
        for first, rows in blocks_of(total):
            targets = graph.rows[first : first + len(rows)]
            vectors[targets] = components.project(rows, plan.threads)
            done(plan.nodes + first + len(rows))
        self._shape(components, vectors, graph.rows[present], plan)
        return Finished(vectors, FittedStatistics(columns, components))

    def in_file(
        self,
        file: SlabFile,
        present: NDArray[np.int32],
        columns: ColumnScaler | None,
        graph: Graph,
        done: Done,
    ) -> Finished:
        """The vectors of a sum in a file, by blocks of rows, in a second file.

        `present` are the rows that have a vector, and `columns` what standardizes them.
        """
        plan = file.plan
        counted = np.zeros(plan.nodes, dtype=bool)
        counted[present] = True

        def here(first: int, rows: NDArray[np.float32]) -> NDArray[np.int32]:
            return np.flatnonzero(counted[first : first + len(rows)]).astype(np.int32)

        def normalize(first: int, rows: NDArray[np.float32]) -> None:
            if columns:
                unit = self.normalization.unit_rows
                columns.apply(rows, here(first, rows), unit=unit, threads=plan.threads)

        def normalized() -> Iterator[tuple[int, NDArray[np.float32]]]:
            for first, rows in file.blocks(PCA_BLOCK_ROWS):
                normalize(first, rows)
                yield first, rows

        if not plan.compresses:
            return Finished(file.by_rows(normalize, done), FittedStatistics(columns))
        components = self._components(normalized, len(present), plan, done)
        output = SpillFile(plan.spill_dir)
        for first, rows in normalized():
            vectors = components.project(rows, plan.threads)
            self._shape(components, vectors, here(first, rows), plan)
            output.scatter(graph.rows[first : first + len(rows)], vectors)
            done(plan.nodes + first + len(rows))
        return Finished(
            output.mapped(np.float32, (plan.nodes, plan.dim)), FittedStatistics(columns, components)
        )

    def _components(
        self, blocks: Callable[[], Blocks], present: int, plan: SlabPlan, done: Done
    ) -> Components:
        if self.like and self.like.components:
            return self.like.components
        return principal_components(
            blocks(),
            plan.width,
            plan.dim,
            present=present,
            spectrum=self.spectrum,
            threads=plan.threads,
            done=done,
        )

    def _shape(
        self,
        components: Components,
        vectors: NDArray[np.float32],
        rows: NDArray[np.int32],
        plan: SlabPlan,
    ) -> None:
        """Makes vectors of projections, in place."""
        unit = self.normalization.unit_rows
        components.columns.apply(vectors, rows, unit=unit, threads=plan.threads)


def sum_rows(plan: SlabPlan, graph: Graph) -> NDArray[np.int32]:
    """The row of every node in the sum: that of its id, or its own number if it is compressed.

    Products of columns are added in the graph's internal order, which no order of ids changes.
    """
    return np.arange(plan.nodes, dtype=np.int32) if plan.compresses else graph.rows


def allocate_rows(rows: int, columns: int) -> NDArray[np.float32]:
    """Memory for a matrix."""
    return _native.allocate(4 * rows * columns).view(np.float32).reshape(rows, columns)
