"""How well held-out edges are recommended, by vectors and by baselines on the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.evaluate import ranking
from hopvec.evaluate.hashing import RandomStream, hash_uint64
from hopvec.evaluate.held_out import SEED, HeldOut
from hopvec.evaluate.of_types import with_types
from hopvec.evaluate.pairs import Pairs
from hopvec.graph import Graph
from hopvec.methods.parameters import Integer, OneOf, check_value
from hopvec.progress import ProgressOption, callback, no_progress, stage
from hopvec.recommendation.candidates import Candidates, Nodes, nodes_of_types
from hopvec.recommendation.path_scores import PopularityScorer, edge_counts
from hopvec.recommendation.recommend import SCORES, VECTOR_SCORES, LinkSearch, ScoreOptions, Scorer
from hopvec.tabular import Tabular

POPULAR = PopularityScorer.name
ALL_SCORES = (*SCORES, POPULAR)
OWNER = "evaluate_recommendation"
MAX_LENGTH = 2**31  # of a list of recommendations


@dataclass(frozen=True)
class RankingScores:
    """How well held-out edges are recommended by one score, at one length of the lists.

    Attributes
    ----------
    hit_rate : float
        The share of nodes with at least one held-out neighbor among the first k.
    recall : float
        The share of a node's held-out neighbors among the first k, mean over the nodes.
    ndcg : float
        The normalized discounted cumulative gain of the first k, mean over the nodes.
    mrr : float
        1 / rank of the first held-out neighbor, 0 if it is not among the first k; mean over nodes.
    coverage : float
        The share of all candidates that are recommended to some node.
    popularity : float
        The mean number of edges of the recommended nodes.

    Examples
    --------
    >>> from hopvec import Graph, evaluate
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> held_out = evaluate.hold_out(graph, per_node=True)
    >>> found = evaluate.evaluate_recommendation(None, held_out, k=[1])
    >>> found.scores[""]["common-neighbors"][1].hit_rate
    1.0
    """

    hit_rate: float
    recall: float
    ndcg: float
    mrr: float
    coverage: float
    popularity: float


@dataclass(frozen=True, repr=False)
class Recommendation(Tabular):
    """The result of `evaluate_recommendation`; `print` shows a table, `to_dict` is for JSON.

    Attributes
    ----------
    scores : dict
        `scores[name][score][k]` are the RankingScores of an embedding and a score. Baselines that
        need no vectors have the name "".
    nodes : int
        Nodes with held-out edges.
    edges : int
        Held-out edges of these nodes.
    candidates : int
        Nodes that could be recommended.
    popularity : float
        The mean number of training edges of the held-out neighbors, to compare with.

    Examples
    --------
    >>> from hopvec import Graph, evaluate
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> held_out = evaluate.hold_out(graph, per_node=True)
    >>> found = evaluate.evaluate_recommendation(None, held_out, k=[1])
    >>> found.nodes, found.edges, found.candidates
    (4, 4, 6)
    """

    scores: dict[str, dict[str, dict[int, RankingScores]]]
    nodes: int
    edges: int
    candidates: int
    popularity: float

    def _table_rows(self) -> list[dict[str, Any]]:
        return [
            {"embedding": name, "score": score, "k": k, **asdict(values)}
            for name, score, k, values in self.rows()
        ]

    def rows(self) -> list[tuple[str, str, int, RankingScores]]:
        """Return all scores, ordered by the length of the lists.

        Returns
        -------
        list of tuple of str, str, int and RankingScores
            The name of the embedding, the score, k, and the values.

        Examples
        --------
        >>> from hopvec import Graph, evaluate
        >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
        >>> held_out = evaluate.hold_out(graph, per_node=True)
        >>> found = evaluate.evaluate_recommendation(None, held_out, k=[1])
        >>> [(score, k, values.recall) for _, score, k, values in found.rows()][:2]
        [('common-neighbors', 1, 1.0), ('adamic-adar', 1, 1.0)]
        """
        lists = next(iter(next(iter(self.scores.values())).values()))
        return [
            (name, score, k, values[k])
            for k in lists
            for name, by_score in self.scores.items()
            for score, values in by_score.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all values as plain Python objects, ready for JSON.

        Returns
        -------
        dict
            The attributes of the result.

        Examples
        --------
        >>> from hopvec import Graph, evaluate
        >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
        >>> held_out = evaluate.hold_out(graph, per_node=True)
        >>> found = evaluate.evaluate_recommendation(None, held_out, k=[1])
        >>> found.to_dict()["scores"][""]["common-neighbors"][1]["ndcg"]
        1.0
        """
        return asdict(self)

    def __str__(self) -> str:
        header = ["k", "vectors", "score", *RankingScores.__dataclass_fields__]
        lines = [header]
        for name, score, k, found in self.rows():
            *shares, popularity = asdict(found).values()
            values = [f"{value:.4f}" for value in shares]
            lines.append([str(k), name, score, *values, f"{popularity:.1f}"])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)


