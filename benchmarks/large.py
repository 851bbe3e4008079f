"""A large graph with a memory limit, from file to file: python -m benchmarks.large.

The command line generates an R-MAT graph with the parameters of Graph500 and embeds it with a
memory limit; every stage is timed. It is embedded with two limits, and both outputs must be
identical, and once more in one pass, for comparison. It takes half an hour and 20 GB of disk, so it
runs only on request.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.processes import (
    CACHE,
    HOPVEC,
    describe_run,
    log,
    python,
    results_dir,
    run_monitored,
    write,
)


@dataclass(frozen=True)
class Run:
    """One graph, embedded with one or more sets of options."""

    scale: int
    edges: int
    dim: int
    options: tuple[str, ...]
    same: bool = True
    """Whether the first two sets of options must give the same vectors."""


LARGE = Run(24, 100_000_000, 64, ("--memory 3GB", "--memory 6GB", "--memory 3GB --passes 1"))
QUICK = Run(17, 1_000_000, 64, ("--memory 200MB", "--memory 400MB", "--memory 200MB --passes 1"))
SIMPLE = ("--duplicates", "first", "--loops", "drop")


def main() -> int:
    """Generate, embed, compare, and write the results."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only large")
    parser.add_argument("--quick", action="store_true", help="a million edges")
    args = parser.parse_args()
    CACHE.mkdir(exist_ok=True)
    described, run = machine.describe(), QUICK if args.quick else LARGE
    with tempfile.TemporaryDirectory(dir=CACHE) as directory:
        results = {"machine": described, **measured(run, Path(directory))}
    write(results_dir(args.quick) / "large.json", results)
    return 0


def measured(run: Run, directory: Path) -> dict[str, Any]:
    """Measure one graph: times, peaks and stages."""
    edges = directory / "edges.parquet"
    parameters = ("rmat", "--scale", run.scale, "--edges", run.edges, "--quiet")
    generated = step([HOPVEC, "generate", *parameters, "-o", edges])
    found: dict[str, Any] = vars(run) | {"generated": generated, "bytes": edges.stat().st_size}
    found["embedded"] = {}
    outputs = []
    for number, given in enumerate(run.options):
        output, report = directory / f"{number}.parquet", directory / "report.json"
        options = ("--dim", run.dim, *given.split(), *SIMPLE, "--report", report, "--quiet")
        embedded = step([HOPVEC, "embed", edges, "-o", output, *options])
        run_report = json.loads(report.read_text())
        embedded |= {"stages": run_report["stages"], "graph": run_report["graph"]}
        found["embedded"][given] = embedded | {"bytes": output.stat().st_size}
        outputs.append(output)
    if found.pop("same"):
        log("comparing vectors")
        found |= python("benchmarks.same_vectors", *outputs[:2], threads=machine.cores())
    return found


def step(command: list[object]) -> dict[str, Any]:
    """Run a command; exits if it fails."""
    log(" ".join(Path(str(argument)).name for argument in command))
    found = run_monitored(command, machine.cores())
    if "error" in found:
        raise SystemExit(found["error"])
    found.pop("output")
    log(describe_run(found))
    return found


if __name__ == "__main__":
    sys.exit(main())
