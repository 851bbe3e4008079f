"""The largest products of rows: exact search by cosine similarity or dot product."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.machine import cores, file_map, interruptible, release_pages
from hopvec.progress import Progress, no_progress

QUERY_ROWS = 4096  # that are searched between two progress reports
MAX_ENTRIES = 1 << 18  # of the results of a block
MAPPED_CANDIDATES_BYTES = 32 << 20  # of memory-mapped candidates that are in memory at a time


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """Rows of a matrix, each multiplied by its scale."""

    vectors: NDArray[np.float32]
    scale: NDArray[np.float32]
    """One factor for each row of `vectors`."""
    rows: NDArray[np.int64] | None = None
    """The rows to use; by default all."""
    extra: NDArray[np.float32] | None = None
    """One more entry for each row of `vectors`, which is not scaled."""

    def __len__(self) -> int:
        return len(self.vectors) if self.rows is None else len(self.rows)


@dataclass(frozen=True, eq=False)
class ExcludedRows:
    """For each query, candidates to leave out: rows[indptr[q]:indptr[q + 1]], ascending."""

    indptr: NDArray[np.int64]
    rows: NDArray[np.int64]

    def part(self, queries: slice) -> ExcludedRows:
        """The candidates that some of the queries leave out."""
        indptr = self.indptr[queries.start : queries.stop + 1]
        return ExcludedRows(indptr - indptr[0], self.rows[indptr[0] : indptr[-1]])


class TopProducts(NamedTuple):
    """The candidates with the largest products with some queries, best first; ties by row."""

    queries: slice
    rows: NDArray[np.int64]
    """[queries, k]: rows of the candidates; -1 where there are fewer than k."""
    products: NDArray[np.float32]
    """[queries, k]: the products, 0 where there are fewer than k."""


def top_products(
    queries: ScaledRows,
    candidates: ScaledRows,
    k: int,
    *,
    excluded: Callable[[slice], ExcludedRows] | None = None,
    min_product: float = -np.inf,
    progress: Progress | None = None,
) -> Iterator[TopProducts]:
    """Find the k candidates with the largest products with each query, in blocks of queries.

    `excluded` returns the candidates that a block of queries leaves out.

    Every product is a chain of fused multiply-adds in float32, in the order of the columns, so the
    results have the same bytes for any number of threads and any size of blocks. Memory-mapped
    candidates are searched in parts, whose pages are released.
    """
    report = progress or no_progress
    step = max(1, min(QUERY_ROWS, MAX_ENTRIES // max(1, k)))
    wanted = np.arange(len(queries)) if queries.rows is None else queries.rows
    rows, others = _contiguous(queries), _contiguous(candidates)
    among = None if candidates.rows is None else np.sort(candidates.rows, kind="stable")
    parts = _parts(others[0], among)
    for first in range(0, len(queries), step):
        block = slice(first, min(first + step, len(queries)))
        omitted = None if excluded is None else excluded(block)
        best: TopProducts | None = None
        for part in parts:
            found, products = interruptible(
                partial(
                    _native.top_products,
                    (*rows, wanted[block]),
                    (*others, part),
                    None if omitted is None else omitted.indptr,
                    None if omitted is None else omitted.rows,
                    k,
                    min_product,
                    cores(),
                ),
                operations=float(block.stop - block.start) * len(candidates) * rows[0].shape[1],
            )
            some = TopProducts(block, found.reshape(-1, k), products.reshape(-1, k))
            best = some if best is None else _merge_top(best, some)
            if part is not None and len(parts) > 1:
                release_pages(others[0][part[0] : part[-1] + 1])
        if queries.rows is None or np.all(np.diff(wanted[block]) > 0):
            release_pages(rows[0][wanted[block][0] : wanted[block][-1] + 1])
        assert best is not None
        yield best
        report(block.stop, len(queries))


def pair_products(first: ScaledRows, second: ScaledRows) -> NDArray[np.float32]:
    """The products of rows i of `first` and `second`, with the same bytes as in `top_products`."""
    left, right = (*_contiguous(first), first.rows), (*_contiguous(second), second.rows)
    return interruptible(partial(_native.pair_products, left, right, cores()))


def _parts(
    vectors: NDArray[np.float32], among: NDArray[np.int64] | None
) -> list[NDArray[np.int64] | None]:
    """The candidates, in parts if their vectors are memory-mapped; None for all in one part."""
    size = max(1, MAPPED_CANDIDATES_BYTES // max(1, vectors.itemsize * vectors.shape[1]))
    if file_map(vectors) is None or len(vectors) <= size:
        return [among]
    rows = np.arange(len(vectors)) if among is None else among
    bounds = np.searchsorted(rows, np.arange(size, len(vectors), size))
    return [part for part in np.split(rows, bounds) if len(part)] or [rows]


def _merge_top(first: TopProducts, second: TopProducts) -> TopProducts:
    """Merge two lists of top products; all rows of `second` are larger than those of `first`."""
    k = first.rows.shape[1]
    rows = np.concatenate([first.rows, second.rows], axis=1)
    products = np.concatenate([first.products, second.products], axis=1)
    order = np.lexsort((rows, np.where(rows < 0, np.inf, -products)), axis=1)[:, :k]
    return TopProducts(
        first.queries,
        np.take_along_axis(rows, order, axis=1),
        np.take_along_axis(products, order, axis=1),
    )


def _contiguous(
    given: ScaledRows,
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32] | None]:
    """The arrays of some rows, with vectors as the kernel needs them."""
    return np.ascontiguousarray(given.vectors, np.float32), given.scale, given.extra
