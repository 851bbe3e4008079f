"""What the machine allows a hop: python -m benchmarks.limit, once all is installed.

A bare loop does the memory work of a hop and nothing else (hopvec.engine.roofline). Its pace, and
the times that core.py found before, give the speed-up that an engine of this kind could reach.
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
from benchmarks.processes import DISTURBED, made_graphs, python, results_folder, say, write

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
GRAPHS = tuple(dict.fromkeys(case.graph for case in CASES))


def main() -> int:
    """Measure, conclude, write."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only limit")
    parser.add_argument("--repeats", type=int, default=2, help="rounds (default: 2)")
    parser.add_argument("--quick", action="store_true", help="the smaller graphs only")
    args = parser.parse_args()
    names = QUICK if args.quick else GRAPHS
    results: dict[str, Any] = {"machine": machine.describe(), "graphs": {}, "goals": []}
    facts = made_graphs(names)
    times = core_times(args.quick)
    for graph in names:
        rounds = [paced(graph) for _ in range(args.repeats)]
        results["graphs"][graph] = facts[graph] | paces(rounds)
        results["goals"] += [
            conclude(goal, results["graphs"][graph], times) for goal in GOALS if goal.graph == graph
        ]
    write(results_folder(args.quick) / "limit.json", results)
    return 0


def core_times(quick: bool) -> dict[tuple[str, int, str], dict[str, Any]]:
    """What core.py measured, by graph, threads and tool."""
    path = results_folder(quick) / "core.json"
    if not path.is_file():
        raise SystemExit("limit: it compares with the times of core, so run that part first.")
    rows = json.loads(path.read_text())["times"]
    return {(row["graph"], row["threads"], row["tool"]): row for row in rows}


def paced(graph: str) -> dict[str, Any]:
    """One round on one graph: the hop alone and the bare loop, in turns."""
    hop = python("benchmarks.hop_pace", graph, SECONDS, threads=1)
    if "error" in hop:
        raise SystemExit(f"{graph}, hop: {hop['error']}")
    say(f"{graph}, the hop alone{remark(hop)}")
    return hop


def remark(run: dict[str, Any]) -> str:
    """Whether a measurement was disturbed."""
    share = run["others_share"]
    return f" (others took {share:.0%} of the machine)" if share > DISTURBED else ""


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
    goal: Goal, found: dict[str, Any], times: dict[tuple[str, int, str], dict[str, Any]]
) -> dict[str, Any]:
    """The speed-up that was reached, and the one that the bare loop would reach.

    The bare loop is charged for the hops after the first, which R makes sparse, and for nothing
    else: no first hop, no sum of orders, no output. Threads share a slab or, where that would be
    faster, have one each and do not slow each other down. Where hopvec's own hop happened to be
    faster, that counts.
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
