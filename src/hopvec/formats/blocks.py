"""Vectors in blocks of rows, so that readers and writers need no second copy of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.machine import release_pages
from hopvec.progress import Progress, no_progress
from hopvec.spill import SpillFile

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

BLOCK_BYTES = 16 << 20


def node_columns(embedding: Embedding, rows: slice = slice(None)) -> dict[str, pa.Array]:
    """The columns beside the vectors: `id`, and `type` if the nodes have types."""
    columns = {"id": embedding.ids[rows]}
    if embedding.types is not None:
        columns["type"] = embedding.types[rows].cast(pa.large_string())
    return columns


def iter_blocks(
    embedding: Embedding, dtype: str = "float32", progress: Progress = no_progress
) -> Iterator[tuple[list[pa.Array], NDArray[Any]]]:
    """Iterate over `node_columns` and vectors in blocks of about 16 MB, in C order.

    Raises FormatError for a value that is not finite, or too large for the dtype. A block of
    memory-mapped vectors is released from memory, and `progress` is called, when the next block is
    requested.
    """
    for first in range(0, len(embedding), rows_per_block(embedding.dim)):
        rows = slice(first, first + rows_per_block(embedding.dim))
        block = embedding.vectors[rows]
        columns = list(node_columns(embedding, rows).values())
        yield columns, _converted(block, embedding.ids[rows], dtype)
        release_pages(block)
        progress(min(rows.stop, len(embedding)), len(embedding))


def rows_per_block(dim: int) -> int:
    """The number of rows in a block, at least 1."""
    return max(1, BLOCK_BYTES // (4 * max(1, dim)))


class RowBuffer:
    """A float32 array that grows in place as rows are added, without a second copy.

    Rows beyond `memory_limit` bytes move all of them to a spill file, if there is a limit.
    """

    def __init__(self, dim: int, memory_limit: int | None = None) -> None:
        self._memory: NDArray[np.float32] = np.empty((0, dim), np.float32)
        self._limit = memory_limit
        self._file: SpillFile | None = None
        self._last = self._memory  # rows that are not in the file yet
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def grow(self, count: int) -> NDArray[np.float32]:
        """Add uninitialized rows and return a view of them, valid until the next call."""
        dim, before = self._memory.shape[1], self._count
        self._flush()
        self._count += count
        if self._limit is not None and self._file is None and 4 * self._count * dim > self._limit:
            self._file = SpillFile()
            self._file.append(self._memory)
            self._memory = np.empty((0, dim), np.float32)
        if self._file is not None:
            self._last = np.empty((count, dim), np.float32)
            return self._last
        self._memory.resize((before + count, dim), refcheck=False)
        return self._memory[before:]

    @property
    def vectors(self) -> NDArray[np.float32]:
        """All rows: an array in memory, or a memory map of the file."""
        if self._file is None:
            return self._memory
        self._flush()
        return self._file.mapped(np.dtype(np.float32), (self._count, self._memory.shape[1]))

    def _flush(self) -> None:
        if self._file is not None:
            self._file.append(self._last)
            self._last = self._memory


def as_float32(vectors: NDArray[Any], progress: Progress = no_progress) -> NDArray[np.float32]:
    """The vectors themselves if they are C-ordered float32, else a float32 copy."""
    if vectors.dtype == np.float32 and vectors.dtype.isnative and vectors.flags.c_contiguous:
        return vectors
    if vectors.dtype.kind != "f":
        raise ValueError(f"the vectors must be floating-point numbers, got {vectors.dtype}")
    copy = np.empty(vectors.shape, np.float32)
    step = rows_per_block(vectors.shape[1] if vectors.ndim == 2 else 1)
    for first in range(0, len(vectors) if vectors.ndim else 0, step):
        with np.errstate(over="ignore", invalid="ignore"):
            copy[first : first + step] = vectors[first : first + step]
        release_pages(vectors[first : first + step])
        progress(min(first + step, len(vectors)), len(vectors))
    return copy


def _converted(rows: NDArray[Any], ids: pa.Array, dtype: str) -> NDArray[Any]:
    """The rows in C order and of that dtype. Raises FormatError for a value that it cannot hold."""
    with np.errstate(over="ignore", invalid="ignore"):
        converted = np.ascontiguousarray(rows, dtype=dtype)
    check_finite(converted, ids, rows)
    return converted


def check_finite(
    vectors: NDArray[Any], ids: pa.Array, original: NDArray[Any] | None = None
) -> None:
    """Raise FormatError if a value is NaN or infinite: no file of vectors holds one.

    `original` holds the values before they were converted to another dtype.
    """
    finite = np.isfinite(vectors)
    if finite.all():
        return
    row, column = np.argwhere(~finite)[0]
    value = (vectors if original is None else original)[row, column]
    vector = f"The vector of {ids[int(row)].as_py()!r} contains {value:g}"
    if np.isfinite(value):
        raise FormatError(
            f"{vector}, which is too large for float16 (at most 65504). Save the vectors as "
            "float32."
        )
    raise FormatError(f"{vector}, but vectors must be finite.")
