"""Top-k recommendation by random walks of three steps, P3-alpha and RP3-beta, or by vectors.

P3-alpha (Cooper et al., 2014) scores an item by the probability of the walks user -> item -> user
-> item, with each transition probability raised to the power alpha. RP3-beta (Christoffel et al.,
2015; Paudel et al., 2016) divides the score by the item's degree to the power beta, to penalize
popular items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native
from hopvec.embedding import Embedding
from hopvec.engine.spectral import BLOCK_COLUMNS
from hopvec.errors import ParameterError
from hopvec.evaluate import ranking
from hopvec.evaluate.bipartite_check import check_bipartite, item_mask
from hopvec.evaluate.held_out import HeldOut
from hopvec.evaluate.pairs import Pairs
from hopvec.graph import Graph
from hopvec.machine import cores, interruptible
from hopvec.methods.parameters import Integer, OneOf, Real, check_value
from hopvec.progress import Progress

if TYPE_CHECKING:
    import scipy.sparse as sp

Nodes = NDArray[np.int64]

BLOCK_BYTES = 1 << 28  # limit of the scores of a block of users
MAX_USERS = 256  # in a block


@dataclass(frozen=True, eq=False)
class WalkScorer:
    """Scores nodes by walks: (P^alpha)^3 / degree^beta with P = D^-1 S and entrywise powers.

    In a bipartite graph, three steps lead to the other side.
    """

    graph: Graph
    alpha: float
    beta: float

    bytes_per_node = 24  # of a row of scores: an entry in each of two products

    @cached_property
    def _steps(self) -> sp.csr_array:
        import scipy.sparse as sp

        graph = self.graph
        weights = np.ones(graph.entries) if graph.weights is None else graph.weights
        degrees = np.repeat(graph.node_degrees, np.diff(graph.indptr))
        steps = (weights / degrees) ** self.alpha
        return sp.csr_array((steps, graph.indices, graph.indptr), shape=(graph.nodes, graph.nodes))

    def scores(self, users: Nodes) -> Iterator[tuple[Nodes, NDArray[np.float64]]]:
        """For each user, the nodes with a score and their scores."""
        scores = self._steps[users] @ self._steps @ self._steps
        for row in range(len(users)):
            entries = slice(scores.indptr[row], scores.indptr[row + 1])
            nodes, values = scores.indices[entries], scores.data[entries]
            if self.beta:
                values = values / self.graph.node_degrees[nodes] ** self.beta
            yield nodes, values

    def __str__(self) -> str:
        return f"walks, alpha {self.alpha:g}, beta {self.beta:g}"


@dataclass(frozen=True, eq=False)
class SimilarityScorer:
    """Scores items by the similarity of their vectors to that of a user."""

    graph: Graph
    embedding: Embedding
    items: Nodes
    similarity: str

    bytes_per_node = 8  # of a row of scores

    @cached_property
    def _rows(self) -> Nodes:
        """The row of each node in the embedding."""
        return self.embedding.find(self.graph.ids)[self.graph.rows]

    @cached_property
    def _items(self) -> NDArray[np.float32]:
        return self.embedding.vectors[self._rows[self.items]]

    def _scale(self, nodes: Nodes) -> NDArray[np.float64]:
        """The factors of the dot products: inverse norms for the cosine, else 1."""
        norms = self.embedding.inverse_norms[self._rows[nodes]]  # raises for NaN and infinity
        return (norms if self.similarity == "cosine" else np.ones(len(nodes))).astype(np.float64)

    def scores(self, users: Nodes) -> Iterator[tuple[Nodes, NDArray[np.float64]]]:
        """For each user, all items and their scores."""
        scale = self._scale(self.items)
        for start in range(0, len(users), BLOCK_COLUMNS):
            some = users[start : start + BLOCK_COLUMNS]
            block = np.zeros((self.embedding.dim, BLOCK_COLUMNS))
            block[:, : len(some)] = self.embedding.vectors[self._rows[some]].T
            product = partial(_native.product, self._items, block, False, cores())
            products = interruptible(product)  # a sum by BLAS depends on its position
            for values, factor in zip(products.T[: len(some)], self._scale(some), strict=True):
                yield self.items, values * scale * factor

    def __str__(self) -> str:
        return f"{self.similarity} of vectors"


@dataclass(frozen=True)
class Recommendation:
    """The result of `evaluate_recommendation`; `to_dict` is ready for JSON.

    Attributes
    ----------
    method : str
        How items were scored.
    recall : dict of int to float
        For each k, the share of a user's held-out items among the first k, mean over users.
    ndcg : dict of int to float
        For each k, the normalized discounted cumulative gain of the first k, mean over users.
    users : int
        Users with held-out items.
    items : int
        Items of the training graph.
    edges : int
        Held-out edges.
    """

    method: str
    recall: dict[int, float]
    ndcg: dict[int, float]
    users: int
    items: int
    edges: int

    def to_dict(self) -> dict[str, Any]:
        """All values as plain Python objects, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.method}: {self.edges:,} edges of {self.users:,} users, {self.items:,} items"
        ]
        lines += [
            f"recall@{k} {self.recall[k]:.4f}  NDCG@{k} {self.ndcg[k]:.4f}" for k in self.recall
        ]
        return "\n".join(lines)


