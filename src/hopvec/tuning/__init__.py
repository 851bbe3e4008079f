"""Parameter search: finds the parameters of a method that suit a graph best.

tune.py             the search (`tune`)
space.py            the search space
suggest.py          the next point to try: grid, random or TPE
objective.py        the score of a trial: classification or link prediction
trial_vectors.py    the vectors of a trial, with cached orders
study.py            the file of finished trials, from which a search resumes
result.py, plot.py  the result and its plot
"""

from hopvec.tuning.result import Tuning
from hopvec.tuning.space import Choices, Range
from hopvec.tuning.study import Trial
from hopvec.tuning.tune import tune

__all__ = ["Choices", "Range", "Trial", "Tuning", "tune"]


def __dir__() -> list[str]:
    return sorted(__all__)
