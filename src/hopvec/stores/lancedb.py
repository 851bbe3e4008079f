"""lancedb:folder: a table that LanceDB searches, with an index once it is large."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hopvec.errors import FormatError, MissingExtraError
from hopvec.formats.table import batches_of, schema_of
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

INDEX_FROM = 100_000
"""Below so many rows LanceDB searches all of them in milliseconds, and exactly."""


def check_place(place: Path) -> None:
    """Raises FormatError for a file; a folder that is not there is made."""
    if place.is_file():
        raise FormatError(f"{place}: this is a file. Name a folder.")


def is_ours(place: Path, table: str) -> bool | None:
    """Whether the table has the columns and the metadata that `write_table` gives one."""
    if not (place / f"{table}.lance").exists():
        return None
    connect = _connect()
    try:
        schema = connect(str(place.absolute())).open_table(table).schema
    except Exception as error:
        raise _failed(place, error) from error
    return schema.names == ["id", "embedding"] and b"hopvec" in (schema.metadata or {})


def write_table(embedding: Embedding, place: Path, table: str, progress: Progress) -> None:
    """Writes or replaces the table; the parameters become metadata of its schema.

    The new rows are seen when all are there: a run that dies before leaves the old table, or none;
    one that dies later leaves the new table without its index. LanceDB replaces a table at once,
    but lists a new one before it can be opened: a new one is made in a folder of its own first.
    """
    connect = _connect()
    failures: list[BaseException] = []
    batches = _remembering(batches_of(embedding, progress=progress, copied=True), failures)
    reader = pa.RecordBatchReader.from_batches(schema_of(embedding), batches)
    folder, part = place / f"{table}.lance", place / f".{table}.part"
    try:
        if folder.exists():
            connect(str(place.absolute())).create_table(table, reader, mode="overwrite")
        else:
            shutil.rmtree(part, ignore_errors=True)
            connect(str(part.absolute())).create_table(table, reader)
            (part / folder.name).rename(folder)
        if len(embedding) >= INDEX_FROM:
            _index(connect(str(place.absolute())).open_table(table))
    except Exception as error:
        if failures:
            raise failures[0] from None
        raise _failed(place, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _connect() -> Any:
    """What opens a folder of tables."""
    try:
        import lancedb
    except ImportError as error:
        raise MissingExtraError(
            "export to LanceDB needs the lancedb extra: pip install 'hopvec[lancedb]'."
        ) from error
    return lancedb.connect


def _failed(place: Path, error: Exception) -> FormatError:
    reason = str(error).splitlines()[0].rstrip(". ")
    return FormatError(f"{place}: cannot be written by LanceDB ({reason}).")


def _index(table: Any) -> None:
    """Builds the index for cosine similarity that keeps the vectors as they are."""
    from lancedb.index import IvfFlat

    table.create_index("embedding", config=IvfFlat(distance_type="cosine"))


def _remembering(
    batches: Iterator[pa.RecordBatch], failures: list[BaseException]
) -> Iterator[pa.RecordBatch]:
    """The batches. What goes wrong with them is kept, since LanceDB raises another error for it."""
    try:
        yield from batches
    except BaseException as error:
        failures.append(error)
        raise
