"""An older version of the builder and this one, in one run: python -m benchmarks.build --old REV.

Reads and builds an R-MAT graph with the options of large.py, in separate processes that alternate,
and checks that both versions build the same graph.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.processes import (
    CACHE,
    HOPVEC,
    ROOT,
    log,
    results_dir,
    run_interleaved,
    run_monitored,
    write,
)

SCALE, EDGES, MEMORY = 24, 100_000_000, "3GB"
QUICK_SCALE, QUICK_EDGES = 17, 1_000_000


def main() -> int:
    """Generate the edges, alternate the two versions, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.build")
    parser.add_argument(
        "--old", required=True, help="a revision of this repository, or a Python that has it"
    )
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--quick", action="store_true", help="a million edges")
    args = parser.parse_args()
    scale, edges = (QUICK_SCALE, QUICK_EDGES) if args.quick else (SCALE, EDGES)
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        directory = Path(name)
        interpreters = {"old": old_interpreter(args.old, directory), "new": Path(sys.executable)}
        path = directory / "edges.parquet"
        generate = ("generate", "rmat", "--scale", scale, "--edges", edges, "--quiet", "-o", path)
        subprocess.run(list(map(str, (HOPVEC, *generate))), check=True)
        described = machine.describe()
        runs = run_interleaved(
            [*interpreters],
            args.repeats,
            lambda version: built(interpreters[version], path),
            is_slow=lambda runs: False,
        )
    failed = next((run for some in runs.values() for run in some if "error" in run), None)
    if failed:
        raise SystemExit(failed["error"])
    digests = {run["digest"] for some in runs.values() for run in some}
    parameters = {"scale": scale, "edges": edges, "memory": MEMORY}
    found = {"machine": described, **parameters, "same": len(digests) == 1, "runs": runs}
    write(results_dir(args.quick) / "build.json", found)
    return 0


def old_interpreter(old: str, directory: Path, extra: str = "") -> Path:
    """The Python of an environment with an older version, installed here if it is a revision."""
    if Path(old).is_file():
        return Path(old).absolute()
    log(f"installing {old}")
    source, environment = directory / "source", directory / "environment"
    source.mkdir()
    archive = subprocess.run(["git", "archive", old], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", source], input=archive.stdout, check=True)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    package = f"{source}[{extra}]" if extra else source
    subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
    return python


def built(interpreter: Path, path: Path) -> dict[str, Any]:
    """One run of building.py; -P keeps the files beside it from being imported."""
    script = ROOT / "benchmarks" / "building.py"
    found = run_monitored([interpreter, "-P", script, path, MEMORY], machine.cores())
    return found if "error" in found else found | json.loads(found.pop("output"))


if __name__ == "__main__":
    sys.exit(main())
