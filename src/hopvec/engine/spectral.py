"""Orthogonal columns and eigenvectors, by blocks of 16 float64 columns, the same bytes anywhere."""

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

COLUMNS = 16  # of a block
DEPENDENT = 1e-10  # a column this much shorter than before has nothing left but rounding error
LOOKS = 3  # at what has converged, from one restart to the next

Floats = NDArray[np.float64]

Multiply = Callable[[Floats, _native.Stop], Floats]
"""A symmetric matrix times a block [nodes][16]."""

Order = Literal["magnitude", "value"]
"""By what eigenvalues are the foremost."""

Draw = Callable[[int, _native.Stop], Floats]
"""The random block [nodes][16] of a number."""


def gram_schmidt(gram: Floats, floor: float | Floats) -> Floats:
    """T, upper triangular, such that the columns of X T are orthonormal, where X^T X is `gram`.

    A column of which no more than the squared length `floor` is left, once those before it are
    taken out, becomes zero. Gaussian elimination of [gram | 1], in elementwise operations.
    """
    size = len(gram)
    left = np.broadcast_to(floor, size)
    table = np.hstack([gram, np.eye(size)])
    for k in range(size):
        row = table[k, k : size + k + 1]  # what is not zero of it
        if row[0] <= left[k]:
            table[k] = 0.0
            continue
        row /= np.sqrt(row[0])
        table[k + 1 :, k : size + k + 1] -= row[1 : size - k, None] * row
    return np.ascontiguousarray(table[:, size:].T)


@dataclass(frozen=True)
class Eigenpairs:
    """Eigenvalues, the foremost first, and their vectors of length 1 in columns."""

    values: Floats
    vectors: Floats


