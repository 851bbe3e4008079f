"""Slow, obvious twins of the native kernels: what the tests hold them against, used nowhere else.

Whatever is promised bit by bit (`mix`, `xxh64`, the signs of R) is done in whole numbers of Python;
whatever is a sum is done in float64, so that a kernel may differ from it by float32 rounding only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
GROUP = 16  # columns of R that share a chain of hashes
CONSTANT = 2.0**-20

Floats = NDArray[np.float64]


def mix(z: int) -> int:
    """The finaliser of splitmix64: 64 bits to 64 well-mixed bits.

    >>> hex(mix(0x9E3779B97F4A7C15))
    '0xe220a8397b1dcdaf'
    """
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


def salt_of(seed: int, number: int) -> int:
    """What tells one use of a seed from another: a group of columns, a round of walks."""
    return mix((mix((seed + GOLDEN) & MASK) + GOLDEN * (number + 1)) & MASK)


def xxh64(data: bytes, seed: int = 42) -> int:
    """XXH64 of a byte string, by its published description; seed 42 is what Spark uses.

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
    striped = len(data) // 32 * 4  # words that come in stripes of four
    result = (seed + p5) & MASK
    if striped:
        lanes = [(seed + start) & MASK for start in (p1 + p2, p2, 0, -p1)]
        for at in range(0, striped, 4):
            lanes = [round_of(lanes[k], words[at + k]) for k in range(4)]
        turned = zip(lanes, (1, 7, 12, 18), strict=True)
        result = sum(rotate(lane, bits) for lane, bits in turned) & MASK
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
    """The chain of hashes from which a node draws its entries of R in a group of 16 columns."""
    bits = mix(key ^ salt_of(seed, group))
    while True:
        yield bits
        bits = mix((bits + GOLDEN) & MASK)


def sparse_rows(seed: int, sparsity: float, keys: Sequence[int], dim: int) -> NDArray[np.int8]:
    """The signs of R, [keys][dim]: +1, 0 or -1, one in `sparsity` not zero.

    The 63 upper bits of a hash are a uniform number that says how many zeros come next, its lowest
    bit is the sign of what follows.
    """
    zero = 1.0 - 1.0 / sparsity
    power, all_zero = 2.0**63, []  # all_zero[c] = 2^63 * P(c columns in a row are zero)
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
    """R with entries of the standard normal law, [keys][dim].

    A hash gives the entries of two columns by Box and Muller's transform: its upper half the
    radius, its lower half the angle, from -1/8 of a turn on.
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
    """The signs of features, [keys][dim]: the lowest 16 bits of a hash for a group of columns."""
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
    """A * block with A = D^-1 S: each row the weighted mean of its neighbors' rows, or zero."""
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
    """N_1 = A L R, L by its diagonal and R by its signs."""
    return hop(indptr, indices, weights, diagonal.astype(np.float64)[:, None] * signs)


def unit_rows(rows: Floats) -> Floats:
    """Rows of length 1; a zero row stays zero."""
    norms = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    result: Floats = np.divide(rows, norms, out=np.zeros(rows.shape), where=norms > 0)
    return result


def weighted_sum(
    orders: Sequence[NDArray[np.floating]], weights: Sequence[float], *, unit: bool
) -> Floats:
    """The sum over orders of weight * order, the rows of every order made unit first if asked."""
    result = np.zeros(orders[0].shape)
    for order, weight in zip(orders, weights, strict=True):
        values = order.astype(np.float64)
        result += weight * (unit_rows(values) if unit else values)
    return result


def standardize(rows: NDArray[np.floating], *, unit: bool) -> Floats:
    """Columns of mean 0 and variance 1, constant ones 0; then rows of length 1 if asked."""
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
    """Adds the products of all pairs of columns to gram, on and above its diagonal."""
    wide = rows.astype(np.float64)
    gram += np.triu(wide.T @ wide)


def positive_logarithm(matrix: NDArray[np.floating], factor: Floats) -> Floats:
    """Log(max(1, entry * factor)), with a factor for each column."""
    result: Floats = np.log(np.maximum(1.0, matrix.astype(np.float64) * factor))
    return result


