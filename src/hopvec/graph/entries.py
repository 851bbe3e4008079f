"""The entries of a graph's adjacency matrix, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopvec import machine
from hopvec.graph.csr_builder import CHUNK, row_ranges

if TYPE_CHECKING:
    from hopvec.graph.graph import Graph

Entries = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32] | None]
"""The rows, columns and weights of some entries."""


def entry_chunks(graph: Graph, max_entries: int = CHUNK) -> Iterator[Entries]:
    """Yield all entries in the internal order; the pages of a memory map are freed after use."""
    for first, end in row_ranges(graph.indptr, max_entries):
        entries = slice(graph.indptr[first], graph.indptr[end])
        row = np.arange(first, end, dtype=np.int32)
        row = np.repeat(row, np.diff(graph.indptr[first : end + 1]))
        neighbor = graph.indices[entries]
        weight = None if graph.weights is None else graph.weights[entries]
        yield row, neighbor, weight
        for array in (neighbor, weight):
            if array is not None:
                machine.release_pages(array)
