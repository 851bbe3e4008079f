"""lancedb:directory: a LanceDB table, with an index if it is large."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hopvec.errors import FormatError, MissingExtraError
from hopvec.formats.table import COLUMNS, batches_of, schema_of
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

LOCATION = "lancedb:<path>"
CHECKED_ROWS = 1 << 14  # that are read at a time
INDEX = False  # large tables always have one
TABLES = True
MIN_INDEXED_ROWS = 100_000  # an exact search of fewer rows takes milliseconds


def check_location(location: str) -> None:
    """Raise FormatError if the path is a file; a missing directory is created later."""
    path = Path(location)
    if path.is_file():
        raise FormatError(f"{path}: this is a file. Name a directory.")


def is_ours(location: str, table: str) -> bool | None:
    """Whether the table has the columns and the metadata that `write_table` creates."""
    path = Path(location)
    if not (path / f"{table}.lance").exists():
        return None
    connect = _connect()
    try:
        schema = connect(str(path.absolute())).open_table(table).schema
    except Exception as error:
        raise _failed(path, error) from error
    return schema.names in COLUMNS and b"hopvec" in (schema.metadata or {})


def write_table(
    embedding: Embedding, location: str, table: str, *, index: bool, progress: Progress
) -> None:
    """Create or replace the table; the metadata becomes that of its schema.

    If the process dies before all rows are written, the old table remains, if there was one; if it
    dies later, the new table has no index. LanceDB replaces a table atomically, but lists a new one
    before it can be opened, so a new table is created in a temporary directory and moved.
    """
    connect = _connect()
    path = Path(location)
    failures: list[BaseException] = []
    batches = _recording(batches_of(embedding, progress=progress, copied=True), failures)
    reader = pa.RecordBatchReader.from_batches(schema_of(embedding), batches)
    directory, part = path / f"{table}.lance", path / f".{table}.part"
    try:
        if directory.exists():
            _overwrite(connect(str(path.absolute())), table, reader)
        else:
            shutil.rmtree(part, ignore_errors=True)
            _check_readable(connect(str(part.absolute())).create_table(table, reader))
            (part / directory.name).rename(directory)
        if len(embedding) >= MIN_INDEXED_ROWS:
            _create_index(connect(str(path.absolute())).open_table(table))
    except Exception as error:
        if failures:
            raise failures[0] from None
        raise _failed(path, error) from error
    finally:
        with suppress(OSError):  # Python does not ignore errors of closing a directory
            shutil.rmtree(part, ignore_errors=True)


def _overwrite(database: Any, table: str, reader: pa.RecordBatchReader) -> None:
    """Replace a table; restore the old rows if the new ones cannot be read."""
    old = database.open_table(table).version
    new = database.create_table(table, reader, mode="overwrite")
    try:
        _check_readable(new)
    except Exception:
        new.restore(old)
        raise


def _check_readable(table: Any) -> None:
    """Read all rows, in parts: LanceDB does not report every error of the disk while it writes."""
    for first in range(0, table.count_rows(), CHECKED_ROWS):
        table.search().offset(first).limit(CHECKED_ROWS).to_arrow()


def _connect() -> Any:
    """The function that opens a directory of tables."""
    try:
        import lancedb
    except ImportError as error:
        raise MissingExtraError(
            "export to LanceDB needs the lancedb extra: pip install 'hopvec[lancedb]'."
        ) from error
    return lancedb.connect


def _failed(path: Path, error: Exception) -> FormatError:
    reason = str(error).splitlines()[0].rstrip(". ")
    return FormatError(f"{path}: cannot be written by LanceDB ({reason}).")


def _create_index(table: Any) -> None:
    """Create an index for cosine similarity that stores the vectors uncompressed."""
    from lancedb.index import IvfFlat

    table.create_index("embedding", config=IvfFlat(distance_type="cosine"))


def _recording(
    batches: Iterator[pa.RecordBatch], failures: list[BaseException]
) -> Iterator[pa.RecordBatch]:
    """The batches; an error in them is recorded, since LanceDB raises another one in its place."""
    try:
        yield from batches
    except BaseException as error:
        failures.append(error)
        raise
