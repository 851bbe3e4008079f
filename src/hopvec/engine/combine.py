"""From the orders N_i to the embedding: the weighted sum, and how it is normalised."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.plan import LINE, SlabPlan
from hopvec.engine.slab import Destination, Progress, Propagation, Slab, for_each_slab
from hopvec.engine.slab_file import SlabFile
from hopvec.graph import Graph
from hopvec.machine import interruptible

ROWS = 1 << 14  # looked at together
CONSTANT = 2.0**-20  # spread of a column, relative to its size, that is rounding error and no more


class WeightedSum:
    """Adds scale * N_i to the output as the rows of an order are finished."""

    def __init__(
        self,
        output: NDArray[np.float32],
        rows: NDArray[np.int32],
        scales: Mapping[int, float | NDArray[np.float32]],
    ) -> None:
        self.output, self.rows, self.scales = output, rows, scales
        self.joined: set[int] = set()  # orders added together with the one after them
        for order in scales:
            if order >= 1 and order + 1 in scales and order - 1 not in self.joined:
                self.joined.add(order)

    def block(self, order: int, slab: int) -> None:
        """No order is kept."""

    def first_column(self, slab: Slab) -> int:
        """Where the columns of a slab begin in the output."""
        return slab.first_column

    def sink(self, order: int, slab: Slab, block: NDArray[np.uint8] | None) -> _native.Sink:
        """Adds the rows of an order that has a scale; the first one overwrites."""
        if order not in self.scales or order in self.joined:
            return _native.Sink(next=block)
        joins = order - 1 in self.joined
        scale, weight = self._scale(order)
        previous_scale, previous_weight = self._scale(order - 1) if joins else (None, 0.0)
        return _native.Sink(
            next=block,
            sum=self.output,
            rows=self.rows,
            first_column=self.first_column(slab),
            columns=slab.columns,
            scale=scale,
            weight=weight,
            add=order - joins != min(self.scales),
            previous=slab.block if joins else None,
            previous_scale=previous_scale,
            previous_weight=previous_weight,
        )

    def _scale(self, order: int) -> tuple[NDArray[np.float32] | None, float]:
        scale = self.scales[order]
        return (scale, 0.0) if isinstance(scale, np.ndarray) else (None, scale)


class SlabSum(WeightedSum):
    """The same for an output that holds one slab at a time."""

    def first_column(self, slab: Slab) -> int:
        """The output holds no other columns."""
        return 0


class KeptOrders:
    """Keeps whole orders, slab by slab, to be summed when all of them are there, and again."""

    def __init__(self, plan: SlabPlan, propagation: Propagation, orders: Collection[int]) -> None:
        self.plan, self.propagation = plan, propagation
        self.graph = propagation.transition.graph
        self.size = LINE * plan.nodes
        self.kept = {order: _native.allocate(plan.slabs * self.size) for order in orders}

    @property
    def nbytes(self) -> int:
        """The memory of all orders."""
        return sum(order.nbytes for order in self.kept.values())

    def block(self, order: int, slab: int) -> NDArray[np.uint8] | None:
        """The memory of one slab of an order."""
        kept = self.kept.get(order)
        return None if kept is None else kept[slab * self.size : (slab + 1) * self.size]

    def sink(self, order: int, slab: Slab, block: NDArray[np.uint8] | None) -> _native.Sink:
        """Rows go to their block and nowhere else."""
        return _native.Sink(next=block)

    def combine(self, weights: Mapping[int, float], normalize: str) -> NDArray[np.float32]:
        """The embedding by these weights, which are of orders that are kept; see `combine`."""
        unit = normalize != "none"
        scales = weights if unit else self.propagation.scales(weights)
        output = _allocate_output(self.plan)
        interruptible(
            lambda stop: _native.weighted_sum(
                [self.kept[order] for order in sorted(weights)],
                [scales[order] for order in sorted(weights)],
                unit,
                self.plan.slabs,
                self.plan.precision == "float16",
                output,
                self.graph.rows,
                self.plan.threads,
                stop,
            )
        )
        if unit:
            normalize_sum(output, self.graph, normalize, self.plan)
        else:
            finish_sum(output, self.propagation)
        return output


class SumsOfSquares:
    """Adds up the squares of the rows of each order, slab after slab."""

    def __init__(self, plan: SlabPlan, orders: Collection[int]) -> None:
        self.squares = {order: np.zeros(plan.nodes) for order in orders}

    def block(self, order: int, slab: int) -> None:
        """No order is kept."""

    def sink(self, order: int, slab: Slab, block: NDArray[np.uint8] | None) -> _native.Sink:
        """Rows go to the next hop and into the sums."""
        return _native.Sink(next=block, squares=self.squares.get(order), columns=slab.columns)


def combine(
    plan: SlabPlan,
    propagation: Propagation,
    weights: Mapping[int, float],
    *,
    normalize: str,
    progress: Progress,
) -> NDArray[np.float32]:
    """The embedding, n x dim in the order of the ids: sum_i weights[i] * N_i, normalised.

    "none" is the plain sum, finished as the propagation says. "authors" makes the rows of every
    order unit first and standardises the columns of the sum; "full" makes the rows unit once more.
    Row norms and column sums are added in float64 in an order that depends on the graph alone.
    """
    if plan.orders == "kept":
        return keep(plan, propagation, weights, progress=progress).combine(weights, normalize)
    by_rows = plan.output == "file" or propagation.finish is not None
    run = Run(plan, propagation, weights, progress, by_rows=by_rows)
    if plan.output == "file":
        return run.in_file(weights, normalize)
    output = _allocate_output(plan)
    run.slabs(WeightedSum(output, run.graph.rows, run.scales(weights, normalize)))
    if normalize == "none":
        finish_sum(output, propagation, run.rows_done)
    else:
        normalize_sum(output, run.graph, normalize, plan)
    return output


def keep(
    plan: SlabPlan, propagation: Propagation, orders: Collection[int], *, progress: Progress
) -> KeptOrders:
    """Some orders of all slabs, which are then combined with any weights at the cost of a sum."""
    kept = KeptOrders(plan, propagation, orders)
    Run(plan, propagation, orders, progress).slabs(kept)
    return kept


class Run:
    """One run of the slabs of a plan, through all that their orders must pass to be summed.

    With `by_rows`, the rows of the sum are gone through at the end, which counts as a pass.
    """

    def __init__(
        self,
        plan: SlabPlan,
        propagation: Propagation,
        orders: Collection[int],
        progress: Progress,
        *,
        by_rows: bool = False,
    ) -> None:
        self.plan, self.graph = plan, propagation.transition.graph
        self._propagation, self._orders, self._progress = propagation, orders, progress
        self._done = 0
        self._of = plan.slabs * (plan.passes + by_rows)

    def slabs(
        self, destination: Destination, finished: Callable[[Slab], None] | None = None
    ) -> None:
        """Carries every slab through its hops into a destination; `finished` is told of each."""
        before = self._done

        def done(count: int, of: int) -> None:
            self.advance(before + count)

        def work(slab: Slab) -> None:
            self._propagation.carry(slab, self._orders)
            if finished:
                finished(slab)

        for_each_slab(self.plan, self._propagation.transition, destination, work, done)

    def advance(self, done: int) -> None:
        """Tells how far the run is, in slabs."""
        if done > self._done:
            self._done = done
            self._progress(done, self._of)

    def rows_done(self, rows: int) -> None:
        """Tells how far the run is when some rows of the sum are finished."""
        plan = self.plan
        self.advance(plan.slabs * plan.passes + plan.slabs * rows // plan.nodes)

    def scales(
        self, weights: Mapping[int, float], normalize: str
    ) -> Mapping[int, float | NDArray[np.float32]]:
        """What orders are multiplied with; for unit rows, a first pass finds their norms."""
        if normalize == "none":
            return self._propagation.scales(weights)
        norms = SumsOfSquares(self.plan, weights)
        self.slabs(norms)
        return _unit_scales(norms.squares, weights)

    def in_file(self, weights: Mapping[int, float], normalize: str) -> NDArray[np.float32]:
        """The embedding in a scratch file: summed by slabs, then normalised by blocks of rows."""
        plan, graph = self.plan, self.graph
        file = SlabFile(plan)
        connected, without_row = np.split(graph.rows, [graph.connected])
        some = self._sum_slabs(file, self.scales(weights, normalize), without_row)
        if normalize == "none":
            finish = self._propagation.finish or (lambda rows: None)
            return file.by_rows(lambda first, rows: finish(rows), self.advance)
        present = np.concatenate([connected, without_row[some]])
        mean, spread = self._statistics(file, present)
        counted = np.zeros(plan.nodes, dtype=bool)
        counted[present] = True

        def normalized(first: int, rows: NDArray[np.float32]) -> None:
            local = np.flatnonzero(counted[first : first + len(rows)]).astype(np.int32)
            standardize(rows, local, mean, spread, unit=normalize == "full", plan=plan)

        return file.by_rows(normalized, self.advance)

    def _sum_slabs(
        self,
        file: SlabFile,
        scales: Mapping[int, float | NDArray[np.float32]],
        watched: NDArray[np.int32],
    ) -> NDArray[np.bool_]:
        """Writes the weighted sum to a file; tells which of the watched rows are not zero."""
        block = np.empty((self.plan.nodes, self.plan.columns), dtype=np.float32)
        some = np.zeros(len(watched), dtype=bool)

        def finished(slab: Slab) -> None:
            file.write(slab.index, block)
            np.logical_or(some, not_zero(block[:, : slab.columns], watched), out=some)

        self.slabs(SlabSum(block, self.graph.rows, scales), finished)
        return some

    def _statistics(
        self, file: SlabFile, present: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        mean, spread = np.zeros(self.plan.dim), np.zeros(self.plan.dim)
        block = np.zeros((self.plan.nodes, self.plan.columns), dtype=np.float32)
        for index in range(self.plan.slabs if len(present) else 0):
            columns = file.columns(index)
            file.read(index, block)
            here = statistics(block, present, self.plan.threads)
            mean[columns], spread[columns] = (part[: columns.stop - columns.start] for part in here)
        return mean, spread


def finish_sum(
    output: NDArray[np.float32],
    propagation: Propagation,
    done: Callable[[int], object] = lambda rows: None,
) -> None:
    """Gives the rows of the plain sum to the propagation to finish, if it does; some at a time."""
    if propagation.finish is None:
        return
    for first in range(0, len(output), ROWS):
        some = output[first : first + ROWS]
        propagation.finish(some)
        done(first + len(some))


def normalize_sum(
    output: NDArray[np.float32], graph: Graph, normalize: str, plan: SlabPlan
) -> None:
    """Standardises the columns of a sum of unit rows in place, then makes rows unit for "full".

    Nodes without a row come last. Those whose sum is zero stay so, and out of the statistics.
    """
    connected, without_row = np.split(graph.rows, [graph.connected])
    present = np.concatenate([connected, without_row[not_zero(output, without_row)]])
    if len(present):
        mean, spread = statistics(output, present, plan.threads)
        standardize(output, present, mean, spread, unit=normalize == "full", plan=plan)


def statistics(
    values: NDArray[np.float32], rows: NDArray[np.int32], threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and 1 / deviation of the columns over `rows`, in the order of `rows`.

    A column whose spread is rounding error has 0 for 1 / deviation, and so becomes 0.
    """
    mean = interruptible(lambda stop: _native.moments(values, rows, None, threads, stop))
    mean /= len(rows)
    squares = interruptible(lambda stop: _native.moments(values, rows, mean, threads, stop))
    deviation = np.sqrt(squares / len(rows))
    varies = deviation > CONSTANT * np.sqrt(mean * mean + deviation * deviation)
    return mean, np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies)


