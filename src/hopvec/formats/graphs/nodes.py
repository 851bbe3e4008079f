"""Lists of node ids: a file with one id per line or a column of ids, or any sequence of ids."""

from __future__ import annotations

from os import PathLike
from typing import Any

import pyarrow as pa

from hopvec.errors import FormatError, GraphError
from hopvec.formats.arrow_data import arrow_errors
from hopvec.formats.graphs import columnar, text
from hopvec.formats.graphs.dialect import MAX_LINES, Dialect, first_lines
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.table_file import open_table_file
from hopvec.graph.arrow import id_array
from hopvec.graph.columns import find_id_column
from hopvec.graph.ids import as_ids, first_missing

COMMENTS = (b"# ", b"% ")  # without the space it is an id
NO_SEPARATOR = "\x1f"  # a character that no line contains: the whole line is the id


def read_nodes(nodes: str | PathLike[str] | Any) -> pa.Array:
    """The ids of a file, a sequence or a column, as int64 or large_string."""
    if not isinstance(nodes, str | PathLike):
        ids = as_ids(nodes, "nodes")
        ids = ids if isinstance(ids, pa.Array) else pa.array(ids, pa.int64())
        if (empty := first_missing(ids)) is not None:
            raise GraphError(f"nodes, entry {empty + 1:,}: the id is empty.")
        return ids
    with InputFile(nodes) as file:
        if columnar.recognize(file):
            return _from_table(file)
        if text.recognize(file) is None:
            what = f"it begins with {file.head[:8]!r}" if file.head else "it is empty"
            raise FormatError(f"{file.name}: ids are read from text, Parquet or Arrow; {what}.")
        return _from_text(file)


def has_one_column(path: str | PathLike[str]) -> bool:
    """Whether a file holds one column of ids and not a table of several columns."""
    with InputFile(path) as file:
        if columnar.recognize(file):
            with open_table_file(file) as table:
                return len(table.schema.names) == 1
        lines = [line for _, line in first_lines(file) if not line.encode().startswith(COMMENTS)]
        return not any(_splits_evenly(lines[:MAX_LINES], mark) for mark in "\t,;")


def _from_text(file: InputFile) -> pa.Array:
    """The column named id, node or name if there is a header, else the first column."""
    numbered = [
        (number, line)
        for number, line in first_lines(file)
        if not line.encode().startswith(COMMENTS)
    ]
    if not numbered:
        raise FormatError(f"{file.name}: there are no ids in it.")
    lines = [line for _, line in numbered[:MAX_LINES]]
    separator = next((mark for mark in "\t,;" if _splits_evenly(lines, mark)), NO_SEPARATOR)
    first = Dialect(separator, 0).cells(lines[0])
    found = find_id_column(first)
    at = None if found is None else first.index(found)
    dialect = Dialect(
        separator=separator,
        count=len(first),
        skip=numbered[0][0] - 1 + (at is not None),
        header=at is not None,
        comments=COMMENTS,
    )
    rows = text.edge_lines(file, dialect, ReadOptions())
    parts: list[pa.Array] = []
    for (ids,), _ in text.parse(file, rows, dialect, [at or 0]):
        if (empty := first_missing(ids)) is not None:
            line = rows.number(sum(map(len, parts)) + empty)
            raise FormatError(f"{file.name}, line {line:,}: the id is empty.")
        parts.append(ids)
    if not parts:
        raise FormatError(f"{file.name}: there are no ids in it.")
    return pa.concat_arrays(parts)


def _splits_evenly(lines: list[str], separator: str) -> bool:
    """Whether a separator splits every line into the same number of cells, two or more."""
    counts = set(map(len, map(Dialect(separator, 0).cells, lines)))
    return len(counts) == 1 and counts.pop() > 1


def _from_table(file: InputFile) -> pa.Array:
    """The column named id, node or name, else the only column."""
    with open_table_file(file) as table:
        names = table.schema.names
        found = find_id_column(names) or (names[0] if len(names) == 1 else None)
        if found is None:
            raise FormatError(
                f"{file.name}: no column is named id, node or name; the columns are "
                f"{', '.join(names)}."
            )
        column = table.read([found]).column(0).combine_chunks()
    with arrow_errors(file.name, table.kind):
        ids = id_array(column, lambda row: f"{file.name}, row {row + 1:,}")
    if (empty := first_missing(ids)) is not None:
        raise FormatError(f"{file.name}, row {empty + 1:,}: the id is empty.")
    return ids
