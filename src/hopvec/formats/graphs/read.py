"""read_graph: from a file of any format to a Graph."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError, GraphError, MemoryLimitError
from hopvec.formats.graphs import (
    adjacency,
    columnar,
    gml,
    graphml,
    matlab,
    matrix_market,
    numpy_archive,
    text,
)
from hopvec.formats.graphs.edges import Batch, EdgeStream, GraphFormat, Matrix
from hopvec.formats.graphs.nodes import read_nodes
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.source import Source
from hopvec.graph import Graph
from hopvec.graph.bipartite import prefixed, target_mask
from hopvec.graph.convert import READER, from_scipy
from hopvec.graph.dictionary import Dictionary, integers_if_all
from hopvec.graph.edge_list import from_numbering
from hopvec.graph.ids import Numbering, number_array, number_buffer
from hopvec.graph.validation import check_weights
from hopvec.machine import cores, in_words
from hopvec.progress import Progress, no_progress
from hopvec.spill import SpillArray

if TYPE_CHECKING:
    import scipy.sparse as sp

logger = logging.getLogger("hopvec")

TRIMMED = 1 << 20  # ids that are looked at together

# By content in this order; text, which nearly anything might be, comes last.
GRAPH_FORMATS: dict[str, GraphFormat] = {
    "columnar": columnar,
    "npz": numpy_archive,
    "matlab": matlab,
    "matrix-market": matrix_market,
    "graphml": graphml,
    "gml": gml,
    "adjacency": adjacency,
    "text": text,
}
FORMAT_OPTIONS = frozenset[str]().union(*(module.OPTIONS for module in GRAPH_FORMATS.values()))
ALIASES = {
    "csv": "text",
    "tsv": "text",
    "parquet": "columnar",
    "arrow": "columnar",
    "mat": "matlab",
    "mtx": "matrix-market",
}


def read_graph(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  (the word people look for)
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    unweighted: bool = False,
    separator: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    variable: str | None = None,
    directed: bool | None = None,
    symmetrize: bool = False,
    bipartite: bool = False,
    prefixes: tuple[str, str] | None = None,
    duplicates: Literal["sum", "first", "error"] | None = None,
    loops: Literal["keep", "drop"] = "keep",
    nodes: str | PathLike[str] | Any | None = None,
    threads: int | None = None,
    memory: str | float | None = None,
    reserve: Callable[[int, int], int] | None = None,
    progress: Progress | None = None,
    building: Progress | None = None,
) -> Graph:
    """The graph of a file: text, Parquet, Arrow, .npz, .mat, Matrix Market, GraphML, GML, ...

    The format, the columns and what else is not said are found by looking; `graph.origin` tells
    what was found and why. "-" is standard input. `nodes` names a file of ids, or is a list of
    them: nodes that no edge need mention. Ids are in ascending order. `bipartite` says that sources
    and targets are two kinds of nodes, which `prefixes` of their ids may tell apart; see
    Graph.from_bipartite. `memory` bounds the memory of
    the reading, and what does not fit is kept in files without a name; `reserve`, such as
    `method.working_bytes`, tells what must fit beside the graph later, by its nodes and the bytes
    of its rows.
    `progress` is called with the bytes read and those of the file, then `building` with the percent
    of the building of the graph and 100.

    Raises FormatError or GraphError naming the file and the line, MemoryLimitError with the least
    that would do.
    """
    options = ReadOptions(
        format=format,
        source=source,
        target=target,
        weight=weight,
        unweighted=unweighted,
        separator=separator,
        header=header,
        comment=comment,
        variable=variable,
        directed=directed,
        symmetrize=symmetrize,
        bipartite=bipartite,
        prefixes=prefixes,
        duplicates=duplicates,
        loops=loops,
        nodes=nodes,
        threads=threads,
        memory=memory,
        reserve=reserve,
    )
    bound = options.memory_bytes
    with Source(path, progress) as opened:
        name, because = choose_format(opened, format)
        _refuse_unused(opened, name, options)
        origin = {"file": opened.name, "format": name, "because": because}
        if opened.compression:
            origin["compression"] = opened.compression
        found = GRAPH_FORMATS[name].read_edges(opened, options)
        if isinstance(found, Matrix):
            if bipartite:
                raise FormatError(
                    f"{opened.name}: bipartite is for lists of edges, and this is a matrix; leave "
                    "it out."
                )
            graph = _from_matrix(
                opened, found, directed, symmetrize, duplicates, loops, nodes, threads, bound
            )
        else:
            if symmetrize:
                raise FormatError(
                    f"{opened.name}: symmetrize is for matrices; an edge of a list is undirected "
                    "unless directed=True."
                )
            reading = _Reading(opened.name, found, bound, threads, reserve, building)
            reading.bipartite, reading.prefixes = bipartite, prefixes
            if bipartite:
                directed = False
            origin["duplicates"] = duplicates or found.duplicates or "sum"
            graph = reading.graph(directed, origin["duplicates"], loops, nodes)
    return replace(graph, origin=origin | found.metadata)


def choose_format(
    source: Source,
    asked: str | None,
    formats: Mapping[str, GraphFormat] = GRAPH_FORMATS,
    what: str = "graphs",
) -> tuple[str, str]:
    """The name of the format of what is to be read, and why: as asked, by content, or by suffix."""
    if asked is not None:
        asked = ALIASES.get(asked.lower(), asked.lower())
        if asked not in formats:
            known = [*formats, *(alias for alias, name in ALIASES.items() if name in formats)]
            raise FormatError(
                f"{source.name}: there is no format {asked!r} for {what}; "
                f"there are {', '.join(known)}."
            )
        return asked, "it was asked for"
    by_suffix = [name for name, module in formats.items() if source.suffix in module.SUFFIXES]
    for name, module in formats.items():
        because = module.recognize(source)
        if because and name == "text" and by_suffix:
            break  # any text is text: its suffix says more
        if because:
            return name, because
    if by_suffix:
        return by_suffix[0], f"its suffix is {source.suffix}"
    if not source.head:
        raise FormatError(f"{source.name}: it is empty.")
    raise FormatError(
        f"{source.name}: no format is recognized, it begins with {source.head[:8]!r}. "
        f"Formats are {', '.join(formats)}."
    )


def _refuse_unused(source: Source, name: str, options: ReadOptions) -> None:
    for field in fields(ReadOptions):
        given = field.name in FORMAT_OPTIONS and getattr(options, field.name) != field.default
        if given and field.name not in GRAPH_FORMATS[name].OPTIONS:
            raise FormatError(
                f"{source.name}: {field.name} means nothing for the format {name}; leave it out."
            )


def _from_matrix(
    source: Source,
    found: Matrix,
    directed: bool | None,
    symmetrize: bool,
    duplicates: str | None,
    loops: str,
    nodes: Any,
    threads: int | None,
    bound: int | None,
) -> Graph:
    for given, what in (
        (nodes is not None, "nodes"),
        (duplicates is not None, "duplicates"),
        (loops != "keep", "loops"),
    ):
        if given:
            raise FormatError(f"{source.name}: {what} means nothing for a matrix; leave it out.")
    if bound is not None:
        _refuse_large(source.name, found.matrix, symmetrize, bound)
    try:
        return from_scipy(found.matrix, None, bool(directed), symmetrize, threads, READER)
    except GraphError as error:
        raise GraphError(f"{source.name}: {error}") from error


def _refuse_large(name: str, matrix: sp.sparray, symmetrize: bool, bound: int) -> None:
    """Refuses a matrix that does not fit in memory beside the graph that is built of it."""
    import scipy.sparse as sp

    entries = sp.coo_array(matrix)
    size = 4 if (entries.data == 1).all() else 8
    held = sum(int(part.nbytes) for part in (*entries.coords, entries.data))
    needed = held + 52 * entries.shape[0] + (4 if symmetrize else 2) * entries.nnz * size
    if needed > bound:
        raise MemoryLimitError(
            f"{name}: a matrix is read whole, and one of {entries.nnz:,} entries needs at least "
            f"{in_words(needed)}, and the memory limit is {in_words(bound)}. Allow it more memory, "
            "or make a list of edges of it, which is read in parts."
        )


class _Reading:
    """The edges of a stream on their way into a graph."""

    def __init__(
        self,
        name: str,
        stream: EdgeStream,
        bound: int | None,
        threads: int | None,
        reserve: Callable[[int, int], int] | None = None,
        building: Progress | None = None,
    ) -> None:
        self.name, self.stream, self.bound, self.reserve = name, stream, bound, reserve
        self.threads = threads or cores()
        self.building = building or no_progress
        room = None if bound is None else bound // 16
        self.dictionary = Dictionary(self.threads)
        self.source: SpillArray[np.int32] = SpillArray(np.int32, room)
        self.target: SpillArray[np.int32] = SpillArray(np.int32, room)
        self.weight: SpillArray[np.float32] = SpillArray(np.float32, room)
        self.weighted = False
        self.bipartite = False
        self.prefixes: tuple[str, str] | None = None

    def graph(
        self,
        directed: bool | None,
        duplicates: str,
        loops: str,
        nodes: Any,
    ) -> Graph:
        """All edges read, and the graph they make."""
        for batch in self.stream.batches:
            self._take(batch)
        self._add_nodes(nodes)
        if len(self.dictionary) == 0:
            raise GraphError(f"{self.name}: the graph is empty: there are no edges in it.")
        self.building(0, 100)
        ids, place = self.dictionary.numbered(untyped=self.stream.untyped)
        self.dictionary = Dictionary()
        self._tell_blanks(ids)
        if directed is None:
            directed = bool(self.stream.directed)
        numbering = Numbering(
            lambda: ids, len(ids), self.source.array(), self.target.array(), 0, place
        )
        weight = self.weight.array() if self.weighted else None
        room, in_file = self._room(ids, directed)
        try:
            is_target = self._targets(ids, place)
            self.source = self.target = SpillArray(np.int32)  # the numbering lets go of them, too
            del place
            graph = from_numbering(
                numbering,
                weight,
                directed,
                duplicates,
                loops,
                self.threads,
                memory_limit=room,
                in_file=in_file,
                progress=self.building,
            )
        except GraphError as error:
            raise GraphError(f"{self.name}: {error}") from error
        return replace(graph, is_target=is_target)

    def _tell_blanks(self, ids: pa.Array) -> None:
        """Tells of ids that whitespace makes others than they look."""
        import pyarrow.compute as pc

        if pa.types.is_integer(ids.type):
            return
        for start in range(0, len(ids), TRIMMED):
            some = ids.slice(start, TRIMMED)
            wide = some.filter(pc.not_equal(some, pc.ascii_trim_whitespace(some)))
            if len(wide):
                logger.warning(
                    "%s: some ids begin or end with whitespace, such as %r, which makes them "
                    "other nodes than without.",
                    self.name,
                    wide[0].as_py(),
                )
                return

    def _targets(self, ids: pa.Array, place: NDArray[np.int32]) -> NDArray[np.bool_] | None:
        """Which ids are the targets of a bipartite graph."""
        if not self.bipartite:
            return None
        return target_mask(ids, self.source.array(), self.target.array(), place)

    def _take(self, batch: Batch) -> None:
        first = len(self.source)
        self._refuse_missing(batch, first)
        if self.prefixes is not None:
            source, target = map(prefixed, (batch.source, batch.target), self.prefixes)
            batch = Batch(source, target, batch.weight)
        self._refuse_mixture(batch)
        self.source.append(self.dictionary.encode(batch.source))
        self.target.append(self.dictionary.encode(batch.target))
        if batch.weight is not None:
            self.weighted = True
            self.weight.append(self._weights(batch, first))
        if self.bound is not None and self.dictionary.nbytes > self.bound:
            raise MemoryLimitError(
                f"{self.name}: the ids of the first {len(self.dictionary):,} nodes alone take "
                f"{in_words(self.dictionary.nbytes)}, and the memory limit is "
                f"{in_words(self.bound)}. Allow it more memory."
            )

    def _refuse_mixture(self, batch: Batch) -> None:
        """Refuses edges that lead from integers to texts, or the other way."""
        kinds = [bool(pa.types.is_integer(ids.type)) for ids in (batch.source, batch.target)]
        if kinds[0] != kinds[1]:
            words = ["integers" if integers else "texts" for integers in kinds]
            used = self.stream.metadata.get("columns", {"source": "source", "target": "target"})
            raise GraphError(
                f"{self.name}: the source column {used['source']!r} holds {words[0]}, the target "
                f"column {used['target']!r} {words[1]}. Name others with --source and --target, or "
                "make both the same; two kinds of nodes can have prefixes: --bipartite --prefixes "
                "user:,item:."
            )

    def _refuse_missing(self, batch: Batch, first: int) -> None:
        """Refuses the first id that is null or empty, with its place."""
        if (missing := batch.first_missing()) is not None:
            row, role = missing
            raise GraphError(
                f"{self.name}, {self.stream.locate(first + row)}: the {role} is empty."
            )

    def _weights(self, batch: Batch, first: int) -> NDArray[np.float32]:
        def place(row: int) -> str:
            ends = f"{batch.source[row].as_py()!r} - {batch.target[row].as_py()!r}"
            return f"{self.name}, {self.stream.locate(first + row)} ({ends})"

        numbers = number_buffer(batch.weight)
        check_weights(numbers, place)
        weights: NDArray[np.float32] = numbers.astype(np.float32)
        return weights

    def _add_nodes(self, nodes: Any) -> None:
        """Nodes that the format lists, and those that the caller adds."""
        for listed in (self.stream.nodes, None if nodes is None else read_nodes(nodes)):
            if isinstance(listed, int):
                listed = number_array(np.arange(listed, dtype=np.int64))
            if listed is None or len(listed) == 0:
                continue
            try:
                if self.stream.untyped and pa.types.is_integer(listed.type):
                    listed = listed.cast(pa.large_string())
                elif isinstance(nodes, str | PathLike) and self.dictionary.integers:
                    listed = integers_if_all(listed)  # a text of ids does not say what they are
                self.dictionary.encode(listed)
            except GraphError as error:
                raise GraphError(f"{self.name}, nodes: {error}") from error

    def _room(self, ids: pa.Array, directed: bool) -> tuple[int | None, bool]:
        """The bytes of entries that the builder may hold, None where all of them fit.

        And whether the rows shall be in a file, because later work would not fit beside them.
        """
        if self.bound is None:
            return None, False
        nodes, entries = len(ids), len(self.source) * (1 if directed else 2)
        size = 8 if self.weighted else 4
        fixed = int(ids.nbytes) + 44 * nodes  # what the builder holds for each node
        if not isinstance(self.source.array(), np.memmap):
            fixed += len(self.source) * (12 if self.weighted else 8)
        kept = int(ids.nbytes) + 40 * nodes  # what a run keeps of a graph whose rows are in a file
        least, later = (self.reserve(nodes, r) if self.reserve else 0 for r in (0, entries * size))
        if kept + least > self.bound:
            raise MemoryLimitError(
                f"{self.name}: a run on a graph of {nodes:,} nodes needs at least "
                f"{in_words(kept + least)} ({in_words(kept)} for the graph, {in_words(least)} for "
                f"the run beside it), and the memory limit is {in_words(self.bound)}. Allow it "
                "more memory."
            )
        in_file = kept + entries * size + later > self.bound
        if fixed + 2 * entries * size <= self.bound:
            return None, in_file
        least = fixed + (8 << 20)
        if least > self.bound:
            raise MemoryLimitError(
                f"{self.name}: building a graph of {nodes:,} nodes needs at least "
                f"{in_words(least)} ({in_words(ids.nbytes)} of it for the ids), and the memory "
                f"bound is {in_words(self.bound)}. Allow it more memory."
            )
        return int(self.bound - fixed), in_file
