"""Speed and quality of all methods: python -m benchmarks.methods.

Every tool embeds every labeled graph with the same number of columns, in separate processes, one
for each of three seeds, as far as they take less than a minute together. Its vectors are scored
twice: on node labels, and on held-out links, for which it embeds the remaining graph (held out with
the same seed). Tools alternate with hopvec. Those that train on random walks take minutes even on
small graphs, and dense ones much memory: they are skipped on the larger ones.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.graphs import HELD_OUT, training_graph
from benchmarks.peers import MAX_DENSE_NODES, MAX_WALK_NODES, PEERS
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
from benchmarks.score import SHARE

GRAPHS = (
    *("email-eu-core", "cora", "citeseer", "ppi", "wikispeedia", "wikipedia-pos"),
    *("blogcatalog", "pubmed", "dblp", "debian-packages"),
)
"""The labeled graphs with at least 1,000 nodes."""
QUICK = ("cora", "ppi")
TOOLS = (
    *("hopvec", "hopvec-fast", "hopvec-best", "hopvec-links", "fastrp", "authors-code"),
    *("pycleora", "pycleora-4", "scikit-network", "prone", "netmf"),
    *("deepwalk", "pecanpy", "fastnode2vec", "grape"),
)
DIM = 128
SEEDS = 3
SEED_SECONDS = 60  # for the timed runs of one tool on one graph; slower tools have fewer seeds
SHUFFLES = 10
MANY_NODES, FEWER_SHUFFLES = 50_000, 3  # scoring a large graph would take most of the time


def main() -> int:
    """Embed, score, and write results after every graph; returns 1 if hopvec failed."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only methods")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument(
        "--repeats", type=int, default=SEEDS, help=f"rounds, each with a seed (default: {SEEDS})"
    )
    parser.add_argument(
        "--graph",
        action="append",
        choices=GRAPHS,
        help="only this graph; results of others are kept; can be repeated",
    )
    parser.add_argument(
        "--tool",
        action="append",
        choices=TOOLS[1:],
        help="only this tool, beside hopvec; results of others are kept; can be repeated",
    )
    args = parser.parse_args()
    path = results_dir(args.quick) / "methods.json"
    names = args.graph or (QUICK if args.quick else GRAPHS)
    kept = json.loads(path.read_text())["graphs"] if args.graph or args.tool else {}
    trained = [training_graph(name, seed) for name in names for seed in range(args.repeats)]
    sizes = build_graphs([*names, *trained])
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {
            "dim": DIM,
            "share": SHARE,
            "held_out": HELD_OUT,
            "seeds": args.repeats,
            "seed_seconds": SEED_SECONDS,
            "walked_nodes": MAX_WALK_NODES,
            "dense_nodes": MAX_DENSE_NODES,
        },
        "graphs": kept | {name: kept.get(name, {}) | sizes[name] for name in names},
    }
    for name in names:
        nodes = results["graphs"][name]["nodes"]
        shuffles = SHUFFLES if nodes <= MANY_NODES else FEWER_SHUFFLES
        tools = [tool for tool in tools_for(nodes) if tool in ("hopvec", *(args.tool or TOOLS))]
        with tempfile.TemporaryDirectory(dir=CACHE) as directory:
            found = measured(name, tools, Path(directory), args.repeats, shuffles)
        if args.tool:
            found = kept[name]["tools"] | {tool: found[tool] for tool in args.tool}
        results["graphs"][name] |= {"shuffles": shuffles, "tools": found}
        write(path, results)
    found = [results["graphs"][name]["tools"]["hopvec"] for name in names]
    return 1 if any("error" in tool for tool in found) else 0


def tools_for(nodes: int) -> list[str]:
    """The tools that can embed a graph of this size in reasonable time and memory."""
    limits = {tool: PEERS[tool].max_nodes for tool in TOOLS if tool in PEERS}
    return [tool for tool in TOOLS if nodes <= (limits.get(tool) or nodes)]


def measured(
    graph: str, tools: list[str], directory: Path, seeds: int, shuffles: int
) -> dict[str, Any]:
    """Measure every tool on a graph: times, times relative to hopvec, and scores."""
    log(f"{graph}, dim {DIM}")
    started: Counter[str] = Counter()

    def run(tool: str) -> dict[str, Any]:
        seed = started[tool]
        started[tool] += 1
        files = directory / f"{tool}-{seed}.npy", directory / f"{tool}-{seed}-training.npy"
        options = ("--seed", seed, "--vectors", files[0], "--training-vectors", files[1])
        return measure_tool(graph, tool, threads=machine.cores(), dim=DIM, options=options)

    runs = run_interleaved(tools, seeds, run, is_slow)
    found: dict[str, Any] = {}
    for tool, tool_runs in runs.items():
        if "error" in tool_runs[-1]:
            found[tool] = {"error": tool_runs[-1]["error"]}
            continue
        found[tool] = summarize_runs(
            tool_runs, "wall_seconds", "cpu_seconds", "peak_rss", "others_share"
        )
        found[tool] |= {"seeds": len(tool_runs), "ratio": ratio(tool_runs, runs["hopvec"])}
        found[tool] |= scores(graph, directory / tool, len(tool_runs), shuffles)
        log(f"{tool}: scored")
    return found


def scores(graph: str, prefix: Path, seeds: int, shuffles: int) -> dict[str, Any]:
    """The scores of a tool by labels and by links, at the same time; errors if they failed."""

    def score(what: str) -> tuple[str, Any]:
        arguments = (what, graph, prefix, seeds, shuffles)
        found = python("benchmarks.score", *arguments, threads=machine.cores())
        return (f"{what}_error", found["error"]) if "error" in found else (what, found)

    with ThreadPoolExecutor() as pool:
        return dict(pool.map(score, ("labels", "links")))


def is_slow(runs: Sequence[dict[str, Any]]) -> bool:
    """Whether one more run of a tool would take too long."""
    longest = max(run["wall_seconds"] for run in runs)
    return bool(longest * (len(runs) + 1) > SEED_SECONDS)


def ratio(runs: list[dict[str, Any]], ours: list[dict[str, Any]]) -> dict[str, float]:
    """Wall and CPU time relative to hopvec, by medians over the rounds."""
    theirs, own = (summarize_runs(rows, "wall_seconds", "cpu_seconds") for rows in (runs, ours))
    return {key: theirs[key]["median"] / own[key]["median"] for key in own}


if __name__ == "__main__":
    sys.exit(main())
