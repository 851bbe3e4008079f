"""Explorations, compared with plain numpy."""

import explored
import numpy as np
import pyarrow as pa
import pytest

from hopvec import Embedding, Graph, Labels, ParameterError, UnknownNodeError, recommend
from hopvec.formats import npy
from hopvec.view.explorer import Exploration
from hopvec.view.explorer.exploration import in_square, mapped

SOME = 17


def cosines(embedding, node):
    vectors = embedding.vectors.astype(np.float64)
    norms = np.linalg.norm(vectors, axis=1)
    return vectors @ vectors[node] / np.where(norms * norms[node] > 0, norms * norms[node], 1)


def test_neighbors_are_the_exact_nearest_with_label_and_degree(exploration):
    found = exploration._neighborhood(SOME, 10)
    expected = cosines(explored.embedding(), SOME)
    expected[SOME] = -2
    (near,) = found["near"]
    assert [card["node"] for card in near] == np.argsort(-expected)[:10].tolist()
    assert [card["similarity"] for card in near] == pytest.approx(
        sorted(expected)[:-11:-1], abs=1e-6
    )
    assert (found["name"], found["label"], found["degree"]) == ("node-17", "blue", 6)


def test_neighbors_with_an_edge_are_marked_and_edges_have_a_rank(exploration):
    found = exploration._neighborhood(SOME, 60)
    ranks = {card["node"]: at for at, card in enumerate(found["near"][0], start=1)}
    joined = {SOME + step for step in (1, 3, 6)} | {SOME - step for step in (1, 3, 6)}
    assert {card["node"] for card in found["near"][0] if card["edge"]} == joined & set(ranks)
    edges = found["edges"]
    assert edges["count"] == 6
    assert {card["node"]: card["rank"] for card in edges["nodes"]} == {
        node: ranks.get(node) for node in joined
    }
    expected = cosines(explored.embedding(), SOME)
    similar = [card["similarity"] for card in edges["nodes"]]
    assert similar == sorted(similar, reverse=True)
    assert similar == pytest.approx([expected[card["node"]] for card in edges["nodes"]], abs=1e-6)


def test_an_isolated_node_has_no_edges_and_no_neighbors(exploration):
    found = exploration._neighborhood(explored.NODES - 1, 5)
    assert found["edges"] == {"count": 0, "nodes": []}
    assert (found["near"], found["links"]) == ([[]], [])


@pytest.mark.parametrize("kind", ["graph", "directed_graph", "bipartite_graph"])
def test_likely_links_are_those_of_recommend(kind):
    graph, embedding = getattr(explored, kind)(), explored.embedding()
    some = Embedding(embedding.vectors[10:][::-1], embedding.ids[10:][::-1])  # in another order
    exploration = Exploration.from_embeddings({"one": some}, graph=graph, layout="pca")
    names = some.ids.to_pylist()
    for name in ("node-30", "node-31", "node-200"):
        expected = recommend(some, graph, name, k=7).to_pylist()
        links = exploration._neighborhood(names.index(name), 7)["links"]
        assert len(links) == 7
        assert [card["name"] for card in links] == [row["recommended"] for row in expected]
        assert [names[card["node"]] for card in links] == [card["name"] for card in links]
        assert [card["score"] for card in links] == [row["score"] for row in expected]
        assert [card["common"] for card in links] == [row["common_neighbors"] for row in expected]
        degrees = [exploration._edges.degrees[card["node"]] for card in links]
        assert [card["degree"] for card in links] == degrees


def test_likely_links_are_new_edges_to_the_other_side_of_a_bipartite_graph():
    one = {"one": explored.embedding()}
    exploration = Exploration.from_embeddings(one, graph=explored.bipartite_graph(), layout="pca")
    assert exploration._about()["bipartite"]
    links = {card["node"] for card in exploration._neighborhood(100, 200)["links"]}
    assert all(node % 2 for node in links)
    assert not links & {101, 103, 107}
    assert exploration._neighborhood(5, 10)["links"] is None  # it is not in the graph


def test_without_a_graph_there_are_no_likely_links(comparison):
    assert comparison._about()["links"] is None
    assert comparison._neighborhood(SOME, 10)["links"] is None


def test_likely_links_of_a_comparison_are_those_of_the_first_embedding(exploration):
    both = {"one": explored.embedding(), "two": explored.embedding(seed=1)}
    compared = Exploration.from_embeddings(
        both, labels=explored.labels(), graph=explored.graph(), layout="pca"
    )
    links = exploration._neighborhood(SOME, 10)["links"]
    assert compared._neighborhood(SOME, 10)["links"] == links


