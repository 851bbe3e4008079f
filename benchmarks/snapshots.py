"""Snapshots of a year of weekly windows over 1 M timed edges: python -m benchmarks.snapshots.

The edges are those of a random graph whose communities change slowly over a year. `hopvec
snapshots` with windows of 28 days is compared with a plain `hopvec embed` of the edges of some of
the windows, each written to a file of its own. Every command is a process of its own.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import machine
from benchmarks.processes import RESULTS, log, write

PATH = RESULTS / "snapshots.json"
NODES, COMMUNITIES, DAYS = 50_000, 200, 364
EVERY, WINDOW = 7, 28
START = np.datetime64("2024-01-01")
DIM = 128
PLAIN_WINDOWS = 5  # windows that are embedded on their own


def main() -> int:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.snapshots", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--preview", action="store_true", help="print the results only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hopvec-bench-") as name:
        folder = Path(name)
        table = timed_edges(arguments.edges)
        pq.write_table(table, folder / "edges.parquet")
        windows = ("--time", "ts", "--every", f"{EVERY}d", "--window", f"{WINDOW}d")
        snapshots = run(folder, "snapshots", "edges.parquet", *windows, "-o", "out")
        resumed = run(folder, "snapshots", "edges.parquet", *windows, "-o", "out")
        files = sorted((folder / "out").glob("*.parquet"))
        plain, edges = [], []
        for file in files[1 :: max(1, len(files) // PLAIN_WINDOWS)]:
            end = np.datetime64(file.stem)
            part = window_of(table, end)
            pq.write_table(part, folder / "window.parquet")
            like = ("--like", str(files[0]), "-o", "vectors.parquet")
            plain.append(run(folder, "embed", "window.parquet", "--unweighted", *like))
            edges.append(len(part))
    results = {
        "machine": machine.describe(),
        "edges": arguments.edges,
        "windows": len(files),
        "edges_per_window": round(statistics.mean(edges)),
        "seconds": snapshots,
        "seconds_per_window": snapshots / len(files),
        "seconds_resumed": resumed,
        "plain_seconds": plain,
        "ratio": snapshots / len(files) / statistics.median(plain),
    }
    log(
        f"{len(files)} windows of {results['edges_per_window']:,} edges in {snapshots:.1f} s: "
        f"{results['seconds_per_window']:.2f} s per window, {results['ratio']:.2f} times as long "
        f"as a plain run of its edges ({statistics.median(plain):.2f} s); resumed when finished: "
        f"{resumed:.1f} s"
    )
    if not arguments.preview:
        write(PATH, results)
    return 0


def timed_edges(count: int) -> pa.Table:
    """Edges within communities, which some nodes leave every day, in the order of time."""
    random = np.random.default_rng(0)
    seconds = np.sort(random.integers(0, DAYS * 86400, count))
    source = random.integers(0, NODES, count)
    joined = random.integers(0, DAYS * 86400, NODES)  # when a node changes its community
    community = random.integers(0, COMMUNITIES, (2, NODES))
    now = community[(seconds > joined[source]).astype(int), source]
    target = now + COMMUNITIES * random.integers(0, NODES // COMMUNITIES, count)
    moments = START.astype("datetime64[s]") + seconds
    return pa.table({"source": source, "target": target, "ts": moments})


def window_of(table: pa.Table, end: np.datetime64) -> pa.Table:
    """The edges of a window, without their times."""
    times = table["ts"].to_numpy()
    inside = (times >= end - np.timedelta64(WINDOW, "D")) & (times < end)
    return table.filter(pa.array(inside)).select(["source", "target"])


def run(folder: Path, *arguments: str) -> float:
    """Run a command of hopvec, and return its time in seconds."""
    dim = () if "--like" in arguments else ("--dim", str(DIM))
    command = [sys.executable, "-m", "hopvec", *arguments, *dim, "--quiet"]
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
