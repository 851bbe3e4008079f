"""Link prediction: operators against plain numpy, and the training pairs of the regression."""

import json
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import KFold

from edge_splits import as_keys, edge_splits, edges_of, ends
from example_graphs import random_example, skewed_example
from hopvec import (
    Embedding,
    FastRP,
    Graph,
    MissingExtraError,
    ParameterError,
    UnknownNodeError,
    read_graph,
)
from hopvec.evaluate import HeldOut, hold_out, link_prediction, predict_links, read_links
from hopvec.evaluate.link_prediction import OPERATORS, mean_auc, training_pairs
from hopvec.evaluate.one_vs_rest import C_GRID, Fold
from hopvec.evaluate.pairs import SAMPLINGS
from one_pass import one_pass


def random_embedding(graph, dim=16, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(graph.nodes, dim)).astype(np.float32)
    return Embedding(vectors, graph.ids)


def pair_vectors(embedding, edges, negatives):
    pairs = ends(edges) + ends(negatives)
    both = [embedding[[pair[end] for pair in pairs]].astype(np.float64) for end in (0, 1)]
    return *both, np.repeat([1, 0], [len(edges), len(negatives)])


def training_pairs_of(held_out, sampling, seed):
    tables = (held_out.edges, *held_out.negatives.values())
    return training_pairs(held_out.training, sampling, seed, without=tables)


GRAPH = skewed_example(200, 1200).graph()
HELD_OUT = hold_out(GRAPH)
FEW = {how: pairs[:60] for how, pairs in HELD_OUT.negatives.items()}


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_dot_and_cosine_equal_plain_numpy(sampling):
    embedding = random_embedding(GRAPH)
    u, v, labels = pair_vectors(embedding, HELD_OUT.edges, HELD_OUT.negatives[sampling])
    dot = (u * v).sum(axis=1)
    found = predict_links(embedding, HELD_OUT).scores[sampling]
    for operator, scores in (
        ("dot", dot),
        ("cosine", dot / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)),
    ):
        assert found[operator].auc == pytest.approx(roc_auc_score(labels, scores))
        assert found[operator].average_precision == pytest.approx(
            average_precision_score(labels, scores)
        )


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_hadamard_is_a_logistic_regression_on_scaled_products_of_training_pairs(sampling):
    embedding = random_embedding(GRAPH)
    result = predict_links(embedding, HELD_OUT, operators=["hadamard"], seed=4)
    edges, others = training_pairs_of(HELD_OUT, sampling, seed=4)
    u, v, labels = pair_vectors(embedding, edges, others)
    scale = 1 / np.sqrt(((u * v) ** 2).mean())
    regression = result.regression[sampling]
    model = LogisticRegression(C=regression.C, solver="liblinear", tol=1e-8)
    model.fit(scale * u * v, labels)
    u, v, labels = pair_vectors(embedding, HELD_OUT.edges, HELD_OUT.negatives[sampling])
    expected = roc_auc_score(labels, model.decision_function(scale * u * v))
    assert result.scores[sampling]["hadamard"].auc == pytest.approx(expected, abs=1e-4)
    assert regression.scale == pytest.approx(scale)
    assert regression.edges == len(edges) == HELD_OUT.training.edges - HELD_OUT.training.loops


@pytest.mark.parametrize("directed", [False, True])
def test_degree_alone_is_the_product_of_the_degrees_in_the_training_graph(directed):
    graph = skewed_example(200, 1200, directed=directed, weighted=True).graph()
    held_out = hold_out(graph, connected=False)
    joined = held_out.training.to_scipy().toarray() != 0
    np.fill_diagonal(joined, False)
    assert held_out.training.ids.to_pylist() == list(range(200))
    for sampling, negatives in held_out.negatives.items():
        pairs = np.array(ends(held_out.edges) + ends(negatives))
        products = joined.sum(axis=1)[pairs[:, 0]] * joined.sum(axis=0)[pairs[:, 1]]
        labels = np.repeat([1, 0], [len(held_out.edges), len(negatives)])
        for embedding in (random_embedding(graph), random_embedding(graph, seed=1)):
            found = predict_links(embedding, held_out, operators=["dot"]).scores[sampling]
            assert list(found) == ["dot", "degree alone"]
            assert found["degree alone"].auc == pytest.approx(roc_auc_score(labels, products))


