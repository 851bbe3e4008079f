"""WalkMethod: the base class of methods that train on random walks."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hopvec.engine.fitted import Fitted
from hopvec.engine.plan import Bytes, Plan, plan_for
from hopvec.engine.walks import Walks
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.graph.size import GraphSize
from hopvec.machine import memory_limit
from hopvec.methods.method import Method
from hopvec.methods.parameters import Integer, OneOf, Real
from hopvec.methods.skip_gram import BATCH, Loss, SkipGram
from hopvec.progress import Progress

NEGATIVES = 5


@dataclass(kw_only=True, eq=False, repr=False)
class WalkMethod(Method):
    """A method that trains skip-gram on random walks."""

    walks: Annotated[int, Integer(1, 100_000), "walks from each node (paper: gamma)"] = 80
    length: Annotated[int, Integer(2, BATCH), "nodes per walk (paper: t)"] = 40
    window: Annotated[
        int, Integer(1, BATCH), "nodes on either side that are the context of a node (paper: w)"
    ] = 10
    loss: Annotated[
        Loss,
        OneOf(("negative-sampling", "hierarchical-softmax")),
        "how context nodes are predicted: against random nodes, or by a binary tree of all nodes",
    ] = "negative-sampling"
    negatives: Annotated[
        int, Integer(1, 1000), "random nodes per context node, with negative sampling"
    ] = NEGATIVES
    epochs: Annotated[int, Integer(1, 1000), "passes over all walks"] = 1
    learning_rate: Annotated[
        float, Real(1e-6, 1), "initial learning rate; it decreases linearly to 0"
    ] = 0.025
    workers: Annotated[
        int,
        Integer(1, 1024),
        "threads that train; more than 1 is faster, but the results then differ from run to run",
    ] = 1

    @abstractmethod
    def _biases(self) -> tuple[float, float]:
        """The return parameter p and the in-out parameter q of node2vec."""

    def _check(self) -> None:
        """Raise ParameterError if a parameter, or a combination of parameters, is invalid."""
        super()._check()
        if self.loss != "negative-sampling" and self.negatives != NEGATIVES:
            raise ParameterError(
                f"{type(self).__name__}: negatives applies to loss='negative-sampling' only, "
                f"but loss is {self.loss!r}. Leave one of them out."
            )

    def _compute(self, graph: Graph, plan: Plan, progress: Progress) -> Fitted:
        """The trained vectors; those of nodes that no walk visits are zero."""
        walks, skip_gram = self._walks(graph, plan.threads), self._skip_gram()
        nodes, trained = skip_gram.train(walks, progress)
        vectors = np.zeros((graph.nodes, skip_gram.dim), np.float32)
        vectors[graph.rows[nodes]] = trained
        return Fitted(vectors)

    def plan(self, graph: Graph) -> Plan:  # noqa: D102  (inherited)
        size = GraphSize.of(graph)
        return plan_for(
            size,
            owner=type(self).__name__,
            dim=int(self.dim),
            threads=self.threads,
            memory=memory_limit(self.memory),
            working=self._working(size),
        )

    def _min_memory(self, size: GraphSize) -> Bytes:
        return Bytes(size.resident, 4 * size.nodes * int(self.dim), self._working(size))

    def _working(self, size: GraphSize) -> dict[str, int]:
        return {
            "training": self._skip_gram().working_bytes(size.nodes),
            "sums of weights": size.weighted * 8 * size.entries,
            "rows in a file": size.in_file * size.entry_bytes,  # accessed at random
        }

    def _estimate_seconds(self, graph: Graph, plan: Plan, progress: Progress) -> float:
        """The time of a run on this graph, extrapolated from a short trial."""
        return self._skip_gram().estimate_seconds(self._walks(graph, plan.threads), progress)

    def _walks(self, graph: Graph, threads: int) -> Walks:
        p, q = self._biases()
        return Walks(
            graph=graph,
            rounds=int(self.walks),
            length=int(self.length),
            p=p,
            q=q,
            seed=int(self.seed),
            threads=threads,
        )

    def _skip_gram(self) -> SkipGram:
        return SkipGram(
            owner=type(self).__name__,
            dim=int(self.dim),
            window=int(self.window),
            loss=self.loss,
            negatives=int(self.negatives),
            epochs=int(self.epochs),
            learning_rate=float(self.learning_rate),
            workers=int(self.workers),
            seed=int(self.seed),
        )
