"""Link prediction: operators against plain numpy, and the training pairs of the regression."""

import json
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

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
from hopvec.evaluate.link_prediction import training_pairs


def random_embedding(graph, dim=16, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(graph.nodes, dim)).astype(np.float32)
    return Embedding(vectors, graph.ids)


def pair_vectors(embedding, held_out):
    pairs = ends(held_out.edges) + ends(held_out.negatives)
    both = [embedding[[pair[end] for pair in pairs]].astype(np.float64) for end in (0, 1)]
    labels = np.repeat([1, 0], [len(held_out.edges), len(held_out.negatives)])
    return *both, labels


GRAPH = skewed_example(200, 1200).graph()
HELD_OUT = hold_out(GRAPH)


def test_dot_and_cosine_equal_plain_numpy():
    embedding = random_embedding(GRAPH)
    u, v, labels = pair_vectors(embedding, HELD_OUT)
    dot = (u * v).sum(axis=1)
    found = predict_links(embedding, HELD_OUT).operators
    for operator, scores in (
        ("dot", dot),
        ("cosine", dot / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)),
    ):
        assert found[operator].auc == pytest.approx(roc_auc_score(labels, scores))
        assert found[operator].average_precision == pytest.approx(
            average_precision_score(labels, scores)
        )


def test_hadamard_is_a_logistic_regression_on_scaled_products_of_training_pairs():
    embedding = random_embedding(GRAPH)
    result = predict_links(embedding, HELD_OUT, operators=["hadamard"], seed=4)
    edges, others = training_pairs(HELD_OUT, seed=4)
    u, v, labels = pair_vectors(embedding, HeldOut(None, edges, others))
    scale = 1 / np.sqrt(((u * v) ** 2).mean())
    model = LogisticRegression(C=result.regression.C, solver="liblinear", tol=1e-8).fit(
        scale * u * v, labels
    )
    u, v, labels = pair_vectors(embedding, HELD_OUT)
    expected = roc_auc_score(labels, model.decision_function(scale * u * v))
    assert result.operators["hadamard"].auc == pytest.approx(expected, abs=1e-4)
    assert result.regression.scale == pytest.approx(scale)
    assert (
        result.regression.edges == len(edges) == HELD_OUT.training.edges - HELD_OUT.training.loops
    )


@settings(max_examples=30)
@given(edge_splits())
def test_the_regression_is_never_trained_on_test_pairs_or_edges_as_negatives(split):
    graph, held_out = split
    try:
        edges, others = training_pairs(held_out, seed=1)
    except ParameterError:
        assume(False)  # nothing is left to learn from
    learned, fresh = as_keys(graph, edges), as_keys(graph, others)
    test = {*as_keys(graph, held_out.edges), *as_keys(graph, held_out.negatives)}
    assert len({*learned, *fresh}) == 2 * len(learned) == 2 * len(fresh)
    assert set(learned) <= set(edges_of(held_out.training))
    assert not set(fresh) & set(edges_of(graph))
    assert not {*learned, *fresh} & test


def test_test_edges_in_the_graph_are_not_trained_on():
    leaking = HeldOut(GRAPH, HELD_OUT.edges, HELD_OUT.negatives)
    edges, others = training_pairs(leaking, seed=0)
    seen = {*as_keys(GRAPH, edges), *as_keys(GRAPH, others)}
    assert not seen & {*as_keys(GRAPH, HELD_OUT.edges), *as_keys(GRAPH, HELD_OUT.negatives)}


def test_the_number_of_training_edges_is_limited_and_the_seed_selects_them(monkeypatch):
    monkeypatch.setattr(link_prediction, "MAX_TRAINING_EDGES", 50)
    one, same, other = (training_pairs(HELD_OUT, seed) for seed in (1, 1, 2))
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
    assert abs(result.operators[operator].auc - 0.5) < 4.5 * deviation


