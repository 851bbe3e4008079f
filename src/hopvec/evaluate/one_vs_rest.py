"""One-vs-rest classification: train on some rows, score the predictions for the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hopvec._native import Stop
from hopvec.evaluate.logistic import Matrix, fit

Members = NDArray[np.bool_]
"""[nodes, classes]: the membership mask."""

C_GRID = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
FOLDS = 5
MIN_SCORED_NODES = 1000  # that a C is scored on; the folds beyond that are skipped
PATIENCE = 2  # consecutive worse values of C that end the search, if enough nodes are scored
SEARCH_TOLERANCE = 1e-2  # of the fits that choose C; a smaller one chooses the same C


class PredictionCounts(NamedTuple):
    """Counts of predictions per class. Counts of disjoint sets of nodes can be added."""

    correct: NDArray[np.int64]
    """Members of the class that are predicted to be members: true positives."""
    total: NDArray[np.int64]
    """Number of members plus number of predicted members."""

    @classmethod
    def from_predictions(cls, predicted: Members, members: Members) -> Self:
        """Count predictions for some nodes."""
        correct = (predicted & members).sum(axis=0)
        return cls(correct, predicted.sum(axis=0) + members.sum(axis=0))

    def plus(self, other: PredictionCounts) -> PredictionCounts:
        """The sum of the counts."""
        return PredictionCounts(self.correct + other.correct, self.total + other.total)

    @property
    def macro_f1(self) -> float:
        """The mean F1 of all classes, in percent; 0 for a class without members and predictions."""
        return float(100 * np.mean(2 * self.correct / np.maximum(self.total, 1)))

    @property
    def micro_f1(self) -> float:
        """The F1 of all predictions, in percent."""
        return float(100 * 2 * self.correct.sum() / self.total.sum())


def train_and_score(
    rows: Matrix,
    members: Members,
    training: int,
    C: float,  # noqa: N803
    stop: Stop,
) -> PredictionCounts:
    """Train on the first `training` nodes and count the predictions for the others."""
    weights = fit(rows[:training], members[:training], C, stop=stop)
    return score(rows[training:], members[training:], weights, members[:training])


def score(rows: Matrix, members: Members, weights: Matrix, trained_on: Members) -> PredictionCounts:
    """Predicts as many classes per node as it has labels, and counts the predictions.

    A class without training nodes ranks last, one with all training nodes ranks first.
    """
    margins = rows @ weights
    margins[:, ~trained_on.any(axis=0)] = -np.inf
    margins[:, trained_on.all(axis=0)] = np.inf
    return PredictionCounts.from_predictions(top_classes(margins, members.sum(axis=1)), members)


def top_classes(margins: Matrix, counts: NDArray[np.int64]) -> Members:
    """The mask of the counts[i] classes with the largest margins in row i; ties go to the first."""
    order = np.argsort(-margins, axis=1, kind="stable")
    chosen = np.zeros(margins.shape, bool)
    np.put_along_axis(chosen, order, np.arange(margins.shape[1]) < counts[:, None], axis=1)
    return chosen


class Fold(NamedTuple):
    """A fold of cross-validation, and the weights of a model trained on the other rows."""

    rows: Matrix
    members: Members
    weights: Matrix
    trained_on: Members
    """The membership mask of the other rows."""


def macro_f1(folds: Sequence[Fold]) -> float:
    """The macro F1 of all folds together, since one of them has too few nodes of most classes."""
    return reduce(PredictionCounts.plus, (score(*fold) for fold in folds)).macro_f1


def choose_c(
    rows: Matrix,
    members: Members,
    stop: Stop,
    measure: Callable[[Sequence[Fold]], float] = macro_f1,
) -> float:
    """The C with the best cross-validated score on these rows; of equal ones, the smallest.

    If there are few rows in total, a worse score may be chance, so the whole grid is tried.
    """
    slices = _folds(len(rows))
    patience = PATIENCE if len(rows) >= MIN_SCORED_NODES else len(C_GRID)
    weights: list[Matrix | None] = [None] * len(slices)
    best, chosen, worse = -1.0, C_GRID[0], 0
    for C in C_GRID:  # noqa: N806
        folds = []
        for number, fold in enumerate(slices):
            inside = np.ones(len(rows), bool)
            inside[fold] = False
            trained_on = members[inside]
            weights[number] = found = fit(
                rows[inside],
                trained_on,
                C,
                tolerance=SEARCH_TOLERANCE,
                start=weights[number],
                stop=stop,
            )
            folds.append(Fold(rows[fold], members[fold], found, trained_on))
        result = measure(folds)
        worse = worse + 1 if result < best else 0
        if worse == patience:
            break
        if result > best:
            best, chosen = result, C
    return chosen


def _folds(count: int) -> list[slice]:
    """As many of five equal folds as are needed to score MIN_SCORED_NODES nodes."""
    bounds = np.linspace(0, count, min(FOLDS, count) + 1).astype(int)
    needed = -(-MIN_SCORED_NODES // max(1, count // FOLDS))
    return [slice(low, high) for low, high in pairwise(bounds)][:needed]
