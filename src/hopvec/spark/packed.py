"""Packed columns: the values of many edges or nodes in one row of a table, as binary values.

Spark then moves and sorts few large rows instead of one row per edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, DTypeLike, NDArray


def iter_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """Iterate over rows of Arrow batches, without lists; binary values are buffers, not copies."""
    for batch in batches:
        names = [field.name for field in batch.schema if not pa.types.is_list(field.type)]
        for row in range(len(batch)):
            yield {name: _value(batch[name][row]) for name in names}


def pack(values: NDArray[Any] | None) -> pa.Array:
    """One binary value with all values, or null."""
    return pa.array([None if values is None else values.tobytes()], pa.binary())


def pack_slices(values: NDArray[Any] | None, bounds: ArrayLike) -> pa.Array:
    """A binary value for each slice between two consecutive bounds; nulls without values."""
    ends = np.asarray(bounds, np.int64)
    if values is None:
        return pa.nulls(len(ends) - 1, pa.binary())
    offsets = (ends * values.itemsize).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, buffers)


def unpack(packed: Any, dtype: DTypeLike) -> NDArray[Any]:
    """The values of a binary value."""
    return np.frombuffer(packed, dtype)


def concatenated(packed: list[Any], dtype: DTypeLike) -> NDArray[Any]:
    """The values of binary values, one after the other."""
    parts = [unpack(value, dtype) for value in packed]
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _value(scalar: pa.Scalar) -> Any:
    return scalar.as_buffer() if isinstance(scalar, pa.BinaryScalar) else scalar.as_py()
