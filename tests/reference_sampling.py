"""Reference implementations of what is sampled: walks, alias tables, LINE, random graphs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from reference import GOLDEN, MASK, Floats, mix, salt_of


def walk_order(keys: Sequence[int], seed: int, round_: int) -> list[int]:
    """The nodes in the order in which the walks of a round start."""
    salt = salt_of(seed, round_)
    return sorted(range(len(keys)), key=lambda node: mix(int(keys[node]) ^ salt))


def random_walk(
    rows: Sequence[dict[int, float]],
    first: int,
    key: int,
    *,
    seed: int,
    round_: int,
    length: int,
    p: float,
    q: float,
) -> list[int]:
    """The walk of a round from one node; ends early at a node without out-edges.

    `rows[v][x]` is the weight of the edge from v to x, neighbors ascending. A step draws a neighbor
    by weight; a second-order step draws once more to accept it. If the bias of the return exceeds
    the ceiling, the excess is drawn first.
    """
    state = mix(int(key) ^ salt_of(seed, round_))

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
        entry = list(row).index(previous) if previous in row else None
        weight = 0.0 if entry is None else float(sums[entry + 1] - sums[entry])
        excess = max(0.0, 1 / p - ceiling) * weight
        while True:
            if excess and below(ceiling * float(sums[-1]) + excess) < excess:
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


def alias_probabilities(threshold: NDArray[np.uint32], alias: NDArray[np.int32]) -> Floats:
    """The probabilities of an alias table: a slot keeps part of 1/n, its alias gets the rest."""
    part = threshold / 2.0**32
    probabilities = part.copy()
    np.add.at(probabilities, alias, 1 - part)
    result: Floats = probabilities / len(threshold)
    return result


def alias_draw(threshold: NDArray[np.uint32], alias: NDArray[np.int32], bits: int) -> int:
    """A draw from an alias table by 64 uniform bits: a slot, then the slot itself or its alias."""
    slot, rest = divmod(bits * len(threshold), 2**64)
    return slot if rest >> 32 < threshold[slot] else int(alias[slot])


def line_vectors(seed: int, order: int, keys: Sequence[int], dim: int) -> Floats:
    """The initial vectors of LINE, [keys][dim]: uniform in [-0.5, 0.5) / dim."""
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
    """Train LINE in place on samples (i, j, k, ...): an edge (i, j) and negative samples k.

    A step ascends log s(u_i . v_j) + sum_k log s(-u_i . v_k), s the sigmoid, where u are vectors
    and v contexts. All products are computed before anything changes.
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


def permuted(index: int, size: int, seed: int) -> int:
    """The image of an index below `size` under the permutation of a seed."""
    bits = (size - 1).bit_length()
    low_bits = (bits + 1) // 2
    low_mask, high_mask = (1 << low_bits) - 1, (1 << (bits - low_bits)) - 1
    while True:
        low, high = index & low_mask, index >> low_bits
        for half_round in range(0, 6, 2):
            low ^= mix(high ^ salt_of(seed, 1 + half_round)) & low_mask
            high ^= mix(low ^ salt_of(seed, 2 + half_round)) & high_mask
        index = high << low_bits | low
        if index < size:
            return index


def draws(seed: int, edge: int) -> Iterator[int]:
    """The random bits of an edge, 64 at a time."""
    state = mix(edge ^ salt_of(seed, 0))
    while True:
        state = (state + GOLDEN) & MASK
        yield mix(state)


def erdos_renyi_edge(number: int, *, nodes: int, seed: int) -> tuple[int, int]:
    """An edge of G(n, m): element `number` of the permutation of all pairs."""
    pair = permuted(number, nodes * (nodes - 1) // 2, seed)
    larger = (1 + math.isqrt(1 + 8 * pair)) // 2
    smaller = pair - larger * (larger - 1) // 2
    return (larger, smaller) if next(draws(seed, number)) & 1 else (smaller, larger)


def chung_lu_edge(
    number: int, *, nodes: int, exponent: float, offset: float, shuffled: bool, seed: int
) -> tuple[int, int]:
    """An edge between ranks drawn by inverse transform sampling."""
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
    """An edge by recursive choice of a quadrant, with 32 bits each."""
    bits = (half for word in draws(seed, number) for half in (word & 0xFFFFFFFF, word >> 32))
    ends = [0, 0]
    for uniform in islice(bits, scale):
        quadrant = sum(uniform >= round(sum(part) * 2**32) for part in ([a], [a, b], [a, b, c]))
        ends = [2 * end + bit for end, bit in zip(ends, divmod(quadrant, 2), strict=True)]
    row, column = (permuted(end, 1 << scale, seed) if shuffled else end for end in ends)
    return row, column
