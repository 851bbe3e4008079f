"""How well held-out edges are recommended: python -m benchmarks.recommend.

One edge of each node is held out (of bipartite graphs, of each node of the source side), the rest
is embedded with several settings of FastRP, and all nodes without an edge to a node are ranked by
each score of `hopvec.recommend`, and by baselines that need no vectors. This is about quality, not
time, so it may run beside other work.
"""

import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from statistics import mean
from typing import Any

import numpy as np

from benchmarks import graphs, machine
from benchmarks.processes import RESULTS, log, write
from hopvec import Embedding, FastRP, Graph, datasets
from hopvec.evaluate import HeldOut, evaluate_recommendation, hold_out
from hopvec.methods.presets import PRESETS
from hopvec.recommendation.recommend import POPULARITY

PATH = RESULTS / "recommend.json"
GRAPHS = {
    "web-trackers-2018": "tracker",
    "debian-files": "file",
    "debian-packages": None,
    "wikispeedia": None,
    "dblp": None,
}
"""The graphs; for bipartite ones, the kind of the nodes on the target side."""
BEST = {**PRESETS["best"].parameters, "degree_weight": 1.0}
SETTINGS: dict[str, Mapping[str, Any]] = {
    "balanced": {},
    "links": PRESETS["links"].parameters,
    "best, degree_weight 1": BEST,
    "best, degree_weight 1, beta -0.5": {**BEST, "beta": -0.5},
}
"""The settings of FastRP."""
DOT = ("best, degree_weight 1", "best, degree_weight 1, beta -0.5")
"""Settings that are also scored by dot product; it is the cosine if all rows have length 1."""
BASELINES = ("rp3beta", "adamic-adar", "common-neighbors", "most popular")
SEEDS, SAMPLE, K = (0, 1, 2), 2000, (10, 20)


def main() -> int:
    """Embed, recommend, and write results after every graph."""
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {
            "dim": FastRP().dim,
            "seeds": len(SEEDS),
            "sample": SAMPLE,
            "popularity": POPULARITY,
        },
        "graphs": {},
    }
    for name, target in GRAPHS.items():
        graph = load(name, target)
        results["graphs"][name] = measured(name, graph)
        write(PATH, results)
    return 0


def load(name: str, target: str | None) -> Graph:
    """A graph; a bipartite one if the kind of the nodes on its target side is given."""
    data = datasets.load(name, graphs.data_dir())
    if target is None:
        return data.graph
    assert data.nodes is not None
    kinds = data.nodes.column("kind").to_pylist()
    return replace(data.graph, is_target=np.array([kind == target for kind in kinds]))


def measured(name: str, graph: Graph) -> dict[str, Any]:
    """The scores of all settings and baselines on one graph, with one value for each seed."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    described: list[dict[str, float]] = []
    for seed in SEEDS:
        held_out = hold_out(graph, per_node=True, negatives=0, seed=seed)
        assert held_out.training is not None
        embeddings = {
            setting: FastRP(**parameters, seed=seed).embed(held_out.training)
            for setting, parameters in SETTINGS.items()
        }
        scores, sizes = evaluated(embeddings, held_out, seed)
        described.append(sizes)
        for (setting, score), values in scores.items():
            by_metric = found.setdefault(setting, {}).setdefault(score, {})
            for metric, value in values.items():
                by_metric.setdefault(metric, []).append(value)
        log(f"{name}, seed {seed}")
    for setting, by_score in found.items():
        for score, by_metric in by_score.items():
            log(f"{name}, {setting or 'baseline'}, {score}: {mean(by_metric['recall@20']):.4f}")
    return {
        "nodes": graph.nodes,
        "edges": graph.edges,
        "bipartite": graph.is_target is not None,
        **{key: mean(sizes[key] for sizes in described) for key in described[0]},
        "scores": found,
    }


def evaluated(
    embeddings: Mapping[str, Embedding], held_out: HeldOut, seed: int
) -> tuple[dict[tuple[str, str], dict[str, float]], dict[str, float]]:
    """All metrics by setting and score, and the sizes of the test."""
    chosen: Any = {"k": K, "sample": SAMPLE, "seed": seed}
    runs = {
        f"cosine, popularity {POPULARITY}": (embeddings, ["cosine"], POPULARITY),
        "cosine": (embeddings, ["cosine"], 0.0),
        "": (embeddings, ["learned", *BASELINES], None),
        "dot": ({setting: embeddings[setting] for setting in DOT}, ["dot"], None),
    }
    values: dict[tuple[str, str], dict[str, float]] = {}
    for title, (vectors, scores, popularity) in runs.items():
        found = evaluate_recommendation(
            vectors, held_out, scores=scores, popularity=popularity, **chosen
        )
        for setting, score, k, metrics in found.rows():
            own = values.setdefault((setting, title or score), {})
            own |= {f"{metric}@{k}": value for metric, value in asdict(metrics).items()}
    sizes = {
        "tested": found.nodes,
        "candidates": found.candidates,
        "held_out_popularity": found.popularity,
    }
    return values, sizes


if __name__ == "__main__":
    sys.exit(main())
