"""Nearest neighbors by cosine similarity, of some nodes or of all: exact, or approximate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.approximate import require_extra
from hopvec.engine.top_products import ExcludedRows, ScaledRows, top_products
from hopvec.errors import ParameterError
from hopvec.graph.validation import check_flag
from hopvec.progress import Progress, no_progress, stage

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

Rows = NDArray[np.int64]

BLOCK_ENTRIES = 1 << 20  # of neighbors of neighbors that are compared at a time
BATCH_BYTES = 2 << 20  # of results with their ids
METADATA = b"hopvec.neighbors"
"""The key of the recall and the parameters of an approximate search in the metadata of a table."""


class Neighbors(NamedTuple):
    """The nearest neighbors of rows, most similar first; ties are ordered by row index."""

    rows: NDArray[np.int64]
    """[nodes, k]: row indices; `embedding.ids.take` converts them to ids. -1 if there are fewer."""
    similarity: NDArray[np.float32]
    """[nodes, k]: cosine similarities; 0 if there are fewer."""


@dataclass(frozen=True, eq=False)
class NeighborSearch:
    """A search for the nearest neighbors of nodes. No node is its own neighbor.

    Attributes
    ----------
    embedding : Embedding
        The vectors of the nodes.
    k : int
        The number of neighbors per node.
    among : Embedding or None
        The embedding to search; by default `embedding`.
    candidates : ndarray or None
        The rows of that embedding to search, each once; by default all.
    min_similarity : float
        Neighbors that are less similar are left out.
    mutual : bool
        Whether to leave out neighbors that do not have the node among their own k nearest.
    approximate : bool
        Whether to search an HNSW index, which may miss some neighbors, instead of all vectors.
    """

    embedding: Embedding
    k: int = 10
    among: Embedding | None = None
    candidates: Rows | None = None
    min_similarity: float = -1.0
    mutual: bool = False
    approximate: bool = False

    def __post_init__(self) -> None:
        check_k("nearest", self.k)
        least = self.min_similarity
        if not isinstance(least, int | float | np.floating) or not -1 <= least <= 1:
            raise ParameterError(
                f"nearest: min_similarity must be a number from -1 to 1, got {least!r}."
            )
        if self.mutual and (self.among is not None or self.candidates is not None):
            raise ParameterError(
                "nearest: mutual=True compares the neighbors of all nodes, so it cannot be "
                "combined with among= or types=."
            )
        if self._others.dim != self.embedding.dim:
            raise ParameterError(
                f"nearest: these vectors have {self.embedding.dim} columns, but those of among= "
                f"have {self._others.dim}, so they cannot be compared."
            )
        check_flag("nearest", "approximate", self.approximate)
        if self.approximate:
            self._check_approximate()

    def _check_approximate(self) -> None:
        """Raise an error if an approximate search is not possible."""
        if self.among is not None or self.candidates is not None or self.mutual:
            other = "mutual=True" if self.mutual else "among= or types="
            raise ParameterError(
                "nearest: approximate=True searches an index of all nodes, so it cannot be "
                f"combined with {other}. Leave one of them out."
            )
        require_extra()

    def prepare(self, progress: Progress | None = None) -> None:
        """Build the index of an approximate search and measure its recall, unless it was done.

        `schema` and `batches` do so as well; `schema` cannot report progress. Exact search needs
        no preparation.
        """
        if self.approximate:
            index, report = self.embedding._approximate_index, progress or no_progress
            index.build(stage(report, 0, (9, 1)))
            index.recall(self.k, stage(report, 1, (9, 1)))

    @property
    def schema(self) -> pa.Schema:
        """The columns of the result; metadata contain the recall of an approximate search."""
        fields = [
            ("id", self.embedding.ids.type),
            ("neighbor", self._others.ids.type),
            ("similarity", pa.float32()),
            ("rank", pa.int32()),
        ]
        if not self.approximate:
            return pa.schema(fields)
        parameters = self.embedding._approximate_index.parameters(self.k)
        return pa.schema(fields, {METADATA: json.dumps(parameters)})

    def table(self, rows: Rows, progress: Progress | None = None) -> pa.Table:
        """The neighbors of some rows as a table."""
        batches = list(self.batches(rows, progress))  # before the schema, to report progress
        return pa.Table.from_batches(batches, self.schema)

    def batches(self, rows: Rows, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """The neighbors of some rows in batches, in the order of the rows, best first.

        A row with a zero vector has no neighbors.
        """
        search = self._mutual if self.mutual else self._search
        schema = None
        for queries, near in search(rows, progress):
            schema = schema or self.schema
            has_vector = self.embedding.vectors[queries].any(axis=1, keepdims=True)
            is_found = (near.rows >= 0) & has_vector
            for part in result_parts(is_found.sum(axis=1), self.embedding.ids, self._others.ids):
                some, counts = is_found[part], is_found[part].sum(axis=1)
                columns = [
                    self.embedding.ids.take(pa.array(np.repeat(queries[part], counts))),
                    self._others.ids.take(pa.array(near.rows[part][some])),
                    pa.array(near.similarity[part][some]),
                    pa.array(np.cumsum(some, axis=1, dtype=np.int32)[some]),
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def arrays(self, rows: Rows, progress: Progress | None = None) -> Neighbors:
        """The neighbors of some rows as arrays, with as many columns as the longest list."""
        shape = len(rows), min(self.k, len(self._candidates))
        found = Neighbors(np.empty(shape, np.int64), np.empty(shape, np.float32))
        done = 0
        for queries, near in self._search(rows, progress):
            part = slice(done, done := done + len(queries))
            found.rows[part], found.similarity[part] = near
        longest = int((found.rows >= 0).sum(axis=1).max(initial=0))
        return Neighbors(found.rows[:, :longest], found.similarity[:, :longest])

    def _search(self, rows: Rows, progress: Progress | None) -> Iterator[tuple[Rows, Neighbors]]:
        """Blocks of the rows, and the neighbors of each."""
        k = min(self.k, len(self._candidates))
        if k == 0:
            return
        least = -np.inf if self.min_similarity == -1 else self.min_similarity
        if self.approximate:
            report = progress or no_progress
            self.prepare(stage(report, 0, (3, 1)))
            index, searching = self.embedding._approximate_index, stage(report, 1, (3, 1))
            for queries, near, products in index.search(
                rows, k, min_product=least, progress=searching
            ):
                yield rows[queries], Neighbors(near, np.clip(products, -1.0, 1.0))
            return

        def itself(queries: slice) -> ExcludedRows:
            own = self._own_candidates(rows[queries])
            has_own = own >= 0
            return ExcludedRows(np.concatenate([[0], np.cumsum(has_own)]), own[has_own])

        for queries, near, products in top_products(
            ScaledRows(self.embedding.vectors, self.embedding._inverse_norms, rows),
            self._candidates,
            k,
            excluded=itself,
            min_product=least,
            progress=progress,
        ):
            # rounding may leave a cosine just outside
            yield rows[queries], Neighbors(near, np.clip(products, -1.0, 1.0))

    def _mutual(self, rows: Rows, progress: Progress | None) -> Iterator[tuple[Rows, Neighbors]]:
        """The same, without the neighbors that do not have the row among their own neighbors."""
        found = self.arrays(rows, progress)
        others = np.setdiff1d(found.rows, [-1, *rows])
        known = np.concatenate([rows, others])
        lists = np.full((len(known), self.k), -1)
        lists[: len(rows), : found.rows.shape[1]] = found.rows
        of_others = self.arrays(others).rows
        lists[len(rows) :, : of_others.shape[1]] = of_others
        position = np.zeros(len(self.embedding), np.int64)
        position[known] = np.arange(len(known))
        step = max(1, BLOCK_ENTRIES // self.k**2)
        for first in range(0, len(rows), step):
            some = slice(first, first + step)
            near = found.rows[some]
            is_mutual = (lists[position[near]] == rows[some][:, None, None]).any(axis=-1)
            yield rows[some], Neighbors(np.where(is_mutual, near, -1), found.similarity[some])

    @property
    def _others(self) -> Embedding:
        """The embedding of the candidates."""
        return self.embedding if self.among is None else self.among

    @property
    def _candidates(self) -> ScaledRows:
        return ScaledRows(self._others.vectors, self._others._inverse_norms, self.candidates)

    def _own_candidates(self, rows: Rows) -> Rows:
        """The candidate that is the node itself, for each row; -1 if there is none."""
        import pyarrow.compute as pc

        if self._others is self.embedding:
            return rows
        ids = self.embedding.ids.take(pa.array(rows))
        if ids.type != self._others.ids.type:
            return np.full(len(rows), -1)
        own: Rows = pc.fill_null(pc.index_in(ids, value_set=self._others.ids), -1).to_numpy()
        return own.astype(np.int64)


def result_parts(counts: NDArray[Any], *ids: pa.Array) -> Iterator[slice]:
    """Slices of nodes whose results take about BATCH_BYTES, with an id of each kind in a row.

    `counts` are the numbers of results of the nodes.
    """
    row = 32 + sum(column.nbytes // max(1, len(column)) for column in ids)
    batch = np.cumsum(counts) * row // BATCH_BYTES
    bounds = [0, *(np.flatnonzero(np.diff(batch)) + 1).tolist(), len(counts)]
    return map(slice, bounds[:-1], bounds[1:])


def check_k(owner: str, k: Any) -> None:
    """Raise ParameterError if the number of neighbors is not a positive integer."""
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise ParameterError(f"{owner}: k must be an integer of at least 1, got {k!r}.")
