"""The limits of the machine for a hop, and how close hopvec's hop comes to them.

A hop reads one 64-byte line per entry of `indices`. A bare loop that only adds up these lines is
the limit of any engine that processes rows in their given order. The same loop over random indices
is what the machine achieves without any locality.
All measurements take turns in one process, on the same indices and the same blocks.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from hopvec import _native
from hopvec.engine.plan import CACHE_LINE_BYTES
from hopvec.engine.slab import Transition
from hopvec.graph import Graph

PREFETCH_DISTANCES = (0, 32, 64, 128, 256)  # in entries; 0 is no prefetch
STREAM_SIZE = 1 << 25  # floats; fits no cache
MIN_ROUNDS, MAX_ROUNDS = 5, 200

Step = Callable[[], object]
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Pace:
    """Nanoseconds per entry of the graph, for one number of threads; lower is faster."""

    threads: int
    float32: float
    """hopvec's hop, 16 columns."""
    float16: float
    """hopvec's hop, 32 columns."""
    bare: float
    """The bare loop, with the best prefetch distance."""
    random: float
    """The bare loop over random lines."""

    @property
    def share(self) -> float:
        """Speed of the hop relative to random lines; above 1 if hubs stay in cache."""
        return self.random / self.float32

    @property
    def bandwidth(self) -> float:
        """Gigabytes of lines that the hop reads per second."""
        return CACHE_LINE_BYTES / self.float32


def hop_paces(graph: Graph, threads: Sequence[int], *, seconds: float) -> list[Pace]:
    """Measure a graph, which must have entries, for about `seconds` seconds in total."""
    steps = _hop_steps(graph, threads)
    found = nanoseconds(steps, len(graph.indices), seconds)

    def best(kind: str, count: int, distances: Sequence[int]) -> float:
        return min(found[kind, count, distance] for distance in distances)

    return [
        Pace(
            count,
            found["float32", count, 0],
            found["float16", count, 0],
            best("bare", count, PREFETCH_DISTANCES),
            best("random", count, PREFETCH_DISTANCES[1:]),
        )
        for count in threads
    ]


def stream_bandwidth(threads: int, *, seconds: float = 1.0) -> float:
    """Measure the STREAM triad in gigabytes per second: reads two arrays, writes one."""
    a, b, out = (np.ones(STREAM_SIZE, np.float32) for _ in range(3))
    stop = _native.Stop()
    steps = {"triad": lambda: _native.triad(a, b, out, threads, stop)}
    return 12 / nanoseconds(steps, STREAM_SIZE, seconds)["triad"]


def nanoseconds(steps: Mapping[Name, Step], entries: int, seconds: float) -> dict[Name, float]:
    """Return the median time of each step in nanoseconds per entry, after one warm-up round."""
    samples: dict[Name, list[float]] = {name: [] for name in steps}
    begin = time.perf_counter()
    for number in range(MAX_ROUNDS + 1):
        if number > MIN_ROUNDS and time.perf_counter() - begin > seconds:
            break
        for name, step in steps.items():
            step()  # warms the caches for the timed run
            before = time.perf_counter()
            step()
            if number:
                samples[name].append((time.perf_counter() - before) / entries * 1e9)
    return {name: statistics.median(values) for name, values in samples.items()}


def _hop_steps(graph: Graph, threads: Sequence[int]) -> dict[tuple[str, int, int], Step]:
    """Return the steps to measure, by kind, threads and prefetch distance."""
    indptr, nodes, entries = graph.indptr, graph.nodes, len(graph.indices)
    padding = np.zeros(max(PREFETCH_DISTANCES), np.int32)
    padded = np.concatenate([graph.indices, padding])
    # All steps share one array: with separate copies, only some would be found in the cache.
    transition = Transition(replace(graph, indices=padded[:entries]))
    random = np.random.default_rng(0).integers(0, nodes, len(padded), dtype=np.int32)
    blocks = (
        _native.allocate(CACHE_LINE_BYTES * nodes),
        _native.allocate(CACHE_LINE_BYTES * nodes),
    )
    lines, out = (block.view(np.float32) for block in blocks)
    lines[:] = 1
    sink, stop = _native.Sink(next=blocks[1]), _native.Stop()

    def hop(half: bool, count: int) -> Step:
        return lambda: _native.hop(transition.native, blocks[0], half, sink, count, stop)

    ones = np.ones(nodes, np.float32)
    graphs = {
        "bare": _native.Adjacency(indptr, padded, None, ones),
        "random": _native.Adjacency(indptr, random, None, ones),
    }

    def bare(kind: str, count: int, distance: int) -> Step:
        return lambda: _native.gather_lines(graphs[kind], lines, out, distance, count, stop)

    steps: dict[tuple[str, int, int], Step] = {}
    for count in threads:
        steps["float32", count, 0] = hop(False, count)
        steps["float16", count, 0] = hop(True, count)
        steps |= {("bare", count, d): bare("bare", count, d) for d in PREFETCH_DISTANCES}
        steps |= {("random", count, d): bare("random", count, d) for d in PREFETCH_DISTANCES[1:]}
    return steps
