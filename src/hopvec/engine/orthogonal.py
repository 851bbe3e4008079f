"""Orthogonalizing a random matrix R: T such that the columns of R T are orthonormal.

Propagation is linear, so R itself is propagated slab by slab, and only the final sum is multiplied
by T.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.slab import RandomRows
from hopvec.engine.spectral import BLOCK_COLUMNS, DEPENDENT, Floats, gram_schmidt
from hopvec.machine import interruptible
from hopvec.progress import Progress

BLOCK_ROWS = 1024  # drawn or multiplied at a time


def gram_matrix(
    random: RandomRows, keys: NDArray[np.uint64], dim: int, threads: int, progress: Progress
) -> Floats:
    """Return R^T R, dim x dim in float64, for R as drawn, without its scale."""
    gram = np.zeros((dim, dim))
    for first in range(0, len(keys), BLOCK_ROWS):
        part = keys[first : first + BLOCK_ROWS]
        gram += interruptible(partial(_gram, random, part, dim, threads))
        progress(first + len(part), len(keys))
    return gram + np.triu(gram, 1).T


def orthogonal_mixing(random: RandomRows, gram: Floats) -> Floats:
    """Return T, dim x dim and upper triangular: R T is the Gram-Schmidt basis of the columns of R.

    If there are fewer nodes than columns, the surplus columns become zero.
    """
    return gram_schmidt(gram, DEPENDENT * gram.diagonal()) / random.scale


def mixing_bytes(dim: int) -> int:
    """Return the memory of the orthogonalization: T, the elimination, a few rows."""
    return 48 * dim * dim + 16 * BLOCK_ROWS * dim


def mix(rows: NDArray[np.float32], mixing: Floats, threads: int) -> None:
    """Multiply rows by an upper triangular matrix from the right, in place, with float64 sums."""
    dim = len(mixing)
    ends = [(first, min(first + BLOCK_COLUMNS, dim)) for first in range(0, dim, BLOCK_COLUMNS)]
    blocks = [_block(mixing[:last, first:last]) for first, last in ends]

    def work(stop: _native.Stop) -> None:
        for row in range(0, len(rows), BLOCK_ROWS):
            part = rows[row : row + BLOCK_ROWS]
            before = part.copy()
            for (first, last), block in zip(ends, blocks, strict=True):
                product = _native.product(before[:, :last], block, False, threads, stop)
                part[:, first:last] = product[:, : last - first]

    interruptible(work)


def _gram(
    random: RandomRows,
    keys: NDArray[np.uint64],
    dim: int,
    threads: int,
    stop: _native.Stop,
) -> Floats:
    """Return the upper triangle of R^T R over some nodes, for R as drawn."""
    rows = np.empty((len(keys), dim), dtype=np.float32)
    order = np.arange(len(keys), dtype=np.int32)
    ones = np.ones(len(keys), dtype=np.float32)
    gram = np.zeros((dim, dim))
    for first in range(0, dim, BLOCK_COLUMNS):
        last = min(first + BLOCK_COLUMNS, dim)
        sink = _native.Sink(
            sum=rows, rows=order, first_column=first, columns=last - first, weight=1.0
        )
        _native.draw(random.sampler, keys, ones, first // BLOCK_COLUMNS, False, sink, threads, stop)
        product = _native.product(rows[:, :last], _block(rows[:, first:last]), True, threads, stop)
        gram[:last, first:last] = product[:, : last - first]
    return np.triu(gram)


def _block(columns: NDArray[np.floating]) -> Floats:
    """Return up to 16 columns as a block, padded with zeros."""
    block = np.zeros((len(columns), BLOCK_COLUMNS))
    block[:, : columns.shape[1]] = columns
    return block
