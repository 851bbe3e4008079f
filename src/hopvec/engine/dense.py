"""Dense float32 matrices over all pairs of nodes, in the graph's internal order."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.combine import WeightedSum
from hopvec.engine.finish import allocate_rows
from hopvec.engine.plan import CACHE_LINE_BYTES, SlabWork
from hopvec.engine.random_rows import GaussianRows
from hopvec.engine.slab import Slab, Transition, for_each_slab
from hopvec.engine.spectral import BLOCK_COLUMNS, Draw, Floats, Multiply, largest_eigenpairs
from hopvec.graph import Graph
from hopvec.graph.size import GraphSize
from hopvec.machine import interruptible
from hopvec.progress import Progress

Dense = NDArray[np.float32]

DENSE_TOLERANCE = 1e-8  # residual of eigenpairs relative to the largest eigenvalue
HOP_TOLERANCE = 1e-6  # the same for products by hops, which round to float32


def transition_powers(
    graph: Graph, orders: Collection[int], threads: int, progress: Progress, *, columns: int
) -> Dense:
    """Return the first columns of the sum of A^r over the orders r, by hops from the identity."""
    matrix = allocate_rows(graph.nodes, columns)
    last, A = max(orders), Transition(graph)  # noqa: N806

    def hops(slab: Slab) -> None:
        slab.start_with_identity()
        for order in range(1, last + 1):
            slab.hop(A, last=order == last)

    work = SlabWork(
        dim=columns, width=columns, precision="float32", orders_with_norms=0, threads=threads
    )
    plan = work.plans(GraphSize.of(graph))[0]  # the caller has planned for the matrix
    rows = np.arange(graph.nodes, dtype=np.int32)
    destination = WeightedSum(matrix, rows, dict.fromkeys(sorted(orders), 1.0))
    for_each_slab(plan, graph, destination, hops, progress)
    return matrix


def filtered_adjacency(
    graph: Graph,
    rank: int,
    filtered: Callable[[Floats], Floats],
    *,
    seed: int,
    threads: int,
    progress: Progress,
) -> Dense:
    """Return D^-1/2 U f(Lambda) U^T D^-1/2 for the `rank` largest eigenpairs of D^-1/2 S D^-1/2.

    Negative values of the filter f count as 0.
    """
    pairs = largest_eigenpairs(
        _normalized_adjacency(graph, threads),
        _random_blocks(graph, seed, threads),
        min(rank, graph.nodes),
        by="value",
        tolerance=HOP_TOLERANCE,
        threads=threads,
        progress=progress,
    )
    scale = np.sqrt(np.maximum(filtered(pairs.values), 0.0))
    factor = (_inverse_root_degrees(graph)[:, None] * pairs.vectors * scale).astype(np.float32)
    return interruptible(partial(_outer_product, factor, threads))


def take_positive_logarithm(matrix: Dense, factors: Floats, threads: int) -> None:
    """Replace every entry by log(max(1, entry * factor)), with one factor per column."""
    interruptible(lambda stop: _native.positive_logarithm(matrix, factors, threads, stop))


def column_sums(matrix: Dense, threads: int) -> Floats:
    """Return the column sums in float64."""
    rows = np.arange(len(matrix), dtype=np.int32)
    return interruptible(lambda stop: _native.moments(matrix, rows, None, threads, stop))


def left_factor(
    matrix: Dense,
    count: int,
    graph: Graph,
    *,
    symmetric: bool,
    seed: int,
    threads: int,
    progress: Progress,
) -> Floats:
    """Return U Sigma^(1/2) for the `count` largest singular values of the matrix U Sigma V^T.

    The singular values of a symmetric matrix M are the magnitudes of its eigenvalues; otherwise
    they are the square roots of the eigenvalues of M M^T.
    """

    def times(block: Floats, stop: _native.Stop) -> Floats:
        if not symmetric:
            block = _native.product(matrix, block, True, threads, stop)
        return _native.product(matrix, block, False, threads, stop)

    pairs = largest_eigenpairs(
        times,
        _random_blocks(graph, seed, threads),
        count,
        by="magnitude",
        tolerance=DENSE_TOLERANCE,
        threads=threads,
        progress=progress,
    )
    singular = np.abs(pairs.values) if symmetric else np.sqrt(np.abs(pairs.values))
    factor: Floats = pairs.vectors * np.sqrt(singular)
    return factor


def _random_blocks(graph: Graph, seed: int, threads: int) -> Draw:
    """Return a function that draws normally distributed blocks; isolated nodes get zeros."""
    sampler = GaussianRows(seed=seed).sampler
    present = np.zeros(graph.nodes, dtype=np.float32)
    present[: graph._connected] = 1.0

    def draw(number: int, stop: _native.Stop) -> Floats:
        block = _native.allocate(CACHE_LINE_BYTES * graph.nodes)
        sink = _native.Sink(next=block)
        _native.draw(sampler, graph.keys, present, number, False, sink, threads, stop)
        return _as_floats(block)

    return draw


def _normalized_adjacency(graph: Graph, threads: int) -> Multiply:
    """Return a function that multiplies by D^-1/2 S D^-1/2, using hops."""
    root = _inverse_root_degrees(graph)
    hops = Transition(graph, root).native

    def times(block: Floats, stop: _native.Stop) -> Floats:
        lines = (block * root[:, None]).astype(np.float32).view(np.uint8).reshape(-1)
        result = _native.allocate(CACHE_LINE_BYTES * graph.nodes)
        _native.hop(hops, lines, False, _native.Sink(next=result), threads, stop)
        return _as_floats(result)

    return times


def _outer_product(factor: Dense, threads: int, stop: _native.Stop) -> Dense:
    """Return factor @ factor.T."""
    nodes, rank = factor.shape
    matrix = allocate_rows(nodes, nodes)
    for first in range(0, nodes, BLOCK_COLUMNS):
        rows = factor[first : first + BLOCK_COLUMNS]
        block = np.zeros((rank, BLOCK_COLUMNS))
        block[:, : len(rows)] = rows.T
        product = _native.product(factor, block, False, threads, stop)
        matrix[first : first + BLOCK_COLUMNS] = product[:, : len(rows)].T
    return matrix


def _inverse_root_degrees(graph: Graph) -> Floats:
    """Return 1 / sqrt(degree) of every node, 0 for isolated nodes."""
    degrees = graph._node_degrees
    return np.divide(1.0, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)


def _as_floats(block: NDArray[np.uint8]) -> Floats:
    return block.view(np.float32).reshape(-1, BLOCK_COLUMNS).astype(np.float64)
