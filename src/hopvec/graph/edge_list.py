"""Graphs from lists of edges: validates the input, numbers the nodes, builds the CSR arrays."""

from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopvec import machine
from hopvec.errors import GraphError
from hopvec.graph.csr_builder import CSRBuilder, EdgeList
from hopvec.graph.graph import Graph
from hopvec.graph.ids import NumberedEdges, as_ids, check_collisions, keys, number_nodes
from hopvec.graph.validation import check_options, checked_weights
from hopvec.progress import Progress, no_progress


def from_edges(
    source: Any,
    target: Any,
    weight: Any,
    directed: bool,
    duplicates: str,
    loops: str,
    nodes: Any,
    threads: int | None,
) -> Graph:
    """See Graph.from_edges."""
    check_options("Graph.from_edges", directed, duplicates, loops, threads)
    numbering, weight = number_edges(source, target, weight, nodes)
    return from_numbered_edges(numbering, weight, directed, duplicates, loops, threads)


def number_edges(
    source: Any, target: Any, weight: Any, nodes: Any
) -> tuple[NumberedEdges, NDArray[np.float32] | None]:
    """Number the nodes of edges, and check the weights."""
    source, target = as_ids(source, "source"), as_ids(target, "target")
    if len(source) != len(target):
        raise GraphError(
            f"source and target must have the same length, got {len(source):,} and {len(target):,}."
        )
    weight = None if weight is None else checked_weights(weight, source, target)
    return number_nodes(source, target, nodes), weight


def split_pairs(edges: Any, weight: Any) -> tuple[Any, Any, Any]:
    """The columns of a list of pairs, or of triples with weights."""
    if hasattr(edges, "__arrow_c_stream__"):
        raise GraphError("A table of edges is read by Graph.from_arrow(table).")
    if isinstance(edges, np.ndarray):
        shape = edges.shape if edges.ndim == 2 else ()
        columns = list(edges.T) if shape[1:] in ((2,), (3,)) else []
    else:
        rows = [tuple(row) if isinstance(row, list) else row for row in edges]
        if not rows:
            raise GraphError("The graph is empty: there are no edges in the list.")
        sizes = {len(row) if isinstance(row, tuple) else 0 for row in rows}
        columns = (
            [list(column) for column in zip(*rows, strict=True)] if sizes in ({2}, {3}) else []
        )
    if not columns:
        raise GraphError(
            "Without target=, edges are pairs (source, target) or triples (source, target, "
            "weight), all of the same length."
        )
    if len(columns) == 3 and weight is not None:
        raise GraphError("The weights are given twice: in the triples and as weight=.")
    return columns[0], columns[1], columns[2] if len(columns) == 3 else weight


def from_numbered_edges(
    numbering: NumberedEdges,
    weight: NDArray[np.float32] | None,
    directed: bool,
    duplicates: str,
    loops: str,
    threads: int | None,
    *,
    memory_limit: int | None = None,
    in_file: bool = False,
    spill_dir: str | PathLike[str] | None = None,
    progress: Progress = no_progress,
) -> Graph:
    """Build a graph from edges with numbered ids and checked weights; release the edges.

    See CSRBuilder for `memory_limit`, `in_file` and `spill_dir`.
    """
    ids, nodes = numbering.ids, numbering.nodes
    check_collisions(ids())
    builder = CSRBuilder(
        nodes=nodes,
        directed=bool(directed),
        duplicates=duplicates,
        drop_loops=loops == "drop",
        threads=threads or machine.cores(),
        memory_limit=memory_limit,
        in_file=in_file,
        spill_dir=spill_dir,
        progress=progress,
    )
    edges = EdgeList(numbering.source, numbering.target, weight, numbering.offset, numbering.table)
    unmerged = machine.interruptible(partial(builder.place_edges, edges))
    if duplicates == "error" and unmerged.duplicates:
        raise _duplicate_error(numbering, weight, directed, loops == "drop")
    del edges
    numbering.release()
    csr = machine.interruptible(partial(builder.merge, unmerged, lambda: keys(ids())))
    return Graph(
        indptr=csr.indptr,
        indices=csr.indices,
        weights=csr.weights,
        keys=keys(ids())[csr.order],
        ids=ids(),
        rows=csr.order,
        directed=directed,
        duplicates=unmerged.duplicates,
        loops=unmerged.loops,
        zero_weights=unmerged.zero_weights,
    )


def _duplicate_error(
    numbering: NumberedEdges, weight: NDArray[np.float32] | None, directed: bool, drop_loops: bool
) -> GraphError:
    source, target = (
        numbering.numbers(ids).astype(np.int64) for ids in (numbering.source, numbering.target)
    )
    if not directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    counted = np.ones(len(source), dtype=bool) if weight is None else weight != 0
    if drop_loops:
        counted &= source != target
    edges = np.flatnonzero(counted)
    pair = source[edges] * numbering.nodes + target[edges]
    _, first = np.unique(pair, return_index=True)
    repeated = int(edges[np.setdiff1d(np.arange(len(pair)), first)[0]])
    ends = int(source[repeated]), int(target[repeated])
    if numbering.describe is not None:
        edge = numbering.describe(*ends)
    else:
        names = " - ".join(repr(numbering.ids()[end].as_py()) for end in ends)
        edge = f"edge {repeated + 1} ({names})"
    return GraphError(
        f"{edge} repeats an earlier edge. Use duplicates='sum' to add up the "
        "weights, or duplicates='first' to keep the first edge."
    )
