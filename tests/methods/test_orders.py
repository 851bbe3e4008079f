"""Cached orders: other weights cost one sum, and give the bytes of a full run."""

import numpy as np
import pytest

from example_graphs import random_example, skewed_example
from hopvec import Graph, MemoryLimitError, ParameterError
from hopvec.engine import slab
from one_pass import one_pass

SUMS = [
    {"weights": (0, 0, 1, 4)},
    {"weights": (1, -0.5, 0, 2)},
    {"weights": (0, 0, 0, 1), "self_weight": 0.5},
    {"weights": (0, 3)},
]
GRAPHS = {
    "weighted": skewed_example(700, 3000, weighted=True, seed=1),
    "isolated nodes": random_example(700, 2500, seed=2, isolated=5),
    "directed": skewed_example(700, 3000, weighted=True, directed=True, seed=3),
}


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("normalize", ["none", "authors", "full"])
def test_a_sum_of_cached_orders_is_the_embedding_byte_for_byte(graph, precision, normalize):
    graph = GRAPHS[graph].graph()
    made = one_pass(dim=40, beta=-0.6, sparsity=3, precision=precision, threads=2)
    orders = made.orders(graph, which=range(5))
    for sums in SUMS:
        method = one_pass(
            dim=40, beta=-0.6, sparsity=3, precision=precision, normalize=normalize, **sums
        )
        expected = method.embed(graph)
        kept = orders.embed(method)
        assert kept.vectors.tobytes() == expected.vectors.tobytes()
        assert kept.parameters == expected.parameters
        assert kept.graph == expected.graph


def test_they_are_compressed_like_an_embedding():
    graph = GRAPHS["isolated nodes"].graph()
    orders = one_pass(dim=12, oversample=3, weights=(0, 1, 1)).orders(graph)
    for sums in ({"weights": (0, 1, 3)}, {"weights": (0, 0, 1), "spectrum": 0.5}):
        method = one_pass(dim=12, oversample=3, **sums)
        kept, expected = orders.embed(method), method.embed(graph)
        assert kept.vectors.tobytes() == expected.vectors.tobytes()
        assert kept.fitted_state.statistics.components.basis.shape == (36, 12)


def test_other_weights_need_no_hops(monkeypatch):
    graph = GRAPHS["weighted"].graph()
    orders = one_pass(dim=32, weights=(0, 0, 1, 1)).orders(graph)

    def fail(*_):
        raise AssertionError("a hop")

    for name in ("draw", "first_hop", "hop"):
        monkeypatch.setattr(slab._native, name, fail)
    for alpha_4 in (0.125, 4.0, 64.0):
        orders.embed(one_pass(dim=32, weights=(0, 0, 1, alpha_4)))
    with pytest.raises(AssertionError, match="a hop"):
        one_pass(dim=32, weights=(0, 0, 1, 4.0)).embed(graph)


def test_by_default_the_orders_with_a_weight_are_cached():
    orders = one_pass(dim=16, weights=(0, 0, 1, 4), self_weight=0).orders(
        GRAPHS["weighted"].graph()
    )
    assert orders.available == {3, 4}
    assert orders.nbytes == 2 * 700 * 64


def test_an_order_that_is_not_cached_is_rejected_by_number():
    orders = one_pass(dim=16, weights=(0, 0, 1)).orders(GRAPHS["weighted"].graph())
    with pytest.raises(ParameterError, match="order 2 has a weight, but the cached orders are 3"):
        orders.embed(one_pass(dim=16, weights=(0, 1, 1)))


def test_a_method_with_other_orders_is_rejected_with_the_difference():
    orders = one_pass(dim=16, beta=-0.5).orders(GRAPHS["weighted"].graph())
    with pytest.raises(ParameterError, match=r"computed with beta=-0.5, got 0.25\. Only weights,"):
        orders.embed(one_pass(dim=16))


@pytest.mark.parametrize("which", [[], [-1], [33], [1.5], ["3", 3]])
def test_invalid_orders_are_rejected(which):
    with pytest.raises(ParameterError, match="which must hold integers from 0 to 32"):
        one_pass(dim=16).orders(GRAPHS["weighted"].graph(), which=which)


def test_orders_beyond_the_memory_limit_are_rejected_before_the_work():
    graph = GRAPHS["weighted"].graph()
    method = one_pass(dim=64, weights=(0, 0, 1, 4))
    least = one_pass(dim=64, weights=(0, 0, 1, 4), memory=1 << 30).plan(graph).bytes.total
    one_pass(dim=64, weights=(0, 0, 1, 4), memory=least).orders(graph)
    with pytest.raises(MemoryLimitError, match="2 orders of 700 nodes and 64 columns do not fit"):
        one_pass(dim=64, weights=(0, 0, 1, 4), memory=least - 1).orders(graph)
    assert method.orders(graph).nbytes <= least


def test_nodes_without_edges_cause_a_warning_as_in_embed(caplog):
    graph = Graph.from_edges([0, 1], [1, 2], nodes=5)
    orders = one_pass(dim=8).orders(graph)
    caplog.clear()
    vectors = orders.embed(one_pass(dim=8)).vectors
    assert "Zero vectors: 2 of 5 nodes" in caplog.text
    assert not np.any(vectors[3:])


def test_computing_them_reports_progress():
    reported = []
    one_pass(dim=64).orders(GRAPHS["weighted"].graph(), progress=lambda *at: reported.append(at))
    assert reported == [(1, 4), (2, 4), (3, 4), (4, 4)]
