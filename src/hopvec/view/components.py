"""The first two principal components, with the same bytes for any number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.embedding import Embedding
from hopvec.engine.spectral import BLOCK_COLUMNS
from hopvec.machine import cores, interruptible, take_rows

Floats = NDArray[np.float64]

BLOCK_ROWS = 1 << 16


def principal_components(embedding: Embedding, rows: NDArray[np.int64]) -> Floats:
    """[rows, 2]: the first two principal components of some rows, scaled to unit length.

    The sign of a component is chosen so that its largest entry is positive. Products are computed
    by the native kernels, since the last digits of numpy's depend on the number of threads.
    """
    mean, covariance = np.zeros(embedding.dim), np.zeros((embedding.dim, embedding.dim))
    for unit in _unit_rows(embedding, rows):
        mean += unit.sum(axis=0, dtype=np.float64) / len(rows)
        for first in range(0, embedding.dim, BLOCK_COLUMNS):
            columns = slice(first, first + BLOCK_COLUMNS)
            covariance[:, columns] += _times(unit, unit[:, columns], transposed=True)
    covariance -= len(rows) * mean[:, None] * mean
    count = min(2, embedding.dim)
    _, axes = interruptible(lambda stop: _native.eigen(covariance, count, False, cores(), stop))
    axes = axes.T
    shift = (mean[:, None] * axes).sum(axis=0)
    parts = [_times(unit, axes) - shift for unit in _unit_rows(embedding, rows)]
    components = np.zeros((len(rows), 2))
    components[:, : axes.shape[1]] = np.concatenate(parts)
    largest = np.abs(components).argmax(axis=0)
    return components * np.where(components[largest, [0, 1]] < 0, -1.0, 1.0)


def _unit_rows(embedding: Embedding, rows: NDArray[np.int64]) -> Iterator[NDArray[np.float32]]:
    for first in range(0, len(rows), BLOCK_ROWS):
        some = rows[first : first + BLOCK_ROWS]
        yield take_rows(embedding.vectors, some) * embedding._inverse_norms[some, None]


def _times(
    matrix: NDArray[np.float32], columns: NDArray[np.floating], transposed: bool = False
) -> Floats:
    """Multiply the matrix, or its transpose, by at most 16 columns."""
    block = np.zeros((len(columns), BLOCK_COLUMNS))
    block[:, : columns.shape[1]] = columns
    product = interruptible(partial(_native.product, matrix, block, transposed, cores()))
    return product[:, : columns.shape[1]]
