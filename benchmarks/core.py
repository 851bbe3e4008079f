"""The benchmark of embedding in memory: python -m benchmarks.core.

Each measurement runs in a separate process (measure.py), so that peak memory is measured per tool,
and threads are set by environment variables before any library starts. Tools alternate within a
round, and every other round runs in reverse order, so that a machine that slows down affects all
tools equally.
"""

import argparse
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks import machine, startup
from benchmarks.measure import SETTING
from benchmarks.peers import environment_of
from benchmarks.processes import (
    build_graphs,
    compare,
    log,
    measure_tool,
    python,
    results_dir,
    run_interleaved,
    summarize,
    write,
)

OURS = ("hopvec-float32", "hopvec-float16")
PRODUCTS = ("fastrp", "scipy", "mkl", "torch")


@dataclass(frozen=True)
class Case:
    """Tools that are compared on one graph."""

    graph: str
    threads: int
    measure: str  # wall_seconds or cpu_seconds
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

# minimum speedups by graph, threads, hopvec variant and peer
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
    """Measure, evaluate and write the results; returns 1 if hopvec failed."""
    args = options()
    cases = [case for case in CASES if not args.quick or case.graph in QUICK]
    tools = list(dict.fromkeys(tool for case in cases for tool in case.tools))
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "setting": SETTING,
        "graphs": build_graphs([case.graph for case in cases]),
        "exactness": exactness(),
        "distribution": distributions(tools),
        "startup": startup.measure(3 if args.quick else 9),
        "runs": [],
    }
    for case in cases:
        repeats = args.large_repeats if case.large else args.repeats
        results["runs"] += run_rounds(case, repeats)
        results |= evaluate(results, cases)
        write(results_dir(args.quick) / "core.json", results)
    return 1 if any("error" in run for run in results["runs"] if run["tool"] in OURS) else 0


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench --only core", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="smaller graphs only")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--large-repeats", type=int, default=2, help="rounds for large graphs")
    return parser.parse_args()


def exactness() -> dict[str, Any]:
    """Errors of the vectors against the formulas; exits if they are too large."""
    log("errors of vectors against the formulas")
    found = python("benchmarks.exactness", threads=ALL)
    if "error" in found:
        raise SystemExit(f"benchmarks.exactness: {found['error']}")
    worst = max(error for row in found["rows"] for error in row["worst"].values())
    if worst > found["target"]:
        raise SystemExit(
            f"the relative error of a row is {worst:.1e} (see benchmarks/exactness.py)"
        )
    return found


def distributions(tools: list[str]) -> dict[str, Any]:
    """Check that every tool samples from the same distribution; exits if one does not."""
    log("distributions of the tools")
    found: dict[str, Any] = {}
    for tool in tools:
        distances = python(
            "benchmarks.distribution_check", tool, threads=1, environment=environment_of(tool)
        )
        if "error" in distances:
            log(f"{tool}: {distances['error']}")
            continue
        distances = distances[tool]
        mistakes = [distances[name] for name in distances if name != "distribution"]
        if distances["distribution"] > min(mistakes) / 2:
            raise SystemExit(
                f"{tool} has another distribution: {distances} (see distribution_check.py)"
            )
        found[tool] = distances
    return found


def run_rounds(case: Case, repeats: int) -> list[dict[str, Any]]:
    """Measure every tool of a case once per round, without tools that failed or were too slow."""
    log(f"{case.graph}, {case.threads} threads, dim {case.dim}")

    def run(tool: str) -> dict[str, Any]:
        return measure_tool(case.graph, tool, threads=case.threads, dim=case.dim)

    turns = run_interleaved(case.tools, repeats, run)
    return [run for runs in turns.values() for run in runs]


def evaluate(results: dict[str, Any], cases: list[Case]) -> dict[str, Any]:
    """All statistics that are computed from the raw runs."""
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
        | {measure: summarize([run[measure] for run in group]) for measure in measures}
        for (graph, threads, tool), group in groups.items()
    ]


def ratios(case: Case, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Speedups of hopvec over each peer: by medians, and their range over the rounds."""

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
            found = compare(theirs, mine)
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


def memory(runs: list[dict[str, Any]], sizes: dict[str, Any]) -> list[dict[str, Any]]:
    """Peak memory of each tool, including the interpreter; for hopvec with its limit."""
    rows = []
    for graph, threads, tool in dict.fromkeys((r["graph"], r["threads"], r["tool"]) for r in runs):
        group = [r for r in runs if (r["graph"], r["threads"], r["tool"]) == (graph, threads, tool)]
        nodes = sizes[graph]["nodes"]
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
