"""The hardware limits of a hop: python -m benchmarks.limit.

A bare loop does the memory accesses of a hop and nothing else (hopvec.engine.roofline). With its
speed and the times of core.py, the largest possible speedup of such an engine is computed.
"""

import argparse
import json
import statistics
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks import machine
from benchmarks.core import CASES, QUICK, TARGETS
from benchmarks.measure import SETTING
from benchmarks.processes import DISTURBED, build_graphs, log, python, results_dir, write

COLUMNS = {"hopvec-float32": 16, "hopvec-float16": 32}  # per cache line of 64 bytes
SECONDS = 12  # per graph and round


@dataclass(frozen=True)
class Goal:
    """A target of core.py: the minimum speedup over a peer."""

    graph: str
    threads: int
    measure: str
    ours: str
    peer: str
    target: float


MEASURES = {(case.graph, case.threads): case.measure for case in CASES}
GOALS = tuple(
    Goal(graph, threads, MEASURES[graph, threads], ours, peer, target)
    for (graph, threads, ours, peer), target in TARGETS.items()
)
GRAPHS = tuple(dict.fromkeys(case.graph for case in CASES))


def main() -> int:
    """Measure, evaluate, and write the results."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only limit")
    parser.add_argument("--repeats", type=int, default=2, help="rounds (default: 2)")
    parser.add_argument("--quick", action="store_true", help="smaller graphs only")
    args = parser.parse_args()
    names = QUICK if args.quick else GRAPHS
    results: dict[str, Any] = {"machine": machine.describe(), "graphs": {}, "goals": []}
    sizes = build_graphs(names)
    times = core_times(args.quick)
    for graph in names:
        rounds = [measure_paces(graph) for _ in range(args.repeats)]
        results["graphs"][graph] = sizes[graph] | median_paces(rounds)
        results["goals"] += [
            evaluate(goal, results["graphs"][graph], times) for goal in GOALS if goal.graph == graph
        ]
    write(results_dir(args.quick) / "limit.json", results)
    return 0


def core_times(quick: bool) -> dict[tuple[str, int, str], dict[str, Any]]:
    """The times that core.py measured, by graph, threads and tool."""
    path = results_dir(quick) / "core.json"
    if not path.is_file():
        raise SystemExit("limit: run core first, whose times are needed.")
    rows = json.loads(path.read_text())["times"]
    return {(row["graph"], row["threads"], row["tool"]): row for row in rows}


def measure_paces(graph: str) -> dict[str, Any]:
    """One round on one graph: the hop and the bare loop, alternating."""
    hop = python("benchmarks.hop_pace", graph, SECONDS, threads=1)
    if "error" in hop:
        raise SystemExit(f"{graph}, hop: {hop['error']}")
    log(f"{graph}, hop and bare loop{remark(hop)}")
    return hop


def remark(run: dict[str, Any]) -> str:
    """A remark if a measurement was disturbed."""
    share = run["others_share"]
    return f" (other processes: {share:.0%} of the machine)" if share > DISTURBED else ""


def median_paces(hops: list[dict[str, Any]]) -> dict[str, Any]:
    """Nanoseconds per entry by number of threads, as medians over the rounds."""
    rows = []
    for number, row in enumerate(hops[0]["rows"]):
        same = [hop["rows"][number] for hop in hops]
        medians = {key: statistics.median(found[key] for found in same) for key in row}
        own = {
            f"hopvec-{precision}": medians.pop(precision) for precision in ("float32", "float16")
        }
        rows.append(medians | own | {"threads": row["threads"]})
    others = max(hop["others_share"] for hop in hops)
    return {"entries": hops[0]["entries"], "rows": rows, "others_share": others}


def evaluate(
    goal: Goal, found: dict[str, Any], times: dict[tuple[str, int, str], dict[str, Any]]
) -> dict[str, Any]:
    """The speedup of hopvec, and that of the bare loop.

    The time of the bare loop includes only the hops after the first: not the first hop, which is
    sparse, nor the sum of orders, nor the output. Threads share a slab, or have one each without
    slowing each other down, whichever is faster. If the hop of hopvec is faster, its time is used.
    """

    def seconds(tool: str) -> float:
        return float(times[goal.graph, goal.threads, tool][goal.measure]["median"])

    row = min(found["rows"], key=lambda row: abs(row["threads"] - goal.threads))
    pace = min(row["bare"], found["rows"][0]["bare"] / row["threads"], row[goal.ours])
    slabs = SETTING["dim"] // COLUMNS[goal.ours]
    lines = found["entries"] * slabs * (len(SETTING["weights"]) - 1)
    bare = pace * 1e-9 * lines
    bound = seconds(goal.peer) / bare
    return {
        **vars(goal),
        "seconds": seconds(goal.ours),
        "peer_seconds": seconds(goal.peer),
        "bare_seconds": bare,
        "hop_seconds": row[goal.ours] * 1e-9 * lines,
        "reached": seconds(goal.peer) / seconds(goal.ours),
        "bound": bound,
        "reachable": bound >= goal.target,
    }


if __name__ == "__main__":
    sys.exit(main())
