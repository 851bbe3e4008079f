"""The graphs of the benchmarks: symmetric scipy CSR matrices, float32, built once and cached.

`python -m benchmarks.graphs NAME ...` builds them with hopvec. `load` only reads them, so it also
works in the environments of the peers. A name is that of a dataset, one of RANDOM,
"erdos-renyi-N-M" for N nodes and M edges, or any of these followed by "+training-SEED": the graph
without the edges that are held out with this seed.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.processes import CACHE, ROOT

if TYPE_CHECKING:
    import scipy.sparse as sp

HELD_OUT = 0.2  # fraction of the edges
TRAINING = "+training-"
RANDOM: dict[str, dict[str, Any]] = {
    # Edges drawn; about 6.5 and 33 million remain without loops and duplicates.
    "chung-lu-80k": {"nodes": 80_000, "edges": 6_630_000},
    "chung-lu-200k": {"nodes": 200_000, "edges": 33_530_000},
    "erdos-renyi-1m": {"nodes": 1_000_000, "edges": 10_000_000},
    "rmat-20": {"scale": 20, "edges": 16 << 20},
}


def path_of(name: str) -> Path:
    """The cached file of a graph."""
    return CACHE / f"{name}.npz"


def load(name: str) -> sp.csr_matrix:
    """Load a graph from the cache."""
    import scipy.sparse as sp

    return sp.csr_matrix(sp.load_npz(path_of(name)))


def load_edges(name: str) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Load the edges of a graph, each once, and its number of nodes; without scipy."""
    with np.load(path_of(name)) as file:
        indptr, target = file["indptr"], file["indices"].astype(np.int32, copy=False)
    nodes = len(indptr) - 1
    source = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(indptr))
    once = source <= target
    return source[once], target[once], nodes


def make(name: str) -> None:
    """Build a graph unless it is cached."""
    import scipy.sparse as sp

    path = path_of(name)
    if not path.is_file():
        CACHE.mkdir(exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}.npz")
        sp.save_npz(unfinished, graph(name).to_scipy().astype(np.float32), compressed=False)
        unfinished.rename(path)


def graph(name: str) -> Any:
    """The hopvec.Graph of a name; the rows of its matrix are in the order of graph.ids."""
    from hopvec import datasets

    whole, training, seed = name.partition(TRAINING)
    if training:
        return held_out(whole, int(seed)).training
    if name.startswith("erdos-renyi-") and name not in RANDOM:
        nodes, edges = map(int, name.removeprefix("erdos-renyi-").split("-"))
        return datasets.ErdosRenyi(nodes=nodes, edges=edges).graph()
    if name not in RANDOM:
        return datasets.load(name, data_dir()).graph
    generators = {
        "chung-lu": datasets.ChungLu,
        "erdos-renyi": datasets.ErdosRenyi,
        "rmat": datasets.RMat,
    }
    return generators[name.rpartition("-")[0]](**RANDOM[name]).graph()


def held_out(name: str, seed: int) -> Any:
    """The held-out edges and negatives of a graph, and the training graph."""
    from hopvec.evaluate import hold_out

    return hold_out(graph(name), share=HELD_OUT, seed=seed)


def training_graph(name: str, seed: int) -> str:
    """The name of the graph without held-out edges."""
    return f"{name}{TRAINING}{seed}"


def data_dir() -> Path:
    """The directory of the published graphs: HOPVEC_DATA, else ../shared/data."""
    return Path(os.environ.get("HOPVEC_DATA") or ROOT.parent / "shared" / "data")


def symmetric(source: NDArray[np.int32], target: NDArray[np.int32], nodes: int) -> sp.csr_matrix:
    """The adjacency matrix of distinct undirected edges, with float32 ones and sorted columns."""
    import scipy.sparse as sp

    rows, columns = np.concatenate([source, target]), np.concatenate([target, source])
    ones = np.ones(len(rows), np.float32)
    matrix = sp.coo_matrix((ones, (rows, columns)), shape=(nodes, nodes)).tocsr()
    matrix.sort_indices()
    return matrix


def size(name: str) -> dict[str, int]:
    """The number of nodes and edges of a graph, which is built unless it is cached."""
    make(name)
    adjacency = load(name)
    loops = int(np.count_nonzero(adjacency.diagonal()))
    return {"nodes": adjacency.shape[0], "edges": (adjacency.nnz + loops) // 2}


if __name__ == "__main__":
    print(json.dumps({given: size(given) for given in sys.argv[1:]}))
