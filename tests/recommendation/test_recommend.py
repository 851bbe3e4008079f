"""Recommended links, compared with dense matrix algebra."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import hopvec.engine.top_products
import oracle
from hopvec import (
    Embedding,
    FastRP,
    Graph,
    ParameterError,
    UnknownNodeError,
    recommend,
    score_pairs,
)
from hopvec.recommendation import path_scores, vector_scores
from hopvec.recommendation.recommend import METADATA, SCORES, VECTOR_SCORES

NODES = 14
SOURCES = 6  # of a bipartite graph


@st.composite
def graphs(draw):
    """Undirected, directed or bipartite, weighted or not, with loops and isolated nodes."""
    kind = draw(st.sampled_from(["undirected", "directed", "bipartite"]))
    ends = (st.integers(0, NODES - 1), st.integers(0, NODES - 1))
    if kind == "bipartite":
        ends = (st.integers(0, SOURCES - 1), st.integers(SOURCES, NODES - 1))
    pairs = draw(st.lists(st.tuples(*ends), min_size=1, max_size=50, unique=True))
    weight = None
    if draw(st.booleans()):
        weight = draw(st.lists(st.integers(1, 5), min_size=len(pairs), max_size=len(pairs)))
    source, target = np.array(pairs).T
    if kind == "bipartite":
        return Graph.from_bipartite(source, target, weight)
    return Graph.from_edges(source, target, weight, nodes=NODES, directed=kind == "directed")


def embedding_of(graph, seed=0):
    """Four signs, so that many scores tie exactly; some vectors are zero."""
    random = np.random.default_rng(seed)
    vectors = random.choice([-1, 1], (graph.nodes, 4)) * (random.random((graph.nodes, 1)) < 0.8)
    return Embedding(vectors.astype(np.float32), graph.ids)


def dense_scores(graph, embedding, score, popularity=0.1):
    """All scores by dense float64 algebra, in the order of the ids."""
    S = graph.to_scipy().toarray()  # noqa: N806
    steps = 2 if graph.is_target is None else 3
    if score == "common-neighbors":
        return oracle.path_counts(S, steps)
    if score == "adamic-adar":
        return oracle.adamic_adar(S, steps, graph.directed)
    if score == "rp3beta":
        return oracle.walk_scores(S, 0.8, 0.4)
    X = embedding.vectors.astype(np.float64)  # noqa: N806
    edges = (S > 0).sum(axis=0)
    norms = np.linalg.norm(X, axis=1)
    scale = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
    if score == "dot":
        return X @ X.T
    return (X @ X.T) * np.outer(scale, scale) + popularity * np.log(np.maximum(1, edges))


def is_allowed(graph, embedding, score, scores):
    """The pairs that may be recommended, before exclusions."""
    allowed = (graph.to_scipy().toarray() == 0) & ~np.eye(graph.nodes, dtype=bool)
    if graph.is_target is not None:
        allowed &= graph.is_target[:, None] != graph.is_target
    if score in VECTOR_SCORES:
        has_vector = embedding.vectors.any(axis=1)
        return allowed & has_vector & has_vector[:, None]
    return allowed & (scores > 0)


def check(found, graph, embedding, score, k, allowed, scores):
    """Compare a table with the dense scores: values, ranks, evidence, and ties by row."""
    position = {id: row for row, id in enumerate(graph.ids.to_pylist())}
    common = oracle.common_neighbors(graph.to_scipy().toarray(), graph.is_target is not None)
    lines = found.to_pylist()
    for id, row in position.items():
        own = [line for line in lines if line["id"] == id]
        columns = [position[line["recommended"]] for line in own]
        best = sorted(np.flatnonzero(allowed[row]), key=lambda v: (-scores[row, v].round(5), v))
        if score in ("cosine", "dot", "common-neighbors"):  # these tie exactly
            assert columns == best[:k]
        assert len(set(columns)) == len(columns)
        assert allowed[row, columns].all()
        np.testing.assert_allclose(scores[row, columns], scores[row, best[:k]], rtol=1e-9)
        np.testing.assert_allclose([line["score"] for line in own], scores[row, columns], atol=1e-6)
        assert [line["rank"] for line in own] == list(range(1, len(own) + 1))
        assert [line["common_neighbors"] for line in own] == common[row, columns].tolist()


@pytest.mark.parametrize("score", [score for score in SCORES if score != "learned"])
@given(graph=graphs(), k=st.sampled_from([1, 3, 50]), seed=st.integers(0, 9))
def test_recommendations_are_the_best_of_dense_algebra(score, graph, k, seed):
    embedding = embedding_of(graph, seed=seed)
    scores = dense_scores(graph, embedding, score)
    allowed = is_allowed(graph, embedding, score, scores)
    walks = {"alpha": 0.8, "beta": 0.4} if score == "rp3beta" else {}
    found = recommend(embedding, graph, graph.ids, k, score=score, **walks)
    check(found, graph, embedding, score, k, allowed, scores)


@pytest.mark.parametrize("score", ["cosine", "adamic-adar"])
@given(graph=graphs(), seed=st.integers(0, 99))
def test_exclusions_and_candidates_hold(score, graph, seed):
    random = np.random.default_rng(seed)
    embedding, ids = embedding_of(graph), graph.ids.to_pylist()
    scores = dense_scores(graph, embedding, score)
    allowed = is_allowed(graph, embedding, score, scores)
    first, second = random.integers(0, graph.nodes, (2, 30))
    pairs = pd.DataFrame({"a": [ids[u] for u in first], "b": [ids[v] for v in second]})
    few = random.permutation(graph.nodes)[: graph.nodes // 2]
    is_candidate = np.isin(np.arange(graph.nodes), few)
    without_pairs = allowed & is_candidate
    without_pairs[first, second] = False
    given_ids = {"candidates": [ids[row] for row in few]}
    found = recommend(embedding, graph, ids, 5, score=score, exclude=pairs, **given_ids)
    check(found, graph, embedding, score, 5, without_pairs, scores)
    found = recommend(embedding, graph, ids, 5, score=score, exclude=given_ids["candidates"])
    check(found, graph, embedding, score, 5, allowed & ~is_candidate, scores)


@pytest.mark.parametrize("score", SCORES)
@given(graph=graphs())
def test_scores_of_pairs_equal_those_of_recommendations(score, graph):
    embedding = embedding_of(graph)
    try:
        found = recommend(embedding, graph, graph.ids, 50, score=score)
    except ParameterError:
        assume(score != "learned")  # there may be nothing to learn from
        raise
    pairs = score_pairs(embedding, graph, found, score=score)
    assert pairs.equals(found.drop_columns(["rank"]))


@given(graph=graphs(), popularity=st.sampled_from([-1.0, 0.0, 0.25]))
def test_popular_candidates_gain_the_logarithm_of_their_edges(graph, popularity):
    embedding = embedding_of(graph)
    scores = dense_scores(graph, embedding, "cosine", popularity)
    allowed = is_allowed(graph, embedding, "cosine", scores)
    found = recommend(embedding, graph, graph.ids, 4, popularity=popularity)
    check(found, graph, embedding, "cosine", 4, allowed, scores)


@given(graph=graphs())
def test_common_neighbors_of_edges_do_not_count_the_edge_itself(graph):
    ids = graph.ids.to_pylist()
    pairs = [(u, v) for u in range(graph.nodes) for v in range(graph.nodes) if u != v]
    if graph.is_target is not None:
        pairs = [(u, v) for u, v in pairs if graph.is_target[u] != graph.is_target[v]]
    ends = [ids[u] for u, _ in pairs], [ids[v] for _, v in pairs]
    found = score_pairs(None, graph, ends, score="common-neighbors")["common_neighbors"]
    common = oracle.common_neighbors(graph.to_scipy().toarray(), graph.is_target is not None)
    assert found.to_pylist() == [common[pair] for pair in pairs]


def purchases(users=60, items=40, edges=600, seed=0):
    random = np.random.default_rng(seed)
    taste, kind = random.integers(0, 4, users), random.integers(0, 4, items)
    drawn = zip(*random.integers(0, [[users], [items]], (2, edges)), strict=True)
    pairs = sorted({(u, i) for u, i in drawn if taste[u] == kind[i] or random.random() < 0.1})
    source, target = np.array(pairs).T
    return Graph.from_bipartite([f"user {u}" for u in source], [f"item {i}" for i in target])


GRAPH = purchases()
EMBEDDING = FastRP(dim=16).embed(GRAPH)


@pytest.mark.parametrize("score", SCORES)
def test_threads_blocks_and_order_of_input_do_not_matter(score, monkeypatch):
    expected = recommend(EMBEDDING, GRAPH, k=4, score=score)
    for module in (hopvec.engine.top_products, path_scores):
        monkeypatch.setattr(module, "cores", lambda: 5)
    monkeypatch.setattr(vector_scores.VectorScorer, "block", 7)
    monkeypatch.setattr(path_scores.PathScorer, "block", 7)
    reports = []
    found = recommend(
        EMBEDDING, GRAPH, k=4, score=score, progress=lambda *state: reports.append(state)
    )
    assert found.equals(expected)
    users = len(GRAPH.sources)
    assert reports == [(min(done, users), users) for done in range(7, users + 7, 7)]
    entries = GRAPH.to_scipy().tocoo()
    forward = ~GRAPH.is_target[entries.coords[0]]
    ends = (GRAPH.ids.take(pa.array(end[forward][::-1])) for end in entries.coords)
    assert recommend(EMBEDDING, Graph.from_bipartite(*ends), k=4, score=score).equals(expected)


def test_all_means_the_source_side_of_a_bipartite_graph():
    found = recommend(EMBEDDING, GRAPH, k=2)
    assert set(found["id"].to_pylist()) == set(GRAPH.sources.to_pylist())
    assert set(found["recommended"].to_pylist()) <= set(GRAPH.targets.to_pylist())
    back = recommend(EMBEDDING, GRAPH, ["item 3", "user 3", "item 3"], k=2)
    assert back["id"].to_pylist() == [*["item 3"] * 2, *["user 3"] * 2, *["item 3"] * 2]
    assert all(id.startswith("user") for id in back["recommended"].to_pylist()[:2])


def test_the_order_of_vectors_does_not_matter_and_missing_ones_are_not_recommended():
    order = np.random.default_rng(0).permutation(len(EMBEDDING))
    other = Embedding(EMBEDDING.vectors[order], EMBEDDING.ids.take(pa.array(order)))
    expected = recommend(EMBEDDING, GRAPH, "user 1", 40)
    assert recommend(other, GRAPH, "user 1", 40).equals(expected)
    first = expected["recommended"][0].as_py()
    rows = [row for row, id in enumerate(EMBEDDING) if id != first]
    fewer = Embedding(EMBEDDING.vectors[rows], EMBEDDING.ids.take(pa.array(rows)))
    left = recommend(fewer, GRAPH, "user 1", 40)["recommended"].to_pylist()
    assert left == expected["recommended"].to_pylist()[1:]
    with pytest.raises(UnknownNodeError, match=f"The node '{first}' of the graph has no vector"):
        recommend(fewer, GRAPH, first)


def test_learned_scores_are_in_the_metadata_of_the_table():
    found = recommend(EMBEDDING, GRAPH, "user 1", 30, score="learned")
    metadata = json.loads(found.schema.metadata[METADATA])
    user = EMBEDDING["user 1"].astype(np.float64)
    for line in found.to_pylist():
        terms = user * EMBEDDING[line["recommended"]] * metadata["weights"]
        assert line["score"] == pytest.approx(terms.sum() + metadata["intercept"], abs=1e-4)
    assert metadata["score"] == "learned"
    assert metadata["edges"] == GRAPH.edges


def test_a_larger_beta_penalizes_popular_items():
    popularity = dict(zip(GRAPH.ids.to_pylist(), GRAPH.degrees.tolist(), strict=True))
    mean = [
        np.mean([popularity[item] for item in found["recommended"].to_pylist()])
        for found in (recommend(None, GRAPH, score="rp3beta", beta=beta) for beta in (0, 0.5, 1))
    ]
    assert mean[0] > mean[1] > mean[2]


def test_ids_of_another_type_find_the_same_nodes():
    graph = Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    embedding = FastRP(dim=8).embed(graph)
    names = Embedding(embedding.vectors, embedding.ids.cast(pa.large_string()))
    found = recommend(embedding, graph, [0, 3])
    assert recommend(names, graph, ["0", "3"]).equals(found)


class TestWarnings:
    def test_unknown_candidates_and_exclusions_are_skipped_and_counted(self, caplog):
        known = ["item 1", "item 2"]
        expected = recommend(EMBEDDING, GRAPH, "user 1", candidates=known)
        assert recommend(EMBEDDING, GRAPH, "user 1", candidates=[*known, "x"]).equals(expected)
        assert "candidates: ignoring 1 of 3 ids, which is not in the graph: 'x'" in caplog.text
        shown = ["user 1", "zoe"], ["item 1", "item 2"]
        recommend(EMBEDDING, GRAPH, "user 1", exclude=shown)
        assert "exclude: ignoring 1 of 2 pairs" in caplog.text

    def test_nodes_without_vectors_are_skipped_unless_they_are_asked_for(self, caplog):
        rows = [row for row, id in enumerate(EMBEDDING) if id != "user 1"]
        fewer = Embedding(EMBEDDING.vectors[rows], EMBEDDING.ids.take(pa.array(rows)))
        found = recommend(fewer, GRAPH, k=1)
        assert "user 1" not in found["id"].to_pylist()
        assert "1 of 58 nodes has no vector" in caplog.text

    def test_a_graph_of_another_kind_than_the_embedded_one(self, caplog):
        entries = GRAPH.to_scipy().tocoo()
        ends = (GRAPH.ids.take(pa.array(end)) for end in entries.coords)
        recommend(EMBEDDING, Graph.from_edges(*ends), "user 1")
        assert "The vectors are those of a bipartite graph, but graph is not" in caplog.text


class TestRefusals:
    def test_vectors_of_other_nodes(self):
        other = Embedding(np.ones((2, 3), np.float32), pa.array(["5", "7"]))
        with pytest.raises(UnknownNodeError, match="No node of the graph has a vector: its ids"):
            recommend(other, GRAPH)

    def test_a_score_that_needs_vectors(self):
        with pytest.raises(ParameterError, match="the score cosine needs an Embedding, got None"):
            recommend(None, GRAPH)

    def test_an_unknown_node(self):
        with pytest.raises(UnknownNodeError, match="No node 'zoe' among the 98 of the graph"):
            recommend(EMBEDDING, GRAPH, ["user 1", "zoe"])

    @pytest.mark.parametrize(
        ("given_options", "message"),
        [
            ({"k": 0}, "k must be an integer of at least 1, got 0"),
            ({"score": "l2"}, "score must be 'cosine' or 'dot' or 'learned' or "),
            ({"popularity": "x"}, "popularity must be a number from -10 to 10"),
            ({"popularity": 0.2, "score": "dot"}, "popularity= is a part of the score cosine"),
            ({"beta": 0.5}, "beta= is a part of the score rp3beta, not of cosine"),
            ({"alpha": -1}, "alpha must be a number from 0 to 10"),
            ({"beta": "x"}, "beta must be a number from -10 to 10"),
            ({"exclude": {"id": ["user 1"]}}, "exclude must be a table of two columns"),
        ],
    )
    def test_invalid_parameters(self, given_options, message):
        with pytest.raises(ParameterError, match=f"recommend: {message}"):
            recommend(EMBEDDING, GRAPH, **given_options)

    def test_something_else_than_a_graph(self):
        with pytest.raises(ParameterError, match="graph must be a Graph, got str"):
            recommend(EMBEDDING, "edges.csv")

    def test_pairs_that_are_not_a_table(self):
        with pytest.raises(ParameterError, match="pairs must be a table of two columns"):
            score_pairs(EMBEDDING, GRAPH, ["user 1"])
