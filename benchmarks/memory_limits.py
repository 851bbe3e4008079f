"""Peak memory of runs within a limit: python -m benchmarks.memory_limits.

Random graphs and options; each case is refused within 1 MB first, which names its minimum. It then
runs with exactly that limit and with a larger one. The peak is that of the whole process.
"""

import argparse
import hashlib
import json
import random
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.processes import HOPVEC, log, results_dir, run_monitored, write

CASES = 25
MAX_EDGES = 1_500_000
THREADS = 2
OUTPUTS = (".parquet", ".npy", ".npz", ".arrow", ".csv")
NEEDS = re.compile(r"needs at least ([\d.]+) ([kMG])B")
UNITS = {"k": 10**3, "M": 10**6, "G": 10**9}
CHOICES: dict[str, tuple[object, ...]] = {
    "--dim": (16, 64, 128, 256),
    "--passes": (1, 1, 2, 3),
    "--precision": ("float32", "float16"),
    "--threads": (1, 2),
}


def write_edges(path: Path, number: int) -> dict[str, Any]:
    """Write a random list of edges in a child, whose memory does not count as that of runs."""
    command = [sys.executable, "-m", "benchmarks.memory_limits", "--edges", path, number]
    done = run_monitored(command, THREADS)
    if "error" in done:
        raise SystemExit(f"case {number}: {done['error']}")
    return dict(json.loads(done["output"].strip().splitlines()[-1]))


def random_edges(path: Path, rng: random.Random) -> dict[str, Any]:
    """Write a random list of edges, with duplicates; returns its properties."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    generator = np.random.default_rng(rng.getrandbits(32))
    nodes = int(10 ** rng.uniform(4, 5.4))
    edges = int(min(nodes * 10 ** rng.uniform(0, 1.4), MAX_EDGES))
    ends = [(nodes * generator.random(edges) ** 2).astype(np.int64) for _ in range(2)]
    names, weighted = rng.random() < 0.5, rng.random() < 0.4
    columns: dict[str, Any] = dict(zip(("source", "target"), ends, strict=True))
    if names:
        columns = {
            name: pa.array(np.char.add("https://example.org/", end.astype(str)))
            for name, end in columns.items()
        }
    if weighted:
        columns["weight"] = generator.integers(1, 9, edges)
    table = pa.table(columns)
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path)
    return {"nodes": nodes, "edges": edges, "strings": names, "weighted": weighted}


def options(rng: random.Random) -> list[object]:
    """Random options of `hopvec embed`."""
    chosen = {name: rng.choice(values) for name, values in CHOICES.items()}
    if rng.random() < 0.5:
        directions = ["out", "in", "both"]
        if chosen["--dim"] not in (16,):
            directions.append("concat")
        chosen |= {"--direction": rng.choice(directions)}
    if chosen["--passes"] == 1:
        chosen["--normalize"] = rng.choice(["none", "full"])
    given = [text for pair in chosen.items() for text in pair]
    return [*given, *(["--directed"] if "--direction" in chosen else [])]


def run(edges: Path, output: Path, given: list[object], memory: int) -> dict[str, Any]:
    """Run `hopvec embed` within a limit."""
    command = [HOPVEC, "embed", edges, "-o", output, "--quiet", *given]
    return run_monitored([*command, "--memory", f"{memory}B"], THREADS)


def run_case(number: int, rng: random.Random, directory: Path) -> dict[str, Any]:
    """One graph and its options, within two limits."""
    edges = directory / f"edges{rng.choice(['.csv', '.parquet'])}"
    found = write_edges(edges, number)
    given = options(rng)
    output = directory / f"vectors{rng.choice(OUTPUTS)}"
    start = time.perf_counter()
    refused = run(edges, output, given, 10**6).get("error", "")
    seconds = time.perf_counter() - start
    needs = NEEDS.search(refused)
    if needs is None:
        raise SystemExit(f"case {number}: not refused: {refused}")
    minimum = round(float(needs[1]) * UNITS[needs[2]])
    runs, digests = [], set()
    for limit in (minimum, int(minimum * rng.uniform(1.02, 4))):
        done = run(edges, output, given, limit)
        if "error" in done:
            runs.append({"limit": limit, "error": done["error"]})
            continue
        with output.open("rb") as file:  # in blocks: children inherit the peak of this process
            digests.add(hashlib.file_digest(file, "sha256").hexdigest())
        runs.append({"limit": limit, "peak": done["peak_rss"], "seconds": done["wall_seconds"]})
    found |= {
        "case": number,
        "options": " ".join(map(str, given)),
        "files": f"{edges.suffix} to {output.suffix}",
        "refused_seconds": seconds,
        "runs": runs,
        "same": len(digests) <= 1,
    }
    shown = ", ".join(
        f"{one.get('peak', 0) / 1e6:,.0f} of {one['limit'] / 1e6:,.0f} MB" for one in runs
    )
    for one in runs:
        if "error" in one:
            log(one["error"])
    log(
        f"{number}: {found['nodes']:,} nodes, {found['edges']:,} edges, {found['options']}: {shown}"
    )
    return found


def within_limit(one: dict[str, Any]) -> bool:
    """Whether a run succeeded within its limit."""
    return "error" not in one and one["peak"] <= one["limit"]


def main() -> int:
    """Run all cases and write the results; returns 1 if a limit was exceeded."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only memory_limits")
    parser.add_argument("--quick", action="store_true", help="a few cases")
    parser.add_argument("--cases", type=int, default=CASES, help=f"graphs (default: {CASES})")
    parser.add_argument("--workers", type=int, default=1, help="cases at a time (default: 1)")
    parser.add_argument("--edges", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.edges:
        path, number = args.edges
        print(json.dumps(random_edges(Path(path), random.Random(int(number)))))
        return 0
    count = min(args.cases, 4) if args.quick else args.cases

    def measured(number: int) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as directory:
            return run_case(number, random.Random(number), Path(directory))

    with ThreadPoolExecutor(args.workers) as executor:
        found = list(executor.map(measured, range(count)))
    runs = [one for each in found for one in each["runs"]]
    exceeded = [one for one in runs if not within_limit(one)]
    log(f"{len(runs)} runs, {len(runs) - len(exceeded)} within their limits")
    for one in exceeded:
        log(f"exceeded: {one}")
    results = {"machine": machine.describe(), "cases": found}
    write(results_dir(args.quick) / "memory_limits.json", results)
    return 1 if exceeded or not all(each["same"] for each in found) else 0


if __name__ == "__main__":
    sys.exit(main())
