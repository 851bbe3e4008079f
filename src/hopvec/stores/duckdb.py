"""duckdb:graph.db: a table with a FLOAT[dim] column for DuckDB's array functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hopvec.errors import FormatError, MissingExtraError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.destination import check_writable
from hopvec.formats.metadata import is_metadata_json, to_json
from hopvec.formats.table import COLUMNS, batches_of
from hopvec.machine import available_memory
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

LOCATION = "duckdb:<path>"
INDEX = False
TABLES = True
MEMORY = ":memory:"  # the prefix of DuckDB's names of databases in memory
MAGIC = b"DUCK"  # of a database file, after a checksum of eight bytes


def check_location(location: str) -> None:
    """Raise FormatError unless the path is that of a DuckDB database or of a new file.

    DuckDB would open a CSV, JSON or Parquet file as a view in memory, and lose what is written.
    """
    if location.startswith(MEMORY):
        raise FormatError(
            f"{location}: a database in memory is lost when hopvec exits. Name a file, such as "
            "duckdb:graph.db."
        )
    path = Path(location)
    check_writable(path)
    if path.exists() and not _is_database(path):
        raise FormatError(f"{path}: this file is not a DuckDB database. Choose another name.")


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(8 + len(MAGIC))[8:] == MAGIC


def is_ours(location: str, table: str) -> bool | None:
    """Whether the table has the columns and the comment that `write_table` creates."""
    path = Path(location)
    if not path.exists():
        return None
    with _connected(path) as connection:
        found = connection.execute(  # DuckDB ignores the case of names
            "SELECT comment FROM duckdb_tables() WHERE database_name = current_database() "
            "AND schema_name = 'main' AND lower(table_name) = lower(?)",
            [table],
        ).fetchone()
        if found is None:
            return None
        columns = connection.execute(f'SELECT * FROM main."{table}" LIMIT 0').description
    names = [name for name, *_ in columns]
    return names in COLUMNS and is_metadata_json(found[0] or "")


def write_table(
    embedding: Embedding, location: str, table: str, *, index: bool, progress: Progress
) -> None:
    """Create or replace the table in one transaction; the metadata becomes its comment.

    Other tables are unchanged. If the process dies, the old table remains, if there was one.
    """
    path = Path(location)
    created, done = not path.exists(), False
    try:
        if created:
            _create(path)
        with _connected(path) as connection:
            _fill(connection, embedding, table, progress)
        done = True
    finally:
        if created and not done:
            path.unlink(missing_ok=True)
            path.with_name(f"{path.name}.wal").unlink(missing_ok=True)


def _create(path: Path) -> None:
    """Write an empty database at once: one that DuckDB has written in part cannot be opened."""
    with TemporaryDirectory(prefix="hopvec-") as directory:
        empty = Path(directory) / "empty.db"
        with _connected(empty):
            pass
        content = empty.read_bytes()
    with atomic_write(path) as (file,):
        file.write(content)


@contextmanager
def _connected(path: Path) -> Iterator[Any]:
    """Connect to the database; errors of DuckDB are raised as FormatError."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtraError(
            "export to DuckDB needs the duckdb extra: pip install 'hopvec[duckdb]'."
        ) from error
    try:
        with duckdb.connect(str(path.absolute())) as connection:
            yield connection
    except duckdb.Error as error:
        reason = str(error).splitlines()[0].rstrip(". ")
        raise FormatError(f"{path}: cannot be written by DuckDB ({reason}).") from error


def _fill(connection: Any, embedding: Embedding, table: str, progress: Progress) -> None:
    """Create the table and insert all blocks. The name is a valid identifier, and quoted."""
    id_type = "BIGINT" if pa.types.is_integer(embedding.ids.type) else "VARCHAR"
    block = f"{table}_block"  # must differ from the name of the table, which it would hide
    comment = to_json(embedding).replace("'", "''")
    connection.execute(f"SET memory_limit = '{available_memory() // 2}B'")  # beyond, it spills
    connection.execute("BEGIN TRANSACTION")
    types = "" if embedding.types is None else "type VARCHAR, "
    connection.execute(
        f'CREATE OR REPLACE TABLE "{table}" '
        f"(id {id_type} NOT NULL, {types}embedding FLOAT[{embedding.dim}] NOT NULL)"
    )
    for batch in batches_of(embedding, progress=progress):
        connection.register(block, pa.Table.from_batches([batch]))
        connection.execute(f'INSERT INTO "{table}" BY NAME SELECT * FROM "{block}"')
        connection.unregister(block)
    connection.execute(f"COMMENT ON TABLE \"{table}\" IS '{comment}'")
    connection.execute("COMMIT")
