"""Check that tools do the same computation: python -m benchmarks.distribution_check TOOL ...

Every tool draws its own R, so vectors cannot be compared, but their inner products can: with
M = sum_i weights[i-1] A^i L, the expectation of N N^T is a multiple of M M^T. On a small tree,
where walks mix slowly, a wrong order or a wrong beta is easy to detect. Prints JSON.
"""

# ruff: noqa: N806 (the capital letters are the paper's)

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import graphs
from benchmarks.measure import SETTING, tool, tool_input
from benchmarks.peers import same_distribution

NODES, DIM = 80, 16_384
WITHOUT_BETA = {"fastrp"}


def tree() -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """The edges of a random tree; the parent of node i is one of the six nodes before it."""
    rng = np.random.default_rng(3)
    child = np.arange(1, NODES, dtype=np.int32)
    parent = np.array([rng.integers(max(0, i - 6), i) for i in child], np.int32)
    return child, parent, NODES


def gram(adjacency: Any, weights: Sequence[float], beta: float) -> NDArray[np.float64]:
    """M M^T in dense float64, directly from the formula."""
    A = same_distribution.transition(adjacency, np.float64).toarray()
    M = sum(w * np.linalg.matrix_power(A, i) for i, w in enumerate(weights, start=1))
    M = M * same_distribution.degree_power(adjacency, beta)
    return M @ M.T


def distance(a: NDArray[Any], b: NDArray[Any]) -> float:
    """The distance of two matrices, after normalizing both to norm 1."""
    return float(np.linalg.norm(a / np.linalg.norm(a) - b / np.linalg.norm(b)))


def check(name: str) -> dict[str, float]:
    """The distance of a tool to the expectation, and to three likely mistakes."""
    adjacency, weights = graphs.symmetric(*tree()), SETTING["weights"]
    beta = 0.0 if name in WITHOUT_BETA else SETTING["beta"]
    make = tool(name, 1, {})
    vectors = make(tool_input(name, *tree()), dim=DIM, weights=weights, beta=beta)().astype(
        np.float64
    )
    found = vectors @ vectors.T
    return {
        "distribution": distance(found, gram(adjacency, weights, beta)),
        "one hop fewer": distance(found, gram(adjacency, [*weights[1:]], beta)),
        "one hop more": distance(found, gram(adjacency, [0, *weights], beta)),
        "another beta": distance(found, gram(adjacency, weights, -0.5 - beta)),
    }


if __name__ == "__main__":
    print(json.dumps({name: check(name) for name in sys.argv[1:]}))
