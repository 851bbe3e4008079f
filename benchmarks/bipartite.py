"""Users and items in one space: python -m benchmarks.bipartite.

A fifth of the edges of two bipartite graphs is held out, and the items of some users are found
again by the cosine of vectors. FastRP has odd and even orders of both sides; beside it stand R that
is drawn for one side only, by which one side has odd orders and the other even ones; odd orders
alone, which FastRP refuses; and the walks of three steps.
"""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks import graphs, machine
from benchmarks.processes import RESULTS, say, write
from hopvec import Embedding, FastRP, datasets
from hopvec.datasets import Dataset
from hopvec.evaluate import HeldOut, evaluate_recommendation, hold_out

PATH = RESULTS / "bipartite.json"
ITEMS = {"web-trackers-2018": ("tracker", 8000), "debian-files": ("file", 1000)}
"""The graphs, the kind of nodes that are recommended, and the users that they are for."""
DIM, SHARE, K = 128, 0.2, (10, 50)
ODD, EVEN = (0, 0, 1, 0, 1), (0, 0, 0, 1, 0, 1)  # the orders of the default

Rows = NDArray[np.float32]


def main() -> int:
    """Embed, recommend, write after every graph."""
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {"dim": DIM, "share": SHARE},
        "graphs": {},
    }
    for name, (kind, users) in ITEMS.items():
        data = datasets.load(name, graphs.data_folder())
        results["graphs"][name] = scores(data, kind, users)
        write(PATH, results)
    return 0


def scores(data: Dataset, kind: str, users: int) -> dict[str, Any]:
    """Recall and NDCG of every way on one graph."""
    is_item = np.array([word == kind for word in data.nodes.column("kind").to_pylist()])
    held_out = hold_out(data.graph, share=SHARE, negatives=0)
    held_out = of_some_users(held_out, data, is_item, users)
    training = held_out.training
    odd, even = (
        FastRP(dim=DIM, weights=weights, normalize="orders").embed(training).vectors
        for weights in (ODD, EVEN)
    )
    ways: dict[str, Rows | None] = {
        "FastRP": FastRP(dim=DIM).embed(training).vectors,
        "FastRP, oversample 4": FastRP(dim=DIM, oversample=4).embed(training).vectors,
        "FastRP, weights 0,0,1,4": FastRP(dim=DIM, weights=(0, 0, 1, 4)).embed(training).vectors,
        "R of users only": full(np.where(is_item[:, None], odd, even)),
        "R of items only": full(np.where(is_item[:, None], even, odd)),
        "odd orders only": full(odd),
        "walks, P3-alpha": None,
        "walks, RP3-beta 0.5": None,
    }
    found: dict[str, Any] = {}
    for way, vectors in ways.items():
        found[way] = measured(held_out, data.graph.ids.filter(pa.array(is_item)), way, vectors)
        say(f"{data.name}, {way}: {found[way]}")
    return found


def of_some_users(
    held_out: HeldOut, data: Dataset, is_item: NDArray[np.bool_], count: int
) -> HeldOut:
    """The held-out edges of some users, drawn at random, and the training graph."""
    import pyarrow.compute as pc

    ends = [
        pc.index_in(held_out.edges.column(end), value_set=data.graph.ids).to_numpy()
        for end in ("source", "target")
    ]
    users = np.where(is_item[ends[0]], ends[1], ends[0])
    every = np.unique(users)
    some = np.random.default_rng(0).choice(every, min(count, len(every)), replace=False)
    return replace(held_out, edges=held_out.edges.filter(pa.array(np.isin(users, some))))


def full(rows: Rows) -> Rows:
    """Rows of orders finished as normalize="full" does: standard columns, then unit rows."""
    present = rows.any(axis=1)
    some = rows[present].astype(np.float64)
    some = (some - some.mean(axis=0)) / some.std(axis=0)
    finished = np.zeros_like(rows)
    finished[present] = some / np.linalg.norm(some, axis=1, keepdims=True)
    return finished


def measured(held_out: HeldOut, items: pa.Array, way: str, vectors: Rows | None) -> dict[str, Any]:
    """Recall and NDCG at each k."""
    graph = held_out.training
    embedding = None if vectors is None else Embedding(vectors, graph.ids, {}, {})
    beta = 0.5 if "beta" in way else 0.0
    found = evaluate_recommendation(held_out, items, embedding=embedding, beta=beta, k=K)
    return {
        "recall": {str(k): found.recall[k] for k in K},
        "ndcg": {str(k): found.ndcg[k] for k in K},
        "users": found.users,
    }


if __name__ == "__main__":
    sys.exit(main())
