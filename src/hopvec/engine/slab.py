"""Slabs: a few columns of all nodes, propagated through all hops before the next slab starts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.features import FeatureRows
from hopvec.engine.plan import CACHE_LINE_BYTES, SlabPlan
from hopvec.engine.random_rows import GaussianRows, SparseRows
from hopvec.engine.row_sum import WhitenedRows
from hopvec.errors import GraphError
from hopvec.graph import Graph
from hopvec.graph.transpose import TransposedCSR
from hopvec.machine import run_all
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.engine.fitted import FittedState

MAX_ORDER_ENTRY = 2.0**15  # no entry of an unscaled order is larger, so that orders fit float16
MAX_FLOAT32 = float(np.finfo(np.float32).max)
MAX_DEGREE = MAX_FLOAT32 / (2 * MAX_ORDER_ENTRY)  # a hop adds up weights times entries in float32

RandomRows = SparseRows | GaussianRows | FeatureRows
StartRows = RandomRows | WhitenedRows
"""What the hops start from: R in the first pass, X in later ones."""


class Destination(Protocol):
    """Receives the orders of a slab."""

    def block(self, order: int, slab: int) -> NDArray[np.uint8] | None:
        """Memory for an order that is cached; None for any other order."""

    def sink(self, order: int, slab: Slab, block: NDArray[np.uint8] | None) -> _native.Sink:
        """What to do with each finished row; `block` stores it for the next hop."""


class Transition:
    """A = D^-1 S in the form that the kernels take, or S with row factors other than 1/d.

    S is the adjacency matrix of the graph, or its transpose (`csr`) in the same internal order.
    """

    def __init__(
        self,
        graph: Graph,
        factors: NDArray[np.float64] | None = None,
        *,
        csr: TransposedCSR | None = None,
    ) -> None:
        rows = csr or graph
        self.graph = graph
        self.degrees: NDArray[np.float64] = rows._node_degrees
        check_degrees(self.degrees)
        self.symmetric: bool = csr.symmetric if csr else graph.symmetric
        if factors is None:
            degrees = self.degrees
            factors = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
        self.native: _native.Adjacency = _native.Adjacency(
            rows.indptr, rows.indices, rows.weights, factors.astype(np.float32), rows._mapped
        )

    @property
    def volume(self) -> float:
        """The sum of all entries of S: 2m of the paper."""
        return float(np.cumsum(self.degrees)[-1])  # in sequence: the same on every machine


Hops = Sequence[Transition]
"""A for every part of the columns, all in the internal order of one graph."""


class Slab:
    """One slab in flight: its columns, its current order, and two blocks to hop between."""

    def __init__(
        self,
        index: int,
        plan: SlabPlan,
        graph: Graph,
        destination: Destination,
        blocks: tuple[NDArray[np.uint8], NDArray[np.uint8]],
        stop: _native.Stop,
    ) -> None:
        self.index = index
        self.part: int
        self.group: int
        self.part, self.group = divmod(index, plan.slabs // plan.parts)
        self.first_column: int = index * plan.columns
        self.columns: int = min(plan.columns, plan.width - self.first_column)
        self.order: int = 0
        self._half = plan.precision == "float16"
        self._threads = plan.threads_per_slab
        self._graph = graph
        self._destination = destination
        self.block: NDArray[np.uint8] = blocks[0]  # the current order
        self._blocks = blocks
        self._stop = stop

    @property
    def spare(self) -> NDArray[np.uint8]:
        """The block that is not being read; in the last hop it still holds the previous order."""
        return self._blocks[1] if self.block is self._blocks[0] else self._blocks[0]

    def draw(self, start: StartRows, diagonal: NDArray[np.float32]) -> None:
        """Order 0: L R, rows of R scaled by the diagonal of L. The hops do not start from it."""
        self._draw(
            start,
            diagonal,
            self._destination.sink(0, self, self._destination.block(0, self.index)),
        )

    def start(self, start: StartRows, diagonal: NDArray[np.float32]) -> None:
        """Order 0: L R, from which the hops start."""
        cached = self._destination.block(0, self.index)
        self.block = self.block if cached is None else cached
        self._draw(start, diagonal, self._destination.sink(0, self, self.block))

    def start_with_identity(self) -> None:
        """The columns of the identity matrix, from which the hops start: order r is then A^r."""
        rows = self.block.view(np.float32).reshape(-1, CACHE_LINE_BYTES // 4)
        rows[:] = 0.0
        columns = np.arange(self.columns)
        rows[self.first_column + columns, columns] = 1.0

    def first_hop(
        self,
        transition: Transition,
        start: StartRows,
        diagonal: NDArray[np.float32],
        *,
        last: bool = False,
    ) -> None:
        """N_1 = A L R."""
        if isinstance(start, SparseRows) and start.prefer_scatter and transition.symmetric:
            self._advance(last, partial(self._scatter, transition, start, diagonal))
        else:
            self._draw(start, diagonal, _native.Sink(next=self.block))
            self.hop(transition, last=last)

    def _scatter(
        self,
        transition: Transition,
        random: SparseRows,
        diagonal: NDArray[np.float32],
        sink: _native.Sink,
    ) -> None:
        _native.first_hop(
            transition.native,
            random.sampler,
            self._graph.keys,
            diagonal,
            self.group,
            self._half,
            sink,
            self._threads,
            self._stop,
        )

    def hop(self, transition: Transition, *, last: bool = False) -> None:
        """N_i = A N_(i-1)."""
        block = self.block
        self._advance(
            last,
            lambda sink: _native.hop(
                transition.native, block, self._half, sink, self._threads, self._stop
            ),
        )

    def _advance(self, last: bool, step: Callable[[_native.Sink], None]) -> None:
        """Compute the next order into its cached block, or else into the spare block."""
        self.order += 1
        cached = self._destination.block(self.order, self.index)
        target = cached if cached is not None else None if last else self.spare
        step(self._destination.sink(self.order, self, target))
        if target is not None:
            self.block = target

    def _draw(self, start: StartRows, diagonal: NDArray[np.float32], sink: _native.Sink) -> None:
        if isinstance(start, WhitenedRows):
            columns = slice(self.first_column, self.first_column + self.columns)
            for first, rows in start.rows.slab_blocks(self.index, columns):
                _native.emit_rows(
                    rows, first, diagonal, self._half, sink, self._threads, self._stop
                )
            return
        _native.draw(
            start.sampler,
            self._graph.keys,
            diagonal,
            self.group,
            self._half,
            sink,
            self._threads,
            self._stop,
            start.features,
        )


@dataclass(frozen=True)
class Propagation:
    """How a method computes the orders of a slab, one after the other."""

    hops: Hops
    propagate: Callable[[Slab, Collection[int]], None]
    """Computes the orders of a slab, up to the last one that is needed."""
    factor: float
    """Common factor that the computed orders lack; it is applied with their weights."""
    growth: float = 1.0
    """Factor that order i lacks i times, for methods whose orders would overflow float32."""
    mix_columns: Callable[[NDArray[np.float32]], None] | None = None
    """Changes rows of the plain sum in place, for methods that mix its columns at the end."""
    fitted_state: FittedState | None = None
    """What comparable runs share; None for methods that cannot make comparable vectors."""

    @property
    def graph(self) -> Graph:
        """The graph whose internal order the slabs have, and whose ids the vectors."""
        return self.hops[0].graph

    @cached_property
    def has_row(self) -> NDArray[np.bool_]:
        """Mask of the nodes that have an edge in some direction of the hops."""
        return has_edges(self.hops)

    def scales(self, weights: Mapping[int, float]) -> dict[int, float]:
        """The factors of the computed orders in the plain sum, for these weights.

        Raises GraphError if the plain sum would overflow float32.
        """
        return checked_scales(
            {i: weight * self.factor * self.growth**i for i, weight in weights.items()}
        )


def has_edges(hops: Hops) -> NDArray[np.bool_]:
    """Mask of the nodes that have an edge in some direction of the hops."""
    rows: NDArray[np.bool_] = np.any([A.degrees > 0 for A in hops], axis=0)
    return rows


def check_degrees(degrees: NDArray[np.float64]) -> None:
    """Raise GraphError if a hop could overflow float32."""
    largest = float(degrees.max(initial=0.0))
    if largest > MAX_DEGREE:
        raise GraphError(
            f"The largest degree is {largest:.3g}: a hop would overflow float32. Divide all edge "
            f"weights by {1.1 * largest / MAX_DEGREE:.2g} or more."
        )


def checked_scales(scales: dict[int, float]) -> dict[int, float]:
    """Return the scales of orders. Raises GraphError if the plain sum could overflow float32."""
    largest = sum(map(abs, scales.values())) * MAX_ORDER_ENTRY
    if not largest < MAX_FLOAT32:
        order = max(scales, key=lambda order: abs(scales[order]))
        raise GraphError(
            f"Order {order} overflows float32: the degrees of this graph differ too much. "
            "Normalize the rows of orders, e.g. normalize='full', or rescale the edge weights."
        )
    return scales


def for_each_slab(
    plan: SlabPlan,
    graph: Graph,
    destination: Destination,
    work: Callable[[Slab], None],
    progress: Progress,
) -> None:
    """Call work(slab) for every slab of the plan, `plan.slabs_in_flight` at a time.

    Ctrl-C, or an exception raised by `work` or `progress`, stops the slabs in flight and
    propagates.
    """
    free: SimpleQueue[tuple[NDArray[np.uint8], NDArray[np.uint8]]] = SimpleQueue()
    for _ in range(plan.slabs_in_flight):
        free.put(
            (
                _native.allocate(CACHE_LINE_BYTES * plan.nodes),
                _native.allocate(CACHE_LINE_BYTES * plan.nodes),
            )
        )

    def run(index: int, stop: _native.Stop) -> None:
        blocks = free.get()
        try:
            work(Slab(index, plan, graph, destination, blocks, stop))
        finally:
            free.put(blocks)

    features = graph.features.nbytes // 4 if graph.features else 0
    run_all(
        [partial(run, index) for index in range(plan.slabs)],
        max_workers=plan.slabs_in_flight,
        done=lambda count: progress(count, plan.slabs),
        operations=plan.columns * (graph.nodes + graph.entries + features),  # of one native call
    )
