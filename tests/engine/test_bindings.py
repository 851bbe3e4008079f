"""Native objects that hold pointers to numpy arrays keep them alive, and never copy them."""

import sys

import numpy as np
import pytest

from hopvec import _native

NODES = 10


def csr():
    indptr = np.arange(NODES + 1, dtype=np.int64)
    indices = np.zeros(NODES, np.int32)
    return indptr, indices, np.ones(NODES, np.float32)


def sink_arrays():
    return {
        "next": np.zeros(64 * NODES, np.uint8),
        "squares": np.zeros(NODES),
        "sum": np.zeros((NODES, 16), np.float32),
        "rows": np.arange(NODES, dtype=np.int32),
        "scale": np.ones(NODES, np.float32),
    }


def feature_arrays():
    return {
        "number": np.ones((NODES, 2), np.float32),
        "factor": np.ones(2, np.float32),
        "shift": np.ones(2, np.float32),
        "number_key": np.ones(2, np.uint64),
        "category": np.ones((NODES, 1), np.uint64),
        "rows": np.arange(NODES, dtype=np.int32),
    }


def assert_kept_alive(make, arrays):
    before = [sys.getrefcount(array) for array in arrays]
    made = make()
    assert [sys.getrefcount(array) for array in arrays] == [count + 1 for count in before]
    del made
    assert [sys.getrefcount(array) for array in arrays] == before


def test_an_adjacency_keeps_its_arrays():
    arrays = (*csr(), np.ones(NODES, np.float32))
    assert_kept_alive(lambda: _native.Adjacency(*arrays), arrays)


def test_a_sink_keeps_its_arrays():
    arrays = sink_arrays()
    assert_kept_alive(lambda: _native.Sink(**arrays), arrays.values())


def test_a_sink_keeps_its_fused_orders():
    fused = ((np.zeros(64 * NODES, np.uint8), np.ones(NODES, np.float32), 0.5),)
    assert_kept_alive(lambda: _native.Sink(fused=fused), [fused])


def test_features_keep_their_arrays():
    arrays = feature_arrays()
    make = lambda: _native.Features(seed=1, weight=1.0, **arrays)  # noqa: E731
    assert_kept_alive(make, arrays.values())


def test_an_edge_sampler_keeps_its_indptr_and_indices():
    arrays, ones = csr(), np.ones(NODES)
    make = lambda: _native.EdgeSampler(*arrays, ones, ones, 1, _native.Stop())  # noqa: E731
    assert_kept_alive(make, arrays[:2])


@pytest.mark.parametrize("wrong", range(4))
def test_an_adjacency_rejects_arrays_that_it_would_have_to_copy(wrong):
    arrays = [*csr(), np.ones(NODES, np.float32)]
    arrays[wrong] = arrays[wrong].astype(np.float64)
    with pytest.raises(TypeError):
        _native.Adjacency(*arrays)


@pytest.mark.parametrize("wrong", sink_arrays())
def test_a_sink_rejects_arrays_that_it_would_have_to_copy(wrong):
    arrays = sink_arrays()
    arrays[wrong] = arrays[wrong].astype(np.int16)
    with pytest.raises(TypeError):
        _native.Sink(**arrays)


@pytest.mark.parametrize("wrong", feature_arrays())
def test_features_reject_arrays_that_they_would_have_to_copy(wrong):
    arrays = feature_arrays()
    arrays[wrong] = arrays[wrong].astype(np.int16)
    with pytest.raises(TypeError):
        _native.Features(seed=1, weight=1.0, **arrays)


def test_at_most_two_orders_can_be_fused():
    order = (np.zeros(64 * NODES, np.uint8), None, 0.5)
    with pytest.raises(ValueError, match="at most two orders"):
        _native.Sink(fused=(order, order, order))
