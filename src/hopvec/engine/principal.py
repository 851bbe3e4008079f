"""Principal components: a wide matrix of n rows turned to the few columns in which it varies most.

The matrix comes in blocks of rows, so nothing but the products of its columns is ever held; those
are added in an order that depends on the graph alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.normalize import CONSTANT, ColumnScaler
from hopvec.engine.spectral import COLUMNS, Floats
from hopvec.machine import interruptible

PCA_BLOCK_ROWS = 1024  # of a block: a fixed number, so that sums are taken in the same order always
TRIAL = 256  # columns of the eigenproblem that is timed before a run

Blocks = Iterable[tuple[int, NDArray[np.float32]]]
"""Blocks of `PCA_BLOCK_ROWS` rows in the graph's internal order, each with its first row."""


@dataclass(frozen=True)
class Components:
    """Where rows are projected to, and what makes vectors of the projections."""

    basis: NDArray[np.float32]
    """[width, dim]: orthonormal columns, that of the largest variance first."""
    columns: ColumnScaler
    """The mean of the projections, and a power of their deviation."""

    def project(self, rows: NDArray[np.float32], threads: int) -> NDArray[np.float32]:
        """Rows times the basis, sums in float64."""
        return interruptible(partial(self._project, rows, threads))

    def _project(
        self, rows: NDArray[np.float32], threads: int, stop: _native.Stop
    ) -> NDArray[np.float32]:
        projected = np.empty((len(rows), self.basis.shape[1]), dtype=np.float32)
        for first in range(0, self.basis.shape[1], COLUMNS):
            some = self.basis[:, first : first + COLUMNS]
            block = np.zeros((len(some), COLUMNS))
            block[:, : some.shape[1]] = some
            product = _native.product(rows, block, False, threads, stop)
            projected[:, first : first + COLUMNS] = product[:, : some.shape[1]]
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
    """The `dim` directions in which the rows of `width` columns vary most around their mean.

    Eigenvectors of the covariance of the `present` rows that are not zero. The largest entry of
    each is positive. A projection has the deviation sqrt(value); it is multiplied such that it
    becomes sqrt(value)^spectrum, up to a common factor: 1 leaves it, 0 makes all alike. Directions
    whose deviation is rounding error become 0. `done` is told how many rows have been read.
    """
    covariance, mean = _covariance(blocks, width, present, threads, done)
    values, rows = interruptible(lambda stop: _native.eigen(covariance, dim, False, threads, stop))
    values, basis = values[:dim], np.ascontiguousarray(rows.T)
    largest = np.abs(basis).argmax(axis=0)
    basis *= np.where(basis[largest, np.arange(dim)] < 0, -1.0, 1.0)
    offset = (mean[:, None] * basis).sum(axis=0)
    factor = np.zeros(dim)
    varies = values > CONSTANT**2 * max(values[0], 0.0)
    if varies.any():
        factor[varies] = _native.power(values[varies] / values[0], (spectrum - 1) / 2)
    return Components(basis.astype(np.float32), ColumnScaler(offset, factor))


def _covariance(
    blocks: Blocks, width: int, present: int, threads: int, done: Callable[[int], object]
) -> tuple[Floats, Floats]:
    """The sum over rows of (x - mean)^T (x - mean), and the mean of those that are not zero."""
    gram, total = np.zeros((width, width)), np.zeros(width)
    for first, rows in blocks:
        total += interruptible(partial(_column_sums, rows, threads))
        interruptible(partial(_native.add_gram, rows, gram, threads))
        done(first + len(rows))
    mean = total / max(1, present)
    for row in range(width):  # in place: the matrix is large
        gram[row, row:] -= present * mean[row] * mean[row:]
        gram[row:, row] = gram[row, row:]
    return gram, mean


def _column_sums(rows: NDArray[np.float32], threads: int, stop: _native.Stop) -> Floats:
    return _native.moments(rows, np.arange(len(rows), dtype=np.int32), None, threads, stop)


def principal_bytes(width: int, dim: int) -> int:
    """The memory that all of it takes: covariance and eigenvectors, a block of rows, the basis.

    The covariance twice, and a 32nd of it for the solver's states; for each column its rotations.
    """
    eigen = (16 + 0.25) * width * width + 8192 * width
    blocks = 4 * PCA_BLOCK_ROWS * (width + 2 * dim + 8 * COLUMNS)
    return int(eigen) + 36 * width * (dim + COLUMNS) + blocks


def principal_seconds(nodes: int, width: int, dim: int, threads: int) -> float:
    """The time that all of it takes for a graph of so many nodes, by a trial with one block."""
    rows = np.ones((min(nodes, PCA_BLOCK_ROWS), width), dtype=np.float32)
    components = Components(
        np.ones((width, dim), np.float32), ColumnScaler(np.zeros(dim), np.ones(dim))
    )
    size = min(width, TRIAL)
    start = perf_counter()
    _covariance([(0, rows)], width, len(rows), threads, lambda rows: None)
    components.project(rows, threads)
    by_rows = perf_counter() - start
    matrix = np.add.outer(np.arange(size), np.arange(size)) % 7.0
    start = perf_counter()
    count = -(-dim * size // width)
    interruptible(lambda stop: _native.eigen(matrix, count, False, threads, stop))
    eigen = perf_counter() - start
    return by_rows * nodes / len(rows) + eigen * (width / size) ** 3
