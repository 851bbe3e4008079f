"""DeepWalk: skip-gram on random walks (KDD 2014)."""

from __future__ import annotations

from dataclasses import dataclass

from hopvec.methods.parameters import documented
from hopvec.methods.walk_method import WalkMethod


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DeepWalk(WalkMethod):
    """DeepWalk embeds a graph by skip-gram on random walks.

    Nodes that walks visit together get vectors that are near. A walk goes to a neighbor with
    probability in proportion to the weight of the edge. The defaults are those of the paper, but
    for the objective, which there is hierarchical softmax. It is node2vec with p = q = 1, byte by
    byte. Needs gensim.

    >>> from hopvec import Graph
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> DeepWalk(dim=8, walks=2, seed=7).embed(graph).vectors.shape
    (3, 8)
    """

    def biases(self) -> tuple[float, float]:
        """1 and 1: where a walk came from does not matter."""
        return 1.0, 1.0