def evaluate_recommendation(
    embeddings: Embedding | Mapping[str, Embedding] | None,
    held_out: HeldOut,
    *,
    scores: Sequence[str] | None = None,
    k: Sequence[int] = (10, 20),
    types: str | Sequence[str] | None = None,
    popularity: float | None = None,
    alpha: float = 1.0,
    beta: float = 0.3,
    sample: int | None = None,
    seed: int = 0,
    progress: ProgressOption = None,
) -> Recommendation:
    """Measure how well held-out edges are recommended, compared with baselines on the graph.

    For each node with held-out edges, all nodes that it could get an edge to are ranked, as by
    `recommend`. In a bipartite graph these are the nodes of the source side, such as users; in a
    directed graph the sources of the held-out edges; else both ends of every edge.

    Parameters
    ----------
    embeddings : Embedding, dict of str to Embedding, or None
        Embeddings of the training graph, by name. On embeddings of the whole graph the results are
        worthless, and nothing can detect that.
    held_out : HeldOut
        The held-out edges and the training graph, such as from `hold_out(graph, per_node=True)`.
    scores : sequence of str, optional
        How links are scored, as in `recommend`; also "most popular", by the number of edges. By
        default all.
    k : sequence of int
        Lengths of the ranked lists.
    types : str or sequence of str, optional
        The only types of nodes that may be recommended; held-out edges to other nodes are left out.
    popularity : float, optional
        How much the score "cosine" prefers popular nodes, as in `recommend`.
    alpha : float, default=1.0
        The power of the transition probabilities in "rp3beta".
    beta : float, default=0.3
        The penalty of popular nodes in "rp3beta".
    sample : int, optional
        Evaluate a random sample of this many nodes; by default all with held-out edges.
    seed : int
        Seed of the sample, and of the pairs that the score "learned" is fitted to.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the amount of work done and the
        total.

    Returns
    -------
    Recommendation
        Hit rate, recall, NDCG, MRR, coverage and popularity at each k for each embedding and score.

    Raises
    ------
    ParameterError
        If a parameter is invalid, or there is no training graph.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, evaluate
    >>> edges = [(u, v) for u in range(40) for v in range(u) if u % 4 == v % 4]
    >>> held_out = evaluate.hold_out(Graph.from_edges(*zip(*edges)), per_node=True)
    >>> embedding = FastRP(dim=16).embed(held_out.training)
    >>> found = evaluate.evaluate_recommendation(embedding, held_out)
    >>> found.scores["vectors"]["cosine"][10].recall
    1.0
    """
    progress = callback(progress, "recommending")
    graph = held_out.training
    if graph is None:
        raise ParameterError(f"{OWNER}: these pairs have no training graph.")
    named = _named(embeddings)
    chosen = _chosen(scores, bool(named))
    for at in k:
        check_value(OWNER, "k", Integer(1, MAX_LENGTH), at)
    check_value(OWNER, "seed", SEED, seed)
    allowed = None
    if types is not None:
        allowed = nodes_of_types(OWNER, types, graph, with_types(named.values()))
    candidates = Candidates(graph, allowed)
    nodes, wanted = _held_out_neighbors(held_out, graph, allowed)
    if sample is not None:
        check_value(OWNER, "sample", Integer(1, 2**31), sample)
        drawn = np.argsort(hash_uint64(seed, RandomStream.NODE_SAMPLE, graph.keys[nodes]))
        kept = np.sort(drawn[:sample])
        nodes, wanted = nodes[kept], [wanted[at] for at in kept]
    searches = [
        (name, score, embedding)
        for score in chosen
        for name, embedding in (named.items() if score in VECTOR_SCORES else [("", None)])
    ]
    found: dict[str, dict[str, dict[int, RankingScores]]] = {}
    report = progress or no_progress
    for number, (name, score, embedding) in enumerate(searches):
        scorer: Scorer = PopularityScorer(graph)
        if score != POPULAR:
            prior = popularity if score == "cosine" else None
            walks = {"alpha": alpha, "beta": beta} if score == "rp3beta" else {}
            options = ScoreOptions(score, prior, **walks, seed=seed)  # type: ignore[arg-type]
            scorer = options.scorer(OWNER, embedding, graph)
        search = LinkSearch(graph, scorer, candidates)
        steps = stage(report, number, [1] * len(searches))
        lists = [found for _, found, _ in search.top(nodes, max(k), steps)]
        measured = _measure(graph, np.concatenate(lists), wanted, k, _with_edges(candidates, nodes))
        found.setdefault(name, {})[score] = measured
    return Recommendation(
        found,
        len(nodes),
        sum(map(len, wanted)),
        int(_with_edges(candidates, nodes).sum()),
        float(np.mean(edge_counts(graph)[int(graph.directed)][np.concatenate(wanted)])),
    )


