"""The evaluation of recommendations, compared with plain Python."""

import json
from math import log2

import numpy as np
import pytest

from example_graphs import random_example
from hopvec import Embedding, FastRP, Graph, ParameterError, recommend
from hopvec.evaluate import HeldOut, evaluate_recommendation, hold_out
from hopvec.recommendation.recommend import SCORES


def graph_of(kind):
    if kind == "bipartite":
        random = np.random.default_rng(0)
        pairs = np.unique(random.integers(0, [[40], [30]], (2, 300)), axis=1)
        return Graph.from_bipartite(*pairs, prefixes=("user ", "item "))
    return random_example(60, 240, directed=kind == "directed").graph()


def wanted_of(held_out, kind):
    """The held-out neighbors of each node that is tested."""
    wanted = {}
    for source, target in zip(*held_out.edges.to_pydict().values(), strict=True):
        wanted.setdefault(source, set()).add(target)
        if kind == "undirected":
            wanted.setdefault(target, set()).add(source)
    return wanted


@pytest.mark.parametrize("kind", ["undirected", "directed", "bipartite"])
@pytest.mark.parametrize("score", SCORES)
def test_metrics_are_those_of_the_recommendations(kind, score):
    held_out = hold_out(graph_of(kind), per_node=True)
    training = held_out.training
    embedding = FastRP(dim=12).embed(training)
    found = evaluate_recommendation(embedding, held_out, scores=score, k=[3, 8])
    wanted = wanted_of(held_out, kind)
    table = recommend(embedding, training, list(wanted), 8, score=score).to_pylist()
    incoming = training.to_scipy().astype(bool).sum(axis=0)
    edges = dict(zip(training.ids.to_pylist(), incoming.tolist(), strict=True))
    (scores,) = (by_score[score] for by_score in found.scores.values())
    for k in (3, 8):
        lists = {
            id: [line["recommended"] for line in table if line["id"] == id][:k] for id in wanted
        }
        hits = {id: [other in wanted[id] for other in lists[id]] for id in wanted}
        first = {id: 1 + hit.index(True) if any(hit) else None for id, hit in hits.items()}
        gain = {id: sum(1 / log2(2 + r) for r, h in enumerate(hits[id]) if h) for id in wanted}
        ideal = {id: sum(1 / log2(2 + r) for r in range(min(k, len(wanted[id])))) for id in wanted}
        listed = [other for own in lists.values() for other in own]
        mean = lambda values: sum(values) / len(wanted)  # noqa: E731
        assert scores[k].hit_rate == pytest.approx(mean(any(hit) for hit in hits.values()))
        assert scores[k].recall == pytest.approx(
            mean(sum(hits[id]) / len(wanted[id]) for id in wanted)
        )
        assert scores[k].ndcg == pytest.approx(mean(gain[id] / ideal[id] for id in wanted))
        assert scores[k].mrr == pytest.approx(mean(1 / r if r else 0 for r in first.values()))
        assert scores[k].coverage == pytest.approx(len(set(listed)) / found.candidates)
        assert scores[k].popularity == pytest.approx(np.mean([edges[other] for other in listed]))
    assert (found.nodes, found.edges) == (len(wanted), sum(map(len, wanted.values())))


def test_most_popular_is_the_same_for_all_but_what_they_have():
    graph = Graph.from_bipartite(["a", "a", "b", "c", "b"], ["x", "y", "x", "x", "z"])
    held_out = HeldOut(graph, _table("c", "y"), {})
    found = evaluate_recommendation(None, held_out, scores=["most popular"], k=[1, 2])
    assert found.scores[""]["most popular"][1].recall == 1  # y and z tie, and y is first
    assert found.candidates == 3


def _table(source, target):
    import pyarrow as pa

    return pa.table({"source": [source], "target": [target]})


def test_all_scores_of_all_embeddings_are_compared_by_default():
    held_out = hold_out(graph_of("undirected"), per_node=True)
    embeddings = {str(dim): FastRP(dim=dim).embed(held_out.training) for dim in (4, 8)}
    found = evaluate_recommendation(embeddings, held_out)
    assert {name: list(scores) for name, scores in found.scores.items()} == {
        "4": ["cosine", "dot", "learned"],
        "8": ["cosine", "dot", "learned"],
        "": ["common-neighbors", "adamic-adar", "rp3beta", "most popular"],
    }
    assert len(found.rows()) == 2 * 10
    assert json.loads(json.dumps(found.to_dict()))["nodes"] == found.nodes
    assert str(found).splitlines()[0].split()[:4] == ["k", "vectors", "score", "hit_rate"]


def test_a_sample_of_nodes_is_evaluated():
    held_out = hold_out(graph_of("bipartite"), per_node=True)
    some = evaluate_recommendation(None, held_out, scores="rp3beta", sample=7, seed=3)
    assert some.nodes == 7
    same = evaluate_recommendation(None, held_out, scores="rp3beta", sample=7, seed=3)
    assert same == some
    assert evaluate_recommendation(None, held_out, scores="rp3beta", sample=7, seed=4) != some


def test_progress_reaches_the_total():
    reports = []
    held_out = hold_out(graph_of("undirected"), per_node=True)
    evaluate_recommendation(None, held_out, progress=lambda *state: reports.append(state))
    assert reports[-1][0] == reports[-1][1]
    assert reports == sorted(reports)


class TestRefusals:
    HELD_OUT = hold_out(graph_of("bipartite"), per_node=True)

    def test_pairs_without_a_training_graph(self):
        pairs = HeldOut(None, self.HELD_OUT.edges, {})
        with pytest.raises(ParameterError, match="these pairs have no training graph"):
            evaluate_recommendation(None, pairs)

    def test_a_held_out_edge_on_one_side(self):
        pairs = HeldOut(self.HELD_OUT.training, _table("user 1", "user 2"), {})
        with pytest.raises(ParameterError, match="'user 1' - 'user 2' joins two nodes on the same"):
            evaluate_recommendation(None, pairs)

    def test_a_score_that_needs_vectors(self):
        with pytest.raises(ParameterError, match="the score cosine needs embeddings"):
            evaluate_recommendation(None, self.HELD_OUT, scores=["cosine"])

    def test_something_else_than_embeddings(self):
        with pytest.raises(ParameterError, match="must be an Embedding or a dict of them, got str"):
            evaluate_recommendation({"a": "b"}, self.HELD_OUT)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"k": [0]}, "k must be an integer from 1"),
            ({"scores": ["l2"]}, "scores must be 'cosine'"),
            ({"scores": []}, "scores must name at least one score"),
            ({"sample": 0}, "sample must be an integer from 1"),
            ({"beta": 11}, "beta must be a number from -10 to 10"),
        ],
    )
    def test_invalid_parameters(self, given, message):
        with pytest.raises(ParameterError, match=f"evaluate_recommendation: {message}"):
            evaluate_recommendation(None, self.HELD_OUT, **given)


def test_a_perfect_embedding_recommends_all_held_out_items():
    groups = np.repeat(np.arange(4), 5)
    pairs = [(u, 20 + i) for u in range(20) for i in range(20) if groups[u] == groups[i]]
    graph = Graph.from_bipartite(*zip(*pairs, strict=True))
    held_out = hold_out(graph, per_node=True)
    vectors = np.eye(4, dtype=np.float32)[np.tile(groups, 2)]
    found = evaluate_recommendation(Embedding(vectors, graph.ids), held_out)
    for score in ("cosine", "dot", "learned"):
        assert found.scores["vectors"][score][10].ndcg > 0.6
        assert found.scores["vectors"][score][10].recall == 1
