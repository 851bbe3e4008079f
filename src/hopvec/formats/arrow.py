""".arrow and .feather: an Arrow IPC file with the columns `id` and `embedding`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from hopvec.formats.arrow_data import open_arrow
from hopvec.formats.atomic import atomic_write
from hopvec.formats.preview import PREVIEW_ROWS, Preview
from hopvec.formats.table import batches_of, find_columns, from_batches, schema_of
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

DTYPES = ("float32", "float16")


def write_embedding(embedding: Embedding, path: Path, dtype: str, progress: Progress) -> None:
    """Write one record batch per block."""
    with (
        atomic_write(path) as (file,),
        pa.ipc.new_file(file, schema_of(embedding, dtype)) as writer,
    ):
        for batch in batches_of(embedding, dtype, progress):
            writer.write_batch(batch)


def read_embedding(path: Path, progress: Progress, memory_limit: int | None = None) -> Embedding:
    """Read a file of hopvec or of another program; see `find_columns`.

    `progress` is called with the number of record batches read and the total.
    """
    with open_arrow(path) as reader:
        return from_batches(path, reader.schema, _batches(path, reader, progress), memory_limit)


def read_preview(path: Path) -> Preview:
    """Read the first rows, and the ids of all rows to count them."""
    with open_arrow(path) as reader:
        columns = find_columns(path, reader.schema)
        count = min(1, reader.num_record_batches)
        first = [reader.get_batch(n).select(columns.names)[:PREVIEW_ROWS] for n in range(count)]
        embedding = from_batches(path, reader.schema, first)
        options = pa.ipc.IpcReadOptions(included_fields=[reader.schema.names.index(columns.id)])
    with open_arrow(path, options) as reader:
        rows = (reader.get_batch(number).num_rows for number in range(reader.num_record_batches))
        return Preview(embedding, sum(rows))


def _batches(
    path: Path, reader: pa.RecordBatchFileReader, progress: Progress
) -> Iterator[pa.RecordBatch]:
    names, count = find_columns(path, reader.schema).names, reader.num_record_batches
    for number in range(count):
        yield reader.get_batch(number).select(names)
        progress(number + 1, count)
