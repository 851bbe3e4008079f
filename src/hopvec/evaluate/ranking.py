"""Ranking metrics: of the scores of positives and negatives, and of ranked lists.

Ties between scores are counted, never broken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


def auc(positives: Scores, negatives: Scores) -> float:
    """The area under the ROC curve, by the Mann-Whitney U statistic. O(n log n).

    It is the probability that a random positive scores above a random negative; ties count half.

    >>> auc(np.array([0.9, 0.5]), np.array([0.5, 0.1]))
    0.875
    """
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([positives, negatives]))[: len(positives)]
    above = ranks.sum() - len(positives) * (len(positives) + 1) / 2
    return float(above / (len(positives) * len(negatives)))


def average_precision(positives: Scores, negatives: Scores) -> float:
    """The mean, over all positives, of the precision at their score. O(n log n).

    It is the step-wise area under the precision-recall curve, as in scikit-learn.

    >>> average_precision(np.array([0.9, 0.5]), np.array([0.7, 0.1]))
    0.8333333333333333
    """
    values, found = np.unique(positives, return_counts=True)
    at_least = np.cumsum(found[::-1])[::-1]  # positives with at least this score
    wrong = len(negatives) - np.searchsorted(np.sort(negatives), values, side="left")
    precision = at_least / (at_least + wrong)
    return float(np.average(precision, weights=found))


def hits(positives: Scores, negatives: Scores, k: int) -> float:
    """The share of positives that score above the k-th best negative, as defined by OGB.

    >>> hits(np.array([0.9, 0.5]), np.array([0.7, 0.1]), 1)
    0.5
    """
    threshold = np.partition(negatives, len(negatives) - k)[len(negatives) - k]
    return float(np.mean(positives > threshold))


def recall(relevant: NDArray[np.bool_], total: int, k: int) -> float:
    """The share of all relevant items that are among the first k of a ranked list."""
    return float(relevant[:k].sum() / total)


def ndcg(relevant: NDArray[np.bool_], total: int, k: int) -> float:
    """The discounted cumulative gain of the first k, divided by that of the ideal ranking.

    A relevant item of rank r gains 1 / log2(1 + r).

    >>> ndcg(np.array([True, False, True]), total=1, k=1)
    1.0
    """
    gain = 1.0 / np.log2(np.arange(2, k + 2))
    ideal = gain[:total].sum()
    return float(gain[: len(relevant)][relevant[:k]].sum() / ideal)
