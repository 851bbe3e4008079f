"""Do all tools compute the same thing? python -m benchmarks.law TOOL ... prints what it found.

Every tool draws its own R, so vectors cannot be compared, but their inner products can: with
M = sum_i weights[i-1] A^i L, the expectation of N N^T is a multiple of M M^T. On a small tree,
where walks mix slowly, a wrong order or a wrong beta shows clearly.
"""

# ruff: noqa: N806 (the capital letters are the paper's)

import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import graphs
from benchmarks.measure import SETTING, as_taken, tool
from benchmarks.peers import same_law

NODES, DIM = 80, 16_384
HAS_NO_BETA = {"fastrp"}


def tree() -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """The edges of a random tree, where node i hangs on one of the nodes before it."""
    rng = np.random.default_rng(3)
    child = np.arange(1, NODES, dtype=np.int32)
    parent = np.array([rng.integers(max(0, i - 6), i) for i in child], np.int32)
    return child, parent, NODES


def gram(adjacency: Any, weights: Sequence[float], beta: float) -> NDArray[np.float64]:
    """M M^T, dense float64, straight from the formula."""
    A = same_law.transition(adjacency, np.float64).toarray()
    M = sum(w * np.linalg.matrix_power(A, i) for i, w in enumerate(weights, start=1))
    M = M * same_law.degree_power(adjacency, beta)
    return M @ M.T


def distance(one: NDArray[Any], other: NDArray[Any]) -> float:
    """How far two matrices are apart, relative, after bringing both to norm 1."""
    return float(np.linalg.norm(one / np.linalg.norm(one) - other / np.linalg.norm(other)))


def check(name: str) -> dict[str, float]:
    """A tool's distance to its law, and to the three mistakes that are easiest to make."""
    adjacency, weights = graphs.symmetric(*tree()), SETTING["weights"]
    beta = 0.0 if name in HAS_NO_BETA else SETTING["beta"]
    make = tool(name, 1, {})
    vectors = make(as_taken(name, *tree()), dim=DIM, weights=weights, beta=beta)().astype(
        np.float64
    )
    found = vectors @ vectors.T
    return {
        "law": distance(found, gram(adjacency, weights, beta)),
        "one hop less": distance(found, gram(adjacency, [*weights[1:]], beta)),
        "one hop more": distance(found, gram(adjacency, [0, *weights], beta)),
        "other beta": distance(found, gram(adjacency, weights, -0.5 - beta)),
    }


if __name__ == "__main__":
    print(json.dumps({name: check(name) for name in sys.argv[1:]}))
