"""One measurement in a process of its own: python -m benchmarks.measure GRAPH TOOL THREADS.

Prints one JSON object. Only the embed step is timed; what happens before (reading the graph,
building each tool's own input) is recorded as prepare_seconds. Sizes are in bytes. --dim asks for
another number of columns, --vectors keeps the vectors in a .npy file, to be scored. No library is
loaded that the tool does without: the peak of a process is that of the tool.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import graphs
from benchmarks.peers import PEERS
from benchmarks.processes import busy_seconds, status_bytes

if TYPE_CHECKING:
    from benchmarks.peers.same_law import Embed

SETTING: dict[str, Any] = {"dim": 512, "weights": (0, 0, 1, 4), "beta": -0.5}
SHORT = 0.5  # seconds; anything shorter is measured REPEATS times after a warm-up
REPEATS = 9


def hopvec(graph: Any, *, method: Any, facts: dict[str, Any], **setting: Any) -> Embed:
    """Our own side of the comparison; what hopvec knows of its memory goes into `facts`."""
    chosen = method(**setting)
    facts["graph_bytes"] = graph.nbytes
    facts["slabs_in_flight"] = chosen.plan(graph).slabs_in_flight
    return lambda: chosen.embed(graph).vectors


def tool(name: str, threads: int, facts: dict[str, Any]) -> Callable[..., Embed]:
    """The function behind a tool's name: (graph, *, dim), and weights and beta by the law."""
    if name in PEERS:
        module = "same_law" if PEERS[name].same_law else "other_methods"
        found: Callable[..., Embed] = getattr(
            import_module(f"benchmarks.peers.{module}"), name.replace("-", "_")
        )
        return found
    from hopvec import FastRP

    side = name.removeprefix("hopvec").removeprefix("-") or "balanced"
    if side in ("float32", "float16"):
        method: Any = partial(FastRP, normalize="none", precision=side, threads=threads)
    else:
        method = partial(FastRP.preset, side, threads=threads)
    return partial(hopvec, method=method, facts=facts)


def setting_of(name: str, dim: int) -> dict[str, Any]:
    """What a tool is asked for: the law in full where it has it, else the columns alone."""
    by_law = PEERS[name].same_law if name in PEERS else "float" in name
    return SETTING | {"dim": dim} if by_law else {"dim": dim}


def timed(embed: Embed, shape: tuple[int, int]) -> tuple[dict[str, float], NDArray[Any]]:
    """Wall and CPU seconds (all threads) of one call, and the vectors, which are looked at."""
    wall, cpu = time.perf_counter(), time.process_time()
    vectors = embed()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if vectors.shape != shape or not np.isfinite(vectors[:100]).all():
        raise SystemExit(f"expected finite vectors of shape {shape}, got {vectors.shape}")
    return {"wall_seconds": wall, "cpu_seconds": cpu}, vectors


def repeated(embed: Embed, shape: tuple[int, int]) -> tuple[dict[str, Any], NDArray[Any]]:
    """One call if it is long; if it is short, that one was the warm-up and more are measured."""
    first, vectors = timed(embed, shape)
    samples = [first]
    if first["wall_seconds"] < SHORT:
        del vectors
        samples = [timed(embed, shape)[0] for _ in range(REPEATS - 1)]
        last, vectors = timed(embed, shape)
        samples.append(last)
    medians = {key: statistics.median(s[key] for s in samples) for key in first}
    return {**medians, "samples": samples}, vectors


def forget_peak() -> None:
    """Start the peak afresh, so that it speaks of the embed step and not of reading the graph."""
    Path("/proc/self/clear_refs").write_text("5")


class OtherProcesses:
    """Watches how much of the machine others take, to tell a disturbed measurement."""

    def __init__(self) -> None:
        self.wall, self.others = time.perf_counter(), self.seconds()

    def seconds(self) -> float:
        """CPU seconds of everyone but us since boot."""
        return busy_seconds() - time.process_time()

    def share(self) -> float:
        """The part of all cores' time since the start that went to others, 0 to 1."""
        available = (time.perf_counter() - self.wall) * (os.cpu_count() or 1)
        return max(0.0, self.seconds() - self.others) / available


def as_taken(name: str, source: NDArray[np.int32], target: NDArray[np.int32], nodes: int) -> Any:
    """Distinct edges as a tool takes them: a matrix of scipy for peers, else a hopvec.Graph."""
    if name in PEERS:
        return graphs.symmetric(source, target, nodes)
    from hopvec import Graph

    return Graph.from_edges(source, target, nodes=nodes)


def warm_up(name: str, make: Callable[..., Embed]) -> None:
    """Load the tool's libraries, compile and start its threads, on a ring of 64 nodes."""
    ring = np.arange(64, dtype=np.int32)
    make(as_taken(name, ring, np.roll(ring, 1), 64), **setting_of(name, 16))()


def measure(
    graph: str, name: str, threads: int, dim: int, vectors: Path | None = None
) -> dict[str, Any]:
    """Everything that is recorded about one tool on one graph."""
    facts: dict[str, Any] = {}
    make = tool(name, threads, facts)
    warm_up(name, make)
    start = time.perf_counter()
    given = graphs.load(graph) if name in PEERS else as_taken(name, *graphs.load_edges(graph))
    nodes = given.shape[0] if name in PEERS else given.nodes
    embed = make(given, **setting_of(name, dim))
    facts["prepare_seconds"] = time.perf_counter() - start
    del given
    gc.collect()
    facts["rss_before"] = status_bytes("VmRSS")
    forget_peak()
    others = OtherProcesses()
    result, found = repeated(embed, (nodes, dim))
    # Not ru_maxrss: a child inherits that from its parent.
    facts |= {"peak_rss": status_bytes("VmHWM"), "others_share": others.share()}
    if vectors:
        np.save(vectors, np.asarray(found, np.float32))
    return {"graph": graph, "tool": name, "threads": threads, "dim": dim, **result, **facts}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure")
    parser.add_argument("graph")
    parser.add_argument("tool")
    parser.add_argument("threads", type=int)
    parser.add_argument("--dim", type=int, default=SETTING["dim"])
    parser.add_argument("--vectors", type=Path)
    given = parser.parse_args()
    print(json.dumps(measure(given.graph, given.tool, given.threads, given.dim, given.vectors)))
