"""One measurement in a process of its own: python -m benchmarks.measure GRAPH TOOL THREADS.

Prints one JSON object. Only the embed step is timed; what happens before (reading the graph,
building each tool's own input) is recorded as prepare_seconds. Sizes are in bytes.
"""

import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import graphs
from benchmarks.peers import PEERS, Embed

SETTING: dict[str, Any] = {"dim": 512, "weights": (0, 0, 1, 4), "beta": -0.5}
SHORT = 0.5  # seconds; anything shorter is measured REPEATS times after a warm-up
REPEATS = 9


def hopvec(
    adjacency: sp.csr_matrix,
    *,
    dim: int,
    weights: Sequence[float],
    beta: float,
    precision: str,
    threads: int,
    facts: dict[str, Any],
) -> Embed:
    """Our own side of the comparison; what hopvec knows of its memory goes into `facts`."""
    from hopvec import FastRP, Graph

    start = time.perf_counter()
    graph = Graph.from_scipy(adjacency)
    facts["prepare_seconds"] = time.perf_counter() - start
    method = FastRP(
        dim=dim,
        weights=tuple(weights),
        beta=beta,
        normalize="none",
        precision=precision,
        threads=threads,
    )
    facts["graph_bytes"] = graph.nbytes
    facts["slabs_in_flight"] = method.plan(graph).slabs_in_flight
    return lambda: method.embed(graph).vectors


def tool(name: str, threads: int, facts: dict[str, Any]) -> Callable[..., Embed]:
    """The function behind a tool's name: a peer, or "hopvec-float32" / "hopvec-float16"."""
    if name in PEERS:
        return PEERS[name]
    precision = name.removeprefix("hopvec-")
    return lambda adjacency, **setting: hopvec(
        adjacency, **setting, precision=precision, threads=threads, facts=facts
    )


def timed(embed: Embed, shape: tuple[int, int]) -> dict[str, float]:
    """Wall and CPU seconds (all threads) of one call. Its result is looked at, then dropped."""
    wall, cpu = time.perf_counter(), time.process_time()
    vectors = embed()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if vectors.shape != shape or not np.isfinite(vectors[:100]).all():
        raise SystemExit(f"expected finite vectors of shape {shape}, got {vectors.shape}")
    return {"wall_seconds": wall, "cpu_seconds": cpu}


def repeated(embed: Embed, shape: tuple[int, int]) -> dict[str, Any]:
    """One call if it is long; if it is short, that one was the warm-up and more are measured."""
    samples = [timed(embed, shape)]
    if samples[0]["wall_seconds"] < SHORT:
        samples = [timed(embed, shape) for _ in range(REPEATS)]
    medians = {key: statistics.median(s[key] for s in samples) for key in samples[0]}
    return {**medians, "samples": samples}


def resident_bytes() -> int:
    """The resident memory of this process now."""
    return status_bytes("VmRSS")


def peak_bytes() -> int:
    """The peak since forget_peak(). Not ru_maxrss: a child inherits that from its parent."""
    return status_bytes("VmHWM")


def status_bytes(field: str) -> int:
    """A size out of /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def forget_peak() -> None:
    """Start the peak afresh, so that it speaks of the embed step and not of reading the graph."""
    Path("/proc/self/clear_refs").write_text("5")


class OtherProcesses:
    """Watches how much of the machine others take, to tell a disturbed measurement."""

    def __init__(self) -> None:
        self.wall, self.others = time.perf_counter(), self.seconds()

    def seconds(self) -> float:
        """CPU seconds of everyone but us since boot: user, nice, system and stolen time."""
        ticks = [int(value) for value in Path("/proc/stat").read_text().split()[1:9]]
        user, nice, system, _, _, _, _, stolen = ticks
        return (user + nice + system + stolen) / os.sysconf("SC_CLK_TCK") - time.process_time()

    def share(self) -> float:
        """The part of all cores' time since the start that went to others, 0 to 1."""
        available = (time.perf_counter() - self.wall) * (os.cpu_count() or 1)
        return max(0.0, self.seconds() - self.others) / available


def warm_up(make: Callable[..., Embed]) -> None:
    """Load the tool's libraries and start its threads, on a ring of 64 nodes."""
    ring = np.arange(64, dtype=np.int32)
    make(graphs.symmetric(ring, np.roll(ring, 1), 64), **SETTING)()


def measure(graph: str, name: str, threads: int) -> dict[str, Any]:
    """Everything that is recorded about one tool on one graph."""
    facts: dict[str, Any] = {}
    make = tool(name, threads, facts)
    warm_up(make)
    adjacency = graphs.load(graph)
    nodes = adjacency.shape[0]
    start = time.perf_counter()
    embed = make(adjacency, **SETTING)
    facts.setdefault("prepare_seconds", time.perf_counter() - start)
    del adjacency
    gc.collect()
    facts["rss_before"] = resident_bytes()
    forget_peak()
    others = OtherProcesses()
    result = repeated(embed, (nodes, SETTING["dim"]))
    facts |= {"peak_rss": peak_bytes(), "others_share": others.share()}
    return {"graph": graph, "tool": name, "threads": threads, **result, **facts}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
