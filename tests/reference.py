"""Slow, readable reference implementations that the tests compare the native kernels with.

Anything promised bit for bit (`mix`, `xxh64`, the signs of R) uses Python integers. Sums are
computed in float64, so that a kernel may differ from them by float32 rounding only.
`reference_sampling` has the random walks, alias tables and random graphs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
GROUP = 16  # columns of R that share a chain of hashes
CONSTANT = 2.0**-20

Floats = NDArray[np.float64]


def mix(z: int) -> int:
    """The finalizer of splitmix64: 64 bits to 64 well-mixed bits.

    >>> hex(mix(0x9E3779B97F4A7C15))
    '0xe220a8397b1dcdaf'
    """
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def salt_of(seed: int, number: int) -> int:
    """Separates different uses of one seed, such as groups of columns or rounds of walks."""
    return mix((mix((seed + GOLDEN) & MASK) + GOLDEN * (number + 1)) & MASK)


def xxh64(data: bytes, seed: int = 42) -> int:
    """XXH64 of a byte string, by its specification; Spark uses seed 42.

    >>> hex(xxh64(b"", seed=0))
    '0xef46db3751d8e999'
    """
    p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    p4, p5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5

    def rotate(x: int, bits: int) -> int:
        return (x << bits | x >> (64 - bits)) & MASK

    def round_of(lane: int, word: int) -> int:
        return rotate((lane + word * p2) & MASK, 31) * p1 & MASK

    words = [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data) & ~7, 8)]
    striped = len(data) // 32 * 4  # words in stripes of four
    result = (seed + p5) & MASK
    if striped:
        lanes = [(seed + start) & MASK for start in (p1 + p2, p2, 0, -p1)]
        for at in range(0, striped, 4):
            lanes = [round_of(lanes[k], words[at + k]) for k in range(4)]
        rotations = zip(lanes, (1, 7, 12, 18), strict=True)
        result = sum(rotate(lane, bits) for lane, bits in rotations) & MASK
        for lane in lanes:
            result = ((result ^ round_of(0, lane)) * p1 + p4) & MASK
    result = (result + len(data)) & MASK
    for word in words[striped:]:
        result = (rotate(result ^ round_of(0, word), 27) * p1 + p4) & MASK
    rest = data[8 * len(words) :]
    if len(rest) >= 4:
        word = int.from_bytes(rest[:4], "little")
        result = (rotate(result ^ (word * p1 & MASK), 23) * p2 + p3) & MASK
        rest = rest[4:]
    for byte in rest:
        result = rotate(result ^ (byte * p5 & MASK), 11) * p1 & MASK
    result = (result ^ (result >> 33)) * p2 & MASK
    result = (result ^ (result >> 29)) * p3 & MASK
    return result ^ (result >> 32)


def hashes(seed: int, key: int, group: int) -> Iterator[int]:
    """The chain of hashes that gives a node's entries of R in a group of 16 columns."""
    bits = mix(key ^ salt_of(seed, group))
    while True:
        yield bits
        bits = mix((bits + GOLDEN) & MASK)


