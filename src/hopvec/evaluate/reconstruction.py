"""Network reconstruction: the share of edges among the most similar pairs of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.evaluate.hashing import RandomStream, hash_uint64
from hopvec.evaluate.held_out import SEED
from hopvec.evaluate.pairs import Pairs, contains
from hopvec.graph import Graph
from hopvec.machine import cores, interruptible
from hopvec.methods.parameters import Integer, OneOf, check_value
from hopvec.progress import Progress, ProgressOption, callback
from hopvec.tabular import Tabular

MAX_NODES = 65_536  # a sample of larger graphs is compared
STRIPE = 1 << 33  # multiplications between two reports of progress
KERNEL_ROWS = 128  # rows per block of the native loop


@dataclass(frozen=True, repr=False)
class Reconstruction(Tabular):
    """The result of `reconstruct`; `print` shows it, `to_dict` is ready for JSON.

    Attributes
    ----------
    precision : dict of int to float
        For each k, the share of edges among the k most similar pairs.
    similarity : str
        "cosine" or "dot".
    nodes : int
        Nodes that were compared with each other.
    sampled : bool
        Whether they are a random sample of all nodes.
    pairs : int
        Pairs that were compared.
    edges : int
        Edges among these pairs; edges / pairs is the precision of a random ranking.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, evaluate
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> print(evaluate.reconstruct(FastRP(dim=64).embed(graph), graph, k=[6]))
    cosine between all 6 nodes: 6 of 15 pairs are edges, a share of 0.4
    precision@6  1.0000
    """

    precision: dict[int, float]
    similarity: str
    nodes: int
    sampled: bool
    pairs: int
    edges: int

    def _table_rows(self) -> list[dict[str, Any]]:
        return [{"k": k, "precision": precision} for k, precision in self.precision.items()]

    def to_dict(self) -> dict[str, Any]:
        """Return all values as plain Python objects, ready for JSON.

        Returns
        -------
        dict
            The attributes of the result.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, evaluate
        >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
        >>> evaluate.reconstruct(FastRP(dim=64).embed(graph), graph).to_dict()["pairs"]
        15
        """
        return asdict(self)

    def _caption(self) -> str:
        kind = "a sample of " if self.sampled else "all "
        return (
            f"{self.similarity} between {kind}{self.nodes:,} nodes: {self.edges:,} of "
            f"{self.pairs:,} pairs are edges, a share of {self.edges / self.pairs:.3g}"
        )

    def __str__(self) -> str:
        lines = [self._caption()]
        width = max(len(f"{k:,}") for k in self.precision)
        lines += [f"precision@{k:<{width},}  {share:.4f}" for k, share in self.precision.items()]
        return "\n".join(lines)


def reconstruct(
    embedding: Embedding,
    graph: Graph,
    *,
    k: Sequence[int] | None = None,
    similarity: Literal["cosine", "dot"] = "cosine",
    sample: int | None = None,
    seed: int = 0,
    progress: ProgressOption = None,
) -> Reconstruction:
    """Measure the share of edges among the k most similar pairs of nodes.

    All pairs of distinct nodes are compared, exactly, in O(n^2 dim) time and O(n dim + k) memory.
    Directions, weights and loops are ignored. Ties are ordered by the keys (XXH64) of the ids,
    which do not depend on the graph.

    Parameters
    ----------
    embedding : Embedding
        The vectors of all nodes.
    graph : Graph
        The graph that was embedded.
    k : sequence of int, optional
        Numbers of pairs. By default 100, 1,000, ... up to the number of edges.
    similarity : {"cosine", "dot"}
        The similarity of vectors.
    sample : int, optional
        Number of random nodes to compare; only edges between them count. By default all nodes, but
        65,536 of larger graphs.
    seed : int
        Seed of the sample.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the number of pairs compared and
        the total.

    Returns
    -------
    Reconstruction
        precision@k, the share of edges among the k most similar pairs.

    Raises
    ------
    ParameterError
        If a parameter is invalid, or there are no edges or no pairs to compare.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, evaluate
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> evaluate.reconstruct(FastRP(dim=64).embed(graph), graph, k=[6]).precision
    {6: 1.0}
    """
    progress = callback(progress, "comparing pairs")
    check_value("reconstruct", "similarity", OneOf(("cosine", "dot")), similarity)
    check_value("reconstruct", "seed", SEED, seed)
    if graph.nodes < 2:
        raise ParameterError("reconstruct: a graph of one node has no pairs to compare.")
    if sample is not None:
        check_value("reconstruct", "sample", Integer(2, graph.nodes), sample)
    nodes = _sample_nodes(graph, sample or min(graph.nodes, MAX_NODES), seed)
    edges = _edges_among(graph, nodes)
    pairs = len(nodes) * (len(nodes) - 1) // 2
    ks = _ks(k, pairs, len(edges))
    rows = embedding.find(graph.ids.take(graph.rows[nodes]))
    first, second = _best_pairs(embedding, rows, similarity, max(ks), progress)
    found = contains(edges, first.astype(np.int64) * len(nodes) + second)
    right = np.cumsum(found)
    precision = {k: float(right[k - 1] / k) for k in ks}
    sampled = len(nodes) < graph.nodes
    return Reconstruction(precision, similarity, len(nodes), sampled, pairs, len(edges))


def _ks(k: Sequence[int] | None, pairs: int, edges: int) -> list[int]:
    if k is not None:
        for at in k:
            check_value("reconstruct", "k", Integer(1, pairs), at)
        return sorted(int(at) for at in k)
    if edges == 0:
        raise ParameterError("reconstruct: there are no edges between the compared nodes.")
    return [k for k in (10**power for power in range(2, 10)) if k <= edges] or [edges]


def _sample_nodes(graph: Graph, count: int, seed: int) -> NDArray[np.int64]:
    """A random sample of `count` nodes, ordered by key."""
    draws = hash_uint64(seed, RandomStream.NODE_SAMPLE, graph.keys)
    nodes = np.argsort(draws, kind="stable")[:count]
    return nodes[np.argsort(graph.keys[nodes], kind="stable")]


def _edges_among(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The codes i * len(nodes) + j, ascending, of edges between nodes[i] and nodes[j], i < j."""
    position = np.full(graph.nodes, -1, dtype=np.int64)
    position[nodes] = np.arange(len(nodes))
    pairs = Pairs(graph)
    low, high = np.sort(position[np.stack(pairs.decode(pairs.edges))], axis=0)
    inside = low >= 0
    return np.unique(low[inside] * len(nodes) + high[inside])


