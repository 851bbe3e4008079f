"""Objectives: which labels they use, and that good vectors score higher than bad ones."""

import numpy as np
import pytest

from example_graphs import skewed_example
from hopvec import Embedding, FastRP, Graph, Labels, ParameterError, tune
from hopvec.evaluate import evaluate_recommendation, hold_out
from hopvec.progress import no_progress
from hopvec.tuning.objective import (
    ClassificationObjective,
    LinkPredictionObjective,
    RecommendationObjective,
    graph_checksum,
)
from planted_partition import planted_partition

GRAPH, LABELS = planted_partition()
SETTINGS = {
    "measure": "macro",
    "validation": 0.5,
    "train": None,
    "shuffles": 3,
    "C": 0.1,
    "threads": 1,
    "seed": 0,
}


def classes(labels=LABELS, graph=GRAPH, **settings):
    return ClassificationObjective(graph, labels, **SETTINGS | settings)


def score(objective, method):
    return objective.score(method.embed(objective.graph), lambda done, total: None)


class TestClassificationObjective:
    def test_half_of_the_labeled_nodes_stay_unseen(self):
        objective = classes()
        seen, unseen = objective._seen.ids.to_pylist(), objective.unseen.ids.to_pylist()
        assert len(seen) == len(unseen) == 120
        assert sorted(seen + unseen) == sorted(LABELS.ids.to_pylist())

    def test_unseen_labels_do_not_change_the_score(self):
        unseen = set(classes().unseen.ids.to_pylist())
        ids = LABELS.ids.to_pylist()
        names = [LABELS.classes[at] for at in LABELS.matrix.toarray().argmax(axis=1)]
        other = ["class 0" if id_ in unseen else name for id_, name in zip(ids, names, strict=True)]
        method = FastRP(dim=16)
        assert score(classes(Labels.from_pairs(ids, other)), method) == score(classes(), method)

    def test_the_nodes_seen_depend_on_the_seed(self):
        first, second = classes(seed=1), classes(seed=2)
        assert first._seen.ids != second._seen.ids
        assert first._seen.ids == classes(seed=1)._seen.ids

    def test_with_validation_1_no_node_is_unseen(self):
        assert len(classes(validation=1.0).unseen) == 0

    @pytest.mark.parametrize(
        ("nodes", "settings", "training_nodes"),
        [
            (240, {}, 60),  # half of the 120 that are seen
            (240, {"train": 0.1}, 24),
            (3000, {}, 100),
            (12_000, {}, 120),  # 1 %
        ],
    )
    def test_it_trains_on_1_percent_but_on_enough_nodes(self, nodes, settings, training_nodes):
        graph, labels = planted_partition(nodes, degree=2)
        objective = classes(labels, graph, **settings)
        assert objective.settings["training nodes"] == training_nodes
        seen = len(objective._seen)
        assert round(objective._share * seen) == training_nodes

    def test_vectors_that_encode_the_classes_score_higher(self):
        good, bad = FastRP(dim=32, weights=(0, 1, 1)), FastRP(dim=1, weights=(1,))
        assert score(classes(), good) > score(classes(), bad) + 10

    def test_macro_and_micro_differ_on_classes_of_different_sizes(self):
        ids = LABELS.ids.to_pylist()
        names = ["rare" if row % 10 == 0 else "usual" for row in range(len(ids))]
        labels, method = Labels.from_pairs(ids, names), FastRP(dim=16)
        assert score(classes(labels, measure="micro"), method) > score(classes(labels), method) + 5

    def test_labels_of_missing_nodes_warn_once(self, caplog):
        ids, names = [*GRAPH.ids.to_pylist(), "stranger"], ["a", "b"] * 120 + ["a"]
        objective = classes(Labels.from_pairs(ids, names))
        assert "Ignoring 1 of 241 labeled nodes, which have no vector" in caplog.text
        caplog.clear()
        score(objective, FastRP(dim=16))
        assert caplog.text == ""

    @pytest.mark.parametrize("settings", [{"validation": 0.005}, {"train": 0.9}, {"train": 0.001}])
    def test_too_few_labels_are_refused(self, settings):
        with pytest.raises(
            ParameterError, match=r"sees \d+ of 240 labeled nodes, so it cannot train on"
        ):
            classes(**settings)


def links(graph=GRAPH, sampling="both"):
    return LinkPredictionObjective(graph, share=0.2, sampling=sampling, seed=0)