class Krylov:
    """A basis Q of the vectors that a symmetric matrix M makes of random ones: block Lanczos.

    Every new block is made orthogonal to all others, and T = Q^T M Q is computed as it stands, so
    nothing rests on a recurrence that rounding would spoil. Columns that run dry are replaced by
    random ones, so an eigenvalue may be multiple.
    """

    def __init__(self, multiply: Multiply, draw: Draw, threads: int) -> None:
        self._multiply, self._draw, self._threads = multiply, draw, threads
        self.blocks: list[Floats] = []
        self._next: Floats | None = None
        self._projected = np.zeros((0, 0))  # T
        self._coupling = np.zeros((COLUMNS, COLUMNS))
        self._longest = 0.0  # column of a product: the size of M
        self._drawn = 0

    @property
    def exhausted(self) -> bool:
        """Whether there is no direction left."""
        return self._next is not None and not self._next.any()

    def extend(self, stop: _native.Stop) -> None:
        """Takes the next block into the basis, and finds the one after it."""
        if self._next is None:
            self._next = self._orthonormal(self._random(stop), 0.0, stop)
        self.blocks.append(self._next)
        rest = self._multiply(self._next, stop)
        self._longest = max(self._longest, float(np.sqrt((rest * rest).sum(axis=0).max())))
        products = self._products(self.blocks, rest, stop)
        self._project(products)
        self._add(self.blocks, -products, rest, stop)
        following = self._orthonormal(rest, (DEPENDENT * self._longest) ** 2, stop)
        dry = ~following.any(axis=0)
        if dry.any():
            following[:, dry] = self._random(stop)[:, dry]
            following = self._orthonormal(following, 0.0, stop)
        self._coupling = self._products([following], rest, stop)
        self._next = following

    def ritz(self, count: int, by: Order) -> tuple[Floats, Floats, Floats]:
        """Eigenvalues of T, the foremost first; of at most `count` more.

        These are their eigenvectors y in rows, and the lengths of M Q y - value Q y.
        """
        count = min(count, len(self._projected))
        values, rows = interruptible(
            lambda stop: _native.eigen(
                self._projected, count, by == "magnitude", self._threads, stop
            )
        )
        errors = (self._coupling[:, :, None] * rows[:, -COLUMNS:].T).sum(axis=1)
        return values, rows, np.sqrt((errors * errors).sum(axis=0))

    def vectors(self, rows: Floats, stop: _native.Stop) -> list[Floats]:
        """Blocks of the vectors Q y for rows y; the last is filled up with zeros."""
        blocks = []
        for first in range(0, len(rows), COLUMNS):
            some = rows[first : first + COLUMNS]
            coefficients = np.zeros((rows.shape[1], COLUMNS))
            coefficients[:, : len(some)] = some.T
            block = np.zeros_like(self.blocks[0])
            self._add(self.blocks, coefficients, block, stop)
            blocks.append(block)
        return blocks

    def restart(self, values: Floats, rows: Floats, stop: _native.Stop) -> None:
        """Keeps only the vectors Q y for some rows y, a multiple of 16 of them."""
        self.blocks, self._projected = self.vectors(rows, stop), np.diag(values)

    def _project(self, products: Floats) -> None:
        """Adds the columns Q^T M Q_last to T, and the rows that mirror them."""
        before, size = len(self._projected), len(products)
        projected = np.zeros((size, size))
        projected[:before, :before] = self._projected
        projected[:, before:] = products
        projected[before:, :] = products.T
        corner = products[before:]
        projected[before:, before:] = (corner + corner.T) / 2
        self._projected = projected

    def _orthonormal(self, block: Floats, floor: float, stop: _native.Stop) -> Floats:
        """The block made orthonormal and orthogonal to the basis; what has nothing left is zero.

        Done twice: of a column that became short, the first time leaves mostly rounding error.
        """
        for least in (floor, 0.25):
            rest = block.copy()
            self._add(self.blocks, -self._products(self.blocks, rest, stop), rest, stop)
            mixing = gram_schmidt(self._products([rest], rest, stop), least)
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
    """The `count` eigenpairs of a symmetric matrix that are largest by magnitude or by value.

    For each pair |M u - value u| is at most `tolerance` times the largest magnitude. Signs are such
    that the largest entry of a vector is positive. Pairs beyond the size of the matrix are zero.
    `progress` is told how many pairs have converged.
    """
    krylov = Krylov(multiply, draw, threads)
    most, kept = most_blocks(count), kept_blocks(count)
    looks = {most - (most - kept) * k // LOOKS for k in range(LOOKS)}

    def extend(stop: _native.Stop) -> None:
        krylov.extend(stop)
        while not (stop.stopped or krylov.exhausted or len(krylov.blocks) in looks):
            krylov.extend(stop)

    while True:
        interruptible(extend)
        values, rows, errors = krylov.ritz(COLUMNS * kept, by)
        good = errors[:count] <= tolerance * np.abs(values).max()
        progress(int(np.count_nonzero(good)), count)
        if krylov.exhausted or (good.all() and len(good) == count):
            blocks = interruptible(partial(krylov.vectors, rows[:count]))
            return _signed(values[:count], blocks, count)
        if len(krylov.blocks) == most:
            interruptible(partial(krylov.restart, values[: len(rows)], rows))


def most_blocks(count: int) -> int:
    """The blocks of the basis before it is restarted."""
    return -(-4 * count // COLUMNS) + 10


def kept_blocks(count: int) -> int:
    """The blocks of the basis that a restart keeps."""
    return -(-3 * count // (2 * COLUMNS))


def usual_blocks(count: int) -> int:
    """The blocks that are usually multiplied until `count` eigenpairs have converged."""
    return -(-6 * count // COLUMNS) + 10


def basis_bytes(nodes: int, count: int) -> int:
    """The memory that `largest_eigenpairs` takes: a basis, what a restart keeps of it, products."""
    blocks = most_blocks(count) + kept_blocks(count) + 4
    return 8 * COLUMNS * (nodes * blocks + 3 * COLUMNS * most_blocks(count) ** 2)


def _signed(values: Floats, blocks: list[Floats], count: int) -> Eigenpairs:
    vectors = np.zeros((len(blocks[0]), count))
    vectors[:, : len(values)] = np.hstack(blocks)[:, : len(values)]
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.where(vectors[largest, np.arange(count)] < 0, -1.0, 1.0)
    padded = np.zeros(count)
    padded[: len(values)] = values
    return Eigenpairs(padded, vectors)