def test_degrees_distinguish_edges_from_uniform_negatives_but_not_from_degree_negatives():
    random = np.random.default_rng(0)
    ends = (3000 * random.random((2, 12_000)) ** 3).astype(np.int64)
    held_out = hold_out(Graph.from_edges(*ends, loops="drop"), connected=False)
    found = predict_links(random_embedding(held_out.training), held_out, operators=["dot"]).scores
    assert found["uniform"]["degree alone"].auc > 0.75
    assert abs(found["degree"]["degree alone"].auc - 0.5) < 0.07


class TestChoiceOfC:
    def test_it_is_the_best_of_the_grid_by_the_auc_of_folds_of_the_training_pairs(self):
        embedding = random_embedding(GRAPH)
        regression = predict_links(embedding, HELD_OUT, operators=["hadamard"]).regression
        for sampling in SAMPLINGS:
            u, v, labels = pair_vectors(embedding, *training_pairs_of(HELD_OUT, sampling, seed=0))
            order = np.random.default_rng(0).permutation(len(labels))
            rows, labels = (regression[sampling].scale * u * v)[order], labels[order]
            aucs = {
                C: np.mean(
                    [
                        roc_auc_score(labels[test], model.decision_function(rows[test]))
                        for train, test in KFold(5).split(rows)
                        for model in [
                            LogisticRegression(C=C, solver="liblinear").fit(
                                rows[train], labels[train]
                            )
                        ]
                    ]
                )
                for C in C_GRID
            }
            assert aucs[regression[sampling].C] > max(aucs.values()) - 0.002

    def test_test_pairs_do_not_change_it(self):
        embedding = random_embedding(GRAPH)
        found = predict_links(embedding, HELD_OUT, operators=["hadamard"])
        swapped = HeldOut(
            HELD_OUT.training,
            HELD_OUT.negatives["uniform"],
            {"uniform": HELD_OUT.edges, "degree": HELD_OUT.negatives["degree"]},
        )
        other = predict_links(embedding, swapped, operators=["hadamard"])
        assert other.regression == found.regression
        auc = found.scores["uniform"]["hadamard"].auc
        assert other.scores["uniform"]["hadamard"].auc == pytest.approx(1 - auc)

    def test_folds_of_one_class_are_skipped(self):
        rows, weights = np.array([[1.0], [2.0], [3.0]]), np.ones((1, 1))
        both, one = np.array([[False], [True], [True]]), np.ones((3, 1), bool)
        assert mean_auc([Fold(rows, both, weights, one), Fold(rows, one, weights, one)]) == 1
        assert mean_auc([Fold(rows, one, weights, one)]) == 0.5


@settings(max_examples=30, suppress_health_check=[HealthCheck.filter_too_much])
@given(edge_splits(), st.sampled_from(SAMPLINGS))
def test_the_regression_is_never_trained_on_test_pairs_or_edges_as_negatives(split, sampling):
    graph, held_out = split
    try:
        edges, others = training_pairs_of(held_out, sampling, seed=1)
    except ParameterError:
        assume(False)  # nothing is left to learn from
    learned, fresh = as_keys(graph, edges), as_keys(graph, others)
    tables = (held_out.edges, *held_out.negatives.values())
    test = {pair for table in tables for pair in as_keys(graph, table)}
    assert len({*learned, *fresh}) == 2 * len(learned) == 2 * len(fresh)
    assert set(learned) <= set(edges_of(held_out.training))
    assert not set(fresh) & set(edges_of(graph))
    assert not {*learned, *fresh} & test


def test_test_edges_in_the_graph_are_not_trained_on():
    leaking = HeldOut(GRAPH, HELD_OUT.edges, HELD_OUT.negatives)
    tables = (HELD_OUT.edges, *HELD_OUT.negatives.values())
    test = {pair for table in tables for pair in as_keys(GRAPH, table)}
    for sampling in SAMPLINGS:
        edges, others = training_pairs_of(leaking, sampling, seed=0)
        assert not test & {*as_keys(GRAPH, edges), *as_keys(GRAPH, others)}


def test_the_number_of_training_edges_is_limited_and_the_seed_selects_them(monkeypatch):
    monkeypatch.setattr(link_prediction, "MAX_TRAINING_EDGES", 50)
    one, same, other = (training_pairs_of(HELD_OUT, "degree", seed) for seed in (1, 1, 2))
    assert len(one[0]) == len(one[1]) == 50
    assert one == same
    assert one[0] != other[0]
    assert one[1] != other[1]


