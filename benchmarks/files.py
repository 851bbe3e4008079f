"""From file to file: python -m benchmarks.files, once all is installed.

hopvec's command line against pandas and PyPI fastrp, hopvec's reader against polars, and a run
within a memory bound against the same run without one. Every run is a process of its own.
"""

import argparse
import json
import statistics
import sys
import sysconfig
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.processes import CACHE, RESULTS, python, say, spreads, take_turns, watched, write


@dataclass(frozen=True)
class EdgeFile:
    """An edge list that edge_files.py makes."""

    name: str
    nodes: int
    edges: int

    @property
    def path(self) -> Path:
        """Where it lies."""
        return CACHE / self.name


TEXTS = EdgeFile("edges-5m.csv", 1_000_000, 5_000_000)
INTEGERS = EdgeFile("edges-20m.parquet", 2_000_000, 20_000_000)
DIM = 128
PLAIN_SUM = ("--dim", DIM, "--weights", "1,1,1", "--normalize", "none")
BOUND = 1_000_000_000
BESIDE_BOUND = 100_000_000  # Python and its libraries
TARGETS = {"whole": 3, "reading": 1, "memory_time": 2.5}
HOPVEC = Path(sysconfig.get_path("scripts")) / "hopvec"


def main() -> int:
    """Make the files, measure, write."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only files")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--large-repeats", type=int, default=2, help="rounds, 20 M edges")
    args = parser.parse_args()
    say("edge lists")
    watched([sys.executable, "-m", "benchmarks.edge_files"])
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "files": {"texts": facts(TEXTS), "integers": facts(INTEGERS)},
        "dim": DIM,
        "targets": TARGETS,
    }
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        results["whole"] = whole(Path(folder), args.repeats)
        results["reading"] = reading(args.repeats)
        results["memory"] = memory(Path(folder), args.large_repeats)
    write(RESULTS / "files.json", results)
    return 0


def facts(file: EdgeFile) -> dict[str, Any]:
    """What is told of an edge list."""
    return asdict(file) | {"bytes": file.path.stat().st_size}


def whole(folder: Path, repeats: int) -> dict[str, Any]:
    """CSV to Parquet, hopvec against pandas with fastrp."""
    commands: dict[str, list[object]] = {
        "hopvec": embed(TEXTS, folder / "hopvec.parquet", folder, *PLAIN_SUM),
        "pandas": [
            *(sys.executable, "-W", "ignore", "-m", "benchmarks.pandas_way"),
            *(TEXTS.path, folder / "pandas.parquet", DIM),
        ],
    }

    def run(tool: str) -> dict[str, Any]:
        measured = watched(commands[tool])
        steps = stages(folder) if tool == "hopvec" else json.loads(measured["output"])
        return measured | {"steps": steps}

    runs = take_turns(list(commands), repeats, run)
    tools = {
        tool: spreads(of, "wall_seconds", "cpu_seconds", "peak_rss", "others_share")
        | {"steps": {step: median(of, step) for step in of[0]["steps"]}}
        for tool, of in runs.items()
    }
    return {"tools": tools} | ratio(runs, "pandas", "hopvec", "wall_seconds", TARGETS["whole"])


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


def reading(repeats: int) -> dict[str, Any]:
    """CSV to ids and codes, hopvec against polars; hopvec's whole graph beside it."""

    def run(tool: str) -> dict[str, Any]:
        found = python("benchmarks.reading", tool, TEXTS.path, threads=machine.cores())
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
        command = embed(INTEGERS, outputs[how], folder, "--dim", DIM, *options[how])
        return watched(command) | {"steps": stages(folder)}

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
    """How many times more one takes than the other: of the medians, and the range over rounds."""
    upper, lower = ([run[measure] for run in runs[name]] for name in (above, below))
    by_round = [a / b for a, b in zip(upper, lower, strict=True)]
    found = statistics.median(upper) / statistics.median(lower)
    return {
        "ratio": found,
        "range": [min(by_round), max(by_round)],
        "target": target,
        "met": found >= target,
    }


if __name__ == "__main__":
    sys.exit(main())
