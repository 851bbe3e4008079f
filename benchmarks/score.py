"""Score vectors: python -m benchmarks.score labels|links GRAPH PREFIX SEEDS SHUFFLES prints JSON.

For each seed, PREFIX-SEED.npy are the vectors of the graph, which are scored by labels, and
PREFIX-SEED-training.npy those of the training graph with this seed, which are scored by links. Rows
are in the order of the matrix of the graph (graphs.py).
"""

import json
import sys
from statistics import mean
from typing import Any

import numpy as np

from benchmarks import graphs
from hopvec import Embedding, datasets
from hopvec.evaluate import classify, predict_links
from hopvec.evaluate.link_prediction import DEGREE_ALONE, LinkPrediction

SHARE = 0.1


def labels(name: str, prefix: str, seeds: int, shuffles: int) -> dict[str, Any]:
    """Macro and micro F1 in percent, with 10 % of the labels for training, by seed and shuffle."""
    data = datasets.load(name, graphs.data_dir())
    assert data.labels is not None
    embeddings = {
        str(seed): Embedding(np.load(f"{prefix}-{seed}.npy"), data.graph.ids)
        for seed in range(seeds)
    }
    found = classify(embeddings, data.labels, shares=(SHARE,), shuffles=shuffles)
    return {
        measure: [
            [getattr(shuffle, measure) for shuffle in scores.shuffles]
            for _, scores in found.by_share()
        ]
        for measure in ("macro_f1", "micro_f1")
    }


def links(name: str, prefix: str, seeds: int) -> dict[str, Any]:
    """AUC and average precision by seed, for each kind of negatives; also those of the degrees."""
    found = []
    for seed in range(seeds):
        held_out = graphs.held_out(name, seed)
        vectors = np.load(f"{prefix}-{seed}-training.npy")
        found.append(predict_links(Embedding(vectors, held_out.training.ids), held_out, k=[]))
    return {sampling: of_operator(found, sampling) for sampling in found[0].scores}


def of_operator(found: list[LinkPrediction], sampling: str) -> dict[str, Any]:
    """The scores of the operator with the best mean AUC, and of the degrees alone."""
    scores = [result.scores[sampling] for result in found]

    def aucs(operator: str) -> list[float]:
        return [score[operator].auc for score in scores]

    best = max((name for name in scores[0] if name != DEGREE_ALONE), key=lambda at: mean(aucs(at)))
    return {
        "operator": best,
        "auc": aucs(best),
        "average_precision": [score[best].average_precision for score in scores],
        "degree_alone": aucs(DEGREE_ALONE),
    }


def main(what: str, graph: str, prefix: str, seeds: str, shuffles: str) -> dict[str, Any]:
    """The scores by labels or by links."""
    if what == "labels":
        return labels(graph, prefix, int(seeds), int(shuffles))
    return links(graph, prefix, int(seeds))


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
