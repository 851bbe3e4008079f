"""Reference implementations of what is sampled: walks, alias tables, LINE, random graphs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from reference import GOLDEN, MASK, Floats, mix, salt_of


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


def alias_probabilities(keep: NDArray[np.uint32], other: NDArray[np.int32]) -> Floats:
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
