"""Graphs from lists of edges: validates the input, numbers the nodes, builds the CSR arrays."""

from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import machine
from hopvec.errors import FormatError, GraphError
from hopvec.graph.age_weights import EdgeTimes, TimeOptions, age_weights
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
    time: Any = None,
    time_options: TimeOptions | None = None,
) -> Graph:
    """See Graph.from_edges."""
    check_options("Graph.from_edges", directed, duplicates, loops, threads)
    source, target = as_ids(source, "source"), as_ids(target, "target")
    if len(source) != len(target):
        raise GraphError(
            f"source and target must have the same length, got {len(source):,} and {len(target):,}."
        )
    weight = None if weight is None else checked_weights(weight, source, target)
    origin: dict[str, Any] = {}
    if time is not None:
        times = EdgeTimes(time_options or TimeOptions())
        source, target, weight = _select_by_time(source, target, weight, time, times)
        origin["time"] = times.describe()
    numbering = number_nodes(source, target, nodes)
    del source, target  # so that they are not in memory together with the rows
    graph = from_numbered_edges(numbering, weight, directed, duplicates, loops, threads)
    return replace(graph, origin=origin)


def _select_by_time(
    source: Any, target: Any, weight: NDArray[np.float32] | None, time: Any, times: EdgeTimes
) -> tuple[Any, Any, NDArray[np.float32] | None]:
    """The edges inside the window of time, with weights by age if there is a half-life."""
    cells = _time_column(time)
    if len(cells) != len(source):
        raise GraphError(
            f"time must contain one time per edge: {len(source):,} edges, got {len(cells):,}."
        )
    try:
        moments, bad = times.parse(cells)
    except FormatError as error:
        raise GraphError(f"time: {error}") from error

    def location(row: int) -> str:
        ends = (pa.array(ids[row : row + 1])[0].as_py() for ids in (source, target))
        return f"edge {row + 1} ({' - '.join(map(repr, ends))})"

    times.refuse(cells, moments, bad, location)
    inside = times.select(moments)
    times.check_not_empty("time")
    if not inside.all():
        mask = pa.array(inside)
        source, target = (
            ids[inside] if isinstance(ids, np.ndarray) else ids.filter(mask)
            for ids in (source, target)
        )
        weight, moments = None if weight is None else weight[inside], moments[inside]
    if times.options.half_life is not None:
        weight = age_weights(weight, moments, times.as_of, times.options.half_life)
    return source, target, weight


def _time_column(time: Any) -> pa.Array:
    """A column of times as an Arrow array."""
    if isinstance(time, np.ndarray) and time.dtype.kind == "U":
        time = time.tolist()
    try:
        if hasattr(time, "__arrow_c_stream__") and not isinstance(time, pa.Array):
            return pa.chunked_array(time).combine_chunks()
        return pa.array(time)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise GraphError(f"time must be a column of times ({error}).") from error


def split_pairs(edges: Any, weight: Any) -> tuple[Any, Any, Any]:
    """The columns of a list of pairs, or of triples with weights."""
    if hasattr(edges, "__arrow_c_stream__"):
        raise GraphError("A table of edges is read by Graph.from_arrow(table).")
    if isinstance(edges, np.ndarray):
        shape = edges.shape if edges.ndim == 2 else ()
        columns = list(edges.T) if shape[1:] in ((2,), (3,)) else []
    else:
        rows = [tuple(row) if isinstance(row, list) else row for row in edges]
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
    unmerged = machine.interruptible(partial(builder.sort_edges, edges))
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
    def numbers(ids: NDArray[Any]) -> NDArray[np.int64]:
        index = ids.astype(np.int64) - numbering.offset
        return index if numbering.table is None else numbering.table[index].astype(np.int64)

    source, target = numbers(numbering.source), numbers(numbering.target)
    if not directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    counted = np.ones(len(source), dtype=bool) if weight is None else weight != 0
    if drop_loops:
        counted &= source != target
    edges = np.flatnonzero(counted)
    pair = source[edges] * numbering.nodes + target[edges]
    _, first = np.unique(pair, return_index=True)
    repeated = int(edges[np.setdiff1d(np.arange(len(pair)), first)[0]])
    ids = numbering.ids()
    ends = " - ".join(repr(ids[int(end[repeated])].as_py()) for end in (source, target))
    return GraphError(
        f"edge {repeated + 1} ({ends}) repeats an earlier edge. Use duplicates='sum' to add up the "
        "weights, or duplicates='first' to keep the first edge."
    )
