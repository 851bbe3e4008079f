"""read_graph: reads a graph from a file of any supported format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from hopvec.address import is_address, shown_address
from hopvec.errors import FormatError, ParameterError
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
from hopvec.formats.graphs.build import graph_from_matrix, graph_from_stream
from hopvec.formats.graphs.edges import EdgeStream, GraphFormat, Matrix
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadKeywords, ReadOptions, merge_options
from hopvec.formats.graphs.relation_files import join_streams, joined_progress, relation_files
from hopvec.graph import Graph
from hopvec.progress import Progress, ProgressOption, callback, no_progress

# Formats are recognized by content in this order; text is last because almost anything may be text.
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
ALIASES = {
    "csv": "text",
    "tsv": "text",
    "parquet": "columnar",
    "arrow": "columnar",
    "mat": "matlab",
    "mtx": "matrix-market",
}
FORMAT_OPTIONS = frozenset[str]().union(*(module.OPTIONS for module in GRAPH_FORMATS.values()))


def read_graph(
    path: str | PathLike[str] | Mapping[str, str | PathLike[str]],
    *,
    options: ReadOptions | None = None,
    progress: ProgressOption = None,
    build_progress: Progress | None = None,
    **keywords: Unpack[ReadKeywords],
) -> Graph:
    r"""Read a graph from a file.

    Text (CSV, TSV, whitespace), Parquet, Arrow, .npz, .mat, Matrix Market, GraphML, GML and
    adjacency lists are read, compressed or not. Whatever is not given is detected from the file;
    `graph.origin` shows what was detected and why. Node ids are sorted in ascending order.

    Parameters
    ----------
    path : str, path or dict
        The file, or a directory of Parquet files; "-" is standard input. A dict has one file per
        relation: {"KNOWS": "knows.csv", "LIKES": "likes.csv"}; so has "KNOWS=knows.csv,LIKES=...".
    options : ReadOptions, optional
        The keywords below as one record. Keywords override its fields.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the bytes read and the size of
        the file.
    build_progress : callable, optional
        Called with the percentage of the graph that is built, and 100, after the file is read.
    format : str, optional
        The format: "text" or "csv", "columnar" ("parquet", "arrow"), "npz", "matlab",
        "matrix-market", "graphml", "gml" or "adjacency".
    source, target, weight : str or int, optional
        The columns of an edge list: a name, or a number counted from 1.
    unweighted : bool, default False
        Ignores weights.
    time : str or int, optional
        The column of times: ISO dates, timestamps, or Unix time in seconds, milliseconds,
        microseconds or nanoseconds. `graph.origin` shows which, and their span. Times without a
        zone are UTC.
    half_life : str or timedelta, optional
        The age at which an edge counts half, such as "30d": its weight is multiplied by
        0.5 ** (age / half_life). The units are s, min, h, d, w and y (365 days).
    as_of : str, number, date or datetime, optional
        The time from which ages are measured; a row after it is an error. By default the time of
        the newest edge.
    since, until : str, number, date or datetime, optional
        The window of time: edges with since <= time < until are used.
    relation : str or int, optional
        The column of relations, such as KNOWS and LIKES.
    relation_weights, relation_balance, relation_direction : optional
        How relations are weighted, balanced and directed, as in `Graph.from_edges`.
    separator : str, optional
        The separator of text: one character, "tab", "space" or "whitespace".
    header : bool, optional
        Whether the first line of text names the columns.
    comment : str, optional
        The prefix of comment lines; "" if there are no comments.
    variable : str, optional
        The matrix to read from a file that holds several.
    directed : bool, optional
        Whether edges are directed. By default as the file says, else undirected.
    symmetrize : bool, default False
        Treats each entry of a matrix as an undirected edge.
    bipartite : bool, default False
        Whether sources and targets are two kinds of nodes; see Graph.from_bipartite.
    prefixes : (str, str), optional
        Prefixes for the ids of sources and targets of a bipartite graph.
    one_kind : bool, default False
        Whether the same id is the same node, although the column names suggest two kinds of nodes,
        such as user_id and item_id. Otherwise ids that occur in both columns raise GraphError.
    duplicates : {"sum", "first", "error"}, optional
        What to do with repeated edges. By default their weights are summed; in an adjacency list
        only the first one counts.
    loops : {"keep", "drop"}, default "keep"
        What to do with edges from a node to itself.
    bad_rows : {"error", "skip"}, default "error"
        What to do with rows that cannot be edges: with a missing id, a weight that is not a number
        or out of range, a time that is missing, unreadable or after `as_of`, or too few or too many
        columns. "skip" drops them, and reports how many
        for each reason, with the first line.
    nodes : path, table, sequence or dict, optional
        Ids of further nodes, which need not have edges; of a table the column id, node or name.
        Several files are a list of pathlib paths, or a dict of types and paths:
        {"user": "users.csv", "item": "items.csv"}.
    node_type : str or int, optional
        The column of `nodes` with the types of nodes: a name, or a number counted from 1. By
        default the labels of a file for Neo4j, if there are any. See Graph.node_types.
    threads : int, optional
        The number of threads. By default all cores.
    memory : str or number, optional
        The memory limit, such as "4GB". Whatever exceeds it is stored in temporary files.
    reserve : callable, optional
        The bytes that must remain free for later work, given the number of nodes and the bytes of
        the CSR arrays; for example `method.working_bytes`.
    spill_dir : path, optional
        The directory of temporary files. By default the system's.

    Returns
    -------
    Graph
        `graph.origin` records how the file was read.

    Raises
    ------
    FormatError
        If the file cannot be read; the message names the file and the line.
    GraphError
        If its edges do not form a valid graph; the message names the file and the line.
    ParameterError
        If options are invalid or contradict each other.
    MemoryLimitError
        If the graph needs more memory; the message reports how much.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "edges.csv")
    >>> _ = path.write_text("source,target,weight\na,b,2\nb,c,3\n")
    >>> read_graph(path)
    Graph(3 nodes, 2 edges, undirected, weighted)
    >>> read_graph(path, unweighted=True, directed=True)
    Graph(3 nodes, 2 edges, directed, unweighted)
    """
    progress = callback(progress, "reading")
    options = merge_options("read_graph", options or ReadOptions(), keywords, ReadKeywords)
    with open_edges(path, options, progress) as opened:
        if isinstance(opened.edges, Matrix):
            graph = graph_from_matrix(opened.name, opened.edges, options)
        else:
            stream, build_progress = opened.stream(), build_progress or no_progress
            graph = graph_from_stream(opened.name, stream, options, build_progress)
        return replace(graph, origin=opened.origin())


class OpenedEdges(NamedTuple):
    """An input that has been opened, before its edges are read."""

    name: str
    """Its name in messages."""
    edges: EdgeStream | Matrix
    origin: Callable[[], dict[str, Any]]
    """Returns how it was read, for the run report, when all edges have been read."""

    def stream(self) -> EdgeStream:
        """The edges; raises FormatError if it is a matrix."""
        if isinstance(self.edges, Matrix):
            raise FormatError(f"{self.name}: this is a matrix, not a list of edges.")
        return self.edges


@contextmanager
def open_edges(
    path: str | PathLike[str] | Mapping[str, str | PathLike[str]],
    options: ReadOptions,
    progress: Progress | None,
) -> Iterator[OpenedEdges]:
    """Open a file, or several files, one per relation."""
    files = relation_files(path)
    if files is not None or isinstance(path, Mapping):
        with _open_relation_files(files or {}, options, progress) as opened:
            yield opened
        return
    _check_is_file(path, options)
    with InputFile(path, progress, options.spill_dir) as file:
        found, origin = _open_edges(file, options)
        yield OpenedEdges(file.name, found, lambda: origin | found.metadata)


@contextmanager
def _open_relation_files(
    files: Mapping[str, str | PathLike[str]], options: ReadOptions, progress: Progress | None
) -> Iterator[OpenedEdges]:
    if options.relation is not None:
        raise ParameterError(
            "read_graph: relation= names a column, but here every file is a relation; leave it out."
        )
    if not files:
        raise FormatError("read_graph: the dict of files, one per relation, is empty.")
    for path in files.values():
        _check_is_file(path, options)
    with ExitStack() as stack:
        opened = {
            relation: stack.enter_context(InputFile(path, None, options.spill_dir))
            for relation, path in files.items()
        }
        sizes = [file.size for file in opened.values()]
        for number, file in enumerate(opened.values()):
            file.progress = joined_progress(progress, sizes, number)
        found = {relation: _open_edges(file, options) for relation, file in opened.items()}
        stream = join_streams(
            {relation: (opened[relation].name, edges) for relation, (edges, _) in found.items()}
        )
        name = ",".join(f"{relation}={file.name}" for relation, file in opened.items())

        def origin() -> dict[str, Any]:
            origins = {relation: how | edges.metadata for relation, (edges, how) in found.items()}
            return {
                "file": name,
                "format": ", ".join(sorted({how["format"] for how in origins.values()})),
                "duplicates": options.duplicates or "sum",
                "files by relation": origins,
                **stream.metadata,
            }

        yield OpenedEdges(name, stream, origin)


def _open_edges(
    file: InputFile, options: ReadOptions
) -> tuple[EdgeStream | Matrix, dict[str, Any]]:
    """The edges of a file, and how it is read."""
    name, reason = choose_format(file, options.format)
    module = GRAPH_FORMATS[name]
    check_options_apply(file.name, name, module.OPTIONS, options)
    found = module.read_edges(file, options)
    return found, _origin(file, name, reason, found, options)


def _check_is_file(path: str | PathLike[str], options: ReadOptions) -> None:
    """Raise FormatError for the address of a database, and for a query of a file."""
    if is_address(path) and not Path(path).exists():
        raise FormatError(
            f"{shown_address(str(path))}: this is a database. Read it with read_sql(query, "
            "connection)."
        )
    files = str(path).split(",")
    if len(files) > 1 and not Path(path).exists() and all(Path(file).exists() for file in files):
        named = ",".join(f"{Path(file).stem.upper()}={file}" for file in files)
        raise FormatError(
            f"{path}: there is no such file. Name the relation of each of several files: {named}"
        )
    if options._query is not None:
        raise FormatError(
            f"{path}: query= is for databases, such as postgresql://host/database; leave it out."
        )


def choose_format(
    file: InputFile,
    requested: str | None,
    formats: Mapping[str, GraphFormat] = GRAPH_FORMATS,
    what: str = "graphs",
) -> tuple[str, str]:
    """Choose the format as requested, by content or by suffix; return its name and the reason."""
    if requested is not None:
        name = ALIASES.get(requested.lower(), requested.lower())
        if name not in formats:
            names = [*formats, *(alias for alias, name in ALIASES.items() if name in formats)]
            raise FormatError(
                f"{file.name}: there is no format {requested!r} for {what}; "
                f"choose one of {', '.join(names)}."
            )
        return name, "it was requested"
    by_suffix = [name for name, module in formats.items() if file.suffix in module.SUFFIXES]
    for name, module in formats.items():
        reason = module.recognize(file)
        if reason and name == "text" and by_suffix:
            break  # the suffix says more than that it is text
        if reason:
            return name, reason
    if by_suffix:
        return by_suffix[0], f"its suffix is {file.suffix}"
    if not file.head:
        raise FormatError(f"{file.name}: the file is empty.")
    raise FormatError(
        f"{file.name}: the format is not recognized; the file begins with {file.head[:8]!r}. "
        f"Supported formats are {', '.join(formats)}."
    )


def check_options_apply(
    name: str, format_: str, allowed: frozenset[str], options: ReadOptions
) -> None:
    """Raise FormatError for options that do not apply to the format."""
    for field in fields(options):
        other = field.name in FORMAT_OPTIONS - allowed
        if other and getattr(options, field.name) != field.default:
            raise FormatError(
                f"{name}: {field.name}= does not apply to the format {format_}; leave it out."
            )


def _origin(
    file: InputFile, name: str, reason: str, found: EdgeStream | Matrix, options: ReadOptions
) -> dict[str, Any]:
    """Where the graph comes from and how the file was read, for the run report."""
    origin: dict[str, Any] = {"file": file.name, "format": name, "because": reason}
    if file.compression:
        origin["compression"] = file.compression
    if isinstance(found, EdgeStream):
        origin["duplicates"] = options.duplicates or found.duplicates or "sum"
    return origin
