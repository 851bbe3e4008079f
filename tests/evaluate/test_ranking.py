"""Ranking metrics against scikit-learn and against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

from hopvec.evaluate import ranking

few_values = st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=20)
many_values = st.lists(st.floats(-10, 10), min_size=1, max_size=20)
scores = (few_values | many_values).map(lambda values: np.array(values, np.float64))


@given(scores, scores)
def test_auc_and_average_precision_equal_those_of_scikit_learn(positives, negatives):
    labels = np.repeat([1, 0], [len(positives), len(negatives)])
    both = np.concatenate([positives, negatives])
    assert ranking.auc(positives, negatives) == pytest.approx(roc_auc_score(labels, both))
    assert ranking.average_precision(positives, negatives) == pytest.approx(
        average_precision_score(labels, both)
    )


@given(scores, scores)
def test_auc_is_the_share_of_correctly_ordered_pairs_with_ties_counted_half(positives, negatives):
    right = [(p > n) + (p == n) / 2 for p in positives for n in negatives]
    assert ranking.auc(positives, negatives) == pytest.approx(np.mean(right))


@given(scores, scores, st.data())
def test_hits_are_the_positives_above_the_kth_best_negative(positives, negatives, data):
    k = data.draw(st.integers(1, len(negatives)))
    bar = sorted(negatives, reverse=True)[k - 1]
    expected = sum(positive > bar for positive in positives) / len(positives)
    assert ranking.hits(positives, negatives, k) == expected


@given(st.lists(st.booleans(), min_size=2, max_size=12), st.integers(1, 12))
def test_ndcg_of_a_full_ranking_equals_that_of_scikit_learn(found, k):
    wanted = sum(found)
    if wanted:
        order = -np.arange(len(found), dtype=np.float64)
        expected = ndcg_score([np.array(found, np.int64)], [order], k=k)
        assert ranking.ndcg(np.array(found), wanted, k) == pytest.approx(expected)


def test_relevant_items_outside_the_list_count_as_missed():
    found = np.array([True, False])
    assert ranking.recall(found, 4, 10) == 0.25
    best = 1 + 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    assert ranking.ndcg(found, 4, 10) == pytest.approx(1 / best)
