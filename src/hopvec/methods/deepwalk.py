"""DeepWalk: skip-gram on random walks (KDD 2014)."""

from __future__ import annotations

from dataclasses import dataclass

from hopvec.methods.parameters import documented
from hopvec.methods.walk_method import WalkMethod


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DeepWalk(WalkMethod):
    """Embed a graph by skip-gram on random walks.

    In DeepWalk (Perozzi et al., KDD 2014), nodes that occur together in walks get similar vectors.
    A walk moves to a neighbor with a probability proportional to the weight of the edge. The
    defaults are those of the paper, except that the paper uses hierarchical softmax. The result
    equals that of node2vec with p = q = 1, byte for byte. Needs gensim.

    Examples
    --------
    >>> from hopvec import DeepWalk, Graph
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> DeepWalk(dim=8, walks=2, seed=7).embed(graph).vectors.shape
    (3, 8)
    """

    def _biases(self) -> tuple[float, float]:
        """1 and 1: walks have no memory."""
        return 1.0, 1.0
