"""An older version of reading edges on Spark and this one, in one run.

    python -m benchmarks.spark_ingest --old REV

CPU time of all stages before the embedding of 5 million edges, as in benchmarks.spark, in sessions
that alternate between the versions. The first run of a session includes the start of Spark's
workers and the compilation of its code, which take as long in both versions.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.build import old_interpreter
from benchmarks.processes import CACHE, RESULTS, ROOT, log, write
from benchmarks.spark import EDGES, NODES, on_spark, write_edges
from benchmarks.spark_tables import INGEST

RUNS = {"first": "stages", "second": "stages_when_warm"}  # of a session


def main() -> None:
    """Alternate the two versions, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark_ingest")
    parser.add_argument(
        "--old", required=True, help="a revision of this repository, or a Python that has it"
    )
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--edges", type=int, default=EDGES)
    args = parser.parse_args()
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        directory = Path(name)
        old = old_interpreter(args.old, directory, extra="spark")
        interpreters = {"old": old, "new": Path(sys.executable)}
        edges = directory / "edges"
        write_edges(edges, args.edges, NODES)
        found: dict[str, Any] = {
            "machine": machine.describe(),
            "edges": args.edges,
            "nodes": NODES,
            "runs": {version: [] for version in interpreters},
        }
        for _ in range(args.repeats):
            for version, interpreter in interpreters.items():
                found["runs"][version].append(session(interpreter, edges))
                log(f"{version}: {found['runs'][version][-1]}")
    write(RESULTS / "spark_ingest.json", found)


def session(interpreter: Path, edges: Path) -> dict[str, float]:
    """CPU seconds of reading the edges in two runs of a session, by a version of hopvec."""
    code = f"from benchmarks.spark_ingest import measure; measure({str(edges)!r})"
    run = subprocess.run(
        [interpreter, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def measure(edges: str) -> None:
    """Print CPU seconds of reading the edges in two runs of a session, by this hopvec."""
    found = on_spark(Path(edges), "columns")
    seconds = {
        run: sum(took["cpu_seconds"] for stage, took in found[stages].items() if stage in INGEST)
        for run, stages in RUNS.items()
    }
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
