"""read_labels: from a file of any format to Labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from os import PathLike
from typing import NamedTuple

from hopvec.errors import FormatError
from hopvec.formats.graphs import adjacency, columnar, matlab, numpy_archive, text
from hopvec.formats.graphs.edges import GraphFormat
from hopvec.formats.graphs.read import choose_format
from hopvec.formats.graphs.source import Source
from hopvec.formats.labels.matrices import read_archive, read_group
from hopvec.formats.labels.tables import LabelOptions, read_lists, read_table, read_text
from hopvec.labels import Labels
from hopvec.progress import Progress


class LabelFormat(NamedTuple):
    """How a format of graphs is read for labels."""

    module: GraphFormat
    """Tells by content or suffix that it is this one."""
    read: Callable[[Source, LabelOptions], Labels]
    options: frozenset[str]
    """The LabelOptions that mean something for it; others are refused."""


COLUMNS = frozenset({"id_column", "label_column", "label_separator"})
# By content in this order, as for graphs.
LABEL_FORMATS = {
    "columnar": LabelFormat(columnar, read_table, COLUMNS),
    "npz": LabelFormat(numpy_archive, read_archive, frozenset()),
    "matlab": LabelFormat(matlab, read_group, frozenset({"variable"})),
    "adjacency": LabelFormat(adjacency, read_lists, frozenset({"separator"})),
    "text": LabelFormat(text, read_text, COLUMNS | {"separator", "header", "comment"}),
}


def read_labels(
    path: str | PathLike[str],
    *,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    label_separator: str | None = None,
    format: str | None = None,  # noqa: A002  (the word people look for)
    separator: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    variable: str | None = None,
    progress: Progress | None = None,
) -> Labels:
    """The labels of a file: text, Parquet, Arrow, `group` of .mat, `label` of .npz.

    A table has a node and its label in a row, or all its labels in one cell, between ";" or "|"
    (`label_separator` names another, or is empty where a cell is one label). An empty cell is no
    label. Columns are named, or numbered from 1 on; not said, they are those called id, node, name
    and label, class, group, category, else the first two. `format="adjacency"` reads lines of a
    node and its labels. Matrices have the nodes 0 .. n-1, as `read_graph` numbers them; `variable`
    names one of a .mat file. "-" is standard input. `labels.origin` tells what was found.
    `progress` is called with the bytes read and those of the file.

    Raises FormatError naming the file and the place.
    """
    options = LabelOptions(
        id_column, label_column, label_separator, separator, header, comment, variable
    )
    with Source(path, progress) as source:
        modules = {name: found.module for name, found in LABEL_FORMATS.items()}
        name, because = choose_format(source, format, modules, "labels")
        _refuse_unused(source, name, options)
        labels = LABEL_FORMATS[name].read(source, options)
        origin = {"file": source.name, "format": name, "because": because}
    return replace(labels, origin=origin | labels.origin)


def _refuse_unused(source: Source, name: str, options: LabelOptions) -> None:
    for field in fields(options):
        if (
            getattr(options, field.name) is not None
            and field.name not in LABEL_FORMATS[name].options
        ):
            raise FormatError(
                f"{source.name}: {field.name} means nothing for labels of the format {name}; leave "
                "it out."
            )
