"""SlabMethod: the base class of methods that compute the embedding slab by slab."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from hopvec.engine.combine import SumFinish, cache_orders, combine
from hopvec.engine.finish import Finish
from hopvec.engine.fitted import Fitted
from hopvec.engine.normalize import Normalization
from hopvec.engine.plan import Bytes, SlabPlan, SlabWork
from hopvec.engine.principal import principal_bytes, principal_seconds
from hopvec.engine.slab import Propagation
from hopvec.errors import MemoryLimitError, ParameterError
from hopvec.graph import Graph
from hopvec.graph.size import GraphSize
from hopvec.machine import cores, memory_limit
from hopvec.methods.method import Method
from hopvec.methods.orders import Orders
from hopvec.methods.parameters import Integer, OneOf
from hopvec.progress import Progress, ProgressOption, callback, no_progress, stage

MAX_ORDER = 32
ORDER = Integer(0, MAX_ORDER)
MAX_TRIAL_SECONDS = 10.0  # a longer trial ends with the current slab


@dataclass(kw_only=True, eq=False, repr=False)
class SlabMethod(Method):
    """A method that propagates slabs of columns through hops over the graph."""

    precision: Annotated[
        Literal["float32", "float16"],
        OneOf(("float32", "float16")),
        "storage of the orders between hops; arithmetic and output are float32",
    ] = "float32"

    @abstractmethod
    def _propagation(
        self, graph: Graph, plan: SlabPlan, progress: Progress = no_progress
    ) -> Propagation:
        """How the orders of a slab are computed, after all stages before the last."""

    @abstractmethod
    def _order_weights(self) -> dict[int, float]:
        """The orders with a nonzero weight, and their weights."""

    @property
    def _combine_params(self) -> tuple[str, ...]:
        """The parameters that change how the orders are summed, but not the orders themselves."""
        return ("weights",)

    @property
    def _width(self) -> int:
        """The number of columns that are computed: `dim`, or more to choose from."""
        return int(self.dim)

    def _parts(self, graph: Graph | None = None) -> int:
        """The number of equal parts of the columns, each with its own hops; see SlabPlan."""
        return 1

    def _pass_weights(self) -> Sequence[Mapping[int, float]]:
        """The orders with a nonzero weight, and their weights, for each pass."""
        return (self._order_weights(),)

    @property
    def _pass_hops(self) -> Sequence[int]:
        """The hops of each pass; one at least, since order 0 takes time as well."""
        return [max(1, *weights) for weights in self._pass_weights()]

    @property
    def _stages(self) -> Sequence[int]:
        """The relative sizes of the stages of a run; `propagation` runs all but the last."""
        return self._pass_hops

    @property
    def _compresses(self) -> bool:
        """Whether the sum is projected on its principal components."""
        return False

    def _planned_shape(self, graph: Graph) -> dict[str, Any]:
        """The fields of a plan that the graph and the parameters determine."""
        return super()._planned_shape(graph) | {
            "width": self._width,
            "precision": self.precision,
            "parts": self._parts(graph),
            "passes": len(self._pass_hops),
            "compresses": self._compresses,
        }

    @property
    def _finish(self) -> SumFinish[Fitted]:
        """How the sum of the orders becomes vectors."""
        return Finish(Normalization())

    def _compute(self, graph: Graph, plan: SlabPlan, progress: Progress) -> Fitted:
        """The weighted sum of the orders, normalized."""
        return combine(
            plan,
            self._propagation(graph, plan, progress),
            self._order_weights(),
            self._finish,
            progress=stage(progress, len(self._stages) - 1, self._stages),
        )

    def orders(
        self,
        graph: Any,
        *,
        which: Iterable[int] | None = None,
        progress: ProgressOption = None,
    ) -> Orders:
        """Compute the orders N_i of a graph once, to try many weights.

        The orders are cached in memory; an embedding with other weights then costs one sum.

        Parameters
        ----------
        graph : Graph or graph-like
            As in `embed`.
        which : iterable of int, optional
            The orders to compute, such as range(1, 7); by default those with a nonzero weight.
        progress : bool or callable, optional
            Whether to show a progress bar; or a function, called with the amount of work done and
            the total.

        Returns
        -------
        Orders
            `orders.embed(method)` returns the same embedding as `method.embed(graph)`, if the
            parameters differ from these only in how the orders are summed.

        Raises
        ------
        MemoryLimitError
            If the orders do not fit in memory.

        Examples
        --------
        >>> from hopvec import FastRP
        >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
        >>> orders = FastRP(dim=8, passes=1).orders(graph, which=range(1, 7))
        >>> orders.embed(FastRP(dim=8, passes=1, weights=(0, 0, 1, 4), normalize="none")).dim
        8
        """
        progress = callback(progress, "propagating")
        graph = self._validate_graph(graph)
        wanted = set(self._order_weights() if which is None else which)
        if not wanted or any(ORDER.fault(order) is not None for order in wanted):
            raise ParameterError(
                f"orders: which must hold integers from 0 to {MAX_ORDER}, got {which!r}."
            )
        plan = self._plan(graph, orders_with_norms=len(wanted))
        if plan.orders != "cached":
            raise MemoryLimitError(
                f"{type(self).__name__}: {len(wanted)} orders of {graph.nodes:,} nodes and "
                f"{self._width:,} columns do not fit in memory. Increase memory=, or call embed "
                "instead."
            )
        progress = progress or no_progress
        cached = cache_orders(
            plan,
            self._propagation(graph, plan, progress),
            sorted(wanted),
            progress=stage(progress, len(self._stages) - 1, self._stages),
        )
        return Orders(self, graph, cached)

    def _with_dim(self, dim: int) -> Self:
        """The same method with another number of columns."""
        return type(self)(**self.get_params() | {"dim": dim})

    def _check(self) -> None:
        """Raise ParameterError if a parameter is invalid or all weights of a pass are zero."""
        super()._check()
        self._pass_weights()

    def plan(self, graph: Graph) -> SlabPlan:  # noqa: D102  (inherited)
        return self._plan(graph, self._orders_with_norms())

    def _min_memory(self, size: GraphSize) -> Bytes:
        return self._work(size, self._orders_with_norms()).min_memory_plan(size).bytes

    def _extra_bytes(self, size: GraphSize) -> dict[str, int]:
        """What the method keeps in memory besides the graph and slabs, by purpose."""
        if not self._compresses:
            return {}
        return {"principal components": principal_bytes(self._width, int(self.dim))}

    def _plan(
        self, graph: Graph, orders_with_norms: int, held: Mapping[str, int] | None = None
    ) -> SlabPlan:
        """The plan of a run; `held` is the memory of what the caller holds besides the graph."""
        size = GraphSize.of(graph)
        work = self._work(size, orders_with_norms, self._parts(graph), held or {})
        return work.choose(size, memory_limit(self.memory))

    def _work(
        self,
        size: GraphSize,
        orders_with_norms: int,
        parts: int = 1,
        held: Mapping[str, int] = MappingProxyType({}),
    ) -> SlabWork:
        return SlabWork(
            dim=int(self.dim),
            width=self._width,
            precision=self.precision,
            orders_with_norms=orders_with_norms,
            threads=self.threads or cores(),
            extra=self._extra_bytes(size) | dict(held),
            parts=parts,
            passes=len(self._pass_hops),
            compresses=self._compresses,
            spill_dir=self.spill_dir,
        )

    def _orders_with_norms(self) -> int:
        if not self._finish.normalization.unit_orders:
            return 0
        return max(len(weights) for weights in self._pass_weights())

    def _estimate_seconds(self, graph: Graph, plan: SlabPlan, progress: Progress) -> float:
        """The time of a run, from a run with fewer columns: two slabs for each one in flight.

        The times at which slabs finish separate the work before the first slab from that of the
        slabs. The work after the last slab, such as the normalization, grows with the columns.
        Whitening and principal components are timed separately, see `_compression_seconds`.
        """
        slabs = min(plan.slabs, 2 * plan.slabs_in_flight)
        trial = self._with_dim(min(plan.width, slabs * plan.columns))
        finished: list[float] = []
        start = time.perf_counter()

        def watch(done: int, total: int) -> None:
            finished.append(time.perf_counter() - start)
            progress(done, total)
            if finished[-1] > MAX_TRIAL_SECONDS and done < total:
                raise _TrialEndedError

        try:
            trial._compute(graph, trial.plan(graph), watch)
            elapsed = time.perf_counter() - start
        except _TrialEndedError:
            elapsed = finished[-1]
        first = len(finished) // 2
        slab = (finished[-1] - (finished[first - 1] if first else 0.0)) / (len(finished) - first)
        before = max(0.0, finished[-1] - len(finished) * slab)
        after = (elapsed - finished[-1]) * plan.slabs / slabs
        after += self._compression_seconds(plan)
        passes = sum(self._pass_hops) / self._pass_hops[-1]
        return before + passes * plan.slabs * plan.slab_runs * slab + after

    def _compression_seconds(self, plan: SlabPlan) -> float:
        """The time of principal components, by a trial."""
        if not plan.compresses:
            return 0.0
        return principal_seconds(plan.nodes, plan.width, plan.dim, plan.threads)


def nonzero_weights(weights: Mapping[int, float], owner: str, problem: str) -> dict[int, float]:
    """The orders whose weight is not zero. Raises ParameterError with the problem if none is."""
    nonzero = {order: weight for order, weight in weights.items() if weight != 0}
    if not nonzero:
        raise ParameterError(
            f"{owner}: {problem}: every vector would be zero. Give at least one order a weight."
        )
    return nonzero


class _TrialEndedError(Exception):
    """Ends a trial that takes too long."""
