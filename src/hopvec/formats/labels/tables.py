"""Labels as pairs of a node and a label: text, Parquet, Arrow, and lines of a node and labels."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from hopvec.errors import FormatError, HopvecError
from hopvec.formats.graphs import adjacency, text
from hopvec.formats.graphs.edges import EdgeStream, column_metadata
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.table_file import open_table_file
from hopvec.graph.columns import LABELED, choose_columns, chosen_by_position_warning
from hopvec.graph.id_encoder import parse_integer_ids
from hopvec.graph.ids import first_missing
from hopvec.labels import Labels, label_array

logger: logging.Logger = logging.getLogger("hopvec")

SEPARATORS = (";", "|")  # tried within cells of labels


@dataclass(frozen=True)
class LabelOptions:
    """How to read a file of labels; see read_labels. What is None is detected from the file."""

    id_column: str | int | None = None
    label_column: str | int | None = None
    label_separator: str | None = None
    separator: str | None = None
    header: bool | None = None
    comment: str | None = None
    variable: str | None = None

    def as_edges(self) -> ReadOptions:
        """The same options for the readers of edges, with labels in the place of targets."""
        return ReadOptions(
            source=self.id_column,
            target=self.label_column,
            unweighted=True,
            separator=self.separator,
            header=self.header,
            comment=self.comment,
            _pairs=LABELED,
        )


def read_text(file: InputFile, options: LabelOptions) -> Labels:
    """Read a text file of columns with one or several labels per cell."""
    return _from_stream(file, text.read_edges(file, options.as_edges()), options)


def read_lists(file: InputFile, options: LabelOptions) -> Labels:
    """Read lines of a node and any number of labels."""
    return _from_stream(file, adjacency.read_edges(file, options.as_edges()), options)


def read_table(file: InputFile, options: LabelOptions) -> Labels:
    """Read a Parquet or Arrow file, or a directory of Parquet files."""
    with open_table_file(file) as table:
        names = table.schema.names
        columns = choose_columns(
            file.name, names, len(names), [False] * len(names), options.as_edges()._columns
        )
        if note := chosen_by_position_warning(names, columns, options.as_edges()._columns):
            logger.warning("%s: %s", file.name, note)
        chosen = table.read([names[columns.source], names[columns.target]])
    ids, labels = (column.combine_chunks() for column in chosen.columns)
    return _labels(file, ids, labels, column_metadata(names, columns), options)


def _from_stream(file: InputFile, stream: EdgeStream, options: LabelOptions) -> Labels:
    """Collect the labels of a stream of pairs."""
    ids: list[pa.Array] = []
    labels: list[pa.Array] = []
    for batch in stream.batches:
        if (empty := first_missing(batch.source)) is not None:
            location = stream.locate(sum(map(len, ids)) + empty)
            raise FormatError(f"{file.name}, {location}: the id is empty.")
        ids.append(batch.source)
        labels.append(batch.target)
    if not ids:
        raise FormatError(f"{file.name}: there are no labels in it.")
    nodes = parse_integer_ids(pa.concat_arrays(ids), whole_floats=True)
    return _labels(file, nodes, pa.concat_arrays(labels), stream.metadata, options)


def _labels(
    file: InputFile,
    ids: pa.Array,
    labels: pa.Array,
    metadata: dict[str, Any],
    options: LabelOptions,
) -> Labels:
    separator = options.label_separator
    try:
        if separator is None:
            separator = _find_separator(label_array(labels))
        result = Labels.from_pairs(ids, labels, separator=separator or None)
    except HopvecError as error:
        raise FormatError(f"{file.name}: {error}") from error
    if separator:
        metadata["label separator"] = separator
    if "columns" in metadata:
        roles = dict(zip(("source", "target"), LABELED.roles, strict=True))
        metadata["columns"] = {roles[role]: name for role, name in metadata["columns"].items()}
    return replace(result, origin=metadata)


def _find_separator(labels: pa.Array) -> str | None:
    """The separator that gives no more distinct labels than there are distinct cells."""
    import pyarrow.compute as pc

    if not pa.types.is_large_string(labels.type):
        return None
    cells = labels.drop_null().unique()
    for separator in SEPARATORS:
        if pc.any(pc.match_substring(cells, separator)).as_py():
            parts = pc.utf8_trim_whitespace(pc.split_pattern(cells, separator).flatten()).unique()
            if len(parts) <= len(cells):
                return separator
    return None
