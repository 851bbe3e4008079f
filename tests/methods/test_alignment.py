"""Runs that share a fitted state: vectors of two graphs are comparable entry by entry."""

import numpy as np
import pytest

import hopvec
from example_graphs import skewed_example
from hopvec import Graph, ParameterError
from one_pass import one_pass

CASE = skewed_example(900, 6000, seed=4)
METHODS = {
    "defaults": one_pass(dim=32),
    "compressed": one_pass(dim=32, oversample=3, spectrum=0.5),
    "plain sum": one_pass(dim=32, normalize="none", beta=-0.5),
    "dense": one_pass(dim=32, projection="gaussian", normalize="orders"),
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def without_some_edges(share):
    """The same nodes without a share of the edges."""
    kept = np.random.default_rng(0).random(len(CASE.source)) >= share
    return Graph.from_edges(CASE.source[kept], CASE.target[kept], nodes=CASE.nodes)


def cosines(first, second):
    products = (first.vectors * second.vectors).sum(axis=1)
    lengths = np.linalg.norm(first.vectors, axis=1) * np.linalg.norm(second.vectors, axis=1)
    return np.divide(products, lengths, out=np.ones_like(products), where=lengths > 0)


@every_method
def test_without_a_change_the_bytes_are_the_same(method, tmp_path):
    method.embed(CASE.graph()).save(tmp_path / "old.parquet")
    old = hopvec.load(tmp_path / "old.parquet")
    again = method.embed(CASE.graph(), like=old)
    assert again.vectors.tobytes() == old.vectors.tobytes()
    assert again.parameters == old.parameters


@every_method
def test_few_changes_hardly_move_most_vectors(method):
    old = method.embed(CASE.graph())
    new = method.embed(without_some_edges(0.01), like=old)
    assert np.median(cosines(old, new)) > 0.98


def test_without_like_the_principal_components_differ():
    method = METHODS["compressed"]
    old, changed = method.embed(CASE.graph()), without_some_edges(0.05)
    alone, aligned = method.embed(changed), method.embed(changed, like=old)
    assert np.median(cosines(old, aligned)) > np.median(cosines(old, alone))


def test_the_number_of_nodes_does_not_change_r():
    old = one_pass(dim=32).embed(CASE.graph())
    more = Graph.from_edges(CASE.source, CASE.target, nodes=5 * CASE.nodes)
    new = one_pass(dim=32).embed(more, like=old)
    np.testing.assert_allclose(new.vectors[: CASE.nodes], old.vectors, rtol=0, atol=1e-5)
    assert new.fitted_state is old.fitted_state


def test_other_parameters_are_rejected_by_name():
    old = one_pass(dim=8).embed(CASE.graph())
    with pytest.raises(ParameterError) as error:
        one_pass(dim=8, beta=0.5).embed(CASE.graph(), like=old)
    assert str(error.value) == (
        "FastRP: beta is 0.5, but the embedding like= was made with 0.25. "
        "Comparable vectors need the same parameters."
    )
    one_pass(dim=8, threads=1, memory="1GB").embed(
        CASE.graph(), like=old
    )  # these do not change the vectors


def test_an_embedding_without_fitted_state_is_rejected(tmp_path):
    one_pass(dim=8).embed(CASE.graph()).save(tmp_path / "old.csv")
    with pytest.raises(
        ParameterError, match="has no fitted state, which comparable vectors must share"
    ):
        one_pass(dim=8).embed(CASE.graph(), like=hopvec.load(tmp_path / "old.csv"))


@pytest.mark.parametrize("like", [5, None])
def test_something_else_than_an_embedding_is_rejected(like):
    graph = CASE.graph()
    with pytest.raises(ParameterError, match="like= must be an Embedding, got"):
        one_pass(dim=8).embed_new(Graph.from_edges([0], [1]), graph=graph, like=like)
    if like is not None:
        with pytest.raises(ParameterError, match="like= must be an Embedding, got 5"):
            one_pass(dim=8).embed(graph, like=like)
