"""The options that say how labels are read, the same for every verb that reads them."""

from __future__ import annotations

from typing import Any

from hopvec.cli.summary import Rows, count, input_rows
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import Declared, Function, gathered_options
from hopvec.formats.labels.read import read_labels
from hopvec.labels import Labels

COLUMNS = 3  # options that say which columns count, the first ones
OPTIONS: Declared = [
    ("--id-column", {"metavar": "COLUMN", "help": "Column of ids: its name or number."}),
    ("--label-column", {"metavar": "COLUMN", "help": "Column of labels."}),
    (
        "--label-separator",
        {
            "metavar": "TEXT",
            "help": "What stands between labels in one cell; '' where a cell is one label.",
        },
    ),
    ("--format", {"metavar": "NAME", "help": "Format of the labels, where it is not seen."}),
    ("--separator", {"metavar": "TEXT", "help": "What stands between columns."}),
    ("--header/--no-header", {"default": None, "help": "Whether line 1 holds column names."}),
    ("--comment", {"metavar": "TEXT", "help": "What lines begin with that are no labels."}),
    ("--variable", {"metavar": "NAME", "help": "Matrix of a .mat file.  [default: group]"}),
]


def label_options(function: Function) -> Function:
    """Adds the options of reading labels; they arrive as one dict `labeling`."""
    return gathered_options("labeling", OPTIONS, "Labels")(function)


def label_column_options(function: Function) -> Function:
    """Adds those that say which columns count, beside the options of reading a graph."""
    return gathered_options("labeling", OPTIONS[:COLUMNS], "Labels")(function)


def read_label_file(terminal: Terminal, path: str, labeling: dict[str, Any]) -> Labels:
    """The labels of a file; "-" is standard input."""
    name = "standard input" if path == "-" else path
    with terminal.progress(f"reading {name}", "bytes") as progress:
        return read_labels(path, **labeling, progress=progress)


def label_rows(labels: Labels) -> Rows:
    """How labels were understood."""
    (_, text), *others = input_rows(labels.origin)
    facts = f"{count(len(labels), 'node')}, {labels.summary()}"
    return [("labels", text), *others, ("", facts)]
