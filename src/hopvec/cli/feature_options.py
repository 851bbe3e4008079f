"""The options for node features, shared by all commands that take them."""

from __future__ import annotations

from os import PathLike
from typing import Any

import click

from hopvec.cli.command import Declared, Function, gathered_options
from hopvec.cli.inputs import FILE, check_exists
from hopvec.cli.messages import renamed_argument
from hopvec.cli.terminal import Terminal
from hopvec.formats.features import read_features
from hopvec.graph import Graph
from hopvec.run_report import RunReport

OPTIONS: Declared = [
    (
        "--features",
        {
            "type": FILE,
            "metavar": "FILE",
            "help": "Table of node features: a column of node ids, and columns of numbers, "
            "categories or strings.",
        },
    ),
    (
        "--features-id",
        {
            "metavar": "COLUMN",
            "help": "Column of node ids in the features.  [default: id, node or name, or the only "
            "column that contains ids of the graph]",
        },
    ),
]


def feature_options(function: Function) -> Function:
    """Add the options for features, passed as one dict `feature_args`."""
    return gathered_options("feature_args", OPTIONS, "Input")(function)


def features_path(feature_args: dict[str, Any]) -> str | None:
    """The path or URL of the features, if they were given."""
    path: str | None = feature_args["features"]
    if path is None and feature_args["features_id"] is not None:
        raise click.UsageError("--features-id needs --features")
    return path


def features_file(feature_args: dict[str, Any]) -> str | None:
    """The path of the features, if they were given. Raises FormatError if it does not exist."""
    path = features_path(feature_args)
    if path is not None:
        check_exists(path)
    return path


def add_features(
    terminal: Terminal,
    report: RunReport,
    graph: Graph,
    feature_args: dict[str, Any],
    spill_dir: str | PathLike[str] | None = None,
) -> Graph:
    """Read the features, if they were given, and add them to the graph."""
    path, id_column = features_file(feature_args), feature_args["features_id"]
    if path is None:
        return graph
    with renamed_argument("id_column", "features_id"):
        with terminal.progress(f"reading {path}", "bytes") as progress:
            table = read_features(path, id_column=id_column, spill_dir=spill_dir, progress=progress)
        with terminal.progress("adding features", "columns") as progress:
            graph = graph.with_features(table, id_column=id_column, progress=progress)
    report.input["features"], report.graph = path, graph.describe()
    return graph