class TestLinkPredictionObjective:
    def test_held_out_edges_are_not_in_the_embedded_graph(self):
        objective = links()
        edges = GRAPH.describe()["edges"]
        assert objective.graph.nodes == GRAPH.nodes
        assert objective.graph.describe()["edges"] == edges - round(0.2 * edges)
        assert objective.unseen is None

    def test_good_vectors_score_higher_than_bad_ones(self):
        objective = links()
        good, bad = (
            FastRP(dim=64, weights=(0, 1, 1), passes=1),
            FastRP(dim=1, weights=(1,), passes=1),
        )
        assert 0.5 < score(objective, bad) + 0.1 < score(objective, good) < 1

    def test_edges_of_a_tree_can_be_held_out(self):
        tree = Graph.from_edges(np.arange(1, 50), np.arange(1, 50) // 2)
        assert links(tree).graph.describe()["edges"] == 39

    def test_the_score_is_the_mean_for_both_kinds_of_negatives(self):
        method = FastRP(dim=16)
        both, uniform, degree = (
            score(links(sampling=sampling), method) for sampling in ("both", "uniform", "degree")
        )
        assert both == pytest.approx((uniform + degree) / 2)
        assert uniform != degree
        assert links().measure == "mean link AUC"
        assert links(sampling="degree").settings["sampling"] == "degree"

    def test_vectors_of_nothing_but_degrees_win_only_against_uniform_negatives(self):
        random = np.random.default_rng(0)
        graph = Graph.from_edges(*(2000 * random.random((2, 8000)) ** 3).astype(int), loops="drop")
        vectors = random.normal(size=(graph.nodes, 32)).astype(np.float32)
        vectors[np.diff(graph.to_scipy().indptr) > 10] = 1
        hubs_are_similar = Embedding(vectors, graph.ids)
        uniform, degree = (
            links(graph, sampling).score(hubs_are_similar, lambda done, total: None)
            for sampling in ("uniform", "degree")
        )
        assert degree < 0.54 < 0.6 < uniform


def test_different_graphs_have_different_checksums():
    one = Graph.from_edges([0, 1, 2], [1, 2, 3])
    assert graph_checksum(one) == graph_checksum(Graph.from_edges([2, 1, 0], [3, 2, 1]))
    others = [
        Graph.from_edges([0, 1, 2], [1, 2, 4]),
        Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 2.0, 1.0]),
        Graph.from_edges([0, 1, 3], [1, 2, 1]),
        Graph.from_bipartite([0, 2, 2], [1, 1, 3]),
        Graph.from_edges([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], directed=True),  # the same rows
    ]
    assert len({graph_checksum(graph) for graph in [one, *others]}) == 6


class TestRecommendationObjective:
    @pytest.mark.parametrize("objective", ["recall@5", "ndcg@5", "mrr@3", "hit_rate@5"])
    def test_the_score_is_that_of_the_evaluation(self, objective):
        graph = skewed_example(80, 400).graph()
        made = RecommendationObjective(graph, objective=objective, seed=3)
        held_out = hold_out(graph, per_node=True, negatives=0, seed=3)
        assert made.graph.to_scipy().nnz == held_out.training.to_scipy().nnz
        embedding = FastRP(dim=8).embed(made.graph)
        metric, k = objective.split("@")
        found = evaluate_recommendation(embedding, held_out, scores=["cosine"], k=[int(k)])
        expected = getattr(found.scores["vectors"]["cosine"][int(k)], metric)
        assert made.score(embedding, no_progress) == expected
        assert made.measure == objective

    @pytest.mark.parametrize(
        "objective",
        [
            "recall",
            "recall@0",
            "recall@x",
            "map@10",
            "",
            20,
            "recall@99999999999",
            "mrr@1" + "0" * 5000,
        ],
    )
    def test_an_invalid_name_is_refused(self, objective):
        with pytest.raises(ParameterError, match="objective must be 'auc', or recall, ndcg"):
            tune(skewed_example(30, 90).graph(), objective=objective)

    def test_other_settings_of_link_prediction_are_refused(self):
        with pytest.raises(ParameterError, match="held_out= applies only to the objective auc"):
            tune(skewed_example(30, 90).graph(), objective="recall@20", held_out=0.1)

    def test_a_search_maximizes_it(self):
        graph = skewed_example(80, 400).graph()
        space = {"beta": "-1:1:0.5"}
        found = tune(graph, objective="ndcg@5", space=space, search="grid", search_dim=8)
        assert found.measure == "ndcg@5"
        assert found.best.score == max(trial.score for trial in found.trials)
