"""vectors.npy for numpy, and beside it vectors.ids.arrow with the ids and the parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.facts import from_json, to_json
from hopvec.formats.replace import replacing

if TYPE_CHECKING:
    from hopvec.embedding import Embedding


def ids_path(path: Path) -> Path:
    """The file with the ids that belongs to a .npy file."""
    return path.with_suffix(".ids.arrow")


def write_embedding(embedding: Embedding, path: Path) -> None:
    """Writes the two files, the vectors last: they are there only when all is."""
    table = pa.table({"id": embedding.ids}).replace_schema_metadata({"hopvec": to_json(embedding)})
    with replacing(path, ids_path(path)) as (vectors, ids):
        np.save(vectors, embedding.vectors, allow_pickle=False)
        with pa.ipc.new_file(ids, table.schema) as writer:
            writer.write_table(table)


def read_embedding(path: Path) -> Embedding:
    """Reads the two files; the vectors stay on disk until they are touched."""
    from hopvec.embedding import Embedding

    if not ids_path(path).is_file():
        raise FormatError(
            f"{path}: the file with its ids, {ids_path(path).name}, is not beside it."
        )
    vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    with pa.ipc.open_file(str(ids_path(path))) as reader:
        table = reader.read_all()
    parameters, graph = from_json((table.schema.metadata or {}).get(b"hopvec", b""))
    ids = table.column("id").combine_chunks()
    if len(vectors) != len(ids):
        raise FormatError(f"{path}: {len(vectors):,} vectors but {len(ids):,} ids beside them.")
    return Embedding(vectors, ids, parameters, graph)
