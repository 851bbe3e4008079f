"""Bipartite graphs, whose edges join two kinds of nodes."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hopvec import FormatError, Graph, GraphError, ParameterError, read_graph
from hopvec.evaluate import hold_out

USERS, ITEMS = ["ann", "ann", "bob", "cem"], ["tea", "jam", "tea", "rum"]


def test_it_equals_the_graph_of_its_edges_and_has_two_sides():
    graph = Graph.from_bipartite(USERS, ITEMS, [1, 2, 3, 4])
    plain = Graph.from_edges(USERS, ITEMS, [1, 2, 3, 4])
    assert graph.ids.equals(plain.ids)
    np.testing.assert_array_equal(graph.indices, plain.indices)
    assert graph.sources.to_pylist() == ["ann", "bob", "cem"]
    assert graph.targets.to_pylist() == ["jam", "rum", "tea"]
    assert graph.describe()["sides"] == {"sources": 3, "targets": 3}
    assert "sides" not in plain.describe()


def test_an_id_on_both_sides_is_refused_by_name():
    with pytest.raises(GraphError, match="The id 2 is on both sides of the bipartite graph"):
        Graph.from_bipartite([1, 2], [2, 3])


def test_prefixes_distinguish_equal_ids():
    graph = Graph.from_bipartite([1, 1, 2], [1, 2, 2], prefixes=("u", "i"))
    assert graph.ids.to_pylist() == ["i1", "i2", "u1", "u2"]
    assert graph.edges == 3
    mixed = Graph.from_bipartite([5, 5], ["5", "x"], prefixes=("user ", ""))
    assert mixed.ids.to_pylist() == ["5", "user 5", "x"]


@pytest.mark.parametrize("prefixes", [("u", "u"), "ui", ("u",), (1, 2)])
def test_prefixes_must_be_two_different_strings(prefixes):
    with pytest.raises(ParameterError, match="prefixes must be two different strings"):
        Graph.from_bipartite([1], [1], prefixes=prefixes)


def test_the_sides_of_another_graph_are_refused_with_advice():
    with pytest.raises(GraphError, match=r"make it with Graph\.from_bipartite"):
        Graph.from_edges([0], [1]).sources  # noqa: B018


def test_holding_out_edges_preserves_the_sides():
    graph = Graph.from_bipartite(USERS, ITEMS)
    held_out = hold_out(graph, count=1, connected=False)
    assert held_out.training.targets.equals(graph.targets)


class TestFiles:
    @pytest.mark.parametrize("memory", [None, "100MB"])
    def test_edge_lists_are_read_with_their_sides(self, tmp_path, memory):
        lines = "".join(f"{user},{item}\n" for user, item in zip(USERS, ITEMS, strict=True))
        (tmp_path / "links.csv").write_text("user,item\n" + lines)
        graph = read_graph(tmp_path / "links.csv", bipartite=True, header=True, memory=memory)
        assert graph.targets.to_pylist() == ["jam", "rum", "tea"]
        assert not graph.directed

    def test_prefixes_make_strings_of_integers(self, tmp_path):
        (tmp_path / "links.txt").write_text("1 1\n1 2\n2 2\n")
        with pytest.raises(GraphError, match=r"links.txt: The id 1 is on both sides"):
            read_graph(tmp_path / "links.txt", bipartite=True)
        graph = read_graph(tmp_path / "links.txt", bipartite=True, prefixes=("u", "i"))
        assert graph.sources.to_pylist() == ["u1", "u2"]
        table = pa.table({"source": [1, 2], "target": ["a", "b"]})
        pq.write_table(table, tmp_path / "links.parquet")
        with pytest.raises(GraphError, match=r"bipartite=True and prefixes=\('user:', 'item:'\)"):
            read_graph(tmp_path / "links.parquet", bipartite=True)
        graph = read_graph(tmp_path / "links.parquet", bipartite=True, prefixes=("u", ""))
        assert graph.targets.to_pylist() == ["a", "b"]

    def test_an_empty_id_is_refused_with_its_line_despite_prefixes(self, tmp_path):
        (tmp_path / "links.csv").write_text("source,target\n1,2\n,3\n")
        with pytest.raises(GraphError, match="line 3: the source is empty"):
            read_graph(tmp_path / "links.csv", bipartite=True, prefixes=("u", "i"))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"directed": True}, "are undirected; leave directed=True out"),
            ({"nodes": ["x"]}, "is on neither side of a bipartite graph; leave nodes= out"),
            ({"prefixes": ("u", "u")}, "prefixes must be two different strings"),
            ({"bipartite": False, "prefixes": ("u", "i")}, "prefixes= needs bipartite=True"),
        ],
    )
    def test_options_that_do_not_apply_are_refused(self, tmp_path, options, message):
        (tmp_path / "links.txt").write_text("a b\n")
        with pytest.raises(ParameterError, match=message):
            read_graph(tmp_path / "links.txt", **{"bipartite": True} | options)

    def test_a_matrix_is_refused(self, tmp_path):
        text = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"
        (tmp_path / "matrix.mtx").write_text(text)
        with pytest.raises(FormatError, match="bipartite=True is for lists of edges"):
            read_graph(tmp_path / "matrix.mtx", bipartite=True)


def test_the_repr_says_bipartite():
    graph = Graph.from_bipartite(["ann"], ["tea"])
    assert repr(graph) == "Graph(2 nodes, 1 edge, bipartite, undirected, unweighted)"
