"""Graphs of igraph and PyTorch Geometric."""

import importlib
import sys
from types import SimpleNamespace

import igraph
import numpy as np
import pytest

from hopvec import FastRP, Graph, GraphError, MissingExtraError


class Tensor:
    """The part of a tensor on another device that hopvec uses; torch is too large for the tests."""

    def __init__(self, values, device="gpu"):
        self.values, self.device = np.array(values), device
        self.shape, self.dtype = self.values.shape, f"torch.{self.values.dtype}"

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.values, "cpu")

    def __array__(self, dtype=None, copy=None):
        assert self.device == "cpu"
        return self.values


def data(edge_index, **attributes):
    """A Data object, whose missing attributes are None."""
    given = {"edge_weight": None, "num_nodes": None, **attributes}
    return SimpleNamespace(edge_index=Tensor(edge_index), **given)


PATH = [[0, 1, 1, 2], [1, 0, 2, 1]]


def test_igraph_vertices_without_names_are_numbered():
    graph = Graph.from_igraph(igraph.Graph(4, [(0, 1), (1, 2), (2, 2)]))
    assert graph.ids.to_pylist() == [0, 1, 2, 3]
    assert (graph.edges, graph.loops, graph.isolated, graph.directed) == (3, 1, 1, False)


def test_igraph_names_weights_and_direction_are_preserved():
    original = igraph.Graph(3, [(0, 1), (0, 1), (2, 0)], directed=True)
    original.vs["name"] = ["z", "a", "m"]
    original.es["weight"] = [1, 2, 4]
    original.es["km"] = [8, 8, 8]
    graph = Graph.from_igraph(original)
    assert graph.ids.to_pylist() == ["z", "a", "m"]
    assert graph.to_scipy().toarray().tolist() == [[0, 3, 0], [0, 0, 0], [4, 0, 0]]
    assert Graph.from_igraph(original, weight="km").volume == 24


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ["a", "a", "b"]}, r"the id 'a' occurs more than once"),
        ({"names": ["a", None, "b"]}, r"entry 2: there is no id"),
        ({"weights": [1, None]}, r"edge 2 \(1 - 2\): the weight nan is not allowed"),
        ({"weights": [1, -1]}, r"edge 2 \(1 - 2\): the weight -1.* is not allowed"),
    ],
)
def test_an_invalid_igraph_graph_is_refused(change, message):
    original = igraph.Graph(3, [(0, 1), (1, 2)])
    if "names" in change:
        original.vs["name"] = change["names"]
    if "weights" in change:
        original.es["weight"] = change["weights"]
    with pytest.raises(GraphError, match=message):
        Graph.from_igraph(original)


def test_an_empty_igraph_graph_is_refused():
    with pytest.raises(GraphError, match="it has no nodes"):
        Graph.from_igraph(igraph.Graph())


def test_both_directions_of_an_edge_index_are_one_edge():
    graph = Graph.from_torch_geometric(data(PATH, num_nodes=4))
    assert (graph.edges, graph.volume, graph.isolated) == (2, 4, 1)
    assert Graph.from_torch_geometric(np.array(PATH)).nodes == 3


def test_edge_weights_are_used():
    weights = Tensor([[2.0], [2.0], [3.0], [3.0]])
    graph = Graph.from_torch_geometric(data(PATH, edge_weight=weights))
    assert graph.to_scipy().toarray().tolist() == [[0, 2, 0], [2, 0, 3], [0, 3, 0]]


@pytest.mark.parametrize("weights", [[2.0], [[2.0]]])
def test_a_single_edge_may_have_a_weight(weights):
    one = data([[0], [1]], edge_weight=Tensor(weights))
    assert Graph.from_torch_geometric(one, directed=True).volume == 2


def test_an_edge_index_with_one_direction_needs_directed_or_symmetrize():
    one_way = data([[0, 1], [1, 2]])
    with pytest.raises(GraphError, match=r"from_torch_geometric\(data, directed=True\).*symmetri"):
        Graph.from_torch_geometric(one_way)
    assert Graph.from_torch_geometric(one_way, directed=True).edges == 2
    assert Graph.from_torch_geometric(one_way, symmetrize=True).volume == 4


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (data([[0, 1], [1, 0], [2, 2]]), r"integers in the shape \[2, edges\], got .*\[3, 2\]"),
        (data([[0.5], [1.0]]), r"edge_index must hold integers .* got float64"),
        (data([[0, 1], [1, 7]], num_nodes=3), r"edge 2 \(1 - 7\) is out of range; with num_nodes"),
        (data([[0, -1], [1, 0]]), r"edge 2 \(-1 - 0\) is out of range"),
        (data(PATH, edge_weight=Tensor([1.0])), r"edge_weight must contain one number per edge: 4"),
        (data(np.zeros((2, 0), int)), r"no rows|empty"),
        (
            SimpleNamespace(edge_index=None),
            r"no edge_index\. If a transform such as ToSparseTensor",
        ),
        (SimpleNamespace(edge_types=[]), r"several kinds of nodes: .*from_bipartite.*AddFastRP"),
    ],
)
def test_an_invalid_edge_index_is_refused(thing, message):
    for convert in (Graph.from_torch_geometric, FastRP(dim=8).embed):
        with pytest.raises(GraphError, match=message):
            convert(thing)


def test_the_transform_names_the_package_that_it_needs(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "hopvec.torch_geometric", raising=False)
    with pytest.raises(MissingExtraError, match="pip install torch_geometric"):
        importlib.import_module("hopvec.torch_geometric")


def test_a_method_embeds_the_graphs_of_all_libraries():
    def vectors(graph):
        return FastRP(dim=8, seed=1).embed(graph).vectors

    expected = vectors(Graph.from_edges([0, 1], [1, 2], nodes=3))
    for same in (igraph.Graph(3, [(0, 1), (1, 2)]), data(PATH), Tensor(PATH)):
        np.testing.assert_array_equal(vectors(same), expected)
