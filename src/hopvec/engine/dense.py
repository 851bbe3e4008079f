"""Matrices of all pairs of nodes, dense in float32, in the graph's internal order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.combine import WeightedSum
from hopvec.engine.finish import allocate_rows
from hopvec.engine.plan import CACHE_LINE_BYTES, make_slab_plan
from hopvec.engine.random_rows import GaussianRows
from hopvec.engine.slab import Slab, Transition, for_each_slab
from hopvec.engine.spectral import COLUMNS, Draw, Floats, Multiply, largest_eigenpairs
from hopvec.graph import Graph
from hopvec.machine import interruptible
from hopvec.progress import Progress

Dense = NDArray[np.float32]

EXACT = 1e-8  # error of eigenpairs of a dense matrix, relative to the largest eigenvalue
NEAR = 1e-6  # the same for hops, whose products have the rounding error of float32


def transition_powers(
    graph: Graph, orders: Collection[int], threads: int, progress: Progress, *, columns: int
) -> Dense:
    """The first columns of the sum of A^r over some orders r, by hops from the identity matrix."""
    matrix = allocate_rows(graph.nodes, columns)
    last, A = max(orders), Transition(graph)  # noqa: N806

    def hops(slab: Slab) -> None:
        slab.start_with_identity()
        for order in range(1, last + 1):
            slab.hop(A, last=order == last)

    plan = make_slab_plan(
        graph,
        dim=columns,
        precision="float32",
        orders_with_norms=0,
        threads=threads,
        memory=sys.maxsize,  # who asks for the matrix has planned for it
    )
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
    """D^-1/2 U f(Lambda) U^T D^-1/2 by the `rank` largest eigenpairs of D^-1/2 S D^-1/2.

    Values of the filter f below 0 count as 0.
    """
    pairs = largest_eigenpairs(
        _normalized_adjacency(graph, threads),
        _random_blocks(graph, seed, threads),
        min(rank, graph.nodes),
        by="value",
        tolerance=NEAR,
        threads=threads,
        progress=progress,
    )
    scale = np.sqrt(np.maximum(filtered(pairs.values), 0.0))
    factor = (_inverse_root_degrees(graph)[:, None] * pairs.vectors * scale).astype(np.float32)
    return interruptible(partial(_times_its_transpose, factor, threads))


def take_positive_logarithm(matrix: Dense, factors: Floats, threads: int) -> None:
    """Replaces every entry by log(max(1, entry * factor)), with a factor for each column."""
    interruptible(lambda stop: _native.positive_logarithm(matrix, factors, threads, stop))


def column_sums(matrix: Dense, threads: int) -> Floats:
    """The sums of the columns, in float64."""
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
    """U Sigma^(1/2) of the `count` largest singular values of the matrix U Sigma V^T.

    The singular values of a symmetric matrix are the magnitudes of its eigenvalues; those of
    another one are the roots of the eigenvalues of it times its transpose.
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
        tolerance=EXACT,
        threads=threads,
        progress=progress,
    )
    singular = np.abs(pairs.values) if symmetric else np.sqrt(np.abs(pairs.values))
    factor: Floats = pairs.vectors * np.sqrt(singular)
    return factor


def _random_blocks(graph: Graph, seed: int, threads: int) -> Draw:
    """Blocks of normal numbers by seed and node key; nodes without a row have zeros."""
    sampler = GaussianRows(seed=seed).sampler
    present = np.zeros(graph.nodes, dtype=np.float32)
    present[: graph.connected] = 1.0

    def draw(number: int, stop: _native.Stop) -> Floats:
        block = _native.allocate(CACHE_LINE_BYTES * graph.nodes)
        sink = _native.Sink(next=block)
        _native.draw(sampler, graph.keys, present, number, False, sink, threads, stop)
        return _as_floats(block)

    return draw


def _normalized_adjacency(graph: Graph, threads: int) -> Multiply:
    """D^-1/2 S D^-1/2, by hops."""
    root = _inverse_root_degrees(graph)
    hops = Transition(graph, root).native

    def times(block: Floats, stop: _native.Stop) -> Floats:
        lines = (block * root[:, None]).astype(np.float32).view(np.uint8).reshape(-1)
        result = _native.allocate(CACHE_LINE_BYTES * graph.nodes)
        _native.hop(hops, lines, False, _native.Sink(next=result), threads, stop)
        return _as_floats(result)

    return times


def _times_its_transpose(factor: Dense, threads: int, stop: _native.Stop) -> Dense:
    nodes, rank = factor.shape
    matrix = allocate_rows(nodes, nodes)
    for first in range(0, nodes, COLUMNS):
        some = factor[first : first + COLUMNS]
        block = np.zeros((rank, COLUMNS))
        block[:, : len(some)] = some.T
        product = _native.product(factor, block, False, threads, stop)
        matrix[first : first + COLUMNS] = product[:, : len(some)].T
    return matrix


def _inverse_root_degrees(graph: Graph) -> Floats:
    degrees = graph.node_degrees
    return np.divide(1.0, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)


def _as_floats(block: NDArray[np.uint8]) -> Floats:
    return block.view(np.float32).reshape(-1, COLUMNS).astype(np.float64)
