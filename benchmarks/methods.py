"""Speed and quality of all methods: python -m benchmarks.methods.

Every tool embeds every labeled graph with the same number of columns, in a separate process. Its
vectors are scored twice: on node labels, and on held-out links, for which it embeds the remaining
graph. Tools alternate with hopvec. Those that train on random walks take minutes even on small
graphs, and are skipped on the larger ones.
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
    build_graphs,
    log,
    measure_tool,
    python,
    results_dir,
    run_interleaved,
    summarize_runs,
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
MAX_WALK_NODES = 12_000
DIM = 128


def main() -> int:
    """Embed, score, and write results after every graph; returns 1 if hopvec failed."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only methods")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    args = parser.parse_args()
    names = QUICK if args.quick else GRAPHS
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {"dim": DIM, "share": SHARE, "shuffles": SHUFFLES, "held_out": HELD_OUT}
        | {"walked_nodes": MAX_WALK_NODES},
        "graphs": build_graphs([graph for name in names for graph in (name, name + TRAINING)]),
    }
    for name in names:
        small = results["graphs"][name]["nodes"] <= MAX_WALK_NODES
        tools = [tool for tool in TOOLS if small or tool not in PEERS or not PEERS[tool].walks]
        with tempfile.TemporaryDirectory(dir=CACHE) as directory:
            results["graphs"][name]["tools"] = measured(name, tools, Path(directory), args.repeats)
        write(results_dir(args.quick) / "methods.json", results)
    found = [results["graphs"][name]["tools"]["hopvec"] for name in names]
    return 1 if any("error" in tool for tool in found) else 0


def measured(graph: str, tools: list[str], directory: Path, repeats: int) -> dict[str, Any]:
    """Measure every tool on a graph: times, times relative to hopvec, and scores."""
    log(f"{graph}, dim {DIM}")
    runs = run_interleaved(
        tools, repeats, lambda tool: embed(graph, tool, directory / f"{tool}.npy")
    )
    found: dict[str, Any] = {}
    for tool, tool_runs in runs.items():
        if "error" in tool_runs[-1]:
            found[tool] = {"error": tool_runs[-1]["error"]}
            continue
        found[tool] = summarize_runs(
            tool_runs, "wall_seconds", "cpu_seconds", "peak_rss", "others_share"
        )
        found[tool] |= {"rounds": len(tool_runs), "ratio": ratio(tool_runs, runs["hopvec"])}
        found[tool] |= scores(graph, tool, directory)
        log(f"{tool}: {found[tool].get('macro_f1')} macro F1, {found[tool].get('auc')} AUC")
    return found


def embed(graph: str, tool: str, vectors: Path) -> dict[str, Any]:
    """Measure a tool once, and save its vectors."""
    return measure_tool(graph, tool, threads=machine.cores(), dim=DIM, vectors=vectors)


def ratio(runs: list[dict[str, Any]], ours: list[dict[str, Any]]) -> dict[str, float]:
    """Wall and CPU time relative to hopvec, by medians over the rounds."""
    theirs, own = (summarize_runs(rows, "wall_seconds", "cpu_seconds") for rows in (runs, ours))
    return {key: theirs[key]["median"] / own[key]["median"] for key in own}


def scores(graph: str, tool: str, directory: Path) -> dict[str, Any]:
    """Both scores of a tool, with errors if they failed."""
    vectors = directory / f"{tool}.npy"
    threads = machine.cores()
    found = python("benchmarks.score", "labels", graph, vectors, threads=threads)
    again = embed(graph + TRAINING, tool, vectors)
    if "error" not in again:
        again = python("benchmarks.score", "links", graph, vectors, threads=threads)
    vectors.unlink(missing_ok=True)
    errors = {
        f"{what}_error": result["error"]
        for what, result in (("labels", found), ("links", again))
        if "error" in result
    }
    return {
        key: value for result in (found, again) for key, value in result.items() if key != "error"
    } | errors


if __name__ == "__main__":
    sys.exit(main())
