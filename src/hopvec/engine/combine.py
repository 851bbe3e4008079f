"""From the orders N_i to the embedding: the weighted sum, in memory or in a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.finish import Finish, Finished, FittedStatistics, allocate_rows, sum_rows
from hopvec.engine.fitted import FittedState
from hopvec.engine.normalize import BLOCK_ROWS, ColumnScaler, not_zero, statistics
from hopvec.engine.plan import CACHE_LINE_BYTES, SlabPlan
from hopvec.engine.slab import Destination, Propagation, Slab, for_each_slab
from hopvec.engine.slab_file import SlabFile
from hopvec.machine import interruptible
from hopvec.progress import Progress


class Vectors(NamedTuple):
    """Vectors, rows in the order of the ids, and what comparable ones must share with them."""

    vectors: NDArray[np.float32]
    fitted_state: FittedState | None


class WeightedSum:
    """Adds scale * N_i to the output as the rows of an order are finished."""

    def __init__(
        self,
        output: NDArray[np.float32],
        rows: NDArray[np.int32],
        scales: Mapping[int, float | NDArray[np.float32]],
    ) -> None:
        self.output, self.rows, self.scales = output, rows, scales
        self._together: list[list[int]] = []  # orders that are added when the last of them is made
        for order in sorted(scales):
            most = 3 if order == max(scales) else 2  # as many as the blocks still hold
            before = self._together[-1] if self._together else []
            if before and before[0] >= 1 and before[-1] == order - 1 and len(before) < most:
                before.append(order)
            else:
                self._together.append([order])

    def block(self, order: int, slab: int) -> None:
        """No order is kept."""

    def first_column(self, slab: Slab) -> int:
        """Where the columns of a slab begin in the output."""
        return slab.first_column

    def sink(self, order: int, slab: Slab, block: NDArray[np.uint8] | None) -> _native.Sink:
        """Adds the rows of orders that have a scale; the first ones overwrite."""
        together = next((some for some in self._together if some[-1] == order), None)
        if together is None:
            return _native.Sink(next=block)
        blocks = (slab.spare, slab.block)[3 - len(together) :]
        earlier = zip(blocks, together, strict=False)
        scale, weight = self._scale(order)
        return _native.Sink(
            next=block,
            sum=self.output,
            rows=self.rows,
            first_column=self.first_column(slab),
            columns=slab.columns,
            scale=scale,
            weight=weight,
            add=together is not self._together[0],
            fused=tuple((kept, *self._scale(before)) for kept, before in earlier),
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
        self.graph = propagation.graph
        self.size = CACHE_LINE_BYTES * plan.nodes
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

    def combine(
        self,
        weights: Mapping[int, float],
        finish: Finish,
        done: Callable[[int], object] = lambda rows: None,
    ) -> Vectors:
        """The embedding by these weights, which are of orders that are kept; see `combine`."""
        unit = finish.normalization.unit_orders
        scales = weights if unit else self.propagation.scales(weights)
        total = allocate_rows(self.plan.nodes, self.plan.width)
        interruptible(
            lambda stop: _native.weighted_sum(
                [self.kept[order] for order in sorted(weights)],
                [scales[order] for order in sorted(weights)],
                unit,
                self.plan.slabs,
                self.plan.precision == "float16",
                total,
                sum_rows(self.plan, self.graph),
                self.plan.threads,
                stop,
            )
        )
        finish_sum(total, self.propagation)
        has_row = self.propagation.has_row
        made = finish.in_memory(total, self.plan, self.graph, has_row, done)
        return _framed(made, self.propagation)


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
    finish: Finish,
    *,
    progress: Progress,
) -> Vectors:
    """The embedding, n x dim in the order of the ids: sum_i weights[i] * N_i, then finished.

    Row norms, column sums and products of columns are added in float64 in an order that depends on
    the graph alone.
    """
    mixed = plan.output == "memory" and propagation.finish is not None
    run = Run(plan, propagation, weights, progress, row_passes=plan.row_passes + mixed)
    if plan.orders == "cached":
        kept = KeptOrders(plan, propagation, weights)
        run.slabs(kept)
        return kept.combine(weights, finish, run.rows_done)
    if plan.output == "file":
        return _framed(run.in_file(weights, finish), propagation)
    total = allocate_rows(plan.nodes, plan.width)
    scales = run.scales(weights, unit=finish.normalization.unit_orders)
    run.slabs(WeightedSum(total, sum_rows(plan, run.graph), scales))
    finish_sum(total, propagation, run.rows_done)
    made = finish.in_memory(total, plan, run.graph, propagation.has_row, run.rows_done)
    return _framed(made, propagation)


def _framed(made: Finished, propagation: Propagation) -> Vectors:
    fitted_state = propagation.fitted_state
    return Vectors(made.vectors, fitted_state and replace(fitted_state, statistics=made.statistics))


def keep(
    plan: SlabPlan, propagation: Propagation, orders: Collection[int], *, progress: Progress
) -> KeptOrders:
    """Some orders of all slabs, which are then combined with any weights at the cost of a sum."""
    kept = KeptOrders(plan, propagation, orders)
    Run(plan, propagation, orders, progress).slabs(kept)
    return kept


class Run:
    """One run of the slabs of a plan, through all that their orders must pass to be summed.

    The rows of the sum are gone through `row_passes` times at the end, which count as passes.
    """

    def __init__(
        self,
        plan: SlabPlan,
        propagation: Propagation,
        orders: Collection[int],
        progress: Progress,
        *,
        row_passes: int = 0,
    ) -> None:
        self.plan, self.graph = plan, propagation.graph
        self._propagation, self._orders, self._progress = propagation, orders, progress
        self._done = 0
        self._of = plan.slabs * (plan.passes + row_passes)

    def slabs(
        self, destination: Destination, finished: Callable[[Slab], None] | None = None
    ) -> None:
        """Carries every slab through its hops into a destination; `finished` is told of each."""
        before = self._done

        def done(count: int, of: int) -> None:
            self.advance(before + count)

        def work(slab: Slab) -> None:
            self._propagation.propagate(slab, self._orders)
            if finished:
                finished(slab)

        for_each_slab(self.plan, self.graph, destination, work, done)

    def advance(self, done: int) -> None:
        """Tells how far the run is, in slabs."""
        if done > self._done:
            self._done = done
            self._progress(done, self._of)

    def rows_done(self, rows: int) -> None:
        """Tells how far the run is when some rows of the sum are finished, in all passes."""
        plan = self.plan
        self.advance(plan.slabs * plan.passes + plan.slabs * rows // plan.nodes)

    def scales(
        self, weights: Mapping[int, float], *, unit: bool
    ) -> Mapping[int, float | NDArray[np.float32]]:
        """What orders are multiplied with; for unit rows, a first pass finds their norms."""
        if not unit:
            return self._propagation.scales(weights)
        norms = SumsOfSquares(self.plan, weights)
        self.slabs(norms)
        return unit_scales(norms.squares, weights)

    def in_file(self, weights: Mapping[int, float], finish: Finish) -> Finished:
        """The embedding in a spill file: summed by slabs, then finished by blocks of rows."""
        file = SlabFile(self.plan)
        rows = sum_rows(self.plan, self.graph)
        has_row = self._propagation.has_row
        connected, without_row = rows[has_row], rows[~has_row]
        scales = self.scales(weights, unit=finish.normalization.unit_orders)
        some = self._sum_slabs(file, scales, rows, without_row)
        if self._propagation.finish:
            mix = self._propagation.finish
            mixed = file.by_rows(lambda first, rows: mix(rows), self.rows_done)
            return Finished(mixed, FittedStatistics())
        present = np.concatenate([connected, without_row[some]])
        columns = None
        if finish.normalization.standard_columns and len(present):
            columns = finish.like.columns if finish.like else self._statistics(file, present)
        return finish.in_file(file, present, columns, self.graph, self.rows_done)

    def _sum_slabs(
        self,
        file: SlabFile,
        scales: Mapping[int, float | NDArray[np.float32]],
        rows: NDArray[np.int32],
        watched: NDArray[np.int32],
    ) -> NDArray[np.bool_]:
        """Writes the weighted sum to a file; tells which of the watched rows are not zero."""
        block = np.empty((self.plan.nodes, self.plan.columns), dtype=np.float32)
        some = np.zeros(len(watched), dtype=bool)

        def finished(slab: Slab) -> None:
            file.write(slab.index, block)
            np.logical_or(some, not_zero(block[:, : slab.columns], watched), out=some)

        self.slabs(SlabSum(block, rows, scales), finished)
        return some

    def _statistics(self, file: SlabFile, present: NDArray[np.int32]) -> ColumnScaler:
        mean, factor = np.zeros(self.plan.width), np.zeros(self.plan.width)
        block = np.zeros((self.plan.nodes, self.plan.columns), dtype=np.float32)
        for index in range(self.plan.slabs):
            columns = file.columns(index)
            count = columns.stop - columns.start
            file.read(index, block)
            here = statistics(block, present, self.plan.threads)
            mean[columns], factor[columns] = here.mean[:count], here.factor[:count]
        return ColumnScaler(mean, factor)


def finish_sum(
    output: NDArray[np.float32],
    propagation: Propagation,
    done: Callable[[int], object] = lambda rows: None,
) -> None:
    """Gives the rows of the plain sum to the propagation to finish, if it does; some at a time."""
    if propagation.finish is None:
        return
    for first in range(0, len(output), BLOCK_ROWS):
        some = output[first : first + BLOCK_ROWS]
        propagation.finish(some)
        done(first + len(some))


def unit_scales(
    squares: Mapping[int, NDArray[np.float64]], weights: Mapping[int, float]
) -> dict[int, NDArray[np.float32]]:
    """What makes the rows of each order unit, by the sums of their squares, times its weight."""
    scales = {}
    for order, weight in weights.items():
        norm = np.sqrt(squares[order])
        scale = np.divide(weight, norm, out=np.zeros_like(norm), where=norm > 0)
        scales[order] = scale.astype(np.float32)
    return scales
