"""Objectives: the score of a trial."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from statistics import mean
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.evaluate import classify, hold_out, predict_links
from hopvec.evaluate.held_out import Samplings
from hopvec.graph import Graph
from hopvec.labels import LabeledRows, Labels
from hopvec.machine import release_pages
from hopvec.progress import Progress
from hopvec.recommendation.evaluation import MAX_LENGTH, evaluate_recommendation

MIN_TRAINING_NODES = 100  # if the search sees at least twice as many
TRAINING_SHARE = 0.01  # of the labeled nodes, as in the paper
BLOCK_ROWS = 1 << 20  # rows of an array that are hashed at a time
AUC = "auc"
METRICS = ("recall", "ndcg", "mrr", "hit_rate")  # of recommendations
MAX_RECOMMENDED = 5000  # nodes whose recommendations are evaluated in a trial
VALIDATION = 2**32  # stream of random numbers; the shuffles have streams 0, 1, ...


class Objective(Protocol):
    """Scores embeddings; higher is better."""

    graph: Graph
    """The graph to embed."""
    measure: str
    """The name of the score."""
    settings: dict[str, Any]
    """Everything besides the vectors that the score depends on."""
    unseen: Labels | None
    """Labels that are not used in any score."""

    def score(self, embedding: Embedding, progress: Progress) -> float:
        """The score of an embedding of the graph."""


class ClassificationObjective:
    """The F1 of node classification with few training labels.

    The labeled nodes are split once, by the seed. The search sees a share `validation` of them; the
    others are `unseen`, for an unbiased test. A classifier is trained on a share `train` of all
    labeled nodes (by default 1 %, as in the paper, but at least 100 nodes or half of those seen)
    and scored on the other nodes that the search sees. The score is the mean over `shuffles`,
    which are the same for every trial.
    """

    def __init__(
        self,
        graph: Graph,
        labels: Labels,
        *,
        measure: Literal["macro", "micro"],
        validation: float,
        train: float | None,
        shuffles: int,
        C: float | str,  # noqa: N803  (as classify calls it)
        threads: int | None,
        seed: int,
    ) -> None:
        found = labels.align(graph)
        nodes = len(found.rows)
        order = np.random.default_rng([seed, VALIDATION]).permutation(nodes)
        seen, unseen = np.split(order, [round(validation * nodes)])
        training = (
            max(round(TRAINING_SHARE * nodes), min(MIN_TRAINING_NODES, len(seen) // 2))
            if train is None
            else round(train * nodes)
        )
        if not 1 <= training < len(seen):
            raise ParameterError(
                f"tune: the search sees {len(seen):,} of {nodes:,} labeled nodes, so it cannot "
                f"train on {training:,} of them and score the others. Give more labels, another "
                "train=, or a larger validation=."
            )
        self.graph = graph
        self.measure = f"{measure} F1"
        self.unseen: Labels | None = _subset(graph, found, unseen)
        self.settings: dict[str, Any] = {
            "measure": self.measure,
            "validation": validation,
            "training nodes": training,
            "shuffles": shuffles,
            "C": C,
            "labels": _checksum(found.rows, found.members),
        }
        self._seen, self._share = _subset(graph, found, seen), training / len(seen)
        self._macro, self._shuffles, self._C = measure == "macro", shuffles, C
        self._threads, self._seed = threads, seed

    def score(self, embedding: Embedding, progress: Progress) -> float:
        """The F1 in percent."""
        (scores,) = classify(
            embedding,
            self._seen,
            shares=[self._share],
            shuffles=self._shuffles,
            seed=self._seed,
            C=self._C,
            threads=self._threads,
            progress=progress,
        ).shares
        return scores.macro_f1 if self._macro else scores.micro_f1


class LinkPredictionObjective:
    """The AUC of link prediction by the cosine, for each kind of negatives; the mean of these.

    A random share of the edges is held out, by the seed; the rest of the graph is embedded. Degrees
    alone cannot win: negatives drawn by degree have about the same degrees as the edges.
    """

    def __init__(self, graph: Graph, *, share: float, sampling: Samplings, seed: int) -> None:
        self._held_out = hold_out(graph, share=share, sampling=sampling, connected=False, seed=seed)
        self.graph: Graph = self._held_out.training or graph
        self.measure = "mean link AUC" if sampling == "both" else "link AUC"
        self.settings: dict[str, Any] = {
            "measure": self.measure,
            "held_out": share,
            "sampling": sampling,
        }
        self.unseen: Labels | None = None

    def score(self, embedding: Embedding, progress: Progress) -> float:
        """The AUC: the probability that a held-out edge has a larger cosine than a negative."""
        found = predict_links(
            embedding, self._held_out, operators=["cosine"], k=[], progress=progress
        )
        return mean(operators["cosine"].auc for operators in found.scores.values())


class RecommendationObjective:
    """A metric of recommending held-out edges, such as recall@20, by the score "cosine".

    One edge of each node is held out, by the seed; the rest of the graph is embedded. At most
    5,000 nodes, drawn by the seed, are evaluated.
    """

    def __init__(self, graph: Graph, *, objective: str, seed: int) -> None:
        self._held_out = hold_out(graph, per_node=True, negatives=0, seed=seed)
        self.graph: Graph = self._held_out.training or graph
        self.measure = objective
        self.settings: dict[str, Any] = {"measure": objective, "nodes": MAX_RECOMMENDED}
        self.unseen: Labels | None = None
        self._metric, _, length = objective.partition("@")
        self._k, self._seed = int(length), seed

    def score(self, embedding: Embedding, progress: Progress) -> float:
        """The metric, from 0 to 1."""
        found = evaluate_recommendation(
            embedding,
            self._held_out,
            scores=["cosine"],
            k=[self._k],
            sample=MAX_RECOMMENDED,
            seed=self._seed,
            progress=progress,
        )
        return float(getattr(found.scores["vectors"]["cosine"][self._k], self._metric))


@dataclass(frozen=True)
class ObjectiveName:
    """The name of what a search without labels maximizes."""

    def must(self) -> str:
        """See Rule."""
        return (
            f"be 'auc', or {', '.join(METRICS[:-1])} or {METRICS[-1]} with @ and a number from 1 "
            f"to {MAX_LENGTH:,}"
        )

    def fault(self, value: Any) -> str | None:
        """See Rule."""
        if value == AUC:
            return None
        metric, _, length = str(value).partition("@")
        is_number = length.isdecimal() and len(length) <= len(str(MAX_LENGTH))
        return None if metric in METRICS and is_number and 1 <= int(length) <= MAX_LENGTH else ""


def _subset(graph: Graph, found: LabeledRows, which: NDArray[np.int64]) -> Labels:
    """The labels of some of the labeled nodes, in the order of the graph's ids."""
    import scipy.sparse as sp

    which = np.sort(which)
    ids = graph.ids.take(pa.array(found.rows[which]))
    return Labels(ids, sp.csr_array(found.members[which]), found.classes)


def graph_checksum(graph: Graph) -> str:
    """A checksum of a graph: sixteen hexadecimal digits."""
    more: list[NDArray[Any]] = [] if graph.weights is None else [graph.weights]
    if graph.is_target is not None:
        more.append(graph.is_target[graph.rows])
    if graph.features is not None:
        names = json.dumps(graph.features.columns.names).encode()
        of_nodes = graph.features.numbers[graph.rows], graph.features.categories[graph.rows]
        more += [np.frombuffer(names, np.uint8), *of_nodes]
    kind = np.array([graph.directed, graph.weights is not None, graph.is_target is not None])
    return _checksum(kind, graph.keys, graph.indptr, graph.indices, *more)


def _checksum(*arrays: NDArray[Any]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for array in arrays:
        for first in range(0, len(array), BLOCK_ROWS):
            part = array[first : first + BLOCK_ROWS]
            digest.update(np.ascontiguousarray(part).data)
            release_pages(part)
    return digest.hexdigest()
