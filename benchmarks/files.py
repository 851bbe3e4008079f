"""The benchmark from file to file: python -m benchmarks.files.

The command line of hopvec against pandas with each peer between reading and writing; the reader of
hopvec against polars; and a run with a memory limit against the same run without one. Every run is
a separate process.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.peers import environment_of
from benchmarks.processes import (
    CACHE,
    HOPVEC,
    TIMEOUT_SECONDS,
    compare,
    environment_python,
    log,
    python,
    results_dir,
    run_interleaved,
    run_monitored,
    summarize_runs,
    write,
)


@dataclass(frozen=True)
class EdgeFile:
    """An edge list, written by edge_files.py."""

    name: str
    nodes: int = 0
    draws: int = 0
    """The number of edges drawn, including a few duplicates; 0 for a dataset of that name."""

    @property
    def path(self) -> Path:
        """The path of the file."""
        return CACHE / self.name


FILES = {
    "strings": EdgeFile("edges-5m.csv", 1_000_000, 5_000_000),
    "integers": EdgeFile("edges-20m.parquet", 2_000_000, 20_000_000),
    "real": EdgeFile("debian-packages.csv"),
}
PEERS = ("fastrp", "scipy", "mkl", "torch", "pycleora-4")
SLOW_PEERS = ("scikit-network", "prone")  # minutes for millions of edges: only on the real graph
QUICK_PEERS = ("fastrp", "mkl", "torch")
DIM = 128
PLAIN_SUM = ("--dim", DIM, "--weights", "1,1,1", "--normalize", "none", "--passes", 1)
MEMORY_LIMIT = 1_000_000_000
INTERPRETER_BYTES = 100_000_000  # Python and its libraries
TARGETS = {"whole": 3, "reading": 1, "memory_time": 2.5}


def main() -> int:
    """Write the edge lists, measure, and write the results."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only files")
    parser.add_argument(
        "--quick", action="store_true", help="fewer peers, without the graph of 20 M edges"
    )
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--large-repeats", type=int, default=2, help="rounds for 20 M edges")
    args = parser.parse_args()
    log("edge lists")
    found = python("benchmarks.edge_files", threads=machine.cores())
    if "error" in found:
        raise SystemExit(f"benchmarks.edge_files: {found['error']}")
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "files": found,
        "dim": DIM,
        "targets": TARGETS,
    }
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        directory = Path(name)
        results["real"] = whole(FILES["real"], PEERS + SLOW_PEERS, directory, args.repeats)
        peers = QUICK_PEERS if args.quick else PEERS
        results["whole"] = whole(FILES["strings"], peers, directory, args.repeats)
        results["reading"] = reading(args.repeats)
        if not args.quick:
            results["memory"] = memory(directory, args.large_repeats)
    write(results_dir(args.quick) / "files.json", results)
    return 0


def whole(file: EdgeFile, peers: Sequence[str], directory: Path, repeats: int) -> dict[str, Any]:
    """From CSV to Parquet: hopvec, and pandas with every peer."""
    log(f"{file.name} to Parquet")
    commands: dict[str, list[object]] = {
        "hopvec": embed(file, directory / "hopvec.parquet", directory, *PLAIN_SUM)
    }
    for peer in peers:
        interpreter = environment_python(environment_of(peer))
        pipeline = (interpreter, "-W", "ignore", "-m", "benchmarks.pandas_pipeline", peer)
        commands[peer] = [*pipeline, file.path, directory / f"{peer}.parquet", DIM]

    def run(tool: str) -> dict[str, Any]:
        measured = run_monitored(commands[tool], machine.cores(), TIMEOUT_SECONDS)
        if "error" in measured:
            return measured
        steps = stages(directory) if tool == "hopvec" else json.loads(measured.pop("output"))
        return measured | {"steps": steps}

    runs = run_interleaved(list(commands), repeats, run)
    tools: dict[str, Any] = {}
    for tool, tool_runs in runs.items():
        if "error" in tool_runs[-1]:
            tools[tool] = {"error": tool_runs[-1]["error"]}
            continue
        tools[tool] = summarize_runs(
            tool_runs, "wall_seconds", "cpu_seconds", "peak_rss", "others_share"
        )
        tools[tool]["steps"] = {step: median(tool_runs, step) for step in tool_runs[0]["steps"]}
        tools[tool] |= ratio(runs, tool, "hopvec", "wall_seconds", TARGETS["whole"])
    return {"tools": tools}