def eigen(matrix: Floats, count: int, by_magnitude: bool) -> tuple[Floats, Floats]:
    """The eigenvalues of a symmetric matrix, the largest first, and the first vectors in rows."""
    values, columns = np.linalg.eigh(matrix)
    order = np.argsort(-(np.abs(values) if by_magnitude else values), kind="stable")
    return values[order], columns.T[order[:count]]


def nearest(
    vectors: NDArray[np.float32],
    queries: Sequence[int],
    k: int,
    among: Sequence[int] | None = None,
) -> tuple[NDArray[np.int64], Floats]:
    """The k other rows of largest cosine to each query, best first, ties by row; their cosines.

    Of all rows, or of those `among` which to choose.
    """
    unit = unit_rows(vectors.astype(np.float64))
    rows = np.empty((len(queries), k), np.int64)
    similarity = np.empty((len(queries), k))
    for place, query in enumerate(queries):
        cosines = unit @ unit[query]
        others = (row for row in among or range(len(unit)) if row != query)
        rows[place] = sorted(others, key=lambda row: (-cosines[row], row))[:k]
        similarity[place] = cosines[rows[place]]
    return rows, similarity


def walk_order(keys: Sequence[int], seed: int, number: int) -> list[int]:
    """The nodes in the order in which the walks of a round start."""
    salt = salt_of(seed, number)
    return sorted(range(len(keys)), key=lambda node: mix(int(keys[node]) ^ salt))


def random_walk(
    rows: Sequence[dict[int, float]],
    first: int,
    key: int,
    *,
    seed: int,
    number: int,
    length: int,
    p: float,
    q: float,
) -> list[int]:
    """The walk of a round from one node, which ends early at a node that no edge leaves.

    `rows[v][x]` is the weight of the edge from v to x, neighbors ascending. Draws are numbered:
    one for an entry of the row by its weight, and for a step of second order one more, whether
    to take it. A return that is likelier than all else has the part that sticks out drawn first.
    """
    state = mix(int(key) ^ salt_of(seed, number))

    def below(bound: float) -> float:
        nonlocal state
        state = (state + GOLDEN) & MASK
        return float((mix(state) >> 11) * 2.0**-53 * bound)

    def drawn(row: dict[int, float]) -> int:
        sums = np.cumsum(list(row.values()))
        return list(row)[int(np.searchsorted(sums, below(float(sums[-1])), side="right"))]

    def second_order(previous: int, row: dict[int, float]) -> int:
        ceiling = max(1.0, 1 / q)
        sums = np.cumsum([0.0, *row.values()])
        place = list(row).index(previous) if previous in row else None
        weight = 0.0 if place is None else float(sums[place + 1] - sums[place])
        above = max(0.0, 1 / p - ceiling) * weight
        while True:
            if above and below(ceiling * float(sums[-1]) + above) < above:
                return previous
            node, height = drawn(row), below(ceiling)
            bias = 1 / p if node == previous else 1.0 if node in rows[previous] else 1 / q
            if height < bias:
                return node

    walk = [first]
    while len(walk) < length and rows[walk[-1]]:
        row = rows[walk[-1]]
        if len(walk) == 1 or p == q == 1:
            walk.append(drawn(row))
        elif len(row) == 1:
            walk.extend(row)
        else:
            walk.append(second_order(walk[-2], row))
    return walk


def best_pairs(
    vectors: NDArray[np.float32], scale: NDArray[np.float32], first: int, last: int, k: int
) -> list[tuple[float, int, int]]:
    """The k pairs i < j, first <= i < last, of largest scaled dot product; ties by i, then j."""
    rows = vectors.astype(np.float64) * scale.astype(np.float64)[:, None]
    pairs = ((i, j) for i in range(first, last) for j in range(i + 1, len(rows)))
    scored = [(float(rows[i] @ rows[j]), i, j) for i, j in pairs]
    return sorted(scored, key=lambda pair: (-pair[0], *pair[1:]))[:k]


def alias_law(keep: NDArray[np.uint32], other: NDArray[np.int32]) -> Floats:
    """The probabilities of an alias table: each place keeps a part of 1/n and gives the rest."""
    part = keep / 2.0**32
    law = part.copy()
    np.add.at(law, other, 1 - part)
    result: Floats = law / len(keep)
    return result


def alias_draw(keep: NDArray[np.uint32], other: NDArray[np.int32], bits: int) -> int:
    """A draw from an alias table, by 64 even bits: a place, then whether it is kept."""
    place, rest = divmod(bits * len(keep), 2**64)
    return place if rest >> 32 < keep[place] else int(other[place])


