"""Random rows with features added: R + weight * F, with F = X P / sqrt(columns)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.random_rows import GaussianRows, SparseRows
from hopvec.graph.features import FeatureColumns, Features

BLOCK_ROWS = 1 << 14  # processed together


@dataclass(frozen=True)
class FeatureRows:
    """R + weight * F. X holds the standardized numbers of a node, and a 1 for each category.

    P holds random signs, which depend on the seed and the name of the column, and for a category
    also on its value. The entries of F have a variance of about 1, like those of R.
    """

    random: SparseRows | GaussianRows
    node_features: Features
    standard: FeatureColumns
    """The mean and deviation that standardize numbers: their own, or those of an earlier run."""
    weight: float
    rows: NDArray[np.int32]
    """[nodes]: node i has the features of row rows[i]."""

    @property
    def scale(self) -> float:
        """The rows are `scale` times what is drawn."""
        return self.random.scale

    @property
    def sampler(self) -> _native.SparseRows | _native.GaussianRows:
        """The native sampler of R."""
        return self.random.sampler

    @cached_property
    def max_abs(self) -> float:
        """An upper bound of the absolute entries drawn, whatever the signs."""
        factor, shift = self._standardizing
        largest = 0.0
        for first in range(0, len(self.node_features.numbers), BLOCK_ROWS):
            some = self.node_features.numbers[first : first + BLOCK_ROWS] * factor + shift
            sums = np.abs(np.nan_to_num(some)).sum(axis=1, dtype=np.float64)
            largest = max(largest, float(sums.max(initial=0.0)))
        return 1.0 + self._share * (largest + len(self.node_features.columns.categories))

    @cached_property
    def features(self) -> _native.Features:
        """The native form of weight * X P, on the scale of what is drawn."""
        factor, shift = self._standardizing
        return _native.Features(
            number=self.node_features.numbers,
            factor=factor,
            shift=shift,
            number_key=self.node_features.columns.number_keys,
            category=self.node_features.categories,
            rows=self.rows,
            seed=self.random.seed,
            weight=self._share,
        )

    @property
    def _share(self) -> float:
        columns = len(self.node_features.columns.names)
        return self.weight / (math.sqrt(columns) * self.scale)

    @cached_property
    def _standardizing(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Factor and shift that convert numbers from their own standardization to the given one."""
        own, given = self.node_features.columns, self.standard
        varies = given.deviation > 0
        divided = np.zeros((2, len(varies)))
        for at, part in enumerate((own.deviation, own.mean - given.mean)):
            np.divide(part, given.deviation, out=divided[at], where=varies)
        factor, shift = divided.astype(np.float32)
        return factor, shift
