"""LikelyLinks: the most likely edges of a node that are not in the graph yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hopvec.embedding import Embedding
from hopvec.recommendation.recommend import LinkSearch, ScoreOptions
from hopvec.view.explorer.edges import NodeEdges


class Link(NamedTuple):
    """A likely link to another node."""

    node: int
    score: float
    common_neighbors: int


@dataclass(frozen=True, eq=False)
class LikelyLinks:
    """The likely links of nodes, as `recommend` finds them by default."""

    edges: NodeEdges
    search: LinkSearch

    @staticmethod
    def from_edges(edges: NodeEdges, embedding: Embedding) -> LikelyLinks:
        """Likely links by the vectors that the nodes of the edges are numbered by."""
        search = LinkSearch.create("explore", embedding, edges.graph, ScoreOptions())
        links = LikelyLinks(edges, search)
        links.top(int(np.argmax(edges.index >= 0)), 1)  # fills caches, so that requests are quick
        return links

    @property
    def metadata(self) -> dict[str, Any]:
        """The score and its parameters."""
        return self.search.scorer.metadata

    def top(self, node: int, k: int) -> list[Link] | None:
        """The k most likely links of a node, best first; None if it is not in the graph."""
        index = self.edges.index[node : node + 1]
        if index[0] < 0:
            return None
        ((_, found, scores),) = self.search.top(index, k)
        is_found = found[0] >= 0
        others = found[0][is_found]
        common = self.search.common_neighbors.count(np.repeat(index, len(others)), others)
        columns = self.edges.node[others], scores[0][is_found], common
        return [Link(*values) for values in zip(*(c.tolist() for c in columns), strict=True)]
