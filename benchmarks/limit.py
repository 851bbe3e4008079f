"""What the machine allows a hop: python -m benchmarks.limit, once all is installed.

A bare loop does the memory work of a hop and nothing else (hopvec.engine.roofline). Its pace, and
the peers' times of the same run, give the speed-up that an engine of this kind could reach at best.
"""

import argparse
import statistics
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks import machine
from benchmarks.core import CASES, QUICK, TARGETS
from benchmarks.measure import SETTING
from benchmarks.processes import (
    DISTURBED,
    embedded,
    made_graphs,
    python,
    results_folder,
    say,
    write,
)

COLUMNS = {"hopvec-float32": 16, "hopvec-float16": 32}  # in one line of 64 bytes
SECONDS = 12  # of turns on one graph, in one round


@dataclass(frozen=True)
class Goal:
    """A target of core.py: so many times faster than a peer."""

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
LARGE = {case.graph for case in CASES if case.large}
GRAPHS = tuple(dict.fromkeys(case.graph for case in CASES))


def main() -> int:
    """Compile, measure, conclude, write."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only limit")
    parser.add_argument("--repeats", type=int, default=2, help="rounds (default: 2)")
    parser.add_argument("--large-repeats", type=int, default=1, help="rounds, 200k (default: 1)")
    parser.add_argument("--quick", action="store_true", help="the smaller graphs only")
    args = parser.parse_args()
    names = QUICK if args.quick else GRAPHS
    results: dict[str, Any] = {"machine": machine.describe(), "graphs": {}, "goals": []}
    facts = made_graphs(names)
    for graph in names:
        repeats = args.large_repeats if graph in LARGE else args.repeats
        rounds = [measure(graph) for _ in range(repeats)]
        results["graphs"][graph] = facts[graph] | paces([found["hop"] for found in rounds])
        results["goals"] += [
            conclude(goal, results["graphs"][graph], [found["tools"] for found in rounds])
            for goal in GOALS
            if goal.graph == graph
        ]
    write(results_folder(args.quick) / "limit.json", results)
    return 0


def measure(graph: str) -> dict[str, Any]:
    """One round on one graph: the hop alone, then every tool from end to end."""
    hop = checked(graph, "hop", python("benchmarks.hop_pace", graph, SECONDS, threads=1))
    say(f"{graph}, the hop alone{remark(hop)}")
    tools: dict[tuple[str, int], dict[str, Any]] = {}
    for goal in GOALS:
        for tool in (goal.ours, goal.peer) if goal.graph == graph else ():
            key = (tool, goal.threads)
            if key not in tools:
                run = embedded(graph, tool, threads=goal.threads, dim=SETTING["dim"])
                tools[key] = checked(graph, tool, run)
                say(f"{graph}, {tool}: {run[goal.measure]:.3f} s{remark(run)}")
    return {"hop": hop, "tools": tools}


def remark(run: dict[str, Any]) -> str:
    """Whether a measurement was disturbed."""
    share = run["others_share"]
    return f" (others took {share:.0%} of the machine)" if share > DISTURBED else ""


def checked(graph: str, what: str, found: dict[str, Any]) -> dict[str, Any]:
    """What was found, if it was found."""
    if "error" in found:
        raise SystemExit(f"{graph}, {what}: {found['error']}")
    return found


def paces(hops: list[dict[str, Any]]) -> dict[str, Any]:
    """Nanoseconds per entry by number of threads, medians over rounds."""
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


def conclude(
    goal: Goal, found: dict[str, Any], rounds: list[dict[tuple[str, int], dict[str, Any]]]
) -> dict[str, Any]:
    """The speed-up that was reached, and the one that the bare loop would reach.

    The bare loop is charged for the hops after the first, which R makes sparse, and for nothing
    else: no first hop, no sum of orders, no output. Threads share a slab or, where that would be
    faster, have one each and do not slow each other down. Where hopvec's own hop is faster, because
    it has long rows by tile, that counts.
    """

    def seconds(tool: str) -> float:
        return statistics.median(found[tool, goal.threads][goal.measure] for found in rounds)

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