def embed(file: EdgeFile, output: Path, directory: Path, *options: object) -> list[object]:
    """A `hopvec embed` command that writes a run report."""
    report = ("--report", directory / "report.json", "--quiet")
    return [HOPVEC, "embed", file.path, "-o", output, *options, *report]


def stages(directory: Path) -> dict[str, float]:
    """The seconds of each stage of the last `hopvec embed`."""
    report = json.loads((directory / "report.json").read_text())
    return {stage["name"]: stage["seconds"] for stage in report["stages"]}


def median(runs: list[dict[str, Any]], step: str) -> float:
    """The median seconds of a step."""
    return statistics.median(run["steps"][step] for run in runs)


def checked(run: dict[str, Any]) -> dict[str, Any]:
    """A run of hopvec; exits if it failed."""
    if "error" in run:
        raise SystemExit(run["error"])
    return run


def reading(repeats: int) -> dict[str, Any]:
    """From CSV to ids and codes: hopvec against polars; and to the complete graph of hopvec."""

    def run(tool: str) -> dict[str, Any]:
        found = python("benchmarks.reading", tool, FILES["strings"].path, threads=machine.cores())
        if "error" in found:
            raise SystemExit(f"reading with {tool}: {found['error']}")
        return found | {"wall_seconds": found["codes"]}

    runs = run_interleaved(["hopvec", "polars"], max(repeats, 5), run)
    tools = {tool: summarize_runs(tool_runs, "codes", "whole") for tool, tool_runs in runs.items()}
    return {
        "tools": tools,
        "codes": ratio(runs, "polars", "hopvec", "codes", TARGETS["reading"]),
        "whole": ratio(runs, "polars", "hopvec", "whole", TARGETS["reading"]),
    }


def memory(directory: Path, repeats: int) -> dict[str, Any]:
    """From Parquet to Parquet with and without a memory limit: time, peak, equal vectors."""
    outputs = {name: directory / f"{name}.parquet" for name in ("limited", "unlimited")}
    options = {"limited": ("--memory", MEMORY_LIMIT), "unlimited": ()}

    def run(name: str) -> dict[str, Any]:
        command = embed(FILES["integers"], outputs[name], directory, "--dim", DIM, *options[name])
        return checked(run_monitored(command, machine.cores())) | {"steps": stages(directory)}

    runs = run_interleaved(list(outputs), repeats, run)
    log("comparing vectors")
    same = python("benchmarks.same_vectors", *outputs.values(), threads=machine.cores())
    peak = max(run["peak_rss"] for run in runs["limited"])
    limit = 1.1 * MEMORY_LIMIT + INTERPRETER_BYTES
    slower = ratio(runs, "limited", "unlimited", "wall_seconds", TARGETS["memory_time"])
    return {
        "runs": {
            name: summarize_runs(
                tool_runs, "wall_seconds", "cpu_seconds", "peak_rss", "others_share"
            )
            for name, tool_runs in runs.items()
        },
        **{
            "memory_limit": MEMORY_LIMIT,
            "limit": limit,
            "peak_met": peak <= limit,
            "same": same["same"],
        },
        "slower": slower | {"met": slower["ratio"] <= TARGETS["memory_time"]},
    }


def ratio(
    runs: dict[str, list[dict[str, Any]]],
    numerator: str,
    denominator: str,
    measure: str,
    target: float,
) -> dict[str, Any]:
    """The ratio of a measure of two tools, and whether it reaches its target."""
    upper, lower = ([run[measure] for run in runs[name]] for name in (numerator, denominator))
    found = compare(upper, lower)
    return found | {"target": target, "met": found["ratio"] >= target}


if __name__ == "__main__":
    sys.exit(main())
