"""node2vec: skip-gram on biased second-order random walks (KDD 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from hopvec.methods.parameters import Real, documented
from hopvec.methods.walk_method import WalkMethod


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class Node2Vec(WalkMethod):
    """Embed a graph by skip-gram on biased random walks.

    In node2vec (Grover and Leskovec, KDD 2016), a walk that came from t to v moves to x with a
    probability proportional to the weight of the edge (v, x), divided by p if x is t, and divided
    by q if there is no edge from t to x. With p = q = 1, the result equals that of DeepWalk, byte
    for byte. Needs gensim.

    Examples
    --------
    >>> from hopvec import Graph, Node2Vec
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> Node2Vec(dim=8, walks=2, p=0.25, q=4, seed=7).embed(graph).vectors.shape
    (3, 8)
    """

    p: Annotated[
        float, Real(0.01, 100), "return parameter: below 1, walks return more often (paper: p)"
    ] = 1.0
    q: Annotated[
        float, Real(0.01, 100), "in-out parameter: below 1, walks move farther away (paper: q)"
    ] = 1.0

    @property
    def search_space(self) -> Mapping[str, str]:
        """The default search space of `hopvec.tune`: the grid of the paper."""
        return {"p": "0.25,0.5,1,2,4", "q": "0.25,0.5,1,2,4"}

    def _biases(self) -> tuple[float, float]:
        """The parameters p and q."""
        return float(self.p), float(self.q)
