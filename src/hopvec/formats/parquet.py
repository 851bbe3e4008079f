""".parquet: the columns `id` and `embedding`, as pandas, polars, DuckDB and Spark read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.arrow_data import open_parquet
from hopvec.formats.atomic import atomic_write
from hopvec.formats.blocks import iter_blocks, rows_per_block
from hopvec.formats.parquet_writer import write_parquet
from hopvec.formats.preview import PREVIEW_ROWS, Preview
from hopvec.formats.table import find_columns, from_batches, schema_of
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

DTYPES = ("float32", "float16")
DIRECTORY_METADATA = "_hopvec.json"  # Spark does not read files whose names start with _


def write_embedding(embedding: Embedding, path: Path, dtype: str, progress: Progress) -> None:
    """Write one row group per block."""
    with atomic_write(path) as (file,):
        write_parquet(file, schema_of(embedding, dtype), iter_blocks(embedding, dtype, progress))


def read_embedding(path: Path, progress: Progress, memory_limit: int | None = None) -> Embedding:
    """Read a file of hopvec or of another program; see `find_columns`.

    `progress` is called with the number of rows read and the total.
    """
    import pyarrow.parquet as pq

    files = files_of(path)
    schema, footers = _schema(path, files[0]), [pq.read_metadata(file) for file in files]
    rows = sum(footer.num_rows for footer in footers)
    bytes_ = sum(
        footer.row_group(group).total_byte_size
        for footer in footers
        for group in range(footer.num_row_groups)
    )
    batch_size = rows_per_block(bytes_ // max(1, rows))  # a quarter of a block
    names = find_columns(path, schema).names

    def batches() -> Iterator[pa.RecordBatch]:
        for path in files:
            with open_parquet(path) as file:
                yield from file.iter_batches(
                    batch_size=min(batch_size, 1 << 20), columns=names, use_threads=False
                )

    return from_batches(path, schema, _with_progress(batches(), rows, progress), memory_limit)


def read_preview(path: Path) -> Preview:
    """Read the first rows; the number of rows is in the footers."""
    import pyarrow.parquet as pq

    files = files_of(path)
    counts = [pq.read_metadata(file).num_rows for file in files]
    first = next((file for file, count in zip(files, counts, strict=True) if count), files[0])
    with open_parquet(first) as file:
        schema = _schema(path, first)
        names = find_columns(path, schema).names
        rows = islice(file.iter_batches(PREVIEW_ROWS, columns=names, use_threads=False), 1)
        return Preview(from_batches(path, schema, rows), sum(counts))


def files_of(path: Path) -> list[Path]:
    """The files of an embedding: one, or those of a directory that Spark wrote."""
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise FormatError(f"{path}: there is no Parquet file in this directory.")
    return files


def _schema(path: Path, file: Path) -> pa.Schema:
    """The schema of a file, with the metadata of its directory if it has any."""
    import pyarrow.parquet as pq

    schema, metadata = pq.read_schema(file), path / DIRECTORY_METADATA
    if path.is_dir() and metadata.exists():
        return schema.with_metadata({"hopvec": metadata.read_bytes()})
    return schema


def _with_progress(
    batches: Iterable[pa.RecordBatch], rows: int, progress: Progress
) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in batches:
        yield batch
        done += len(batch)
        progress(done, rows)
