"""Kernels on arrays of more than 2^31 values: sparse files that are memory-mapped, of few pages.

Offsets that are computed in 32 bits would lead to other rows, or out of the array.
"""

import sys

import numpy as np
import pytest

from hopvec import _native
from kernel_inputs import STOP, threads_1_and_3

pytestmark = pytest.mark.skipif(
    sys.platform != "linux",
    reason="it relies on sparse files, and on memory maps larger than memory",
)
DIM = 1 << 16
ROWS = (1 << 15) + 4  # of DIM values: 2^31 and a little
FAR = np.array([ROWS - 1, 0, ROWS - 2], np.int32)  # the rows that are used


@pytest.fixture
def sparse(tmp_path):
    """A function that maps a sparse file of zeros."""

    def mapped(dtype, shape):
        return np.memmap(tmp_path / f"{np.dtype(dtype)}-{shape}", dtype, "w+", shape=shape)

    return mapped


@pytest.fixture
def values():
    """Three rows of DIM values."""
    return np.random.default_rng(0).standard_normal((3, DIM)).astype(np.float32)


@pytest.fixture
def large(sparse, values):
    """A matrix of more than 2^31 values with those rows at FAR."""
    matrix = sparse(np.float32, (ROWS, DIM))
    assert matrix.size > 1 << 31
    matrix[FAR] = values
    return matrix


def numbers(count):
    return np.arange(count, dtype=np.int32)


@threads_1_and_3
def test_moments_and_standardizing(large, values, threads):
    mean = _native.moments(large, FAR, None, threads, STOP)
    assert mean.tobytes() == _native.moments(values, numbers(3), None, threads, STOP).tobytes()
    factor = np.full(DIM, 0.5)
    _native.standardize(large, FAR, mean / 3, factor, True, threads, STOP)
    _native.standardize(values, numbers(3), mean / 3, factor, True, threads, STOP)
    np.testing.assert_array_equal(large[FAR], values)


def test_the_weighted_sum_of_orders(large):
    orders = np.random.default_rng(1).standard_normal((2, DIM // 16, 3, 16)).astype(np.float32)
    cached = [order.reshape(-1).view(np.uint8) for order in orders]
    plain = np.zeros((3, DIM), np.float32)
    for matrix, rows in ((large, FAR), (plain, numbers(3))):
        _native.weighted_sum(cached, [1.0, 0.5], True, DIM // 16, False, matrix, rows, 2, STOP)
    np.testing.assert_array_equal(large[FAR], plain)


def test_nearest_rows_products_of_pairs_and_best_pairs(large, values):
    scale, index = np.ones(ROWS, np.float32), FAR.astype(np.int64)
    of_all, own = (large, scale, None, index), (values, np.ones(3, np.float32), None, None)
    rows, found = _native.top_products(of_all, of_all, None, None, 3, -np.inf, 2, STOP)
    near, expected = _native.top_products(own, own, None, None, 3, -np.inf, 2, STOP)
    np.testing.assert_array_equal(rows, FAR[near])
    np.testing.assert_array_equal(found, expected)
    products = _native.pair_products(of_all, of_all, 2, STOP)
    np.testing.assert_array_equal(products, _native.pair_products(own, own, 2, STOP))
    source, target, similarity = _native.best_pairs(
        large, scale, ROWS - 2, ROWS, 1, np.float32(-np.inf), 1, STOP
    )
    assert (source.tolist(), target.tolist()) == ([ROWS - 2], [ROWS - 1])
    np.testing.assert_allclose(similarity, values[2] @ values[0], rtol=1e-3)


@threads_1_and_3
def test_rows_that_are_far_apart(sparse, threads):
    memory = sparse(np.float32, (1 << 31) + 4096)
    strides = 4 << 30, 4  # 2^30 values from one row to the next
    apart = np.lib.stride_tricks.as_strided(memory, (3, 40), strides)
    plain = np.random.default_rng(2).standard_normal((3, 40)).astype(np.float32)
    apart[:] = plain
    for transposed, size in ((False, 40), (True, 3)):
        block = np.random.default_rng(3).standard_normal((size, 16))
        results = [
            _native.product(rows, block, transposed, threads, STOP) for rows in (apart, plain)
        ]
        np.testing.assert_array_equal(*results)
    grams = [np.zeros((40, 40)) for _ in range(2)]
    for rows, gram in zip((apart, plain), grams, strict=True):
        _native.add_gram(rows, gram, threads, STOP)
    np.testing.assert_array_equal(*grams)


def test_the_projection_to_rows_of_a_large_matrix(large):
    random = np.random.default_rng(4)
    rows, basis = (
        random.standard_normal(shape).astype(np.float32) for shape in ((3, 20), (20, 24))
    )
    plain = np.zeros((3, DIM), np.float32)
    large[FAR] = 0
    for matrix, targets in ((large, FAR), (plain, numbers(3))):
        _native.project_rows(
            *(rows, np.zeros(20), np.ones(20), basis, np.ones(24, np.float32)),
            *(None, matrix, targets, 2, STOP),
        )
    np.testing.assert_array_equal(large[FAR], plain)


@threads_1_and_3
def test_a_hop_from_a_large_block_to_rows_of_a_large_matrix(sparse, large, threads):
    columns = (1 << 27) + 8  # of 16 values
    lines, used = sparse(np.float32, (columns, 16)), np.array([0, 5, columns - 3, columns - 1])
    assert lines.size > 1 << 31
    near = np.random.default_rng(5).standard_normal((4, 16)).astype(np.float32)
    lines[used] = near
    plain = np.zeros((3, DIM), np.float32)
    for matrix, rows, block, indices in (
        (large, FAR, lines, used),
        (plain, numbers(3), near, numbers(4)),
    ):
        matrix[rows] = 0
        adjacency = _native.Adjacency(
            *(np.array([0, 2, 3, 4]), indices.astype(np.int32), None, np.ones(3, np.float32))
        )
        sink = _native.Sink(sum=matrix, rows=rows, first_column=DIM - 16, columns=16, weight=1.0)
        _native.hop(adjacency, block.reshape(-1).view(np.uint8), False, sink, threads, STOP)
    assert plain.any()
    np.testing.assert_array_equal(large[FAR], plain)


def test_entries_behind_the_first_2_to_the_31(sparse):
    first = (1 << 31) + 7
    results = []
    for start in (first, 0):
        indices = sparse(np.int32, start + 4)  # mapped, so that they are not read to be checked
        indices[start:] = [2, 0, 1, 2]
        adjacency = _native.Adjacency(
            np.array([0, 2, 3, 4]) + start, indices, None, np.ones(3, np.float32), mapped=True
        )
        lines = np.random.default_rng(6).standard_normal((3, 16)).astype(np.float32)
        to = np.zeros(3 * 64, np.uint8)
        sink = _native.Sink(next=to)
        _native.hop(adjacency, lines.reshape(-1).view(np.uint8), False, sink, 2, STOP)
        results.append(to.tobytes())
    assert results[0] == results[1]
    assert any(results[0])
