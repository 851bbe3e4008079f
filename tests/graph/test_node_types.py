"""Types of nodes in graphs and embeddings."""

import numpy as np
import pyarrow as pa
import pytest

from hopvec import Embedding, FastRP, Graph, ParameterError, evaluate
from hopvec.graph.node_types import types_of_prefixes

IDS = pa.array(["a", "b", "c", "d"])
VECTORS = np.float32([[1, 0], [2, 1], [1, 1], [0, 1]])


def test_types_are_given_by_id_or_in_the_order_of_ids():
    graph = Graph.from_edges(["a", "a"], ["b", "c"])
    by_id = graph.with_node_types({"c": "y", "a": "x"})
    assert by_id.node_types.to_pylist() == ["x", None, "y"]
    assert graph.with_node_types(["x", "", "y"]).node_types.equals(by_id.node_types)
    assert graph.node_types is None
    assert by_id.describe()["types"] == {"x": 1, "y": 1}
    assert by_id.describe()["without_type"] == 1


def test_the_same_types_are_encoded_alike():
    expected = pa.DictionaryArray.from_arrays(
        pa.array([1, 0, None, 1], pa.int32()), pa.array(["x", "é"], pa.large_string())
    )
    for types in (
        ["é", "x", None, "é"],
        pa.array(["é", "x", "", "é"]),
        pa.chunked_array([["é", "x"], [None, "é"]]),
        pa.DictionaryArray.from_arrays([3, 0, 1, 2], ["x", "", "é", "é"]),
    ):
        assert Embedding(VECTORS, IDS, types=types).types.equals(expected)


def test_types_that_are_all_missing_are_no_types():
    assert Embedding(VECTORS, IDS, types=[None, "", None, ""]).types is None


def test_wrong_types_are_refused():
    with pytest.raises(ParameterError, match="one type per node: 4 nodes, got 3 types"):
        Embedding(VECTORS, IDS, types=["x", "y", "x"])
    with pytest.raises(ParameterError, match="types must be strings"):
        Graph.from_edges([0], [1]).with_node_types([["x"], ["y"]])


@pytest.mark.parametrize(
    ("prefixes", "types"),
    [
        (("user:", "item:"), ["user", "item"]),
        (("user ", "item_"), ["user", "item"]),
        (("u::", ""), ["u", ""]),
        (("a:", "a/"), ["a:", "a/"]),
    ],
)
def test_prefixes_stand_for_types(prefixes, types):
    assert types_of_prefixes(prefixes) == types


def test_an_embedding_has_the_types_of_its_graph():
    graph = Graph.from_bipartite([1, 1, 2], [1, 2, 2], prefixes=("user:", "item:"))
    embedding = FastRP(dim=8).embed(graph)
    assert embedding.types.equals(graph.node_types)
    assert embedding.types.to_pylist() == ["item", "item", "user", "user"]
    assert embedding.graph["types"] == {"item": 2, "user": 2}
    assert embedding.graph["prefixes"] == ["user:", "item:"]


def test_types_do_not_change_vectors():
    graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    typed = graph.with_node_types(["x", "y", "x"])
    method = FastRP(dim=8)
    assert (method.embed(typed).vectors == method.embed(graph).vectors).all()


def test_new_nodes_have_the_types_of_the_new_edges():
    graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    new = Graph.from_edges(["d", "e"], ["a", "b"]).with_node_types({"d": "y", "e": "z", "a": "x"})
    method = FastRP(dim=8, passes=1)
    embedded = method.embed_new(new, graph=graph, like=method.embed(graph))
    assert dict(zip(embedded, embedded.types.to_pylist(), strict=True)) == {"d": "y", "e": "z"}


def test_the_training_graph_keeps_types():
    source, target = zip(*((u, v) for u in range(12) for v in range(u)), strict=True)
    relation = ["even" if (u + v) % 2 else "odd" for u, v in zip(source, target, strict=True)]
    for more in ({}, {"relation": relation}):
        graph = Graph.from_edges(source, target, **more).with_node_types(["x", "y"] * 6)
        training = evaluate.hold_out(graph, negatives=0).training
        assert training.node_types.equals(graph.node_types)


class TestNearest:
    embedding = Embedding(VECTORS, IDS, types=["x", "y", "x", "y"])

    def test_only_nodes_of_the_types_are_neighbors(self):
        assert [id for id, _ in self.embedding.nearest("a", types="y")] == ["b", "d"]
        assert [id for id, _ in self.embedding.nearest("a", types=["x"])] == ["c"]
        assert len(self.embedding.nearest("a", types=["x", "y"])) == 3

    def test_types_limit_among(self):
        assert [id for id, _ in self.embedding.nearest("a", among=["c", "d"], types="y")] == ["d"]

    def test_types_of_another_embedding_are_its_own(self):
        other = Embedding(VECTORS, pa.array(["p", "q", "r", "s"]), types=["x", "x", "z", "z"])
        found = self.embedding.nearest("a", among=other, types="z")
        assert [id for id, _ in found] == ["r", "s"]

    def test_all_nodes_have_neighbors_of_the_types(self):
        found = self.embedding.nearest_all(1, types="x")
        assert found["neighbor"].to_pylist() == ["c", "c", "a", "c"]

    def test_embeddings_are_compared_by_type(self):
        found = evaluate.neighbors({"one": self.embedding}, ["a"], types="y").found["a"]["one"]
        assert [id for id, _ in found] == ["b", "d"]

    def test_an_unknown_type_is_an_error_that_lists_the_types(self):
        with pytest.raises(ParameterError, match="no type 'z'; the types are x, y"):
            self.embedding.nearest("a", types=["x", "z"])
        with pytest.raises(ParameterError, match="none are known here"):
            Embedding(VECTORS, IDS).nearest("a", types="x")

    @pytest.mark.parametrize("option", ["mutual", "approximate"])
    def test_searches_of_all_nodes_refuse_types(self, option):
        with pytest.raises(ParameterError, match="among= or types="):
            self.embedding.nearest_all(1, types="x", **{option: True})
