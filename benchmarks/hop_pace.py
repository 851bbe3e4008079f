"""Paces of a hop on one graph: python -m benchmarks.hop_pace GRAPH LIBRARY SECONDS prints JSON.

hopvec's hop and the bare loop of limit.cpp take turns on the same index list and the same blocks,
in one process. Times are nanoseconds per entry of the index list, for one line of 64 bytes each.
"""

import ctypes
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import graphs, machine
from benchmarks.measure import OtherProcesses

LINE = 64
DISTANCES = (0, 8, 16, 24, 32, 64)  # of the prefetch, in lines; 0 is none
LONG = 1 << 25  # floats of an array that no cache holds
ROUNDS = (5, 200)

Step = Callable[[], object]


class Bare:
    """limit.cpp, compiled."""

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        number, array, count = ctypes.c_int64, ctypes.c_void_p, ctypes.c_int
        library.gather_lines.argtypes = [number, array, array, array, array, count, count]
        library.triad.argtypes = [number, array, array, array, count]
        self._gather, self._triad = library.gather_lines, library.triad

    def gather(
        self,
        start: NDArray[np.int64],
        neighbor: NDArray[np.int32],
        blocks: tuple[NDArray[np.uint8], NDArray[np.uint8]],
        threads: int,
        ahead: int,
    ) -> Step:
        """out[row] = the sum of the lines that its entries name."""
        arrays = (start, neighbor, *blocks)
        return lambda: self._gather(len(start) - 1, *addresses(arrays), threads, ahead)

    def triad(self, arrays: list[NDArray[np.float32]], threads: int) -> Step:
        """The triad of STREAM."""
        return lambda: self._triad(len(arrays[0]), *addresses(arrays), threads)


def addresses(arrays: Sequence[NDArray[Any]]) -> list[int]:
    """Where they lie; taken at each call, so that a step keeps its arrays alive."""
    return [array.ctypes.data for array in arrays]


def hop_steps(adjacency: Any, bare: Bare) -> tuple[dict[str, Step], int]:
    """What takes turns, and the number of entries."""
    from hopvec import Graph, _native
    from hopvec.engine.slab import Transition

    graph = Graph.from_scipy(adjacency)
    start, nodes, entries = graph.indptr, len(graph.indptr) - 1, len(graph.indices)
    padded = np.concatenate([graph.indices, np.zeros(max(DISTANCES), np.int32)])
    # One index list for all: with lists of their own, one would find its in the cache, another not.
    transition = Transition(replace(graph, indices=padded[:entries]))
    anywhere = np.random.default_rng(0).integers(0, nodes, len(padded), dtype=np.int32)
    blocks = (_native.allocate(LINE * nodes), _native.allocate(LINE * nodes))
    blocks[0].view(np.float32)[:] = 1
    sink, stop = _native.Sink(next=blocks[1]), _native.Stop()

    def hop(half: bool, threads: int) -> Step:
        return lambda: _native.hop(transition.native, blocks[0], half, sink, threads, stop)

    steps: dict[str, Step] = {}
    for threads in sorted({1, machine.cores()}):
        steps[f"hopvec-float32 {threads}"] = hop(False, threads)
        steps[f"hopvec-float16 {threads}"] = hop(True, threads)
        for ahead in DISTANCES:
            name = f"bare-{ahead} {threads}"
            steps[name] = bare.gather(start, padded, blocks, threads, ahead)
        for ahead in DISTANCES[3:]:
            name = f"random-{ahead} {threads}"
            steps[name] = bare.gather(start, anywhere, blocks, threads, ahead)
    return steps, entries


def nanoseconds(steps: dict[str, Step], entries: int, seconds: float) -> dict[str, float]:
    """The median over rounds, after one to warm up, for about so many seconds."""
    samples: dict[str, list[float]] = {name: [] for name in steps}
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


def stream_bandwidth(bare: Bare) -> dict[str, float]:
    """GB/s of the triad, by threads: two arrays read, one written."""
    arrays = [np.ones(LONG, np.float32) for _ in range(3)]
    steps = {str(threads): bare.triad(arrays, threads) for threads in sorted({1, machine.cores()})}
    pace = nanoseconds(steps, LONG, seconds=1)
    return {threads: 12 / pace[threads] for threads in steps}


if __name__ == "__main__":
    name, library, seconds = sys.argv[1], Bare(sys.argv[2]), float(sys.argv[3])
    steps, entries = hop_steps(graphs.load(name), library)
    others = OtherProcesses()
    found = {"entries": entries, "pace": nanoseconds(steps, entries, seconds)}
    found["others_share"] = others.share()
    print(json.dumps(found | {"stream": stream_bandwidth(library)}))
