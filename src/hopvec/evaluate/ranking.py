"""How well scores put what is true before what is not: the measures of the literature.

Of scores of positives and of negatives, where ties are counted and never broken; and of a list,
best first, of what was found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


def auc(positives: Scores, negatives: Scores) -> float:
    """The chance that a random positive scores above a random negative; a tie counts half.

    The area under the ROC curve, by the rank statistic of Mann and Whitney. O(n log n).

    >>> auc(np.array([0.9, 0.5]), np.array([0.5, 0.1]))
    0.875
    """
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([positives, negatives]))[: len(positives)]
    above = ranks.sum() - len(positives) * (len(positives) + 1) / 2
    return float(above / (len(positives) * len(negatives)))


def average_precision(positives: Scores, negatives: Scores) -> float:
    """The mean over all positives of the precision at their scores; what ties is taken together.

    The area under the curve of precision and recall by steps, as in scikit-learn. O(n log n).

    >>> average_precision(np.array([0.9, 0.5]), np.array([0.7, 0.1]))
    0.8333333333333333
    """
    values, found = np.unique(positives, return_counts=True)
    at_least = np.cumsum(found[::-1])[::-1]  # positives that score at least each value
    wrong = len(negatives) - np.searchsorted(np.sort(negatives), values, side="left")
    precision = at_least / (at_least + wrong)
    return float(np.average(precision, weights=found))


def hits(positives: Scores, negatives: Scores, k: int) -> float:
    """The share of positives that score above the k-th best negative (hits@k of OGB).

    >>> hits(np.array([0.9, 0.5]), np.array([0.7, 0.1]), 1)
    0.5
    """
    bar = np.partition(negatives, len(negatives) - k)[len(negatives) - k]
    return float(np.mean(positives > bar))


def recall(found: NDArray[np.bool_], wanted: int, k: int) -> float:
    """The share of the wanted things that are among the first k of a list."""
    return float(found[:k].sum() / wanted)


def ndcg(found: NDArray[np.bool_], wanted: int, k: int) -> float:
    """The same where a thing of rank r counts 1 / log2(1 + r), as a share of the best possible.

    >>> ndcg(np.array([True, False, True]), wanted=1, k=1)
    1.0
    """
    gain = 1.0 / np.log2(np.arange(2, k + 2))
    best = gain[:wanted].sum()
    return float(gain[: len(found)][found[:k]].sum() / best)