def line_vectors(seed: int, order: int, keys: Sequence[int], dim: int) -> Floats:
    """The vectors of LINE before training, [keys][dim]: even in [-0.5, 0.5) / dim."""
    stream = salt_of(seed, -order)
    columns = [mix((stream + GOLDEN * (column + 1)) & MASK) for column in range(dim)]
    bits = [[mix(int(key) ^ column) >> 40 for column in columns] for key in keys]
    return (np.array(bits).reshape(len(keys), dim) / 2.0**24 - 0.5) / dim


def train_line(
    samples: NDArray[np.int32],
    rates: Sequence[float],
    vectors: Floats,
    contexts: Floats,
) -> None:
    """Steps of LINE, in place, for samples (i, j, k, ...): an edge (i, j) and negative nodes.

    A step ascends log s(u_i . v_j) + sum_k log s(-u_i . v_k), s the sigmoid, where u are vectors
    and v contexts. All products are taken before anything changes.
    """
    for (i, *targets), rate in zip(samples.tolist(), rates, strict=True):
        u = vectors[i].copy()
        labels = np.arange(len(targets)) == 0
        gradients = rate * (labels - 1 / (1 + np.exp(-(contexts[targets] @ u))))
        change = np.zeros(len(u))
        for target, gradient in zip(targets, gradients, strict=True):
            change += gradient * contexts[target]
            contexts[target] += gradient * u
        vectors[i] += change


def permuted(place: int, size: int, seed: int) -> int:
    """Where a place below `size` goes in the permutation of a seed."""
    bits = (size - 1).bit_length()
    low_bits = (bits + 1) // 2
    low_mask, high_mask = (1 << low_bits) - 1, (1 << (bits - low_bits)) - 1
    while True:
        low, high = place & low_mask, place >> low_bits
        for half_round in range(0, 6, 2):
            low ^= mix(high ^ salt_of(seed, 1 + half_round)) & low_mask
            high ^= mix(low ^ salt_of(seed, 2 + half_round)) & high_mask
        place = high << low_bits | low
        if place < size:
            return place


def draws(seed: int, edge: int) -> Iterator[int]:
    """The random bits of an edge, 64 at a time."""
    state = mix(edge ^ salt_of(seed, 0))
    while True:
        state = (state + GOLDEN) & MASK
        yield mix(state)


def erdos_renyi_edge(number: int, *, nodes: int, seed: int) -> tuple[int, int]:
    """An edge of G(n, m): the pair at a place of the permutation of all pairs."""
    pair = permuted(number, nodes * (nodes - 1) // 2, seed)
    larger = (1 + math.isqrt(1 + 8 * pair)) // 2
    smaller = pair - larger * (larger - 1) // 2
    return (larger, smaller) if next(draws(seed, number)) & 1 else (smaller, larger)


def chung_lu_edge(
    number: int, *, nodes: int, exponent: float, offset: float, shuffled: bool, seed: int
) -> tuple[int, int]:
    """An edge between ranks that are drawn by the inverse of their distribution."""
    power = 1 - 1 / (exponent - 1)
    low, high = offset**power, (nodes + offset) ** power

    def node(bits: int) -> int:
        rank = (low + (bits >> 11) * 2.0**-53 * (high - low)) ** (1 / power) - offset
        whole = min(max(int(rank), 0), nodes - 1)
        return permuted(whole, nodes, seed) if shuffled else whole

    bits = draws(seed, number)
    return node(next(bits)), node(next(bits))


def rmat_edge(
    number: int, *, scale: int, a: float, b: float, c: float, shuffled: bool, seed: int
) -> tuple[int, int]:
    """An edge that falls into a quadrant within a quadrant, by 32 bits each."""
    bits = (half for word in draws(seed, number) for half in (word & 0xFFFFFFFF, word >> 32))
    ends = [0, 0]
    for uniform in islice(bits, scale):
        quadrant = sum(uniform >= round(sum(part) * 2**32) for part in ([a], [a, b], [a, b, c]))
        ends = [2 * end + bit for end, bit in zip(ends, divmod(quadrant, 2), strict=True)]
    row, column = (permuted(end, 1 << scale, seed) if shuffled else end for end in ends)
    return row, column
