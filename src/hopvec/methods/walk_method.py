"""WalkMethod: what the methods that train on random walks have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.plan import Plan, plan_for
from hopvec.engine.walks import Walks
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.machine import memory_limit
from hopvec.methods.method import Method
from hopvec.methods.parameters import Integer, OneOf, Real
from hopvec.methods.skip_gram import BATCH, Objective, SkipGram
from hopvec.progress import Progress

NEGATIVES = 5


@dataclass(kw_only=True, eq=False, repr=False)
class WalkMethod(Method):
    """A method that walks over the graph at random, and trains skip-gram on the walks."""

    walks: Annotated[int, Integer(1, 100_000), "walks from each node (paper: gamma)"] = 80
    length: Annotated[int, Integer(2, BATCH), "nodes of a walk (paper: t)"] = 40
    window: Annotated[
        int, Integer(1, BATCH), "nodes on either side that count as near (paper: w)"
    ] = 10
    objective: Annotated[
        Objective,
        OneOf(("negative-sampling", "hierarchical-softmax")),
        "what near nodes are told from: a few random nodes, or all by a binary tree",
    ] = "negative-sampling"
    negatives: Annotated[
        int, Integer(1, 1000), "random nodes for every near one, with negative sampling"
    ] = NEGATIVES
    epochs: Annotated[int, Integer(1, 1000), "times that all walks are trained on"] = 1
    learning_rate: Annotated[
        float, Real(1e-6, 1), "size of the first steps; it falls linearly to 0"
    ] = 0.025
    workers: Annotated[
        int,
        Integer(1, 1024),
        "threads that train; with more than 1 it is faster, and every run gives other bytes",
    ] = 1

    @abstractmethod
    def biases(self) -> tuple[float, float]:
        """What holds walks from turning back, and from going far: p and q of node2vec."""

    def check(self) -> None:
        """Raises ParameterError; negatives are for negative sampling only."""
        super().check()
        if self.objective != "negative-sampling" and self.negatives != NEGATIVES:
            raise ParameterError(
                f"{type(self).__name__}: negatives is for the objective 'negative-sampling', and "
                f"the objective is {self.objective!r}. Leave negatives out, or change it."
            )

    def vectors(self, graph: Graph, progress: Progress) -> NDArray[np.float32]:
        """The trained vectors; nodes that no walk comes to have zeros."""
        walks, skip_gram = self._walks(graph), self._skip_gram()
        nodes, trained = skip_gram.train(walks, progress)
        vectors = np.zeros((graph.nodes, skip_gram.dim), np.float32)
        vectors[graph.rows[nodes]] = trained
        return vectors

    def plan(self, graph: Graph) -> Plan:
        """How a run on this graph will use threads and memory."""
        return plan_for(
            graph,
            owner=type(self).__name__,
            dim=int(self.dim),
            threads=self.threads,
            memory=memory_limit(self.memory),
            working={
                "training": self._skip_gram().working_bytes(graph.nodes),
                "sums of weights": 0 if graph.weights is None else 8 * graph.entries,
                "rows in a file": graph.mapped * graph.indices.nbytes,  # read all over
            },
        )

    def working_bytes(self, nodes: int, rows: int = 0) -> int:
        """The least memory that a run takes beside a graph of so many nodes and bytes of rows."""
        return 4 * nodes * int(self.dim) + self._skip_gram().working_bytes(nodes)

    def estimate_seconds(self, graph: Graph, progress: Progress) -> float:
        """The time of a run on this graph, from a trial of a little of the work."""
        return self._skip_gram().estimate_seconds(self._walks(graph), progress)

    def _walks(self, graph: Graph) -> Walks:
        p, q = self.biases()
        return Walks(
            graph=graph,
            rounds=int(self.walks),
            length=int(self.length),
            p=p,
            q=q,
            seed=int(self.seed),
            threads=self.plan(graph).threads,
        )

    def _skip_gram(self) -> SkipGram:
        return SkipGram(
            owner=type(self).__name__,
            dim=int(self.dim),
            window=int(self.window),
            objective=self.objective,
            negatives=int(self.negatives),
            epochs=int(self.epochs),
            learning_rate=float(self.learning_rate),
            workers=int(self.workers),
            seed=int(self.seed),
        )
