"""Recommendation on bipartite graphs: python -m benchmarks.bipartite.

A fifth of the edges of two bipartite graphs is held out, and items are recommended to some users
by cosine similarity, with one to three passes. FastRP uses odd and even orders for both sides. It
is compared with R drawn for one side only, which gives one side odd orders and the other even ones;
with odd orders only, which FastRP refuses; and with random walks of three steps.
"""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks import graphs, machine
from benchmarks.processes import RESULTS, log, write
from hopvec import Embedding, FastRP, datasets
from hopvec.datasets import Dataset
from hopvec.evaluate import HeldOut, evaluate_recommendation, hold_out

PATH = RESULTS / "bipartite.json"
ITEMS = {"web-trackers-2018": ("tracker", 8000), "debian-files": ("file", 1000)}
"""The graphs, with the type of recommended nodes and the number of users."""
DIM, SHARE, K = 128, 0.2, (10, 50)
ODD, EVEN = (0, 0, 1, 0, 1), (0, 0, 0, 1, 0, 1)  # the orders of one pass

Rows = NDArray[np.float32]


def main() -> int:
    """Embed, recommend, and write results after every graph."""
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {"dim": DIM, "share": SHARE},
        "graphs": {},
    }
    for name, (kind, users) in ITEMS.items():
        data = datasets.load(name, graphs.data_dir())
        results["graphs"][name] = scores(data, kind, users)
        write(PATH, results)
    return 0


def scores(data: Dataset, kind: str, users: int) -> dict[str, Any]:
    """Recall and NDCG of every method on one graph."""
    is_item = np.array([value == kind for value in data.nodes.column("kind").to_pylist()])
    held_out = hold_out(data.graph, share=SHARE, negatives=0)
    held_out = sample_users(held_out, data, is_item, users)
    training = held_out.training
    odd, even = (
        FastRP(dim=DIM, weights=weights, normalize="orders", passes=1).embed(training).vectors
        for weights in (ODD, EVEN)
    )
    vectors_by_method: dict[str, Rows | None] = {
        "FastRP": FastRP(dim=DIM).embed(training).vectors,
        "FastRP, two passes": FastRP(dim=DIM, passes=2).embed(training).vectors,
        "FastRP, one pass": FastRP(dim=DIM, passes=1).embed(training).vectors,
        "FastRP, one pass, weights 0,0,1,4": FastRP(dim=DIM, passes=1, weights=(0, 0, 1, 4))
        .embed(training)
        .vectors,
        "R of users only": full(np.where(is_item[:, None], odd, even)),
        "R of items only": full(np.where(is_item[:, None], even, odd)),
        "odd orders only": full(odd),
        "walks, P3-alpha": None,
        "walks, RP3-beta 0.5": None,
    }
    found: dict[str, Any] = {}
    for method, vectors in vectors_by_method.items():
        found[method] = measured(
            held_out, data.graph.ids.filter(pa.array(is_item)), method, vectors
        )
        log(f"{data.name}, {method}: {found[method]}")
    return found


def sample_users(
    held_out: HeldOut, data: Dataset, is_item: NDArray[np.bool_], count: int
) -> HeldOut:
    """The held-out edges of a random sample of users, and the training graph."""
    import pyarrow.compute as pc

    ends = [
        pc.index_in(held_out.edges.column(end), value_set=data.graph.ids).to_numpy()
        for end in ("source", "target")
    ]
    users = np.where(is_item[ends[0]], ends[1], ends[0])
    unique = np.unique(users)
    sample = np.random.default_rng(0).choice(unique, min(count, len(unique)), replace=False)
    return replace(held_out, edges=held_out.edges.filter(pa.array(np.isin(users, sample))))


def full(rows: Rows) -> Rows:
    """Apply normalize="full" to the sum of orders: standardized columns, then unit rows."""
    present = rows.any(axis=1)
    values = rows[present].astype(np.float64)
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    finished = np.zeros_like(rows)
    finished[present] = values / np.linalg.norm(values, axis=1, keepdims=True)
    return finished


def measured(
    held_out: HeldOut, items: pa.Array, method: str, vectors: Rows | None
) -> dict[str, Any]:
    """Recall and NDCG at each k."""
    graph = held_out.training
    embedding = None if vectors is None else Embedding(vectors, graph.ids, {}, {})
    beta = 0.5 if "beta" in method else 0.0
    found = evaluate_recommendation(held_out, items, embedding=embedding, beta=beta, k=K)
    return {
        "recall": {str(k): found.recall[k] for k in K},
        "ndcg": {str(k): found.ndcg[k] for k in K},
        "users": found.users,
    }


if __name__ == "__main__":
    sys.exit(main())
