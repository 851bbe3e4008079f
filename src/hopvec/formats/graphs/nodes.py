"""Lists of nodes: a file with one id per line or a column of ids, or any sequence of ids.

A file may also have a column of types of nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from hopvec.errors import FormatError, GraphError, ParameterError
from hopvec.formats.arrow_data import arrow_errors
from hopvec.formats.graphs import columnar, text
from hopvec.formats.graphs.dialect import MAX_LINES, Dialect, first_lines
from hopvec.formats.graphs.input_file import InputFile, is_pipe
from hopvec.formats.graphs.node_rows import first_labels
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.table_file import open_table_file
from hopvec.graph.arrow import column_names, id_array, open_table, relation_array
from hopvec.graph.columns import TYPE_NAMES, find_id_column, find_type_column, id_space
from hopvec.graph.ids import as_ids, first_missing

COMMENTS = (b"# ", b"% ")  # without the space it is an id
NO_TYPES = ""  # as node_type: no column, not even one of labels
NO_SEPARATOR = "\x1f"  # a character that no line contains: the whole line is the id


class NodeList(NamedTuple):
    """Ids of nodes, with their types if the list has them."""

    ids: pa.Array
    """int64 or large_string, without nulls."""
    types: pa.Array | None = None
    """One string per id, null or empty if a node has no type; None if no types are known."""
    space: str | None = None
    """The id space of Neo4j that the ids belong to."""
    from_file: bool = False


class _Columns(NamedTuple):
    """The columns of a table of nodes, by position."""

    id: int
    type: int | None
    header: bool
    """Whether the first line names the columns."""


def read_nodes(nodes: str | PathLike[str] | Any) -> pa.Array:
    """The ids of a file, a sequence or a column, as int64 or large_string."""
    return _read(nodes, NO_TYPES).ids


def read_node_lists(nodes: Any, node_type: str | int | None = None) -> list[NodeList]:
    """The nodes of a file, a table or a sequence, or of several.

    Several are a list of paths, or the values of a dict whose keys are types. `node_type` is a
    column of types; by default the labels that Neo4j writes.
    """
    if not isinstance(nodes, Mapping):
        return [_read(some, node_type) for some in _several(nodes)]
    if node_type is not None:
        raise ParameterError(
            "read_graph: the keys of nodes= are the types already; leave node_type= out."
        )
    lists = ((str(name), _read(some, NO_TYPES)) for name, some in nodes.items())
    return [
        found._replace(types=pa.repeat(pa.scalar(name, pa.large_string()), len(found.ids)))
        for name, found in lists
    ]


def _several(nodes: Any) -> list[Any]:
    """The items of a dict or a list of paths; strings in a list are ids."""
    if isinstance(nodes, Mapping):
        return list(nodes.values())
    are_paths = isinstance(nodes, list) and nodes and all(isinstance(one, Path) for one in nodes)
    return nodes if are_paths else [nodes]


def node_files(nodes: Any) -> list[str]:
    """The paths of the files among `nodes`."""
    return [str(one) for one in _several(nodes) if isinstance(one, str | PathLike)]


def node_spaces(nodes: Any) -> set[str | None]:
    """The id spaces in the headers of files of nodes, which are not read otherwise."""
    return {_space(path) for path in node_files(nodes) if not is_pipe(path)}


def _space(path: str | PathLike[str]) -> str | None:
    with InputFile(path) as file:
        if columnar.recognize(file):
            with open_table_file(file) as table:
                names: Sequence[str] = table.schema.names
        else:
            lines = [line for _, line in first_lines(file)[:1]]
            names = [cell for line in lines for cell in Dialect(_separator(lines), 0).cells(line)]
    found = find_id_column(names)
    return None if found is None else id_space(found)


def _read(nodes: Any, node_type: str | int | None) -> NodeList:
    if isinstance(nodes, str | PathLike):
        with InputFile(nodes) as file:
            if columnar.recognize(file):
                return _from_file_of_columns(file, node_type)._replace(from_file=True)
            if text.recognize(file) is None:
                what = f"it begins with {file.head[:8]!r}" if file.head else "it is empty"
                raise FormatError(f"{file.name}: ids are read from text, Parquet or Arrow; {what}.")
            return _from_text(file, node_type)._replace(from_file=True)
    if hasattr(nodes, "__arrow_c_stream__") and column_names(nodes):
        return _from_table(f"the {type(nodes).__name__}", open_table(nodes).read_all(), node_type)
    if node_type:
        raise ParameterError(
            "read_graph: node_type= is a column of a file or a table of nodes, but nodes= is a "
            f"{type(nodes).__name__}."
        )
    ids = as_ids(nodes, "nodes")
    ids = ids if isinstance(ids, pa.Array) else pa.array(ids, pa.int64())
    if (empty := first_missing(ids)) is not None:
        raise GraphError(f"nodes, entry {empty + 1:,}: the id is empty.")
    return NodeList(ids)


def has_one_column(path: str | PathLike[str]) -> bool:
    """Whether a file holds one column of ids and not a table of several columns."""
    with InputFile(path) as file:
        if file.is_pipe:
            raise FormatError(
                f"{file.name}: this file is read twice, which a pipe does not allow. Save it first."
            )
        if columnar.recognize(file):
            with open_table_file(file) as table:
                return len(table.schema.names) == 1
        lines = [line for _, line in first_lines(file) if not line.encode().startswith(COMMENTS)]
        return _separator(lines[:MAX_LINES]) == NO_SEPARATOR


def _from_text(file: InputFile, node_type: str | int | None) -> NodeList:
    """The column named id, node or name if there is a header, else the first column."""
    numbered = [
        (number, line)
        for number, line in first_lines(file)
        if not line.encode().startswith(COMMENTS)
    ]
    if not numbered:
        raise FormatError(f"{file.name}: there are no ids in it.")
    lines = [line for _, line in numbered[:MAX_LINES]]
    separator = _separator(lines)
    first = Dialect(separator, 0).cells(lines[0])
    columns = _text_columns(file.name, first, node_type)
    dialect = Dialect(
        separator=separator,
        count=len(first),
        skip=numbered[0][0] - 1 + columns.header,
        header=columns.header,
        comments=COMMENTS,
    )
    rows = text.edge_lines(file, dialect, ReadOptions())
    parts: list[list[pa.Array]] = []
    used = [columns.id] if columns.type is None else [columns.id, columns.type]
    for part, _ in text.parse(file, rows, dialect, used):
        if (empty := first_missing(part[0])) is not None:
            line = rows.number(sum(len(ids) for ids, *_ in parts) + empty)
            raise FormatError(f"{file.name}, line {line:,}: the id is empty.")
        parts.append(part)
    if not parts:
        raise FormatError(f"{file.name}: there are no ids in it.")
    ids, *types = (pa.concat_arrays(column) for column in zip(*parts, strict=True))
    names = first if columns.header else [""] * len(first)
    return _node_list(file.name, names, columns, ids, *types)


def _separator(lines: Sequence[str]) -> str:
    """The separator of the columns; NO_SEPARATOR if a whole line is an id."""
    return next((mark for mark in "\t,;" if _splits_evenly(lines, mark)), NO_SEPARATOR)


def _splits_evenly(lines: Sequence[str], separator: str) -> bool:
    """Whether a separator splits every line into the same number of cells, two or more."""
    counts = set(map(len, map(Dialect(separator, 0).cells, lines)))
    return len(counts) == 1 and counts.pop() > 1


def _text_columns(name: str, first: list[str], node_type: str | int | None) -> _Columns:
    """The columns of a text whose first line has these cells, which may be names."""
    found = find_id_column(first)
    header = found is not None or (node_type in first and not str(node_type).isdecimal())
    id_ = 0 if found is None else first.index(found)
    return _Columns(id_, _type_column(name, first, header, node_type), header)


def _type_column(
    name: str, names: Sequence[str], header: bool, node_type: str | int | None
) -> int | None:
    """The position of the requested column of types, else of the labels that Neo4j writes."""
    if node_type == NO_TYPES:
        return None
    if node_type is None:
        found = find_type_column(names) if header else None
        return None if found is None else names.index(found)
    if header and node_type in names:
        return names.index(str(node_type))
    if str(node_type).isdecimal() and 1 <= int(node_type) <= len(names):
        return int(node_type) - 1
    have = f"the columns are {', '.join(names)}" if header else f"it has {len(names)} columns"
    raise FormatError(f"{name}: there is no column {node_type!r} for node_type=; {have}.")


def _node_list(
    name: str, names: Sequence[str], columns: _Columns, ids: pa.Array, types: pa.Array | None = None
) -> NodeList:
    """The nodes of a table with column names; of several labels, the first is the type."""
    if types is not None and columns.type is not None:
        is_labels = names[columns.type].strip().lower() in TYPE_NAMES
        types = first_labels(name, types) if is_labels else types
    return NodeList(ids, types, id_space(names[columns.id]))


def _from_file_of_columns(file: InputFile, node_type: str | int | None) -> NodeList:
    """The nodes of a Parquet or Arrow file; only the columns that are needed are read."""
    with open_table_file(file) as table:
        columns = _table_columns(file.name, table.schema.names, node_type)
        used = [table.schema.names[at] for at in columns[:2] if at is not None]
        read = table.read(used)
    with arrow_errors(file.name, table.kind):
        return _from_table(file.name, read, node_type and used[-1])  # by name


def _table_columns(name: str, names: Sequence[str], node_type: str | int | None) -> _Columns:
    """The column named id, node or name, else the only column beside that of the types."""
    type_ = _type_column(name, names, True, node_type)
    others = [column for at, column in enumerate(names) if at != type_]
    found = find_id_column(names) or (others[0] if len(others) == 1 else None)
    if found is None:
        raise FormatError(
            f"{name}: no column is named id, node or name; the columns are {', '.join(names)}."
        )
    return _Columns(names.index(found), type_, header=True)


def _from_table(name: str, table: pa.Table, node_type: str | int | None) -> NodeList:
    columns = _table_columns(name, table.column_names, node_type)
    ids = id_array(
        table.column(columns.id).combine_chunks(), lambda row: f"{name}, row {row + 1:,}"
    )
    if (empty := first_missing(ids)) is not None:
        raise FormatError(f"{name}, row {empty + 1:,}: the id is empty.")
    types = [] if columns.type is None else [table.column(columns.type).combine_chunks()]
    return _node_list(name, table.column_names, columns, ids, *map(relation_array, types))
