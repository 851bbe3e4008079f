"""read_labels: reads labels from a file of any supported format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from os import PathLike
from typing import NamedTuple

from hopvec.errors import FormatError
from hopvec.formats.graphs import adjacency, columnar, matlab, numpy_archive, text
from hopvec.formats.graphs.edges import GraphFormat
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.read import choose_format
from hopvec.formats.labels.matrices import read_archive, read_group
from hopvec.formats.labels.tables import LabelOptions, read_lists, read_table, read_text
from hopvec.labels import Labels
from hopvec.progress import ProgressOption, callback


class LabelFormat(NamedTuple):
    """How labels are read from a graph format."""

    module: GraphFormat
    """Recognizes the format by content or suffix."""
    read: Callable[[InputFile, LabelOptions], Labels]
    options: frozenset[str]
    """The LabelOptions that apply to the format; others are refused."""


COLUMN_OPTIONS = frozenset({"id_column", "label_column", "label_separator"})
# The order in which formats are recognized by content, as for graphs.
LABEL_FORMATS = {
    "columnar": LabelFormat(columnar, read_table, COLUMN_OPTIONS),
    "npz": LabelFormat(numpy_archive, read_archive, frozenset()),
    "matlab": LabelFormat(matlab, read_group, frozenset({"variable"})),
    "adjacency": LabelFormat(adjacency, read_lists, frozenset({"separator"})),
    "text": LabelFormat(text, read_text, COLUMN_OPTIONS | {"separator", "header", "comment"}),
}


def read_labels(
    path: str | PathLike[str],
    *,
    id_column: str | int | None = None,
    label_column: str | int | None = None,
    label_separator: str | None = None,
    format: str | None = None,  # noqa: A002  (the usual name)
    separator: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    variable: str | None = None,
    progress: ProgressOption = None,
) -> Labels:
    r"""Read labels of nodes from a file.

    Text, Parquet, Arrow, MATLAB (.mat) and NumPy (.npz) files are read. Each row of a table has a
    node and one label, or all its labels in one cell, separated by ";" or "|". An empty cell is a
    node without a label. The nodes of .mat and .npz files are 0 to n - 1, as in `read_graph`.

    Parameters
    ----------
    path : str or path-like
        The file; "-" is standard input.
    id_column, label_column : str or int, optional
        Columns by name, or by number starting at 1. Default: columns called id, node, name and
        label, class, group, category, else the first two.
    label_separator : str, optional
        The separator of labels within a cell; empty if each cell is one label.
    format : str, optional
        The format of the file. "adjacency" reads lines of a node and its labels.
    separator, header, comment
        The column separator, whether there is a header, and the prefix of comment lines, as in
        `read_graph`.
    variable : str, optional
        The matrix of a .mat file, by default `group`.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the number of bytes read and the
        size of the file.

    Returns
    -------
    Labels
        `labels.origin` records how the file was read.

    Raises
    ------
    FormatError
        If the file cannot be read; the message gives the location and the cause.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "people.csv")
    >>> _ = path.write_text("name,age,country\nann,30,DE\nbob,41,TR\ncem,25,DE\n")
    >>> read_labels(path, label_column="country")
    Labels(3 nodes, 3 of them labeled, 2 classes, one label each)
    """
    progress = callback(progress, "reading")
    options = LabelOptions(
        id_column, label_column, label_separator, separator, header, comment, variable
    )
    with InputFile(path, progress) as file:
        modules = {name: found.module for name, found in LABEL_FORMATS.items()}
        name, because = choose_format(file, format, modules, "labels")
        _refuse_unused(file, name, options)
        labels = LABEL_FORMATS[name].read(file, options)
        origin = {"file": file.name, "format": name, "because": because}
    return replace(labels, origin=origin | labels.origin)


def _refuse_unused(file: InputFile, name: str, options: LabelOptions) -> None:
    for field in fields(options):
        if (
            getattr(options, field.name) is not None
            and field.name not in LABEL_FORMATS[name].options
        ):
            raise FormatError(
                f"{file.name}: {field.name}= does not apply to labels in the format {name}; "
                "leave it out."
            )
