"""What the machine allows a hop, and how much of it hopvec's hop reaches.

A hop reads a line of 64 bytes for every entry of the graph's index list. A bare loop that adds up
the lines its entries name, and does nothing else, is the limit of any engine that takes rows as
they are. The same loop over an index list drawn at random is what the machine gives where no order
helps.
All take turns in one process, on the same index list and the same blocks.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.plan import CACHE_LINE_BYTES
from hopvec.engine.slab import Transition
from hopvec.graph import Graph

DISTANCES = (0, 32, 64, 128, 256)  # of the prefetch, in lines; 0 is none
FAR = DISTANCES[1:]  # those that random lines are tried with
LONG = 1 << 25  # floats of an array that no cache holds
ROUNDS = (5, 200)  # least and most

Step = Callable[[], object]
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Pace:
    """Nanoseconds per entry of the graph, on one number of threads; lower is faster."""

    threads: int
    float32: float
    """hopvec's hop of 16 columns."""
    float16: float
    """hopvec's hop of 32 columns."""
    bare: float
    """The bare loop, with the best of a few distances of prefetching."""
    random: float
    """The same over random lines."""

    @property
    def share(self) -> float:
        """How fast the hop is, random lines being 1; more where hubs lie together in a cache."""
        return self.random / self.float32

    @property
    def bandwidth(self) -> float:
        """Gigabytes of lines a second that the hop gathers."""
        return CACHE_LINE_BYTES / self.float32


def hop_paces(graph: Graph, threads: Sequence[int], *, seconds: float) -> list[Pace]:
    """The paces of a graph that has entries, measured for about so many seconds in all."""
    steps = _hop_steps(graph, threads)
    found = nanoseconds(steps, len(graph.indices), seconds)

    def least(kind: str, count: int, distances: Sequence[int]) -> float:
        return min(found[kind, count, distance] for distance in distances)

    return [
        Pace(
            count,
            found["float32", count, 0],
            found["float16", count, 0],
            least("bare", count, DISTANCES),
            least("random", count, FAR),
        )
        for count in threads
    ]


def stream_bandwidth(threads: int, *, seconds: float = 1.0) -> float:
    """Gigabytes a second of the triad of STREAM: two long arrays read, one written."""
    one, other, out = (np.ones(LONG, np.float32) for _ in range(3))
    stop = _native.Stop()
    steps = {"triad": lambda: _native.triad(one, other, out, threads, stop)}
    return 12 / nanoseconds(steps, LONG, seconds)["triad"]


def nanoseconds(steps: Mapping[Name, Step], entries: int, seconds: float) -> dict[Name, float]:
    """The median over rounds of each step, per entry, after one round to warm up."""
    samples: dict[Name, list[float]] = {name: [] for name in steps}
    least, most = ROUNDS
    begin = time.perf_counter()
    for number in range(most + 1):
        if number > least and time.perf_counter() - begin > seconds:
            break
        for name, step in steps.items():
            step()  # so that each finds the caches as it leaves them itself
            before = time.perf_counter()
            step()
            if number:
                samples[name].append((time.perf_counter() - before) / entries * 1e9)
    return {name: statistics.median(values) for name, values in samples.items()}


def _hop_steps(graph: Graph, threads: Sequence[int]) -> dict[tuple[str, int, int], Step]:
    """What takes turns, by kind, threads and distance of the prefetch."""
    start, nodes, entries = graph.indptr, graph.nodes, len(graph.indices)
    behind = np.zeros(max(DISTANCES), np.int32)
    padded = np.concatenate([graph.indices, behind])
    # One index list for all: with lists of their own, one would find its in the cache, another not.
    transition = Transition(replace(graph, indices=padded[:entries]))
    anywhere = np.random.default_rng(0).integers(0, nodes, len(padded), dtype=np.int32)
    blocks = (
        _native.allocate(CACHE_LINE_BYTES * nodes),
        _native.allocate(CACHE_LINE_BYTES * nodes),
    )
    lines, out = (block.view(np.float32) for block in blocks)
    lines[:] = 1
    sink, stop = _native.Sink(next=blocks[1]), _native.Stop()

    def hop(half: bool, count: int) -> Step:
        return lambda: _native.hop(transition.native, blocks[0], half, sink, count, stop)

    def bare(list_: NDArray[np.int32], count: int, distance: int) -> Step:
        return lambda: _native.gather_lines(start, list_, lines, out, distance, count, stop)

    steps: dict[tuple[str, int, int], Step] = {}
    for count in threads:
        steps["float32", count, 0] = hop(False, count)
        steps["float16", count, 0] = hop(True, count)
        steps |= {("bare", count, d): bare(padded, count, d) for d in DISTANCES}
        steps |= {("random", count, d): bare(anywhere, count, d) for d in FAR}
    return steps
