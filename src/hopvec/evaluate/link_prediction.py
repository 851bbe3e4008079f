"""Link prediction: how well pairs of vectors distinguish edges from other pairs of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec._native import Stop
from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.evaluate import ranking
from hopvec.evaluate.hashing import RandomStream, hash_uint64
from hopvec.evaluate.held_out import SEED, STREAMS, HeldOut
from hopvec.evaluate.logistic import fit, one_blas_thread
from hopvec.evaluate.of_types import links_of_types
from hopvec.evaluate.one_vs_rest import Fold, choose_c
from hopvec.evaluate.pairs import Pairs, Sampling, ids_like
from hopvec.graph import Graph
from hopvec.machine import interruptible, take_rows
from hopvec.methods.parameters import Integer, OneOf, check_value
from hopvec.progress import Progress, ProgressOption, callback
from hopvec.tabular import Tabular

Rows = tuple[NDArray[np.int64], NDArray[np.int64]]

OPERATORS = ("dot", "cosine", "hadamard")
HITS = (10, 50, 100)
DEGREE_ALONE = "degree alone"
MAX_TRAINING_EDGES = 20_000  # of the regression
BLOCK_ENTRIES = 1 << 22  # entries of vectors that are converted to float64 at a time


@dataclass(frozen=True)
class LinkScores:
    """How well one operator distinguishes edges from one kind of negatives.

    Attributes
    ----------
    auc : float
        The probability that an edge scores above a negative; ties count half.
    average_precision : float
        The mean, over all edges, of the precision at their score.
    hits : dict of int to float
        For each k, the share of edges that score above the k-th best negative.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, evaluate
    >>> edges = [(u, v) for u in range(40) for v in range(u) if u % 2 == v % 2]
    >>> held_out = evaluate.hold_out(Graph.from_edges(*zip(*edges)))
    >>> embedding = FastRP(dim=16).embed(held_out.training)
    >>> found = evaluate.predict_links(embedding, held_out, k=[10])
    >>> found.scores["uniform"]["cosine"]
    LinkScores(auc=1.0, average_precision=1.0, hits={10: 1.0})
    """

    auc: float
    average_precision: float
    hits: dict[int, float]


@dataclass(frozen=True)
class HadamardRegression:
    """The logistic regression behind the operator "hadamard".

    Attributes
    ----------
    C : float
        Inverse regularization strength, chosen by cross-validation on the training pairs.
    scale : float
        Factor that gives the products of vectors a root mean square of 1.
    edges : int
        Training edges; the number of training negatives is the same.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, evaluate
    >>> edges = [(u, v) for u in range(40) for v in range(u) if u % 2 == v % 2]
    >>> held_out = evaluate.hold_out(Graph.from_edges(*zip(*edges)))
    >>> embedding = FastRP(dim=16).embed(held_out.training)
    >>> found = evaluate.predict_links(embedding, held_out)
    >>> found.regression["uniform"].edges
    265
    """

    C: float
    scale: float
    edges: int


@dataclass(frozen=True, eq=False)
class FittedRegression:
    """A logistic regression that distinguishes edges from other pairs by products of vectors.

    The score of a pair is sum_i weights_i u_i v_i + intercept.
    """

    weights: NDArray[np.float64]
    intercept: float
    settings: HadamardRegression

    def to_dict(self) -> dict[str, Any]:
        """All values as plain Python objects, ready for JSON."""
        fitted = {"weights": self.weights.tolist(), "intercept": self.intercept}
        return fitted | asdict(self.settings)


@dataclass(frozen=True, repr=False)
class LinkPrediction(Tabular):
    """The result of `predict_links`; `print` shows a table, `to_dict` is ready for JSON.

    Attributes
    ----------
    edges : int
        Number of held-out edges.
    negatives : dict of str to int
        Number of negatives by how they were drawn, such as "uniform" and "degree".
    scores : dict of str to dict of str to LinkScores
        For each kind of negatives, the scores of each operator, and those of "degree alone" if
        there is a training graph: a pair is scored by the product of the degrees of its nodes.
    regression : dict of str to HadamardRegression
        For each kind of negatives, the regression of the operator "hadamard"; empty if it was not
        evaluated.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, evaluate
    >>> edges = [(u, v) for u in range(40) for v in range(u) if u % 2 == v % 2]
    >>> held_out = evaluate.hold_out(Graph.from_edges(*zip(*edges)))
    >>> embedding = FastRP(dim=16).embed(held_out.training)
    >>> found = evaluate.predict_links(embedding, held_out, operators=["cosine"])
    >>> list(found.scores["uniform"])
    ['cosine', 'degree alone']
    """

    edges: int
    negatives: dict[str, int]
    scores: dict[str, dict[str, LinkScores]]
    regression: dict[str, HadamardRegression]

    def _table_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "negatives": sampling,
                "operator": operator,
                "auc": scores.auc,
                "average_precision": scores.average_precision,
                **{f"hits@{k}": hits for k, hits in scores.hits.items()},
            }
            for sampling, by_operator in self.scores.items()
            for operator, scores in by_operator.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all scores as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The attributes of the result.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, evaluate
        >>> edges = [(u, v) for u in range(40) for v in range(u) if u % 2 == v % 2]
        >>> held_out = evaluate.hold_out(Graph.from_edges(*zip(*edges)))
        >>> embedding = FastRP(dim=16).embed(held_out.training)
        >>> found = evaluate.predict_links(embedding, held_out)
        >>> found.to_dict()["scores"]["uniform"]["cosine"]["auc"]
        1.0
        """
        return asdict(self)

    def _table(self) -> list[list[str]]:
        """The scores as strings: a header, then one row per kind of negatives and operator."""
        first = next(iter(next(iter(self.scores.values())).values()))
        hits = (f"hits@{k}" for k in first.hits)
        rows = [["negatives", "operator", "AUC", "average precision", *hits]]
        for sampling, operators in self.scores.items():
            for operator, scores in operators.items():
                values = (scores.auc, scores.average_precision, *scores.hits.values())
                rows.append([sampling, operator, *(f"{value:.4f}" for value in values)])
        return rows

    def __str__(self) -> str:
        rows = self._table()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in rows)