def test_vectors_of_the_graph_have_a_higher_auc():
    blocks = np.random.default_rng(0).integers(0, 40, (2, 4000))
    group = np.random.default_rng(1).integers(0, 10, 4000) * 40
    held_out = hold_out(Graph.from_edges(blocks[0] + group, blocks[1] + group))
    found = predict_links(FastRP(dim=64).embed(held_out.training), held_out).operators
    assert min(scores.auc for scores in found.values()) > 0.75


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
    mixed = [pair for pair in ends(HELD_OUT.edges) + ends(HELD_OUT.negatives) if sum(pair) % 2]
    swapped = [pair[::-1] if at % 3 else pair for at, pair in enumerate(mixed)]
    source, target = (pa.array(end) for end in zip(*swapped, strict=True))
    pairs = pa.table({"source": source, "target": target})
    held_out = HeldOut(HELD_OUT.training, pairs[: len(pairs) // 2], pairs[len(pairs) // 2 :])
    found = predict_links(embedding, held_out, operators=[operator], k=[1])
    assert found.operators[operator].auc == 0.5
    assert found.operators[operator].hits == {1: 0.0}


def test_the_cosine_of_a_zero_vector_is_0():
    ids = pa.array(["a", "b", "zero"])
    embedding = Embedding(np.array([[1, 0], [-1, 0.1], [0, 0]], np.float32), ids)
    pairs = [{"source": ["a"], "target": ["zero"]}, {"source": ["a"], "target": ["b"]}]
    held_out = HeldOut(None, *map(pa.table, pairs))
    assert predict_links(embedding, held_out).operators["cosine"].auc == 1.0


def test_default_values_of_k_are_limited_by_the_negatives():
    embedding = random_embedding(GRAPH)
    few = HeldOut(None, HELD_OUT.edges, HELD_OUT.negatives[:60])
    assert list(predict_links(embedding, few).operators["dot"].hits) == [10, 50]
    assert list(predict_links(embedding, few, k=[1, 60]).operators["dot"].hits) == [1, 60]


def test_the_result_prints_as_a_table_and_can_be_written_as_json():
    result = predict_links(random_embedding(GRAPH), HELD_OUT, k=[10])
    lines = str(result).splitlines()
    assert lines[0].split() == ["operator", "AUC", "average", "precision", "hits@10"]
    assert [line.split()[0] for line in lines[1:]] == ["dot", "cosine", "hadamard"]
    assert len(set(map(len, lines))) == 1
    values = json.loads(json.dumps(result.to_dict()))
    assert values["operators"]["dot"]["auc"] == result.operators["dot"].auc
    assert values["edges"] == len(HELD_OUT.edges)
    assert values["regression"]["C"] == result.regression.C


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
    assert list(from_file.operators) == ["dot", "cosine"]
    assert from_file.operators["dot"] == predict_links(embedding, HELD_OUT).operators["dot"]


def test_edges_in_a_text_file_are_compared_with_sampled_negatives(tmp_path):
    HeldOut(None, HELD_OUT.edges, HELD_OUT.negatives[:0]).save(tmp_path / "links.csv")
    links = read_links(tmp_path / "links.csv", graph=GRAPH)
    found = predict_links(random_embedding(GRAPH), links)
    assert list(found.operators) == ["dot", "cosine", "hadamard"]
    assert found.edges == found.negatives == len(HELD_OUT.edges)


class TestErrors:
    def test_hadamard_without_a_training_graph(self):
        pairs = HeldOut(None, HELD_OUT.edges, HELD_OUT.negatives)
        with pytest.raises(
            ParameterError, match="hadamard is trained on the edges of the training graph"
        ):
            predict_links(random_embedding(GRAPH), pairs, operators=["hadamard"])

    def test_a_graph_with_nothing_to_train_on(self):
        held_out = hold_out(Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0]), count=1, negatives=2)
        with pytest.raises(ParameterError) as error:
            predict_links(random_embedding(held_out.training), held_out)
        assert str(error.value) == (
            "predict_links: there is nothing to train the operator hadamard on: 3 training edges "
            "and 0 pairs that are neither edges nor test pairs. Leave it out of operators=."
        )

    def test_an_unknown_operator(self):
        with pytest.raises(
            ParameterError, match="operators must be 'dot' or 'cosine' or 'hadamard'"
        ):
            predict_links(random_embedding(GRAPH), HELD_OUT, operators=["l2"])

    def test_k_above_the_number_of_negatives(self):
        few = HeldOut(None, HELD_OUT.edges, HELD_OUT.negatives[:60])
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
        with pytest.raises(
            MissingExtraError, match="The operator hadamard needs the evaluate extra"
        ):
            predict_links(random_embedding(GRAPH), HELD_OUT)
        assert (
            predict_links(random_embedding(GRAPH), HELD_OUT, operators=["dot"]).regression is None
        )

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
    embedding = FastRP(dim=128).embed(held_out.training)
    found = predict_links(embedding, held_out, operators=["dot", "cosine"]).operators
    assert min(scores.auc for scores in found.values()) > least
