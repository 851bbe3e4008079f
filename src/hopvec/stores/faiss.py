"""faiss:vectors.index: an index for cosine similarity, with the ids in vectors.ids.arrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hopvec.errors import MissingExtraError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.blocks import iter_blocks, node_columns
from hopvec.formats.destination import check_writable
from hopvec.formats.metadata import to_json
from hopvec.formats.npy import ids_path
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

LOCATION = "faiss:<path>"
INDEX = True
TABLES = False
LINKS = 32  # of a node of the HNSW graph


def check_location(location: str) -> None:
    """Raise FormatError unless both files can be written."""
    for path in (Path(location), ids_path(Path(location))):
        check_writable(path)


def is_ours(location: str, table: str) -> bool | None:
    """Whether the ids beside the index have the metadata that `write_table` stores."""
    path = Path(location)
    if not path.exists():
        return None
    try:
        with pa.ipc.open_file(str(ids_path(path))) as ids:
            return b"hopvec" in (ids.schema.metadata or {})
    except (OSError, pa.ArrowException):
        return False


def write_table(
    embedding: Embedding, location: str, table: str, *, index: bool, progress: Progress
) -> None:
    """Write both files atomically; the index appears last.

    The index returns integer ids themselves, and the row numbers of string ids. Vectors are scaled
    to length 1, so that inner products are cosine similarities; zero vectors, which have no
    direction, are left out. The search is exact, or an HNSW graph if `index`.
    """
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError(
            "export to FAISS needs the faiss extra: pip install 'hopvec[faiss]'."
        ) from error
    flat = faiss.IndexFlatIP(embedding.dim)
    if index:
        flat = faiss.IndexHNSWFlat(embedding.dim, LINKS, faiss.METRIC_INNER_PRODUCT)
    vectors: Any = faiss.IndexIDMap(flat)
    row = 0
    for (ids, *_), rows in iter_blocks(embedding, "float32", progress):
        numbers = ids.to_numpy() if pa.types.is_integer(ids.type) else row + np.arange(len(ids))
        lengths = np.linalg.norm(rows, axis=1)
        kept = lengths > 0
        vectors.add_with_ids(rows[kept] / lengths[kept, None], numbers[kept])
        row += len(ids)
    path = Path(location)
    stored = pa.table(node_columns(embedding))
    stored = stored.replace_schema_metadata({"hopvec": to_json(embedding)})
    with atomic_write(path, ids_path(path)) as (file, ids_file):
        faiss.write_index(vectors, faiss.PyCallbackIOWriter(file.write))
        with pa.ipc.new_file(ids_file, stored.schema) as writer:
            writer.write_table(stored)
