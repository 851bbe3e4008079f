"""Link prediction: how well pairs of vectors distinguish edges from other pairs of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.evaluate import ranking
from hopvec.evaluate.hashing import RandomStream, hash_uint64
from hopvec.evaluate.held_out import SEED, HeldOut
from hopvec.evaluate.logistic import fit, one_blas_thread
from hopvec.evaluate.pairs import Pairs, ids_like
from hopvec.machine import interruptible
from hopvec.methods.parameters import Integer, OneOf, check_value
from hopvec.progress import Progress

Rows = tuple[NDArray[np.int64], NDArray[np.int64]]

OPERATORS = ("dot", "cosine", "hadamard")
HITS = (10, 50, 100)
C = 0.01  # within 0.001 of the best AUC on Cora, PPI and BlogCatalog
MAX_TRAINING_EDGES = 20_000  # of the regression
BLOCK_ENTRIES = 1 << 22  # entries of vectors that are converted to float64 at a time


@dataclass(frozen=True)
class LinkScores:
    """How well one operator distinguishes edges from negatives.

    Attributes
    ----------
    auc : float
        The probability that an edge scores above a negative; ties count half.
    average_precision : float
        The mean, over all edges, of the precision at their score.
    hits : dict of int to float
        For each k, the share of edges that score above the k-th best negative.
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
        Inverse regularization strength.
    scale : float
        Factor that gives the products of vectors a root mean square of 1.
    edges : int
        Training edges; the number of training negatives is the same.
    """

    C: float
    scale: float
    edges: int


@dataclass(frozen=True)
class LinkPrediction:
    """The result of `predict_links`; `print` shows a table, `to_dict` is ready for JSON.

    Attributes
    ----------
    edges, negatives : int
        Number of held-out edges and of negatives.
    operators : dict of str to LinkScores
        The scores of each operator.
    regression : HadamardRegression or None
        The regression of the operator "hadamard", if it was evaluated.
    """

    edges: int
    negatives: int
    operators: dict[str, LinkScores]
    regression: HadamardRegression | None

    def to_dict(self) -> dict[str, Any]:
        """All scores as plain Python values, ready for JSON."""
        return asdict(self)

    def table(self) -> list[list[str]]:
        """The scores as strings: a header, then one row per operator."""
        hits = next(iter(self.operators.values())).hits
        rows = [["operator", "AUC", "average precision", *(f"hits@{k}" for k in hits)]]
        for operator, scores in self.operators.items():
            values = (scores.auc, scores.average_precision, *scores.hits.values())
            rows.append([operator, *(f"{value:.4f}" for value in values)])
        return rows

    def __str__(self) -> str:
        rows = self.table()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in rows)


def predict_links(
    embedding: Embedding,
    held_out: HeldOut,
    *,
    operators: Sequence[str] | None = None,
    k: Sequence[int] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> LinkPrediction:
    """Measure how well vectors distinguish held-out edges from pairs that are not edges.

    Parameters
    ----------
    embedding : Embedding
        An embedding of the training graph. On an embedding of the whole graph the scores are
        worthless, and nothing can detect that.
    held_out : HeldOut
        The held-out edges and negatives, from `hold_out` or `read_links`.
    operators : sequence of str, optional
        How a pair (u, v) is scored: "dot" (u . v), "cosine" (u . v / |u| |v|, 0 for a zero vector)
        or "hadamard", a logistic regression on the products u_i v_i. The regression is trained on
        at most 20,000 edges of the training graph and as many new non-edges. By default all
        operators; "hadamard" only if there is a training graph.
    k : sequence of int, optional
        Values of k for hits@k, as defined by OGB. By default 10, 50 and 100, up to the number of
        negatives.
    seed : int
        Seed of the pairs that the regression is trained on.
    progress : callable, optional
        Called with the number of pairs scored and the total.

    Returns
    -------
    LinkPrediction
        AUC, average precision and hits@k of each operator.

    Raises
    ------
    UnknownNodeError
        If a node has no vector.
    ParameterError
        If a parameter is invalid, or there is nothing to train the regression on.

    Examples
    --------
    >>> from hopvec import FastRP, Graph
    >>> from hopvec.evaluate import hold_out
    >>> edges = [(u, v) for u in range(40) for v in range(u) if u % 2 == v % 2]
    >>> held_out = hold_out(Graph.from_edges(*zip(*edges)), share=0.2)
    >>> embedding = FastRP(dim=16).embed(held_out.training)
    >>> predict_links(embedding, held_out, operators=["cosine"]).operators["cosine"].auc
    1.0
    """
    operators = _operators(operators, held_out)
    ks = _ks(k, len(held_out.negatives))
    check_value("predict_links", "seed", SEED, seed)
    edges, scale = len(held_out.edges), embedding.inverse_norms
    rows = _rows(embedding, pa.concat_tables([held_out.edges, held_out.negatives]))
    passes = _Passes(embedding, rows, progress, count=2 if "hadamard" in operators else 1)
    scores = {"dot": passes.scores(np.ones(embedding.dim))}
    scores["cosine"] = scores["dot"] * np.multiply(*(scale[row] for row in rows), dtype=np.float64)
    regression = None
    if "hadamard" in operators:
        regression, weights = _fit_regression(embedding, held_out, seed)
        scores["hadamard"] = passes.scores(weights)
    results = {name: _measure(scores[name][:edges], scores[name][edges:], ks) for name in operators}
    return LinkPrediction(edges, len(held_out.negatives), results, regression)


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


def _ks(k: Sequence[int] | None, negatives: int) -> list[int]:
    if negatives == 0:
        raise ParameterError("predict_links: there are no negatives to compare the edges with.")
    if k is None:
        return [at for at in HITS if at <= negatives]
    for at in k:
        check_value("predict_links", "k", Integer(1, negatives), at)
    return list(k)


def _rows(embedding: Embedding, table: pa.Table) -> Rows:
    """The rows of the vectors of both ends of each pair."""
    source, target = (
        embedding.find(ids_like(table.column(end), embedding.ids)) for end in ("source", "target")
    )
    return source, target


@dataclass
class _Passes:
    """Passes over the vectors of pairs, with shared progress."""

    embedding: Embedding
    rows: Rows
    progress: Progress | None
    count: int
    done: int = 0

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score sum_i weights_i u_i v_i of each pair, in float64."""
        first, second = self.rows
        scores = np.empty(len(first))
        step = max(1, BLOCK_ENTRIES // max(1, self.embedding.dim))
        for start in range(0, len(first), step):
            here = slice(start, start + step)
            terms = products(self.embedding, (first[here], second[here])) * weights
            scores[here] = terms.sum(axis=1)  # a sum by BLAS depends on its position
            self.done += len(first[here])
            if self.progress is not None:
                self.progress(self.done, self.count * len(first))
        return scores


def products(embedding: Embedding, rows: Rows) -> NDArray[np.float64]:
    """The products u_i v_i of pairs of vectors, one row per pair."""
    first, second = (embedding.vectors[row].astype(np.float64) for row in rows)
    first *= second
    return first


def _fit_regression(
    embedding: Embedding, held_out: HeldOut, seed: int
) -> tuple[HadamardRegression, NDArray[np.float64]]:
    """Fit a logistic regression on products of vectors; also return the weights.

    The intercept is left out: it shifts all scores equally, which changes no metric.
    """
    edges, others = training_pairs(held_out, seed)
    terms = products(embedding, _rows(embedding, pa.concat_tables([edges, others])))
    rms = float(np.sqrt(np.mean(terms**2)))
    scale = 1.0 / rms if rms > 0 else 1.0
    rows = np.column_stack([terms * scale, np.ones(len(terms))])
    is_edge = np.repeat([[True], [False]], [len(edges), len(others)], axis=0)
    with one_blas_thread("The operator hadamard"):
        weights = interruptible(lambda stop: fit(rows, is_edge, C, stop=stop))
    return HadamardRegression(C, scale, len(edges)), weights[:-1, 0] * scale


def training_pairs(held_out: HeldOut, seed: int) -> tuple[pa.Table, pa.Table]:
    """Edges of the training graph and as many non-edges, without test pairs."""
    if held_out.training is None:
        raise ParameterError("These pairs have no training graph.")
    pairs = Pairs(held_out.training)
    test = np.union1d(pairs.encode_ids(held_out.edges), pairs.encode_ids(held_out.negatives))
    edges = np.setdiff1d(pairs.edges, test, assume_unique=True)
    taken = np.union1d(pairs.edges, test)
    count = min(MAX_TRAINING_EDGES, len(edges), pairs.count_free(taken))
    if count == 0:
        raise ParameterError(
            "predict_links: there is nothing to train the operator hadamard on: "
            f"{len(edges):,} training edges and {pairs.count_free(taken):,} pairs that are neither "
            "edges nor test pairs. Leave it out of operators=."
        )
    key = int(hash_uint64(seed, RandomStream.REGRESSION)[0])
    order = np.argsort(hash_uint64(key, edges.astype(np.uint64)), kind="stable")
    others = pairs.sample_non_edges(count, taken, key)
    return pairs.decode_ids(np.sort(edges[order[:count]])), pairs.decode_ids(np.sort(others))


def _measure(
    positives: NDArray[np.float64], negatives: NDArray[np.float64], ks: Sequence[int]
) -> LinkScores:
    return LinkScores(
        ranking.auc(positives, negatives),
        ranking.average_precision(positives, negatives),
        {k: ranking.hits(positives, negatives, k) for k in ks},
    )
