"""Time over nodes, edges, columns and threads: python -m benchmarks.scaling.

Erdos-Renyi graphs as in the paper, and the same computation with every tool; only the embedding is
timed. Each point is measured in a separate process, and tools alternate.
"""

import argparse
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks import machine
from benchmarks.processes import (
    build_graphs,
    log,
    measure_tool,
    results_dir,
    run_interleaved,
    summarize_runs,
    write,
)

TOOLS = ("hopvec-float32", "hopvec-float16", "fastrp", "mkl", "torch")
MEASURES = ("wall_seconds", "cpu_seconds", "peak_rss", "others_share")


@dataclass(frozen=True)
class Point:
    """One graph, with dimension and threads."""

    nodes: int
    edges: int
    dim: int
    threads: int

    @property
    def graph(self) -> str:
        """The name of the graph for graphs.py."""
        return f"erdos-renyi-{self.nodes}-{self.edges}"


def series(unit: int) -> dict[str, list[Point]]:
    """The points of each series; `unit` is a million, or less for a quick run."""
    cores = machine.cores()
    edges = 10 * unit
    return {
        "nodes": [Point(n, edges, 128, cores) for n in (unit // 10, unit // 3, unit, 2 * unit)],
        "edges": [Point(unit, m, 128, cores) for m in (unit, 3 * unit, edges, 30 * unit)],
        "dim": [Point(unit, edges, dim, cores) for dim in (32, 64, 128, 256)],
        "threads": [Point(unit, edges, 128, threads) for threads in range(1, cores + 1)],
    }


def main() -> int:
    """Measure every series, and write results after each; returns 1 if hopvec failed."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only scaling")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the sizes")
    parser.add_argument("--repeats", type=int, default=2, help="rounds (default: 2)")
    args = parser.parse_args()
    points_of = series(50_000 if args.quick else 1_000_000)
    results: dict[str, Any] = {"machine": machine.describe(), "series": {}}
    build_graphs([point.graph for points in points_of.values() for point in points])
    cache: dict[Point, dict[str, Any]] = {}  # points in two series are measured once
    for name, points in points_of.items():
        for point in points:
            if point not in cache:
                cache[point] = measured(point, args.repeats)
        results["series"][name] = [vars(point) | {"tools": cache[point]} for point in points]
        write(results_dir(args.quick) / "scaling.json", results)
    return 1 if any("error" in tools["hopvec-float32"] for tools in cache.values()) else 0


def measured(point: Point, repeats: int) -> dict[str, Any]:
    """Measure every tool at a point."""
    log(f"{point.nodes:,} nodes, {point.edges:,} edges, dim {point.dim}, {point.threads} threads")

    def run(tool: str) -> dict[str, Any]:
        return measure_tool(point.graph, tool, threads=point.threads, dim=point.dim)

    turns = run_interleaved(TOOLS, repeats, run)
    return {
        tool: {"error": runs[-1]["error"]}
        if "error" in runs[-1]
        else summarize_runs(runs, *MEASURES)
        for tool, runs in turns.items()
    }


if __name__ == "__main__":
    sys.exit(main())
