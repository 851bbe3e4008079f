"""Graphs from Arrow tables: anything with __arrow_c_stream__ (pandas, polars, pyarrow, duckdb)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from hopvec.errors import FormatError, GraphError
from hopvec.graph.columns import (
    ColumnSpec,
    EdgeColumns,
    choose_columns,
    differ_in_kind,
    shared_ids_error,
)
from hopvec.graph.graph import Graph
from hopvec.graph.ids import first_fraction

STRING_TYPES = ("string", "large_string", "string_view", "binary", "large_binary", "null")

WHOLE_FLOATS = "numbers such as 1.0, read as integers"  # for the run report

Locate = Callable[[int], str]
"""Where a row is, counted from 0, for error messages: 'line 48,213'."""


def from_arrow(
    table: Any,
    spec: ColumnSpec,
    one_kind: bool,
    **options: Any,
) -> Graph:
    """See Graph.from_arrow."""
    reader, name = open_table(table), f"the {type(table).__name__}"
    columns = choose_table_columns(name, reader.schema, spec)
    source: list[pa.Array] = []
    target: list[pa.Array] = []
    weight: list[pa.Array] = []
    relation: list[pa.Array] = []
    time: list[pa.Array] = []
    for batch in reader:
        locate = _locate_after(name, sum(map(len, source)))
        _validate(batch, columns, locate)
        source.append(id_array(batch.column(columns.source), locate))
        target.append(id_array(batch.column(columns.target), locate))
        if columns.weight is not None:
            weight.append(weight_array(batch.column(columns.weight)))
        if columns.relation is not None:
            relation.append(relation_array(batch.column(columns.relation)))
        if columns.time is not None:
            time.append(batch.column(columns.time))
    sources, targets = _concatenated(source), _concatenated(target)
    names = [reader.schema.names[at] for at in (columns.source, columns.target)]
    if not one_kind and differ_in_kind(*names):
        import pyarrow.compute as pc

        shared = sources.filter(pc.is_in(sources, value_set=targets.combine_chunks()))
        if len(shared):
            remedy = "Use Graph.from_bipartite with prefixes=('user:', 'item:')"
            raise shared_ids_error(name, names, shared[0].as_py(), remedy)
    graph = Graph.from_edges(
        sources,
        targets,
        None if columns.weight is None else pa.chunked_array(weight, pa.float64()),
        relation=None if not relation else pa.chunked_array(relation, pa.large_string()),
        time=None if columns.time is None else _concatenated(time),
        **options,
    )
    origin: dict[str, Any] = {"columns": columns.names(reader.schema.names)}
    if any(
        pa.types.is_floating(reader.schema.types[at]) for at in (columns.source, columns.target)
    ):
        origin["ids"] = WHOLE_FLOATS
    return replace(graph, origin=origin | graph.origin)


def _validate(batch: pa.RecordBatch, columns: EdgeColumns, locate: Locate) -> None:
    """Raise FormatError if a column is damaged, such as strings that are not UTF-8."""
    for name in columns.names(batch.schema.names).values():
        try:
            batch.column(name).validate(full=True)
            if "binary" in str(batch.schema.field(name).type):
                batch.column(name).cast(pa.large_string())  # which checks that it is UTF-8
        except pa.ArrowException as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise FormatError(
                f"{locate(0)} or later: the column {name!r} cannot be read ({reason})."
            ) from error


def open_table(table: Any) -> pa.RecordBatchReader:
    """Open a table as a stream of record batches."""
    if not hasattr(table, "__arrow_c_stream__"):
        raise GraphError(
            f"A {type(table).__name__} is not a table of edges: it has no __arrow_c_stream__, "
            "unlike the tables of pandas, polars, pyarrow and duckdb."
        )
    try:
        return pa.RecordBatchReader.from_stream(table)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise GraphError(
            f"A {type(table).__name__} cannot be read as a table of edges ({error})."
        ) from error


def column_names(table: Any) -> list[str]:
    """The column names of a table, without reading it; empty if it has none."""
    schema = getattr(table, "schema", None)
    if isinstance(schema, pa.Schema):
        return list(schema.names)
    return [str(name) for name in getattr(table, "columns", [])]


def choose_table_columns(location: str, schema: pa.Schema, spec: ColumnSpec) -> EdgeColumns:
    """Choose the columns of an Arrow table; raise FormatError if their types are unsuitable."""
    names = schema.names
    numeric = [is_numeric(kind) for kind in schema.types]
    columns = choose_columns(location, names, len(names), numeric, spec)
    if {"id", "embedding"} <= {*names[:3]} and names[0] == "id" and spec.target is None:
        raise FormatError(f"{location}: this is an embedding (a table of vectors), not a graph.")
    for role, name in columns.names(names).items():
        if names.count(name) > 1:
            raise FormatError(f"{location}: two columns are named {name!r}; rename one of them.")
        kind = _storage_type(schema.field(name).type)
        if role == "weight":
            if not (is_numeric(kind) or pa.types.is_boolean(kind)):
                raise FormatError(
                    f"{location}: the column {name!r} holds {kind}, but weights are numbers. "
                    "Choose another column with weight=, or ignore it with unweighted=True."
                )
        elif role == "relation":
            if not (_is_id_type(kind) or pa.types.is_boolean(kind)):
                raise FormatError(
                    f"{location}: the column {name!r} holds {kind}, but relations are strings or "
                    "integers. Choose another column with relation=."
                )
        elif role != "time" and not _is_id_type(kind):
            raise FormatError(
                f"{location}: the column {name!r} for the {role} holds {kind}; ids are integers or "
                "strings."
            )
    return columns


def id_array(array: pa.Array, locate: Locate) -> pa.Array:
    """The ids of a column as int64 or large_string; nulls are preserved."""
    if isinstance(array, pa.ExtensionArray):
        return id_array(array.storage, locate)
    if pa.types.is_dictionary(array.type):
        values = id_array(array.dictionary, locate)  # Arrow cannot decode a dictionary of views
        return pa.DictionaryArray.from_arrays(array.indices, values).dictionary_decode()
    if not is_numeric(array.type):
        return array.cast(pa.large_string())
    if pa.types.is_floating(array.type):
        return _whole_numbers(array, locate)
    try:
        return array.cast(pa.int64())
    except pa.ArrowInvalid as error:
        row, value = _first_beyond_64_bits(array)
        raise FormatError(
            f"{locate(row)}: the id {value} is out of range; integer ids must fit in a signed "
            "64-bit integer."
        ) from error


def _whole_numbers(array: pa.Array, locate: Locate) -> pa.Array:
    """Floating-point ids as int64; NaN becomes null. Raises FormatError for a fraction."""
    numbers = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    missing = np.isnan(numbers)
    numbers = np.where(missing, 0, numbers)
    if (row := first_fraction(numbers)) is not None:
        raise FormatError(
            f"{locate(row)}: the id {numbers[row]:g} is a fraction; ids are integers or strings."
        )
    return pa.array(numbers.astype(np.int64), mask=missing)


def relation_array(array: pa.Array) -> pa.Array:
    """The relations of a column as large_string; nulls are preserved."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        return relation_array(array.dictionary).take(array.indices)
    return array.cast(pa.large_string())


def weight_array(array: pa.Array) -> pa.Array:
    """The weights of a column as float64; nulls are preserved."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    return array.cast(pa.float64(), safe=False)


def is_numeric(kind: pa.DataType) -> bool:
    """Whether values of an Arrow type are numbers."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _is_id_type(kind: pa.DataType) -> bool:
    if pa.types.is_decimal(kind):
        return bool(kind.scale == 0)
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(numbers) or str(kind) in STRING_TYPES


def _storage_type(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        return _storage_type(kind.storage_type)
    return _storage_type(kind.value_type) if pa.types.is_dictionary(kind) else kind


def _first_beyond_64_bits(array: pa.Array) -> tuple[int, int]:
    limits = np.iinfo(np.int64)
    return next(
        (row, value)
        for row, value in enumerate(array.to_pylist())
        if value is not None and not limits.min <= value <= limits.max
    )


def _locate_after(name: str, rows: int) -> Locate:
    return lambda row: f"{name}, row {rows + row + 1:,}"


def _concatenated(chunks: list[pa.Array]) -> pa.ChunkedArray:
    return pa.chunked_array(chunks, chunks[0].type if chunks else pa.int64())
