""".npz: the arrays `vectors` and `ids`, and `hopvec` with the metadata as JSON.

If nodes have types, there is an array `types`; a node without a type has an empty string.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.blocks import as_float32
from hopvec.formats.metadata import from_json, to_json
from hopvec.formats.npy import write_array
from hopvec.formats.npz_arrays import read_array
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

DTYPES = ("float32", "float16")


def write_embedding(embedding: Embedding, path: Path, dtype: str, progress: Progress) -> None:
    """Write one file that numpy.load reads without pickle."""
    if pa.types.is_integer(embedding.ids.type):
        ids = embedding.ids.to_numpy()
    else:
        ids = np.array(embedding.ids.to_pylist(), dtype=np.str_)
        if ids.tolist() != embedding.ids.to_pylist():
            raise FormatError(f"{path}: .npz cannot hold ids that end in a null character.")
    arrays = {"ids": ids, "hopvec": np.array(to_json(embedding))}
    if embedding.types is not None:
        names = [name or "" for name in embedding.types.to_pylist()]
        arrays["types"] = np.array(names, dtype=np.str_)
    with atomic_write(path) as (file,), zipfile.ZipFile(file, "w") as archive:
        with _member(archive, "vectors") as vectors:
            write_array(embedding, vectors, dtype, progress)
        for name, array in arrays.items():
            with _member(archive, name) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def read_embedding(path: Path, progress: Progress, memory_limit: int | None = None) -> Embedding:
    """Read the arrays, each at once: `progress` is not called, and no limit applies."""
    from hopvec.embedding import Embedding

    with np.load(path, allow_pickle=False) as arrays:
        vectors, ids = as_float32(read_array(arrays, "vectors")), read_array(arrays, "ids")
        metadata = from_json(str(read_array(arrays, "hopvec")) if "hopvec" in arrays else "")
        types = read_array(arrays, "types").tolist() if "types" in arrays else None
    kind = pa.int64() if ids.dtype.kind in "iu" else pa.large_string()
    # Arrow would cut strings of dtype U at null characters.
    names = pa.array(ids.tolist() if ids.dtype.kind == "U" else ids, kind)
    return Embedding(vectors, names, *metadata, types=types)


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open an array of the archive for writing. It has no date: equal vectors are equal files."""
    return archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True)
