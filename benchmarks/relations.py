"""Relations as weights of edges: python -m benchmarks.relations.

The bundled graph of Debian packages has three relations: Depends, Recommends and Suggests. It is
embedded without and with them, and a linear model predicts the sections of the packages from the
vectors: 10 % of the labels, 10 shuffles for each of three seeds of R, as in quality.py. The weights
of the relations are chosen on other shuffles and another R.
"""

import sys
from collections.abc import Sequence
from itertools import product
from statistics import fmean, median
from typing import Any

from benchmarks import machine
from benchmarks.processes import RESULTS, log, write
from benchmarks.quality import DIM, SEEDS, SHARE, SHUFFLES, TUNING_SEED, TUNING_SHUFFLES
from hopvec import FastRP, Graph, Labels, datasets
from hopvec.evaluate import classify

PATH = RESULTS / "relations.json"
BALANCES = ("none", "total", "node")
EQUAL = {"Depends": 1.0, "Recommends": 1.0, "Suggests": 1.0}
WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0)
"""The grid for Recommends and Suggests; Depends has weight 1."""

Weights = dict[str, float]


def main() -> int:
    """Embed, classify, and write results after every graph."""
    graph, sections = datasets.debian()
    labels = Labels.from_pairs(graph.ids, sections)
    table = datasets.debian_edges()
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {
            "dim": DIM,
            "share": SHARE,
            "shuffles": SHUFFLES,
            "seeds": len(SEEDS),
            "tuned": len(WEIGHTS) ** 2,
            "tuning_shuffles": TUNING_SHUFFLES,
        },
        "nodes": graph.nodes,
        "rows": {name: table["relation"].to_pylist().count(name) for name in EQUAL},
        "settings": [],
    }

    def add(graph: Graph, **setting: Any) -> float:
        found = setting | {"edges": graph.edges, "isolated": graph.isolated}
        found |= scores(graph, labels)
        results["settings"].append(found)
        write(PATH, results)
        log(f"{setting}: {fmean(map(fmean, found['macro_f1'])):.2f}, C {found['C']:g}")
        return float(found["C"])

    # Without relations, a pair of packages counts once.
    C = add(graph, title="Depends and Recommends")  # noqa: N806
    untyped = table.drop_columns("relation")
    everything = Graph.from_arrow(untyped, nodes=graph.ids, duplicates="first")
    add(everything, title="Depends, Recommends and Suggests")
    for balance in BALANCES:
        best = tuned(table, graph.ids, balance, labels, C)
        for is_tuned, weights in ((False, EQUAL), (True, best)):
            typed = with_relations(table, graph.ids, balance, weights)
            add(typed, balance=balance, weights=weights, tuned=is_tuned)
    return 0


def with_relations(table: Any, ids: Any, balance: str, weights: Weights) -> Graph:
    """The undirected graph of all packages, with these options for relations."""
    return Graph.from_arrow(
        table,
        relation="relation",
        relation_weights=weights,
        relation_balance=balance,
        nodes=ids,
    )


def tuned(table: Any, ids: Any, balance: str, labels: Labels, C: float) -> Weights:  # noqa: N803
    """The best weights of the grid with this C, on separate shuffles and another R."""

    def score(weights: Weights) -> float:
        graph = with_relations(table, ids, balance, weights)
        embedding = FastRP(dim=DIM, seed=TUNING_SEED).embed(graph)
        found = classify(
            embedding,
            labels,
            shares=(SHARE,),
            shuffles=TUNING_SHUFFLES,
            seed=TUNING_SEED,
            C=C,
        ).shares[0]
        log(f"tuning {balance} {weights}: {found.macro_f1:.2f}")
        return found.macro_f1

    grid = [EQUAL | {"Recommends": r, "Suggests": s} for r, s in product(WEIGHTS, WEIGHTS)]
    return max(grid, key=score)


def scores(graph: Graph, labels: Labels, seeds: Sequence[int] = SEEDS) -> dict[str, Any]:
    """Macro and micro F1 in percent by seed and shuffle, and the median C."""
    runs = [
        classify(
            FastRP(dim=DIM, seed=seed).embed(graph), labels, shares=(SHARE,), shuffles=SHUFFLES
        ).shares[0]
        for seed in seeds
    ]
    found: dict[str, Any] = {
        measure: [[getattr(shuffle, measure) for shuffle in run.shuffles] for run in runs]
        for measure in ("macro_f1", "micro_f1")
    }
    return found | {"C": median(run.C for run in runs)}


if __name__ == "__main__":
    sys.exit(main())
