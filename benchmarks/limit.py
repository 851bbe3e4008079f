"""What the machine allows a hop: python -m benchmarks.limit, once all is installed.

The bare loop of limit.cpp does the memory work of a hop and nothing else. Its pace, and the peers'
times of the same run, give the speed-up that an engine of this kind could reach at best.
"""

import argparse
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.core import CASES, TARGETS
from benchmarks.measure import SETTING
from benchmarks.processes import DISTURBED, RESULTS, ROOT, python, say, watched, write

COLUMNS = {"hopvec-float32": 16, "hopvec-float16": 32}  # in one line of 64 bytes
SECONDS = 12  # of turns on one graph, in one round
COMPILER = os.environ.get("CXX", "c++")


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


def main() -> int:
    """Compile, measure, conclude, write."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only limit")
    parser.add_argument("--repeats", type=int, default=2, help="rounds (default: 2)")
    parser.add_argument("--large-repeats", type=int, default=1, help="rounds, 200k (default: 1)")
    args = parser.parse_args()
    results: dict[str, Any] = {"machine": machine.describe(), "graphs": {}, "goals": []}
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(Path(folder))
        for graph in dict.fromkeys(goal.graph for goal in GOALS):
            repeats = args.large_repeats if graph in LARGE else args.repeats
            rounds = [measure(graph, library) for _ in range(repeats)]
            results["graphs"][graph] = paces([found["hop"] for found in rounds])
            results["goals"] += [
                conclude(goal, results["graphs"][graph], [found["tools"] for found in rounds])
                for goal in GOALS
                if goal.graph == graph
            ]
    write(RESULTS / "limit.json", results)
    return 0


def compiled(folder: Path) -> Path:
    """limit.cpp as a shared library, for this machine."""
    library = folder / "limit.so"
    options = ["-O3", "-march=native", "-std=c++17", "-shared", "-fPIC", "-pthread"]
    watched([COMPILER, *options, ROOT / "benchmarks" / "limit.cpp", "-o", library])
    return library


def measure(graph: str, library: Path) -> dict[str, Any]:
    """One round on one graph: the hop alone, then every tool from end to end."""
    hop = checked(graph, "hop", python("benchmarks.hop_pace", graph, library, SECONDS, threads=1))
    say(f"{graph}, the hop alone{remark(hop)}")
    tools: dict[tuple[str, int], dict[str, Any]] = {}
    for goal in GOALS:
        for tool in (goal.ours, goal.peer) if goal.graph == graph else ():
            key = (tool, goal.threads)
            if key not in tools:
                run = python("benchmarks.measure", graph, *key, threads=goal.threads)
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
    """Nanoseconds per entry, median over rounds; of the bare loops, the best distance."""
    pace = {key: statistics.median(hop["pace"][key] for hop in hops) for key in hops[0]["pace"]}
    rows = []
    for threads in sorted({key.split()[1] for key in pace}, key=int):
        of = {key.split()[0]: value for key, value in pace.items() if key.split()[1] == threads}
        bare = {key: value for key, value in of.items() if key.startswith("bare-")}
        best = min(bare, key=lambda key: bare[key])
        row = {
            "threads": int(threads),
            "bare": bare[best],
            "ahead": int(best.removeprefix("bare-")),
            "random": min(of[key] for key in of if key.startswith("random-")),
            "stream": statistics.median(hop["stream"][threads] for hop in hops),
        }
        rows.append(row | {ours: of[ours] for ours in COLUMNS})
    others = max(hop["others_share"] for hop in hops)
    return {"entries": hops[0]["entries"], "rows": rows, "pace": pace, "others_share": others}


def conclude(
    goal: Goal, found: dict[str, Any], rounds: list[dict[tuple[str, int], dict[str, Any]]]
) -> dict[str, Any]:
    """The speed-up that was reached, and the one that the bare loop would reach.

    The bare loop is charged for the hops after the first, which R makes sparse, and for nothing
    else: no first hop, no sum of orders, no output. Threads share a slab or, where that would be
    faster, have one each and do not slow each other down.
    """

    def seconds(tool: str) -> float:
        return statistics.median(found[tool, goal.threads][goal.measure] for found in rounds)

    row = min(found["rows"], key=lambda row: abs(row["threads"] - goal.threads))
    pace = min(row["bare"], found["rows"][0]["bare"] / row["threads"])
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
