"""Methods side by side, speed and quality: python -m benchmarks.methods, once all is installed.

Every tool embeds every labeled graph at the same number of columns, in a process of its own, and
its vectors are scored twice: by the labels of nodes, and by links that were held out of the graph
that it embeds a second time. Tools take turns with hopvec. Those that train on random walks take
minutes even on small graphs, and are left out of the larger ones.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.graphs import HELD_OUT, TRAINING
from benchmarks.peers import PEERS
from benchmarks.processes import (
    CACHE,
    embedded,
    made_graphs,
    python,
    results_folder,
    say,
    spreads,
    take_turns,
    write,
)
from benchmarks.score import SHARE, SHUFFLES

GRAPHS = ("cora", "ppi", "wikispeedia", "blogcatalog", "pubmed", "dblp", "debian-packages")
QUICK = ("cora", "ppi")
TOOLS = (
    *("hopvec", "hopvec-fast", "hopvec-best", "fastrp", "authors-code"),
    *("pycleora", "pycleora-4", "scikit-network", "prone"),
    *("deepwalk", "pecanpy", "fastnode2vec", "grape"),
)
WALKED_NODES = 12_000
DIM = 128


def main() -> int:
    """Embed, score, write after every graph; 1 if hopvec itself failed."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only methods")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    args = parser.parse_args()
    names = QUICK if args.quick else GRAPHS
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {"dim": DIM, "share": SHARE, "shuffles": SHUFFLES, "held_out": HELD_OUT}
        | {"walked_nodes": WALKED_NODES},
        "graphs": made_graphs([graph for name in names for graph in (name, name + TRAINING)]),
    }
    for name in names:
        small = results["graphs"][name]["nodes"] <= WALKED_NODES
        tools = [tool for tool in TOOLS if small or tool not in PEERS or not PEERS[tool].walks]
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            results["graphs"][name]["tools"] = measured(name, tools, Path(folder), args.repeats)
        write(results_folder(args.quick) / "methods.json", results)
    found = [results["graphs"][name]["tools"]["hopvec"] for name in names]
    return 1 if any("error" in tool for tool in found) else 0


def measured(graph: str, tools: list[str], folder: Path, repeats: int) -> dict[str, Any]:
    """What every tool takes on a graph, as a ratio to hopvec too, and how good its vectors are."""
    say(f"{graph}, dim {DIM}")
    runs = take_turns(tools, repeats, lambda tool: embed(graph, tool, folder / f"{tool}.npy"))
    found: dict[str, Any] = {}
    for tool, of in runs.items():
        if "error" in of[-1]:
            found[tool] = {"error": of[-1]["error"]}
            continue
        found[tool] = spreads(of, "wall_seconds", "cpu_seconds", "peak_rss", "others_share")
        found[tool] |= {"rounds": len(of), "ratio": ratio(of, runs["hopvec"])}
        found[tool] |= scores(graph, tool, folder)
        say(f"{tool}: {found[tool].get('macro_f1')} macro F1, {found[tool].get('auc')} AUC")
    return found


def embed(graph: str, tool: str, vectors: Path) -> dict[str, Any]:
    """One measurement, which leaves the vectors behind."""
    return embedded(graph, tool, threads=machine.cores(), dim=DIM, vectors=vectors)


def ratio(runs: list[dict[str, Any]], ours: list[dict[str, Any]]) -> dict[str, float]:
    """Times of hopvec's own, wall and CPU: by medians over the rounds."""
    theirs, own = (spreads(of, "wall_seconds", "cpu_seconds") for of in (runs, ours))
    return {key: theirs[key]["median"] / own[key]["median"] for key in own}


def scores(graph: str, tool: str, folder: Path) -> dict[str, Any]:
    """Both scores of a tool; what failed is told."""
    vectors = folder / f"{tool}.npy"
    threads = machine.cores()
    found = python("benchmarks.score", "labels", graph, vectors, threads=threads)
    again = embed(graph + TRAINING, tool, vectors)
    if "error" not in again:
        again = python("benchmarks.score", "links", graph, vectors, threads=threads)
    vectors.unlink(missing_ok=True)
    errors = {
        f"{what}_error": of["error"]
        for what, of in (("labels", found), ("links", again))
        if "error" in of
    }
    return {
        key: value for of in (found, again) for key, value in of.items() if key != "error"
    } | errors


if __name__ == "__main__":
    sys.exit(main())
