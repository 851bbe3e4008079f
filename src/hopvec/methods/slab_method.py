"""SlabMethod: what the methods that work slab by slab have in common."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.combine import Vectors, combine, keep
from hopvec.engine.finish import Finish
from hopvec.engine.fitted import FittedState
from hopvec.engine.normalize import Normalization
from hopvec.engine.plan import SlabPlan, least_working_bytes, make_slab_plan
from hopvec.engine.principal import principal_bytes, principal_seconds
from hopvec.engine.slab import Propagation
from hopvec.errors import MemoryLimitError, ParameterError
from hopvec.graph import Graph
from hopvec.machine import memory_limit
from hopvec.methods.method import Method
from hopvec.methods.orders import Orders
from hopvec.methods.parameters import Integer, OneOf
from hopvec.progress import Progress, no_progress

LAST = 32  # order that weights can count
ORDER = Integer(0, LAST)
ENOUGH = 10.0  # seconds after which a trial stops with the slab in hand


@dataclass(kw_only=True, eq=False, repr=False)
class SlabMethod(Method):
    """A method that carries slabs of columns through hops over the graph."""

    precision: Annotated[
        Literal["float32", "float16"],
        OneOf(("float32", "float16")),
        "storage of the orders between hops; arithmetic and output are float32",
    ] = "float32"

    COMBINE_PARAMS: ClassVar[tuple[str, ...]] = ("weights",)
    """The parameters that say how orders are summed, and nothing of the orders themselves."""

    @abstractmethod
    def propagation(self, graph: Graph) -> Propagation:
        """How the orders of a slab are made."""

    @abstractmethod
    def order_weights(self) -> dict[int, float]:
        """The orders that count, with their weights."""

    @property
    def width(self) -> int:
        """The columns that are computed: those of the vectors, or more to choose from."""
        return int(self.dim)

    @property
    def finish(self) -> Finish:
        """How the sum of the orders becomes vectors."""
        return Finish(Normalization())

    def vectors(self, graph: Graph, progress: Progress) -> NDArray[np.float32]:
        """The weighted sum of the orders, normalized."""
        return self.combined(graph, progress).vectors

    def make(
        self, graph: Graph, progress: Progress
    ) -> tuple[NDArray[np.float32], FittedState | None]:
        """The vectors, and what it takes to make comparable ones, where the method can."""
        return self.combined(graph, progress)

    def combined(self, graph: Graph, progress: Progress) -> Vectors:
        """The vectors, and what comparable ones must share with them."""
        return combine(
            self.plan(graph),
            self.propagation(graph),
            self.order_weights(),
            self.finish,
            progress=progress,
        )

    def orders(
        self,
        graph: Any,
        *,
        which: Iterable[int] | None = None,
        progress: Progress | None = None,
    ) -> Orders:
        """The orders of a graph, kept in memory, so that other weights cost one sum.

        `which` names orders to keep, such as range(1, 7); by default those that count by the
        parameters. Raises MemoryLimitError if they do not fit.

        >>> from hopvec import FastRP
        >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
        >>> orders = FastRP(dim=8).orders(graph, which=range(1, 7))
        >>> orders.embed(FastRP(dim=8, weights=(0, 0, 1, 4), normalize="none")).dim
        8
        """
        graph = self.validate_graph(graph)
        wanted = set(self.order_weights() if which is None else which)
        if not wanted or any(ORDER.fault(order) is not None for order in wanted):
            raise ParameterError(
                f"orders: which must hold integers from 0 to {LAST}, got {which!r}."
            )
        plan = self._plan(graph, orders_with_norms=len(wanted))
        if plan.orders != "cached":
            raise MemoryLimitError(
                f"{type(self).__name__}: {len(wanted)} orders of {graph.nodes:,} nodes and "
                f"{self.width:,} columns do not fit the memory. Allow more, or embed anew."
            )
        tell = progress or no_progress
        return Orders(
            self, graph, keep(plan, self.propagation(graph), sorted(wanted), progress=tell)
        )

    def more_bytes(self) -> dict[str, int]:
        """What the method keeps in memory beside slabs, by purpose."""
        if self.width == self.dim:
            return {}
        return {"principal components": principal_bytes(self.width, int(self.dim))}

    def more_bytes_of(self, graph: Graph) -> dict[str, int]:
        """What it keeps besides that depends on the graph."""
        return {}

    @property
    def parts(self) -> int:
        """The equal parts that the columns fall into; see SlabPlan."""
        return 1

    def with_dim(self, columns: int) -> Self:
        """The same method with so many columns."""
        return type(self)(**self.get_params() | {"dim": columns})

    def check(self) -> None:
        """Raises ParameterError; some order must count."""
        super().check()
        self.order_weights()

    def plan(self, graph: Graph) -> SlabPlan:
        """How a run on this graph will use threads and memory."""
        return self._plan(graph, self._orders_with_norms())

    def working_bytes(self, nodes: int, rows: int = 0) -> int:
        """The least memory that a run takes beside a graph of so many nodes and bytes of rows."""
        slab = least_working_bytes(
            nodes, precision=self.precision, orders_with_norms=self._orders_with_norms()
        )
        return slab + sum(self.more_bytes().values())

    def _plan(self, graph: Graph, orders_with_norms: int) -> SlabPlan:
        return make_slab_plan(
            graph,
            dim=int(self.dim),
            width=self.width,
            precision=self.precision,
            orders_with_norms=orders_with_norms,
            threads=self.threads,
            memory=memory_limit(self.memory),
            more=self.more_bytes() | self.more_bytes_of(graph),
            parts=self.parts,
            spill_dir=self.spill_dir,
        )

    def _orders_with_norms(self) -> int:
        return len(self.order_weights()) if self.finish.normalization.unit_orders else 0

    def estimate_seconds(self, graph: Graph, progress: Progress) -> float:
        """The time of a run, by a run with fewer columns: two slabs for each one in flight.

        What comes before and between slabs is told apart by when they are finished; what comes
        after the last, such as the normalization, grows with the columns. Principal components
        are timed on their own.
        """
        plan = self.plan(graph)
        slabs = min(plan.slabs, 2 * plan.slabs_in_flight)
        trial = self.with_dim(min(plan.width, slabs * plan.columns))
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
        if plan.compresses:
            after += principal_seconds(plan.nodes, plan.width, plan.dim, plan.threads)
        return before + plan.slabs * plan.passes * slab + after


def nonzero_weights(weights: Mapping[int, float], owner: str, named: str) -> dict[int, float]:
    """The orders whose weight is not zero; if there is none, an error that names the weights."""
    kept = {order: weight for order, weight in weights.items() if weight != 0}
    if not kept:
        raise ParameterError(
            f"{owner}: {named}: every vector would be zero. Give at least one order a weight."
        )
    return kept


class _EnoughError(Exception):
    """Ends a trial that takes long."""
