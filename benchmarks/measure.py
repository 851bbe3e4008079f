"""One measurement in a separate process: python -m benchmarks.measure GRAPH TOOL THREADS.

Prints one JSON object. Only the embedding is timed; the time before it (reading the graph,
converting it to the tool's format) is recorded as prepare_seconds. Sizes are in bytes. --dim sets
the number of columns, --seed the seed of tools that take one. --vectors saves the vectors to a .npy
file, to be scored; --training-vectors those of the graph without the edges that are held out with
the seed, which are not timed. Only libraries that the tool needs are loaded, so that the peak
memory of the process is that of the tool.
"""

from __future__ import annotations

import argparse
import gc
import inspect
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
    from benchmarks.peers.same_distribution import Embed

SETTING: dict[str, Any] = {"dim": 512, "weights": (0, 0, 1, 4), "beta": -0.5}
SHORT = 0.5  # seconds; shorter calls are measured REPEATS times after a warm-up
REPEATS = 9


def hopvec(graph: Any, *, method: Any, record: dict[str, Any], **setting: Any) -> Embed:
    """hopvec, as in the peers; its planned memory is added to `record`."""
    chosen = method(**setting)
    record["graph_bytes"] = graph.nbytes
    record["slabs_in_flight"] = chosen.plan(graph).slabs_in_flight
    return lambda: chosen.embed(graph).vectors


def tool(name: str, threads: int, record: dict[str, Any]) -> Callable[..., Embed]:
    """The function of a tool: (graph, *, dim), with weights and beta for the same computation."""
    if name in PEERS:
        module = "same_distribution" if PEERS[name].same_distribution else "other_methods"
        found: Callable[..., Embed] = getattr(
            import_module(f"benchmarks.peers.{module}"), name.replace("-", "_")
        )
        return found
    from hopvec import FastRP

    variant = name.removeprefix("hopvec").removeprefix("-") or "balanced"
    if variant in ("float32", "float16"):
        method: Any = partial(
            FastRP, normalize="none", passes=1, precision=variant, threads=threads
        )
    else:
        method = partial(FastRP.preset, variant, threads=threads)
    return partial(hopvec, method=method, record=record)


def setting_of(name: str, dim: int) -> dict[str, Any]:
    """The parameters of a tool: all for the same computation, otherwise the dimension only."""
    same = PEERS[name].same_distribution if name in PEERS else "float" in name
    return SETTING | {"dim": dim} if same else {"dim": dim}


def seed_of(make: Callable[..., Embed], seed: int | None) -> dict[str, int]:
    """The seed as a parameter of a tool; a tool that takes none is simply run again."""
    taken = inspect.signature(make).parameters.values()
    takes_seed = any(p.name == "seed" or p.kind is p.VAR_KEYWORD for p in taken)
    return {"seed": seed} if takes_seed and seed is not None else {}


def timed(embed: Embed, shape: tuple[int, int]) -> tuple[dict[str, float], NDArray[Any]]:
    """Wall and CPU seconds (all threads) of one call, and the vectors after a check."""
    wall, cpu = time.perf_counter(), time.process_time()
    vectors = embed()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if vectors.shape != shape or not np.isfinite(vectors[:100]).all():
        raise SystemExit(f"expected finite vectors of shape {shape}, got {vectors.shape}")
    return {"wall_seconds": wall, "cpu_seconds": cpu}, vectors


def repeated(embed: Embed, shape: tuple[int, int]) -> tuple[dict[str, Any], NDArray[Any]]:
    """Measure a long call once; for a short one, that was the warm-up, and more are measured."""
    first, vectors = timed(embed, shape)
    samples = [first]
    if first["wall_seconds"] < SHORT:
        del vectors
        samples = [timed(embed, shape)[0] for _ in range(REPEATS - 1)]
        last, vectors = timed(embed, shape)
        samples.append(last)
    medians = {key: statistics.median(s[key] for s in samples) for key in first}
    return {**medians, "samples": samples}, vectors


def reset_peak() -> None:
    """Reset the peak, so that it does not include reading the graph."""
    Path("/proc/self/clear_refs").write_text("5")


class OtherProcesses:
    """Measures how much of the machine other processes use, to detect disturbed measurements."""

    def __init__(self) -> None:
        self.wall, self.others = time.perf_counter(), self.seconds()

    def seconds(self) -> float:
        """CPU seconds of all other processes since boot."""
        return busy_seconds() - time.process_time()

    def share(self) -> float:
        """The share of the time of all cores that other processes used since the start, 0 to 1."""
        available = (time.perf_counter() - self.wall) * (os.cpu_count() or 1)
        return max(0.0, self.seconds() - self.others) / available


def tool_input(name: str, source: NDArray[np.int32], target: NDArray[np.int32], nodes: int) -> Any:
    """Distinct edges in the format of a tool: a scipy matrix for peers, else a hopvec.Graph."""
    if name in PEERS:
        return graphs.symmetric(source, target, nodes)
    from hopvec import Graph

    return Graph.from_edges(source, target, nodes=nodes)


def warm_up(name: str, make: Callable[..., Embed]) -> None:
    """Load the libraries of a tool, compile and start its threads, on a ring of 64 nodes."""
    ring = np.arange(64, dtype=np.int32)
    make(tool_input(name, ring, np.roll(ring, 1), 64), **setting_of(name, 16))()


def load_input(name: str, graph: str) -> Any:
    """A graph in the format of a tool."""
    return graphs.load(graph) if name in PEERS else tool_input(name, *graphs.load_edges(graph))


def measure(
    graph: str,
    name: str,
    threads: int,
    dim: int,
    seed: int | None = None,
    vectors: Path | None = None,
    training_vectors: Path | None = None,
) -> dict[str, Any]:
    """Everything that is recorded for one tool on one graph."""
    record: dict[str, Any] = {}
    make = tool(name, threads, record)
    warm_up(name, make)
    start = time.perf_counter()
    given = load_input(name, graph)
    nodes = given.shape[0] if name in PEERS else given.nodes
    setting = setting_of(name, dim) | seed_of(make, seed)
    embed = make(given, **setting)
    record["prepare_seconds"] = time.perf_counter() - start
    del given
    gc.collect()
    record["rss_before"] = status_bytes("VmRSS")
    reset_peak()
    others = OtherProcesses()
    result, found = repeated(embed, (nodes, dim))
    # Not ru_maxrss, which a child inherits from its parent.
    record |= {"peak_rss": status_bytes("VmHWM"), "others_share": others.share()}
    if vectors:
        np.save(vectors, np.asarray(found, np.float32))
    if training_vectors and seed is not None:
        training = load_input(name, graphs.training_graph(graph, seed))
        np.save(training_vectors, np.asarray(make(training, **setting)(), np.float32))
    return {"graph": graph, "tool": name, "threads": threads, "dim": dim, **result, **record}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure")
    parser.add_argument("graph")
    parser.add_argument("tool")
    parser.add_argument("threads", type=int)
    parser.add_argument("--dim", type=int, default=SETTING["dim"])
    parser.add_argument("--seed", type=int)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--training-vectors", type=Path)
    given = parser.parse_args()
    files = given.vectors, given.training_vectors
    found = measure(given.graph, given.tool, given.threads, given.dim, given.seed, *files)
    print(json.dumps(found))
