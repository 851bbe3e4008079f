"""The benchmark of the core: python -m benchmarks.core, once all is installed.

Every measurement is a process of its own (measure.py): its peak memory is its own, and threads are
set by environment variables before any library starts. Within a round the tools take turns, and
every other round runs backwards, so that a machine that gets slower is unfair to nobody.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks import core_tables, graphs, machine
from benchmarks.measure import SETTING
from benchmarks.processes import DISTURBED, RESULTS, python, say, spread, write

WHOLE, PARTIAL = RESULTS / "core.json", RESULTS / "partial.json"
OURS = ("hopvec-float32", "hopvec-float16")


@dataclass(frozen=True)
class Case:
    """Tools that are compared with each other on one graph."""

    graph: str
    threads: int
    measure: str  # what is compared: wall_seconds or cpu_seconds
    tools: tuple[str, ...]
    large: bool = False


CASES = (
    Case("blogcatalog", 1, "cpu_seconds", (*OURS, "authors")),
    Case("blogcatalog", 2, "wall_seconds", (*OURS, "fastrp")),
    Case("chung-lu-80k", 2, "wall_seconds", (*OURS, "fastrp", "scipy", "mkl")),
    Case("chung-lu-200k", 2, "wall_seconds", (*OURS, "fastrp"), large=True),
)

# (graph, threads, hopvec's side, peer): at least so many times faster
TARGETS = {
    ("blogcatalog", 1, "hopvec-float32", "authors"): 40,
    ("blogcatalog", 2, "hopvec-float32", "fastrp"): 5,
    ("chung-lu-80k", 2, "hopvec-float32", "fastrp"): 8,
    ("chung-lu-80k", 2, "hopvec-float32", "scipy"): 12,
    ("chung-lu-80k", 2, "hopvec-float32", "mkl"): 12,
    ("chung-lu-200k", 2, "hopvec-float32", "fastrp"): 6,
    ("chung-lu-200k", 2, "hopvec-float16", "fastrp"): 10,
}
IMPORTS = {
    "python -c pass": "pass",
    "import numpy, scipy, pyarrow": "import numpy, scipy, pyarrow",
    "import hopvec": "import hopvec",
}
IMPORT_TARGET = 0.3  # seconds of CPU
IMPORT_ROUNDS = 9


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench --only core", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="no 200k graph, one round")
    parser.add_argument("--only", action="append", choices=graphs.GRAPHS, help="this graph only")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--large-repeats", type=int, default=2, help="rounds, 200k (default: 2)")
    parser.add_argument("--all-peers", action="store_true", help="scipy and MKL at 200k too: slow")
    return parser.parse_args(arguments)


def main() -> int:
    """Measure, conclude, write; 1 if a measurement failed."""
    args = options()
    partial = bool(args.quick or args.only)
    path = PARTIAL if partial else WHOLE
    cases = chosen_cases(args)
    tools = list(dict.fromkeys(tool for case in cases for tool in case.tools))
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "setting": SETTING,
        "graphs": {name: graph_facts(name) for name in dict.fromkeys(c.graph for c in cases)},
        "law": laws(tools),
        "imports": import_times(),
        "runs": [],
    }
    for case in cases:
        repeats = 1 if args.quick else args.large_repeats if case.large else args.repeats
        results["runs"] += run_rounds(case, repeats)
        results |= conclusions(results, cases)
        write(path, results)
    if partial:
        print(core_tables.section(results))
        say(f"a partial run: kept in {path}, not published")
    return 1 if any("error" in run for run in results["runs"]) else 0


def chosen_cases(args: argparse.Namespace) -> list[Case]:
    """What the command line left of CASES."""
    names = args.only or [name for name in graphs.GRAPHS if not (args.quick and "200k" in name)]
    cases = [case for case in CASES if case.graph in names]
    if args.all_peers:
        cases = [
            Case(**asdict(case) | {"tools": (*case.tools, "scipy", "mkl")}) if case.large else case
            for case in cases
        ]
    return cases


def graph_facts(name: str) -> dict[str, int]:
    """Nodes and edges; makes the graph if it is not in the cache yet."""
    say(f"{name}: loading")
    adjacency = graphs.load(name)
    return {"nodes": adjacency.shape[0], "edges": adjacency.nnz // 2}


def laws(tools: list[str]) -> dict[str, Any]:
    """How well every tool keeps to the common law; a tool that does not makes times worthless."""
    say("do all tools compute the same thing?")
    found = python("benchmarks.law", *tools, threads=1)
    if "error" in found:
        raise SystemExit(f"benchmarks.law: {found['error']}")
    for tool, distances in found.items():
        mistakes = [distances[name] for name in distances if name != "law"]
        if distances["law"] > min(mistakes) / 2:
            raise SystemExit(f"{tool} computes something else: {distances} (see benchmarks/law.py)")
    return found


def run_rounds(case: Case, repeats: int) -> list[dict[str, Any]]:
    """Measure every tool of a case once a round."""
    runs = []
    for number in range(repeats):
        for tool in case.tools if number % 2 == 0 else reversed(case.tools):
            run = python("benchmarks.measure", case.graph, tool, case.threads, threads=case.threads)
            runs.append({"graph": case.graph, "tool": tool, "threads": case.threads} | run)
            seconds = run.get(case.measure)
            outcome = run["error"] if seconds is None else f"{seconds:.3f} {case.measure}"
            if run.get("others_share", 0) > DISTURBED:
                outcome += f" (others took {run['others_share']:.0%} of the machine)"
            say(f"{case.graph}, round {number + 1} of {repeats}, {tool}: {outcome}")
    return runs


def import_times() -> dict[str, Any]:
    """CPU seconds of a fresh Python that imports something; the first round only warms the disk."""
    say("imports")
    samples: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for number in range(IMPORT_ROUNDS + 1):
        for name, statement in IMPORTS.items():
            seconds = cpu_seconds_of([sys.executable, "-c", statement])
            if number > 0:
                samples[name].append(seconds)
    return {name: spread(values) for name, values in samples.items()}


def cpu_seconds_of(command: list[str]) -> float:
    """User and system time of a process, start to end, in a folder without sources."""
    process = subprocess.Popen(command, cwd=tempfile.gettempdir())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime


def conclusions(results: dict[str, Any], cases: list[Case]) -> dict[str, Any]:
    """Everything that is computed from the raw runs."""
    runs = [run for run in results["runs"] if "error" not in run]
    return {
        "times": times(runs),
        "ratios": [ratio for case in cases for ratio in ratios(case, runs)],
        "memory": memory(runs, results["graphs"]),
        "import": {
            "cpu_seconds": results["imports"]["import hopvec"]["median"],
            "target": IMPORT_TARGET,
            "met": results["imports"]["import hopvec"]["median"] < IMPORT_TARGET,
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
            ratio = statistics.median(theirs) / statistics.median(mine)
            by_round = [b / a for a, b in zip(mine, theirs, strict=False)]
            target = TARGETS.get((case.graph, case.threads, ours, peer))
            rows.append(
                {
                    "graph": case.graph,
                    "threads": case.threads,
                    "measure": case.measure,
                    "hopvec": ours,
                    "peer": peer,
                    "ratio": ratio,
                    "range": [min(by_round), max(by_round)],
                    "target": target,
                    "met": None if target is None else ratio >= target,
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
            output = nodes * SETTING["dim"] * 4
            limit = csr + output + 128 * nodes * slabs + 100_000_000
            row |= {"csr": csr, "output": output, "slabs_in_flight": slabs, "limit": limit}
            row |= {"met": peak <= limit}
        rows.append(row)
    return rows


if __name__ == "__main__":
    sys.exit(main())
