"""How time and memory grow from a million to a billion edges: python -m benchmarks.growth.

The command line generates R-MAT graphs and embeds them from file to file with a memory limit; every
stage is timed. In one series, nodes grow with the edges (about 60 edges per node of the generator);
the graphs of the other have fewer edges per node, which separates the cost of a node from that of
an edge. The billion is embedded with one pass and with two. It takes an hour and 30 GB of disk.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import machine
from benchmarks.large import Run, measured
from benchmarks.processes import CACHE, log, results_dir, write

BILLION = 1_000_000_000
ONE_PASS = "--memory 12GB --passes 1"


def graph(scale: int, edges: int, *options: str) -> Run:
    """The run of a graph with 2^scale nodes."""
    return Run(scale, edges, 64, (ONE_PASS, *options), same=False)


DENSE = [graph(scale, BILLION >> (24 - scale)) for scale in range(14, 24, 2)]
SPARSE = [graph(scale, 8 << scale) for scale in (18, 20, 22, 24)]
LARGEST = graph(24, BILLION, "--memory 12GB --passes 2")
RUNS = {"dense": [*DENSE, LARGEST], "sparse": SPARSE}
QUICK = {"dense": DENSE[:2], "sparse": SPARSE[:1]}


def main() -> int:
    """Measure all graphs, the small ones first, and write the results after each."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only growth")
    parser.add_argument("--quick", action="store_true", help="the three smallest graphs")
    args = parser.parse_args()
    CACHE.mkdir(exist_ok=True)
    series = QUICK if args.quick else RUNS
    results = {"machine": machine.describe(), "series": {name: [] for name in series}}
    runs = [(name, run) for name, points in series.items() for run in points]
    for name, run in sorted(runs, key=lambda named: named[1].edges):
        log(f"{run.edges:,} edges, 2^{run.scale} nodes")
        with tempfile.TemporaryDirectory(dir=CACHE) as directory:
            results["series"][name].append(measured(run, Path(directory)))
        write(results_dir(args.quick) / "growth.json", results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