def recommend(
    graph: Graph,
    users: Any,
    *,
    k: int = 10,
    alpha: float = 1.0,
    beta: float = 0.0,
    items: Any | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Recommends the k best items for each user, by P3-alpha or RP3-beta random walks.

    Scores are exact: all walks of three steps are counted, in blocks of users.

    Parameters
    ----------
    graph : Graph
        An undirected bipartite graph.
    users : id or sequence of ids
        The users, all on one side. Only items that a user has no edge to are recommended.
    k : int
        Number of items per user; fewer if three steps reach fewer.
    alpha : float
        Power of the transition probabilities.
    beta : float
        Penalty of popular items: scores are divided by degree^beta. 0 is P3-alpha.
    items : sequence of ids, optional
        All items, to validate the two sides of the graph. By default the sides are inferred.
    progress : callable, optional
        Called with the number of users done and the total.

    Returns
    -------
    pyarrow.Table
        The columns user, item and score, best first. Ties are ordered by the keys (XXH64) of ids.

    Raises
    ------
    GraphError
        If the graph is directed or not bipartite.
    UnknownNodeError
        If a user or an item is not a node of the graph.

    Examples
    --------
    >>> graph = Graph.from_edges(["ann", "ann", "bob", "bob"], ["tea", "jam", "tea", "rum"])
    >>> recommend(graph, "ann").to_pylist()
    [{'user': 'ann', 'item': 'rum', 'score': 0.125}]
    """
    scorer = _walk_scorer("recommend", graph, alpha, beta)
    check_value("recommend", "k", Integer(1, 2**31), k)
    asked = Pairs(graph).find([users] if isinstance(users, str | int | np.integer) else users)
    if items is None:
        check_bipartite("recommend", graph)
    else:
        is_item = item_mask("recommend", graph, items)
        if is_item[asked].any():
            wrong = graph.ids[int(graph.rows[asked[np.argmax(is_item[asked])]])].as_py()
            raise ParameterError(f"recommend: {wrong!r} is both a user and an item.")
    found = list(_ranked(scorer, graph, asked.astype(np.int64), k, progress))
    lengths = [len(nodes) for nodes, _ in found]
    nodes = np.concatenate([np.empty(0, np.int64), *(nodes for nodes, _ in found)])
    scores = np.concatenate([np.empty(0), *(scores for _, scores in found)])
    ids = (graph.ids.take(pa.array(graph.rows[n])) for n in (np.repeat(asked, lengths), nodes))
    return pa.table([*ids, scores], names=["user", "item", "score"])


def evaluate_recommendation(
    held_out: HeldOut,
    items: Any | None = None,
    *,
    embedding: Embedding | None = None,
    similarity: Literal["cosine", "dot"] = "cosine",
    alpha: float = 1.0,
    beta: float = 0.0,
    k: Sequence[int] = (10, 50),
    progress: Progress | None = None,
) -> Recommendation:
    """Measure how well the held-out items of users are recommended.

    All items that a user has no training edge to are ranked, by P3-alpha or RP3-beta walks on the
    training graph or by the vectors of an embedding.

    Parameters
    ----------
    held_out : HeldOut
        The held-out edges between users and items, and the training graph.
    items : sequence of ids, optional
        The ids of all items; by default the target side of the graph.
    embedding : Embedding, optional
        An embedding of the training graph, to rank items by the similarity of vectors.
    similarity : {"cosine", "dot"}
        The similarity of vectors.
    alpha, beta : float
        Parameters of the walks, as in `recommend`.
    k : sequence of int
        Lengths of the ranked lists.
    progress : callable, optional
        Called with the number of users done and the total.

    Returns
    -------
    Recommendation
        recall@k and NDCG@k, means over the users with held-out items.

    Raises
    ------
    ParameterError
        If a parameter is invalid, or a held-out edge does not join a user and an item.
    GraphError
        If the training graph is directed or not bipartite.
    """
    owner = "evaluate_recommendation"
    graph = held_out.training
    if graph is None:
        raise ParameterError(f"{owner}: these pairs have no training graph.")
    for at in k:
        check_value(owner, "k", Integer(1, 2**31), at)
    check_value(owner, "similarity", OneOf(("cosine", "dot")), similarity)
    is_item = item_mask(owner, graph, graph.targets if items is None else items)
    users, wanted = _held_out_items(owner, held_out, graph, is_item)
    scorer: WalkScorer | SimilarityScorer = _walk_scorer(owner, graph, alpha, beta)
    if embedding is not None:
        scorer = SimilarityScorer(graph, embedding, np.flatnonzero(is_item), similarity)
    ranked = _ranked(scorer, graph, users, max(k), progress)
    found = [np.isin(nodes, own) for own, (nodes, _) in zip(wanted, ranked, strict=True)]

    def mean(measure: Callable[[NDArray[np.bool_], int, int], float], at: int) -> float:
        values = (measure(hit, len(own), at) for hit, own in zip(found, wanted, strict=True))
        return sum(values) / len(users)

    return Recommendation(
        str(scorer),
        {at: mean(ranking.recall, at) for at in k},
        {at: mean(ranking.ndcg, at) for at in k},
        len(users),
        int(np.count_nonzero(is_item)),
        len(held_out.edges),
    )


def _walk_scorer(owner: str, graph: Graph, alpha: float, beta: float) -> WalkScorer:
    check_value(owner, "alpha", Real(0, 10), alpha)
    check_value(owner, "beta", Real(-10, 10), beta)
    return WalkScorer(graph, alpha, beta)


def _held_out_items(
    owner: str, held_out: HeldOut, graph: Graph, is_item: NDArray[np.bool_]
) -> tuple[Nodes, list[Nodes]]:
    """The users of held-out edges, and the held-out items of each."""
    pairs = Pairs(graph)
    first, second = (
        pairs.find(held_out.edges.column(end)).astype(np.int64) for end in ("source", "target")
    )
    if (is_item[first] == is_item[second]).any():
        wrong = int(np.argmax(is_item[first] == is_item[second]))
        ends = " - ".join(
            repr(held_out.edges.column(end)[wrong].as_py()) for end in ("source", "target")
        )
        raise ParameterError(f"{owner}: the held-out edge {ends} does not join a user and an item.")
    user, item = np.where(is_item[first], second, first), np.where(is_item[first], first, second)
    order = np.argsort(user, kind="stable")
    users, start = np.unique(user[order], return_index=True)
    return users, np.split(item[order], start[1:])


def _ranked(
    scorer: WalkScorer | SimilarityScorer,
    graph: Graph,
    users: Nodes,
    k: int,
    progress: Progress | None,
) -> Iterator[tuple[Nodes, NDArray[np.float64]]]:
    """For each user, the k best nodes without an edge to it, and their scores, best first."""
    step = min(MAX_USERS, max(1, BLOCK_BYTES // (scorer.bytes_per_node * graph.nodes)))
    for start in range(0, len(users), step):
        block = users[start : start + step]
        for user, (nodes, scores) in zip(block, scorer.scores(block), strict=True):
            linked = graph.indices[graph.indptr[user] : graph.indptr[user + 1]]
            new = ~np.isin(nodes, linked)
            yield _best(nodes[new], scores[new], graph.keys, k)
        if progress is not None:
            progress(start + len(block), len(users))


def _best(
    nodes: Nodes, scores: NDArray[np.float64], keys: NDArray[np.uint64], k: int
) -> tuple[Nodes, NDArray[np.float64]]:
    """The k nodes with the highest scores, best first; ties are ordered by key."""
    if len(nodes) > k:
        top = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        nodes, scores = nodes[top], scores[top]
    order = np.lexsort((keys[nodes], -scores))[:k]
    return nodes[order], scores[order]
