"""The vectors of trials: the same bytes as embed, with cached orders."""

import pytest

from example_graphs import skewed_example
from hopvec import DeepWalk, FastRP, GraphError
from hopvec.engine import slab
from hopvec.progress import no_progress
from hopvec.tuning import trial_vectors
from hopvec.tuning.trial_vectors import TrialVectors
from one_pass import one_pass

GRAPH = skewed_example(700, 3000, weighted=True, seed=1).graph()


@pytest.fixture
def hops(monkeypatch):
    """Counts the hops of slabs."""
    made = []
    for name in ("first_hop", "hop"):
        kernel = getattr(slab._native, name)
        monkeypatch.setattr(
            slab._native, name, lambda *given, kernel=kernel: made.append(1) or kernel(*given)
        )
    return made


def same(vectors, method):
    return (
        vectors.embed(method, no_progress).vectors.tobytes()
        == method.embed(GRAPH).vectors.tobytes()
    )


@pytest.mark.parametrize("memory", [None, "1GB", 300_000])
def test_vectors_are_those_of_embed_in_any_order_and_with_any_memory(memory):
    vectors = TrialVectors(GRAPH)
    for weights in ((0, 0, 1, 4), (0, 0, 1, 0.5), (1, 0, 1), (0, 0, 1, 4)):
        for beta in (-0.5, 0.25):
            for normalize in ("none", "authors", "full"):
                method = one_pass(
                    dim=40, weights=weights, beta=beta, normalize=normalize, memory=memory
                )
                assert same(vectors, method)


def test_a_trial_that_changes_only_the_sum_needs_no_hop(hops):
    vectors = TrialVectors(GRAPH)
    vectors.embed(one_pass(dim=32, weights=(0, 0, 1, 1)), no_progress)
    assert len(hops) == 2 * 4  # two slabs, four orders
    hops.clear()
    for alpha_4 in (0.125, 4.0, 64.0):
        for normalize in ("none", "authors", "full"):
            method = one_pass(
                dim=32, weights=(0, 0, 1, alpha_4), normalize=normalize, threads=1, memory="1GB"
            )
            vectors.embed(method, no_progress)
    assert hops == []


def test_another_beta_has_its_own_orders_and_the_first_ones_stay_cached(hops):
    vectors = TrialVectors(GRAPH)
    for beta in (0.1, 0.2, 0.1, 0.2):
        vectors.embed(one_pass(dim=16, weights=(0, 1), beta=beta), no_progress)
    assert len(hops) == 2 * 2


def test_a_missing_order_is_computed_along_with_the_cached_ones(hops):
    vectors = TrialVectors(GRAPH)
    for weights in ((0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 2), (0, 2, 1)):
        vectors.embed(one_pass(dim=16, weights=weights), no_progress)
    assert len(hops) == 3 + 4


def test_the_least_recently_used_orders_are_dropped(hops, monkeypatch):
    monkeypatch.setattr(trial_vectors, "MAX_CACHED", 2)
    vectors = TrialVectors(GRAPH)
    for beta in (0.1, 0.2, 0.1, 0.3, 0.1):
        vectors.embed(one_pass(dim=16, weights=(0, 1), beta=beta), no_progress)
    assert len(hops) == 2 * 3
    vectors.embed(one_pass(dim=16, weights=(0, 1), beta=0.2), no_progress)
    assert len(hops) == 2 * 4


def test_orders_are_dropped_to_respect_the_memory_limit(hops):
    def method(beta, memory):
        return one_pass(dim=16, weights=(0, 1), beta=beta, memory=memory)

    one = method(0, "1GB").plan(GRAPH).bytes.total  # with room for one set of orders
    vectors = TrialVectors(GRAPH)
    for beta in (0.1, 0.2, 0.1):
        vectors.embed(method(beta, one), no_progress)
    assert len(hops) == 2 * 3


def test_without_room_for_orders_every_trial_starts_from_the_graph_and_warns(hops, caplog):
    method = one_pass(dim=64, weights=(0, 0, 1, 4))
    least = method.plan(GRAPH).bytes.total
    method.set_params(memory=least - 1)
    vectors = TrialVectors(GRAPH)
    for _ in range(2):
        vectors.embed(method, no_progress)
    assert len(hops) == 2 * 2 * 4 * 4  # trials, passes, slabs, orders
    assert caplog.text.count("do not fit in memory") == 1
    assert "Every trial starts from the graph" in caplog.text


def test_methods_without_orders_are_run_directly():
    method = DeepWalk(dim=8, walks=1, length=5)
    assert same(TrialVectors(GRAPH), method)


def test_a_graph_is_validated_by_the_method():
    directed = skewed_example(50, 100, directed=True).graph()
    refusing = type("Undirected", (FastRP,), {"_supports_directed": False})
    with pytest.raises(GraphError, match="defined for undirected graphs"):
        TrialVectors(directed).embed(refusing(), no_progress)
