"""What a run will take, before it starts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from hopvec import _native
from hopvec.engine.plan import LINE, Plan
from hopvec.engine.slab import Transition
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.machine import in_words
from hopvec.methods.method import Method, as_graph
from hopvec.methods.parameters import check

SAMPLES = 16
SAMPLE_ENTRIES = 1 << 19


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


def estimate(graph: Any, method: Method) -> Estimate:
    """What `method.embed(graph)` will take: memory by its plan, time by a sample of the hops."""
    if not isinstance(method, Method):
        raise ParameterError(f"estimate takes a graph and a method, got {method!r} as the method.")
    graph = as_graph(graph)
    check(method)
    plan = method.plan(graph)
    return Estimate(plan, method.hops() * plan.slabs * plan.passes * seconds_per_hop(graph, plan))


def seconds_per_hop(graph: Graph, plan: Plan) -> float:
    """The time of one hop of one slab, divided by the slabs in flight."""
    transition = Transition(graph)
    block, target = (_native.allocate(LINE * graph.nodes) for _ in range(2))
    block[:], target[:] = 0, 0  # touch the pages
    stop, half = _native.Stop(), plan.precision == "float16"
    seconds, work = 0.0, 0
    for first, last in _samples(graph):
        rows = _native.Adjacency(
            graph.indptr[first : last + 1],
            graph.indices,
            graph.weights,
            transition.inverse_degrees[first:last],
        )
        sink = _native.Sink(next=target)
        for timed in (False, True):
            start = time.perf_counter()
            _native.hop(rows, block, half, sink, plan.threads_per_slab, stop)
            seconds += timed * (time.perf_counter() - start)
        work += int(graph.indptr[last] - graph.indptr[first]) + last - first
    return seconds * (graph.entries + graph.nodes) / max(1, work) / plan.slabs_in_flight


def _samples(graph: Graph) -> list[tuple[int, int]]:
    """Ranges of rows with about SAMPLE_ENTRIES entries each, evenly spread over the entries."""
    starts = np.linspace(0, graph.entries, SAMPLES, endpoint=False)
    ends = starts + min(SAMPLE_ENTRIES, graph.entries / SAMPLES)
    first, last = (np.searchsorted(graph.indptr, edge) for edge in (starts, ends))
    return [
        (int(a), int(max(a + 1, b))) for a, b in zip(first, last, strict=True) if a < graph.nodes
    ]
