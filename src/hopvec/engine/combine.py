"""From the orders N_i to the embedding: the weighted sum, and how it is normalised."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.plan import LINE, Plan
from hopvec.engine.slab import Progress, Slab, Transition, for_each_slab
from hopvec.machine import interruptible

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
            first_column=slab.first_column,
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


class KeptOrders:
    """Keeps whole orders, slab by slab, to be summed when their row norms are known."""

    def __init__(self, plan: Plan, orders: Mapping[int, float]) -> None:
        self.size = LINE * plan.nodes
        self.kept = {order: _native.allocate(plan.slabs * self.size) for order in orders}

    def block(self, order: int, slab: int) -> NDArray[np.uint8] | None:
        """The memory of one slab of an order."""
        kept = self.kept.get(order)
        return None if kept is None else kept[slab * self.size : (slab + 1) * self.size]

    def sink(self, order: int, slab: Slab, block: NDArray[np.uint8] | None) -> _native.Sink:
        """Rows go to their block and nowhere else."""
        return _native.Sink(next=block)


class SumsOfSquares:
    """Adds up the squares of the rows of each order, slab after slab."""

    def __init__(self, plan: Plan, orders: Mapping[int, float]) -> None:
        self.squares = {order: np.zeros(plan.nodes) for order in orders}

    def block(self, order: int, slab: int) -> None:
        """No order is kept."""

    def sink(self, order: int, slab: Slab, block: NDArray[np.uint8] | None) -> _native.Sink:
        """Rows go to the next hop and into the sums."""
        return _native.Sink(next=block, squares=self.squares.get(order), columns=slab.columns)


def combine(
    plan: Plan,
    transition: Transition,
    propagate: Callable[[Slab], None],
    weights: Mapping[int, float],
    *,
    factor: float,
    normalize: str,
    progress: Progress,
) -> NDArray[np.float32]:
    """The embedding, n x dim in the order of the ids: sum_i weights[i] * N_i, normalised.

    "none" is the plain sum times `factor`. "authors" makes the rows of every order unit first and
    standardises the columns of the sum; "full" makes the rows unit once more. Row norms and column
    sums are added in float64 in an order that depends on the graph alone.
    """
    output, rows = _allocate_output(plan), transition.graph.rows
    if normalize == "none":
        scales = {order: weight * factor for order, weight in weights.items()}
        destination = WeightedSum(output, rows, scales)
        for_each_slab(plan, transition, destination, propagate, progress)
        return output
    if plan.orders == "kept":
        kept = KeptOrders(plan, weights)
        for_each_slab(plan, transition, kept, propagate, progress)
        interruptible(
            lambda stop: _native.unit_sum(
                [kept.kept[order] for order in sorted(weights)],
                [weights[order] for order in sorted(weights)],
                plan.slabs,
                plan.precision == "float16",
                output,
                rows,
                plan.threads,
                stop,
            )
        )
    else:
        norms = SumsOfSquares(plan, weights)
        for_each_slab(plan, transition, norms, propagate, lambda done, of: progress(done, 2 * of))
        destination = WeightedSum(output, rows, _unit_scales(norms.squares, weights))
        for_each_slab(
            plan, transition, destination, propagate, lambda done, of: progress(of + done, 2 * of)
        )
    # Nodes without a row come last. Those whose sum is zero stay so, and out of the statistics.
    connected, without_row = np.split(rows, [transition.graph.connected])
    present = np.concatenate([connected, without_row[output[without_row].any(axis=1)]])
    if len(present):
        standardize(output, present, unit=normalize == "full", threads=plan.threads)
    return output


def standardize(
    output: NDArray[np.float32], rows: NDArray[np.int32], *, unit: bool, threads: int
) -> None:
    """Brings the columns over `rows` to mean 0 and variance 1 in place, then rows to unit length.

    A column whose spread is rounding error becomes 0.
    """
    mean = interruptible(lambda stop: _native.moments(output, rows, None, threads, stop))
    mean /= len(rows)
    squares = interruptible(lambda stop: _native.moments(output, rows, mean, threads, stop))
    deviation = np.sqrt(squares / len(rows))
    varies = deviation > CONSTANT * np.sqrt(mean * mean + deviation * deviation)
    factor = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies)
    interruptible(lambda stop: _native.standardize(output, rows, mean, factor, unit, threads, stop))


def _unit_scales(
    squares: Mapping[int, NDArray[np.float64]], weights: Mapping[int, float]
) -> dict[int, NDArray[np.float32]]:
    scales = {}
    for order, weight in weights.items():
        norm = np.sqrt(squares[order])
        scale = np.divide(weight, norm, out=np.zeros_like(norm), where=norm > 0)
        scales[order] = scale.astype(np.float32)
    return scales


def _allocate_output(plan: Plan) -> NDArray[np.float32]:
    shape = (plan.nodes, plan.dim)
    if plan.output == "memory":
        return _native.allocate(4 * plan.nodes * plan.dim).view(np.float32).reshape(shape)
    import tempfile

    # A file without a name: it is gone with the array, whatever happens.
    with tempfile.TemporaryFile(prefix="hopvec-") as file:
        return np.memmap(file, np.float32, "w+", shape=shape)
