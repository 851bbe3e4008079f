""".npy for NumPy and memory maps; beside vectors.npy, vectors.ids.arrow has ids and metadata."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.arrow_data import SMALL_FILE, open_arrow
from hopvec.formats.atomic import atomic_write, link_target
from hopvec.formats.blocks import as_float32, iter_blocks, node_columns
from hopvec.formats.metadata import Metadata, from_json, to_json
from hopvec.formats.npz_arrays import ignore_header_warnings, read_header
from hopvec.formats.preview import PREVIEW_ROWS, Preview
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

DTYPES = ("float32", "float16")


def ids_path(path: Path) -> Path:
    """The path of the file with the ids of a .npy file.

    It is beside the file, or beside the file that a symbolic link points to.
    """
    beside = path.with_suffix(".ids.arrow")
    if path.is_symlink() and not beside.exists():
        return link_target(path).with_suffix(".ids.arrow")
    return beside


def write_embedding(embedding: Embedding, path: Path, dtype: str, progress: Progress) -> None:
    """Write both files; the vectors appear last, when everything is complete."""
    table = pa.table(node_columns(embedding))
    table = table.replace_schema_metadata({"hopvec": to_json(embedding)})
    with atomic_write(path, ids_path(path)) as (vectors, ids):
        write_array(embedding, vectors, dtype, progress)
        with pa.ipc.new_file(ids, table.schema) as writer:
            writer.write_table(table)


def write_array(embedding: Embedding, file: IO[bytes], dtype: str, progress: Progress) -> None:
    """Write the vectors as `numpy.save` would, block by block."""
    header = {
        "descr": np.lib.format.dtype_to_descr(np.dtype(dtype)),
        "fortran_order": False,
        "shape": embedding.vectors.shape,
    }
    np.lib.format.write_array_header_1_0(file, header)
    for _, rows in iter_blocks(embedding, dtype, progress):
        file.write(rows.data)


def read_embedding(path: Path, progress: Progress, memory_limit: int | None = None) -> Embedding:
    """Read both files; float32 vectors of more than SMALL_FILE bytes are memory-mapped.

    Vectors of another dtype, such as float16, are read into memory; `progress` is called with the
    number of rows read and the total.
    """
    from hopvec.embedding import Embedding

    vectors, ids, types, metadata = _read(path)
    return Embedding(as_float32(vectors, progress), ids, *metadata, types=types)


def read_preview(path: Path) -> Preview:
    """Read the ids and the first vectors."""
    from hopvec.embedding import Embedding

    vectors, ids, types, metadata = _read(path)
    first = as_float32(vectors[:PREVIEW_ROWS])
    types = None if types is None else types[:PREVIEW_ROWS]
    return Preview(Embedding(first, ids[:PREVIEW_ROWS], *metadata, types=types), len(ids))


def _read(path: Path) -> tuple[NDArray[Any], pa.Array, pa.ChunkedArray | None, Metadata]:
    """The vectors, the ids, the types if there are any, and the metadata."""
    if not ids_path(path).is_file():
        raise FormatError(
            f"{path}: the file of its ids, {ids_path(path).name}, is missing. It must be in the "
            "same directory."
        )
    vectors = _read_array(path)
    with open_arrow(ids_path(path)) as reader:
        table = reader.read_all()
    table.validate(full=True)
    metadata = from_json((table.schema.metadata or {}).get(b"hopvec", b""))
    ids = table.column("id").combine_chunks()
    if not (pa.types.is_integer(ids.type) or str(ids.type) in ("string", "large_string")):
        raise FormatError(f"{path}: ids must be int64 or strings, got {ids.type}.")
    if len(vectors) != len(ids):
        raise FormatError(
            f"{path}: the file has {len(vectors):,} vectors, but {ids_path(path).name} has "
            f"{len(ids):,} ids."
        )
    types = table.column("type") if "type" in table.column_names else None
    return vectors, ids, types, metadata


def _read_array(path: Path) -> NDArray[Any]:
    """Read a small array, memory-map a larger one. Raises FormatError if the file is truncated.

    A map breaks if another program truncates the file later, so small files are not mapped.
    """
    with path.open("rb") as file:
        shape, dtype = read_header(file)
        begin = file.tell()
    size, expected = path.stat().st_size, begin + dtype.itemsize * int(np.prod(shape, dtype=object))
    if size < expected:
        raise FormatError(
            f"{path}: the file is truncated: it has {size:,} bytes instead of {expected:,}."
        )
    if 0 in shape:
        return np.zeros(shape, np.float32)  # an empty array cannot be mapped
    mode: Any = None if size <= SMALL_FILE else "r"
    with ignore_header_warnings():
        vectors: NDArray[Any] = np.load(path, mmap_mode=mode, allow_pickle=False)
    return vectors
