"""Approximate nearest neighbors by cosine similarity: an HNSW index of the distinct vectors.

HNSW (Malkov and Yashunin, 2018) is a graph whose nodes are the vectors, each linked to near ones. A
query follows the links towards its neighbors, so it compares few vectors and may miss some. The
index is that of usearch. hopvec adds three things:

- Nodes of a graph with the same neighbors have equal vectors. In an index they would be linked to
  each other only, and hide everything else. Equal vectors are therefore indexed once.
- Similarities are computed as in exact search, so they have the same bytes, and so has the order.
- The recall is measured on a sample of nodes, against exact search.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.top_products import (
    ExcludedRows,
    ScaledRows,
    TopProducts,
    pair_products,
    top_products,
)
from hopvec.errors import MissingExtraError
from hopvec.machine import cores
from hopvec.progress import Progress, no_progress, stage

logger: logging.Logger = logging.getLogger("hopvec")

Rows = NDArray[np.int64]

CONNECTIVITY = 16  # links of a vector
EXPANSION_ADD = 128  # candidates for the links of a new vector
EXPANSION_SEARCH = 64  # candidates for the neighbors of a query
BLOCK_ROWS = 8192  # that are added or searched between two progress reports
BLOCK_ENTRIES = 1 << 20  # of vectors that are hashed, or of neighbors that are compared, at a time
MAX_MATCHES = 1 << 25  # that are kept in memory
SEARCH_WORK = (3, 1)  # of searching the index, and of comparing what it finds
SAMPLE = 1000  # nodes whose exact neighbors are searched to measure the recall
ROUNDING = 1e-6  # of a similarity in float32
LOW_RECALL = 0.9
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # spreads the bits of a number


def require_extra() -> None:
    """Raise MissingExtraError unless the approximate extra is installed."""
    try:
        import usearch  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "approximate=True needs the approximate extra: pip install 'hopvec[approximate]'. "
            "Exact search needs no extra."
        ) from error


@dataclass(frozen=True, eq=False)
class Groups:
    """Nonzero rows of a matrix, grouped if they are equal, in the order of their first rows."""

    of_row: Rows
    """The group of each row; -1 for a zero row."""
    members: Rows
    """The rows of all groups, one group after the other, ascending in each."""
    start: Rows
    """The first of the members of each group, and the number of members."""

    def __len__(self) -> int:
        return len(self.start) - 1

    @staticmethod
    def of(vectors: NDArray[np.float32], is_zero: NDArray[np.bool_]) -> Groups:
        """Group the rows by a hash of their bytes.

        If rows with different bytes had the same hash, the index would miss all but the first.
        """
        rows = np.flatnonzero(~is_zero)
        _, first, by_hash, sizes = np.unique(
            _hashes(vectors)[rows], return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first)  # similar vectors are often close; this keeps them in the caches
        number = np.empty_like(order)
        number[order] = np.arange(len(order))
        of_row = np.full(len(vectors), -1)
        of_row[rows] = number[by_hash]
        members = rows[np.argsort(of_row[rows], kind="stable")]
        return Groups(of_row, members, np.concatenate([[0], np.cumsum(sizes[order])]))


class ApproximateIndex:
    """An HNSW index of vectors. It is built when it is first needed.

    It is built on all cores at once, so its links, and with them the neighbors that it misses,
    differ between runs unless there is one core. The same index always finds the same neighbors.
    """

    def __init__(self, vectors: NDArray[np.float32], scale: NDArray[np.float32]) -> None:
        self._vectors, self._scale = vectors, scale
        self._index: Any = None
        self._recalls: dict[int, float] = {}

    def parameters(self, k: int) -> dict[str, Any]:
        """The parameters of a search and its recall, ready for JSON."""
        return {
            "approximate": True,
            "library": f"usearch {version('usearch')}",
            "connectivity": CONNECTIVITY,
            "expansion_add": EXPANSION_ADD,
            "expansion_search": _expansion(min(k, len(self._vectors))),
            "distinct_vectors": len(self._groups),
            "recall": self.recall(k),
            "recall_sample": len(self._sample),
        }

    def recall(self, k: int, progress: Progress | None = None) -> float:
        """The share of the k nearest neighbors that are found, on a sample of the nodes.

        A neighbor as similar as the last of the exact search, up to rounding, counts as found.
        """
        if k in self._recalls:
            return self._recalls[k]
        rows, wanted, hits = self._sample, 0, 0
        length = min(k, len(self._groups.members))
        least = np.full(len(rows), np.inf, np.float32)
        for part in top_products(
            ScaledRows(self._vectors, self._scale, rows),
            ScaledRows(self._vectors, self._scale, self._groups.members),
            length,
            excluded=ExcludedRows(np.arange(len(rows) + 1), rows).part,
        ):
            is_found = part.rows >= 0
            wanted += int(is_found.sum())
            least[part.queries] = np.min(part.products, 1, initial=np.inf, where=is_found)
        for part in self.search(rows, length, progress=progress):
            is_found = part.rows >= 0
            hits += int((is_found & (part.products >= least[part.queries, None] - ROUNDING)).sum())
        found = self._recalls[k] = hits / wanted if wanted else 1.0
        self._report(found, k)
        return found

    def search(
        self,
        rows: Rows,
        k: int,
        *,
        min_product: float = -np.inf,
        progress: Progress | None = None,
    ) -> Iterator[TopProducts]:
        """Find k other rows with large products with each row, in blocks, as `top_products`.

        Zero rows have no neighbors, and are nobody's.
        """
        self.build()
        report = progress or no_progress
        chunk = max(1, MAX_MATCHES // (k + 2))
        step = max(1, min(BLOCK_ROWS, BLOCK_ENTRIES // (2 * k + 2)))
        for start in range(0, len(rows), chunk):
            some = rows[start : start + chunk]
            chunks = [1] * -(-len(rows) // chunk)
            steps = stage(report, start // chunk, chunks)
            groups, position = np.unique(self._groups.of_row[some], return_inverse=True)
            matches = self._matches(groups, k, stage(steps, 0, SEARCH_WORK))
            compared = stage(steps, 1, SEARCH_WORK)
            for first in range(0, len(some), step):
                block = slice(first, min(first + step, len(some)))
                best = self._best(some[block], matches[position[block]], k, min_product)
                yield TopProducts(slice(start + block.start, start + block.stop), *best)
                compared(block.stop, len(some))

    def build(self, progress: Progress | None = None) -> None:
        """Build the index, unless it was built before."""
        if self._index is not None:
            return
        from usearch.index import Index

        report = progress or no_progress
        index = Index(
            ndim=self._vectors.shape[1],
            metric="ip",
            dtype="f32",
            connectivity=CONNECTIVITY,
            expansion_add=EXPANSION_ADD,
            enable_key_lookups=False,
        )
        total = len(self._groups)
        for first in range(0, total, BLOCK_ROWS):
            some = np.arange(first, min(first + BLOCK_ROWS, total))
            index.add(some.astype(np.uint64), self._unit(some), threads=cores())
            report(first + len(some), total)
        self._index = index

    @cached_property
    def _groups(self) -> Groups:
        return Groups.of(self._vectors, self._scale == 0)

    @cached_property
    def _sample(self) -> Rows:
        """The rows on which the recall is measured."""
        rows = self._groups.members
        drawn = np.random.default_rng(0).choice(len(rows), min(SAMPLE, len(rows)), replace=False)
        return np.sort(rows)[np.sort(drawn)]

    def _unit(self, groups: Rows) -> NDArray[np.float32]:
        """The vectors of some groups, with length 1."""
        rows = self._groups.members[self._groups.start[groups]]
        unit: NDArray[np.float32] = self._vectors[rows] * self._scale[rows, None]
        return unit

    def _matches(self, groups: Rows, k: int, progress: Progress) -> Rows:
        """For each group, itself and k others that are near, nearest first; -1 if it is missing.

        A negative number is not a group, and has no matches.
        """
        count = min(k + 1, len(self._groups))
        found = np.full((len(groups), count + 1), -1)
        found[:, 0] = groups  # the index may miss it
        self._index.expansion_search = _expansion(k)
        for first in range(int(np.searchsorted(groups, 0)), len(groups), BLOCK_ROWS):
            some = groups[first : first + BLOCK_ROWS]
            near = self._index.search(self._unit(some), count, threads=cores())
            keys = near.keys.astype(np.int64).reshape(len(some), -1)
            # usearch returns no counts for a single query
            counts = np.reshape(near.counts, (-1, 1)) if hasattr(near, "counts") else len(near)
            is_other = (np.arange(keys.shape[1]) < counts) & (keys != some[:, None])
            found[first : first + len(some), 1 : 1 + keys.shape[1]] = np.where(is_other, keys, -1)
            progress(first + len(some), len(groups))
        return found

    def _best(
        self, rows: Rows, matches: Rows, k: int, min_product: float
    ) -> tuple[Rows, NDArray[np.float32]]:
        """The k members of each row's matches with the largest products; ties by row."""
        start = self._groups.start
        sizes = np.where(matches >= 0, np.minimum(start[matches + 1] - start[matches], k + 1), 0)
        before = np.cumsum(sizes, axis=1) - sizes
        sizes[before > k] = 0  # there are enough without these
        query = np.repeat(np.arange(len(rows)), sizes.sum(axis=1))
        flat = sizes.ravel()
        within = np.arange(len(query)) - np.repeat(np.cumsum(flat) - flat, flat)
        others = self._groups.members[np.repeat(start[matches].ravel(), flat) + within]
        is_other = others != rows[query]
        query, others = query[is_other], others[is_other]
        products = pair_products(
            ScaledRows(self._vectors, self._scale, rows[query]),
            ScaledRows(self._vectors, self._scale, others),
        )
        kept = np.flatnonzero(products >= min_product)
        kept = kept[np.lexsort((others[kept], -products[kept], query[kept]))]
        ends = np.searchsorted(query[kept], np.arange(len(rows)))
        rank = np.arange(len(kept)) - ends[query[kept]]
        kept, rank = kept[rank < k], rank[rank < k]
        found = np.full((len(rows), k), -1)
        best = np.zeros((len(rows), k), np.float32)
        found[query[kept], rank] = others[kept]
        best[query[kept], rank] = products[kept]
        return found, best

    def _report(self, recall: float, k: int) -> None:
        text = (
            f"Approximate search finds {recall:.1%} of the {k} nearest neighbors, measured on "
            f"{len(self._sample):,} nodes against exact search."
        )
        if recall < LOW_RECALL:
            logger.warning(f"{text} Search without approximate=True to find all of them.")
        else:
            logger.info(text)


def _expansion(k: int) -> int:
    """The candidates for the neighbors of a query, more than are wanted."""
    return max(EXPANSION_SEARCH, 2 * k)


def _hashes(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """A hash of the bytes of each row."""
    factors = np.random.default_rng(0).integers(2**64, size=vectors.shape[1], dtype=np.uint64)
    hashes = np.empty(len(vectors), np.uint64)
    step = max(1, BLOCK_ENTRIES // max(1, vectors.shape[1]))
    for first in range(0, len(vectors), step):
        block = np.ascontiguousarray(vectors[first : first + step], np.float32)
        bits = block.view(np.uint32) * MULTIPLIER
        bits ^= bits >> np.uint64(32)
        hashes[first : first + step] = (bits * factors).sum(axis=1, dtype=np.uint64)
    return hashes
