"""Principal components of a wide matrix, which is read in blocks of rows.

Only the products of its columns are held in memory; they are added in an order that depends on the
graph alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.normalize import MIN_SPREAD, ColumnScaler
from hopvec.engine.spectral import BLOCK_COLUMNS, Floats
from hopvec.errors import GraphError
from hopvec.machine import interruptible

PCA_BLOCK_ROWS = 1024  # fixed, so that the order of summation never changes
PART_ROWS = 64 * PCA_BLOCK_ROWS  # rows whose products are summed separately, see `sum_products`
TRIAL_COLUMNS = 256  # of the eigenproblem that is timed to estimate a run

Blocks = Iterable[tuple[int, NDArray[np.float32]]]
"""Blocks of `PCA_BLOCK_ROWS` rows in the graph's internal order, each with its first row index."""
AddProducts = Callable[[NDArray[np.float32], Floats, Floats], object]
"""Adds the products of a block of rows to the sum of x^T x, and the rows to the sum of x."""


@dataclass(frozen=True)
class Components:
    """A projection of rows, and the scaling of the projected columns."""

    basis: NDArray[np.float32]
    """[width, dim]: orthonormal columns, in descending order of variance."""
    columns: ColumnScaler
    """The mean of the projections and a power of their standard deviation."""

    def project(self, rows: NDArray[np.float32], threads: int) -> NDArray[np.float32]:
        """Multiply rows by the basis; sums are float64."""
        return interruptible(partial(self._project, rows, threads))

    def _project(
        self, rows: NDArray[np.float32], threads: int, stop: _native.Stop
    ) -> NDArray[np.float32]:
        projected = np.empty((len(rows), self.basis.shape[1]), dtype=np.float32)
        for first in range(0, self.basis.shape[1], BLOCK_COLUMNS):
            some = self.basis[:, first : first + BLOCK_COLUMNS]
            block = np.zeros((len(some), BLOCK_COLUMNS))
            block[:, : some.shape[1]] = some
            product = _native.product(rows, block, False, threads, stop)
            projected[:, first : first + BLOCK_COLUMNS] = product[:, : some.shape[1]]
        return projected


def blocks_of(matrix: NDArray[np.float32]) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """The blocks of a matrix in memory."""
    for first in range(0, len(matrix), PCA_BLOCK_ROWS):
        yield first, matrix[first : first + PCA_BLOCK_ROWS]


def principal_components(
    blocks: Blocks,
    width: int,
    dim: int,
    *,
    present: int,
    spectrum: float,
    threads: int,
    done: Callable[[int], object],
) -> Components:
    """The first `dim` principal components of rows with `width` columns.

    They are the eigenvectors of the covariance of the `present` nonzero rows; the largest entry of
    each is positive. The standard deviation sqrt(value) of a projection is scaled to
    sqrt(value)^spectrum, up to a common factor: 1 keeps it, 0 makes all equal. Components whose
    deviation is rounding error become 0. `done` is called with the number of rows read.
    """
    covariance, mean = _covariance(blocks, width, present, threads, done)
    return leading_components(covariance, mean, dim, spectrum=spectrum, threads=threads)


def leading_components(
    covariance: Floats, mean: Floats, dim: int, *, spectrum: float, threads: int
) -> Components:
    """The first `dim` principal components of rows with this covariance and mean."""
    values, rows = eigen(covariance, dim, threads)
    values, basis = values[:dim], np.ascontiguousarray(rows.T)
    largest = np.abs(basis).argmax(axis=0)
    basis *= np.where(basis[largest, np.arange(dim)] < 0, -1.0, 1.0)
    offset = (mean[:, None] * basis).sum(axis=0)
    factor = np.zeros(dim)
    varies = values > MIN_SPREAD**2 * max(values[0], 0.0)
    if varies.any():
        factor[varies] = _native.power(values[varies] / values[0], (spectrum - 1) / 2)
    return Components(basis.astype(np.float32), ColumnScaler(offset, factor))


