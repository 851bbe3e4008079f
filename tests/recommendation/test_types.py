"""Recommendations and scores that are limited to types of nodes."""

import numpy as np
import pyarrow as pa
import pytest

from hopvec import Embedding, FastRP, Graph, Labels, ParameterError, evaluate, recommend
from hopvec.evaluate import HeldOut

EDGES = [(u, v) for u in range(40) for v in range(u) if u % 4 == v % 4 or (u + v) % 11 == 0]
TYPES = ["even" if node % 2 == 0 else "odd" for node in range(40)]


@pytest.fixture(scope="module")
def graph():
    return Graph.from_edges(EDGES).with_node_types(TYPES)


@pytest.fixture(scope="module")
def embedding(graph):
    return FastRP(dim=16).embed(graph)


@pytest.mark.parametrize("score", ["cosine", "dot", "common-neighbors", "rp3beta"])
def test_only_nodes_of_the_types_are_recommended_in_the_order_of_all(graph, embedding, score):
    everything = recommend(embedding, graph, [3, 8], k=40, score=score).to_pylist()
    for wanted in ("odd", ["even"], ["odd", "even"]):
        found = recommend(embedding, graph, [3, 8], k=40, score=score, types=wanted).to_pylist()
        kept = [row for row in everything if TYPES[row["recommended"]] in wanted]
        assert [(row["id"], row["recommended"], row["score"]) for row in found] == [
            (row["id"], row["recommended"], row["score"]) for row in kept
        ]


def test_types_of_the_embedding_are_enough(graph, embedding):
    untyped = Graph.from_edges(EDGES)
    found = recommend(embedding, untyped, [3], types="odd")["recommended"].to_pylist()
    assert found == recommend(embedding, graph, [3], types="odd")["recommended"].to_pylist()
    assert found
    with pytest.raises(ParameterError, match="none are known here"):
        recommend(None, untyped, [3], score="rp3beta", types="odd")


def test_types_and_candidates_are_combined(graph, embedding):
    candidates = [0, 1, 2, 5, 9]
    found = recommend(embedding, graph, [3], candidates=candidates, types="odd")
    assert set(found["recommended"].to_pylist()) <= {1, 5, 9}


def test_held_out_edges_to_other_types_are_left_out(graph):
    held_out = evaluate.hold_out(graph, per_node=True)
    vectors = FastRP(dim=16).embed(held_out.training)
    assert vectors.types is not None
    found = evaluate.evaluate_recommendation(vectors, held_out, types="odd", k=[5])
    pairs = [(u, v) for u, v in zip(*held_out.edges.to_pydict().values(), strict=True)]
    to_odd = {(u, v) for a, b in pairs for u, v in ((a, b), (b, a)) if TYPES[v] == "odd"}
    assert found.edges == len(to_odd)
    assert found.nodes == len({u for u, _ in to_odd})
    assert found.candidates == 20
    with pytest.raises(ParameterError, match="no type 'x'"):
        evaluate.evaluate_recommendation(vectors, held_out, types="x")


class TestLinks:
    def held_out(self, graph, edges, negatives):
        def table(pairs):
            return pa.table(dict(zip(("source", "target"), zip(*pairs, strict=True), strict=True)))

        return HeldOut(None, table(edges), {"given": table(negatives)})

    def test_links_of_the_types_are_scored_as_if_there_were_no_others(self, embedding, graph):
        edges, negatives = [(0, 4), (1, 5), (2, 5)], [(0, 2), (3, 7), (8, 10), (5, 6)]
        found = evaluate.predict_links(
            embedding, self.held_out(graph, edges, negatives), types="odd"
        )
        alone = self.held_out(graph, [(1, 5), (2, 5)], [(3, 7), (5, 6)])
        expected = evaluate.predict_links(embedding, alone)
        assert found.edges == 2
        assert found.scores == expected.scores

    def test_in_a_directed_graph_the_target_counts(self, embedding):
        directed = Embedding(
            embedding.vectors, embedding.ids, graph={"directed": True}, types=embedding.types
        )
        held_out = self.held_out(None, [(1, 4), (4, 1)], [(3, 2), (2, 3)])
        assert evaluate.predict_links(directed, held_out, types="odd").edges == 1
        assert evaluate.predict_links(embedding, held_out, types="odd").edges == 2

    def test_no_links_of_the_types_are_an_error(self, embedding):
        held_out = self.held_out(None, [(0, 4)], [(3, 2)])
        with pytest.raises(ParameterError, match="no held-out edge leads to a node of these types"):
            evaluate.predict_links(embedding, held_out, types="odd")


class TestClassify:
    def test_labels_of_other_types_do_not_count(self, embedding):
        labels = Labels.from_pairs(range(40), [f"class {node % 4}" for node in range(40)])
        odd = Labels.from_pairs(range(1, 40, 2), [f"class {node % 4}" for node in range(1, 40, 2)])
        settings = {"shares": [0.5], "shuffles": 2}
        found = evaluate.classify(embedding, labels, types="odd", **settings)
        assert found.to_dict() == evaluate.classify(embedding, odd, **settings).to_dict()
        assert found.nodes == 20
        compared = evaluate.classify({"a": embedding}, labels, types=["odd"], **settings)
        assert compared.results["a"].nodes == 20

    def test_types_without_labels_are_an_error(self, embedding):
        labels = Labels.from_pairs([0, 2, 4], ["a", "b", "a"])
        with pytest.raises(ParameterError, match="no node of these types= has a label"):
            evaluate.classify(embedding, labels, types="odd")


def test_strings_and_integers_are_the_same_node_for_labels():
    vectors = np.random.default_rng(0).random((20, 4), np.float32)
    ids = pa.array([str(number) for number in range(20)])
    embedding = Embedding(vectors, ids, types=["x", "y"] * 10)
    labels = Labels.from_pairs(range(20), ["a", "a", "b", "b"] * 5)
    assert evaluate.classify(embedding, labels, types="x", shares=[0.5], shuffles=1).nodes == 10
