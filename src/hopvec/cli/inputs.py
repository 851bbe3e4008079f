"""The options for reading a graph, shared by all commands that read one."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from hopvec.cli.command import Declared, Function, gathered_options
from hopvec.cli.terminal import Terminal
from hopvec.embedding import Embedding, load
from hopvec.errors import FormatError
from hopvec.formats.graphs.read import read_graph
from hopvec.graph import Graph
from hopvec.methods import Method
from hopvec.progress import Progress
from hopvec.run_report import RunReport

DUPLICATES = ("sum", "first", "error")
LOOPS = ("keep", "drop")
FILE = click.Path(allow_dash=True)


COLUMNS = 5  # options that say which columns hold edges, the first ones
OPTIONS: Declared = [
    ("--source", {"metavar": "COLUMN", "help": "Column of source nodes: its name or number."}),
    ("--target", {"metavar": "COLUMN", "help": "Column of target nodes."}),
    ("--weight", {"metavar": "COLUMN", "help": "Column of weights."}),
    ("--unweighted", {"is_flag": True, "help": "Ignore any column of weights."}),
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
            "help": "Prefixes for the ids of sources and targets, to make them distinct.",
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
    ("--nodes", {"type": FILE, "help": "File of node ids; adds nodes without edges."}),
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
    ("--variable", {"metavar": "NAME", "help": "Matrix to read from a file with several."}),
]


def graph_argument(function: Function) -> Function:
    """Adds the argument GRAPH."""
    return click.argument("graph", type=FILE)(function)


def reading_options(function: Function) -> Function:
    """Adds the options of reading; they arrive as one dict `reading`, ready for `read`."""
    return gathered_options("reading", OPTIONS, "Input")(function)


def edge_column_options(function: Function) -> Function:
    """Adds those that say which columns hold edges, beside the options of reading labels."""
    return gathered_options("reading", OPTIONS[:COLUMNS], "Graph")(function)


def check_there(path: str) -> None:
    """Raises FormatError unless there is such a file, or it is standard input."""
    if path != "-" and not Path(path).exists():
        raise FormatError(f"{path}: there is no such file.")


def read_vectors(terminal: Terminal, path: str) -> Embedding:
    """The embedding of a file."""
    with terminal.progress(f"reading {path}", "%") as progress:
        return load(path, progress=progress)


def read(
    terminal: Terminal,
    report: RunReport,
    path: str,
    reading: dict[str, Any],
    method: Method | None = None,
) -> Graph:
    """The graph of a file ("-" is standard input), in the stages "read" and "build".

    Bounded as the method says that is to run on it.
    """
    bounds: dict[str, Any] = {}
    if method is not None:
        bounds = {
            "threads": method.threads,
            "memory": method.memory,
            "spill_dir": method.spill_dir,
            "reserve": method.working_bytes,
        }
    if reading["nodes"] is not None:
        check_there(reading["nodes"])  # before the edges, which may take long
    name = "standard input" if path == "-" else path
    if path == "-" and sys.stdin.isatty():
        terminal.info("Waiting for edges on standard input, a line each; Ctrl-D ends them.")
    with ExitStack() as stage:
        stage.enter_context(report.stage("read"))
        reading_bar = stage.enter_context(terminal.progress(f"reading {name}", "bytes"))
        building_bar: Progress | None = None

        def building(done: int, of: int) -> None:
            nonlocal building_bar
            if building_bar is None:
                stage.close()
                stage.enter_context(report.stage("build"))
                building_bar = stage.enter_context(terminal.progress("building the graph", "%"))
            building_bar(done, of)

        graph = read_graph(path, **reading, **bounds, progress=reading_bar, build_progress=building)
    pa.default_memory_pool().release_unused()  # before the next stage needs it
    policies = {"duplicates": reading["duplicates"] or "sum", "loops": reading["loops"]}
    report.input, report.graph = policies | graph.origin, graph.describe()
    return graph
