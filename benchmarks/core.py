"""The benchmark of the core: python -m benchmarks.core, once all is installed.

Every measurement is a process of its own (measure.py): its peak memory is its own, and threads are
set by environment variables before any library starts. Within a round the tools take turns, and
every other round runs backwards, so that a machine that gets slower is unfair to nobody.
"""

import argparse
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks import machine, startup
from benchmarks.measure import SETTING
from benchmarks.peers import environment_of
from benchmarks.processes import (
    compared,
    embedded,
    made_graphs,
    python,
    results_folder,
    say,
    spread,
    take_turns,
    write,
)

OURS = ("hopvec-float32", "hopvec-float16")
PRODUCTS = ("fastrp", "scipy", "mkl", "torch")


@dataclass(frozen=True)
class Case:
    """Tools that are compared with each other on one graph."""

    graph: str
    threads: int
    measure: str  # what is compared: wall_seconds or cpu_seconds
    tools: tuple[str, ...]
    dim: int = SETTING["dim"]
    large: bool = False


ALL = machine.cores()
CASES = (
    Case("blogcatalog", 1, "cpu_seconds", (*OURS, "authors")),
    Case("blogcatalog", ALL, "wall_seconds", (*OURS, *PRODUCTS)),
    Case("cnr-2000", ALL, "wall_seconds", (*OURS, *PRODUCTS), dim=128),
    Case("chung-lu-80k", ALL, "wall_seconds", (*OURS, *PRODUCTS)),
    Case("erdos-renyi-1m", ALL, "wall_seconds", (*OURS, *PRODUCTS), dim=128, large=True),
    Case("chung-lu-200k", ALL, "wall_seconds", (*OURS, *PRODUCTS), large=True),
)
QUICK = ("blogcatalog", "cnr-2000", "chung-lu-80k")

# (graph, threads, hopvec's side, peer): at least so many times faster
TARGETS = {
    ("blogcatalog", 1, "hopvec-float32", "authors"): 40,
    ("blogcatalog", ALL, "hopvec-float32", "fastrp"): 5,
    ("chung-lu-80k", ALL, "hopvec-float32", "fastrp"): 8,
    ("chung-lu-80k", ALL, "hopvec-float32", "scipy"): 12,
    ("chung-lu-80k", ALL, "hopvec-float32", "mkl"): 12,
    ("chung-lu-200k", ALL, "hopvec-float32", "fastrp"): 6,
    ("chung-lu-200k", ALL, "hopvec-float16", "fastrp"): 10,
}


def main() -> int:
    """Measure, conclude, write; 1 if hopvec itself failed."""
    args = options()
    cases = [case for case in CASES if not args.quick or case.graph in QUICK]
    tools = list(dict.fromkeys(tool for case in cases for tool in case.tools))
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "setting": SETTING,
        "graphs": made_graphs([case.graph for case in cases]),
        "exactness": exactness(),
        "law": laws(tools),
        "startup": startup.measure(3 if args.quick else 9),
        "runs": [],
    }
    for case in cases:
        repeats = args.large_repeats if case.large else args.repeats
        results["runs"] += run_rounds(case, repeats)
        results |= conclusions(results, cases)
        write(results_folder(args.quick) / "core.json", results)
    return 1 if any("error" in run for run in results["runs"] if run["tool"] in OURS) else 0


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench --only core", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="the smaller graphs only")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--large-repeats", type=int, default=2, help="rounds of large graphs")
    return parser.parse_args()


def exactness() -> dict[str, Any]:
    """How far vectors lie from the formulas; if it is far, times are worthless."""
    say("how far are vectors from the formulas?")
    found = python("benchmarks.exactness", threads=ALL)
    if "error" in found:
        raise SystemExit(f"benchmarks.exactness: {found['error']}")
    worst = max(error for row in found["rows"] for error in row["worst"].values())
    if worst > found["target"]:
        raise SystemExit(
            f"a row is {worst:.1e} away from its formula (see benchmarks/exactness.py)"
        )
    return found


