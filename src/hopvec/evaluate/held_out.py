"""Held-out edges: splits a graph for link prediction, and samples non-edges as negatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError, ParameterError
from hopvec.evaluate.hashing import RandomStream, hash_uint64
from hopvec.evaluate.pairs import SAMPLINGS, Codes, Pairs, Sampling, contains, ids_like
from hopvec.formats.graphs.links import SAMPLING as SAMPLING_COLUMN
from hopvec.formats.graphs.links import read_pairs
from hopvec.formats.graphs.write import check_ids, edge_table
from hopvec.formats.table_files import TableFile, write_tables
from hopvec.graph import Graph
from hopvec.graph.edge_list import from_numbered_edges
from hopvec.graph.ids import NumberedEdges
from hopvec.graph.validation import check_flag
from hopvec.methods.parameters import Integer, OneOf, Real, check_value
from hopvec.progress import ProgressOption, callback, no_progress

SEED = Integer(0, 2**64 - 1)
NEGATIVES = Integer(0, 1000)
SAMPLING = OneOf(("both", *SAMPLINGS))
STREAMS = {"uniform": RandomStream.NEGATIVES, "degree": RandomStream.DEGREE_NEGATIVES}
UNKNOWN = "given"  # the sampling of the negatives in a file that does not name it
STEPS = 4

Samplings = Literal["both", "uniform", "degree"]


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut:
    """Edges held out of a graph, and pairs of nodes that are not edges (negatives).

    Attributes
    ----------
    training : Graph or None
        The graph without the held-out edges, with all nodes; None if only the pairs are known.
    edges : pyarrow.Table
        The ids of the held-out edges, in the columns source and target.
    negatives : dict of str to pyarrow.Table
        The ids of the negatives, in the same columns, by how they were drawn: "uniform" and
        "degree"; "given" if they come from a file that does not say.

    Raises
    ------
    ParameterError
        If `negatives` is not a dict of tables.

    Examples
    --------
    >>> from hopvec import Graph, evaluate
    >>> graph = Graph.from_edges([0, 1, 2, 3, 0, 5], [1, 2, 3, 4, 4, 5])
    >>> held_out = evaluate.hold_out(graph, count=1)
    >>> held_out.edges.to_pylist()
    [{'source': 3, 'target': 2}]
    >>> len(held_out.negatives["uniform"]), held_out.training
    (1, Graph(6 nodes, 5 edges, undirected, unweighted))
    """

    training: Graph | None
    edges: pa.Table
    negatives: Mapping[str, pa.Table]

    def __post_init__(self) -> None:
        if not isinstance(self.negatives, Mapping):
            raise ParameterError(
                "HeldOut: negatives must be a dict of tables, such as {'uniform': table}, got a "
                f"{type(self.negatives).__name__}."
            )

    def save(
        self,
        links: str | PathLike[str],
        training: str | PathLike[str] | None = None,
        *,
        progress: ProgressOption = None,
    ) -> None:
        """Write the pairs, and optionally the training graph, to files.

        Existing files are replaced together or not at all. `read_links` reads the pairs back.

        Parameters
        ----------
        links : path
            File for the pairs, edges first, with the columns source, target, label (1 for edges,
            0 for negatives) and sampling (how a negative was drawn; empty for edges). The suffix is
            one of .csv, .tsv, .csv.gz, .tsv.gz, .parquet and .arrow.
        training : path, optional
            File for the edges of the training graph, with one of the same suffixes.
        progress : bool or callable, optional
            Whether to show a progress bar; or a function, called with the number of nodes whose
            edges are written, and the number of nodes.

        Raises
        ------
        ParameterError
            If the pairs have no training graph to write.
        FormatError
            If a suffix is unknown or a file cannot be written.

        Examples
        --------
        >>> from hopvec import Graph, evaluate
        >>> graph = Graph.from_edges([0, 1, 2, 3, 0, 5], [1, 2, 3, 4, 4, 5])
        >>> held_out = evaluate.hold_out(graph, count=1)
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     held_out.save(f"{folder}/links.csv", f"{folder}/training.parquet")
        """
        progress = callback(progress, "writing")
        drawn = ((table, 0, sampling) for sampling, table in self.negatives.items())
        parts = [
            table.append_column(
                "label", pa.array(np.full(len(table), label, dtype=np.int8))
            ).append_column(SAMPLING_COLUMN, pa.array([sampling] * len(table), pa.string()))
            for table, label, sampling in ((self.edges, 1, None), *drawn)
        ]
        pairs = pa.concat_tables(parts)
        for end in ("source", "target"):
            check_ids(Path(links), pairs[end])
        tables = [TableFile(Path(links), pairs.schema, pairs.to_batches())]
        if training is not None:
            if self.training is None:
                raise ParameterError("save: these pairs have no training graph.")
            tables.append(edge_table(self.training, Path(training), progress or no_progress))
        write_tables(*tables)

    def __repr__(self) -> str:
        return (
            f"HeldOut(edges: {len(self.edges):,}, negatives: {self._negatives_text()}, "
            f"training: {self.training!r})"
        )

    def _negatives_text(self) -> str:
        """The number of negatives of each kind, in words."""
        counts = (f"{len(table):,} {sampling}" for sampling, table in self.negatives.items())
        return " + ".join(counts) or "none"


def hold_out(
    graph: Graph,
    *,
    share: float = 0.2,
    count: int | None = None,
    negatives: int = 1,
    sampling: Samplings = "both",
    connected: bool = True,
    per_node: bool = False,
    seed: int = 0,
    progress: ProgressOption = None,
) -> HeldOut:
    """Hold out random edges of a graph, and sample pairs that are not edges.

    The training graph has the same nodes in the same order. Loops are never held out. The time is
    O(m log m) for m edges.

    Parameters
    ----------
    graph : Graph
        The graph to split.
    share : float
        Share of the edges to hold out.
    count : int, optional
        Number of edges to hold out, instead of `share`.
    negatives : int
        Number of negatives per held-out edge and sampling. They are distinct pairs of nodes with
        edges, and never loops or edges of the whole graph. In a directed graph a pair has a
        direction; in a bipartite graph it has one node on each side.
    sampling : {"both", "uniform", "degree"}
        How negatives are drawn: "uniform", all pairs alike; "degree", both ends in proportion to
        their degree (of a directed graph, the source by its out-degree and the target by its
        in-degree); "both", one sample of each. Degrees are numbers of edges, without weights.
        Degrees alone distinguish edges from uniform negatives, but hardly from "degree" negatives.
    connected : bool
        Never hold out an edge whose removal would split a component, so that the training graph
        has the components of the graph.
    per_node : bool
        Hold out one random edge of each node with at least two edges, instead of a share of all
        edges, to test recommendations; in a bipartite graph, of each node of the source side; in a
        directed graph, one outgoing edge. Every node keeps an edge. `share`, `count` and
        `connected` are ignored.
    seed : int
        Seed of the random choices. The result depends on the graph and the seed only.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the number of steps done and the
        total.

    Returns
    -------
    HeldOut
        The held-out edges, the negatives of each sampling, and the training graph.

    Raises
    ------
    GraphError
        If the graph has no edges.
    ParameterError
        If a parameter is invalid, or the graph has too few edges or too few non-edges.

    Examples
    --------
    >>> from hopvec import Graph, evaluate
    >>> graph = Graph.from_edges([0, 1, 2, 3, 0, 5], [1, 2, 3, 4, 4, 5])
    >>> held_out = evaluate.hold_out(graph, count=1)
    >>> held_out.training
    Graph(6 nodes, 5 edges, undirected, unweighted)
    >>> {sampling: len(pairs) for sampling, pairs in held_out.negatives.items()}
    {'uniform': 1, 'degree': 1}
    """
    progress = callback(progress, "holding out edges")
    check_hold_out_params(share, negatives, sampling, seed)
    check_flag("hold_out", "connected", connected)
    report = progress or no_progress
    pairs = Pairs(graph)
    if len(pairs.edges) == 0:
        raise GraphError("hold_out: the graph has no edges between different nodes.")
    check_flag("hold_out", "per_node", per_node)
    order = _random_order(pairs, seed)
    report(1, STEPS)
    if per_node:
        out = np.sort(pairs.edges[_one_per_node(pairs, order)])
    else:
        count = _number_of_edges(len(pairs.edges), share, count)
        if connected:
            order = order[~_spanning_forest(pairs, order)[order]]
            if count > len(order):
                raise _too_many(count, len(order), len(pairs.edges))
        out = np.sort(pairs.edges[order[len(order) - count :]])
    report(2, STEPS)
    drawn = _draw_negatives(pairs, negatives * len(out), pairs.edges, sampling, seed)
    report(3, STEPS)
    held_out = HeldOut(without_edges(pairs, out), pairs.decode_ids(out), drawn)
    report(STEPS, STEPS)
    return held_out


def check_hold_out_params(share: float, negatives: int, sampling: str, seed: int) -> None:
    """Raise ParameterError for values that are invalid for every graph."""
    check_value("hold_out", "share", Real(0, 1), share)
    check_value("hold_out", "negatives", NEGATIVES, negatives)
    check_value("hold_out", "sampling", SAMPLING, sampling)
    check_value("hold_out", "seed", SEED, seed)


def read_links(
    path: str | PathLike[str],
    *,
    graph: Graph | None = None,
    negatives: int = 1,
    sampling: Samplings = "both",
    seed: int = 0,
    progress: ProgressOption = None,
) -> HeldOut:
    """Read held-out edges and negatives from a text, Parquet or Arrow file.

    Parameters
    ----------
    path : path
        A file written by `HeldOut.save` or by another program: two columns of ids, and a column
        called label, y or weight that is 1 for edges and 0 for other pairs. If there is a column
        called sampling, it names the kind of each negative; otherwise they are "given".
    graph : Graph, optional
        The graph, with or without the held-out edges. Without them it is the training graph. It is
        needed if the file contains edges only: negatives are then sampled as in `hold_out`.
    negatives : int
        Number of negatives per edge and sampling, if the file contains edges only.
    sampling : {"both", "uniform", "degree"}
        Which negatives to use: all in the file, or only those drawn in this way. If the file
        contains edges only, how negatives are drawn.
    seed : int
        Seed of the negatives.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the number of bytes read and the
        size of the file.

    Returns
    -------
    HeldOut
        The edges, the negatives and, if a graph is given, the training graph.

    Raises
    ------
    FormatError
        If the file cannot be parsed; the message names the line.
    UnknownNodeError
        If an id is not a node of the graph.
    ParameterError
        If there are no edges or no negatives, or a negative is an edge of the graph.

    Examples
    --------
    >>> from hopvec import Graph, evaluate
    >>> graph = Graph.from_edges(["ann", "bob", "cem"], ["bob", "cem", "dan"])
    >>> held_out = evaluate.hold_out(graph, count=1, connected=False)
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     held_out.save(f"{folder}/links.csv")
    ...     evaluate.read_links(f"{folder}/links.csv", graph=graph).training
    Graph(4 nodes, 2 edges, undirected, unweighted)
    """
    progress = callback(progress, "reading")
    check_value("read_links", "negatives", NEGATIVES, negatives)
    check_value("read_links", "sampling", SAMPLING, sampling)
    check_value("read_links", "seed", SEED, seed)
    found = read_pairs(path, progress=progress)
    table = found.ends
    if graph is not None:
        table = pa.table({end: ids_like(table[end], graph.ids) for end in table.column_names})
    edges = table.filter(pa.array(found.is_edge))
    if len(edges) == 0:
        raise ParameterError(f"{path}: no pair has the label 1, so there are no edges to predict.")
    others = _negatives_by_sampling(table, ~found.is_edge, found.sampling)
    if others and sampling != "both":
        if sampling not in others:
            raise ParameterError(
                f"{path}: no negatives are {sampling!r}, only {', '.join(map(repr, others))}. "
                "Leave sampling= out."
            )
        others = {sampling: others[sampling]}
    if graph is None:
        if not others:
            raise ParameterError(
                f"{path}: all pairs are edges. Add pairs with the label 0, or give the graph that "
                "negatives are sampled from: graph=."
            )
        return HeldOut(None, edges, others)
    pairs = Pairs(graph)
    out = np.unique(pairs.encode_ids(edges))
    taken = np.union1d(pairs.edges, out)
    for negative in others.values():
        wrong = contains(taken, pairs.encode_ids(negative))
        if wrong.any():
            row = int(np.argmax(wrong))
            both = (negative.column(end)[row].as_py() for end in ("source", "target"))
            ends = " - ".join(map(repr, both))
            raise ParameterError(f"{path}: {ends} has the label 0 but is an edge of the graph.")
    if not others:
        others = _draw_negatives(pairs, negatives * len(out), taken, sampling, seed)
    return HeldOut(without_edges(pairs, out), edges, others)


def _negatives_by_sampling(
    table: pa.Table, is_negative: NDArray[np.bool_], sampling: pa.ChunkedArray | None
) -> dict[str, pa.Table]:
    """The negatives of a file, by how they were drawn."""
    import pyarrow.compute as pc

    if not is_negative.any():
        return {}
    negatives = table.filter(pa.array(is_negative))
    if sampling is None:
        return {UNKNOWN: negatives}
    names = sampling.filter(pa.array(is_negative))
    names = pc.if_else(pc.fill_null(pc.equal(names, ""), True), UNKNOWN, names)
    return {name: negatives.filter(pc.equal(names, name)) for name in names.unique().to_pylist()}


def _draw_negatives(
    pairs: Pairs, count: int, taken: Codes, sampling: Samplings, seed: int
) -> dict[str, pa.Table]:
    """Sample `count` pairs that are not `taken`, in each of the requested ways."""
    if count == 0:
        return {}
    requested = SAMPLINGS if sampling == "both" else (sampling,)
    return {name: pairs.decode_ids(_draw(pairs, count, taken, name, seed)) for name in requested}


def _draw(pairs: Pairs, count: int, taken: Codes, sampling: Sampling, seed: int) -> Codes:
    """Sample `count` pairs that are not `taken`, in ascending order."""
    key = int(hash_uint64(seed, STREAMS[sampling])[0])
    return np.sort(pairs.sample_non_edges(count, taken, key, sampling))


def without_edges(pairs: Pairs, out: Codes) -> Graph:
    """The graph without the edges `out`, which are ascending codes."""
    graph = pairs.graph
    first, second, weights = pairs.entries
    kept = ~contains(out, pairs.encode(first, second))
    if kept.all():
        return graph
    if graph.relations is not None:
        internal = np.argsort(graph.rows)
        kept_graph = graph.relations._without(
            graph, lambda u, v: contains(out, pairs.encode(internal[u], internal[v]))
        )
    else:
        numbering = NumberedEdges(
            lambda: graph.ids, graph.nodes, graph.rows[first[kept]], graph.rows[second[kept]]
        )
        weights = None if weights is None else weights[kept]
        kept_graph = from_numbered_edges(numbering, weights, graph.directed, "sum", "keep", None)
    return replace(
        kept_graph,
        features=graph.features,
        is_target=graph.is_target,
        node_types=graph.node_types,
    )


def _number_of_edges(edges: int, share: float, count: int | None) -> int:
    """The number of edges to hold out."""
    if count is not None:
        check_value("hold_out", "count", Integer(1, edges), count)
        return count
    wanted = round(share * edges)
    if wanted == 0:
        raise ParameterError(
            f"hold_out: a share of {share:g} of {edges:,} edges rounds to 0. Choose a larger share "
            "or give the number of edges: count=1."
        )
    return wanted


def _random_order(pairs: Pairs, seed: int) -> NDArray[np.int64]:
    """A random permutation of the edges, which depends on the seed and the ids only."""
    first, second = (pairs.graph.keys[nodes] for nodes in pairs.decode(pairs.edges))
    if not pairs.graph.directed:  # the internal order of the ends depends on degrees
        first, second = np.minimum(first, second), np.maximum(first, second)
    return np.argsort(hash_uint64(seed, RandomStream.HELD_OUT_EDGES, first, second), kind="stable")


def _one_per_node(pairs: Pairs, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The last edge of each node in a random order, unless a node would lose all of its edges."""
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ends = np.stack(pairs.decode(pairs.edges))
    graph = pairs.graph
    chooses = np.ones(ends.shape, bool)  # which ends of an edge may hold it out
    if graph.directed:
        chooses[1] = False
    elif graph.is_target is not None:
        chooses = ~graph.is_target[graph.rows][ends]
    degrees = pairs.degrees[0] + (pairs.degrees[1] if graph.directed else 0)
    owners = pairs.degrees[0] > 1
    chooses &= owners[ends]
    last = np.full(graph.nodes, -1)
    for end, may in zip(ends, chooses, strict=True):
        np.maximum.at(last, end[may], rank[may])
    is_out = np.zeros(len(order), bool)
    is_out[order[last[last >= 0]]] = True
    remaining = degrees - sum(np.bincount(end[is_out], minlength=graph.nodes) for end in ends)
    first = np.full(graph.nodes, len(order))  # the edge that a node gets back, if it has none left
    for end in ends:
        np.minimum.at(first, end[is_out], rank[is_out])
    is_out[order[first[(remaining == 0) & (first < len(order))]]] = False
    found = np.flatnonzero(is_out)
    if len(found) == 0:
        raise ParameterError(
            "hold_out: no node can lose an edge: every edge is the only one of one of its nodes."
        )
    return found


def _spanning_forest(pairs: Pairs, order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The mask of the edges in the spanning forest that Kruskal's algorithm finds in this order.

    Removing edges in reverse order, except those whose removal splits a component, leaves it.
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


def _too_many(count: int, limit: int, edges: int) -> ParameterError:
    return ParameterError(
        f"hold_out: {count:,} of {edges:,} edges cannot be held out, since {edges - limit:,} are "
        f"needed to keep the components connected. Hold out at most {limit:,}, a share of "
        f"{np.floor(1000 * limit / edges) / 1000:g}, or allow components to split: "
        "connected=False."
    )
