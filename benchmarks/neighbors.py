"""Exact nearest neighbors compared with other tools: python -m benchmarks.neighbors.

All tools find the 10 nearest neighbors of nodes by cosine similarity, among the same float32
vectors of length 1, on the same number of threads; they alternate. numpy multiplies the same
matrices with its BLAS and keeps nothing: no tool that computes all products can do less.
Answers are compared before anything is measured.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks import machine
from benchmarks.processes import RESULTS, busy_seconds, compare, log, write
from hopvec import Embedding, FastRP, datasets

PATH = RESULTS / "neighbors.json"
K, DIM = 10, 128
PAUSE = 0.2  # seconds before each measurement: idle threads of a BLAS keep a core busy for a while
BLOCK = 1024  # queries of a product of numpy
CHECKED = 2000  # queries whose answers are compared
TIE = 1e-5  # similarities that differ by less are equal: tools round differently
Rows = NDArray[np.float32]
Search = Callable[[NDArray[np.int64]], NDArray[Any]]


def main() -> int:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only neighbors")
    parser.add_argument("--repeats", type=int, default=5, help="rounds (default: 5)")
    args = parser.parse_args()
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {"k": K, "rounds": args.repeats, "checked": CHECKED},
        "rows": [],
    }
    for name, (vectors, queries) in inputs().items():
        for threads in sorted({1, machine.cores()}):
            found = measured(vectors, queries, threads, args.repeats)
            results["rows"].append({"data": name, "threads": threads, **found})
            write(PATH, results)
    return 0


def inputs() -> dict[str, tuple[Rows, int]]:
    """The vectors, without zero rows, and how many of them are searched."""
    packages = FastRP(dim=DIM).embed(datasets.debian()[0]).vectors
    random = np.random.default_rng(0)
    centers = random.standard_normal((200, DIM), np.float32)
    clusters = centers[random.integers(0, len(centers), 200_000)]
    clusters = clusters + 0.7 * random.standard_normal(clusters.shape, np.float32)
    return {
        "Debian packages, FastRP": (unit(packages), len(packages)),
        "random, 200 clusters": (unit(clusters), 10_000),
    }


def unit(vectors: Rows) -> Rows:
    """The nonzero rows, with length 1."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    kept = norms[:, 0] > 0
    return np.ascontiguousarray(vectors[kept] / norms[kept], np.float32)


def tools(vectors: Rows, threads: int) -> dict[str, Search]:
    """Functions that return the neighbors of some rows; the row itself may be among them."""
    import faiss
    from sklearn.neighbors import NearestNeighbors

    embedding = Embedding(vectors, pa.array(np.arange(len(vectors))))
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    faiss.omp_set_num_threads(threads)
    brute = NearestNeighbors(n_neighbors=K + 1, algorithm="brute", n_jobs=threads).fit(vectors)
    out = np.empty((BLOCK, len(vectors)), np.float32)

    def products(rows: NDArray[np.int64]) -> NDArray[Any]:
        for first in range(0, len(rows), BLOCK):
            some = vectors[rows[first : first + BLOCK]]
            np.matmul(some, vectors.T, out=out[: len(some)])
        return out[:0]

    return {
        "hopvec": lambda rows: embedding.nearest_rows(rows, K).rows,
        "numpy products": products,
        "faiss": lambda rows: index.search(vectors[rows], K + 1)[1],
        "scikit-learn": lambda rows: brute.kneighbors(vectors[rows], return_distance=False),
    }


def measured(vectors: Rows, queries: int, threads: int, repeats: int) -> dict[str, Any]:
    """The times of every tool, their ratios to those of hopvec, and the agreement of answers."""
    rows = np.arange(min(queries, len(vectors)))
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:threads])  # of this thread, and those it starts
    try:
        with threadpool_limits(threads):
            ways = tools(vectors, threads)
            agreement = agreements(vectors, ways)
            seconds: dict[str, list[float]] = {name: [] for name in ways}
            others = 0.0
            for number in range(repeats):
                for name in ways if number % 2 == 0 else reversed(ways):
                    time.sleep(PAUSE)
                    busy, own = busy_seconds(), time.process_time()
                    start = time.perf_counter()
                    ways[name](rows)
                    seconds[name].append(time.perf_counter() - start)
                    foreign = busy_seconds() - busy - (time.process_time() - own)
                    others = max(others, foreign / (seconds[name][-1] * len(allowed)))
                    log(f"{len(vectors):,}, {threads} threads, {name}: {seconds[name][-1]:.2f} s")
    finally:
        os.sched_setaffinity(0, allowed)
    return {
        "nodes": len(vectors),
        "queries": len(rows),
        "dim": vectors.shape[1],
        "seconds": seconds,
        "ratios": {name: compare(own, seconds["hopvec"]) for name, own in seconds.items()},
        "agreement": agreement,
        "others_share": others,
    }


def agreements(vectors: Rows, ways: dict[str, Search]) -> dict[str, float]:
    """The share of nodes whose neighbors are those of hopvec, or as similar."""
    rows = np.random.default_rng(1).choice(len(vectors), CHECKED, replace=False)
    expected = ways["hopvec"](rows)
    least = np.einsum("ij,ij->i", vectors[rows], vectors[expected[:, -1]])
    found = {}
    for name, way in ways.items():
        answers = way(rows)
        if len(answers):
            same = [
                is_same(vectors, row, own, right, least[number])
                for number, (row, own, right) in enumerate(
                    zip(rows, answers, expected, strict=True)
                )
            ]
            found[name] = float(np.mean(same))
    return found


def is_same(
    vectors: Rows, row: int, found: NDArray[Any], expected: NDArray[Any], least: float
) -> bool:
    """Whether two lists of neighbors differ only in those that are as similar as the last."""
    found = found[found != row][:K]
    different = np.setxor1d(found, expected)
    is_tie = np.abs(vectors[different] @ vectors[row] - least) < TIE
    return len(np.unique(found)) == K and bool(is_tie.all())


if __name__ == "__main__":
    sys.exit(main())
