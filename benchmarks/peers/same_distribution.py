"""Peers that do the same computation as hopvec: N = sum_i weights[i-1] A^i L R with A = D^-1 S.

A peer is a function (adjacency, *, dim, weights, beta) that converts the input to the tool's
preferred format and returns the step to be timed. Threads are set by environment variables before
the process starts (see processes.py). Each function imports its own tool only.
"""

# ruff: noqa: N803, N806 (the capital letters are the paper's)

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Embed = Callable[[], NDArray[Any]]
SEED = 7


def degrees(adjacency: sp.csr_matrix) -> NDArray[np.float64]:
    """The weighted degree of every node."""
    return np.asarray(adjacency.sum(axis=1, dtype=np.float64)).ravel()


def transition(adjacency: sp.csr_matrix, dtype: type) -> sp.csr_matrix:
    """A = D^-1 S. An isolated node has a zero row."""
    degree = degrees(adjacency)
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    return sp.csr_matrix(sp.diags(inverse) @ adjacency, dtype=dtype)


def degree_power(adjacency: sp.csr_matrix, beta: float) -> NDArray[np.float64]:
    """The diagonal of L: (d_j / 2m)^beta, 0 for isolated nodes."""
    degree = degrees(adjacency)
    share = degree / degree.sum()
    return np.power(share, beta, out=np.zeros_like(share), where=degree > 0)


def authors(adjacency: sp.csr_matrix, *, dim: int, weights: Sequence[float], beta: float) -> Embed:
    """The authors' code (fastrp.py, 2019): scikit-learn, then sparse x sparse products in float64.

    R is smaller by sqrt(dim) and L has d^beta instead of (d/2m)^beta, which are constant factors.
    Unlike in their code, orders of weight 0 are not added.
    """
    A = transition(adjacency, np.float64)

    def embed() -> NDArray[Any]:
        orders = zip(weights, authors_orders(adjacency, A, dim, beta), strict=False)
        return np.asarray(sum(weight * N for weight, N in orders if weight).toarray())

    return embed


def authors_orders(
    adjacency: sp.csr_matrix, A: sp.csr_matrix, dim: int, beta: float, seed: int = SEED
) -> Iterator[sp.csr_matrix]:
    """N_1, N_2, ... as in the authors' code."""
    from sklearn.random_projection import SparseRandomProjection

    degree = degrees(adjacency)
    L = sp.diags(np.power(degree, beta, out=np.zeros_like(degree), where=degree > 0))
    projection = SparseRandomProjection(n_components=dim, density="auto", random_state=seed)
    projection.fit(A)
    projection.components_ = projection.components_ @ L
    N = projection.transform(A)
    while True:
        yield N
        N = A @ N


def fastrp(
    adjacency: sp.csr_matrix, *, dim: int, weights: Sequence[float], beta: float, seed: int = SEED
) -> Embed:
    """PyPI fastrp (Rust, RAYON_NUM_THREADS threads), without beta and with s = 3.

    Its weights[0] is for R itself, so a 0 is prepended. undirected=True would add the transpose of
    the symmetric matrix, without changing the degrees.
    """
    import fastrp as package

    indptr, indices = adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64)
    values, nodes = adjacency.data.astype(np.float64), adjacency.shape[0]

    def embed() -> NDArray[Any]:
        return package.fit_csr(
            *(indptr, indices, values, nodes, dim),
            weights=[0.0, *map(float, weights)],
            seed=seed,
            undirected=False,
        )

    return embed


def scipy(adjacency: sp.csr_matrix, *, dim: int, weights: Sequence[float], beta: float) -> Embed:
    """CSR @ dense with scipy, float32, one thread: the straightforward implementation."""
    return dense_hops(adjacency, lambda A, N: A @ N, dim=dim, weights=weights, beta=beta)


def mkl(adjacency: sp.csr_matrix, *, dim: int, weights: Sequence[float], beta: float) -> Embed:
    """The same with the product of Intel MKL (MKL_NUM_THREADS threads)."""
    if "MKL_RT" not in os.environ:  # pip installs the library where the loader does not search
        for library in sorted(Path(sys.prefix, "lib").glob("libmkl_rt.so*")):
            os.environ["MKL_RT"] = str(library)
    from sparse_dot_mkl import dot_product_mkl

    return dense_hops(adjacency, dot_product_mkl, dim=dim, weights=weights, beta=beta)


def torch(adjacency: sp.csr_matrix, *, dim: int, weights: Sequence[float], beta: float) -> Embed:
    """The same with the product of PyTorch's sparse CSR tensors (OMP_NUM_THREADS threads)."""
    import torch as package

    matrices: dict[int, Any] = {}

    def product(A: sp.csr_matrix, N: NDArray[np.float32]) -> NDArray[np.float32]:
        if id(A) not in matrices:  # converted once, without a copy
            parts = map(package.from_numpy, (A.indptr, A.indices, A.data))
            matrices[id(A)] = package.sparse_csr_tensor(*parts, size=A.shape)
        with package.inference_mode():
            return np.asarray((matrices[id(A)] @ package.from_numpy(N)).numpy())

    return dense_hops(adjacency, product, dim=dim, weights=weights, beta=beta)


def dense_hops(
    adjacency: sp.csr_matrix,
    product: Callable[[sp.csr_matrix, NDArray[np.float32]], NDArray[np.float32]],
    *,
    dim: int,
    weights: Sequence[float],
    beta: float,
) -> Embed:
    """Algorithm 1 with dense n x dim matrices, float32, and `product` for A @ N."""
    A = transition(adjacency, np.float32)
    L = degree_power(adjacency, beta).astype(np.float32)

    def embed() -> NDArray[Any]:
        N = L[:, None] * very_sparse(len(L), dim)
        total = np.zeros_like(N)
        for weight in weights:
            N = product(A, N)
            if weight:
                total += np.float32(weight) * N
        return total

    return embed


def very_sparse(nodes: int, dim: int) -> NDArray[np.float32]:
    """R with s = sqrt(nodes) as a dense matrix; only its nonzeros are drawn."""
    rng, s = np.random.default_rng(SEED), np.sqrt(nodes)
    R = np.zeros((nodes, dim), np.float32)
    count = rng.binomial(R.size, 1 / s)
    values = np.sqrt(s) * rng.choice(np.array([-1, 1], np.float32), count)
    R.ravel()[rng.integers(0, R.size, count)] = values
    return R
