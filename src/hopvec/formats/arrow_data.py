"""Opens Parquet and Arrow files for every reader: edges, nodes, labels, features and vectors.

Arrow trusts a file: an offset that is wrong makes it read out of bounds, which ends the process. So
columns are validated before anything else touches them, and whatever Arrow raises becomes
FormatError with the file and the row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from hopvec.errors import FormatError, HopvecError
from hopvec.machine import total_memory

if TYPE_CHECKING:
    import pyarrow.parquet as pq

BUFFER = 1 << 20  # bytes of a column chunk in memory, for row groups of any size
MAX_RATIO = 1 << 16  # of bytes before and after compression; 2^15 with Zstandard
SMALL_ALLOCATION = 1 << 30  # bytes; the size of a file is not a reason to refuse less
SMALL_FILE = 1 << 24  # bytes; files up to this size are read into memory, never memory-mapped

Source = Path | BinaryIO
"""A file by its path, or its bytes."""


def open_parquet(source: Source) -> pq.ParquetFile:
    """Open a Parquet file for reading page by page, with checksums verified where there are any.

    pre_buffer would hold the whole file in memory, and without buffer_size, whole columns of a row
    group are. A small file is read into memory, as by `open_arrow`.
    """
    import pyarrow.parquet as pq

    buffer_size = BUFFER
    if isinstance(source, Path) and source.stat().st_size <= SMALL_FILE:
        source, buffer_size = pa.BufferReader(source.read_bytes()), 0
    file = pq.ParquetFile(
        source, pre_buffer=False, buffer_size=buffer_size, page_checksum_verification=True
    )
    footer = file.metadata
    rows = [footer.row_group(group).num_rows for group in range(footer.num_row_groups)]
    if min(rows, default=0) < 0 or sum(rows) != footer.num_rows:  # Arrow aborts the process
        raise pa.ArrowInvalid(
            f"its row groups do not add up to the {footer.num_rows:,} rows that the footer declares"
        )
    return file


@contextmanager
def open_arrow(
    source: Source, options: pa.ipc.IpcReadOptions | None = None
) -> Iterator[pa.ipc.RecordBatchFileReader]:
    """Open an Arrow file; its batches stay valid if the file changes.

    A small file is read into memory: then Arrow compares the length of each buffer with the bytes
    that are there, instead of allocating what the file declares.
    """
    if not isinstance(source, Path):
        data = pa.PythonFile(source, "r")
    elif source.stat().st_size <= SMALL_FILE:
        data = pa.BufferReader(source.read_bytes())
    else:
        data = pa.OSFile(str(source))
    with data, pa.ipc.open_file(data, options=options) as reader:
        yield reader


def open_arrow_stream(stream: BinaryIO) -> pa.ipc.RecordBatchStreamReader:
    """Open an Arrow stream."""
    return pa.ipc.open_stream(pa.PythonFile(_ReadInPieces(stream), "r"))


class _ReadInPieces:
    """A stream that allocates what it reads, not what is asked for, which a file may declare."""

    closed = False

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size and (part := self._stream.read(min(size, BUFFER))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def record_batches(reader: pa.ipc.RecordBatchFileReader) -> Iterator[pa.RecordBatch]:
    """The record batches of an Arrow file."""
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def validated(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches, each validated before it is handed out."""
    for batch in batches:
        validate(batch.columns)
        yield batch


def validate(columns: Iterable[pa.Array]) -> None:
    """Raise ArrowInvalid if an offset, a length, an index or a string of the columns is invalid."""
    for column in columns:
        column.validate(full=True)


@contextmanager
def arrow_errors(
    name: str | Callable[[], str], kind: str, row: Callable[[], int] = lambda: 0
) -> Iterator[None]:
    """Convert errors of Arrow to FormatError with the file and the number of rows read.

    Running out of memory is an error of the file if it declares more than it can hold.
    """
    try:
        yield
    except HopvecError:
        raise
    except (pa.ArrowException, OSError, MemoryError, ValueError) as error:
        file = name if isinstance(name, str) else name()
        if isinstance(error, MemoryError) and not declared_too_much(error, file):
            raise
        after = f" after row {row():,}" if row() else ""
        raise FormatError(f"{file}: damaged {kind} data{after} ({reason_of(error)}).") from error


def reason_of(error: Exception) -> str:
    """The first sentence of an error of Arrow, in the words of a user."""
    reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(". ")
    if "magic bytes not found in footer" in reason:
        return "its end is missing: the file was truncated, or it is not Parquet"
    return "the file is empty" if reason == "Parquet file size is 0 bytes" else reason


def declared_too_much(error: MemoryError, file: str) -> bool:
    """Whether Arrow tried to allocate more than an intact file could need.

    That is more than the machine has, or far more than can be compressed into a file of this size.
    """
    found = re.search(r"size (\d+) failed", str(error))
    limit = total_memory()
    if Path(file).is_file():
        limit = min(limit, max(SMALL_ALLOCATION, MAX_RATIO * Path(file).stat().st_size))
    return found is not None and int(found[1]) > limit