def _named(embeddings: Any) -> dict[str, Embedding]:
    """The embeddings by name; a single one is called "vectors"."""
    if embeddings is None:
        return {}
    named = dict(embeddings) if isinstance(embeddings, Mapping) else {"vectors": embeddings}
    for embedding in named.values():
        if not isinstance(embedding, Embedding):
            raise ParameterError(
                f"{OWNER}: embeddings must be an Embedding or a dict of them, got "
                f"{type(embedding).__name__}."
            )
    return named


def _chosen(scores: Sequence[str] | None, has_vectors: bool) -> list[str]:
    if scores is None:
        return [score for score in ALL_SCORES if has_vectors or score not in VECTOR_SCORES]
    chosen = [scores] if isinstance(scores, str) else list(scores)
    for score in chosen:
        check_value(OWNER, "scores", OneOf(ALL_SCORES), score)
        if score in VECTOR_SCORES and not has_vectors:
            raise ParameterError(f"{OWNER}: the score {score} needs embeddings.")
    if not chosen:
        raise ParameterError(f"{OWNER}: scores must name at least one score.")
    return chosen


def _held_out_neighbors(
    held_out: HeldOut, graph: Graph, allowed: NDArray[np.bool_] | None
) -> tuple[Nodes, list[Nodes]]:
    """The nodes that are tested, and the held-out neighbors of each that may be recommended."""
    ends = (held_out.edges.column(end) for end in ("source", "target"))
    first, second = (Pairs(graph).find(end).astype(np.int64) for end in ends)
    if graph.is_target is not None:
        is_target = graph.is_target[graph.rows]
        if (is_target[first] == is_target[second]).any():
            wrong = int(np.argmax(is_target[first] == is_target[second]))
            named = (held_out.edges.column(end)[wrong].as_py() for end in ("source", "target"))
            raise ParameterError(
                f"{OWNER}: the held-out edge {' - '.join(map(repr, named))} joins two nodes on the "
                "same side of the bipartite graph."
            )
        first, second = (
            np.where(is_target[first], second, first),
            np.where(is_target[first], first, second),
        )
    elif not graph.directed:
        first, second = np.concatenate([first, second]), np.concatenate([second, first])
    if allowed is not None:
        first, second = first[allowed[second]], second[allowed[second]]
        if not len(first):
            raise ParameterError(f"{OWNER}: no held-out edge leads to a node of these types=.")
    first, second = np.unique(np.stack([first, second]), axis=1)
    nodes, start = np.unique(first, return_index=True)
    return nodes, np.split(second, start[1:])


def _with_edges(candidates: Candidates, nodes: Nodes) -> NDArray[np.bool_]:
    """Mask of the nodes with edges that could be recommended to the nodes."""
    has_edge: NDArray[np.bool_] = edge_counts(candidates.graph).sum(axis=0) > 0
    return candidates.mask(int(nodes[0])) & has_edge


def _measure(
    graph: Graph,
    lists: Nodes,
    wanted: list[Nodes],
    ks: Sequence[int],
    candidates: NDArray[np.bool_],
) -> dict[int, RankingScores]:
    """All metrics of ranked lists; missing entries are -1."""
    hits = [np.isin(own, right) for own, right in zip(lists, wanted, strict=True)]
    degrees = edge_counts(graph)[int(graph.directed)]

    def scores(k: int) -> RankingScores:
        each = [
            (
                bool(hit[:k].any()),
                ranking.recall(hit, len(right), k),
                ranking.ndcg(hit, len(right), k),
                1 / (1 + int(np.argmax(hit[:k]))) if hit[:k].any() else 0.0,
            )
            for hit, right in zip(hits, wanted, strict=True)
        ]
        listed = lists[:, :k][lists[:, :k] >= 0]
        coverage = len(np.unique(listed)) / max(1, int(candidates.sum()))
        popularity = float(np.mean(degrees[listed])) if len(listed) else 0.0
        hit_rate, recall, ndcg, mrr = map(float, np.mean(each, axis=0))
        return RankingScores(hit_rate, recall, ndcg, mrr, coverage, popularity)

    return {k: scores(k) for k in ks}
