"""What a file of vectors holds beside them: positions, and columns to colour by."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.formats import EMBEDDING_FORMATS, arrow, parquet, suffix_of
from hopvec.formats.table import find_columns

PLANE = ("x", "y")  # the columns that `hopvec layout` writes


class Further(NamedTuple):
    """The columns of a file that are neither ids nor vectors."""

    positions: NDArray[np.float32] | None
    """[nodes, 2], where the file has the columns x and y."""
    columns: dict[str, pa.Array]


def read_further(path: str | Path) -> Further:
    """The further columns of a Parquet or Arrow file; of others there are none."""
    path = Path(path)
    format_ = EMBEDDING_FORMATS.get(suffix_of(path))
    if format_ not in (parquet, arrow):
        return Further(None, {})
    import pyarrow.dataset as ds

    table = ds.dataset(path, format="parquet" if format_ is parquet else "ipc")
    own = set(find_columns(path, table.schema).names)
    further = [name for name in table.schema.names if name not in own]
    if not further:
        return Further(None, {})
    read = table.to_table(columns=further)
    columns = {name: read.column(name).combine_chunks() for name in further}
    positions = None
    if all(name in columns and pa.types.is_floating(columns[name].type) for name in PLANE):
        plane = [columns.pop(name).to_numpy(zero_copy_only=False) for name in PLANE]
        positions = np.stack(plane, axis=1).astype(np.float32)
    return Further(positions, columns)