def test_an_unknown_node_is_rejected(exploration):
    with pytest.raises(UnknownNodeError, match=r"There is no node 300; nodes are 0 to 299\."):
        exploration._neighborhood(explored.NODES, 5)


def test_neighbors_of_two_embeddings_and_their_overlap(comparison):
    found = comparison._neighborhood(SOME, 10)
    one, two = ({card["node"] for card in near} for near in found["near"])
    assert found["overlaps"] == [{"first": 0, "second": 1, "shared": len(one & two)}]
    assert one != two


def test_rows_in_another_order_are_the_same_nodes():
    one = explored.embedding()
    order = np.random.default_rng(3).permutation(explored.NODES)
    other = Embedding(one.vectors[order], one.ids.take(pa.array(order)))
    exploration = Exploration.from_embeddings({"one": one, "other": other}, layout="pca")
    first, second = exploration._neighborhood(SOME, 10)["near"]
    assert first == second
    assert np.allclose(*(side.positions for side in exploration._sides), atol=1e-5)


def test_embeddings_of_different_nodes_are_rejected_with_examples():
    one = explored.embedding()
    less = Embedding(one.vectors[20:], one.ids[20:])
    sentence = (
        r"less has no vector for 20 of the 300 nodes of one: .*, \.\.\. Compare embeddings of"
    )
    for order in ({"one": one, "less": less}, {"less": less, "one": one}):
        with pytest.raises(ParameterError, match=sentence):
            Exploration.from_embeddings(order, layout="pca")


def test_more_than_three_embeddings_are_rejected():
    four = {str(at): explored.embedding(at) for at in range(4)}
    with pytest.raises(ParameterError, match="must be from 1 to 3, got 4"):
        Exploration.from_embeddings(four, layout="pca")


def test_labels_and_graphs_of_other_nodes_are_rejected():
    one = {"one": explored.embedding()}
    with pytest.raises(ParameterError, match="None of the 1 labeled nodes has a vector"):
        Exploration.from_embeddings(one, labels=Labels.from_pairs(["a"], ["b"]), layout="pca")
    with pytest.raises(ParameterError, match="The graph has none of the 300 nodes that have"):
        Exploration.from_embeddings(one, graph=Graph.from_edges(["a"], ["b"]), layout="pca")


def test_integers_and_their_strings_are_the_same_nodes():
    numbers = Embedding(np.eye(4, dtype=np.float32), pa.array([3, 1, 2, 0]))
    graph = Graph.from_edges(["3", "3"], ["1", "7"])
    found = Exploration.from_embeddings({"one": numbers}, graph=graph, layout="pca")._neighborhood(
        0, 2
    )
    assert (found["name"], found["degree"]) == ("3", 2)
    assert [card["name"] for card in found["edges"]["nodes"]] == ["1"]


def test_vectors_are_mapped_from_a_file_and_stay_the_same(tmp_path, monkeypatch):
    embedding = explored.embedding()
    on_disk = mapped(embedding)
    assert isinstance(on_disk.vectors, np.memmap)
    assert on_disk.vectors.tobytes() == embedding.vectors.tobytes()
    embedding.save(tmp_path / "vectors.npy")
    monkeypatch.setattr(npy, "SMALL_FILE", 0)
    loaded = Embedding.load(tmp_path / "vectors.npy")
    assert mapped(loaded) is loaded


def test_positions_fill_the_square_and_other_nodes_are_in_a_strip_below():
    random = np.random.default_rng(0)
    positions = random.normal(5, 2, (1000, 2)).astype(np.float32)
    positions[::10] = np.nan
    plane = in_square(positions)
    assert np.abs(plane).max() == pytest.approx(1)
    placed = np.isfinite(positions[:, 0])
    assert plane[~placed, 1].min() > plane[placed, 1].max()
    assert len(np.unique(plane[~placed], axis=0)) == 100
    highest = np.nanargmax(positions[:, 1])
    assert plane[placed, 1].min() == plane[highest, 1]  # y grows downwards on a page


def test_a_single_node_can_be_explored():
    one = Embedding(np.ones((1, 2), np.float32), pa.array(["ann"]))
    found = Exploration.from_embeddings({"one": one}, layout="pca")._neighborhood(0, 5)
    assert found["near"] == [[]]
