"""Edges held out of a graph, and as many pairs that are no edges: what links are predicted of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError, ParameterError
from hopvec.evaluate.hashing import RandomStream, hash_uint64
from hopvec.evaluate.pairs import Codes, Pairs, contains, ids_like
from hopvec.formats.graphs.links import read_pairs
from hopvec.formats.graphs.write import Table, edge_table, write_tables
from hopvec.graph import Graph
from hopvec.graph.edge_list import from_numbered_edges
from hopvec.graph.ids import NumberedEdges
from hopvec.graph.validation import check_flag
from hopvec.methods.parameters import Integer, Real, check_value
from hopvec.progress import Progress, no_progress

SEED = Integer(0, 2**64 - 1)
NEGATIVES = Integer(0, 1000)
STEPS = 4


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut:
    """Edges that were taken out of a graph, and pairs of nodes that never were edges."""

    training: Graph | None
    """The graph without those edges, with all its nodes; None if only the pairs are known."""
    edges: pa.Table
    """The ids of the edges, in the columns source and target."""
    negatives: pa.Table
    """The ids of the other pairs, in the same columns."""

    def save(
        self,
        links: str | PathLike[str],
        training: str | PathLike[str] | None = None,
        *,
        progress: Progress | None = None,
    ) -> None:
        """Writes the pairs, edges first, with the column label: 1 for an edge, 0 for no edge.

        `training` is a file for the edges of the training graph. The suffixes name the formats:
        .csv, .tsv, .parquet, .arrow; also .csv.gz and .tsv.gz. Files of these names are replaced
        together or not at all. `read_links` reads the pairs back.
        """
        parts = [
            table.append_column("label", pa.array(np.full(len(table), label, dtype=np.int8)))
            for table, label in ((self.edges, 1), (self.negatives, 0))
        ]
        pairs = pa.concat_tables(parts)
        tables = [Table(Path(links), pairs.schema, pairs.to_batches())]
        if training is not None:
            if self.training is None:
                raise ParameterError("save: these pairs come without a training graph.")
            tables.append(edge_table(self.training, Path(training), progress or no_progress))
        write_tables(*tables)

    def __repr__(self) -> str:
        return (
            f"HeldOut(edges: {len(self.edges):,}, negatives: {len(self.negatives):,}, "
            f"training: {self.training!r})"
        )


def hold_out(
    graph: Graph,
    *,
    share: float = 0.2,
    count: int | None = None,
    negatives: int = 1,
    connected: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> HeldOut:
    """Edges of a graph to be predicted, and the graph without them.

    Edges are taken out one after the other at random, a `share` of all or `count` of them; one
    whose removal would cut a component in two is passed over, unless `connected` is False. So the
    components stay as they are, a random spanning forest of the graph is never touched, and the
    training graph has the same nodes in the same order. Loops are never taken out.

    `negatives` pairs for each of the edges are drawn uniformly from all pairs of nodes that have an
    edge with another: distinct, no loops, and never an edge of the whole graph (in a directed
    graph, never in that direction; in a bipartite one, always of both sides). The result depends on
    the graph and the seed alone. O(m log m).

    Raises GraphError where there is no edge, ParameterError where there are too few.

    >>> graph = Graph.from_edges([0, 1, 2, 3, 0, 5], [1, 2, 3, 4, 4, 5])
    >>> hold_out(graph, count=1)
    HeldOut(edges: 1, negatives: 1, training: Graph(6 nodes, 5 edges, undirected, unweighted))
    """
    check_hold_out_params(share, negatives, seed)
    check_flag("hold_out", "connected", connected)
    tell = progress or no_progress
    pairs = Pairs(graph)
    if len(pairs.edges) == 0:
        raise GraphError("hold_out: the graph has no edges between different nodes.")
    count = _number(len(pairs.edges), share, count)
    order = _random_order(pairs, seed)
    tell(1, STEPS)
    if connected:
        order = order[~_spanning_forest(pairs, order)[order]]
        if count > len(order):
            raise _too_many(count, len(order), len(pairs.edges))
    out = np.sort(pairs.edges[order[len(order) - count :]])
    tell(2, STEPS)
    others = draw_negatives(pairs, negatives * count, pairs.edges, seed)
    tell(3, STEPS)
    held_out = HeldOut(without_edges(pairs, out), pairs.decode_ids(out), pairs.decode_ids(others))
    tell(STEPS, STEPS)
    return held_out


def check_hold_out_params(share: float, negatives: int, seed: int) -> None:
    """Raises ParameterError for what no graph can be split by."""
    check_value("hold_out", "share", Real(0, 1), share)
    check_value("hold_out", "negatives", NEGATIVES, negatives)
    check_value("hold_out", "seed", SEED, seed)


def read_links(
    path: str | PathLike[str],
    *,
    graph: Graph | None = None,
    negatives: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> HeldOut:
    """The pairs of a file that `HeldOut.save` or another program wrote: text, Parquet or Arrow.

    Two columns of ids, and one called label, y or weight with 1 for an edge and 0 for no edge. A
    `graph`, with or without those edges, gives the training graph, which is it without them; and
    where the file holds edges only, it is what `negatives` pairs for each of them are drawn from,
    as `hold_out` does. `progress` is called with the bytes read and those of the file.

    Raises FormatError naming the line, UnknownNodeError, or ParameterError if there are no
    negatives or one of them is an edge.
    """
    check_value("read_links", "negatives", NEGATIVES, negatives)
    check_value("read_links", "seed", SEED, seed)
    table, labels = read_pairs(path, progress=progress)
    if graph is not None:
        table = pa.table({end: ids_like(table[end], graph.ids) for end in table.column_names})
    edges, others = table.filter(pa.array(labels)), table.filter(pa.array(~labels))
    if len(edges) == 0:
        raise ParameterError(f"{path}: no pair is an edge, so there is nothing to find.")
    if graph is None:
        if len(others) == 0:
            raise ParameterError(
                f"{path}: all pairs are edges. Add pairs with the label 0, or name the graph that "
                "others can be drawn from (graph=, or --graph)."
            )
        return HeldOut(None, edges, others)
    pairs = Pairs(graph)
    out = np.unique(pairs.encode_ids(edges))
    taken = np.union1d(pairs.edges, out)
    if len(others):
        wrong = contains(taken, pairs.encode_ids(others))
        if wrong.any():
            row = int(np.argmax(wrong))
            ends = " - ".join(repr(others.column(end)[row].as_py()) for end in ("source", "target"))
            raise ParameterError(f"{path}: {ends} has the label 0, but is an edge of the graph.")
    else:
        others = pairs.decode_ids(draw_negatives(pairs, negatives * len(out), taken, seed))
    return HeldOut(without_edges(pairs, out), edges, others)


def draw_negatives(pairs: Pairs, count: int, taken: Codes, seed: int) -> Codes:
    """So many pairs that are not `taken`, in ascending order."""
    return np.sort(
        pairs.sample_non_edges(count, taken, int(hash_uint64(seed, RandomStream.NEGATIVES)[0]))
    )


def without_edges(pairs: Pairs, out: Codes) -> Graph:
    """The graph of all its nodes and those edges that are not among `out`, which ascend."""
    graph = pairs.graph
    first, second, weights = pairs.entries
    kept = ~contains(out, pairs.encode(first, second))
    if kept.all():
        return graph
    numbering = NumberedEdges(
        lambda: graph.ids, graph.nodes, graph.rows[first[kept]], graph.rows[second[kept]]
    )
    weights = None if weights is None else weights[kept]
    kept_graph = from_numbered_edges(numbering, weights, graph.directed, "sum", "keep", None)
    return replace(kept_graph, features=graph.features, is_target=graph.is_target)


def _number(edges: int, share: float, count: int | None) -> int:
    """How many edges are to be held out."""
    if count is not None:
        check_value("hold_out", "count", Integer(1, edges), count)
        return count
    wanted = round(share * edges)
    if wanted == 0:
        raise ParameterError(
            f"hold_out: a share of {share:g} of {edges:,} edges is none. Give a larger share, or "
            "the number itself: count=1."
        )
    return wanted


def _random_order(pairs: Pairs, seed: int) -> NDArray[np.int64]:
    """The places of all edges in random order; a draw depends on the seed and the two ids alone."""
    first, second = (pairs.graph.keys[nodes] for nodes in pairs.decode(pairs.edges))
    if not pairs.graph.directed:  # which end comes first would depend on degrees
        first, second = np.minimum(first, second), np.maximum(first, second)
    return np.argsort(hash_uint64(seed, RandomStream.HELD_OUT_EDGES, first, second), kind="stable")


def _spanning_forest(pairs: Pairs, order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether an edge is in the spanning forest that takes edges in an order where it can.

    Taking edges out in the reverse order, unless that cuts a component in two, leaves this forest.
    """
    import scipy.sparse as sp
    from scipy.sparse.csgraph import minimum_spanning_tree

    first, second = pairs.decode(pairs.edges)
    rank = np.empty(len(order))
    rank[order] = np.arange(1, len(order) + 1)
    nodes = pairs.graph.nodes
    indptr = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(first, minlength=nodes), out=indptr[1:])
    forest = minimum_spanning_tree(
        sp.csr_array((rank, second, indptr), shape=(nodes, nodes)), overwrite=True
    )
    inside = np.zeros(len(order), dtype=bool)
    inside[order[forest.data.astype(np.int64) - 1]] = True
    return inside


def _too_many(count: int, most: int, edges: int) -> ParameterError:
    return ParameterError(
        f"hold_out: {count:,} of {edges:,} edges cannot be held out, since {edges - most:,} are "
        f"needed to keep the components whole. At most {most:,} can, a share of "
        f"{np.floor(1000 * most / edges) / 1000:g}; or let components fall apart: connected=False, "
        "or --any-edges."
    )
