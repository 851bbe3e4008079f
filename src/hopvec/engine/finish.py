"""From the weighted sum of the orders to vectors: normalize it, and compress it if it is wider."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.fitted import Fitted, FittedStatistics
from hopvec.engine.normalize import ColumnScaler, Normalization
from hopvec.engine.plan import SlabPlan
from hopvec.engine.principal import (
    PCA_BLOCK_ROWS,
    Blocks,
    Components,
    blocks_of,
    principal_components,
)
from hopvec.engine.row_sum import FileSum, MemorySum
from hopvec.engine.slab import Propagation
from hopvec.graph import Graph
from hopvec.spill import SpillFile

RowsDone = Callable[[int], object]
"""Called with the number of rows processed so far, added up over all passes."""


@dataclass(frozen=True)
class Finish:
    """How the weighted sum of the orders becomes vectors."""

    normalization: Normalization
    spectrum: float = 1.0
    """See `principal_components`."""
    like: FittedStatistics | None = None
    """Statistics of an earlier run, used instead of those of this run."""

    def apply(
        self, total: MemorySum | FileSum, plan: SlabPlan, propagation: Propagation, done: RowsDone
    ) -> Fitted:
        """The vectors of a sum; a sum in memory is changed in place."""
        if isinstance(total, FileSum) and propagation.mix_columns is not None:
            return self._mixed(total, propagation, done)
        columns = None
        if self.normalization.standard_columns and len(total.present):
            columns = self.like.columns if self.like else total.fit_columns(plan.threads)
        if isinstance(total, FileSum):
            return self._in_file(total, columns, plan, propagation, done)
        return self._in_memory(total, columns, plan, propagation, done)

    def _mixed(self, total: FileSum, propagation: Propagation, done: RowsDone) -> Fitted:
        """The vectors of a method that mixes the columns of the plain sum."""
        mix = propagation.mix_columns
        assert mix is not None
        vectors, zero = total.file.by_rows(lambda first, rows: mix(rows), done)
        return Fitted(vectors, propagation.fitted_state, zero)

    def _in_memory(
        self,
        total: MemorySum,
        columns: ColumnScaler | None,
        plan: SlabPlan,
        propagation: Propagation,
        done: RowsDone,
    ) -> Fitted:
        rows, present, graph = total.rows, total.present, propagation.graph
        if columns:
            columns.apply(rows, present, unit=self.normalization.unit_rows, threads=plan.threads)
        if not plan.compresses:
            return self._fitted(rows, propagation, FittedStatistics(columns))
        components = self._components(lambda: blocks_of(rows), len(present), plan, done)
        vectors = allocate_rows(plan.nodes, plan.dim)
        for first, block in blocks_of(rows):
            targets = graph.rows[first : first + len(block)]
            vectors[targets] = components.project(block, plan.threads)
            done(plan.nodes + first + len(block))
        self._scale(components, vectors, graph.rows[present], plan)
        return self._fitted(vectors, propagation, FittedStatistics(columns, components))

    def _in_file(
        self,
        total: FileSum,
        columns: ColumnScaler | None,
        plan: SlabPlan,
        propagation: Propagation,
        done: RowsDone,
    ) -> Fitted:
        """The vectors of a sum in a spill file, block by block, in a second spill file."""
        file, present, graph = total.file, total.present, propagation.graph
        has_vector = np.zeros(plan.nodes, dtype=bool)
        has_vector[present] = True

        def here(first: int, rows: NDArray[np.float32]) -> NDArray[np.int32]:
            return np.flatnonzero(has_vector[first : first + len(rows)]).astype(np.int32)

        def normalize(first: int, rows: NDArray[np.float32]) -> None:
            if columns:
                unit = self.normalization.unit_rows
                columns.apply(rows, here(first, rows), unit=unit, threads=plan.threads)

        def normalized() -> Iterator[tuple[int, NDArray[np.float32]]]:
            for first, rows in file.blocks(PCA_BLOCK_ROWS):
                normalize(first, rows)
                yield first, rows

        if not plan.compresses:
            vectors, zero = file.by_rows(normalize, done)
            return self._fitted(vectors, propagation, FittedStatistics(columns), zero)
        components = self._components(normalized, len(present), plan, done)
        output, zero = SpillFile(plan.spill_dir), np.empty(plan.nodes, dtype=bool)
        for first, rows in normalized():
            projected = components.project(rows, plan.threads)
            self._scale(components, projected, here(first, rows), plan)
            targets = graph.rows[first : first + len(rows)]
            output.scatter(targets, projected)
            zero[targets] = ~projected.any(axis=1)
            done(plan.nodes + first + len(rows))
        vectors = output.mapped(np.float32, (plan.nodes, plan.dim))
        return self._fitted(vectors, propagation, FittedStatistics(columns, components), zero)

    def _fitted(
        self,
        vectors: NDArray[np.float32],
        propagation: Propagation,
        found: FittedStatistics,
        zero_rows: NDArray[np.bool_] | None = None,
    ) -> Fitted:
        """The result of a run; a run like an earlier one keeps the statistics of that one."""
        state = propagation.fitted_state
        if state is not None and self.like is None:
            state = replace(state, statistics=found)
        return Fitted(vectors, state, zero_rows)

    def _components(
        self, blocks: Callable[[], Blocks], present: int, plan: SlabPlan, done: RowsDone
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

    def _scale(
        self,
        components: Components,
        projected: NDArray[np.float32],
        rows: NDArray[np.int32],
        plan: SlabPlan,
    ) -> None:
        """Center and scale the projections in place; make the rows unit if asked for."""
        unit = self.normalization.unit_rows
        components.columns.apply(projected, rows, unit=unit, threads=plan.threads)


def sum_rows(plan: SlabPlan, graph: Graph) -> NDArray[np.int32]:
    """The row of every node in the sum: the row of its id, or its index if it is compressed later.

    Compression adds products of columns in the graph's internal order, so that the order of the
    ids does not change the result.
    """
    return np.arange(plan.nodes, dtype=np.int32) if plan.compresses else graph.rows


def allocate_rows(rows: int, columns: int) -> NDArray[np.float32]:
    """Allocate a matrix."""
    return _native.allocate(4 * rows * columns).view(np.float32).reshape(rows, columns)
