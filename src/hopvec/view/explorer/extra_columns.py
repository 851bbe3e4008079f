"""Reads positions and additional columns of a file of vectors."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.formats.positions import PLANE, can_hold_positions, open_vectors, read_positions
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
    positions = read_positions(path)
    if not path.is_file():
        return ExtraColumns(positions, {})
    with open_vectors(path) as table:
        skipped = {*find_columns(path, table.schema).names}
        skipped |= set(PLANE if positions is not None else ())
        names = [name for name in table.schema.names if name not in skipped]
        schema = pa.schema([table.schema.field(name) for name in names])
        read = pa.Table.from_batches(table.batches(names), schema).unify_dictionaries()
        columns = {name: read.column(name).combine_chunks() for name in names}
    return ExtraColumns(positions, columns)
