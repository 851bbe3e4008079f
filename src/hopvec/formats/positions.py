"""Map positions, stored as the columns x and y of a vector file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError, ParameterError
from hopvec.formats import EMBEDDING_FORMATS, arrow, parquet, suffix_of
from hopvec.formats.arrow_data import (
    arrow_errors,
    open_arrow,
    open_parquet,
    record_batches,
    validated,
)
from hopvec.formats.atomic import atomic_write
from hopvec.formats.table import find_columns
from hopvec.progress import Progress, no_progress

PLANE = ("x", "y")
BATCH_ROWS = 1 << 14  # copied at a time


def read_positions(path: str | PathLike[str]) -> NDArray[np.float32] | None:
    """Read positions [nodes, 2] in the order of the vectors; None if there are no columns x, y."""
    path = Path(path)
    if not can_hold_positions(path) or not path.is_file():
        return None
    with open_vectors(path) as table:
        schema = table.schema
        vector_columns = find_columns(path, schema).names
        found = [name for name in PLANE if name in schema.names and name not in vector_columns]
        if len(found) < 2 or not all(pa.types.is_floating(schema.field(n).type) for n in found):
            return None
        parts = [
            np.stack([batch.column(n).to_numpy(zero_copy_only=False) for n in PLANE], axis=1)
            for batch in table.batches(list(PLANE))
        ]
    with np.errstate(over="ignore", invalid="ignore"):  # some become infinite or NaN
        return np.concatenate([np.empty((0, 2), np.float32), *parts]).astype(np.float32)


def write_positions(
    path: str | PathLike[str],
    positions: NDArray[np.float32],
    *,
    output: str | PathLike[str] | None = None,
    progress: Progress | None = None,
) -> None:
    """Write positions into a Parquet or Arrow file of vectors, atomically.

    Columns x and y are replaced; all other columns and the metadata are unchanged. With `output`,
    the result goes to another file. `progress` is called with the number of rows written and the
    total.
    """
    path = Path(path)
    check_holds_positions(path)
    target = path if output is None else Path(output)
    report = progress or no_progress
    with open_vectors(path) as table:
        if len(positions) != table.rows:
            raise ParameterError(
                f"{path}: expected one position for each of the {table.rows:,} vectors, got "
                f"{len(positions):,}."
            )
        others = [name for name in table.schema.names if name not in PLANE]
        fields = [table.schema.field(name) for name in others]
        fields += [pa.field(name, pa.float32(), nullable=False) for name in PLANE]
        schema = pa.schema(fields, metadata=table.schema.metadata)
        done = 0
        with atomic_write(target) as (file,), _writer(target, file, schema) as writer:
            for batch in table.batches(others):
                block = positions[done : done + len(batch)].astype(np.float32)
                plane = [pa.array(np.ascontiguousarray(column)) for column in block.T]
                writer.write_batch(
                    pa.RecordBatch.from_arrays([*batch.columns, *plane], schema=schema)
                )
                done += len(batch)
                report(done, table.rows)


def can_hold_positions(path: Path) -> bool:
    """Whether files with this suffix can have additional columns."""
    return EMBEDDING_FORMATS.get(suffix_of(path)) in (parquet, arrow)


def check_holds_positions(path: Path) -> None:
    """Raise FormatError unless positions can be written into this file."""
    if not can_hold_positions(path):
        raise FormatError(
            f"{path}: positions can be stored in .parquet and .arrow files only. Convert the file "
            f"first: hopvec convert {path} {path.with_suffix('.parquet')}."
        )
    if not path.is_file():
        raise FormatError(f"{path}: there is no such file.")
    with open_vectors(path) as table:
        lists = find_columns(path, table.schema).lists
    if not lists:
        raise FormatError(
            f"{path}: its vectors have one column per dimension, so x and y would be read as two "
            f"more dimensions. Convert the file first: hopvec convert {path} vectors.parquet."
        )


class VectorTable(Protocol):
    """A Parquet or Arrow file of vectors."""

    schema: pa.Schema
    rows: int

    def batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        """Iterate over some columns in validated batches of rows."""


class _Parquet:
    def __init__(self, path: Path, file: pa.parquet.ParquetFile) -> None:
        self._path, self._file = path, file
        self.schema, self.rows = file.schema_arrow, int(file.metadata.num_rows)

    def batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        with arrow_errors(str(self._path), "Parquet"):  # not those of a file that is written
            batches = self._file.iter_batches(BATCH_ROWS, columns=names, use_threads=False)
            yield from validated(batch.select(names) for batch in batches)


class _Arrow:
    def __init__(self, path: Path, reader: pa.ipc.RecordBatchFileReader) -> None:
        self._path, self._reader = path, reader
        self.schema = reader.schema
        self.rows = sum(batch.num_rows for batch in record_batches(reader))

    def batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        with arrow_errors(str(self._path), "Arrow"):
            yield from validated(batch.select(names) for batch in record_batches(self._reader))


@contextmanager
def open_vectors(path: Path) -> Iterator[VectorTable]:
    """Open a file of vectors with all its columns."""
    is_parquet = EMBEDDING_FORMATS[suffix_of(path)] is parquet
    with arrow_errors(str(path), "Parquet" if is_parquet else "Arrow"):
        if is_parquet:
            with open_parquet(path) as file:
                yield _Parquet(path, file)
        else:
            with open_arrow(path) as reader:
                yield _Arrow(path, reader)


@contextmanager
def _writer(path: Path, file: BinaryIO, schema: pa.Schema) -> Iterator[pa.parquet.ParquetWriter]:
    """A writer of record batches in the format given by the suffix."""
    import pyarrow.parquet as pq

    if EMBEDDING_FORMATS.get(suffix_of(path)) is parquet:
        options = {"compression": "zstd", "use_dictionary": False, "write_page_checksum": True}
        with pq.ParquetWriter(file, schema, **options) as writer:
            yield writer
    else:
        with pa.ipc.new_file(file, schema) as writer:
            yield writer
