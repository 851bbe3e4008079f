"""The options for reading a graph, shared by all commands that read one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from hopvec.address import is_address, shown_address
from hopvec.cli.command import Declared, Function, gathered_options
from hopvec.cli.terminal import Terminal
from hopvec.embedding import Embedding
from hopvec.errors import FormatError
from hopvec.formats import read_embedding
from hopvec.formats.graphs.nodes import node_files
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.read import read_graph
from hopvec.formats.graphs.relation_files import relation_files
from hopvec.formats.graphs.sql import EXAMPLE, read_sql
from hopvec.graph import Graph
from hopvec.graph.relation_options import BALANCES
from hopvec.methods import Method
from hopvec.progress import Progress
from hopvec.run_report import RunReport

DUPLICATES = ("sum", "first", "error")
LOOPS = ("keep", "drop")
FILE = click.Path(allow_dash=True)


EDGE_OPTIONS = 18  # the first options: columns, relations, times and direction of the edges
OPTIONS: Declared = [
    ("--source", {"metavar": "COLUMN", "help": "Column of source nodes: its name or number."}),
    ("--target", {"metavar": "COLUMN", "help": "Column of target nodes."}),
    ("--weight", {"metavar": "COLUMN", "help": "Column of weights."}),
    ("--unweighted", {"is_flag": True, "help": "Ignore any column of weights."}),
    (
        "--relation",
        {"metavar": "COLUMN", "help": "Column of relations, such as KNOWS and LIKES."},
    ),
    (
        "--relation-weights",
        {
            "metavar": "NAME=NUMBER,...",
            "help": "Weights of relations; * stands for all that are not named.",
        },
    ),
    (
        "--relation-balance",
        {
            "type": click.Choice(BALANCES),
            "default": "none",
            "show_default": True,
            "help": "total: scale relations to the same sum of weights; node: each node divides "
            "its weight among the relations it has.",
        },
    ),
    (
        "--relation-direction",
        {
            "metavar": "NAME=out|in|both,...",
            "help": "Directions of relations, if they differ from that of all edges.",
        },
    ),
    (
        "--time",
        {
            "metavar": "COLUMN",
            "help": "Column of times: ISO dates, timestamps, or Unix time in s, ms, us or ns.",
        },
    ),
    (
        "--half-life",
        {
            "metavar": "DURATION",
            "help": "Age at which an edge counts half, such as 30d, 12h or 2w; needs --time.",
        },
    ),
    (
        "--as-of",
        {
            "metavar": "TIME",
            "help": "Time from which ages are measured; later edges are errors.  [default: the "
            "newest edge]",
        },
    ),
    ("--since", {"metavar": "TIME", "help": "Use only edges from this time on; needs --time."}),
    ("--until", {"metavar": "TIME", "help": "Use only edges before this time; needs --time."}),
    ("--directed/--undirected", {"default": None, "help": "Whether edges are directed."}),
    (
        "--symmetrize",
        {"is_flag": True, "help": "Treat every entry of a matrix as an undirected edge."},
    ),
    (
        "--bipartite",
        {
            "is_flag": True,
            "help": "Sources and targets are disjoint sets, such as users and items.",
        },
    ),
    (
        "--prefixes",
        {
            "metavar": "TEXT,TEXT",
            "callback": lambda context, option, text: text and text.split(","),
            "help": "Prefixes for the ids of sources and targets, to make them distinct; implies "
            "--bipartite.",
        },
    ),
    (
        "--one-kind",
        {
            "is_flag": True,
            "help": "The same id is the same node, although the columns are named like user_id and "
            "item_id.",
        },
    ),
    (
        "--duplicates",
        {
            "type": click.Choice(DUPLICATES),
            "help": "How to handle edges that occur more than once.  [default: sum]",
        },
    ),
    (
        "--loops",
        {
            "type": click.Choice(LOOPS),
            "default": "keep",
            "show_default": True,
            "help": "How to handle edges from a node to itself.",
        },
    ),
    (
        "--bad-rows",
        {
            "type": click.Choice(("error", "skip")),
            "default": "error",
            "show_default": True,
            "help": "How to handle rows that cannot be edges; skipped rows are counted by reason.",
        },
    ),
    (
        "--nodes",
        {
            "metavar": "FILE",
            "callback": lambda context, option, text: text and parse_node_files(text),
            "help": "File of node ids; adds nodes without edges. Several files are separated by "
            "commas, each with its type or none: user=users.csv,item=items.csv.",
        },
    ),
    (
        "--node-type",
        {
            "metavar": "COLUMN",
            "help": "Column of --nodes with the types of nodes.  [default: labels of Neo4j]",
        },
    ),
    ("--format", {"metavar": "NAME", "help": "Format of the file, if it is not detected."}),
    (
        "--separator",
        {
            "metavar": "TEXT",
            "help": "Column separator: a character, or tab, space, comma, ...",
        },
    ),
    (
        "--header/--no-header",
        {"default": None, "help": "Whether the first line contains column names."},
    ),
    ("--comment", {"metavar": "TEXT", "help": "Prefix of comment lines."}),
    ("--variable", {"metavar": "NAME", "help": "Matrix to read, if the file contains several."}),
    (
        "--query",
        {
            "metavar": "SQL",
            "help": "Query whose rows are edges, if the graph is in a database: "
            "postgresql://host/database, duckdb:file.db or sqlite:file.db.",
        },
    ),
]


def parse_node_files(text: str) -> str | list[Path] | dict[str, str]:
    """The files of --nodes: one, several, or several with their types."""
    parts = [text] if text == "-" or Path(text).exists() else text.split(",")
    named = [part.partition("=") for part in parts]
    if parts == [text] and ("=" not in text or Path(text).exists()):
        return text
    if all(equals for _, equals, _ in named):
        return {type_: file for type_, _, file in named}
    if any(equals for _, equals, _ in named):
        raise click.BadParameter("Give the types of all files, or of none.")
    return [Path(part) for part in parts]


def graph_argument(function: Function) -> Function:
    """Add the argument GRAPH."""
    return click.argument("graph", type=FILE)(function)


def reading_options(function: Function) -> Function:
    """Add the options for reading a graph, passed as one ReadOptions record `read_options`."""
    return _read_options(OPTIONS, "Input")(function)


def edge_options(function: Function) -> Function:
    """Add only the options for the kind of edges, passed in the same way."""
    return _read_options(OPTIONS[:EDGE_OPTIONS], "Graph")(function)


def _read_options(declared: Declared, heading: str) -> Callable[[Function], Function]:
    def decorate(function: Function) -> Function:
        @wraps(function)
        def with_record(*arguments: Any, read_options: dict[str, Any], **given: Any) -> None:
            if read_options.get("prefixes"):  # no other graph has sides to tell apart
                read_options["bipartite"] = True
            query = read_options.pop("query", None)
            record = ReadOptions(**read_options, _query=query)
            function(*arguments, read_options=record, **given)

        return gathered_options("read_options", declared, heading)(with_record)

    return decorate


def is_database(path: str) -> bool:
    """Whether an argument is the address of a database; a file of that name takes precedence."""
    return is_address(path) and not Path(path).exists()


def check_exists(path: str) -> None:
    """Raise FormatError unless a file exists, or is standard input or a database."""
    if path == "-" or is_database(path):
        return
    for file in (relation_files(path) or {"": path}).values():
        if not Path(file).exists():
            raise FormatError(f"{file}: there is no such file.")


def _no_query(path: str) -> FormatError:
    """The error for a database without --query, which some commands do not have."""
    names = {parameter.name for parameter in click.get_current_context().command.params}
    advice = (
        f"Choose its edges with --query {EXAMPLE!r}."
        if "query" in names
        else "This command reads graphs from files only."
    )
    return FormatError(f"{shown_address(path)}: this is a database. {advice}")


def read_vectors(terminal: Terminal, path: str, memory: int | None = None) -> Embedding:
    """Read the embedding of a file; vectors beyond `memory` bytes are memory-mapped."""
    with terminal.progress(f"reading {path}", "%") as progress:
        embedding = read_embedding(path, progress=progress, memory_limit=memory)
    pa.default_memory_pool().release_unused()  # before the next stage needs it
    return embedding


def as_embedded(options: ReadOptions, embedding: Embedding) -> ReadOptions:
    """Read the graph as directed or bipartite if it was when it was embedded."""
    if options.directed is None and embedding.graph.get("directed"):
        return replace(options, directed=True)
    if not options.directed and "sides" in embedding.graph:
        return replace(options, bipartite=True)
    return options


def read(
    terminal: Terminal,
    report: RunReport,
    path: str,
    options: ReadOptions,
    method: Method | None = None,
) -> Graph:
    """Read the graph of a file or a database, in the stages "read" and "build".

    "-" is standard input; a database has the query of the options.

    The threads, the memory limit and the spill directory are those of the method that will run on
    the graph.
    """
    if method is not None:
        options = replace(
            options,
            threads=method.threads,
            memory=method.memory,
            _run_memory=method._run_memory,
            spill_dir=method.spill_dir,
        )
    for file in node_files(options.nodes):
        check_exists(file)  # before the edges, which may take long
    query = options._query
    if query is None and is_database(path):
        raise _no_query(path)
    from_database = query is not None and is_address(path)
    name = "standard input" if path == "-" else shown_address(path) if from_database else path
    if path == "-" and sys.stdin.isatty():
        terminal.info("Waiting for edges on standard input, one per line; end with Ctrl-D.")
    with ExitStack() as stage:
        stage.enter_context(report.stage("read"))
        unit = "rows" if from_database else "bytes"
        read_progress = stage.enter_context(terminal.progress(f"reading {name}", unit))
        build_progress: Progress | None = None

        def build(done: int, total: int) -> None:
            nonlocal build_progress
            if build_progress is None:
                stage.close()
                stage.enter_context(report.stage("build"))
                build_progress = stage.enter_context(terminal.progress("building the graph", "%"))
            build_progress(done, total)

        if query is not None and from_database:
            graph = read_sql(
                query, path, options=options, progress=read_progress, build_progress=build
            )
        else:
            graph = read_graph(path, options=options, progress=read_progress, build_progress=build)
    pa.default_memory_pool().release_unused()  # before the next stage needs it
    policies = {"duplicates": options.duplicates or "sum", "loops": options.loops}
    report.input, report.graph = policies | graph.origin, graph.describe()
    return graph
