"""Recommendation against dense matrix algebra."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from hopvec import Embedding, Graph, GraphError, ParameterError, UnknownNodeError
from hopvec.evaluate import (
    HeldOut,
    evaluate_recommendation,
    hold_out,
    ranking,
    recommend,
    recommendation,
)

USERS, ITEMS = 12, 15


@st.composite
def purchases(draw):
    """A bipartite graph: users 0 .. 11, items 12 .. 26, weighted or not, some without edges."""
    pairs = draw(
        st.lists(
            st.tuples(st.integers(0, USERS - 1), st.integers(USERS, USERS + ITEMS - 1)),
            min_size=1,
            max_size=60,
            unique=True,
        )
    )
    weight = None
    if draw(st.booleans()):
        weight = draw(st.lists(st.integers(1, 5), min_size=len(pairs), max_size=len(pairs)))
    source, target = np.array(pairs).T
    return Graph.from_edges(source, target, weight, nodes=USERS + ITEMS)


def random_purchases(seed=0, users=60, items=40, edges=600):
    random = np.random.default_rng(seed)
    taste, kind = random.integers(0, 4, users), random.integers(0, 4, items)
    pairs = {
        (u, i)
        for u, i in zip(*random.integers(0, [[users], [items]], (2, edges)), strict=True)
        if taste[u] == kind[i] or random.random() < 0.1
    }
    source, target = np.array(sorted(pairs)).T
    return Graph.from_edges([f"user {u}" for u in source], [f"item {i}" for i in target])


def items_of(graph):
    return [id for id in graph.ids.to_pylist() if str(id).startswith("item")]


def expected(graph, user, k, alpha, beta):
    """Items and scores of one user by dense algebra, ties by key."""
    S = graph.to_scipy().toarray()  # noqa: N806
    scores = oracle.walk_scores(S, alpha, beta)[user] * (S[user] == 0)
    keys = np.empty(graph.nodes, np.uint64)
    keys[graph.rows] = graph.keys
    found = sorted(np.flatnonzero(scores), key=lambda row: (-scores[row].round(12), keys[row]))
    return [(row, scores[row]) for row in found[:k]]


@given(purchases(), st.sampled_from([0.5, 1.0, 1.7]), st.sampled_from([0.0, 0.4, 1.0]))
def test_scores_equal_those_of_dense_algebra(graph, alpha, beta):
    found = recommend(graph, np.arange(USERS), k=5, alpha=alpha, beta=beta).to_pylist()
    for user in range(USERS):
        own = [row["score"] for row in found if row["user"] == user]
        dense = expected(graph, user, 5, alpha, beta)
        assert own == pytest.approx([score for _, score in dense], rel=1e-9)
        all_scores = dict(expected(graph, user, ITEMS, alpha, beta))
        for row in found:
            if row["user"] == user:
                assert row["score"] == pytest.approx(all_scores[row["item"]], rel=1e-9)


@given(purchases())
def test_items_are_recommended_once_and_never_if_the_user_has_them(graph):
    S = graph.to_scipy().toarray()  # noqa: N806
    pairs = [(row["user"], row["item"]) for row in recommend(graph, np.arange(USERS)).to_pylist()]
    assert len(pairs) == len(set(pairs))
    assert all(S[user, item] == 0 for user, item in pairs)
    assert all(item >= USERS for _, item in pairs)


def test_blocks_of_users_and_their_order_do_not_matter(monkeypatch):
    graph = random_purchases()
    users = [id for id in graph.ids.to_pylist() if id.startswith("user")]
    whole = recommend(graph, users, k=3).to_pylist()
    monkeypatch.setattr(recommendation, "BLOCK_BYTES", 1)
    reports = []
    by_one = recommend(graph, users[::-1], k=3, progress=lambda *state: reports.append(state))
    assert sorted(by_one.to_pylist(), key=str) == sorted(whole, key=str)
    assert reports == [(done, len(users)) for done in range(1, len(users) + 1)]


def test_the_order_of_nodes_and_edges_does_not_matter():
    graph = random_purchases()
    entries = graph.to_scipy().tocoo()
    once = entries.coords[0] < entries.coords[1]
    ids = graph.ids.to_pylist()
    ends = [[ids[row] for row in end[once][::-1]] for end in entries.coords]
    shuffled = Graph.from_edges(*ends, nodes=ids[::-1])
    assert recommend(graph, "user 1") == recommend(shuffled, "user 1")


def test_ties_go_to_the_lowest_key():
    graph = Graph.from_edges([0, 1, *[1] * 20], [100, 100, *range(200, 220)])
    keys = {
        graph.ids[int(row)].as_py(): key for row, key in zip(graph.rows, graph.keys, strict=True)
    }
    found = recommend(graph, 0, k=7).column("item").to_pylist()
    assert found == sorted(range(200, 220), key=keys.get)[:7]


def test_a_larger_beta_penalizes_popular_items():
    graph = random_purchases()
    popularity = dict(zip(graph.ids.to_pylist(), graph.degrees.tolist(), strict=True))
    users = [id for id in graph.ids.to_pylist() if id.startswith("user")]
    mean = [
        np.mean([popularity[item] for item in recommend(graph, users, beta=b)["item"].to_pylist()])
        for b in (0.0, 0.5, 1.0)
    ]
    assert mean[0] > mean[1] > mean[2]


class TestBipartiteCheck:
    def test_an_odd_cycle_is_refused_and_an_edge_is_named(self):
        graph = Graph.from_edges(list("abcdex"), list("bcdeay"))
        with pytest.raises(GraphError) as error:
            recommend(graph, "a")
        start = "recommend: the graph is not bipartite: the edge "
        assert str(error.value).startswith(start)
        assert str(error.value).endswith(" closes an odd cycle.")
        assert set(str(error.value)[len(start) :].split(" closes")[0]) <= set("abcde'- ")

    def test_a_loop_is_an_odd_cycle(self):
        with pytest.raises(GraphError, match="the edge 'b' - 'b' closes an odd cycle"):
            recommend(Graph.from_edges(["a", "b"], ["b", "b"]), "a")

    @given(purchases())
    def test_bipartite_graphs_with_any_components_are_accepted(self, graph):
        recommend(graph, 0)

    def test_an_edge_between_two_items_is_refused(self):
        graph = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
        assert recommend(graph, "a", items=["b", "d"]).to_pylist()
        with pytest.raises(GraphError, match="the edge 'b' - 'c' joins two items"):
            recommend(graph, "a", items=["b", "c", "d"])
        with pytest.raises(
            GraphError, match="the edge 'b' - 'c' joins two nodes that are not items"
        ):
            recommend(graph, "a", items=["d"])

    def test_a_user_among_the_items_is_refused(self):
        graph = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
        with pytest.raises(ParameterError, match="'b' is both a user and an item"):
            recommend(graph, ["a", "b"], items=["b", "d"])

    def test_a_directed_graph_is_refused(self):
        with pytest.raises(GraphError, match="walks follow edges in both directions"):
            recommend(Graph.from_edges(["a"], ["b"], directed=True), "a")

    def test_an_unknown_user_is_refused(self):
        with pytest.raises(UnknownNodeError, match="No node 'x' among the 2 of the graph"):
            recommend(Graph.from_edges(["a"], ["b"]), "x")


class TestEvaluation:
    @pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (0.8, 0.5)])
    def test_walks_are_evaluated_by_their_recommendations(self, alpha, beta):
        graph = random_purchases()
        held_out = hold_out(graph, negatives=0)
        result = evaluate_recommendation(
            held_out, items_of(graph), alpha=alpha, beta=beta, k=[3, 10]
        )
        wanted = {}
        for row in held_out.edges.to_pylist():
            user, item = sorted(row.values(), reverse=True)
            wanted.setdefault(user, set()).add(item)
        table = recommend(held_out.training, sorted(wanted), alpha=alpha, beta=beta).to_pylist()
        for k in (3, 10):
            lists = {
                user: np.array([row["item"] in own for row in table if row["user"] == user])
                for user, own in wanted.items()
            }
            for measure, found in ((ranking.recall, result.recall), (ranking.ndcg, result.ndcg)):
                each = [measure(lists[user], len(own), k) for user, own in wanted.items()]
                assert found[k] == pytest.approx(np.mean(each))
        assert (result.users, result.edges) == (len(wanted), len(held_out.edges))
        assert result.items == len(items_of(graph))

    @pytest.mark.parametrize("similarity", ["cosine", "dot"])
    def test_vectors_are_evaluated_by_their_similarity_to_items_without_an_edge(self, similarity):
        graph = random_purchases()
        held_out = hold_out(graph, negatives=0)
        random = np.random.default_rng(0)
        vectors = random.normal(size=(graph.nodes, 5)).astype(np.float32)
        embedding = Embedding(vectors, graph.ids)
        result = evaluate_recommendation(
            held_out, items_of(graph), embedding=embedding, similarity=similarity, k=[5]
        )
        training = held_out.training.to_scipy().toarray()
        full = graph.to_scipy().toarray()
        if similarity == "cosine":
            vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        scores = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
        is_item = np.array([id in set(items_of(graph)) for id in graph.ids.to_pylist()])
        recalls = []
        for row in np.flatnonzero(~is_item):
            wanted = np.flatnonzero((full[row] > 0) & (training[row] == 0))
            if len(wanted):
                free = np.where(is_item & (training[row] == 0), scores[row], -np.inf)
                recalls.append(np.isin(np.argsort(-free)[:5], wanted).sum() / len(wanted))
        assert result.recall[5] == pytest.approx(np.mean(recalls))
        assert result.method == f"{similarity} of vectors"

    @pytest.mark.parametrize("similarity", ["cosine", "dot"])
    def test_items_with_the_same_vector_have_the_same_score(self, similarity):
        graph = random_purchases(items=43, edges=900)
        random = np.random.default_rng(0)
        is_item = np.array([id.startswith("item") for id in graph.ids.to_pylist()])
        vectors = random.normal(size=(graph.nodes, 133)).astype(np.float32)
        vectors[is_item] = vectors[0]
        items, users = np.flatnonzero(is_item[graph.rows]), np.flatnonzero(~is_item[graph.rows])
        embedding = Embedding(vectors, graph.ids)
        scorer = recommendation.SimilarityScorer(graph, embedding, items, similarity)
        for count in (1, 3, 17, 33):
            assert all(len(set(scores)) == 1 for _, scores in scorer.scores(users[:count]))

    def test_a_perfect_embedding_recommends_all_held_out_items(self):
        groups = np.repeat(np.arange(4), 5)
        pairs = [
            (f"user {u}", f"item {i}")
            for u in range(20)
            for i in range(20)
            if groups[u] == groups[i]
        ]
        graph = Graph.from_edges(*zip(*pairs, strict=True))
        held_out = hold_out(graph, negatives=0)
        own = [groups[int(id.split()[1])] for id in graph.ids.to_pylist()]
        embedding = Embedding(np.eye(4, dtype=np.float32)[own], graph.ids)
        result = evaluate_recommendation(held_out, items_of(graph), embedding=embedding)
        assert result.recall[10] == result.ndcg[10] == pytest.approx(1.0)
        walks = evaluate_recommendation(held_out, items_of(graph))
        assert walks.recall[10] == pytest.approx(1.0)

    def test_the_result_can_be_printed_and_written_as_json(self):
        graph = random_purchases()
        result = evaluate_recommendation(hold_out(graph, negatives=0), items_of(graph), k=[10])
        assert str(result).splitlines()[0].startswith("walks, alpha 1, beta 0: ")
        assert f"recall@10 {result.recall[10]:.4f}" in str(result)
        assert json.loads(json.dumps(result.to_dict()))["recall"]["10"] == result.recall[10]

    def test_a_held_out_edge_between_two_items_is_refused(self):
        graph = random_purchases()
        held_out = hold_out(graph, negatives=0)
        one, other = items_of(graph)[:2]
        wrong = held_out.edges.slice(0, 1).set_column(0, "source", [[one]])
        wrong = wrong.set_column(1, "target", [[other]])
        pairs = HeldOut(held_out.training, wrong, held_out.negatives)
        with pytest.raises(ParameterError, match="does not join a user and an item"):
            evaluate_recommendation(pairs, items_of(graph))

    def test_pairs_without_a_training_graph_are_refused(self):
        held_out = hold_out(random_purchases(), negatives=0)
        pairs = HeldOut(None, held_out.edges, held_out.negatives)
        with pytest.raises(ParameterError, match="these pairs have no training graph"):
            evaluate_recommendation(pairs, ["item 1"])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"k": [0]}, "k must be an integer from 1"),
            ({"alpha": -1}, "alpha must be a number from 0 to 10"),
            ({"beta": "x"}, "beta must be a number from -10 to 10"),
            ({"similarity": "l2"}, "similarity must be 'cosine' or 'dot'"),
        ],
    )
    def test_invalid_parameters(self, options, message):
        graph = random_purchases()
        with pytest.raises(ParameterError, match=f"evaluate_recommendation: {message}"):
            evaluate_recommendation(hold_out(graph, negatives=0), items_of(graph), **options)
