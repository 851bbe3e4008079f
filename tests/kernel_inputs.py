"""Random CSR matrices and blocks of columns, in the layout that the native kernels take."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from hopvec import _native

STORAGE = {"float32": np.float32, "float16": np.float16}
ROUNDING = {"float32": 1e-6, "float16": 6e-4}  # of a stored row, relative to its terms
STOP = _native.Stop()

both_precisions = pytest.mark.parametrize("precision", ["float32", "float16"])
weighted_or_not = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
threads_1_and_3 = pytest.mark.parametrize("threads", [1, 3])


@cache
def rows_of(nodes, entries, *, weighted=False, seed=0, symmetric=False):
    """indptr, indices and weights of a random matrix S whose first row is its longest."""
    random = np.random.default_rng(seed)
    ends = (nodes * random.random((2, entries)) ** 2).astype(np.int64)
    matrix = sp.csr_array((np.ones(entries), ends), shape=(nodes, nodes))
    matrix = matrix + matrix.T if symmetric else matrix
    matrix.data = random.lognormal(size=matrix.nnz)
    matrix = (matrix + matrix.T if symmetric else matrix).tocsr()
    matrix.sort_indices()
    weights = matrix.data.astype(np.float32) if weighted else None
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), weights


def adjacency(indptr, indices, weights, **options):
    """The native adjacency A = D^-1 S."""
    degrees = _native.degrees(indptr, weights)
    inverse = np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    return _native.Adjacency(indptr, indices, weights, inverse.astype(np.float32), **options)


@cache
def random_block(nodes, precision, seed=0):
    columns = 64 // STORAGE[precision]().itemsize
    block = np.random.default_rng(seed).normal(size=(nodes, columns)).astype(STORAGE[precision])
    block.flags.writeable = False
    return block


def as_bytes(block):
    return block.reshape(-1).view(np.uint8)


def as_rows(block, precision, nodes):
    return block.view(STORAGE[precision]).reshape(nodes, -1)


def assert_rows_agree(got, expected, size, precision):
    """`size` is the sum of absolute terms: what the row would be without cancellation."""
    assert (np.abs(got - expected) <= ROUNDING[precision] * size + 1e-30).all()
