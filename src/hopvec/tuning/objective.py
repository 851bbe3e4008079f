"""Objectives: what makes one setting of a method better than another."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.evaluate import classify, hold_out, predict_links
from hopvec.graph import Graph
from hopvec.labels import LabeledRows, Labels
from hopvec.machine import release_pages
from hopvec.progress import Progress

MIN_TRAINING_NODES = 100  # nodes to learn from, where there are twice as many
SHARE = 0.01  # of the labeled nodes that are learned from, as in the paper
BLOCK = 1 << 20  # rows of an array that are looked at together
VALIDATION = 2**32  # which stream of random numbers; those of shuffles are counted from 0


class Objective(Protocol):
    """How good vectors are; more is better."""

    graph: Graph
    """What is to be embedded."""
    measure: str
    """The name of the score."""
    settings: dict[str, Any]
    """All that the score depends on beside the vectors."""
    unseen: Labels | None
    """Labels that have no part in any score."""

    def score(self, embedding: Embedding, progress: Progress) -> float:
        """The score of an embedding of the graph."""


class ClassificationObjective:
    """How well classes are told from vectors, where few labels are known.

    The labeled nodes are split once, by the seed. The search sees the labels of the share
    `validation` of them; the others are `unseen`, for an honest test. Of those seen, a regression
    learns from a share `train` of all labeled nodes (by default 1 %, as in the paper, but at
    least 100 nodes or half of those seen), and is scored on the rest; the mean over `shuffles`,
    the same ones for every trial.
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
            max(round(SHARE * nodes), min(MIN_TRAINING_NODES, len(seen) // 2))
            if train is None
            else round(train * nodes)
        )
        if not 1 <= training < len(seen):
            raise ParameterError(
                f"tune: the search sees {len(seen):,} of {nodes:,} labeled nodes, and cannot "
                f"learn from {training:,} of them and be scored on others. Give it more labels, "
                "another train, or a larger validation."
            )
        self.graph = graph
        self.measure = f"{measure} F1"
        self.unseen: Labels | None = _some(graph, found, unseen)
        self.settings = {
            "measure": self.measure,
            "validation": validation,
            "learns from": f"{training} nodes",
            "shuffles": shuffles,
            "C": C,
            "labels": _checksum(found.rows, found.members),
        }
        self._seen, self._share = _some(graph, found, seen), training / len(seen)
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
    """How well edges that were held out are told from other pairs, by the cosine of their ends.

    A share of the edges is taken out at random, by the seed; what is left is embedded.
    """

    def __init__(self, graph: Graph, *, share: float, seed: int) -> None:
        self._held_out = hold_out(graph, share=share, connected=False, seed=seed)
        self.graph = self._held_out.training or graph
        self.measure = "AUC of links"
        self.settings = {"measure": self.measure, "held_out": share}
        self.unseen: Labels | None = None

    def score(self, embedding: Embedding, progress: Progress) -> float:
        """The AUC: the chance that an edge has a larger cosine than another pair."""
        found = predict_links(
            embedding, self._held_out, operators=["cosine"], k=[], progress=progress
        )
        return found.operators["cosine"].auc


def _some(graph: Graph, found: LabeledRows, which: NDArray[np.int64]) -> Labels:
    """The labels of some of the labeled nodes, in ascending order of their ids."""
    import scipy.sparse as sp

    which = np.sort(which)
    ids = graph.ids.take(pa.array(found.rows[which]))
    return Labels(ids, sp.csr_array(found.members[which]), found.classes)


def graph_checksum(graph: Graph) -> str:
    """Sixteen digits that tell one graph from another."""
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
        for first in range(0, len(array), BLOCK):
            part = array[first : first + BLOCK]
            digest.update(np.ascontiguousarray(part).data)
            release_pages(part)  # of an array that lies in a file
    return digest.hexdigest()