def predict_links(
    embedding: Embedding,
    held_out: HeldOut,
    *,
    operators: Sequence[str] | None = None,
    k: Sequence[int] | None = None,
    types: str | Sequence[str] | None = None,
    seed: int = 0,
    progress: ProgressOption = None,
) -> LinkPrediction:
    """Measure how well vectors distinguish held-out edges from pairs that are not edges.

    Embed the training graph first: `held_out.training`.

    Parameters
    ----------
    embedding : Embedding
        An embedding of the training graph. On an embedding of the whole graph the scores are
        worthless, and nothing can detect that.
    held_out : HeldOut
        The held-out edges and negatives, from `hold_out` or `read_links`. Each kind of negatives
        is compared with the same edges.
    operators : sequence of str, optional
        How a pair (u, v) is scored: "dot" (u . v), "cosine" (u . v / |u| |v|, 0 for a zero vector)
        or "hadamard", a logistic regression on the products u_i v_i. The regression is trained on
        at most 20,000 edges of the training graph and as many new non-edges, which are drawn like
        the negatives; its C is chosen by cross-validated AUC on these pairs. By default all
        operators; "hadamard" only if there is a training graph.
    k : sequence of int, optional
        Values of k for hits@k, as defined by OGB. By default 10, 50 and 100, up to the number of
        negatives.
    types : str or sequence of str, optional
        Scores only pairs whose target is of one of these types; in an undirected graph, pairs with
        a node of these types.
    seed : int
        Seed of the pairs that the regression is trained on.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the number of pairs scored and
        the total.

    Returns
    -------
    LinkPrediction
        AUC, average precision and hits@k for each kind of negatives and operator. If there is a
        training graph, the row "degree alone" shows what its degrees achieve without any vectors.

    Raises
    ------
    UnknownNodeError
        If a node has no vector.
    ParameterError
        If a parameter is invalid, or there is nothing to train the regression on.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, evaluate
    >>> edges = [(u, v) for u in range(40) for v in range(u) if u % 2 == v % 2]
    >>> held_out = evaluate.hold_out(Graph.from_edges(*zip(*edges)), share=0.2)
    >>> embedding = FastRP(dim=16).embed(held_out.training)
    >>> found = evaluate.predict_links(embedding, held_out, operators=["cosine"])
    >>> found.scores["uniform"]["cosine"].auc, found.scores["degree"]["cosine"].auc
    (1.0, 1.0)
    """
    progress = callback(progress, "scoring pairs")
    if not isinstance(embedding, Embedding):
        raise ParameterError(
            f"predict_links: embedding must be an Embedding, got a "
            f"{type(embedding).__name__}. Call predict_links once for each embedding."
        )
    operators = _operators(operators, held_out)
    tables = (held_out.edges, *held_out.negatives.values())
    if types is not None:
        held_out = links_of_types(held_out, types, embedding)
    ks = _ks(k, held_out.negatives)
    check_value("predict_links", "seed", SEED, seed)
    pairs = _TestPairs(embedding, held_out, progress, passes=1 + ("hadamard" in operators))
    scores: dict[str, dict[str, LinkScores]] = {}
    regression = {}
    for sampling in held_out.negatives:
        found = {"dot": pairs.weighted(sampling, np.ones(embedding.dim))}
        found["cosine"] = found["dot"] * pairs._inverse_norms(sampling)
        if "hadamard" in operators:
            if held_out.training is None:
                raise ParameterError("These pairs have no training graph.")
            drawn: Sampling = "degree" if sampling == "degree" else "uniform"
            fitted = fit_regression(embedding, held_out.training, drawn, seed, without=tables)
            regression[sampling] = fitted.settings
            # The intercept is left out: it shifts all scores equally, which changes no metric.
            found["hadamard"] = pairs.weighted(sampling, fitted.weights)
        found = {operator: found[operator] for operator in operators}
        if held_out.training is not None:
            found[DEGREE_ALONE] = pairs.degree_products(sampling, held_out.training)
        edges = len(held_out.edges)
        scores[sampling] = {
            name: _measure(values[:edges], values[edges:], ks) for name, values in found.items()
        }
    negatives = {sampling: len(table) for sampling, table in held_out.negatives.items()}
    return LinkPrediction(len(held_out.edges), negatives, scores, regression)