def laws(tools: list[str]) -> dict[str, Any]:
    """How well every tool keeps to the common law; a tool that does not makes times worthless."""
    say("do all tools compute the same thing?")
    found: dict[str, Any] = {}
    for tool in tools:
        distances = python("benchmarks.law", tool, threads=1, environment=environment_of(tool))
        if "error" in distances:
            say(f"{tool}: {distances['error']}")
            continue
        distances = distances[tool]
        mistakes = [distances[name] for name in distances if name != "law"]
        if distances["law"] > min(mistakes) / 2:
            raise SystemExit(f"{tool} computes something else: {distances} (see benchmarks/law.py)")
        found[tool] = distances
    return found


def run_rounds(case: Case, repeats: int) -> list[dict[str, Any]]:
    """Measure every tool of a case once a round; one that was too slow or failed, no more."""
    say(f"{case.graph}, {case.threads} threads, dim {case.dim}")

    def run(tool: str) -> dict[str, Any]:
        return embedded(case.graph, tool, threads=case.threads, dim=case.dim)

    turns = take_turns(case.tools, repeats, run)
    return [run for runs in turns.values() for run in runs]


def conclusions(results: dict[str, Any], cases: list[Case]) -> dict[str, Any]:
    """Everything that is computed from the raw runs."""
    runs = [run for run in results["runs"] if "error" not in run]
    return {
        "times": times(runs),
        "ratios": [ratio for case in cases for ratio in ratios(case, runs)],
        "memory": memory(runs, results["graphs"]),
        "failures": {
            f"{run['graph']}, {run['threads']}, {run['tool']}": run["error"]
            for run in results["runs"]
            if "error" in run
        },
    }


def times(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Median and spread over the rounds for every graph, tool and number of threads."""
    groups: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault((run["graph"], run["threads"], run["tool"]), []).append(run)
    measures = ("wall_seconds", "cpu_seconds", "prepare_seconds", "others_share")
    return [
        {"graph": graph, "threads": threads, "tool": tool}
        | {measure: spread([run[measure] for run in group]) for measure in measures}
        for (graph, threads, tool), group in groups.items()
    ]


def ratios(case: Case, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How many times faster hopvec is than each peer: of the medians, and the range over rounds."""

    def seconds(tool: str) -> list[float]:
        key = (case.graph, case.threads, tool)
        found = [run for run in runs if (run["graph"], run["threads"], run["tool"]) == key]
        return [run[case.measure] for run in found]

    rows = []
    for ours in OURS:
        for peer in case.tools:
            mine, theirs = seconds(ours), seconds(peer)
            if peer in OURS or not mine or not theirs:
                continue
            found = compared(theirs, mine)
            target = TARGETS.get((case.graph, case.threads, ours, peer))
            rows.append(
                {
                    "graph": case.graph,
                    "threads": case.threads,
                    "measure": case.measure,
                    "hopvec": ours,
                    "peer": peer,
                    **found,
                    "target": target,
                    "met": None if target is None else found["ratio"] >= target,
                }
            )
    return rows


def memory(runs: list[dict[str, Any]], facts: dict[str, Any]) -> list[dict[str, Any]]:
    """The peak of each tool, interpreter included; hopvec's with its bound."""
    rows = []
    for graph, threads, tool in dict.fromkeys((r["graph"], r["threads"], r["tool"]) for r in runs):
        group = [r for r in runs if (r["graph"], r["threads"], r["tool"]) == (graph, threads, tool)]
        nodes = facts[graph]["nodes"]
        peak = max(run["peak_rss"] for run in group)
        growth = max(run["peak_rss"] - run["rss_before"] for run in group)
        row = {"graph": graph, "threads": threads, "tool": tool, "peak": peak, "growth": growth}
        if tool in OURS:
            csr, slabs = group[0]["graph_bytes"], group[0]["slabs_in_flight"]
            output = nodes * group[0]["dim"] * 4
            limit = csr + output + 128 * nodes * slabs + 100_000_000
            row |= {"csr": csr, "output": output, "slabs_in_flight": slabs, "limit": limit}
            row |= {"met": peak <= limit}
        rows.append(row)
    return rows


if __name__ == "__main__":
    sys.exit(main())
