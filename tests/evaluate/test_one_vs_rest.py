import numpy as np
import pytest
from sklearn.metrics import f1_score

from hopvec._native import Stop
from hopvec.evaluate import one_vs_rest
from hopvec.evaluate.one_vs_rest import (
    C_GRID,
    FOLDS,
    MIN_SCORED_NODES,
    PredictionCounts,
    _folds,
    choose_c,
    score,
    top_classes,
)


@pytest.mark.parametrize("seed", range(5))
def test_f1_equals_that_of_scikit_learn(seed):
    random = np.random.default_rng(seed)
    members, predicted = random.random((2, 50, 8)) < np.linspace(0, 0.5, 8)  # one class is empty
    counts = PredictionCounts.from_predictions(predicted, members)
    for average in ("macro", "micro"):
        expected = 100 * f1_score(members, predicted, average=average, zero_division=0)
        assert getattr(counts, f"{average}_f1") == pytest.approx(expected, abs=1e-10)


def test_counts_of_parts_add_up():
    members, predicted = np.random.default_rng(0).random((2, 30, 4)) < 0.4
    parts = PredictionCounts.from_predictions(predicted[:9], members[:9]).plus(
        PredictionCounts.from_predictions(predicted[9:], members[9:])
    )
    whole = PredictionCounts.from_predictions(predicted, members)
    assert (parts.macro_f1, parts.micro_f1) == (whole.macro_f1, whole.micro_f1)


def test_each_node_gets_as_many_classes_as_it_has():
    margins = np.array([[0.1, 0.3, 0.2], [0.1, 0.3, 0.2], [5.0, 5.0, 5.0]])
    assert top_classes(margins, np.array([1, 2, 2])).tolist() == [
        [False, True, False],
        [False, True, True],
        [True, True, False],
    ]


def test_a_class_without_training_nodes_ranks_last_and_one_with_all_of_them_first():
    trained_on = np.array([[True, False, True], [True, False, False]])
    members = np.array([[True, True, False], [True, False, False]])
    weights = np.array([[-9.0, 9.0, 0.0]])
    counts = score(np.ones((2, 1)), members, weights, trained_on)
    assert counts.correct.tolist() == [2, 0, 0]
    assert counts.total.tolist() == [4, 1, 1]


@pytest.mark.parametrize("count", [1, 2, 5, 99, 1000, 5000, 100_000])
def test_folds_score_enough_nodes_and_each_of_them_once(count):
    scored = np.zeros(count, int)
    for fold in _folds(count):
        scored[fold] += 1
        assert scored[fold].sum() <= max(1, -(-count // FOLDS))
    assert scored.max() == 1
    assert scored.sum() >= min(count, MIN_SCORED_NODES)


def test_a_small_c_is_chosen_for_noise_and_a_large_one_for_a_weak_signal():
    random = np.random.default_rng(0)
    hint, chance = random.standard_normal((2, 300))
    members = np.column_stack([hint + chance > 0, hint + chance <= 0])
    noise, ones = random.standard_normal((300, 150)), np.ones(300)
    assert choose_c(np.column_stack([3 * hint, noise, ones]), members, Stop()) <= 0.1
    members = random.random((200, 4)) < [0.1, 0.2, 0.3, 0.4]
    faint = np.column_stack([0.02 * members, np.ones(200)])  # a small C finds nothing in it
    assert choose_c(faint, members, Stop()) >= 3


@pytest.mark.parametrize(
    ("nodes", "chosen", "tried"), [(90, 0.1, len(C_GRID)), (MIN_SCORED_NODES, 0.001, 3)]
)
def test_two_worse_scores_end_the_search_only_if_enough_nodes_are_scored(
    monkeypatch, nodes, chosen, tried
):
    curve = dict(zip(C_GRID, (30, 20, 10, 40, 50, 40, 40, 40, 40, 40, 40), strict=True))
    seen = []

    def fit(rows, members, C, **options):  # noqa: N803
        seen.append(C)
        return C

    def score(rows, members, weights, trained_on):
        return PredictionCounts(np.array([curve[weights]]), np.array([200]))

    monkeypatch.setattr(one_vs_rest, "fit", fit)
    monkeypatch.setattr(one_vs_rest, "score", score)
    assert choose_c(np.ones((nodes, 1)), np.ones((nodes, 1), bool), Stop()) == chosen
    assert len(set(seen)) == tried
