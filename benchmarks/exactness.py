"""Errors of vectors against the formulas: python -m benchmarks.exactness prints JSON.

Real graphs of up to 2,000 nodes, undirected, weighted and directed, with every option of FastRP.
The ground truth is tests/oracle.py, dense float64 numpy. The error of a row is |difference| /
|expected|; the largest one of a graph is reported, and rows that must be zero have to be exactly
zero. Embeddings with one or two columns, where rows can cancel, are left to the tests, which allow
for rounding.
"""

# ruff: noqa: N803, N806 (the capital letters are the paper's)

import json
import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks import graphs
from benchmarks.processes import ROOT
from hopvec import FastRP, Graph

GRAPHS = ("email-eu-core", "eurosis", "polblogs")
TARGET = 1e-5
BASE: dict[str, Any] = {"dim": 96, "weights": (0, 1, 2, 1), "beta": -0.3, "normalize": "full"}
OPTIONS: tuple[dict[str, Any], ...] = (
    {"normalize": "none"},
    *({"normalize": "none", "weights": weights} for weights in ((1,), (0, 0, 1, 4))),
    {"normalize": "orders"},
    {"normalize": "authors"},
    {"normalize": "full"},
    *({"beta": beta} for beta in (-1, -0.5, 0, 0.25, 0.5, 1)),
    *({"self_weight": weight} for weight in (0.5, -1)),
    *({"sparsity": s} for s in (1, 1.5, 3, 100)),
    *({"weights": weights} for weights in ((1,), (0.5, 0, -2, 0), (0, 0, 1, 1, 1, 1))),
    *({"dim": dim} for dim in (15, 31, 256)),
    *({"direction": direction} for direction in ("in", "both", "concat")),
    {"threads": 5},
)
NOT_IN_FORMULA = ("sparsity", "threads")


def kinds(name: str) -> dict[str, sp.csr_array]:
    """A graph undirected, with edge weights from 0.5 to 3.5, and with one direction per edge."""
    plain = sp.csr_array(graphs.load(name)).astype(np.float64)
    weighted = plain.copy()
    row, column = plain.nonzero()
    weighted.data = 0.5 + (row * column + row + column) % 7 / 2
    return {"plain": plain, "weighted": weighted, "directed": sp.csr_array(sp.triu(weighted))}


def worst_row(S: sp.csr_array, directed: bool, option: dict[str, Any]) -> float:
    """The largest relative error of a row with an option that overrides BASE."""
    import oracle

    graph = Graph.from_scipy(S, directed=directed)
    setting = BASE | option
    R = random_matrix(graph, setting)
    formula = {key: setting[key] for key in setting if key not in NOT_IN_FORMULA}
    expected = oracle.embed(S.toarray(), R, **formula)
    got = FastRP(passes=1, **setting).embed(graph).vectors
    return float(oracle.relative_errors(got, expected).max())


def random_matrix(graph: Graph, setting: dict[str, Any]) -> NDArray[np.float32]:
    """R, computed by FastRP as order 0 with L = 1."""
    order_0 = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none", "passes": 1}
    given = {key: setting[key] for key in ("dim", "sparsity") if key in setting}
    return FastRP(**order_0, **given).embed(graph).vectors


def measured() -> list[dict[str, Any]]:
    """The largest error of all graphs, for every option and type of graph."""
    for name in GRAPHS:
        graphs.make(name)
    all_graphs = [kinds(name) for name in GRAPHS]
    rows = []
    for option in OPTIONS:
        has_direction = "direction" in option
        worst = {
            kind: max(worst_row(found[kind], kind == "directed", option) for found in all_graphs)
            for kind in all_graphs[0]
            if kind == "directed" or not has_direction
        }
        rows.append({"option": option, "worst": worst})
    return rows


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    print(json.dumps({"graphs": GRAPHS, "base": BASE, "target": TARGET, "rows": measured()}))
