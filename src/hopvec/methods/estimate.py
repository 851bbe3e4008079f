"""What a run will take, before it starts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from hopvec.engine.plan import Plan
from hopvec.engine.slab import Progress
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.machine import in_words
from hopvec.methods.method import Method, as_graph
from hopvec.methods.parameters import check

ENOUGH = 10.0  # seconds after which a trial stops with the slab in hand


@dataclass(frozen=True)
class Estimate:
    """Memory and time of a run."""

    plan: Plan
    seconds: float

    @property
    def bytes(self) -> int:
        """Peak memory, graph included."""
        return self.plan.bytes.total

    def __str__(self) -> str:
        return f"about {self.seconds:.2g} s and {in_words(self.bytes)}: {self.plan}"


def estimate(graph: Any, method: Method, *, progress: Progress | None = None) -> Estimate:
    """What `method.embed(graph)` will take: memory by its plan, time by a trial of a few slabs.

    `progress` is called with the slabs of the trial that are done and their number. The
    time is right within a factor of about 1.5 on a machine that is otherwise idle.
    """
    if not isinstance(method, Method):
        raise ParameterError(f"estimate takes a graph and a method, got {method!r} as the method.")
    graph = as_graph(graph)
    check(method)
    plan = method.plan(graph)
    return Estimate(plan, seconds_by_trial(graph, method, plan, progress))


def seconds_by_trial(
    graph: Graph, method: Method, plan: Plan, progress: Progress | None = None
) -> float:
    """The time of a run, by a run with fewer columns: two slabs for each one in flight.

    What comes before and between slabs is told apart by when they are finished; what comes after
    the last, such as the normalisation, grows with the columns.
    """
    slabs = min(plan.slabs, 2 * plan.slabs_in_flight)
    dim = min(plan.dim, slabs * plan.columns)
    trial = type(method)(**method.get_params() | {"dim": dim})
    finished: list[float] = []
    start = time.perf_counter()

    def watch(done: int, of: int) -> None:
        finished.append(time.perf_counter() - start)
        if progress:
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


class _EnoughError(Exception):
    """Ends a trial that takes long."""
