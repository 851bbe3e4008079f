"""Builds a Graph from the edges or the matrix that a file holds, within a memory limit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError, GraphError
from hopvec.formats.graphs.bad_rows import SKIP_ADVICE, SkippedRows
from hopvec.formats.graphs.declared_nodes import NODE_BYTES, check_declared_nodes
from hopvec.formats.graphs.edges import Batch, EdgeStream, Matrix, check_matrix_memory
from hopvec.formats.graphs.listed_nodes import (
    add_nodes,
    declared_nodes,
    node_types,
    set_prefixes,
)
from hopvec.formats.graphs.options import OWNER, ReadOptions
from hopvec.graph import Graph
from hopvec.graph.age_weights import EdgeTimes
from hopvec.graph.arrow import WHOLE_FLOATS
from hopvec.graph.bipartite import add_prefix, target_mask
from hopvec.graph.build_plan import BuildPlan, EdgesSize, plan_build
from hopvec.graph.columns import differ_in_kind, shared_ids_error
from hopvec.graph.convert import READER, from_scipy
from hopvec.graph.edge_arrays import EdgeArrays
from hopvec.graph.edge_list import from_numbered_edges
from hopvec.graph.id_encoder import IdEncoder
from hopvec.graph.ids import NumberedEdges, arrow_view, numpy_view
from hopvec.graph.relation_edges import RelationEdges
from hopvec.graph.relations import merge_relations
from hopvec.graph.size import GraphSize
from hopvec.graph.validation import check_weights
from hopvec.machine import cores
from hopvec.memory import Needs
from hopvec.progress import Progress

if TYPE_CHECKING:
    import scipy.sparse as sp

logger: logging.Logger = logging.getLogger("hopvec")

MIN_READ_BYTES = 32 << 20  # ids that are read even so, to find the minimum for the whole run
CHUNK_IDS = 1 << 20  # ids that are checked for whitespace at a time


def graph_from_stream(
    name: str, stream: EdgeStream, options: ReadOptions, progress: Progress
) -> Graph:
    """Read all edges of a stream, number their nodes and build the CSR arrays."""
    if options.symmetrize:
        raise FormatError(
            f"{name}: symmetrize=True is for matrices; the edges of a list are undirected unless "
            "directed=True."
        )
    if not stream.relations:
        options._relations.check_unused(OWNER)
    directed = not options.bipartite and bool(
        stream.directed if options.directed is None else options.directed
    )
    edges = encode_edges(name, stream, options, directed=directed)
    limited = options._memory_bytes is not None
    duplicates = options.duplicates or stream.duplicates or "sum"
    plan = partial(
        plan_memory, name, edges, directed=directed, duplicates=duplicates, options=options
    )
    if declared := declared_nodes(name, stream, len(edges), limited=limited):
        plan(declared=declared)  # raises MemoryLimitError before the nodes take memory
    typed = add_nodes(name, edges.encoder, stream, options)
    if len(edges.encoder) == 0:
        raise GraphError(f"{name}: the graph is empty: there are no edges in it.")
    progress(0, 100)
    memory = plan()
    if memory.edges_in_file:
        edges.spill()
    relations, weight = edges.relations, edges.arrays.weights()
    source, target = edges.arrays.source.array(), edges.arrays.target.array()
    ids, numbers = edges.encoder.sorted_ids(untyped=stream.untyped, decimal=stream.decimal)
    if edges.encoder.whole_floats:
        stream.metadata["ids"] = WHOLE_FLOATS
    del edges  # only the arrays are needed from here on
    if not (options.bipartite or options.one_kind):
        check_kinds(name, stream, ids, source, target, numbers)
    warn_about_whitespace(name, ids)
    try:
        is_target = target_mask(ids, source, target, numbers) if options.bipartite else None
        types = node_types(ids, numbers, typed, stream, is_target, options)
        numbering = NumberedEdges(lambda: ids, len(ids), source, target, 0, numbers)
        build: dict[str, Any] = {
            "memory_limit": memory.limit,
            "in_file": memory.in_file,
            "spill_dir": options.spill_dir,
            "progress": progress,
        }
        del source, target  # so that the numbering can release them
        if relations:
            numbering.release()
            graph = merge_relations(
                relations,
                ids,
                numbers,
                duplicates=duplicates,
                loops=options.loops,
                threads=options.threads,
                **build,
            )
        else:
            del numbers
            graph = from_numbered_edges(
                numbering, weight, directed, duplicates, options.loops, options.threads, **build
            )
    except GraphError as error:
        raise GraphError(f"{name}: {error}") from error
    return replace(graph, is_target=is_target, node_types=types)


class EncodedEdges:
    """Edges whose ids are replaced by integer codes, in memory or in spill files."""

    def __init__(self, options: ReadOptions, directed: bool, relations: bool) -> None:
        limit, spill_dir = options._memory_bytes, options.spill_dir
        share = None if limit is None else limit // 16
        self.encoder: IdEncoder = IdEncoder(options.threads or cores())
        self.times: EdgeTimes = EdgeTimes(options._times)
        self.arrays: EdgeArrays = EdgeArrays(share, spill_dir, self.times)
        self.relations: RelationEdges | None = None
        if relations:
            self.relations = RelationEdges(
                options._relations, directed, share, spill_dir, self.times
            )

    def append(
        self, batch: Batch, weights: NDArray[np.float32] | None, location: Callable[[int], str]
    ) -> None:
        """Encode the ids of a batch and add its edges inside the window of time."""
        times = None if batch.time is None else numpy_view(batch.time)
        if times is not None and not (inside := self.times.select(times)).all():
            batch, times = batch.filter(inside), times[inside]
            weights = None if weights is None else weights[inside]
            rows, locate = np.flatnonzero(inside), location

            def location(row: int) -> str:
                return locate(int(rows[row]))

        ends = self.encoder.encode(batch.source), self.encoder.encode(batch.target)
        if self.relations is not None:
            self.relations.append(batch.relation, *ends, weights, location, times)
            weights = times = None
        self.arrays.append(*ends, weights, times)

    def spill(self) -> None:
        """Move the edges to spill files."""
        self.arrays.spill()
        if self.relations is not None:
            self.relations.spill()

    @property
    def nbytes(self) -> int:
        """The memory of the ids."""
        return self.encoder.nbytes + (self.relations.nbytes if self.relations else 0)

    @property
    def sorting_bytes(self) -> int:
        """The memory of sorting the ids, at its peak."""
        return self.encoder.sorting_bytes + (self.relations.nbytes if self.relations else 0)

    @property
    def arrays_memory(self) -> int:
        """The memory of the edges that are not in spill files."""
        return self.arrays.memory + (self.relations.arrays_memory if self.relations else 0)

    @property
    def arrays_bytes(self) -> int:
        """The bytes of the edges, wherever they are."""
        return self.arrays.nbytes + (self.relations.arrays_bytes if self.relations else 0)

    def __len__(self) -> int:
        return len(self.arrays)


def encode_edges(
    name: str, stream: EdgeStream, options: ReadOptions, *, directed: bool = False
) -> EncodedEdges:
    """Read all batches of a stream; raise GraphError for missing ids and invalid weights."""
    edges, limit = EncodedEdges(options, directed, stream.relations), options._memory_bytes
    for batch, weights, location in checked_batches(name, stream, options, edges.times):
        edges.append(batch, weights, location)
        if limit is None:
            continue
        used = edges.nbytes
        if used + edges.arrays_memory > limit:
            edges.spill()
        if used > max(limit, MIN_READ_BYTES):  # else the minimum is known when all ids are read
            work = f"{name}: a graph of more than {len(edges.encoder):,} nodes"
            Needs(work, {"their ids": used}).check(limit, "Increase memory=.")
    if options.time is not None:
        stream.metadata["time"] = edges.times.describe()
        edges.times.check_not_empty(name)
    return edges


def checked_batches(
    name: str, stream: EdgeStream, options: ReadOptions, times: EdgeTimes
) -> Iterator[tuple[Batch, NDArray[np.float32] | None, Callable[[int], str]]]:
    """The batches of a stream, their weights, and a function that returns where a row is.

    Bad rows are refused, or skipped and counted. Ids have their prefixes, and times are in
    microseconds.
    """
    set_prefixes(stream, options)
    skipped = SkippedRows()
    rows = kept = 0
    for batch in stream.batches:

        def locate(row: int, first: int = rows) -> str:
            return stream.locate(first + row)

        def location(row: int, locate: Callable[[int], str] = locate) -> str:
            return locate(row) if stream.locates_file else f"{name}, {locate(row)}"

        rows += len(batch.source)
        prefixes = batch.prefixes or stream.prefixes
        bad_times: dict[str, NDArray[np.bool_]] = {}
        cells = batch.time
        if cells is not None:
            moments, bad_times = _parsed_times(name, times, cells)
            batch = batch._replace(time=arrow_view(moments))
        if options.bad_rows == "skip":
            batch = skipped.drop_from(batch, locate, bad_times)
        elif (missing := batch.first_missing()) is not None:
            row, role = missing
            raise GraphError(f"{location(row)}: the {role} is empty. {SKIP_ADVICE}")
        elif cells is not None:
            times.refuse(cells, moments, bad_times, location, SKIP_ADVICE)
        if prefixes is not None:
            source, target = map(add_prefix, (batch.source, batch.target), prefixes)
            batch = batch._replace(source=source, target=target)
        _check_id_types(name, batch, stream)
        kept += len(batch.source)
        yield batch, _checked_weights(batch, location), location
    if rows and not kept:
        raise GraphError(f"{name}: all {rows:,} rows were skipped: {skipped.reasons()}.")
    skipped.report(name, stream.metadata)


def check_kinds(
    name: str,
    stream: EdgeStream,
    ids: pa.Array,
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    numbers: NDArray[np.int32],
) -> None:
    """Raise GraphError if the columns name two kinds of nodes, but share ids."""
    columns = stream.metadata.get("columns", {})
    names = [columns.get(role, "") for role in ("source", "target")]
    if not differ_in_kind(*names):
        return
    used = np.zeros((2, len(numbers)), bool)
    for side, codes in enumerate((source, target)):
        used[side, codes] = True
    if (shared := np.flatnonzero(used.all(axis=0))).size:
        example = ids[int(numbers[shared].min())].as_py()
        remedy = "Pass bipartite=True with prefixes=('user:', 'item:')"
        raise shared_ids_error(name, names, example, remedy)


def warn_about_whitespace(name: str, ids: pa.Array) -> None:
    """Warn if ids begin or end with whitespace, which makes them different nodes."""
    import pyarrow.compute as pc

    if pa.types.is_integer(ids.type):
        return
    for start in range(0, len(ids), CHUNK_IDS):
        chunk = ids.slice(start, CHUNK_IDS)
        padded = chunk.filter(pc.not_equal(chunk, pc.ascii_trim_whitespace(chunk)))
        if len(padded):
            logger.warning(
                "%s: some ids begin or end with whitespace, such as %r; they are different nodes "
                "from those without it.",
                name,
                padded[0].as_py(),
            )
            return


def plan_memory(
    name: str,
    edges: EncodedEdges,
    *,
    directed: bool,
    duplicates: str,
    options: ReadOptions,
    declared: int = 0,
) -> BuildPlan:
    """Plan the memory of all that follows; raise MemoryLimitError if the limit cannot suffice.

    `declared` is a number of nodes that will be added, those of the edges included.
    """
    relations = edges.relations
    nodes = max(len(edges.encoder), declared)
    more = nodes - len(edges.encoder)
    entries = len(edges) * (1 if directed else 2)
    if relations is not None:
        entries, directed = relations.entries, any(relations.parts)
    weighted = len(edges.arrays.weight) > 0 or len(edges.arrays.time) > 0
    extra = 6 * nodes if options.bipartite or options.nodes is not None else 0  # sides and types
    size = GraphSize(
        nodes=nodes,
        entries=entries,
        # Repeated edges become one whose weight is their sum.
        weighted=weighted or duplicates == "sum" or relations is not None,
        directed=directed,
        id_bytes=edges.encoder.id_bytes + 8 * more + extra,
        relations=None if relations is None else relations.size,
    )
    sorting = edges.sorting_bytes + NODE_BYTES * more
    edges_size = EdgesSize(weighted, edges.arrays_bytes, sorting)
    limit = options._memory_bytes
    work = f"{name}: a graph of {nodes:,} nodes"
    return plan_build(work, size, edges_size, limit, options._min_run_memory)


def graph_from_matrix(name: str, found: Matrix, options: ReadOptions) -> Graph:
    """Build the graph of an adjacency matrix."""
    options._relations.check_unused(OWNER)
    entries = int(found.matrix.nnz)
    limited = options._memory_bytes is not None
    if limited:
        _check_matrix(name, found.matrix, options)
    check_declared_nodes(name, found.matrix.shape[0], entries, limited=limited)
    try:
        return from_scipy(
            found.matrix, None, bool(options.directed), options.symmetrize, options.threads, READER
        )
    except GraphError as error:
        raise GraphError(f"{name}: {error}") from error


def _check_matrix(name: str, matrix: sp.sparray, options: ReadOptions) -> None:
    """Raise MemoryLimitError if the graph of a matrix does not fit in memory beside it."""
    import scipy.sparse as sp

    entries = sp.coo_array(matrix)
    weighted = not (entries.data == 1).all()
    held = sum(int(part.nbytes) for part in (*entries.coords, entries.data))
    check_matrix_memory(name, entries.shape[0], entries.nnz, held, weighted, options)


def _check_id_types(name: str, batch: Batch, stream: EdgeStream) -> None:
    """Raise GraphError if sources are integers and targets are strings, or vice versa."""
    integers = [bool(pa.types.is_integer(ids.type)) for ids in (batch.source, batch.target)]
    if integers[0] != integers[1]:
        kinds = ["integers" if integer else "strings" for integer in integers]
        columns = stream.metadata.get("columns", {"source": "source", "target": "target"})
        raise GraphError(
            f"{name}: the source column {columns['source']!r} holds {kinds[0]}, the target column "
            f"{columns['target']!r} {kinds[1]}. Choose other columns with source= and target=, or "
            "convert both to the same type. If these are two kinds of nodes, give their ids "
            "prefixes: bipartite=True and prefixes=('user:', 'item:')."
        )


def _parsed_times(
    name: str, times: EdgeTimes, cells: pa.Array
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.bool_]]]:
    try:
        return times.parse(cells)
    except FormatError as error:
        raise FormatError(f"{name}: {error} Choose another column with time=.") from error


def _checked_weights(batch: Batch, location: Callable[[int], str]) -> NDArray[np.float32] | None:
    if batch.weight is None:
        return None

    def edge_location(row: int) -> str:
        ends = f"{batch.source[row].as_py()!r} - {batch.target[row].as_py()!r}"
        return f"{location(row)} ({ends})"

    numbers = numpy_view(batch.weight)
    try:
        check_weights(numbers, edge_location)
    except GraphError as error:
        raise GraphError(f"{error} {SKIP_ADVICE}") from error
    weights: NDArray[np.float32] = numbers.astype(np.float32)
    return weights
