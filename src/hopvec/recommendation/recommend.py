"""recommend: for each node, the most likely edges that are not in the graph yet."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding, is_one_id
from hopvec.engine.top_products import MAX_ENTRIES
from hopvec.errors import ParameterError
from hopvec.evaluate.pairs import Pairs, ids_like
from hopvec.graph import Graph
from hopvec.methods.parameters import Integer, OneOf, Real, check_value
from hopvec.neighbors import check_k, result_parts
from hopvec.progress import Progress, ProgressOption, callback, no_progress
from hopvec.recommendation.candidates import Candidates, Nodes, nodes_of_types
from hopvec.recommendation.path_scores import (
    CommonNeighbors,
    adamic_adar,
    common_neighbors,
    rp3beta,
)
from hopvec.recommendation.vector_scores import VectorScorer

logger: logging.Logger = logging.getLogger("hopvec")

Score = Literal["cosine", "dot", "learned", "common-neighbors", "adamic-adar", "rp3beta"]
SCORES: tuple[Score, ...] = get_args(Score)
VECTOR_SCORES = SCORES[:3]
"""The scores that are computed from vectors; the others are computed on the graph itself."""
POPULARITY = 0.1
"""The default weight of popularity, chosen over five graphs: see docs/how-to/recommend.md."""
METADATA = b"hopvec.recommend"
"""The key of the score and its parameters in the metadata of a table of recommendations."""


class Scorer(Protocol):
    """Scores pairs of nodes; higher is better."""

    @property
    def name(self) -> str:
        """The name of the score."""

    @property
    def metadata(self) -> dict[str, Any]:
        """The name and the parameters of the score, ready for JSON."""

    @property
    def block(self) -> int:
        """The number of nodes to score between two progress reports."""

    def top(
        self, nodes: Nodes, k: int, candidates: Candidates
    ) -> tuple[Nodes, NDArray[np.float64]]:
        """The k best candidates of each node, -1 if there are fewer, and their scores.

        In a bipartite graph all nodes are on the same side.
        """

    def score(self, first: Nodes, second: Nodes) -> NDArray[np.float64]:
        """The scores of pairs of nodes."""

    def can_score(self, nodes: Nodes) -> NDArray[np.bool_]:
        """The mask of the nodes that have a vector, if one is needed."""


@dataclass(frozen=True)
class ScoreOptions:
    """How links are scored."""

    score: Score = "cosine"
    popularity: float | None = None
    alpha: float = 1.0
    beta: float = 0.3
    seed: int = 0

    def check(self, owner: str) -> None:
        """Raise ParameterError for an invalid value."""
        check_value(owner, "score", OneOf(SCORES), self.score)
        if self.popularity is not None:
            check_value(owner, "popularity", Real(-10, 10), self.popularity)
            if self.score != "cosine":
                raise ParameterError(
                    f"{owner}: popularity= is a part of the score cosine, not of {self.score}. "
                    "Leave it out."
                )
        check_value(owner, "alpha", Real(0, 10), self.alpha)
        check_value(owner, "beta", Real(-10, 10), self.beta)
        for name in ("alpha", "beta"):
            if self.score != "rp3beta" and getattr(self, name) != getattr(ScoreOptions, name):
                raise ParameterError(
                    f"{owner}: {name}= is a part of the score rp3beta, not of {self.score}. Leave "
                    "it out."
                )
        check_value(owner, "seed", Integer(0, 2**64 - 1), self.seed)

    def scorer(self, owner: str, embedding: Embedding | None, graph: Graph) -> Scorer:
        """The scorer of a graph and its vectors."""
        self.check(owner)
        if self.score == "common-neighbors":
            return common_neighbors(graph)
        if self.score == "adamic-adar":
            return adamic_adar(graph)
        if self.score == "rp3beta":
            return rp3beta(graph, self.alpha, self.beta)
        if not isinstance(embedding, Embedding):
            raise ParameterError(
                f"{owner}: the score {self.score} needs an Embedding, got "
                f"{type(embedding).__name__}. Without vectors, score links by the graph alone: "
                f"{', '.join(SCORES[3:])}."
            )
        popularity = POPULARITY if self.popularity is None else self.popularity
        return VectorScorer(graph, embedding, self.score, popularity=popularity, seed=self.seed)


def recommend(
    embedding: Embedding | None,
    graph: Graph,
    ids: Any = None,
    k: int = 10,
    *,
    score: Score = "cosine",
    popularity: float | None = None,
    candidates: Any = None,
    types: str | Sequence[str] | None = None,
    exclude: Any = None,
    alpha: float = 1.0,
    beta: float = 0.3,
    seed: int = 0,
    progress: ProgressOption = None,
) -> pa.Table:
    """Recommend new links: for each node, the k most likely edges that do not exist yet.

    A node is never recommended to itself. In a bipartite graph, only nodes on the other side are
    recommended, such as items to a user; in a directed graph, targets of new outgoing edges. All
    candidates are scored; nothing is sampled.

    Parameters
    ----------
    embedding : Embedding or None
        The vectors of the nodes. None is enough for the scores that need the graph only.
    graph : Graph
        The edges that exist.
    ids : id or array-like of ids, optional
        The nodes to recommend links to. By default all nodes; in a bipartite graph all nodes of the
        source side, such as users; nodes without a vector are skipped, with a warning.
    k : int, default=10
        The number of recommendations per node; fewer if there are fewer candidates.
    score : str, default="cosine"
        How links are scored. From vectors: "cosine", their cosine similarity plus `popularity`
        times the logarithm of the number of edges of the candidate; "dot", their dot product; or
        "learned", a logistic regression on the products of their entries, fitted to the edges of
        the graph. On the graph itself: "common-neighbors", "adamic-adar", or "rp3beta", random
        walks of three steps; these recommend only nodes that a path leads to.
    popularity : float, default=0.1
        How much the score "cosine" prefers popular nodes. 0 is the cosine similarity alone, which
        finds rarer nodes and fewer held-out edges.
    candidates : array-like of ids, optional
        The only nodes that may be recommended. Ids that are not in the graph are skipped here and
        in `exclude`, with a warning.
    types : str or sequence of str, optional
        The only types of nodes that may be recommended: types of the embedding, else of the graph.
    exclude : array-like of ids, or table, optional
        What not to recommend: nodes that are not recommended to anyone, or a table of two columns,
        nodes and what is not recommended to them, such as what they were shown before.
    alpha : float, default=1.0
        Parameter of "rp3beta": the power of the transition probabilities.
    beta : float, default=0.3
        Parameter of "rp3beta": the penalty of popular nodes, whose scores are divided by
        degree^beta.
    seed : int
        Seed of the pairs that "learned" is fitted to.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the number of nodes done and the
        total.

    Returns
    -------
    pyarrow.Table
        The columns id, recommended, score, rank (from 1) and common_neighbors, in the order of the
        ids, best first; ties are ordered by row. As evidence, common_neighbors is the number of
        neighbors that both nodes have. In a bipartite graph, it is the number of neighbors of the
        recommended node that share a neighbor with the node: the users of the item who also have
        another item of the user. The score and its parameters are in the metadata of the table.

    Raises
    ------
    ParameterError
        If a parameter is invalid.
    UnknownNodeError
        If an id is not a node of the graph or has no vector.

    Examples
    --------
    >>> from hopvec import Graph, recommend
    >>> users = ["ann", "ann", "bob", "bob", "cem", "cem"]
    >>> items = ["tea", "jam", "tea", "rum", "jam", "ham"]
    >>> graph = Graph.from_bipartite(users, items)
    >>> found = recommend(None, graph, "ann", score="rp3beta")
    >>> found["recommended"].to_pylist(), found["common_neighbors"].to_pylist()
    (['ham', 'rum'], [1, 1])
    """
    progress = callback(progress, "recommending")
    check_k("recommend", k)
    options = ScoreOptions(score, popularity, alpha, beta, seed)
    search = LinkSearch.create("recommend", embedding, graph, options, candidates, exclude, types)
    return search.table(search.find(ids), int(k), progress)


def score_pairs(
    embedding: Embedding | None,
    graph: Graph,
    pairs: Any,
    *,
    score: Score = "cosine",
    popularity: float | None = None,
    alpha: float = 1.0,
    beta: float = 0.3,
    seed: int = 0,
) -> pa.Table:
    """Score given pairs of nodes as `recommend` does, whether they are edges or not.

    Parameters
    ----------
    embedding : Embedding or None
        The vectors of the nodes. None is enough for the scores that need the graph only.
    graph : Graph
        The edges that exist.
    pairs : table, or tuple of two array-likes of ids
        The nodes, and the nodes that might be recommended to them: the first two columns.
    score : str, default="cosine"
        How pairs are scored, as in `recommend`.
    popularity : float, default=0.1
        How much the score "cosine" prefers popular nodes, as in `recommend`.
    alpha : float, default=1.0
        The power of the transition probabilities in "rp3beta".
    beta : float, default=0.3
        The penalty of popular nodes in "rp3beta".
    seed : int
        Seed of the pairs that "learned" is fitted to.

    Returns
    -------
    pyarrow.Table
        The columns id, recommended, score and common_neighbors, in the order of the pairs.

    Raises
    ------
    ParameterError
        If a parameter is invalid.
    UnknownNodeError
        If an id is not a node of the graph or has no vector.

    Examples
    --------
    >>> from hopvec import Graph, score_pairs
    >>> graph = Graph.from_edges(["ann", "ann", "bob"], ["bob", "cem", "cem"])
    >>> pairs = ["ann", "bob"], ["bob", "cem"]
    >>> score_pairs(None, graph, pairs, score="common-neighbors")["score"].to_pylist()
    [1.0, 1.0]
    """
    options = ScoreOptions(score, popularity, alpha, beta, seed)
    search = LinkSearch.create("score_pairs", embedding, graph, options)
    first, second = (search.find(ends) for ends in two_columns("score_pairs", "pairs", pairs))
    columns = {
        "id": search.ids(first),
        "recommended": search.ids(second),
        "score": search.scorer.score(first, second),
        "common_neighbors": search.common_neighbors.count(first, second),
    }
    return pa.table(columns).replace_schema_metadata(search.schema.metadata)


@dataclass(frozen=True, eq=False)
class LinkSearch:
    """A search for new links: who may be recommended, and how links are scored."""

    graph: Graph
    scorer: Scorer
    candidates: Candidates

    @staticmethod
    def create(
        owner: str,
        embedding: Embedding | None,
        graph: Graph,
        options: ScoreOptions,
        candidates: Any = None,
        exclude: Any = None,
        types: str | Sequence[str] | None = None,
    ) -> LinkSearch:
        """A search with the arguments of `recommend`."""
        if not isinstance(graph, Graph):
            raise ParameterError(f"{owner}: graph must be a Graph, got {type(graph).__name__}.")
        options.check(owner)
        _warn_about_another_kind(embedding, graph)
        allowed, pairs = None, None
        if candidates is not None:
            allowed = np.zeros(graph.nodes, bool)
            allowed[_known_nodes(graph, "candidates", candidates)[0]] = True
        if types is not None:
            is_wanted = nodes_of_types(owner, types, graph, embedding)
            allowed = is_wanted if allowed is None else allowed & is_wanted
        if exclude is not None and _is_table(exclude):
            ends = two_columns(owner, "exclude", exclude)
            first, second = _known_nodes(graph, "exclude", *ends)
            pairs = first, second
        elif exclude is not None:
            allowed = np.ones(graph.nodes, bool) if allowed is None else allowed
            allowed[_known_nodes(graph, "exclude", exclude)[0]] = False
        scorer = options.scorer(owner, embedding, graph)
        return LinkSearch(graph, scorer, Candidates(graph, allowed, pairs))

    @property
    def schema(self) -> pa.Schema:
        """The columns of the result, with the score and its parameters as metadata."""
        fields = [
            ("id", self.graph.ids.type),
            ("recommended", self.graph.ids.type),
            ("score", pa.float64()),
            ("rank", pa.int32()),
            ("common_neighbors", pa.int32()),
        ]
        return pa.schema(fields, {METADATA: json.dumps(self.scorer.metadata)})

    @cached_property
    def common_neighbors(self) -> CommonNeighbors:
        """The evidence for the links."""
        return CommonNeighbors(self.graph)

    def find(self, ids: Any) -> Nodes:
        """The nodes with some ids; by default all, of a bipartite graph the source side."""
        graph = self.graph
        if ids is None:
            is_wanted = np.ones(graph.nodes, bool) if graph.is_target is None else ~graph.is_target
            nodes: Nodes = np.argsort(graph.rows)[is_wanted]
            is_scored = self.scorer.can_score(nodes)
            if not is_scored.all():
                missing = int((~is_scored).sum())
                has = "has" if missing == 1 else "have"
                logger.warning(
                    f"{missing:,} of {len(nodes):,} nodes {has} no vector and no recommendations. "
                    "Embed the graph again, or use score='rp3beta', which needs no vectors."
                )
            return nodes[is_scored]
        return Pairs(graph).find([ids] if is_one_id(ids) else ids).astype(np.int64)

    def ids(self, nodes: Nodes) -> pa.Array:
        """The ids of nodes."""
        return self.graph.ids.take(pa.array(self.graph.rows[nodes]))

    def table(self, nodes: Nodes, k: int, progress: Progress | None = None) -> pa.Table:
        """The recommendations for some nodes as a table."""
        return pa.Table.from_batches(self.batches(nodes, k, progress), self.schema)

    def batches(
        self, nodes: Nodes, k: int, progress: Progress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """The recommendations for some nodes in batches, in the order of the nodes."""
        for block, found, scores in self.top(nodes, k, progress):
            is_found = found >= 0
            for part in result_parts(is_found.sum(axis=1), self.graph.ids, self.graph.ids):
                some, counts = is_found[part], is_found[part].sum(axis=1)
                first, second = np.repeat(block[part], counts), found[part][some]
                columns = [
                    self.ids(first),
                    self.ids(second),
                    scores[part][some],
                    np.cumsum(some, axis=1, dtype=np.int32)[some],
                    self.common_neighbors.count(first, second),
                ]
                yield pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=self.schema)

    def top(
        self, nodes: Nodes, k: int, progress: Progress | None = None
    ) -> Iterator[tuple[Nodes, Nodes, NDArray[np.float64]]]:
        """Blocks of the nodes, the k best candidates of each, and their scores."""
        done, report = 0, progress or no_progress
        k = min(k, self.graph.nodes)
        size = max(1, min(self.scorer.block, MAX_ENTRIES // max(1, k)))
        for block in self.candidates.runs(nodes, size):
            yield block, *self.scorer.top(block, k, self.candidates)
            done += len(block)
            report(done, len(nodes))


def _known_nodes(graph: Graph, name: str, *columns: Any) -> tuple[Nodes, ...]:
    """The nodes of ids or of pairs of ids; those that are not in the graph are skipped."""
    import pyarrow.compute as pc

    ids = [ids_like(column, graph.ids) for column in columns]
    rows = [
        pc.index_in(column, value_set=graph.ids)
        if column.type == graph.ids.type
        else pa.nulls(len(column), pa.int32())
        for column in ids
    ]
    is_known = np.logical_and.reduce(
        [row.is_valid().to_numpy(zero_copy_only=False) for row in rows]
    )
    if not is_known.all():
        wrong = int(np.argmin(is_known))
        shown = " - ".join(repr(column[wrong].as_py()) for column in ids)
        count = int((~is_known).sum())
        logger.warning(
            f"{name}: ignoring {count:,} of {len(is_known):,} {'ids' if len(ids) == 1 else 'pairs'}"
            f", which {'is' if count == 1 else 'are'} not in the graph: {shown}"
            f"{', ...' if count > 1 else '.'}"
        )
    numbers = np.argsort(graph.rows)
    return tuple(numbers[row.filter(pa.array(is_known)).to_numpy()] for row in rows)


def _warn_about_another_kind(embedding: Embedding | None, graph: Graph) -> None:
    """Warn if the vectors are those of a bipartite or a directed graph, and this one is not."""
    if not isinstance(embedding, Embedding):
        return
    for kind, was, remedy in (
        ("bipartite", "sides" in embedding.graph and graph.is_target is None, "bipartite=True"),
        ("directed", embedding.graph.get("directed") and not graph.directed, "directed=True"),
    ):
        if was:
            logger.warning(
                f"The vectors are those of a {kind} graph, but graph is not: read it with {remedy}."
            )


def _is_table(value: Any) -> bool:
    """Whether a value has columns: a table, a dict, or a tuple of two columns."""
    if isinstance(value, tuple):
        return len(value) == 2 and not any(map(is_one_id, value))
    return isinstance(value, dict | pa.Table) or hasattr(value, "columns")


def two_columns(owner: str, name: str, pairs: Any) -> tuple[Any, Any]:
    """The first two columns of a table, or a tuple of two columns."""
    if isinstance(pairs, tuple) and _is_table(pairs):
        return pairs
    try:
        table = pa.table(pairs)
        return table.column(0), table.column(1)
    except (TypeError, ValueError, IndexError, pa.ArrowException) as error:
        raise ParameterError(
            f"{owner}: {name} must be a table of two columns of ids, or a tuple of two lists of "
            f"ids, got {type(pairs).__name__}."
        ) from error
