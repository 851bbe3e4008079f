"""Tuning: which parameters of a method are best for a graph, by the search of the paper."""

from hopvec.tuning.result import Tuning as Tuning
from hopvec.tuning.space import Range as Range
from hopvec.tuning.study import Trial as Trial
from hopvec.tuning.tune import tune as tune
