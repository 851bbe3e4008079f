"""read_sql: reads a graph from the rows of a database query, as a stream of Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Unpack
from urllib.parse import quote

import pyarrow as pa

from hopvec.address import IN_MEMORY, Address, parse_address
from hopvec.credentials import scrub
from hopvec.errors import FormatError, MissingExtraError, ParameterError
from hopvec.formats.graphs.build import graph_from_stream
from hopvec.formats.graphs.columnar import BATCH_ROWS, OPTIONS, from_reader
from hopvec.formats.graphs.options import ReadOptions, TableKeywords, merge_options
from hopvec.formats.graphs.read import OpenedEdges, check_options_apply
from hopvec.graph import Graph
from hopvec.graph.arrow import choose_table_columns
from hopvec.progress import Progress, ProgressOption, callback, no_progress

EXAMPLE = "select source, target from edges"
MISSING_PRIVILEGE = "42501"  # the SQLSTATE


def read_sql(
    query: str,
    connection: str,
    *,
    options: ReadOptions | None = None,
    progress: ProgressOption = None,
    build_progress: Progress | None = None,
    **keywords: Unpack[TableKeywords],
) -> Graph:
    """Read a graph from a database: one edge per row of a query.

    The rows are streamed; columns are detected by their names and types, as in a file, and others
    are not transferred. The query cannot change the database.

    Parameters
    ----------
    query : str
        A SQL query whose rows are edges, such as "select follower, followed from follows".
    connection : str
        The database: "postgresql://host/database", "duckdb:file.db" or "sqlite:file.db".
        "duckdb::memory:" is for queries of files. Credentials that the address of a PostgreSQL
        server lacks come from the usual places: PGUSER, PGPASSWORD, the service file, ~/.pgpass.
    options : ReadOptions, optional
        The keywords below as one record. Keywords override its fields.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the number of rows read, and 0,
        since the total is unknown.
    build_progress : callable, optional
        Called with the percentage of the graph that is built, and 100, after all rows are read.
    source, target, weight, relation, time : str or int, optional
        The columns: a name, or a number counted from 1.
    half_life, as_of, since, until : optional
        Weights by age and a window of time, as in `read_graph`.
    unweighted, directed, bipartite, prefixes, one_kind : optional
        The kind of the graph, as in `read_graph`.
    relation_weights, relation_balance, relation_direction : optional
        How relations are weighted, balanced and directed, as in `Graph.from_edges`.
    duplicates, loops, bad_rows, nodes, node_type : optional
        How the graph is built, as in `read_graph`.
    threads, memory, reserve, spill_dir : optional
        Threads and memory, as in `read_graph`.

    Returns
    -------
    Graph
        The graph; `graph.origin` has the address without credentials, the query and the columns.

    Raises
    ------
    FormatError, GraphError
        If the query fails or its rows are not a graph; the message names the address, without
        credentials, and the row.
    MissingExtraError
        If the driver of the database is not installed.
    MemoryLimitError
        If the graph needs more memory; the message says how much.

    Examples
    --------
    >>> import pathlib, sqlite3, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "graph.db")
    >>> with sqlite3.connect(path) as database:
    ...     _ = database.execute("create table follows (follower, followed, weight)")
    ...     _ = database.execute("insert into follows values ('a', 'b', 2), ('b', 'c', 3)")
    >>> read_sql("select * from follows", f"sqlite:{path}", directed=True)
    Graph(3 nodes, 2 edges, directed, weighted)
    """
    progress = callback(progress, "reading")
    options = merge_options("read_sql", options or ReadOptions(), keywords, TableKeywords)
    with open_query(query, connection, options, progress) as opened:
        stream, build_progress = opened.stream(), build_progress or no_progress
        graph = graph_from_stream(opened.name, stream, options, build_progress)
        return replace(graph, origin=opened.origin())


@contextmanager
def open_query(
    query: str, connection: str, options: ReadOptions, progress: Progress | None
) -> Iterator[OpenedEdges]:
    """Run a query whose rows are edges."""
    if not isinstance(query, str) or not query.strip(" \t\r\n;"):
        raise ParameterError(f"read_sql: query must be SQL, such as {EXAMPLE!r}, got {query!r}.")
    address = parse_address(connection if isinstance(connection, str) else "")
    options = replace(options, _query=None)
    check_options_apply(address.shown, "SQL", OPTIONS, options)
    if options.format is not None:
        raise FormatError(f"{address.shown}: format= does not apply to a database; leave it out.")
    if address.path is not None and not address.path.exists():
        raise FormatError(f"{address.shown}: there is no such file.")
    plain = query.strip(" \t\r\n;") + "\n"  # the line end closes a comment
    with READERS[address.kind](address, plain, options) as rows:
        batches = _batches(address, rows.reader, progress or no_progress)
        stream = from_reader(address.shown, rows.schema, batches, options)
        origin = {
            "file": address.shown,
            "format": "SQL",
            "kind": address.database,
            "query": " ".join(scrub(query).split()),
            "duplicates": options.duplicates or "sum",
        }
        yield OpenedEdges(address.shown, stream, lambda: origin | stream.metadata)


def _batches(
    address: Address, reader: pa.RecordBatchReader, progress: Progress
) -> Iterator[pa.RecordBatch]:
    """The rows of a query; errors of the driver become FormatError."""
    rows = 0
    while True:
        with _errors(address, rows):
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
        rows += len(batch)
        progress(rows, 0)
        yield batch


class Rows(NamedTuple):
    """The rows of a query."""

    schema: pa.Schema
    """All columns of the query."""
    reader: pa.RecordBatchReader
    """The rows, at least with the columns that are used."""


@contextmanager
def _postgresql(address: Address, query: str, options: ReadOptions) -> Iterator[Rows]:
    dbapi = _driver("adbc_driver_postgresql.dbapi", "PostgreSQL", "postgres")
    with _connected(address, lambda: dbapi.connect(address.with_timeout())) as cursor:
        with _errors(address):
            cursor.execute("SET TRANSACTION READ ONLY")
            found = cursor.adbc_execute_schema(query)
        casts = {field.name: cast for field in found if (cast := _cast(field.type))}
        schema = pa.schema(
            [
                field.with_type(casts[field.name][1]) if field.name in casts else field
                for field in found
            ]
        )
        columns = [
            f"{_quoted(name)}{casts[name][0] if name in casts else ''} AS {_quoted(name)}"
            for name in _used_columns(address, schema, options).values()
        ]
        with _errors(address):
            cursor.execute(f"SELECT {', '.join(columns)} FROM (\n{query}) AS edges")
            reader = cursor.fetch_record_batch()
        yield Rows(schema, reader)


def _cast(kind: pa.DataType) -> tuple[str, pa.DataType] | None:
    """A cast for columns that arrive as raw bytes or as text: decimals, UUIDs and others."""
    name = getattr(kind, "extension_name", "")
    if name == "arrow.opaque" and kind.type_name == "numeric":
        return "::float8", pa.float64()
    return ("::text", pa.string()) if name in ("arrow.opaque", "arrow.uuid") else None


@contextmanager
def _sqlite(address: Address, query: str, options: ReadOptions) -> Iterator[Rows]:
    dbapi = _driver("adbc_driver_sqlite.dbapi", "SQLite", "sqlite")
    uri = f"file:{quote(str(address.path and address.path.absolute()))}?mode=ro"
    with _connected(address, lambda: dbapi.connect(uri)) as cursor:

        def execute(query: str) -> pa.RecordBatchReader:
            with _errors(address):
                # SQLite has no types of columns; the driver infers them from the first batch
                cursor.adbc_statement.set_options(
                    **{"adbc.sqlite.query.batch_rows": str(BATCH_ROWS)}
                )
                cursor.execute(query)
                return cursor.fetch_record_batch()

        reader = execute(query)
        schema = reader.schema
        used = _used_columns(address, schema, options)
        weight = used.get("weight")
        if len(used) < len(schema) or (
            weight is not None and pa.types.is_integer(schema.field(weight).type)
        ):
            # without unused columns, and with weights that may be fractions in later batches
            real = "CASE typeof({0}) WHEN 'integer' THEN CAST({0} AS REAL) ELSE {0} END AS {0}"
            columns = [
                real.format(_quoted(name)) if role == "weight" else _quoted(name)
                for role, name in used.items()
            ]
            reader.close()
            reader = execute(f"SELECT {', '.join(columns)} FROM (\n{query})")
        yield Rows(schema, reader)


@contextmanager
def _duckdb(address: Address, query: str, options: ReadOptions) -> Iterator[Rows]:
    duckdb = _driver("duckdb", "DuckDB", "duckdb")
    config: dict[str, Any] = {} if options.threads is None else {"threads": options.threads}
    if options._memory_bytes is not None:
        config["memory_limit"] = f"{options._memory_bytes // 2}B"
    with _errors(address):
        database = duckdb.connect(
            address.location, read_only=address.location != IN_MEMORY, config=config
        )
    # Nothing may keep the result alive, such as the traceback of an error: the next connection to
    # this file would wait for it forever.
    with closing(database):
        rows = _duckdb_rows(address, database, query, options)
        with closing(rows.reader):
            yield rows


def _duckdb_rows(address: Address, database: Any, query: str, options: ReadOptions) -> Rows:
    def read(rows: Any) -> pa.RecordBatchReader:
        old_version = not hasattr(rows, "to_arrow_reader")
        return (rows.fetch_arrow_reader if old_version else rows.to_arrow_reader)(BATCH_ROWS)

    result = []
    try:
        with _errors(address):
            result.append(database.sql(query))
            if result[0] is None:
                raise FormatError(f"{address.shown}: the query returns no rows.")
            with closing(read(result[0].limit(0))) as empty:
                schema = empty.schema
        used = map(_quoted, _used_columns(address, schema, options).values())
        with _errors(address):
            return Rows(schema, read(result[0].project(", ".join(used))))
    finally:
        result.clear()


READERS: dict[str, Callable[[Address, str, ReadOptions], AbstractContextManager[Rows]]] = {
    "postgresql": _postgresql,
    "duckdb": _duckdb,
    "sqlite": _sqlite,
}


def _used_columns(address: Address, schema: pa.Schema, options: ReadOptions) -> dict[str, str]:
    """The names of the columns of the source, the target, the weight, ..., by role."""
    return choose_table_columns(address.shown, schema, options._columns).names(schema.names)


@contextmanager
def _connected(address: Address, connect: Callable[[], Any]) -> Iterator[Any]:
    """Connect with an ADBC driver and yield a cursor."""
    with _errors(address):
        connection = connect()
    with closing(connection), closing(connection.cursor()) as cursor:
        yield cursor


def _driver(module: str, database: str, extra: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"reading from {database} needs the {extra} extra: pip install 'hopvec[{extra}]'."
        ) from error


@contextmanager
def _errors(address: Address, rows: int = 0) -> Iterator[None]:
    """Convert errors of drivers to FormatError, without their traceback: it may hold secrets."""
    try:
        yield
    except Exception as error:
        if not _is_driver_error(error):
            raise
        raise FormatError(_message(address, error, rows)) from None


def _is_driver_error(error: Exception) -> bool:
    package = type(error).__module__.partition(".")[0]
    return package in ("adbc_driver_manager", "duckdb", "_duckdb") or isinstance(
        error, OSError | pa.ArrowException
    )


def _message(address: Address, error: Exception, rows: int) -> str:
    text = str(error) or type(error).__name__
    if "Failed to connect:" in text:
        reason = address.scrub(text.partition("Failed to connect:")[2].strip().splitlines()[0])
        return f"{address.shown}: cannot connect to PostgreSQL ({reason})."
    reason = address.scrub(_first_paragraph(text))
    if getattr(error, "sqlstate", None) == MISSING_PRIVILEGE:
        return f"{address.shown}: you do not have permission to read this ({reason})."
    after = f" after row {rows:,}" if rows else ""
    if "Type mismatch in column" in text:
        return (
            f"{address.shown}: a column has values of several types{after} ({reason}). Convert it "
            "in the query, such as CAST(source AS TEXT)."
        )
    return f"{address.shown}: the query failed{after} ({reason})."


def _first_paragraph(text: str) -> str:
    r"""The message itself, without prefixes of the driver and without the query.

    >>> _first_paragraph("INVALID: [SQLite] Failed to prepare query: no such table: x\nquery: y")
    'no such table: x'
    """
    first = text.strip().splitlines()[0]
    for prefix in ("Failed to prepare query:", "could not begin COPY:", "ERROR:", "[SQLite]"):
        first = first.rpartition(prefix)[2]
    return first.strip()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
