"""Exploration: everything that the page shows, computed before the server starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError, UnknownNodeError
from hopvec.formats.blocks import iter_blocks
from hopvec.graph import Graph
from hopvec.labels import Labels
from hopvec.progress import Progress
from hopvec.spill import SpillFile
from hopvec.view.explorer.columns import Column, NumberColumn, column_of, label_column
from hopvec.view.explorer.edges import MAX_LISTED, NodeEdges, index_in
from hopvec.view.explorer.likely_links import LikelyLinks
from hopvec.view.explorer.search import NameSearch
from hopvec.view.layout import layout

MAX_EMBEDDINGS = 3
MAX_EDGES = 200  # listed per node
STRIP = 0.06  # height of the strip of nodes without a position, relative to the map
OUTLIERS = 0.002  # share of nodes per side that may be moved to the border
MARGIN = 0.06  # between the other nodes and the border, relative to their extent


@dataclass(frozen=True, eq=False)
class Side:
    """One of the embeddings that are shown side by side."""

    name: str
    embedding: Embedding
    positions: NDArray[np.float32]
    """[nodes, 2], in a square from -1 to 1."""
    rows: NDArray[np.int64] | None
    """[nodes]: the row of each node; None if rows are in the order of nodes."""
    nodes: NDArray[np.int64] | None
    """[rows]: the node of each row; None if rows are in the order of nodes."""

    def row(self, node: int) -> int:
        """The row of a node."""
        return node if self.rows is None else int(self.rows[node])

    def nearest(self, node: int, k: int) -> tuple[list[int], list[float]]:
        """The k exact nearest neighbors of a node, with their cosine similarities.

        A zero vector has none.
        """
        if self.embedding._inverse_norms[self.row(node)] == 0:
            return [], []
        rows, similarity = self.embedding.nearest_rows([self.row(node)], k)
        nodes = rows[0] if self.nodes is None else self.nodes[rows[0]]
        return nodes.tolist(), similarity[0].tolist()

    def similarity(self, node: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """The cosine similarities of a node to some others."""
        rows = others if self.rows is None else self.rows[others]
        row, norms = self.row(node), self.embedding._inverse_norms
        products = self.embedding.vectors[rows] @ self.embedding.vectors[row]
        found: NDArray[np.float64] = products * norms[rows].astype(np.float64) * norms[row]
        return np.clip(found, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Exploration:
    """What the explorer shows: embeddings of the same nodes, their labels and their edges.

    Create it with `from_embeddings`, and show it with `serve`. Its length is the number of nodes.

    Examples
    --------
    >>> from hopvec import FastRP, Graph
    >>> from hopvec.view.explorer import Exploration
    >>> graph = Graph.from_edges(["ann", "ann", "bob"], ["bob", "cem", "cem"])
    >>> named = {"fastrp": FastRP(dim=8).embed(graph)}
    >>> len(Exploration.from_embeddings(named, graph=graph))
    3
    """

    _sides: tuple[Side, ...]
    _names: pa.Array
    """[nodes]: the ids as strings; nodes are numbered by the rows of the first embedding."""
    _columns: tuple[Column, ...]
    """Columns that nodes can be colored by."""
    _label: Column | None
    _edges: NodeEdges | None
    _links: LikelyLinks | None
    """Likely links by the first embedding."""
    _search: NameSearch

    @staticmethod
    def from_embeddings(
        embeddings: Mapping[str, Embedding],
        *,
        labels: Labels | None = None,
        graph: Graph | None = None,
        positions: Mapping[str, NDArray[np.float32]] | None = None,
        columns: Mapping[str, pa.Array] | None = None,
        layout: Literal["tsne", "pca"] = "tsne",
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Exploration:
        """Prepare embeddings for the explorer.

        Parameters
        ----------
        embeddings : dict of str to Embedding
            One to three embeddings of the same nodes, by name.
        labels : Labels, optional
            Colors nodes by class; by default by their types, if they have any.
        graph : Graph, optional
            Shows the edges and the likely links of nodes.
        positions : dict of str to array of float32, shape (n, 2), optional
            Positions of the nodes, by the name of the embedding; computed by `hopvec.view.layout`
            for embeddings without positions.
        columns : dict of str to pyarrow.Array, optional
            Further columns that nodes can be colored by, with one value per row of the first
            embedding.
        layout : {"tsne", "pca"}, default="tsne"
            The layout algorithm.
        seed : int, default=0
            Random seed of the layout.
        progress : callable, optional
            Called with the number of steps of the layout done and their total.

        Returns
        -------
        Exploration
            What the explorer shows, for `serve`.

        Raises
        ------
        ParameterError
            If there are more than three embeddings, if they have different nodes, or if `labels` or
            `graph` have none of the nodes.
        MissingExtraError
            If openTSNE is needed and not installed.

        Examples
        --------
        >>> from hopvec import FastRP, Graph
        >>> from hopvec.view.explorer import Exploration
        >>> graph = Graph.from_edges(["ann", "ann", "bob"], ["bob", "cem", "cem"])
        >>> named = {"fastrp": FastRP(dim=8).embed(graph)}
        >>> exploration = Exploration.from_embeddings(named, graph=graph, layout="pca")
        """
        if not 1 <= len(embeddings) <= MAX_EMBEDDINGS:
            raise ParameterError(
                f"explore: the number of embeddings must be from 1 to {MAX_EMBEDDINGS}, got "
                f"{len(embeddings)}."
            )
        first = next(iter(embeddings.values()))
        if not len(first):
            raise ParameterError("explore: the embedding has no nodes.")
        found: list[Column] = []
        labeled = None if labels is None else labels.align(first)
        label = None if labeled is None else label_column(labeled, len(first))
        types = None if first.types is None else column_of("type", first.types)
        label = types if label is None else label
        edges = None if graph is None else NodeEdges.from_graph(graph, first.ids)
        if edges is not None:
            found.append(NumberColumn.from_values("degree", edges.degrees))
        if types is not None and label is not types:
            found.insert(0, types)
        found += [
            column
            for name, values in (columns or {}).items()
            if (column := column_of(name, values)) is not None
        ]
        nodes = None if labeled is None else labeled.rows
        sides = _sides(embeddings, positions or {}, layout, seed, nodes, progress)
        links = None if edges is None else LikelyLinks.from_edges(edges, sides[0].embedding)
        names = first.ids.cast(pa.large_string())
        listed = found if label is None else [label, *found]
        return Exploration(sides, names, tuple(listed), label, edges, links, NameSearch(names))

    def __len__(self) -> int:
        return len(self._names)

    def _about(self) -> dict[str, Any]:
        """What the page needs to know first."""
        return {
            "nodes": len(self),
            "edges": None if self._edges is None else self._edges.graph.edges,
            "directed": self._edges is not None and self._edges.graph.directed,
            "bipartite": self._edges is not None and self._edges.graph.is_target is not None,
            "links": None if self._links is None else self._links.metadata,
            "labeled": None if self._label is None else self._label.name,
            "columns": [column.name for column in self._columns],
            "embeddings": [
                {
                    "name": side.name,
                    "dim": side.embedding.dim,
                    "method": side.embedding.parameters.get("method"),
                }
                for side in self._sides
            ],
        }

    def _card(self, node: int) -> dict[str, Any]:
        """A node as an entry of a list."""
        return {
            "node": node,
            "name": self._names[node].as_py(),
            "label": None if self._label is None else self._label.text(node),
            "degree": None if self._edges is None else int(self._edges.degrees[node]),
        }

    def _neighborhood(self, node: int, k: int) -> dict[str, Any]:
        """A node, its nearest neighbors in each embedding, its likely links, and its edges."""
        if not 0 <= node < len(self):
            raise UnknownNodeError(f"There is no node {node:,}; nodes are 0 to {len(self) - 1:,}.")
        adjacent = np.empty(0, np.int64) if self._edges is None else self._edges.neighbors(node)
        edges, near = set(adjacent.tolist()), [side.nearest(node, k) for side in self._sides]
        return {
            **self._card(node),
            "values": [[column.name, column.text(node)] for column in self._columns],
            "near": [
                [
                    {**self._card(other), "similarity": similarity, "edge": other in edges}
                    for other, similarity in zip(*found, strict=True)
                ]
                for found in near
            ],
            "overlaps": [
                {"first": one, "second": two, "shared": len(set(near[one][0]) & set(near[two][0]))}
                for one, two in combinations(range(len(near)), 2)
            ],
            "links": self._link_cards(node, k),
            "edges": self._edge_cards(node, adjacent, near[0][0]),
        }

    def _link_cards(self, node: int, k: int) -> list[dict[str, Any]] | None:
        """The k most likely links of a node, or None without a graph that it is in."""
        links = None if self._links is None else self._links.top(node, k)
        if links is None:
            return None
        return [
            {**self._card(link.node), "score": link.score, "common": link.common_neighbors}
            for link in links
        ]

    def _edge_cards(
        self, node: int, adjacent: NDArray[np.int64], near: Sequence[int]
    ) -> dict[str, Any] | None:
        """The edges of a node, most similar first, each with its rank among the nearest."""
        if self._edges is None:
            return None
        similarity = self._sides[0].similarity(node, adjacent)
        best = np.lexsort((adjacent, -similarity))[:MAX_EDGES]
        ranks = {other: rank for rank, other in enumerate(near, start=1)}
        return {
            "count": len(adjacent),
            "nodes": [
                {**self._card(int(adjacent[at])), "similarity": float(similarity[at])}
                | {"rank": ranks.get(int(adjacent[at]))}
                for at in best
            ],
        }


def _sides(
    embeddings: Mapping[str, Embedding],
    positions: Mapping[str, NDArray[np.float32]],
    kind: Literal["tsne", "pca"],
    seed: int,
    labeled: NDArray[np.int64] | None,
    progress: Progress | None,
) -> tuple[Side, ...]:
    """The embeddings with their positions; rows are matched by the ids of the first."""
    (first_name, first), *_ = embeddings.items()
    orders = [
        None if other.ids.equals(first.ids) else _rows(first_name, first, name, other)
        for name, other in embeddings.items()
    ]
    on_disk = [mapped(embedding) for embedding in embeddings.values()]
    for embedding in on_disk:
        _ = embedding._inverse_norms  # raises an error now if a vector is not finite
    sides = []
    for name, embedding, rows in zip(embeddings, on_disk, orders, strict=True):
        plane = positions.get(name)
        if plane is not None and plane.shape != (len(embedding), 2):
            raise ParameterError(
                f"explore: positions must have the shape {(len(embedding), 2)}, got {plane.shape}."
            )
        if plane is None:
            landmarks = labeled if labeled is None or rows is None else rows[labeled]
            plane = layout(embedding, kind=kind, seed=seed, labeled=landmarks, progress=progress)
        nodes = None if rows is None else np.argsort(rows)
        plane = plane if rows is None else plane[rows]
        sides.append(Side(name, embedding, in_square(plane), rows, nodes))
    return tuple(sides)


def _rows(first_name: str, first: Embedding, name: str, other: Embedding) -> NDArray[np.int64]:
    """The rows of another embedding in the order of the first; raises if their nodes differ."""
    rows = index_in(first.ids, other.ids)
    for one, two, missing in (
        (first_name, name, rows < 0),
        (name, first_name, index_in(other.ids, first.ids) < 0),
    ):
        if missing.any():
            ids = (first if one == first_name else other).ids
            some = ids.take(pa.array(np.flatnonzero(missing)[:MAX_LISTED])).to_pylist()
            listed = ", ".join(map(repr, some)) + (", ..." if missing.sum() > MAX_LISTED else ".")
            raise ParameterError(
                f"{two} has no vector for {int(missing.sum()):,} of the {len(ids):,} nodes of "
                f"{one}: {listed} Compare embeddings of the same nodes."
            )
    return rows


def mapped(embedding: Embedding) -> Embedding:
    """The embedding with its vectors memory-mapped from a temporary file."""
    if isinstance(embedding.vectors.base, np.memmap) or not embedding.vectors.size:
        return embedding
    spill = SpillFile()
    for _, rows in iter_blocks(embedding):
        spill.append(rows)
    vectors = spill.mapped(np.dtype(np.float32), embedding.vectors.shape)
    return Embedding(
        vectors, embedding.ids, embedding.parameters, embedding.graph, types=embedding.types
    )


def in_square(positions: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale positions to the square from -1 to 1; nodes without a position go in a strip below.

    Outliers are moved to the border, so that the other nodes are not squeezed together. The y axis
    points down, as on a web page.
    """
    placed = np.isfinite(positions).all(axis=1)
    plane = np.empty(positions.shape, np.float32)
    some = positions[placed].astype(np.float64) * [1, -1]
    if len(some):
        low, high = np.quantile(some, [OUTLIERS, 1 - OUTLIERS], axis=0)
        low, high = low - MARGIN * (high - low), high + MARGIN * (high - low)
        some = np.clip(some, low, high)
        low, high = some.min(axis=0), some.max(axis=0)
        plane[placed] = (some - (low + high) / 2) / (max(high - low) / 2 or 1.0)
    unplaced = len(positions) - len(some)
    if unplaced:
        spread = np.random.default_rng(unplaced).random((unplaced, 2))
        bottom = float(plane[placed, 1].max(initial=-STRIP)) + STRIP
        plane[~placed] = [-1, bottom] + spread * [2, 2 * STRIP]
        low, high = plane.min(axis=0), plane.max(axis=0)
        plane = (plane - (low + high) / 2) / (max(high - low) / 2 or 1.0)
    return plane
