"""Graphs from tables of edges: all with __arrow_c_stream__ (pandas, polars, pyarrow, duckdb)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from hopvec.errors import GraphError
from hopvec.graph.columns import (
    EDGES,
    PairKind,
    Place,
    id_array,
    table_columns,
    weight_array,
)
from hopvec.graph.graph import Graph


class Wish(NamedTuple):
    """The columns that a caller asks for."""

    source: str | int | None
    target: str | int | None
    weight: str | int | None
    unweighted: bool = False

    @property
    def pairs(self) -> PairKind:
        """What the columns hold."""
        return EDGES


def from_arrow(
    table: Any,
    wish: Wish,
    directed: bool,
    duplicates: Any,
    loops: Any,
    nodes: Any,
    threads: int | None,
) -> Graph:
    """See Graph.from_arrow."""
    reader, name = open_table(table), f"the {type(table).__name__}"
    columns = table_columns(name, reader.schema, wish)
    source: list[pa.Array] = []
    target: list[pa.Array] = []
    weight: list[pa.Array] = []
    for batch in reader:
        place = _after(name, sum(map(len, source)))
        source.append(id_array(batch.column(columns.source), place))
        target.append(id_array(batch.column(columns.target), place))
        if columns.weight is not None:
            weight.append(weight_array(batch.column(columns.weight)))
    graph = Graph.from_edges(
        _joined(source),
        _joined(target),
        None if columns.weight is None else pa.chunked_array(weight, pa.float64()),
        directed=directed,
        duplicates=duplicates,
        loops=loops,
        nodes=nodes,
        threads=threads,
    )
    names = reader.schema.names
    used = {role: names[at] for role, at in columns._asdict().items() if at is not None}
    return replace(graph, origin={"columns": used})


def open_table(table: Any) -> pa.RecordBatchReader:
    """The rows of a table as a stream of record batches."""
    if not hasattr(table, "__arrow_c_stream__"):
        raise GraphError(
            f"A {type(table).__name__} is no table of edges: it has no __arrow_c_stream__, as the "
            "tables of pandas, polars, pyarrow and duckdb have."
        )
    try:
        return pa.RecordBatchReader.from_stream(table)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise GraphError(
            f"A {type(table).__name__} cannot be read as a table of edges ({error})."
        ) from error


def column_names(table: Any) -> list[str]:
    """The names of the columns of a table, which is not read for that; none if it has none."""
    schema = getattr(table, "schema", None)
    if isinstance(schema, pa.Schema):
        return list(schema.names)
    return [str(name) for name in getattr(table, "columns", [])]


def _after(name: str, rows: int) -> Place:
    return lambda row: f"{name}, row {rows + row + 1:,}"


def _joined(chunks: list[pa.Array]) -> pa.ChunkedArray:
    return pa.chunked_array(chunks, chunks[0].type if chunks else pa.int64())
