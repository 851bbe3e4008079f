"""Builds a Graph from the edges or the matrix that a file holds, within a memory limit."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError, GraphError, MemoryLimitError
from hopvec.formats.graphs.bad_rows import SkippedRows
from hopvec.formats.graphs.edges import Batch, EdgeStream, Matrix, check_matrix_memory
from hopvec.formats.graphs.nodes import read_nodes
from hopvec.formats.graphs.options import ReadOptions
from hopvec.graph import Graph
from hopvec.graph.arrow import WHOLE_FLOATS
from hopvec.graph.bipartite import add_prefix, target_mask
from hopvec.graph.columns import differ_in_kind, shared_ids_error
from hopvec.graph.convert import READER, from_scipy
from hopvec.graph.edge_list import from_numbered_edges
from hopvec.graph.id_encoder import IdEncoder, parse_integer_ids
from hopvec.graph.ids import NumberedEdges, arrow_view, numpy_view
from hopvec.graph.validation import check_weights
from hopvec.machine import cores, format_bytes
from hopvec.progress import Progress
from hopvec.spill import SpillArray

if TYPE_CHECKING:
    import scipy.sparse as sp

logger: logging.Logger = logging.getLogger("hopvec")

SKIP_ADVICE = "Use bad_rows='skip' to skip such rows."
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
    edges = encode_edges(name, stream, options)
    add_nodes(name, edges.encoder, stream, options)
    if len(edges.encoder) == 0:
        raise GraphError(f"{name}: the graph is empty: there are no edges in it.")
    progress(0, 100)
    source, target, weight = edges.source.array(), edges.target.array(), edges.weights()
    ids, numbers = edges.encoder.sorted_ids(untyped=stream.untyped)
    if edges.encoder.whole_floats:
        stream.metadata["ids"] = WHOLE_FLOATS
    del edges  # only the arrays are needed from here on
    if not (options.bipartite or options.one_kind):
        check_kinds(name, stream, ids, source, target, numbers)
    warn_about_whitespace(name, ids)
    directed = not options.bipartite and bool(
        stream.directed if options.directed is None else options.directed
    )
    memory = plan_memory(name, ids, source, weight is not None, directed, options)
    try:
        is_target = target_mask(ids, source, target, numbers) if options.bipartite else None
        numbering = NumberedEdges(lambda: ids, len(ids), source, target, 0, numbers)
        del source, target, numbers  # so that the numbering can release them
        graph = from_numbered_edges(
            numbering,
            weight,
            directed,
            options.duplicates or stream.duplicates or "sum",
            options.loops,
            options.threads,
            memory_limit=memory.limit,
            in_file=memory.in_file,
            spill_dir=options.spill_dir,
            progress=progress,
        )
    except GraphError as error:
        raise GraphError(f"{name}: {error}") from error
    return replace(graph, is_target=is_target)


class EncodedEdges:
    """Edges whose ids are replaced by integer codes, in memory or in spill files."""

    def __init__(self, options: ReadOptions) -> None:
        limit, spill_dir = options._memory_bytes, options.spill_dir
        share = None if limit is None else limit // 16
        self.encoder: IdEncoder = IdEncoder(options.threads or cores())
        self.source: SpillArray[np.int32] = SpillArray(np.int32, share, spill_dir)
        self.target: SpillArray[np.int32] = SpillArray(np.int32, share, spill_dir)
        self.weight: SpillArray[np.float32] = SpillArray(np.float32, share, spill_dir)

    def append(self, batch: Batch, weights: NDArray[np.float32] | None) -> None:
        """Encode the ids of a batch and add its edges."""
        self.source.append(self.encoder.encode(batch.source))
        self.target.append(self.encoder.encode(batch.target))
        if weights is not None:
            self.weight.append(weights)

    def weights(self) -> NDArray[np.float32] | None:
        """The weights; None if the edges are unweighted."""
        return self.weight.array() if len(self.weight) else None

    def __len__(self) -> int:
        return len(self.source)


def encode_edges(name: str, stream: EdgeStream, options: ReadOptions) -> EncodedEdges:
    """Read all batches of a stream; raise GraphError for missing ids and invalid weights."""
    edges, limit = EncodedEdges(options), options._memory_bytes
    skipped = SkippedRows()
    rows = 0
    for batch in stream.batches:

        def locate(row: int, first: int = rows) -> str:
            return stream.locate(first + row)

        def location(row: int) -> str:
            return f"{name}, {locate(row)}"

        rows += len(batch.source)
        if options.bad_rows == "skip":
            batch = skipped.drop_from(batch, locate)
        elif (missing := batch.first_missing()) is not None:
            row, role = missing
            raise GraphError(f"{location(row)}: the {role} is empty. {SKIP_ADVICE}")
        if options.prefixes is not None:
            source, target = map(add_prefix, (batch.source, batch.target), options.prefixes)
            batch = Batch(source, target, batch.weight)
        _check_id_types(name, batch, stream)
        edges.append(batch, _checked_weights(batch, location))
        used = edges.encoder.nbytes
        if limit is not None and used > limit:
            raise MemoryLimitError(
                f"{name}: the ids of the first {len(edges.encoder):,} nodes alone take "
                f"{format_bytes(used)}, but the memory limit is {format_bytes(limit)}. "
                "Increase memory=."
            )
    skipped.report(name, stream.metadata)
    if rows and not len(edges):
        raise GraphError(
            f"{name}: all {rows:,} rows were skipped; without bad_rows='skip', the "
            "first error is reported."
        )
    return edges


def add_nodes(name: str, encoder: IdEncoder, stream: EdgeStream, options: ReadOptions) -> None:
    """Add the nodes that the file lists, and those of `options.nodes`."""
    given = None if options.nodes is None else read_nodes(options.nodes)
    for ids_given, ids in ((False, stream.nodes), (True, given)):
        if isinstance(ids, int):
            ids = arrow_view(np.arange(ids, dtype=np.int64))
        if ids is None or len(ids) == 0:
            continue
        try:
            if stream.untyped and pa.types.is_integer(ids.type):
                ids = ids.cast(pa.large_string())
            elif isinstance(options.nodes, str | PathLike) and encoder.integers:
                ids = parse_integer_ids(
                    ids, whole_floats=True
                )  # a text file does not declare the type of its ids
            before = len(encoder)
            encoder.encode(ids)
            # A short list may be that of the isolated nodes; a long one is that of all nodes.
            if ids_given and 0 < before <= 2 * len(ids) and len(encoder) - before == len(ids):
                logger.warning(
                    "%s: none of the %s nodes of nodes= has an edge; their ids, such as %r, may be "
                    "those of another column.",
                    name,
                    f"{len(ids):,}",
                    ids[0].as_py(),
                )
        except GraphError as error:
            raise GraphError(f"{name}, nodes: {error}") from error


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
    options: ReadOptions,
) -> MemoryPlan:
    """Plan the memory of building the CSR arrays; raise MemoryLimitError if it cannot suffice."""
    limit = options._memory_bytes
    if limit is None:
        return MemoryPlan(None, in_file=False)
    nodes, entries = len(ids), len(source) * (1 if directed else 2)
    csr_bytes = entries * (8 if weighted else 4)
    build_bytes = int(ids.nbytes) + 44 * nodes  # what the builder holds for each node
    if not isinstance(source, np.memmap):
        build_bytes += len(source) * (12 if weighted else 8)
    graph_bytes = int(ids.nbytes) + 40 * nodes  # what remains in memory of a graph in a file
    reserve = options.reserve or (lambda nodes, csr_bytes: 0)
    needed = graph_bytes + reserve(nodes, 0)
    if needed > limit:
        raise MemoryLimitError(
            f"{name}: a graph of {nodes:,} nodes needs at least {format_bytes(needed)} "
            f"({format_bytes(graph_bytes)} for the graph, {format_bytes(needed - graph_bytes)} for "
            f"the embedding), but the memory limit is {format_bytes(limit)}. Increase memory=."
        )
    in_file = graph_bytes + csr_bytes + reserve(nodes, csr_bytes) > limit
    if build_bytes + 2 * csr_bytes <= limit:
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


def _checked_weights(batch: Batch, location: Callable[[int], str]) -> NDArray[np.float32] | None:
    if batch.weight is None:
        return None

    def edge_location(row: int) -> str:
        ends = f"{batch.source[row].as_py()!r} - {batch.target[row].as_py()!r}"
        return f"{location(row)} ({ends})"

    numbers = numpy_view(batch.weight)
    check_weights(numbers, edge_location)
    weights: NDArray[np.float32] = numbers.astype(np.float32)
    return weights