def standardize(
    values: NDArray[np.float32],
    rows: NDArray[np.int32],
    mean: NDArray[np.float64],
    factor: NDArray[np.float64],
    *,
    unit: bool,
    plan: SlabPlan,
) -> None:
    """Brings columns to mean 0 and variance 1 in place, for `rows`, then rows to unit length."""
    interruptible(
        lambda stop: _native.standardize(values, rows, mean, factor, unit, plan.threads, stop)
    )


def not_zero(values: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each of some rows has an entry that is not zero; looks at a few rows at a time."""
    found = np.zeros(len(rows), dtype=bool)
    for first in range(0, len(rows), ROWS):
        found[first : first + ROWS] = values[rows[first : first + ROWS]].any(axis=1)
    return found


def _unit_scales(
    squares: Mapping[int, NDArray[np.float64]], weights: Mapping[int, float]
) -> dict[int, NDArray[np.float32]]:
    scales = {}
    for order, weight in weights.items():
        norm = np.sqrt(squares[order])
        scale = np.divide(weight, norm, out=np.zeros_like(norm), where=norm > 0)
        scales[order] = scale.astype(np.float32)
    return scales


def _allocate_output(plan: SlabPlan) -> NDArray[np.float32]:
    memory = _native.allocate(4 * plan.nodes * plan.dim).view(np.float32)
    return memory.reshape(plan.nodes, plan.dim)