@pytest.mark.parametrize("operator", ["dot", "cosine", "hadamard"])
def test_random_vectors_have_an_auc_of_one_half(operator):
    held_out = hold_out(random_example(2000, 8000).graph(), share=0.4)
    embedding = random_embedding(held_out.training, dim=8)
    result = predict_links(embedding, held_out, operators=[operator])
    edges = len(held_out.edges)
    deviation = np.sqrt((2 * edges + 1) / (12 * edges * edges))  # of the rank statistic
    for found in result.scores.values():
        assert abs(found[operator].auc - 0.5) < 4.5 * deviation


def test_vectors_of_the_graph_have_a_higher_auc():
    blocks = np.random.default_rng(0).integers(0, 40, (2, 4000))
    group = np.random.default_rng(1).integers(0, 10, 4000) * 40
    held_out = hold_out(Graph.from_edges(blocks[0] + group, blocks[1] + group))
    found = predict_links(FastRP(dim=64).embed(held_out.training), held_out).scores
    for operators in found.values():
        assert min(operators[name].auc for name in OPERATORS) > 0.75


def test_the_order_of_the_vectors_does_not_matter():
    embedding = random_embedding(GRAPH)
    order = np.random.default_rng(2).permutation(len(embedding))
    shuffled = Embedding(embedding.vectors[order], embedding.ids.take(pa.array(order)))
    plain, other = (predict_links(e, HELD_OUT, operators=["dot"]) for e in (embedding, shuffled))
    assert plain == other


@pytest.mark.parametrize("operator", ["dot", "cosine", "hadamard"])
def test_pairs_with_the_same_vectors_tie(operator):
    vectors = np.random.default_rng(0).normal(size=(2, 33)).astype(np.float32)
    embedding = Embedding(vectors[np.arange(GRAPH.nodes) % 2], GRAPH.ids)
    every = ends(HELD_OUT.edges) + ends(HELD_OUT.negatives["uniform"])
    mixed = [pair for pair in every if sum(pair) % 2]
    swapped = [pair[::-1] if at % 3 else pair for at, pair in enumerate(mixed)]
    source, target = (pa.array(end) for end in zip(*swapped, strict=True))
    pairs = pa.table({"source": source, "target": target})
    half = len(pairs) // 2
    held_out = HeldOut(HELD_OUT.training, pairs[:half], {"given": pairs[half:]})
    found = predict_links(embedding, held_out, operators=[operator], k=[1]).scores["given"]
    assert found[operator].auc == 0.5
    assert found[operator].hits == {1: 0.0}


def test_the_cosine_of_a_zero_vector_is_0():
    ids = pa.array(["a", "b", "zero"])
    embedding = Embedding(np.array([[1, 0], [-1, 0.1], [0, 0]], np.float32), ids)
    pairs = [{"source": ["a"], "target": ["zero"]}, {"source": ["a"], "target": ["b"]}]
    edges, negatives = map(pa.table, pairs)
    held_out = HeldOut(None, edges, {"given": negatives})
    assert predict_links(embedding, held_out).scores["given"]["cosine"].auc == 1.0


def test_default_values_of_k_are_limited_by_the_negatives():
    embedding = random_embedding(GRAPH)
    few = HeldOut(None, HELD_OUT.edges, FEW)
    for k, expected in ((None, [10, 50]), ([1, 60], [1, 60])):
        for found in predict_links(embedding, few, k=k).scores.values():
            assert list(found["dot"].hits) == expected


def test_the_result_prints_as_a_table_and_can_be_written_as_json():
    result = predict_links(random_embedding(GRAPH), HELD_OUT, k=[10])
    lines = str(result).splitlines()
    assert lines[0].split() == ["negatives", "operator", "AUC", "average", "precision", "hits@10"]
    operators = [["dot"], ["cosine"], ["hadamard"], ["degree", "alone"]]
    assert [line.split()[:-3] for line in lines[1:]] == [
        [sampling, *operator] for sampling in SAMPLINGS for operator in operators
    ]
    assert len(set(map(len, lines))) == 1
    values = json.loads(json.dumps(result.to_dict()))
    assert values["scores"]["degree"]["dot"]["auc"] == result.scores["degree"]["dot"].auc
    assert values["edges"] == len(HELD_OUT.edges)
    assert values["negatives"] == {sampling: len(HELD_OUT.edges) for sampling in SAMPLINGS}
    assert values["regression"]["degree"]["C"] == result.regression["degree"].C


def test_progress_reaches_the_total(monkeypatch):
    monkeypatch.setattr(link_prediction, "BLOCK_ENTRIES", 1000)
    reports = []
    predict_links(random_embedding(GRAPH), HELD_OUT, progress=lambda *state: reports.append(state))
    assert len(reports) > 3
    assert reports[-1][0] == reports[-1][1]
    assert reports == sorted(reports)


