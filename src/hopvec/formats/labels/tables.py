"""Labels as pairs of node and label: text, Parquet, Arrow, and lists of a node and its labels."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from hopvec.errors import FormatError, HopvecError
from hopvec.formats.graphs import adjacency, text
from hopvec.formats.graphs.edges import EdgeStream, column_metadata
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.source import Source
from hopvec.graph.columns import LABELED, choose_columns, chosen_by_position_warning
from hopvec.graph.id_encoder import parse_integer_ids
from hopvec.graph.ids import first_missing
from hopvec.labels import Labels, label_array

logger = logging.getLogger("hopvec")

SEPARATORS = (";", "|")  # that cells of labels are searched for


@dataclass(frozen=True)
class LabelOptions:
    """What a caller says about a file of labels. None: found out by looking."""

    id_column: str | int | None = None
    """The column of ids: its name, or its number from 1 on."""
    label_column: str | int | None = None
    label_separator: str | None = None
    """What stands between the labels in one cell; an empty text where a cell is one label."""
    separator: str | None = None
    """What stands between two columns."""
    header: bool | None = None
    comment: str | None = None
    variable: str | None = None
    """The matrix to take of a file with several."""

    def as_edges(self) -> ReadOptions:
        """The same for readers of edges: a node and its label are a pair as two nodes are."""
        return ReadOptions(
            source=self.id_column,
            target=self.label_column,
            unweighted=True,
            separator=self.separator,
            header=self.header,
            comment=self.comment,
            pairs=LABELED,
        )


def read_text(source: Source, options: LabelOptions) -> Labels:
    """The labels of a text of columns: a pair a line, or several labels in a cell."""
    return _from_stream(source, text.read_edges(source, options.as_edges()), options)


def read_lists(source: Source, options: LabelOptions) -> Labels:
    """The labels of lines of a node and its labels, however many."""
    return _from_stream(source, adjacency.read_edges(source, options.as_edges()), options)


def read_table(source: Source, options: LabelOptions) -> Labels:
    """The labels of a Parquet or Arrow file, or of a folder of Parquet files."""
    import pyarrow.dataset as ds

    if source.path is None or source.compression:
        raise FormatError(f"{source.name}: labels are read from a Parquet file as it is on disk.")
    kind = "parquet" if source.is_directory or source.head.startswith(b"PAR1") else "ipc"
    try:
        table = ds.dataset(source.path, format=kind)
        names = table.schema.names
        columns = choose_columns(
            source.name, names, len(names), [False] * len(names), options.as_edges().columns
        )
        if note := chosen_by_position_warning(names, columns, options.as_edges().columns):
            logger.warning("%s: %s", source.name, note)
        chosen = table.to_table(columns=[names[columns.source], names[columns.target]])
        ids, labels = (column.combine_chunks() for column in chosen.columns)
    except pa.ArrowException as error:
        raise FormatError(f"{source.name}: the labels cannot be read ({error}).") from error
    return _labels(source, ids, labels, column_metadata(names, columns), options)


def _from_stream(source: Source, stream: EdgeStream, options: LabelOptions) -> Labels:
    """The labels of pairs that come in batches."""
    ids: list[pa.Array] = []
    labels: list[pa.Array] = []
    for batch in stream.batches:
        if (empty := first_missing(batch.source)) is not None:
            place = stream.locate(sum(map(len, ids)) + empty)
            raise FormatError(f"{source.name}, {place}: the id is empty.")
        ids.append(batch.source)
        labels.append(batch.target)
    if not ids:
        raise FormatError(f"{source.name}: there are no labels in it.")
    nodes = parse_integer_ids(pa.concat_arrays(ids))
    return _labels(source, nodes, pa.concat_arrays(labels), stream.metadata, options)


def _labels(
    source: Source, ids: pa.Array, labels: pa.Array, metadata: dict[str, Any], options: LabelOptions
) -> Labels:
    separator = options.label_separator
    try:
        if separator is None:
            separator = _label_separator(label_array(labels))
        found = Labels.from_pairs(ids, labels, separator=separator or None)
    except HopvecError as error:
        raise FormatError(f"{source.name}: {error}") from error
    if separator:
        metadata["label separator"] = separator
    if "columns" in metadata:
        words = dict(zip(("source", "target"), LABELED.roles, strict=True))
        metadata["columns"] = {words[role]: name for role, name in metadata["columns"].items()}
    return replace(found, origin=metadata)


def _label_separator(labels: pa.Array) -> str | None:
    """What divides the labels of a cell: what makes no more different labels than cells."""
    import pyarrow.compute as pc

    if not pa.types.is_large_string(labels.type):
        return None
    cells = labels.drop_null().unique()
    for mark in SEPARATORS:
        if pc.any(pc.match_substring(cells, mark)).as_py():
            parts = pc.utf8_trim_whitespace(pc.split_pattern(cells, mark).flatten()).unique()
            if len(parts) <= len(cells):
                return mark
    return None
