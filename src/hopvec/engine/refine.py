"""Refining: what happens to the sum of a pass if a run has several passes.

Z holds the rows of the sum N, centered and scaled to unit length: Z = unit_rows(N - mean). Between
two passes, Z is whitened: X = (Z - mean) G^(-1/2), with G the covariance of its rows, has
uncorrelated columns of variance 1, like R, and the next pass starts from it. The symmetric root
does not depend on the signs or the choice of eigenvectors. After the last pass, the vectors are the
principal components of Z.

Rows are normalized as they are read, so that each step reads them once. The bytes are the same for
a sum in memory and in a spill file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.degree_columns import degree_columns, fit_degree_factors
from hopvec.engine.finish import RowsDone, allocate_rows
from hopvec.engine.fitted import Fitted, FittedStatistics
from hopvec.engine.normalize import NORMALIZATIONS, ColumnScaler, Normalization
from hopvec.engine.plan import SLAB_COLUMNS, SlabPlan
from hopvec.engine.principal import (
    Components,
    centered_gram,
    eigen,
    leading_components,
    sum_products,
)
from hopvec.engine.row_sum import (
    FILE_BLOCK_ROWS,
    PANEL_ROWS,
    FileSum,
    MemorySum,
    RowSum,
    WhitenedRows,
)
from hopvec.engine.slab import Propagation
from hopvec.engine.slab_file import SlabFile
from hopvec.engine.spectral import Floats
from hopvec.machine import interruptible

MIN_EIGENVALUE = 1e-3  # of G, relative to the largest one; smaller eigenvalues count as this

Covariance = Callable[[ColumnScaler], tuple[Floats, Floats]]
"""The sum over the rows z of Z of (z - mean)^T (z - mean), and their mean, for these columns."""


@dataclass(frozen=True)
class Whitened:
    """The result of a pass that is not the last."""

    rows: WhitenedRows
    """X, from which the next pass starts."""
    statistics: FittedStatistics


@dataclass(frozen=True)
class Whiten:
    """Whitens the sum of a pass, in place."""

    like: FittedStatistics | None = None
    """Statistics of an earlier run, used for its new nodes instead of those of this run."""
    normalization: ClassVar[Normalization] = NORMALIZATIONS["full"]

    def apply(
        self, total: MemorySum | FileSum, plan: SlabPlan, propagation: Propagation, done: RowsDone
    ) -> Whitened:
        """X, in the place of the sum."""
        statistics = self.like or self.fit(
            total.fit_columns(plan.threads),
            partial(normalized_covariance, total, plan=plan, done=done),
            len(total.present),
            plan.threads,
        )
        columns, whitening = statistics.columns, statistics.components
        assert columns is not None
        assert whitening is not None
        for first, rows in total.blocks():
            project(rows, columns, whitening, rows, None, plan.threads)
            total.replace(first, rows)
            done(plan.nodes + first + len(rows))
        return Whitened(WhitenedRows(total, max_abs(whitening)), statistics)

    def fit(
        self, columns: ColumnScaler, covariance: Covariance, present: int, threads: int
    ) -> FittedStatistics:
        """The whitening of a sum with these columns; `present` of its rows are counted."""
        columns = columns.centered()
        return FittedStatistics(columns, whitening_of(*covariance(columns), present, threads))


@dataclass(frozen=True)
class Compress:
    """Projects the sum of the last pass on its principal components, with unit rows.

    Columns with the logarithms of degrees are appended if they have a weight.
    """

    spectrum: float
    centered: bool
    """Center the columns of the sum; otherwise standardize them."""
    degree_weight: float = 0.0
    like: FittedStatistics | None = None
    """Statistics of an earlier run, used instead of those of this run."""
    own_means: bool = False
    """Center by the means of this run even so: for another graph, but not for new nodes."""
    normalization: ClassVar[Normalization] = NORMALIZATIONS["full"]

    def apply(
        self, total: MemorySum | FileSum, plan: SlabPlan, propagation: Propagation, done: RowsDone
    ) -> Fitted:
        """The vectors, in memory or in a spill file like the sum."""
        if self.like and not self.own_means:
            statistics = self.like
        else:
            statistics = self.fit(
                total.fit_columns(plan.threads),
                partial(normalized_covariance, total, plan=plan, done=done),
                plan.dim,
                self.degree_factors(propagation, plan.dim),
                plan.threads,
            )
        zero: NDArray[np.bool_] | None = None
        if isinstance(total, FileSum):
            vectors, zero = self._in_file(total, statistics, plan, propagation, done)
        else:
            vectors = self._in_memory(total, statistics, plan, propagation, done)
        state = propagation.fitted_state
        if state is not None and self.like is None:
            state = replace(state, statistics=statistics)
        return Fitted(vectors, state, zero)

    def fit(
        self,
        columns: ColumnScaler,
        covariance: Covariance,
        dim: int,
        degree_factors: NDArray[np.float64] | None,
        threads: int,
    ) -> FittedStatistics:
        """The statistics of a sum with these columns, or those of `like` with its means."""
        if self.like is not None:
            return self._centered_like(self.like, columns, covariance)
        columns = columns.centered() if self.centered else columns
        products, mean = covariance(columns)
        count = dim - (0 if degree_factors is None else len(degree_factors))
        components = leading_components(
            products, mean, count, spectrum=self.spectrum, threads=threads
        )
        return FittedStatistics(columns, centered_at(mean, components), degree_factors)

    def degree_factors(self, propagation: Propagation, dim: int) -> NDArray[np.float64] | None:
        """The factors of the columns with degrees; None without such columns."""
        if not self.degree_weight:
            return None
        count = dim - len(propagation.hops)
        return fit_degree_factors(propagation, self.degree_weight / np.sqrt(count))

    def _centered_like(
        self, like: FittedStatistics, columns: ColumnScaler, covariance: Covariance
    ) -> FittedStatistics:
        """The statistics of the earlier run, with the means of this one."""
        assert like.columns is not None
        assert like.components is not None
        columns = ColumnScaler(columns.mean, like.columns.factor)
        _, mean = covariance(columns)
        return replace(like, columns=columns, components=centered_at(mean, like.components))

    def _in_memory(
        self,
        total: MemorySum,
        statistics: FittedStatistics,
        plan: SlabPlan,
        propagation: Propagation,
        done: RowsDone,
    ) -> NDArray[np.float32]:
        vectors, targets = allocate_rows(plan.nodes, plan.dim), propagation.graph.rows
        for first, rows in total.blocks():
            here = targets[first : first + len(rows)]
            degrees = _degrees(propagation, first, len(rows))
            write_vectors(rows, statistics, degrees, vectors, here, plan.threads)
            done(plan.nodes + first + len(rows))
        return vectors

    def _in_file(
        self,
        total: FileSum,
        statistics: FittedStatistics,
        plan: SlabPlan,
        propagation: Propagation,
        done: RowsDone,
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        slabs = -(-plan.dim // SLAB_COLUMNS[plan.precision])
        file = SlabFile(replace(plan, width=plan.dim, slabs=slabs))
        for first, rows in total.blocks():
            vectors = np.empty((len(rows), plan.dim), dtype=np.float32)
            here = np.arange(len(rows), dtype=np.int32)
            degrees = _degrees(propagation, first, len(rows))
            write_vectors(rows, statistics, degrees, vectors, here, plan.threads)
            file.write_rows(first, vectors)
            done(plan.nodes + first + len(rows))
        node_of_row = np.empty_like(propagation.graph.rows)
        node_of_row[propagation.graph.rows] = np.arange(plan.nodes, dtype=np.int32)
        file.permute_rows(node_of_row)
        return file.by_rows(lambda first, rows: None, lambda rows: None)


def write_vectors(
    rows: NDArray[np.float32],
    statistics: FittedStatistics,
    degrees: Sequence[NDArray[np.float64]],
    vectors: NDArray[np.float32],
    targets: NDArray[np.int32],
    threads: int,
) -> None:
    """Write the vectors of some rows of the sum; row i becomes row targets[i].

    `degrees` are those of the rows, in every transition matrix of the hops.
    """
    columns, components = statistics.columns, statistics.components
    assert columns is not None
    assert components is not None
    project(rows, columns, components, vectors, targets, threads, unit=True)
    if statistics.degree_factors is not None:
        logarithms = degree_columns(degrees, statistics.degree_factors)
        vectors[targets, components.basis.shape[1] :] = logarithms


def _degrees(propagation: Propagation, first: int, count: int) -> list[NDArray[np.float64]]:
    return [A.degrees[first : first + count] for A in propagation.hops]


def normalized_covariance(
    total: RowSum, columns: ColumnScaler, plan: SlabPlan, done: RowsDone
) -> tuple[Floats, Floats]:
    """The sum over the rows z of Z of (z - mean)^T (z - mean), and their mean."""
    gram, sums = add_gram(total, columns, plan.width, plan.threads, done)
    return centered_gram(gram, sums, len(total.present))


def add_gram(
    total: RowSum, columns: ColumnScaler, width: int, threads: int, done: RowsDone
) -> tuple[Floats, Floats]:
    """The upper triangle of Z^T Z, and the sum of the rows of Z."""
    add = partial(add_normalized_products, columns=columns, threads=threads)
    return sum_products(total.blocks(), width, add, done)


def add_normalized_products(
    rows: NDArray[np.float32], gram: Floats, sums: Floats, *, columns: ColumnScaler, threads: int
) -> None:
    """Add the products of the rows of Z, and the rows, of a block of rows of the sum."""
    interruptible(
        partial(
            _native.add_normalized_gram, rows, columns.mean, columns.factor, sums, gram, threads
        ),
        operations=rows.size * len(gram),
    )


def centered_at(mean: Floats, components: Components) -> Components:
    """The same components of rows with another mean."""
    offset = (mean[:, None] * components.basis).sum(axis=0)
    return Components(components.basis, ColumnScaler(offset, components.columns.factor))


def whitening_of(covariance: Floats, mean: Floats, present: int, threads: int) -> Components:
    """G^(-1/2) for G = covariance / present, and the mean of the rows multiplied by it."""
    size = len(covariance)
    values, vectors = eigen(covariance, size, threads)
    values /= max(1, present)
    factor = np.zeros(size)
    if values[0] > 0:
        floored = np.maximum(values, MIN_EIGENVALUE * values[0])
        factor = 1.0 / np.sqrt(floored)
    root = interruptible(
        lambda stop: _native.spectral_matrix(vectors, factor, threads, stop), operations=size**3
    )
    offset = (mean[:, None] * root).sum(axis=0)
    return Components(root.astype(np.float32), ColumnScaler(offset, np.ones(size)))


def project(
    rows: NDArray[np.float32],
    columns: ColumnScaler,
    components: Components,
    out: NDArray[np.float32],
    targets: NDArray[np.int32] | None,
    threads: int,
    *,
    unit: bool = False,
) -> None:
    """Multiply the normalized rows by the components and subtract the mean of the products.

    `unit` scales the columns by the factors of the components, then the rows to unit length. Row i
    becomes row targets[i] of `out`, by default row i. `out` may be the rows themselves.
    """
    scaler = components.columns
    interruptible(
        partial(
            _native.project_rows,
            rows,
            columns.mean,
            columns.factor,
            components.basis,
            scaler.mean.astype(np.float32),
            scaler.factor if unit else None,
            out,
            targets,
            threads,
        ),
        operations=2 * rows.size * components.basis.shape[1],
    )


def max_abs(whitening: Components) -> float:
    """An upper bound of the entries of X: rows of Z are unit, and so is their mean at most."""
    squares = (whitening.basis.astype(np.float64) ** 2).sum(axis=0)
    return 2.0 * float(np.sqrt(squares.max(initial=0.0)))


def refining_bytes(width: int, threads: int) -> int:
    """The memory of whitening or compressing: Gram matrices, eigenvectors and blocks of rows."""
    matrices = (40 + 8 * (threads + 1)) * width * width + 16384 * width
    return int(matrices) + 12 * FILE_BLOCK_ROWS * width


def refining_seconds(nodes: int, width: int, threads: int) -> float:
    """The time of whitening, extrapolated from a trial with two panels of rows per thread."""
    rows = np.ones((min(nodes, 2 * threads * PANEL_ROWS), width), dtype=np.float32)
    rows[:, ::2] = 0.5
    columns = ColumnScaler(np.zeros(width), np.ones(width))
    total = MemorySum(rows, np.arange(len(rows), dtype=np.int32))
    start = perf_counter()
    gram, sums = add_gram(total, columns, width, threads, lambda rows: None)
    middle = perf_counter()
    whitening = whitening_of(*centered_gram(gram, sums, len(rows)), len(rows), threads)
    root = perf_counter()
    project(rows, columns, whitening, rows, None, threads)
    by_rows = (middle - start) + (perf_counter() - root)
    return by_rows * nodes / len(rows) + (root - middle)
