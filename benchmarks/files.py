"""From file to file: python -m benchmarks.files, once all is installed.

hopvec's command line against pandas with each peer between reading and writing, hopvec's reader
against polars, and a run within a memory limit against the same run without one. Every run is a
process of its own.
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
    MOST_SECONDS,
    compared,
    environment_python,
    python,
    results_folder,
    say,
    spreads,
    take_turns,
    watched,
    write,
)


@dataclass(frozen=True)
class EdgeFile:
    """An edge list that edge_files.py makes."""

    name: str
    nodes: int = 0
    draws: int = 0
    """Edges that are drawn, of which a few repeat others; 0 for a data set of that name."""

    @property
    def path(self) -> Path:
        """Where it lies."""
        return CACHE / self.name


FILES = {
    "texts": EdgeFile("edges-5m.csv", 1_000_000, 5_000_000),
    "integers": EdgeFile("edges-20m.parquet", 2_000_000, 20_000_000),
    "real": EdgeFile("debian-packages.csv"),
}
PEERS = ("fastrp", "scipy", "mkl", "torch", "pycleora-4")
SLOW_PEERS = ("scikit-network", "prone")  # minutes for millions of edges: on the real file alone
QUICK_PEERS = ("fastrp", "mkl", "torch")
DIM = 128
PLAIN_SUM = ("--dim", DIM, "--weights", "1,1,1", "--normalize", "none")
BOUND = 1_000_000_000
BESIDE_BOUND = 100_000_000  # Python and its libraries
TARGETS = {"whole": 3, "reading": 1, "memory_time": 2.5}


def main() -> int:
    """Make the files, measure, write."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only files")
    parser.add_argument("--quick", action="store_true", help="fewer peers, no 20 M edges")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--large-repeats", type=int, default=2, help="rounds, 20 M edges")
    args = parser.parse_args()
    say("edge lists")
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
        folder = Path(name)
        results["real"] = whole(FILES["real"], PEERS + SLOW_PEERS, folder, args.repeats)
        peers = QUICK_PEERS if args.quick else PEERS
        results["whole"] = whole(FILES["texts"], peers, folder, args.repeats)
        results["reading"] = reading(args.repeats)
        if not args.quick:
            results["memory"] = memory(folder, args.large_repeats)
    write(results_folder(args.quick) / "files.json", results)
    return 0


def whole(file: EdgeFile, peers: Sequence[str], folder: Path, repeats: int) -> dict[str, Any]:
    """CSV to Parquet, hopvec against pandas with every peer."""
    say(f"{file.name} to Parquet")
    commands: dict[str, list[object]] = {
        "hopvec": embed(file, folder / "hopvec.parquet", folder, *PLAIN_SUM)
    }
    for peer in peers:
        interpreter = environment_python(environment_of(peer))
        way = (interpreter, "-W", "ignore", "-m", "benchmarks.pandas_way", peer)
        commands[peer] = [*way, file.path, folder / f"{peer}.parquet", DIM]

    def run(tool: str) -> dict[str, Any]:
        measured = watched(commands[tool], machine.cores(), MOST_SECONDS)
        if "error" in measured:
            return measured
        steps = stages(folder) if tool == "hopvec" else json.loads(measured.pop("output"))
        return measured | {"steps": steps}

    runs = take_turns(list(commands), repeats, run)
    tools: dict[str, Any] = {}
    for tool, of in runs.items():
        if "error" in of[-1]:
            tools[tool] = {"error": of[-1]["error"]}
            continue
        tools[tool] = spreads(of, "wall_seconds", "cpu_seconds", "peak_rss", "others_share")
        tools[tool]["steps"] = {step: median(of, step) for step in of[0]["steps"]}
        tools[tool] |= ratio(runs, tool, "hopvec", "wall_seconds", TARGETS["whole"])
    return {"tools": tools}


def embed(file: EdgeFile, output: Path, folder: Path, *options: object) -> list[object]:
    """A `hopvec embed` that reports its stages."""
    report = ("--report", folder / "report.json", "--quiet")
    return [HOPVEC, "embed", file.path, "-o", output, *options, *report]


def stages(folder: Path) -> dict[str, float]:
    """Seconds of each stage of the last `hopvec embed`."""
    report = json.loads((folder / "report.json").read_text())
    return {stage["name"]: stage["seconds"] for stage in report["stages"]}


def median(runs: list[dict[str, Any]], step: str) -> float:
    """Seconds of one step."""
    return statistics.median(run["steps"][step] for run in runs)


def checked(run: dict[str, Any]) -> dict[str, Any]:
    """A run of hopvec itself, which must not fail."""
    if "error" in run:
        raise SystemExit(run["error"])
    return run


def reading(repeats: int) -> dict[str, Any]:
    """CSV to ids and codes, hopvec against polars; hopvec's whole graph beside it."""

    def run(tool: str) -> dict[str, Any]:
        found = python("benchmarks.reading", tool, FILES["texts"].path, threads=machine.cores())
        if "error" in found:
            raise SystemExit(f"reading with {tool}: {found['error']}")
        return found | {"wall_seconds": found["codes"]}

    runs = take_turns(["hopvec", "polars"], max(repeats, 5), run)
    tools = {tool: spreads(of, "codes", "whole") for tool, of in runs.items()}
    return {
        "tools": tools,
        "codes": ratio(runs, "polars", "hopvec", "codes", TARGETS["reading"]),
        "whole": ratio(runs, "polars", "hopvec", "whole", TARGETS["reading"]),
    }


def memory(folder: Path, repeats: int) -> dict[str, Any]:
    """Parquet to Parquet, within a bound and without: time, peak, and the same vectors."""
    outputs = {"bounded": folder / "bounded.parquet", "free": folder / "free.parquet"}
    options = {"bounded": ("--memory", BOUND), "free": ()}

    def run(how: str) -> dict[str, Any]:
        command = embed(FILES["integers"], outputs[how], folder, "--dim", DIM, *options[how])
        return checked(watched(command, machine.cores())) | {"steps": stages(folder)}

    runs = take_turns(list(outputs), repeats, run)
    say("are the vectors the same?")
    same = python("benchmarks.same_vectors", *outputs.values(), threads=machine.cores())
    peak = max(run["peak_rss"] for run in runs["bounded"])
    limit = 1.1 * BOUND + BESIDE_BOUND
    slower = ratio(runs, "bounded", "free", "wall_seconds", TARGETS["memory_time"])
    return {
        "runs": {
            how: spreads(of, "wall_seconds", "cpu_seconds", "peak_rss", "others_share")
            for how, of in runs.items()
        },
        **{"bound": BOUND, "limit": limit, "peak_met": peak <= limit, "same": same["same"]},
        "slower": slower | {"met": slower["ratio"] <= TARGETS["memory_time"]},
    }


def ratio(
    runs: dict[str, list[dict[str, Any]]], above: str, below: str, measure: str, target: float
) -> dict[str, Any]:
    """One measure of two tools, compared, and whether the ratio reaches its target."""
    upper, lower = ([run[measure] for run in runs[name]] for name in (above, below))
    found = compared(upper, lower)
    return found | {"target": target, "met": found["ratio"] >= target}


if __name__ == "__main__":
    sys.exit(main())