def _operators(operators: Sequence[str] | None, held_out: HeldOut) -> Sequence[str]:
    if operators is None:
        return OPERATORS if held_out.training else OPERATORS[:2]
    operators = [operators] if isinstance(operators, str) else list(operators)
    for operator in operators:
        check_value("predict_links", "operators", OneOf(OPERATORS), operator)
    if "hadamard" in operators and held_out.training is None:
        raise ParameterError(
            "predict_links: the operator hadamard is trained on the edges of the training graph, "
            "but these pairs have none. Give the graph to read_links: graph=."
        )
    return operators


def _ks(k: Sequence[int] | None, negatives: Mapping[str, pa.Table]) -> list[int]:
    limit = min(map(len, negatives.values()), default=0)
    if limit == 0:
        raise ParameterError("predict_links: there are no negatives to compare the edges with.")
    if k is None:
        return [at for at in HITS if at <= limit]
    for at in k:
        check_value("predict_links", "k", Integer(1, limit), at)
    return list(k)


def _rows(embedding: Embedding, table: pa.Table) -> Rows:
    """The rows of the vectors of both ends of each pair."""
    source, target = (
        embedding.find(ids_like(table.column(end), embedding.ids)) for end in ("source", "target")
    )
    return source, target


class _TestPairs:
    """The held-out edges, followed by one kind of negatives, and scores of these pairs."""

    def __init__(
        self, embedding: Embedding, held_out: HeldOut, progress: Progress | None, passes: int
    ) -> None:
        self._embedding, self._progress = embedding, progress
        self._tables = {
            sampling: pa.concat_tables([held_out.edges, negatives])
            for sampling, negatives in held_out.negatives.items()
        }
        self._rows = {name: _rows(embedding, table) for name, table in self._tables.items()}
        self._done, self._total = 0, passes * sum(map(len, self._tables.values()))

    def weighted(self, sampling: str, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score sum_i weights_i u_i v_i of each pair, in float64."""
        first, second = self._rows[sampling]
        scores = np.empty(len(first))
        step = max(1, BLOCK_ENTRIES // max(1, self._embedding.dim))
        for start in range(0, len(first), step):
            here = slice(start, start + step)
            terms = products(self._embedding, (first[here], second[here])) * weights
            scores[here] = terms.sum(axis=1)  # a sum by BLAS depends on its position
            self._done += len(first[here])
            if self._progress is not None:
                self._progress(self._done, self._total)
        return scores

    def _inverse_norms(self, sampling: str) -> NDArray[np.float64]:
        """1 / (|u| |v|) of each pair, 0 if one of them is 0."""
        first, second = (self._embedding._inverse_norms[row] for row in self._rows[sampling])
        return np.multiply(first, second, dtype=np.float64)

    def degree_products(self, sampling: str, training: Graph) -> NDArray[np.float64]:
        """The product of the degrees of each pair in the training graph.

        If edges joined nodes at random but for their degrees, no score could distinguish them from
        uniform pairs better, and none at all from pairs drawn by degree. This is also known as the
        preferential attachment score.
        """
        pairs = Pairs(training)
        ends = (pairs.find(self._tables[sampling].column(end)) for end in ("source", "target"))
        first, second = (degree[end] for degree, end in zip(pairs.degrees, ends, strict=True))
        return np.multiply(first, second, dtype=np.float64)


def products(embedding: Embedding, rows: Rows) -> NDArray[np.float64]:
    """The products u_i v_i of pairs of vectors, one row per pair."""
    first, second = (take_rows(embedding.vectors, row).astype(np.float64) for row in rows)
    first *= second
    return first


def fit_regression(
    embedding: Embedding,
    graph: Graph,
    sampling: Sampling,
    seed: int,
    *,
    without: Sequence[pa.Table] = (),
) -> FittedRegression:
    """Fit a logistic regression on products of vectors to the edges of a graph.

    The pairs in the tables `without` are not used.
    """
    edges, others = training_pairs(graph, sampling, seed, without=without)
    terms = products(embedding, _rows(embedding, pa.concat_tables([edges, others])))
    rms = float(np.sqrt(np.mean(terms**2)))
    scale = 1.0 / rms if rms > 0 else 1.0
    rows = np.column_stack([terms * scale, np.ones(len(terms))])
    is_edge = np.repeat([[True], [False]], [len(edges), len(others)], axis=0)
    order = np.random.default_rng(seed).permutation(len(rows))  # for the folds
    rows, is_edge = rows[order], is_edge[order]

    def choose_and_fit(stop: Stop) -> tuple[float, NDArray[np.float64]]:
        C = choose_c(rows, is_edge, stop, mean_auc)  # noqa: N806
        return C, fit(rows, is_edge, C, stop=stop)

    with one_blas_thread("Learning from edges"):
        C, weights = interruptible(choose_and_fit)  # noqa: N806
    settings = HadamardRegression(C, scale, len(edges))
    return FittedRegression(weights[:-1, 0] * scale, float(weights[-1, 0]), settings)


def mean_auc(folds: Sequence[Fold]) -> float:
    """The mean AUC of the folds that have both edges and negatives; 0.5 if there are none."""
    aucs = []
    for fold in folds:
        margins, is_edge = (fold.rows @ fold.weights)[:, 0], fold.members[:, 0]
        if 0 < is_edge.sum() < len(is_edge):
            aucs.append(ranking.auc(margins[is_edge], margins[~is_edge]))
    return float(np.mean(aucs)) if aucs else 0.5


def training_pairs(
    graph: Graph, sampling: Sampling, seed: int, *, without: Sequence[pa.Table] = ()
) -> tuple[pa.Table, pa.Table]:
    """Edges of a graph and as many non-edges, without the pairs of some tables."""
    pairs = Pairs(graph)
    codes = [pairs.encode_ids(table) for table in without]
    test = np.unique(np.concatenate([np.empty(0, np.int64), *codes]))
    edges = np.setdiff1d(pairs.edges, test, assume_unique=True)
    taken = np.union1d(pairs.edges, test)
    free = pairs.count_free(taken, sampling)
    count = min(MAX_TRAINING_EDGES, len(edges), free)
    if count == 0:
        raise ParameterError(
            "There is nothing to train a logistic regression on: "
            f"{len(edges):,} training edges and {free:,} pairs that are neither edges nor test "
            "pairs. Use another score or operator."
        )
    by_hash = np.argsort(
        hash_uint64(int(hash_uint64(seed, RandomStream.REGRESSION)[0]), edges.astype(np.uint64)),
        kind="stable",
    )
    key = int(hash_uint64(seed, RandomStream.REGRESSION, STREAMS[sampling])[0])
    others = pairs.sample_non_edges(count, taken, key, sampling)
    return pairs.decode_ids(np.sort(edges[by_hash[:count]])), pairs.decode_ids(np.sort(others))


def _measure(
    positives: NDArray[np.float64], negatives: NDArray[np.float64], ks: Sequence[int]
) -> LinkScores:
    return LinkScores(
        ranking.auc(positives, negatives),
        ranking.average_precision(positives, negatives),
        {k: ranking.hits(positives, negatives, k) for k in ks},
    )
