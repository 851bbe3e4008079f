"""SlabMethod: what the methods that work slab by slab have in common."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from hopvec.engine.plan import SlabPlan, least_working_bytes, make_slab_plan
from hopvec.engine.slab import Progress
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.machine import memory_bound
from hopvec.methods.method import Method
from hopvec.methods.parameters import OneOf

ENOUGH = 10.0  # seconds after which a trial stops with the slab in hand


@dataclass(kw_only=True, eq=False, repr=False)
class SlabMethod(Method):
    """A method that carries slabs of columns through hops over the graph."""

    precision: Annotated[
        Literal["float32", "float16"],
        OneOf(("float32", "float16")),
        "storage of the orders between hops; arithmetic and output are float32",
    ] = "float32"

    @abstractmethod
    def order_weights(self) -> dict[int, float]:
        """The orders that count, with their weights."""

    @property
    def unit_orders(self) -> bool:
        """Whether the rows of every order are made unit, for which their norms must be known."""
        return False

    def check(self) -> None:
        """Raises ParameterError; some order must count."""
        super().check()
        self.order_weights()

    def plan(self, graph: Graph) -> SlabPlan:
        """How a run on this graph will use threads and memory."""
        return make_slab_plan(
            graph,
            dim=int(self.dim),
            precision=self.precision,
            orders_with_norms=self._orders_with_norms(),
            threads=self.threads,
            memory=memory_bound(self.memory),
        )

    def working_bytes(self, nodes: int) -> int:
        """The least memory that a run takes beside a graph of so many nodes."""
        return least_working_bytes(
            nodes, precision=self.precision, orders_with_norms=self._orders_with_norms()
        )

    def _orders_with_norms(self) -> int:
        return len(self.order_weights()) if self.unit_orders else 0

    def seconds(self, graph: Graph, progress: Progress) -> float:
        """The time of a run, by a run with fewer columns: two slabs for each one in flight.

        What comes before and between slabs is told apart by when they are finished; what comes
        after the last, such as the normalisation, grows with the columns.
        """
        plan = self.plan(graph)
        slabs = min(plan.slabs, 2 * plan.slabs_in_flight)
        dim = min(plan.dim, slabs * plan.columns)
        trial = type(self)(**self.get_params() | {"dim": dim})
        finished: list[float] = []
        start = time.perf_counter()

        def watch(done: int, of: int) -> None:
            finished.append(time.perf_counter() - start)
            progress(done, of)
            if finished[-1] > ENOUGH and done < of:
                raise _EnoughError

        try:
            trial.vectors(graph, watch)
            total = time.perf_counter() - start
        except _EnoughError:
            total = finished[-1]
        first = len(finished) // 2
        slab = (finished[-1] - (finished[first - 1] if first else 0.0)) / (len(finished) - first)
        before = max(0.0, finished[-1] - len(finished) * slab)
        after = (total - finished[-1]) * plan.slabs / slabs
        return before + plan.slabs * plan.passes * slab + after


def counted(weights: Mapping[int, float], owner: str, named: str) -> dict[int, float]:
    """The orders whose weight is not zero; if there is none, an error that names the weights."""
    kept = {order: weight for order, weight in weights.items() if weight != 0}
    if not kept:
        raise ParameterError(
            f"{owner}: {named}: every vector would be zero. Give at least one order a weight."
        )
    return kept


class _EnoughError(Exception):
    """Ends a trial that takes long."""
