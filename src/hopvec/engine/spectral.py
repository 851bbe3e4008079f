"""Orthonormal columns and eigenvectors in blocks of 16 float64 columns.

Not scipy's `eigsh`: on NetMF's matrix of BlogCatalog (10,312 nodes, 128 pairs, one thread) it took
1.7 times as long in float32 and 3.7 times in float64, and its bytes depend on the BLAS threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.machine import interruptible
from hopvec.progress import Progress

BLOCK_COLUMNS = 16
DEPENDENT = 1e-10  # a column that shrinks below this fraction has only rounding error left
CHECKS_PER_RESTART = 3  # checks of convergence between two restarts

Floats = NDArray[np.float64]

Multiply = Callable[[Floats, _native.Stop], Floats]
"""A symmetric matrix times a block [nodes][16]."""

Order = Literal["magnitude", "value"]
"""How eigenvalues are ranked."""

Draw = Callable[[int, _native.Stop], Floats]
"""Draws the random block [nodes][16] with the given number."""


def gram_schmidt(gram: Floats, floor: float | Floats) -> Floats:
    """Return upper triangular T such that the columns of X T are orthonormal, where X^T X = `gram`.

    A column becomes zero if its squared norm is at most `floor` after projecting out the columns
    before it. Gaussian elimination of [gram | 1] with elementwise operations.
    """
    size = len(gram)
    floors = np.broadcast_to(floor, size)
    table = np.hstack([gram, np.eye(size)])
    for k in range(size):
        row = table[k, k : size + k + 1]  # its nonzero part
        if row[0] <= floors[k]:
            table[k] = 0.0
            continue
        row /= np.sqrt(row[0])
        table[k + 1 :, k : size + k + 1] -= row[1 : size - k, None] * row
    return np.ascontiguousarray(table[:, size:].T)


@dataclass(frozen=True)
class Eigenpairs:
    """Eigenvalues, largest first, and unit eigenvectors as columns."""

    values: Floats
    vectors: Floats


class BlockLanczos:
    """An orthonormal basis Q of a block Krylov space of a symmetric matrix M.

    Every new block is orthogonalized against all others, and T = Q^T M Q is computed in full, so
    rounding errors do not accumulate as in the three-term recurrence. Columns that become zero are
    replaced by random ones, so multiple eigenvalues are found.
    """

    def __init__(self, multiply: Multiply, draw: Draw, threads: int) -> None:
        self._multiply, self._draw, self._threads = multiply, draw, threads
        self.blocks: list[Floats] = []
        self._next: Floats | None = None
        self._projected = np.zeros((0, 0))  # T
        self._coupling = np.zeros((BLOCK_COLUMNS, BLOCK_COLUMNS))
        self._max_norm = 0.0  # of a column of a product: the scale of M
        self._drawn = 0

    @property
    def exhausted(self) -> bool:
        """Whether the basis spans the whole space."""
        return self._next is not None and not self._next.any()

    def extend(self, stop: _native.Stop) -> None:
        """Append the next block to the basis and compute the one after it."""
        if self._next is None:
            self._next = self._orthonormal(self._random(stop), 0.0, stop)
        self.blocks.append(self._next)
        rest = self._multiply(self._next, stop)
        self._max_norm = max(self._max_norm, float(np.sqrt((rest * rest).sum(axis=0).max())))
        products = self._products(self.blocks, rest, stop)
        self._project(products)
        self._add(self.blocks, -products, rest, stop)
        next_block = self._orthonormal(rest, (DEPENDENT * self._max_norm) ** 2, stop)
        zero = ~next_block.any(axis=0)
        if zero.any():
            next_block[:, zero] = self._random(stop)[:, zero]
            next_block = self._orthonormal(next_block, 0.0, stop)
        self._coupling = self._products([next_block], rest, stop)
        self._next = next_block

    def ritz(self, count: int, by: Order) -> tuple[Floats, Floats, Floats]:
        """Return all eigenvalues of T, largest first, and more about the first `count`.

        These are their eigenvectors y as rows, and the norms of the residuals M Q y - value Q y.
        """
        count = min(count, len(self._projected))
        values, rows = interruptible(
            lambda stop: _native.eigen(
                self._projected, count, by == "magnitude", self._threads, stop
            )
        )
        errors = (self._coupling[:, :, None] * rows[:, -BLOCK_COLUMNS:].T).sum(axis=1)
        return values, rows, np.sqrt((errors * errors).sum(axis=0))

    def vectors(self, rows: Floats, stop: _native.Stop) -> list[Floats]:
        """Return the vectors Q y for rows y, in blocks; the last one is padded with zeros."""
        blocks = []
        for first in range(0, len(rows), BLOCK_COLUMNS):
            part = rows[first : first + BLOCK_COLUMNS]
            coefficients = np.zeros((rows.shape[1], BLOCK_COLUMNS))
            coefficients[:, : len(part)] = part.T
            block = np.zeros_like(self.blocks[0])
            self._add(self.blocks, coefficients, block, stop)
            blocks.append(block)
        return blocks

    def restart(self, values: Floats, rows: Floats, stop: _native.Stop) -> None:
        """Replace the basis by the vectors Q y for rows y, a multiple of 16 of them."""
        self.blocks, self._projected = self.vectors(rows, stop), np.diag(values)

    def _project(self, products: Floats) -> None:
        """Append the columns Q^T M Q_last to T, and the same as rows."""
        before, size = len(self._projected), len(products)
        projected = np.zeros((size, size))
        projected[:before, :before] = self._projected
        projected[:, before:] = products
        projected[before:, :] = products.T
        corner = products[before:]
        projected[before:, before:] = (corner + corner.T) / 2
        self._projected = projected

    def _orthonormal(self, block: Floats, floor: float, stop: _native.Stop) -> Floats:
        """Return the block orthonormalized, also against the basis; dependent columns become zero.

        Done twice: the first pass leaves mostly rounding error in columns that become short.
        """
        for pass_floor in (floor, 0.25):
            rest = block.copy()
            self._add(self.blocks, -self._products(self.blocks, rest, stop), rest, stop)
            mixing = gram_schmidt(self._products([rest], rest, stop), pass_floor)
            block = np.zeros_like(rest)
            self._add([rest], mixing, block, stop)
        return block

    def _random(self, stop: _native.Stop) -> Floats:
        self._drawn += 1
        return self._draw(self._drawn - 1, stop)

    def _products(self, basis: list[Floats], block: Floats, stop: _native.Stop) -> Floats:
        return _native.basis_products(basis, block, self._threads, stop)

    def _add(
        self, basis: list[Floats], coefficients: Floats, block: Floats, stop: _native.Stop
    ) -> None:
        _native.add_combination(basis, coefficients, block, self._threads, stop)


def largest_eigenpairs(
    multiply: Multiply,
    draw: Draw,
    count: int,
    *,
    by: Order,
    tolerance: float,
    threads: int,
    progress: Progress,
) -> Eigenpairs:
    """Return the `count` largest eigenpairs of a symmetric matrix, by magnitude or by value.

    For each pair |M u - value u| is at most `tolerance` times the largest magnitude. Signs are
    chosen so that the largest entry of each vector is positive. If the matrix has fewer pairs, the
    rest are zero. `progress` receives the number of converged pairs.
    """
    lanczos = BlockLanczos(multiply, draw, threads)
    limit, kept = max_blocks(count), restart_blocks(count)
    check_at = {limit - (limit - kept) * k // CHECKS_PER_RESTART for k in range(CHECKS_PER_RESTART)}

    def extend(stop: _native.Stop) -> None:
        lanczos.extend(stop)
        while not (stop.stopped or lanczos.exhausted or len(lanczos.blocks) in check_at):
            lanczos.extend(stop)

    while True:
        interruptible(extend)
        values, rows, errors = lanczos.ritz(BLOCK_COLUMNS * kept, by)
        converged = errors[:count] <= tolerance * np.abs(values).max()
        progress(int(np.count_nonzero(converged)), count)
        if lanczos.exhausted or (converged.all() and len(converged) == count):
            blocks = interruptible(partial(lanczos.vectors, rows[:count]))
            return _signed(values[:count], blocks, count)
        if len(lanczos.blocks) == limit:
            interruptible(partial(lanczos.restart, values[: len(rows)], rows))


def max_blocks(count: int) -> int:
    """Return the number of blocks at which the basis is restarted."""
    return -(-4 * count // BLOCK_COLUMNS) + 10


def restart_blocks(count: int) -> int:
    """Return the number of blocks that a restart keeps."""
    return -(-3 * count // (2 * BLOCK_COLUMNS))


def expected_blocks(count: int) -> int:
    """Return the typical number of block products until `count` eigenpairs have converged."""
    return -(-6 * count // BLOCK_COLUMNS) + 10


def basis_bytes(nodes: int, count: int) -> int:
    """Return the memory of `largest_eigenpairs`: the basis, the blocks of a restart, products."""
    blocks = max_blocks(count) + restart_blocks(count) + 4
    return 8 * BLOCK_COLUMNS * (nodes * blocks + 3 * BLOCK_COLUMNS * max_blocks(count) ** 2)


def _signed(values: Floats, blocks: list[Floats], count: int) -> Eigenpairs:
    """Fix the signs of the vectors and pad with zeros to `count` pairs."""
    vectors = np.zeros((len(blocks[0]), count))
    vectors[:, : len(values)] = np.hstack(blocks)[:, : len(values)]
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.where(vectors[largest, np.arange(count)] < 0, -1.0, 1.0)
    padded = np.zeros(count)
    padded[: len(values)] = values
    return Eigenpairs(padded, vectors)
