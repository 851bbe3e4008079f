"""Graphs larger than memory, file to file: python -m benchmarks.large, once all is installed.

R-MAT graphs with the parameters of Graph500 are generated, embedded within a memory limit and
written, all by the command line; every stage is timed. The smaller one is embedded within two
bounds, and both files must hold the same bytes. Takes hours and tens of gigabytes of disk, so it is
run only when it is asked for.
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
    format_bytes,
    python,
    results_folder,
    say,
    watched,
    write,
)


@dataclass(frozen=True)
class Run:
    """One graph, embedded within one bound or more."""

    scale: int
    edges: int
    dim: int
    bounds: tuple[str, ...]


RUNS = {
    "a hundred million edges": Run(24, 100_000_000, 64, ("3GB", "6GB")),
    "a billion edges": Run(24, 1_000_000_000, 64, ("12GB",)),
}
QUICK = {"a million edges": Run(17, 1_000_000, 64, ("200MB", "400MB"))}
SIMPLE = ("--duplicates", "first", "--loops", "drop")


def main() -> int:
    """Generate, embed, compare; write after every graph."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only large")
    parser.add_argument("--quick", action="store_true", help="a million edges")
    args = parser.parse_args()
    CACHE.mkdir(exist_ok=True)
    results: dict[str, Any] = {"machine": machine.describe(), "graphs": {}}
    for title, run in (QUICK if args.quick else RUNS).items():
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            results["graphs"][title] = measured(run, Path(folder))
        write(results_folder(args.quick) / "large.json", results)
    return 0


def measured(run: Run, folder: Path) -> dict[str, Any]:
    """Times, peaks and stages of one graph."""
    edges = folder / "edges.parquet"
    law = ("rmat", "--scale", run.scale, "--edges", run.edges, "--quiet")
    generated = step([HOPVEC, "generate", *law, "-o", edges])
    found: dict[str, Any] = vars(run) | {"generated": generated, "bytes": edges.stat().st_size}
    found["embedded"] = {}
    outputs = []
    for bound in run.bounds:
        output, report = folder / f"{bound}.parquet", folder / "report.json"
        options = ("--dim", run.dim, "--memory", bound, *SIMPLE, "--report", report, "--quiet")
        embedded = step([HOPVEC, "embed", edges, "-o", output, *options])
        told = json.loads(report.read_text())
        embedded |= {"stages": told["stages"], "graph": told["graph"]}
        found["embedded"][bound] = embedded | {"bytes": output.stat().st_size}
        outputs.append(output)
    if len(outputs) > 1:
        say("are the vectors the same?")
        found |= python("benchmarks.same_vectors", *outputs, threads=machine.cores())
    return found


def step(command: list[object]) -> dict[str, Any]:
    """A run of the command line, which must not fail."""
    say(" ".join(Path(str(word)).name for word in command))
    found = watched(command, machine.cores())
    if "error" in found:
        raise SystemExit(found["error"])
    found.pop("output")
    say(format_bytes(found))
    return found


if __name__ == "__main__":
    sys.exit(main())
