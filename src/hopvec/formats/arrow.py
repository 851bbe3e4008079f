"""vectors.arrow or .feather: an Arrow IPC file with the columns `id` and `embedding`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from hopvec.formats.replace import replacing
from hopvec.formats.rows import Progress
from hopvec.formats.table import batches_of, find_columns, from_batches, schema_of

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

DTYPES = ("float32", "float16")


def write_embedding(embedding: Embedding, path: Path, dtype: str, progress: Progress) -> None:
    """Writes one record batch a block."""
    with (
        replacing(path) as (file,),
        pa.ipc.new_file(file, schema_of(embedding, dtype)) as writer,
    ):
        for batch in batches_of(embedding, dtype, progress):
            writer.write_batch(batch)


def read_embedding(path: Path) -> Embedding:
    """Reads vectors of hopvec, or of others where it is plain which columns hold them."""
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        names = find_columns(path, reader.schema).names
        count = range(reader.num_record_batches)
        batches = (reader.get_batch(number).select(names) for number in count)
        return from_batches(path, reader.schema, batches)
