"""Scores of links that are computed from vectors.

For a pair (u, v) with the vectors x and y:

cosine    x . y / |x| |y| + popularity * log(number of edges of v, in a directed graph incoming)
dot       x . y
learned   sum_i weight_i x_i y_i + intercept, a logistic regression fitted to the edges
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native
from hopvec.embedding import Embedding
from hopvec.engine.top_products import ScaledRows, pair_products, top_products
from hopvec.errors import UnknownNodeError
from hopvec.evaluate.link_prediction import fit_regression
from hopvec.graph import Graph
from hopvec.recommendation.candidates import Candidates, Nodes
from hopvec.recommendation.path_scores import edge_counts

BLOCK_NODES = 4096  # that are scored between two progress reports


class VectorScorer:
    """Scores nodes by products of vectors. Nodes with a zero vector are never recommended."""

    block = BLOCK_NODES

    def __init__(
        self, graph: Graph, embedding: Embedding, name: str, *, popularity: float, seed: int
    ) -> None:
        self.name = name
        self.metadata: dict[str, Any] = {"score": name}
        self._popularity = popularity
        self._graph, self._embedding = graph, embedding
        self._weights, self._intercept = np.ones(embedding.dim), 0.0
        if name == "learned":
            fitted = fit_regression(embedding, graph, "uniform", seed)
            self._weights, self._intercept = fitted.weights, fitted.intercept
            self.metadata |= fitted.to_dict()
        if name == "cosine":
            self.metadata["popularity"] = popularity

    def top(
        self, nodes: Nodes, k: int, candidates: Candidates
    ) -> tuple[Nodes, NDArray[np.float64]]:
        """The k best candidates of each node, -1 if there are fewer, and their scores."""
        found = np.full((len(nodes), k), -1)
        scores = np.zeros((len(nodes), k))
        rows = self._known_rows(nodes)
        among = self._candidate_rows(candidates.mask(int(nodes[0])))
        if len(among):
            omitted = candidates.excluded(nodes, self._rows)
            search = top_products(
                self._queries(rows),
                ScaledRows(self._embedding.vectors, self._scale, among, self._logarithms),
                min(k, len(among)),
                excluded=omitted.part,
            )
            for block, near, products in search:
                part = slice(0, near.shape[1])
                found[block, part] = np.where(near >= 0, self._nodes[near], -1)
                scores[block, part] = np.where(near >= 0, np.float64(products) + self._intercept, 0)
        has_vector = self._embedding._inverse_norms[rows] > 0
        found[~has_vector], scores[~has_vector] = -1, 0
        return found, scores

    def score(self, first: Nodes, second: Nodes) -> NDArray[np.float64]:
        """The scores of pairs of nodes, rounded like those of `top`."""
        scores = np.empty(len(first))
        for start in range(0, len(first), BLOCK_NODES):
            block = slice(start, start + BLOCK_NODES)
            rows = self._known_rows(second[block])
            others = ScaledRows(self._embedding.vectors, self._scale, rows, self._logarithms)
            wanted = self._queries(self._known_rows(first[block]))
            scores[block] = pair_products(wanted, others)
        return scores + self._intercept

    def _candidate_rows(self, is_candidate: NDArray[np.bool_]) -> Nodes:
        """The rows of some nodes that have a nonzero vector, ascending."""
        rows = self._rows[is_candidate]
        mask = np.zeros(len(self._embedding), bool)
        mask[rows[rows >= 0]] = True
        return np.flatnonzero(mask & (self._embedding._inverse_norms > 0))

    def can_score(self, nodes: Nodes) -> NDArray[np.bool_]:
        """The mask of the nodes that have a vector."""
        is_known: NDArray[np.bool_] = self._rows[nodes] >= 0
        return is_known

    def _queries(self, rows: Nodes) -> ScaledRows:
        """The vectors of some rows, multiplied by the weights."""
        vectors = self._embedding.vectors[rows] * self._weights.astype(np.float32)
        extra = None
        if self._logarithms is not None:
            extra = np.full(len(rows), self._popularity, np.float32)
        return ScaledRows(vectors, self._scale[rows], extra=extra)

    @cached_property
    def _logarithms(self) -> NDArray[np.float32] | None:
        """The logarithm of the number of edges of each row's node, if it counts."""
        if self.name != "cosine" or self._popularity == 0:
            return None
        degrees = edge_counts(self._graph)[int(self._graph.directed)]
        logarithms = np.zeros(len(self._embedding), np.float32)
        has_row = self._rows >= 0
        edges = np.maximum(1, degrees[has_row]).astype(np.float64)
        logarithms[self._rows[has_row]] = _native.logarithm(edges)
        return logarithms

    @cached_property
    def _scale(self) -> NDArray[np.float32]:
        """The factor of each vector: 1 / norm for the cosine."""
        norms = self._embedding._inverse_norms  # raises for NaN and infinity
        return norms if self.name == "cosine" else np.ones(len(norms), np.float32)

    def _known_rows(self, nodes: Nodes) -> Nodes:
        """The rows of the vectors of some nodes. Raises UnknownNodeError if there is none."""
        rows = self._rows[nodes]
        if (rows < 0).any():
            wrong = self._graph.ids[int(self._graph.rows[nodes[np.argmin(rows)]])].as_py()
            raise UnknownNodeError(f"The node {wrong!r} of the graph has no vector.")
        return rows

    @cached_property
    def _rows(self) -> Nodes:
        """The row of the vector of each node, -1 if it has none."""
        import pyarrow.compute as pc

        graph, ids = self._graph, self._embedding.ids
        if graph.ids.equals(ids):
            return graph.rows.astype(np.int64)
        wanted = graph.ids
        if pa.types.is_integer(wanted.type) != pa.types.is_integer(ids.type):
            wanted, ids = wanted.cast(pa.large_string()), ids.cast(pa.large_string())
        found = pc.fill_null(pc.index_in(wanted.cast(ids.type), value_set=ids), -1).to_numpy()
        if not (found >= 0).any():
            examples = (array[:3].to_pylist() for array in (graph.ids, self._embedding.ids))
            own, others = (", ".join(map(repr, some)) for some in examples)
            raise UnknownNodeError(
                f"No node of the graph has a vector: its ids are {own}, ..., those of the vectors "
                f"{others}, ... If the vectors were made with prefixes=, read the graph with the "
                "same."
            )
        rows: Nodes = found[graph.rows].astype(np.int64)
        return rows

    @cached_property
    def _nodes(self) -> Nodes:
        """The node of each row of the embedding, -1 if it is not in the graph."""
        nodes = np.full(len(self._embedding), -1)
        has_row = self._rows >= 0
        nodes[self._rows[has_row]] = np.flatnonzero(has_row)
        return nodes
