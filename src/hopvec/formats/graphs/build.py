"""Builds a Graph from the edges or the matrix that a file holds, within a memory limit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError, GraphError, MemoryLimitError
from hopvec.formats.graphs.bad_rows import SKIP_ADVICE, SkippedRows
from hopvec.formats.graphs.declared_nodes import check_declared_nodes
from hopvec.formats.graphs.edges import Batch, EdgeStream, Matrix, check_matrix_memory
from hopvec.formats.graphs.listed_nodes import add_nodes, node_types, set_prefixes
from hopvec.formats.graphs.options import OWNER, ReadOptions
from hopvec.graph import Graph
from hopvec.graph.age_weights import EdgeTimes
from hopvec.graph.arrow import WHOLE_FLOATS
from hopvec.graph.bipartite import add_prefix, target_mask
from hopvec.graph.columns import differ_in_kind, shared_ids_error
from hopvec.graph.convert import READER, from_scipy
from hopvec.graph.edge_arrays import EdgeArrays
from hopvec.graph.edge_list import from_numbered_edges
from hopvec.graph.id_encoder import IdEncoder
from hopvec.graph.ids import NumberedEdges, arrow_view, numpy_view
from hopvec.graph.relation_edges import RelationEdges
from hopvec.graph.relations import merge_relations
from hopvec.graph.validation import check_weights
from hopvec.machine import cores, format_bytes
from hopvec.progress import Progress

if TYPE_CHECKING:
    import scipy.sparse as sp

logger: logging.Logger = logging.getLogger("hopvec")

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
    typed = add_nodes(name, edges.encoder, stream, len(edges), options)
    if len(edges.encoder) == 0:
        raise GraphError(f"{name}: the graph is empty: there are no edges in it.")
    progress(0, 100)
    relations, weight = edges.relations, edges.arrays.weights()
    source, target = edges.arrays.source.array(), edges.arrays.target.array()
    ids, numbers = edges.encoder.sorted_ids(untyped=stream.untyped, decimal=stream.decimal)
    if edges.encoder.whole_floats:
        stream.metadata["ids"] = WHOLE_FLOATS
    del edges  # only the arrays are needed from here on
    if not (options.bipartite or options.one_kind):
        check_kinds(name, stream, ids, source, target, numbers)
    warn_about_whitespace(name, ids)
    memory = plan_memory(name, ids, source, weight is not None, directed, relations, options)
    duplicates = options.duplicates or stream.duplicates or "sum"
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

    @property
    def nbytes(self) -> int:
        """The memory of the ids."""
        return self.encoder.nbytes + (self.relations.nbytes if self.relations else 0)

    def __len__(self) -> int:
        return len(self.arrays)


def encode_edges(
    name: str, stream: EdgeStream, options: ReadOptions, *, directed: bool = False
) -> EncodedEdges:
    """Read all batches of a stream; raise GraphError for missing ids and invalid weights."""
    edges, limit = EncodedEdges(options, directed, stream.relations), options._memory_bytes
    for batch, weights, location in checked_batches(name, stream, options, edges.times):
        edges.append(batch, weights, location)
        used = edges.nbytes
        if limit is not None and used > limit:
            raise MemoryLimitError(
                f"{name}: the ids of the first {len(edges.encoder):,} nodes alone take "
                f"{format_bytes(used)}, but the memory limit is {format_bytes(limit)}. "
                "Increase memory=."
            )
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


class MemoryPlan(NamedTuple):
    """How the CSR arrays are built within the memory limit."""

    limit: int | None
    """Bytes of entries to hold in memory while building; None if all of them fit."""
    in_file: bool
    """Whether the CSR arrays go to a spill file, because later work would not fit beside them."""


def plan_memory(
    name: str,
    ids: pa.Array,
    source: NDArray[Any],
    weighted: bool,
    directed: bool,
    relations: RelationEdges | None,
    options: ReadOptions,
) -> MemoryPlan:
    """Plan the memory of building the CSR arrays; raise MemoryLimitError if it cannot suffice."""
    limit = options._memory_bytes
    if limit is None:
        return MemoryPlan(None, in_file=False)
    nodes, entries = len(ids), len(source) * (1 if directed else 2)
    csr_bytes = entries * (8 if weighted else 4)
    build_bytes = int(ids.nbytes) + 44 * nodes  # what the builder holds for each node
    if relations is not None:
        # Their matrices go to spill files, but the builder holds something for each of their rows.
        csr_bytes = relations.entries * 8
        build_bytes += 100 * relations.pairs
    if not isinstance(source, np.memmap):
        build_bytes += len(source) * (12 if weighted else 8)
    graph_bytes = int(ids.nbytes) + 40 * nodes  # what remains in memory of a graph in a file
    graph_bytes += 48 * relations.pairs if relations else 0
    reserve = options.reserve or (lambda nodes, csr_bytes: 0)
    needed = graph_bytes + reserve(nodes, 0)
    if needed > limit:
        raise MemoryLimitError(
            f"{name}: a graph of {nodes:,} nodes needs at least {format_bytes(needed)} "
            f"({format_bytes(graph_bytes)} for the graph, {format_bytes(needed - graph_bytes)} for "
            f"the embedding), but the memory limit is {format_bytes(limit)}. Increase memory=."
        )
    in_file = graph_bytes + csr_bytes + reserve(nodes, csr_bytes) > limit
    if relations is None and build_bytes + 2 * csr_bytes <= limit:
        return MemoryPlan(None, in_file)
    needed = build_bytes + (8 << 20)
    if needed > limit:
        raise MemoryLimitError(
            f"{name}: building a graph of {nodes:,} nodes needs at least {format_bytes(needed)} "
            f"({format_bytes(ids.nbytes)} of it for the ids), but the memory limit is "
            f"{format_bytes(limit)}. Increase memory=."
        )
    return MemoryPlan(limit - build_bytes, in_file)


def graph_from_matrix(name: str, found: Matrix, options: ReadOptions) -> Graph:
    """Build the graph of an adjacency matrix."""
    options._relations.check_unused(OWNER)
    entries = int(found.matrix.nnz)
    check_declared_nodes(name, found.matrix.shape[0], entries, options._memory_bytes)
    if options._memory_bytes is not None:
        check_matrix_memory(name, found.matrix.nnz, _matrix_bytes(found.matrix, options), options)
    try:
        return from_scipy(
            found.matrix, None, bool(options.directed), options.symmetrize, options.threads, READER
        )
    except GraphError as error:
        raise GraphError(f"{name}: {error}") from error


def _matrix_bytes(matrix: sp.sparray, options: ReadOptions) -> int:
    """The memory of a matrix and of the graph built from it."""
    import scipy.sparse as sp

    entries = sp.coo_array(matrix)
    size = 4 if (entries.data == 1).all() else 8
    held = sum(int(part.nbytes) for part in (*entries.coords, entries.data))
    graph = 52 * entries.shape[0] + (4 if options.symmetrize else 2) * entries.nnz * size
    return int(held + graph)


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
