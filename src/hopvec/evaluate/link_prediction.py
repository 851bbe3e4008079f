"""Link prediction: whether two vectors tell that there is an edge between their nodes."""

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
C = 0.01  # of the logistic regression: within 0.001 of the best AUC on Cora, PPI, BlogCatalog
MAX_TRAINING_EDGES = 20_000  # that the regression learns from
BLOCK = 1 << 22  # numbers of vectors held at a time


@dataclass(frozen=True)
class LinkScores:
    """How well one operator tells edges from other pairs."""

    auc: float
    """The chance that an edge scores above another pair, a tie counted half."""
    average_precision: float
    hits: dict[int, float]
    """By k: the share of edges that score above the k-th best of the other pairs."""


@dataclass(frozen=True)
class HadamardRegression:
    """What the logistic regression on products of vectors learned from."""

    C: float
    """The inverse of the strength of its L2 penalty."""
    scale: float
    """What the products were multiplied by: their root mean square is then 1."""
    edges: int
    """Edges of the training graph, and as many pairs that are neither edges nor test pairs."""


@dataclass(frozen=True)
class LinkPrediction:
    """The outcome of `predict_links`; `print` shows a table, `to_dict` is ready for JSON."""

    edges: int
    negatives: int
    operators: dict[str, LinkScores]
    regression: HadamardRegression | None
    """Of the operator hadamard."""

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain numbers, texts and dicts."""
        return asdict(self)

    def table(self) -> list[list[str]]:
        """The measures as texts: their names, then a row an operator."""
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
    """How well vectors tell the held-out edges from pairs that are none.

    A pair scores by the `operators` "dot" (u . v), "cosine" (u . v / |u| |v|, 0 for a zero
    vector) and "hadamard": a logistic regression on the products u_i v_i. It learns from at most
    20,000 edges of the training graph and as many fresh pairs that are no edges and no test pairs,
    drawn by the `seed`; products are brought to a root mean square of 1, C is 0.01. By default all
    operators, hadamard only where there is a training graph; and hits@k for k = 10, 50, 100, as
    far as there are so many negatives (OGB's definition).

    The embedding must be one of the training graph, or the test is void: it cannot be seen from
    the vectors. Raises UnknownNodeError for a node without a vector.
    """
    operators = _operators(operators, held_out)
    ks = _ks(k, len(held_out.negatives))
    check_value("predict_links", "seed", SEED, seed)
    edges, scale = len(held_out.edges), embedding.inverse_norms
    rows = _rows(embedding, pa.concat_tables([held_out.edges, held_out.negatives]))
    passes = _Passes(embedding, rows, progress, count=2 if "hadamard" in operators else 1)
    scores = {"dot": passes.scores(np.ones(embedding.dim))}
    scores["cosine"] = scores["dot"] * np.multiply(*(scale[row] for row in rows), dtype=np.float64)
    learned = None
    if "hadamard" in operators:
        learned, weights = _learn(embedding, held_out, seed)
        scores["hadamard"] = passes.scores(weights)
    judged = {name: _judged(scores[name][:edges], scores[name][edges:], ks) for name in operators}
    return LinkPrediction(edges, len(held_out.negatives), judged, learned)


def _operators(operators: Sequence[str] | None, held_out: HeldOut) -> Sequence[str]:
    if operators is None:
        return OPERATORS if held_out.training else OPERATORS[:2]
    operators = [operators] if isinstance(operators, str) else list(operators)
    for operator in operators:
        check_value("predict_links", "operators", OneOf(OPERATORS), operator)
    if "hadamard" in operators and held_out.training is None:
        raise ParameterError(
            "predict_links: the operator hadamard learns from the edges of the training graph, and "
            "these pairs come without one. Give it to read_links (graph=, or --graph)."
        )
    return operators


def _ks(k: Sequence[int] | None, negatives: int) -> list[int]:
    if negatives == 0:
        raise ParameterError("predict_links: there are no negatives to tell the edges from.")
    if k is None:
        return [at for at in HITS if at <= negatives]
    for at in k:
        check_value("predict_links", "k", Integer(1, negatives), at)
    return list(k)


def _rows(embedding: Embedding, table: pa.Table) -> Rows:
    """The rows of the vectors of pairs of ids."""
    source, target = (
        embedding.find(ids_like(table.column(end), embedding.ids)) for end in ("source", "target")
    )
    return source, target


@dataclass
class _Passes:
    """Passes over the vectors of some pairs."""

    embedding: Embedding
    rows: Rows
    progress: Progress | None
    count: int
    done: int = 0

    def scores(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """sum_i weights_i u_i v_i of every pair, in float64."""
        first, second = self.rows
        scores = np.empty(len(first))
        step = max(1, BLOCK // max(1, self.embedding.dim))
        for start in range(0, len(first), step):
            here = slice(start, start + step)
            terms = products(self.embedding, (first[here], second[here])) * weights
            scores[here] = terms.sum(axis=1)  # not by BLAS, where a sum depends on its place
            self.done += len(first[here])
            if self.progress is not None:
                self.progress(self.done, self.count * len(first))
        return scores


def products(embedding: Embedding, rows: Rows) -> NDArray[np.float64]:
    """The products u_i v_i of pairs of vectors, one pair a row."""
    first, second = (embedding.vectors[row].astype(np.float64) for row in rows)
    first *= second
    return first


def _learn(
    embedding: Embedding, held_out: HeldOut, seed: int
) -> tuple[HadamardRegression, NDArray[np.float64]]:
    """A logistic regression on products of vectors, and the weight of each product.

    That of a constant, the intercept, moves all scores alike, which no measure sees.
    """
    edges, others = training_pairs(held_out, seed)
    learned = products(embedding, _rows(embedding, pa.concat_tables([edges, others])))
    size = float(np.sqrt(np.mean(learned**2)))
    scale = 1.0 / size if size > 0 else 1.0
    rows = np.column_stack([learned * scale, np.ones(len(learned))])
    is_edge = np.repeat([[True], [False]], [len(edges), len(others)], axis=0)
    with one_blas_thread("The operator hadamard"):
        weights = interruptible(lambda stop: fit(rows, is_edge, C, stop=stop))
    return HadamardRegression(C, scale, len(edges)), weights[:-1, 0] * scale


def training_pairs(held_out: HeldOut, seed: int) -> tuple[pa.Table, pa.Table]:
    """Edges of the training graph, and as many pairs that are no edges; no test pair among them."""
    if held_out.training is None:
        raise ParameterError("These pairs come without a training graph.")
    pairs = Pairs(held_out.training)
    test = np.union1d(pairs.encode_ids(held_out.edges), pairs.encode_ids(held_out.negatives))
    edges = np.setdiff1d(pairs.edges, test, assume_unique=True)
    taken = np.union1d(pairs.edges, test)
    count = min(MAX_TRAINING_EDGES, len(edges), pairs.free(taken))
    if count == 0:
        raise ParameterError(
            "predict_links: nothing is left for the operator hadamard to learn from, of "
            f"{len(edges):,} training edges and {pairs.free(taken):,} pairs that are neither edges "
            "nor test pairs. Leave it out."
        )
    key = int(hash_uint64(seed, RandomStream.REGRESSION)[0])
    order = np.argsort(hash_uint64(key, edges.astype(np.uint64)), kind="stable")
    others = pairs.sample_non_edges(count, taken, key)
    return pairs.decode_ids(np.sort(edges[order[:count]])), pairs.decode_ids(np.sort(others))


def _judged(
    positives: NDArray[np.float64], negatives: NDArray[np.float64], ks: Sequence[int]
) -> LinkScores:
    return LinkScores(
        ranking.auc(positives, negatives),
        ranking.average_precision(positives, negatives),
        {k: ranking.hits(positives, negatives, k) for k in ks},
    )