def test_pairs_in_a_text_file_match_integer_ids(tmp_path):
    HELD_OUT.save(tmp_path / "links.csv")
    embedding = random_embedding(GRAPH)
    from_file = predict_links(embedding, read_links(tmp_path / "links.csv"))
    expected = predict_links(embedding, HELD_OUT).scores
    for sampling in SAMPLINGS:
        assert list(from_file.scores[sampling]) == ["dot", "cosine"]
        assert from_file.scores[sampling]["dot"] == expected[sampling]["dot"]


def test_edges_in_a_text_file_are_compared_with_sampled_negatives(tmp_path):
    HeldOut(None, HELD_OUT.edges, {}).save(tmp_path / "links.csv")
    links = read_links(tmp_path / "links.csv", graph=GRAPH)
    found = predict_links(random_embedding(GRAPH), links)
    assert list(found.scores["degree"]) == ["dot", "cosine", "hadamard", "degree alone"]
    assert found.negatives == dict.fromkeys(SAMPLINGS, found.edges)


class TestErrors:
    def test_hadamard_without_a_training_graph(self):
        pairs = HeldOut(None, HELD_OUT.edges, HELD_OUT.negatives)
        with pytest.raises(
            ParameterError, match="hadamard is trained on the edges of the training graph"
        ):
            predict_links(random_embedding(GRAPH), pairs, operators=["hadamard"])

    def test_a_graph_with_nothing_to_train_on(self):
        ring = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
        held_out = hold_out(ring, count=1, negatives=2)
        with pytest.raises(ParameterError) as error:
            predict_links(random_embedding(held_out.training), held_out)
        assert str(error.value) == (
            "There is nothing to train a logistic regression on: 3 training edges and 0 pairs that "
            "are neither edges nor test pairs. Use another score or operator."
        )

    def test_an_unknown_operator(self):
        with pytest.raises(
            ParameterError, match="operators must be 'dot' or 'cosine' or 'hadamard'"
        ):
            predict_links(random_embedding(GRAPH), HELD_OUT, operators=["l2"])

    def test_k_above_the_number_of_negatives(self):
        few = HeldOut(None, HELD_OUT.edges, FEW)
        with pytest.raises(ParameterError, match="k must be an integer from 1 to 60, got 61"):
            predict_links(random_embedding(GRAPH), few, k=[61])

    def test_no_negatives(self):
        with pytest.raises(
            ParameterError, match="there are no negatives to compare the edges with"
        ):
            predict_links(random_embedding(GRAPH), hold_out(GRAPH, negatives=0))

    def test_a_node_without_a_vector(self):
        embedding = random_embedding(GRAPH)
        some = Embedding(embedding.vectors[:100], embedding.ids[:100])
        with pytest.raises(UnknownNodeError, match=r"No node .* among the 100 of this embedding"):
            predict_links(some, HELD_OUT)

    def test_a_missing_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "threadpoolctl", None)
        with pytest.raises(MissingExtraError, match="Learning from edges needs the evaluate extra"):
            predict_links(random_embedding(GRAPH), HELD_OUT)
        plain = predict_links(random_embedding(GRAPH), HELD_OUT, operators=["dot"])
        assert plain.regression == {}

    def test_a_vector_with_nan(self):
        vectors = random_embedding(GRAPH).vectors.copy()
        vectors[7, 3] = np.nan
        with pytest.raises(ParameterError, match="The vector of 7 contains a NaN or an infinity"):
            predict_links(Embedding(vectors, GRAPH.ids), HELD_OUT)


@pytest.mark.parametrize(
    ("file", "least"), [("ppi/Homo_sapiens.mat", 0.8), ("blogcatalog/blogcatalog.mat", 0.72)]
)
def test_fastrp_predicts_the_edges_of_published_graphs(data_dir, file, least):
    held_out = hold_out(read_graph(data_dir / file, variable="network"))
    embedding = one_pass(dim=128).embed(held_out.training)
    found = predict_links(embedding, held_out, operators=["dot", "cosine"]).scores
    assert min(found["uniform"][name].auc for name in ("dot", "cosine")) > least
    assert min(found["degree"][name].auc for name in ("dot", "cosine")) > 0.7
    assert found["uniform"]["degree alone"].auc > found["uniform"]["cosine"].auc
    assert found["degree"]["degree alone"].auc < found["degree"]["cosine"].auc - 0.1
