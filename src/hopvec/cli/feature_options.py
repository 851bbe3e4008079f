"""The options that name features of nodes, the same for every verb that takes them."""

from __future__ import annotations

from typing import Any

import click

from hopvec.cli.inputs import FILE, check_there
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import Declared, Function, gathered_options
from hopvec.formats.features import read_features
from hopvec.graph import Graph
from hopvec.run_report import RunReport

OPTIONS: Declared = [
    (
        "--features",
        {
            "type": FILE,
            "metavar": "FILE",
            "help": "Table of what is known of the nodes: a column of ids, and columns of numbers, "
            "categories, texts.",
        },
    ),
    (
        "--features-id",
        {
            "metavar": "COLUMN",
            "help": "Its column of ids. [default: one called id, node or name, else the only one "
            "that holds ids of the graph]",
        },
    ),
]


def feature_options(function: Function) -> Function:
    """Adds the options of features; they arrive as one dict `known`, ready for `add_features`."""
    return gathered_options("known", OPTIONS, "Input")(function)


def features_place(known: dict[str, Any]) -> str | None:
    """Where the features are that were named, if any."""
    path: str | None = known["features"]
    if path is None and known["features_id"] is not None:
        raise click.UsageError("--features-id is for --features, and no file is named there")
    return path


def features_file(known: dict[str, Any]) -> str | None:
    """The same, a file of this machine. Raises FormatError if it is not there."""
    path = features_place(known)
    if path is not None:
        check_there(path)
    return path


def add_features(
    terminal: Terminal, report: RunReport, graph: Graph, known: dict[str, Any]
) -> Graph:
    """The graph with the features of the file that was named; itself where none was."""
    path, id_column = features_file(known), known["features_id"]
    if path is None:
        return graph
    with terminal.progress(f"reading {path}", "bytes") as progress:
        table = read_features(path, id_column=id_column, progress=progress)
    with terminal.progress("taking features", "columns") as progress:
        graph = graph.with_features(table, id_column=id_column, progress=progress)
    report.input["features"], report.graph = path, graph.describe()
    return graph
