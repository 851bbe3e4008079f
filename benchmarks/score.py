"""Score vectors: python -m benchmarks.score labels|links GRAPH VECTORS prints JSON.

Vectors are a .npy file with rows in the order of the matrix of the graph (graphs.py). "links" needs
the vectors of the training graph.
"""

import json
import sys
from typing import Any

import numpy as np

from benchmarks import graphs
from hopvec import Embedding, datasets
from hopvec.evaluate import classify, predict_links

SHARE, SHUFFLES = 0.1, 5


def labels(name: str, path: str) -> dict[str, float]:
    """Macro and micro F1 in percent, with 10 % of the labels for training: evaluate.classify."""
    data = datasets.load(name, graphs.data_dir())
    embedding = Embedding(np.load(path), data.graph.ids)
    assert data.labels is not None
    found = classify(embedding, data.labels, shares=(SHARE,), shuffles=SHUFFLES).shares[0]
    return {
        "macro_f1": found.macro_f1,
        "macro_deviation": found.macro_deviation,
        "micro_f1": found.micro_f1,
    }


def links(name: str, path: str) -> dict[str, Any]:
    """AUC and average precision of the operator that predicts held-out edges best."""
    held_out = graphs.held_out(name)
    found = predict_links(Embedding(np.load(path), held_out.training.ids), held_out)
    best = max(found.operators, key=lambda operator: found.operators[operator].auc)
    score = found.operators[best]
    return {"auc": score.auc, "average_precision": score.average_precision, "operator": best}


if __name__ == "__main__":
    what = {"labels": labels, "links": links}[sys.argv[1]]
    print(json.dumps(what(sys.argv[2], sys.argv[3])))
