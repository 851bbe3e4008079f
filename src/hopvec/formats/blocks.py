"""Vectors a block of rows at a time, so that no writer or reader needs a second copy of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.machine import release_pages
from hopvec.progress import Progress, no_progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

BLOCK_BYTES = 16 << 20


def iter_blocks(
    embedding: Embedding, dtype: str = "float32", progress: Progress = no_progress
) -> Iterator[tuple[pa.Array, NDArray[Any]]]:
    """The ids and the vectors of a few rows after the other, C-ordered, about 16 MB each.

    Vectors on disk are dropped from memory again once the next block is asked for; `progress` is
    told then.
    """
    for first in range(0, len(embedding), rows_per_block(embedding.dim)):
        rows = slice(first, first + rows_per_block(embedding.dim))
        here = embedding.vectors[rows]
        yield embedding.ids[rows], _converted(here, embedding.ids[rows], dtype)
        release_pages(here)
        progress(min(rows.stop, len(embedding)), len(embedding))


def rows_per_block(dim: int) -> int:
    """The number of rows of a block, at least 1."""
    return max(1, BLOCK_BYTES // (4 * max(1, dim)))


class RowBuffer:
    """Rows put below each other in one float32 array, which grows in place: none is held twice."""

    def __init__(self, dim: int) -> None:
        self.vectors = np.empty((0, dim), np.float32)

    def grow(self, count: int) -> NDArray[np.float32]:
        """The next rows, to be filled before this is called again: then the array may move."""
        before, dim = self.vectors.shape
        self.vectors.resize((before + count, dim), refcheck=False)
        return self.vectors[before:]


def as_float32(vectors: NDArray[Any], progress: Progress = no_progress) -> NDArray[np.float32]:
    """The vectors as they are if they are float32 in rows, else a float32 copy of them."""
    if vectors.dtype == np.float32 and vectors.dtype.isnative and vectors.flags.c_contiguous:
        return vectors
    if vectors.dtype.kind != "f":
        raise ValueError(f"the vectors must be floating-point numbers, got {vectors.dtype}")
    copy = np.empty(vectors.shape, np.float32)
    step = rows_per_block(vectors.shape[1] if vectors.ndim == 2 else 1)
    for first in range(0, len(vectors) if vectors.ndim else 0, step):
        with np.errstate(over="ignore"):
            copy[first : first + step] = vectors[first : first + step]
        release_pages(vectors[first : first + step])
        progress(min(first + step, len(vectors)), len(vectors))
    return copy


def _converted(rows: NDArray[Any], ids: pa.Array, dtype: str) -> NDArray[Any]:
    """The rows in C order and of that type. Raises FormatError for a number that is too large."""
    with np.errstate(over="ignore"):
        converted = np.ascontiguousarray(rows, dtype=dtype)
    if dtype == "float16" and (np.isinf(converted) & np.isfinite(rows)).any():
        row, column = np.argwhere(np.isinf(converted) & np.isfinite(rows))[0]
        raise FormatError(
            f"The vector of {ids[int(row)].as_py()!r} holds {rows[row, column]:g}, but float16 "
            f"ends at 65504; save it as float32."
        )
    return converted
