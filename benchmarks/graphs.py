"""The graphs of the benchmark: symmetric scipy CSR matrices, float32, made once and then cached."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "benchmarks" / "cache"


def data_folder() -> Path:
    """Where the published graphs lie: HOPVEC_DATA, else ../shared/data beside the project."""
    return Path(os.environ.get("HOPVEC_DATA") or ROOT.parent / "shared" / "data")


def blogcatalog() -> sp.csr_matrix:
    """BlogCatalog: 10,312 nodes, 333,983 edges."""
    from scipy.io import loadmat  # here, so that it does not count as memory of those who only load

    path = data_folder() / "blogcatalog" / "blogcatalog.mat"
    if not path.is_file():
        raise SystemExit(f"{path} is missing. Set HOPVEC_DATA to the folder that has blogcatalog/.")
    return sp.csr_matrix(loadmat(path)["network"], dtype=np.float32)


def chung_lu(*, nodes: int, edges: int, exponent: float = 2.3, seed: int = 1) -> sp.csr_matrix:
    """A power-law graph with exactly that many distinct undirected edges, no loops.

    Both ends of an edge are drawn with P(node of rank i) ~ (i + nodes/500)^(-1/(exponent - 1))
    (Chung and Lu, 2002); loops and repeated edges are drawn again. Node numbers are shuffled, so
    that no tool profits from hubs that happen to come first.
    """
    rng = np.random.default_rng(seed)
    weight = (np.arange(nodes) + 0.002 * nodes) ** (-1 / (exponent - 1))
    cumulative = np.cumsum(weight)
    cumulative /= cumulative[-1]
    keys = np.empty(0, np.int64)  # one number an edge: smaller end * nodes + larger end
    while len(keys) < edges:
        draws = int(1.3 * (edges - len(keys))) + 1000
        one = np.searchsorted(cumulative, rng.random(draws))
        other = np.searchsorted(cumulative, rng.random(draws))
        proper = one != other
        low = np.minimum(one, other)[proper].astype(np.int64)
        keys = np.unique(np.concatenate([keys, low * nodes + np.maximum(one, other)[proper]]))
    keys = rng.choice(keys, edges, replace=False)
    number = rng.permutation(nodes).astype(np.int32)
    return symmetric(number[keys // nodes], number[keys % nodes], nodes)


def symmetric(source: NDArray[np.int32], target: NDArray[np.int32], nodes: int) -> sp.csr_matrix:
    """The adjacency matrix of distinct undirected edges: float32 ones, sorted columns."""
    rows, columns = np.concatenate([source, target]), np.concatenate([target, source])
    ones = np.ones(len(rows), np.float32)
    matrix = sp.coo_matrix((ones, (rows, columns)), shape=(nodes, nodes)).tocsr()
    matrix.sort_indices()
    return matrix


GRAPHS: dict[str, Callable[[], sp.csr_matrix]] = {
    "blogcatalog": blogcatalog,
    "chung-lu-80k": lambda: chung_lu(nodes=80_000, edges=6_500_000),
    "chung-lu-200k": lambda: chung_lu(nodes=200_000, edges=33_000_000),
}


def load(name: str) -> sp.csr_matrix:
    """The graph of that name, out of the cache if it was made before."""
    path = CACHE / f"{name}.npz"
    if not path.is_file():
        CACHE.mkdir(exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}.npz")
        sp.save_npz(unfinished, GRAPHS[name](), compressed=False)
        unfinished.rename(path)
    return sp.csr_matrix(sp.load_npz(path))
