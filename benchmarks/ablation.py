"""Ablation study of the hop: python -m benchmarks.ablation.

variants.cpp implements one hop in many ways, including hopvec's, and measures them in turns. This
script compiles it for this machine and runs it on several kinds of graphs and several orders of
their nodes. Only variants that pay off are part of hopvec; the others are kept here so that anyone
can check.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse import csgraph

from benchmarks import graphs, machine
from benchmarks.processes import CACHE, build_graphs, log, results_dir, write
from hopvec import Graph

GRAPHS = ("blogcatalog", "cnr-2000", "chung-lu-80k", "rmat-20", "erdos-renyi-1m", "chung-lu-200k")
QUICK = ("blogcatalog", "cnr-2000", "chung-lu-80k")
SECONDS = 20  # per graph; other node orders get a third of it
SOURCE = Path(__file__).with_name("variants.cpp")
OURS = "hopvec's loop"


def main() -> int:
    """Compile, measure, and write the results after every graph."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only ablation")
    parser.add_argument("--quick", action="store_true", help="the smaller graphs only")
    args = parser.parse_args()
    names = QUICK if args.quick else GRAPHS
    results: dict[str, Any] = {"machine": machine.describe(), "graphs": build_graphs(names)}
    with tempfile.TemporaryDirectory(dir=CACHE) as directory:
        program = compile_variants(Path(directory))
        for name in names:
            seconds = SECONDS / 4 if args.quick else SECONDS
            results["graphs"][name] |= measure(name, program, Path(directory), seconds)
            write(results_dir(args.quick) / "ablation.json", results)
    return 0


def compile_variants(directory: Path) -> Path:
    """Compile variants.cpp and return the path of the program."""
    program = directory / "variants"
    compiler = os.environ.get("CXX", "c++")
    flags = ("-std=c++17", "-O3", "-march=native", "-pthread", "-Wno-psabi")
    subprocess.run([compiler, *flags, SOURCE, "-o", program], check=True)
    return program


def measure(name: str, program: Path, directory: Path, seconds: float) -> dict[str, Any]:
    """Measure nanoseconds per entry and 16 columns, for all variants and other node orders."""
    graph = Graph.from_scipy(graphs.load(name))
    rows = np.ones(len(graph.indices), np.float32), graph.indices, graph.indptr
    adjacency = sp.csr_array(rows, shape=(graph.nodes, graph.nodes))
    file = directory / "graph"
    found: dict[str, Any] = {"entries": len(graph.indices), "largest_row": int(max_row(adjacency))}
    for order_name, order in node_orders(adjacency).items():
        write_csr(file, adjacency[order][:, order])
        threads = (1, machine.cores()) if order_name == "degree" else (machine.cores(),)
        for count in dict.fromkeys(threads):
            share = 1 if order_name == "degree" else 1 / 3
            log(f"{name}, ordered by {order_name}, {count} threads")
            command = [program, file, str(count), str(seconds * share)]
            paces = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            if order_name == "degree":
                found.setdefault("variants", {})[str(count)] = paces
            found.setdefault("node_orders", {})[order_name] = paces[OURS]
    return found


def node_orders(adjacency: sp.csr_array) -> dict[str, NDArray[np.int64]]:
    """Return orders of the nodes to compare; a Graph is already ordered by degree."""
    nodes = adjacency.shape[0]
    return {
        "degree": np.arange(nodes),
        "random": np.random.default_rng(0).permutation(nodes),
        "breadth-first search": breadth_first(adjacency),
        "reverse Cuthill-McKee": csgraph.reverse_cuthill_mckee(adjacency, symmetric_mode=True),
    }


def breadth_first(adjacency: sp.csr_array) -> NDArray[np.int64]:
    """Return the nodes in breadth-first order from the largest hub; unreached nodes come last."""
    reached = csgraph.breadth_first_order(adjacency, 0, directed=False, return_predecessors=False)
    rest = np.setdiff1d(np.arange(adjacency.shape[0]), reached)
    return np.concatenate([reached, rest])


def max_row(adjacency: sp.csr_array) -> int:
    """Return the number of entries of the longest row."""
    return int(np.diff(adjacency.indptr).max())


def write_csr(file: Path, adjacency: sp.csr_array) -> None:
    """Write the file that variants.cpp reads."""
    adjacency.sort_indices()
    nodes = np.array([adjacency.shape[0]], np.int64)
    parts = nodes, adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int32)
    with file.open("wb") as opened:
        for part in parts:
            part.tofile(opened)


if __name__ == "__main__":
    sys.exit(main())
