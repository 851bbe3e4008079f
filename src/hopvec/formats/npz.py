"""vectors.npz: the arrays `vectors` and `ids`, and `hopvec` with the parameters as JSON."""

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


def write_embedding(embedding: Embedding, path: Path) -> None:
    """Writes one file that numpy.load reads without pickle."""
    if pa.types.is_integer(embedding.ids.type):
        ids = embedding.ids.to_numpy()
    else:
        ids = np.array(embedding.ids.to_pylist(), dtype=np.str_)
        if ids.tolist() != embedding.ids.to_pylist():
            raise FormatError(f"{path}: .npz cannot hold ids that end in a null character.")
    with replacing(path) as (file,):
        np.savez(file, vectors=embedding.vectors, ids=ids, hopvec=np.array(to_json(embedding)))


def read_embedding(path: Path) -> Embedding:
    """Reads the arrays back."""
    from hopvec.embedding import Embedding

    with np.load(path, allow_pickle=False) as arrays:
        vectors, ids = arrays["vectors"], arrays["ids"]
        parameters, graph = from_json(str(arrays["hopvec"]) if "hopvec" in arrays else "")
    kind = pa.int64() if ids.dtype.kind in "iu" else pa.large_string()
    names = pa.array(ids.tolist() if ids.dtype.kind == "U" else ids, kind)  # Arrow cuts U at nulls
    return Embedding(vectors, names, parameters, graph)
