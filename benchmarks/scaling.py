"""How time grows with nodes, edges, columns and threads: python -m benchmarks.scaling.

Erdos-Renyi graphs as in the paper, the same law and the same hops for every tool; only the
embedding is timed. Each point is a process of its own, and tools take turns at every point.
"""

import argparse
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks import machine
from benchmarks.processes import (
    embedded,
    made_graphs,
    results_folder,
    say,
    spreads,
    take_turns,
    write,
)

TOOLS = ("hopvec-float32", "hopvec-float16", "fastrp", "mkl", "torch")
MEASURES = ("wall_seconds", "cpu_seconds", "peak_rss", "others_share")


@dataclass(frozen=True)
class Point:
    """One graph, embedded in one way."""

    nodes: int
    edges: int
    dim: int
    threads: int

    @property
    def graph(self) -> str:
        """Its name for graphs.py."""
        return f"erdos-renyi-{self.nodes}-{self.edges}"


def series(unit: int) -> dict[str, list[Point]]:
    """What grows, and the points along it; `unit` is a million, or less for a quick run."""
    cores = machine.cores()
    most = 10 * unit
    return {
        "nodes": [Point(n, most, 128, cores) for n in (unit // 10, unit // 3, unit, 2 * unit)],
        "edges": [Point(unit, m, 128, cores) for m in (unit, 3 * unit, most, 30 * unit)],
        "dim": [Point(unit, most, dim, cores) for dim in (32, 64, 128, 256)],
        "threads": [Point(unit, most, 128, threads) for threads in range(1, cores + 1)],
    }


def main() -> int:
    """Measure every series, write after each; 1 if hopvec itself failed."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only scaling")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the sizes")
    parser.add_argument("--repeats", type=int, default=2, help="rounds (default: 2)")
    args = parser.parse_args()
    wanted = series(50_000 if args.quick else 1_000_000)
    results: dict[str, Any] = {"machine": machine.describe(), "series": {}}
    made_graphs([point.graph for points in wanted.values() for point in points])
    known: dict[Point, dict[str, Any]] = {}  # a point that two series share is measured once
    for name, points in wanted.items():
        for point in points:
            if point not in known:
                known[point] = measured(point, args.repeats)
        results["series"][name] = [vars(point) | {"tools": known[point]} for point in points]
        write(results_folder(args.quick) / "scaling.json", results)
    return 1 if any("error" in tools["hopvec-float32"] for tools in known.values()) else 0


def measured(point: Point, repeats: int) -> dict[str, Any]:
    """The times of every tool at a point."""
    say(f"{point.nodes:,} nodes, {point.edges:,} edges, dim {point.dim}, {point.threads} threads")

    def run(tool: str) -> dict[str, Any]:
        return embedded(point.graph, tool, threads=point.threads, dim=point.dim)

    turns = take_turns(TOOLS, repeats, run)
    return {
        tool: {"error": runs[-1]["error"]} if "error" in runs[-1] else spreads(runs, *MEASURES)
        for tool, runs in turns.items()
    }


if __name__ == "__main__":
    sys.exit(main())
