"""From the orders N_i to the embedding: their weighted sum, in memory or in a spill file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.finish import RowsDone, allocate_rows, sum_rows
from hopvec.engine.normalize import BLOCK_ROWS, Normalization, is_nonzero, present_rows
from hopvec.engine.plan import CACHE_LINE_BYTES, SlabPlan
from hopvec.engine.row_sum import FileSum, MemorySum
from hopvec.engine.slab import Destination, Propagation, Slab, for_each_slab
from hopvec.engine.slab_file import SlabFile
from hopvec.graph import Graph
from hopvec.machine import interruptible
from hopvec.progress import Progress

Result = TypeVar("Result", covariant=True)


@dataclass
class PassMemory:
    """The memory of cached orders and of their sum, which the passes of a run share."""

    orders: NDArray[np.uint8] | None = None
    total: NDArray[np.float32] | None = None


class SumFinish(Protocol[Result]):
    """What becomes of the finished sum."""

    @property
    def normalization(self) -> Normalization:
        """How the orders and the sum are normalized."""

    def apply(
        self, total: MemorySum | FileSum, plan: SlabPlan, propagation: Propagation, done: RowsDone
    ) -> Result:
        """The result; `done` is called with the number of rows processed, over all passes."""


class WeightedSum:
    """Adds scale * N_i to the output as soon as the rows of an order are computed."""

    def __init__(
        self,
        output: NDArray[np.float32],
        rows: NDArray[np.int32],
        scales: Mapping[int, float | NDArray[np.float32]],
    ) -> None:
        self.output: NDArray[np.float32] = output
        self.rows: NDArray[np.int32] = rows
        self.scales: Mapping[int, float | NDArray[np.float32]] = scales
        self._fused: list[list[int]] = []  # orders added together, when the last one is computed
        for order in sorted(scales):
            max_fused = 3 if order == max(scales) else 2  # as many as the blocks still hold
            last = self._fused[-1] if self._fused else []
            if last and last[0] >= 1 and last[-1] == order - 1 and len(last) < max_fused:
                last.append(order)
            else:
                self._fused.append([order])

    def block(self, order: int, slab: int) -> None:
        """No order is cached."""

    def first_column(self, slab: Slab) -> int:
        """The first column of a slab in the output."""
        return slab.first_column

    def sink(self, order: int, slab: Slab, block: NDArray[np.uint8] | None) -> _native.Sink:
        """Add the rows of orders that have a scale; the first orders overwrite the output."""
        fused = next((orders for orders in self._fused if orders[-1] == order), None)
        if fused is None:
            return _native.Sink(next=block)
        blocks = (slab.spare, slab.block)[3 - len(fused) :]
        earlier = zip(blocks, fused, strict=False)
        scale, weight = self._scale(order)
        return _native.Sink(
            next=block,
            sum=self.output,
            rows=self.rows,
            first_column=self.first_column(slab),
            columns=slab.columns,
            scale=scale,
            weight=weight,
            add=fused is not self._fused[0],
            fused=tuple((stored, *self._scale(before)) for stored, before in earlier),
        )

    def _scale(self, order: int) -> tuple[NDArray[np.float32] | None, float]:
        scale = self.scales[order]
        return (scale, 0.0) if isinstance(scale, np.ndarray) else (None, scale)


class SlabSum(WeightedSum):
    """Adds scale * N_i to an output that holds one slab at a time."""

    def first_column(self, slab: Slab) -> int:
        """0: the output holds no other columns."""
        return 0


class CachedOrders:
    """Caches whole orders, slab by slab, so that they can be summed later, any number of times."""

    def __init__(
        self,
        plan: SlabPlan,
        propagation: Propagation,
        orders: Collection[int],
        memory: PassMemory | None = None,
    ) -> None:
        self.plan: SlabPlan = plan
        self.propagation: Propagation = propagation
        self._memory = memory
        self.slab_bytes: int = CACHE_LINE_BYTES * plan.nodes
        memory, size = memory or PassMemory(), plan.slabs * self.slab_bytes
        if memory.orders is None or memory.orders.nbytes < len(orders) * size:
            # For the pass with the most orders, and in one piece: that takes fewer, larger pages.
            memory.orders = _native.allocate(max(len(orders) * size, plan.bytes.working["orders"]))
        self.blocks: dict[int, NDArray[np.uint8]] = {
            order: memory.orders[number * size : (number + 1) * size]
            for number, order in enumerate(sorted(orders))
        }

    @property
    def nbytes(self) -> int:
        """The memory of all orders."""
        return sum(order.nbytes for order in self.blocks.values())

    def block(self, order: int, slab: int) -> NDArray[np.uint8] | None:
        """The memory of one slab of an order."""
        blocks, size = self.blocks.get(order), self.slab_bytes
        return None if blocks is None else blocks[slab * size : (slab + 1) * size]

    def sink(self, order: int, slab: Slab, block: NDArray[np.uint8] | None) -> _native.Sink:
        """Store the rows in their block and nowhere else."""
        return _native.Sink(next=block)

    def combine(
        self,
        weights: Mapping[int, float],
        finish: SumFinish[Result],
        done: RowsDone = lambda rows: None,
        *,
        compresses: bool | None = None,
    ) -> Result:
        """The result for weights of cached orders; see `combine`.

        `compresses` replaces that of the plan, if the sum is finished in another way than planned.
        """
        plan = self.plan if compresses is None else replace(self.plan, compresses=compresses)
        unit = finish.normalization.unit_orders
        scales = weights if unit else self.propagation.scales(weights)
        total = self._allocate_total()
        interruptible(
            lambda stop: _native.weighted_sum(
                [self.blocks[order] for order in sorted(weights)],
                [scales[order] for order in sorted(weights)],
                unit,
                plan.slabs,
                plan.precision == "float16",
                total,
                sum_rows(plan, self.propagation.graph),
                plan.threads,
                stop,
            ),
            operations=4 * total.size * len(weights),
        )
        return finish_in_memory(total, plan, self.propagation, finish, done)

    def _allocate_total(self) -> NDArray[np.float32]:
        """The memory of the sum. A pass no longer needs what it started from: that is replaced."""
        memory = self._memory or PassMemory()
        if memory.total is None:
            memory.total = allocate_rows(self.plan.nodes, self.plan.width)
        return memory.total


class SumsOfSquares:
    """Adds up the squares of the rows of each order, slab after slab."""

    def __init__(self, plan: SlabPlan, orders: Collection[int]) -> None:
        self.squares: dict[int, NDArray[np.float64]] = {
            order: np.zeros(plan.nodes) for order in orders
        }

    def block(self, order: int, slab: int) -> None:
        """No order is cached."""

    def sink(self, order: int, slab: Slab, block: NDArray[np.uint8] | None) -> _native.Sink:
        """Store the rows for the next hop and add their squares."""
        return _native.Sink(next=block, squares=self.squares.get(order), columns=slab.columns)


def combine(
    plan: SlabPlan,
    propagation: Propagation,
    weights: Mapping[int, float],
    finish: SumFinish[Result],
    *,
    progress: Progress,
    memory: PassMemory | None = None,
) -> Result:
    """Run all slabs of a pass and return the finished sum_i weights[i] * N_i.

    Row norms, column sums and products of columns are added in float64, in an order that depends
    on the graph alone. `memory` is used again by the next pass.
    """
    mixes = plan.output == "memory" and propagation.mix_columns is not None
    run = Run(plan, propagation, weights, progress, row_passes=plan.row_passes + mixes)
    if plan.orders == "cached":
        cached = CachedOrders(plan, propagation, weights, memory)
        run.slabs(cached)
        return cached.combine(weights, finish, run.rows_done)
    if plan.output == "file":
        return run.in_file(weights, finish)
    total = allocate_rows(plan.nodes, plan.width)
    scales = run.scales(weights, unit=finish.normalization.unit_orders)
    run.slabs(WeightedSum(total, sum_rows(plan, run.graph), scales))
    return finish_in_memory(total, plan, propagation, finish, run.rows_done)


def finish_in_memory(
    total: NDArray[np.float32],
    plan: SlabPlan,
    propagation: Propagation,
    finish: SumFinish[Result],
    done: RowsDone,
) -> Result:
    """Finish a sum in memory, which is changed in place; its rows are `sum_rows`."""
    mix_columns(total, propagation, done)
    present = present_rows(total, propagation.has_row, sum_rows(plan, propagation.graph))
    return finish.apply(MemorySum(total, present), plan, propagation, done)


def cache_orders(
    plan: SlabPlan, propagation: Propagation, orders: Collection[int], *, progress: Progress
) -> CachedOrders:
    """Compute some orders of all slabs; combining them later costs one sum."""
    cached = CachedOrders(plan, propagation, orders)
    Run(plan, propagation, orders, progress).slabs(cached)
    return cached


class Run:
    """Runs the slabs of a plan and reports their progress.

    `row_passes` passes over the rows of the sum follow, and count as passes over the slabs.
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
        self.plan: SlabPlan = plan
        self.graph: Graph = propagation.graph
        self._propagation, self._orders, self._progress = propagation, orders, progress
        self._done = 0
        self._total = plan.slabs * (plan.slab_runs + row_passes)

    def slabs(
        self, destination: Destination, finished: Callable[[Slab], None] | None = None
    ) -> None:
        """Propagate every slab into a destination; call `finished` with each."""
        before = self._done

        def done(count: int, total: int) -> None:
            self.advance(before + count)

        def work(slab: Slab) -> None:
            self._propagation.propagate(slab, self._orders)
            if finished:
                finished(slab)

        for_each_slab(self.plan, self.graph, destination, work, done)

    def advance(self, done: int) -> None:
        """Report the slabs done."""
        if done > self._done:
            self._done = done
            self._progress(done, self._total)

    def rows_done(self, rows: int) -> None:
        """Report rows of the sum, added up over all passes, as slabs."""
        plan = self.plan
        self.advance(plan.slabs * plan.slab_runs + plan.slabs * rows // plan.nodes)

    def scales(
        self, weights: Mapping[int, float], *, unit: bool
    ) -> Mapping[int, float | NDArray[np.float32]]:
        """The factors of the orders in the sum; a pass of its own finds the norms for unit rows."""
        if not unit:
            return self._propagation.scales(weights)
        norms = SumsOfSquares(self.plan, weights)
        self.slabs(norms)
        return unit_scales(norms.squares, weights)

    def in_file(self, weights: Mapping[int, float], finish: SumFinish[Result]) -> Result:
        """The result in a spill file: summed slab by slab, then finished by blocks of rows."""
        file = SlabFile(self.plan)
        rows = sum_rows(self.plan, self.graph)
        has_row = self._propagation.has_row
        connected, without_row = rows[has_row], rows[~has_row]
        scales = self.scales(weights, unit=finish.normalization.unit_orders)
        nonzero = self._sum_slabs(file, scales, rows, without_row)
        present = np.concatenate([connected, without_row[nonzero]])
        return finish.apply(FileSum(file, present), self.plan, self._propagation, self.rows_done)

    def _sum_slabs(
        self,
        file: SlabFile,
        scales: Mapping[int, float | NDArray[np.float32]],
        rows: NDArray[np.int32],
        checked: NDArray[np.int32],
    ) -> NDArray[np.bool_]:
        """Write the weighted sum to a file; return a mask of nonzero rows among the checked."""
        block = np.empty((self.plan.nodes, self.plan.columns), dtype=np.float32)
        nonzero = np.zeros(len(checked), dtype=bool)

        def finished(slab: Slab) -> None:
            file.write(slab.index, block)
            np.logical_or(nonzero, is_nonzero(block[:, : slab.columns], checked), out=nonzero)

        self.slabs(SlabSum(block, rows, scales), finished)
        return nonzero


def mix_columns(
    total: NDArray[np.float32], propagation: Propagation, done: RowsDone = lambda rows: None
) -> None:
    """Mixes the columns of the plain sum in place, by blocks of rows, if the method does so."""
    if propagation.mix_columns is None:
        return
    for first in range(0, len(total), BLOCK_ROWS):
        rows = total[first : first + BLOCK_ROWS]
        propagation.mix_columns(rows)
        done(first + len(rows))


def unit_scales(
    squares: Mapping[int, NDArray[np.float64]], weights: Mapping[int, float]
) -> dict[int, NDArray[np.float32]]:
    """The weight of each order divided by the norms of its rows; 0 for zero rows.

    A row that is too small for its scale to fit float32 counts as zero: infinity times its zero
    entries would be NaN.
    """
    scales = {}
    for order, weight in weights.items():
        norm = np.sqrt(squares[order])
        scale = np.divide(weight, norm, out=np.zeros_like(norm), where=norm > 0)
        scale[np.abs(scale) > np.finfo(np.float32).max] = 0.0
        scales[order] = scale.astype(np.float32)
    return scales
