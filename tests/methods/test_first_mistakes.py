"""Common first mistakes of users, and the messages they get."""

import inspect

import numpy as np
import pandas as pd
import pytest

import hopvec
from hopvec import FastRP, Graph, GraphError, ParameterError
from one_pass import one_pass


@pytest.fixture
def graph():
    return Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])


@pytest.mark.parametrize(
    "thing",
    [
        ("graph", "labels"),
        {"a": "b"},
    ],
    ids=["tuple", "dict"],
)
def test_other_objects_are_rejected_with_advice(thing):
    with pytest.raises(GraphError, match=r"Expected a graph, got .* Graph\.from_edges"):
        FastRP(dim=4).embed(thing)


def test_an_empty_list_of_pairs_is_an_empty_graph():
    with pytest.raises(GraphError, match="The graph is empty: there are no edges in the list"):
        FastRP(dim=4).embed([])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [0, 1], "b": [1, 0]}),
        pd.DataFrame(np.eye(2), ["x", "y"], ["u", "w"]),
        pd.DataFrame(np.eye(2)),
        pd.DataFrame(np.eye(7)),
        pd.DataFrame(),
    ],
    ids=["unnamed ends", "matrix without ids", "edges or matrix", "matrix", "empty"],
)
def test_a_table_without_columns_named_like_the_ends_of_edges_is_rejected(frame):
    with pytest.raises(GraphError, match=r"Expected a graph, got .* Graph\.from_arrow.*from_scipy"):
        FastRP(dim=4).embed(frame)


@pytest.mark.parametrize("ids", [["u", "v"], ["ann", "bob"], [20, 10]])
def test_a_frame_whose_index_equals_its_columns_is_an_adjacency_matrix(ids):
    embedding = FastRP(dim=4).embed(pd.DataFrame([[0, 3], [3, 0]], ids, ids))
    assert embedding.ids.to_pylist() == ids
    assert embedding.graph["volume"] == 6


def test_estimate_takes_the_same_graphs_as_embed(graph):
    adjacency = graph.to_scipy()
    same = Graph.from_scipy(adjacency)
    assert (
        hopvec.estimate(adjacency, FastRP(dim=4)).bytes
        == hopvec.estimate(same, FastRP(dim=4)).bytes
    )


def test_estimate_rejects_swapped_arguments(graph):
    with pytest.raises(ParameterError, match="takes a graph and a method"):
        hopvec.estimate(FastRP(dim=4), graph)


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_a_flag_is_true_or_false(value):
    with pytest.raises(ParameterError, match="directed must be True or False, got"):
        Graph.from_edges(["a"], ["b"], directed=value)
    with pytest.raises(ParameterError, match="symmetrize must be True or False, got"):
        Graph.from_scipy(np.eye(2), symmetrize=value)


def test_iterating_over_an_embedding_yields_its_ids(graph):
    assert list(FastRP(dim=4).embed(graph)) == ["a", "b", "c", "d"]


def test_no_cosine_is_above_one():
    ring = np.arange(500)
    embedding = FastRP(dim=256, self_weight=1).embed(
        Graph.from_edges(ring, np.roll(ring, 1), nodes=600)
    )
    similarity = embedding.nearest_rows(range(600), 20).similarity
    assert similarity.max() <= 1
    assert similarity.min() >= -1


@pytest.mark.parametrize("normalize", ["none", "authors", "full"])
def test_nodes_with_an_empty_row_of_r_keep_a_zero_vector(normalize):
    method = FastRP(dim=16, self_weight=1, sparsity=100, normalize=normalize, passes=1)
    graph = Graph.from_edges([0, 1], [1, 2], nodes=50)
    drawn = one_pass(dim=16, weights=[0], self_weight=1, sparsity=100, normalize="none", beta=0)
    empty = ~drawn.embed(graph).vectors[3:].any(axis=1)
    assert 0 < empty.sum() < 47
    np.testing.assert_array_equal(~method.embed(graph).vectors[3:].any(axis=1), empty)


def test_help_begins_with_dim_and_explains_every_parameter():
    names = list(inspect.signature(FastRP).parameters)
    assert names[0] == "dim"
    for name in names:
        assert f"    {name} : " in FastRP.__doc__
    assert "Annotated" not in str(inspect.signature(FastRP))


def test_saved_parameters_are_equal_after_loading(graph, tmp_path):
    embedding = FastRP(dim=4, weights=(0, 1)).embed(graph)
    embedding.save(tmp_path / "vectors.npz")
    assert hopvec.load(tmp_path / "vectors.npz").parameters == embedding.parameters
