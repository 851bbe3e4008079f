"""Reads positions and additional columns of a file of vectors."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.formats import EMBEDDING_FORMATS, parquet, suffix_of
from hopvec.formats.positions import PLANE, can_hold_positions, read_positions
from hopvec.formats.table import find_columns


class ExtraColumns(NamedTuple):
    """The columns of a file besides ids and vectors."""

    positions: NDArray[np.float32] | None
    """[nodes, 2], if the file has the columns x and y."""
    columns: dict[str, pa.Array]


def read_extra_columns(path: str | Path) -> ExtraColumns:
    """Read the extra columns of a Parquet or Arrow file; other formats have none."""
    path = Path(path)
    if not can_hold_positions(path):
        return ExtraColumns(None, {})
    import pyarrow.dataset as ds

    kind = "parquet" if EMBEDDING_FORMATS[suffix_of(path)] is parquet else "ipc"
    table = ds.dataset(path, format=kind)
    positions = read_positions(path)
    skipped = {*find_columns(path, table.schema).names, *(PLANE if positions is not None else ())}
    read = table.to_table(columns=[name for name in table.schema.names if name not in skipped])
    columns = {name: read.column(name).combine_chunks() for name in read.column_names}
    return ExtraColumns(positions, columns)
