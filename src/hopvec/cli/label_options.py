"""The options for reading labels, shared by all commands that read them."""

from __future__ import annotations

from typing import Any

from hopvec.cli.command import Declared, Function, gathered_options
from hopvec.cli.summary import Rows, count, input_rows
from hopvec.cli.terminal import Terminal
from hopvec.formats.labels.read import read_labels
from hopvec.labels import Labels

COLUMN_OPTIONS = 3  # the first options select columns
OPTIONS: Declared = [
    ("--id-column", {"metavar": "COLUMN", "help": "Column of node ids: its name or number."}),
    ("--label-column", {"metavar": "COLUMN", "help": "Column of labels."}),
    (
        "--label-separator",
        {
            "metavar": "TEXT",
            "help": "Separator of several labels in one cell; '' if each cell is one label.",
        },
    ),
    ("--format", {"metavar": "NAME", "help": "Format of the file, if it is not detected."}),
    ("--separator", {"metavar": "TEXT", "help": "Column separator."}),
    (
        "--header/--no-header",
        {"default": None, "help": "Whether the first line contains column names."},
    ),
    ("--comment", {"metavar": "TEXT", "help": "Prefix of comment lines."}),
    ("--variable", {"metavar": "NAME", "help": "Variable of a .mat file.  [default: group]"}),
]


def label_options(function: Function) -> Function:
    """Add the options for reading labels, passed as one dict `labeling`."""
    return gathered_options("labeling", OPTIONS, "Labels")(function)


def label_column_options(function: Function) -> Function:
    """Add only the options that select columns, for commands that also read a graph."""
    return gathered_options("labeling", OPTIONS[:COLUMN_OPTIONS], "Labels")(function)


def read_label_file(terminal: Terminal, path: str, labeling: dict[str, Any]) -> Labels:
    """Read the labels of a file; "-" is standard input."""
    name = "standard input" if path == "-" else path
    with terminal.progress(f"reading {name}", "bytes") as progress:
        return read_labels(path, **labeling, progress=progress)


def label_rows(labels: Labels) -> Rows:
    """How labels were read."""
    (_, text), *others = input_rows(labels.origin)
    size = f"{count(len(labels), 'node')}, {labels._summary()}"
    return [("labels", text), *others, ("", size)]