def sparse_rows(seed: int, sparsity: float, keys: Sequence[int], dim: int) -> NDArray[np.int8]:
    """The signs of R, [keys][dim]: +1, 0 or -1; one in `sparsity` is nonzero.

    The upper 63 bits of a hash give the number of zeros that come next, the lowest bit the sign of
    the entry after them.
    """
    zero = 1.0 - 1.0 / sparsity
    power, all_zero = 2.0**63, []  # all_zero[c] = 2^63 * P(c consecutive zeros)
    for _ in range(GROUP + 1):
        all_zero.append(int(power))
        power *= zero
    groups = -(-dim // GROUP)
    signs = np.zeros((len(keys), groups * GROUP), np.int8)
    for group in range(groups):
        for row, key in enumerate(keys):
            chain, column = hashes(seed, int(key), group), 0
            while column < GROUP:
                bits, gap = next(chain), 0
                while column + gap < GROUP and bits >> 1 < all_zero[gap + 1]:
                    gap += 1
                column += gap
                if column < GROUP:
                    signs[row, group * GROUP + column] = -1 if bits & 1 else 1
                column += 1
    return signs[:, :dim]


def gaussian_rows(seed: int, keys: Sequence[int], dim: int) -> Floats:
    """R with standard normal entries, [keys][dim].

    A hash gives the entries of two columns by the Box-Muller transform: the upper half gives the
    radius, the lower half the angle, starting from -1/8 of a turn.
    """
    groups = -(-dim // GROUP)
    rows = np.zeros((len(keys), groups * GROUP))
    for group in range(groups):
        for row, key in enumerate(keys):
            chain = hashes(seed, int(key), group)
            for column in range(group * GROUP, (group + 1) * GROUP, 2):
                upper, lower = divmod(next(chain), 2**32)
                radius = math.sqrt(-2 * math.log((upper + 0.5) / 2**32))
                angle = 2 * math.pi * ((lower + 0.5) / 2**32 - 1 / 8)
                rows[row, column] = radius * math.cos(angle)
                rows[row, column + 1] = radius * math.sin(angle)
    return rows[:, :dim]


def feature_signs(seed: int, keys: Sequence[int], dim: int) -> NDArray[np.int8]:
    """The signs of features, [keys][dim]: the lowest 16 bits of one hash per group of columns."""
    signs = np.empty((len(keys), -(-dim // GROUP) * GROUP), np.int8)
    for row, key in enumerate(keys):
        for column in range(signs.shape[1]):
            bits = mix(int(key) ^ salt_of(seed, -1 - column // GROUP))
            signs[row, column] = -1 if bits >> column % GROUP & 1 else 1
    return signs[:, :dim]


def hop(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float32] | None,
    block: NDArray[np.floating],
) -> Floats:
    """A * block with A = D^-1 S: the weighted mean of each node's neighbors, or zero."""
    values = np.ones(len(indices)) if weights is None else weights.astype(np.float64)
    block = block.astype(np.float64)
    result = np.zeros((len(indptr) - 1, block.shape[1]))
    for node in range(len(result)):
        entries = slice(indptr[node], indptr[node + 1])
        degree = values[entries].sum()
        if degree > 0:
            result[node] = values[entries] @ block[indices[entries]] / degree
    return result


def first_hop(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float32] | None,
    diagonal: NDArray[np.float32],
    signs: NDArray[np.int8],
) -> Floats:
    """N_1 = A L R, with L given by its diagonal and R by its signs."""
    return hop(indptr, indices, weights, diagonal.astype(np.float64)[:, None] * signs)


def unit_rows(rows: Floats) -> Floats:
    """Rows scaled to unit length; zero rows stay zero."""
    norms = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    result: Floats = np.divide(rows, norms, out=np.zeros(rows.shape), where=norms > 0)
    return result


def weighted_sum(
    orders: Sequence[NDArray[np.floating]], weights: Sequence[float], *, unit: bool
) -> Floats:
    """The sum over orders of weight * order, optionally with unit rows in each order."""
    result = np.zeros(orders[0].shape)
    for order, weight in zip(orders, weights, strict=True):
        values = order.astype(np.float64)
        result += weight * (unit_rows(values) if unit else values)
    return result


def standardize(rows: NDArray[np.floating], *, unit: bool) -> Floats:
    """Columns with mean 0 and variance 1 (constant ones: 0), then optionally unit rows."""
    values = rows.astype(np.float64)
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    varies = deviation > CONSTANT * np.sqrt((values**2).mean(axis=0))
    result = np.divide(values - mean, deviation, out=np.zeros(values.shape), where=varies)
    return unit_rows(result) if unit else result


def power(x: Floats, y: float) -> Floats:
    """x^y for x > 0."""
    result: Floats = np.power(x, y)
    return result


def product(matrix: NDArray[np.floating], block: Floats, *, transposed: bool) -> Floats:
    """The matrix, or its transpose, times a block of columns."""
    wide = matrix.astype(np.float64)
    result: Floats = (wide.T if transposed else wide) @ block
    return result


def add_gram(rows: NDArray[np.floating], gram: Floats) -> None:
    """Add rows.T @ rows to gram, on and above its diagonal."""
    wide = rows.astype(np.float64)
    gram += np.triu(wide.T @ wide)


def normalize_rows(rows: NDArray[np.floating], mean: Floats, factor: Floats) -> Floats:
    """(row - mean) * factor, scaled to unit length; zero rows stay zero."""
    wide = rows.astype(np.float64)
    return unit_rows((wide - mean) * factor) * wide.any(axis=1, keepdims=True)


def project_rows(
    rows: NDArray[np.floating],
    mean: Floats,
    factor: Floats,
    matrix: NDArray[np.floating],
    offset: NDArray[np.floating],
    unit_factor: Floats | None = None,
) -> Floats:
    """The normalized rows times a matrix, minus the offset; zero rows stay zero.

    With `unit_factor`, the columns are multiplied by it and the rows scaled to unit length.
    """
    projected = normalize_rows(rows, mean, factor) @ matrix.astype(np.float64) - offset
    if unit_factor is not None:
        projected = unit_rows(projected * unit_factor)
    return projected * rows.any(axis=1, keepdims=True)


def spectral_matrix(vectors: Floats, factor: Floats) -> Floats:
    """The sum of factor[k] times the outer product of row k with itself."""
    return sum(
        (value * np.outer(row, row) for value, row in zip(factor, vectors, strict=True)),
        np.zeros(vectors.shape),
    )


def positive_logarithm(matrix: NDArray[np.floating], factor: Floats) -> Floats:
    """log(max(1, entry * factor)), with one factor per column."""
    result: Floats = np.log(np.maximum(1.0, matrix.astype(np.float64) * factor))
    return result


def eigen(matrix: Floats, count: int, by_magnitude: bool) -> tuple[Floats, Floats]:
    """Eigenvalues of a symmetric matrix, largest first, and the first eigenvectors as rows."""
    values, columns = np.linalg.eigh(matrix)
    order = np.argsort(-(np.abs(values) if by_magnitude else values), kind="stable")
    return values[order], columns.T[order[:count]]


def nearest(
    vectors: NDArray[np.float32],
    queries: Sequence[int],
    k: int,
    among: Sequence[int] | None = None,
) -> tuple[NDArray[np.int64], Floats]:
    """The k other rows with the largest cosine to each query, best first, ties by row.

    The candidates are all rows, or those in `among`. Returns row numbers and cosines.
    """
    unit = unit_rows(vectors.astype(np.float64))
    rows = np.empty((len(queries), k), np.int64)
    similarity = np.empty((len(queries), k))
    for number, query in enumerate(queries):
        cosines = unit @ unit[query]
        others = (row for row in among or range(len(unit)) if row != query)
        rows[number] = sorted(others, key=lambda row: (-cosines[row], row))[:k]
        similarity[number] = cosines[rows[number]]
    return rows, similarity


def best_pairs(
    vectors: NDArray[np.float32], scale: NDArray[np.float32], first: int, last: int, k: int
) -> list[tuple[float, int, int]]:
    """The k pairs i < j, first <= i < last, with the largest scaled dot product; ties by i, j."""
    rows = vectors.astype(np.float64) * scale.astype(np.float64)[:, None]
    pairs = ((i, j) for i in range(first, last) for j in range(i + 1, len(rows)))
    scored = [(float(rows[i] @ rows[j]), i, j) for i, j in pairs]
    return sorted(scored, key=lambda pair: (-pair[0], *pair[1:]))[:k]


Row = list[tuple[int, float]]
"""The neighbors and weights of a node."""


def rows_of_edges(
    edges: Sequence[tuple[int, int, float]], nodes: int, *, directed: bool, drop_loops: bool
) -> list[Row]:
    """The entries of every row of S, in the order of the edges."""
    rows: list[Row] = [[] for _ in range(nodes)]
    for u, v, weight in edges:
        if weight == 0 or (drop_loops and u == v):
            continue
        rows[u].append((v, weight))
        if not directed and u != v:
            rows[v].append((u, weight))
    return rows


def internal_order(rows: list[Row], keys: Sequence[int], *, directed: bool) -> list[int]:
    """Nodes by distinct entries in row and column, descending; those without a row last."""
    distinct = [{neighbor for neighbor, _ in row} for row in rows]
    columns = Counter(neighbor for row in distinct for neighbor in row)
    sizes = [
        len(row) + (columns[node] if directed else len(row)) for node, row in enumerate(distinct)
    ]
    return sorted(range(len(rows)), key=lambda node: (not rows[node], -sizes[node], keys[node]))


def merged_rows(rows: list[Row], order: Sequence[int], *, add: bool) -> list[Row]:
    """The rows in an order of the nodes: sorted, with the sum or the first of equal entries."""
    number = {node: position for position, node in enumerate(order)}
    merged = []
    for node in order:
        entries: dict[int, float] = {}
        for neighbor, weight in sorted(rows[node]) if add else rows[node]:
            before = entries.get(number[neighbor])
            if before is None or add:
                entries[number[neighbor]] = weight + (before or 0.0)
        merged.append(sorted(entries.items()))
    return merged
