"""vectors.npy for numpy and memory maps; beside it vectors.ids.arrow with ids and parameters."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.blocks import as_float32, iter_blocks
from hopvec.formats.metadata import Metadata, from_json, to_json
from hopvec.formats.preview import PREVIEW_ROWS, Preview
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

DTYPES = ("float32", "float16")


def ids_path(path: Path) -> Path:
    """The file with the ids that belongs to a .npy file."""
    return path.with_suffix(".ids.arrow")


def write_embedding(embedding: Embedding, path: Path, dtype: str, progress: Progress) -> None:
    """Writes the two files, the vectors last: they are there only when all is."""
    table = pa.table({"id": embedding.ids}).replace_schema_metadata({"hopvec": to_json(embedding)})
    with atomic_write(path, ids_path(path)) as (vectors, ids):
        write_array(embedding, vectors, dtype, progress)
        with pa.ipc.new_file(ids, table.schema) as writer:
            writer.write_table(table)


def write_array(embedding: Embedding, file: IO[bytes], dtype: str, progress: Progress) -> None:
    """Writes the vectors as `numpy.save` would, a block of rows at a time."""
    header = {
        "descr": np.lib.format.dtype_to_descr(np.dtype(dtype)),
        "fortran_order": False,
        "shape": embedding.vectors.shape,
    }
    np.lib.format.write_array_header_1_0(file, header)
    for _, rows in iter_blocks(embedding, dtype, progress):
        file.write(rows.data)


def read_embedding(path: Path, progress: Progress) -> Embedding:
    """Reads the two files; the vectors stay on disk until they are touched.

    Vectors of another type than float32, such as float16, are read into memory; `progress` is
    called with their rows read and their number.
    """
    from hopvec.embedding import Embedding

    vectors, ids, facts = _read(path)
    return Embedding(as_float32(vectors, progress), ids, *facts)


def read_preview(path: Path) -> Preview:
    """Reads the ids, and of the vectors the first rows."""
    from hopvec.embedding import Embedding

    vectors, ids, facts = _read(path)
    return Preview(
        Embedding(as_float32(vectors[:PREVIEW_ROWS]), ids[:PREVIEW_ROWS], *facts), len(ids)
    )


def _read(path: Path) -> tuple[NDArray[Any], pa.Array, Metadata]:
    """The vectors on disk, the ids, and the facts of how they were made."""
    if not ids_path(path).is_file():
        raise FormatError(
            f"{path}: the file with its ids, {ids_path(path).name}, is not beside it."
        )
    vectors = _mapped(path)
    with pa.ipc.open_file(str(ids_path(path))) as reader:
        table = reader.read_all()
    table.validate(full=True)
    facts = from_json((table.schema.metadata or {}).get(b"hopvec", b""))
    ids = table.column("id").combine_chunks()
    if len(vectors) != len(ids):
        raise FormatError(f"{path}: {len(vectors):,} vectors but {len(ids):,} ids beside them.")
    return vectors, ids, facts


def _mapped(path: Path) -> NDArray[Any]:
    """The array on disk. Raises FormatError where its end is missing."""
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0
        if version >= (2, 0):
            read = np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        begin = file.tell()
    size, expected = path.stat().st_size, begin + dtype.itemsize * int(np.prod(shape, dtype=object))
    if size < expected:
        raise FormatError(f"{path}: ends at byte {size:,}, but its vectors need {expected:,}.")
    if 0 in shape:
        return np.zeros(shape, np.float32)  # there is nothing to map
    vectors: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return vectors