def _best_pairs(
    embedding: Embedding,
    rows: NDArray[np.int64],
    similarity: str,
    k: int,
    progress: Progress | None,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The k most similar pairs of rows, as positions in `rows`, most similar first."""
    scale = embedding._inverse_norms[rows]
    if similarity == "dot":  # one scale for all rows, so that no product overflows
        scale = np.full(len(rows), scale[scale > 0].min(initial=1.0), dtype=np.float32)
    vectors = np.ascontiguousarray(embedding.vectors[rows])
    step = max(1, STRIPE // (vectors.size * KERNEL_ROWS)) * KERNEL_ROWS
    best = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))
    for start in range(0, len(rows), step):
        least = float(best[2][k - 1]) if len(best[2]) == k else -np.inf
        end = min(start + step, len(rows))
        find = partial(_native.best_pairs, vectors, scale, start, end, k, least, cores())
        stripe = interruptible(find)
        first, second, similar = (np.concatenate(both) for both in zip(best, stripe, strict=True))
        order = np.lexsort((second, first, -similar))[:k]
        best = (first[order], second[order], similar[order])
        if progress is not None:
            progress(_pairs_before(end, len(rows)), _pairs_before(len(rows), len(rows)))
    return best[0], best[1]


def _pairs_before(end: int, count: int) -> int:
    """The number of pairs i < j < count with i < end."""
    return end * (count - 1) - end * (end - 1) // 2