def eigen(matrix: Floats, count: int, threads: int) -> tuple[Floats, Floats]:
    """The eigenvalues of a symmetric matrix, largest first, and leading eigenvectors as rows."""
    return interruptible(
        lambda stop: _native.eigen(matrix, count, False, threads, stop),
        operations=20 * len(matrix) ** 3,
    )


def _covariance(
    blocks: Blocks, width: int, present: int, threads: int, done: Callable[[int], object]
) -> tuple[Floats, Floats]:
    """The sum over rows of (x - mean)^T (x - mean), and the mean of the nonzero rows."""
    gram, total = sum_products(blocks, width, partial(add_products, threads=threads), done)
    return centered_gram(gram, total, present)


def sum_products(
    blocks: Blocks, width: int, add: AddProducts, done: Callable[[int], object]
) -> tuple[Floats, Floats]:
    """The upper triangle of the sum of x^T x over all rows x, and the sum of the rows.

    Blocks are added to the sums of their part of `PART_ROWS` rows, and parts are added in order:
    a distributed run computes the parts on different machines, and gets the same bytes.
    """
    gram, total = np.zeros((width, width)), np.zeros(width)
    part_gram, part_total = np.zeros((width, width)), np.zeros(width)
    for first, rows in blocks:
        if first % PART_ROWS == 0 and first > 0:
            gram += part_gram
            total += part_total
            part_gram[:], part_total[:] = 0.0, 0.0
        add(rows, part_gram, part_total)
        done(first + len(rows))
    gram += part_gram
    total += part_total
    return gram, total


def add_products(rows: NDArray[np.float32], gram: Floats, total: Floats, threads: int) -> None:
    """Add x^T x and x of the rows of a block."""
    total += interruptible(partial(_column_sums, rows, threads))
    interruptible(partial(_native.add_gram, rows, gram, threads))


def centered_gram(gram: Floats, total: Floats, present: int) -> tuple[Floats, Floats]:
    """The sum over rows of (x - mean)^T (x - mean), and the mean.

    `gram` is the upper triangle of the sum of x^T x and is changed in place, since it may be large;
    `total` is the sum of the rows, of which `present` are counted. Raises GraphError if `gram` has
    overflowed: products of entries are added up in float32.
    """
    if not np.isfinite(gram).all():
        raise GraphError(
            "The covariance of the columns overflows float32: the degrees of this graph differ "
            "too much. Normalize the rows of orders, e.g. normalize='full', or rescale the edge "
            "weights."
        )
    mean = total / max(1, present)
    _native.center_gram(gram, mean, present)
    return gram, mean


def _column_sums(rows: NDArray[np.float32], threads: int, stop: _native.Stop) -> Floats:
    return _native.moments(rows, np.arange(len(rows), dtype=np.int32), None, threads, stop)


def principal_bytes(width: int, dim: int) -> int:
    """The memory of the computation: covariance, eigenvectors, a block of rows and the basis.

    The covariance is stored twice, plus a 32nd of it for the solver's state and the rotations of
    each column.
    """
    eigen = (16 + 0.25) * width * width + 8192 * width
    blocks = 4 * PCA_BLOCK_ROWS * (width + 2 * dim + 8 * BLOCK_COLUMNS)
    return int(eigen) + 36 * width * (dim + BLOCK_COLUMNS) + blocks


def principal_seconds(nodes: int, width: int, dim: int, threads: int) -> float:
    """The time of the computation, extrapolated from a trial with one block of rows."""
    rows = np.ones((min(nodes, PCA_BLOCK_ROWS), width), dtype=np.float32)
    components = Components(
        np.ones((width, dim), np.float32), ColumnScaler(np.zeros(dim), np.ones(dim))
    )
    size = min(width, TRIAL_COLUMNS)
    start = perf_counter()
    _covariance([(0, rows)], width, len(rows), threads, lambda rows: None)
    components.project(rows, threads)
    by_rows = perf_counter() - start
    matrix = np.add.outer(np.arange(size), np.arange(size)) % 7.0
    start = perf_counter()
    count = -(-dim * size // width)
    eigen(matrix, count, threads)
    seconds = perf_counter() - start
    return by_rows * nodes / len(rows) + seconds * (width / size) ** 3
