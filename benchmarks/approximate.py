"""Approximate nearest neighbors, of two libraries and of hopvec: python -m benchmarks.approximate.

Both libraries build an HNSW index of the same vectors with the same parameters, then find the 10
nearest neighbors of all of them. Graphs have many nodes with equal vectors, so they are measured
with all vectors and with distinct ones; hopvec indexes distinct vectors only, by usearch. The
recall is measured on 1,000 nodes: a neighbor as similar as the last of exact search is found.

CPU times are compared with exact search, which is measured on some of the nodes. Each measurement
is a separate process, in the environment of the library.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.processes import CACHE, RESULTS, log, python, status_bytes, write

PATH = RESULTS / "approximate.json"
K, SAMPLE, EXACT = 10, 1000, 4096
"""Neighbors, nodes for the recall, and nodes for the time of exact search."""
CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 128, 64
TIE = 1e-6  # similarities that differ by less are equal: tools round differently
ENVIRONMENTS = {"usearch": "hopvec", "hnswlib": "hnswlib", "hopvec": "hopvec"}
Rows = NDArray[np.float32]


def main() -> int:
    """Measure and write the results."""
    from benchmarks import machine

    threads = machine.cores()
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {
            **{"k": K, "sample": SAMPLE, "exact": EXACT, "threads": threads},
            **{"connectivity": CONNECTIVITY, "expansion_add": EXPANSION_ADD},
            "expansion_search": EXPANSION_SEARCH,
        },
        "rows": [],
    }
    CACHE.mkdir(exist_ok=True)
    for name, vectors in inputs():
        _, first = np.unique(vectors, axis=0, return_index=True)
        distinct = vectors[np.sort(first)]
        for some, tools in ((vectors, ENVIRONMENTS), (distinct, ("usearch", "hnswlib"))):
            if tools is not ENVIRONMENTS and len(distinct) == len(vectors):
                continue
            path = CACHE / "approximate.npz"
            exact = prepare(path, some)
            for tool in tools:
                found = python(
                    *("benchmarks.approximate", tool, path, threads),
                    **{"threads": threads, "environment": ENVIRONMENTS[tool]},
                )
                row = {"data": name, "nodes": len(some), "dim": some.shape[1], "tool": tool}
                results["rows"].append({**row, "exact": exact, **found})
                log(str(results["rows"][-1]))
                write(PATH, results)
    return 0


GRAPHS = {"Debian packages": "debian-packages", "Debian files": "debian-files"}


def inputs() -> Any:
    """Names and vectors of length 1: FastRP of two graphs, and random clusters."""
    from benchmarks import graphs
    from hopvec import FastRP, datasets

    for title, name in GRAPHS.items():
        vectors = FastRP(dim=128).embed(datasets.load(name, graphs.data_dir()).graph).vectors
        yield title, np.ascontiguousarray(vectors[vectors.any(axis=1)])
    random = np.random.default_rng(0)
    centers = random.standard_normal((1000, 64), np.float32)
    vectors = centers[random.integers(0, len(centers), 1_000_000)]
    vectors += 0.7 * random.standard_normal(vectors.shape, np.float32)
    yield "random, 1,000 clusters", vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def prepare(path: Path, vectors: Rows) -> float:
    """Write vectors and the exact neighbors of a sample; returns CPU seconds of exact search."""
    import pyarrow as pa

    from hopvec import Embedding

    embedding = Embedding(vectors, pa.array(np.arange(len(vectors))))
    rows = np.random.default_rng(1).choice(len(vectors), EXACT, replace=False)
    begin = time.process_time()
    exact = embedding.nearest_rows(rows, K)
    seconds = (time.process_time() - begin) * len(vectors) / EXACT
    least = exact.similarity[:SAMPLE, -1]
    np.savez(path, vectors=vectors, rows=rows[:SAMPLE], least=least)
    return seconds


def measure(tool: str, path: str, threads: int) -> dict[str, float]:
    """Build an index and find all neighbors; without hopvec, in the environment of the tool."""
    with np.load(path) as file:
        vectors, rows, least = file["vectors"], file["rows"], file["least"]
    before = status_bytes("VmHWM")
    begin = time.process_time()
    if tool == "hopvec":
        return {**measure_hopvec(vectors), "memory": status_bytes("VmHWM") - before}
    search = usearch(vectors, threads) if tool == "usearch" else hnswlib(vectors, threads)
    built = time.process_time()
    neighbors = search(vectors)
    searched = time.process_time()
    memory = status_bytes("VmHWM") - before
    found = 0
    for row, smallest in zip(rows, least, strict=True):
        own = neighbors[row][neighbors[row] != row][:K].astype(np.int64)
        found += int(np.sum(vectors[own] @ vectors[row] >= smallest - TIE))
    return {
        "build": built - begin,
        "search": searched - built,
        "recall": found / (K * len(rows)),
        "memory": memory,
    }


def measure_hopvec(vectors: Rows) -> dict[str, float]:
    """The same with nearest_all(approximate=True), which measures its own recall."""
    import pyarrow as pa

    from hopvec import Embedding

    embedding = Embedding(vectors, pa.array(np.arange(len(vectors))))
    begin = time.process_time()
    embedding._approximate_index.build()
    built = time.process_time()
    table = embedding.nearest_all(K, approximate=True)
    searched = time.process_time()
    recall = json.loads(table.schema.metadata[b"hopvec.neighbors"])["recall"]
    return {"build": built - begin, "search": searched - built, "recall": recall}


def usearch(vectors: Rows, threads: int) -> Any:
    """A function that finds neighbors, by usearch."""
    from usearch.index import Index

    index = Index(
        ndim=vectors.shape[1],
        metric="ip",
        dtype="f32",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )
    index.add(np.arange(len(vectors)), vectors, threads=threads)
    return lambda queries: index.search(queries, K + 1, threads=threads).keys


def hnswlib(vectors: Rows, threads: int) -> Any:
    """A function that finds neighbors, by hnswlib."""
    import hnswlib

    index = hnswlib.Index(space="ip", dim=vectors.shape[1])
    index.init_index(len(vectors), M=CONNECTIVITY, ef_construction=EXPANSION_ADD)
    index.set_num_threads(threads)
    index.add_items(vectors)
    index.set_ef(EXPANSION_SEARCH)
    return lambda queries: index.knn_query(queries, K + 1)[0]


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
    else:
        sys.exit(main())
