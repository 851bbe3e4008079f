"""The laws of R: an entry is a pure function of (seed, node key, column)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from hopvec import _native

SCATTER_FROM = 32.0


@dataclass(frozen=True)
class SparseRows:
    """R with entries +sqrt(s), 0, -sqrt(s), one in s not zero, by seed and node key."""

    seed: int
    sparsity: float

    features: ClassVar = None
    max_abs: ClassVar = 1.0

    @property
    def scale(self) -> float:
        """R is `scale` times what is drawn, which has no entry beyond 1 and so fits float16."""
        return math.sqrt(self.sparsity)

    @property
    def prefer_scatter(self) -> bool:
        """Whether so few entries are not zero that scattering them beats gathering whole rows."""
        return self.sparsity >= SCATTER_FROM

    @cached_property
    def sampler(self) -> _native.SparseRows:
        """The native form."""
        return _native.SparseRows(seed=self.seed, sparsity=self.sparsity)


@dataclass(frozen=True)
class GaussianRows:
    """R with entries of the standard normal law, by seed and node key."""

    seed: int
    scale: ClassVar[float] = 8.0
    features: ClassVar = None
    max_abs: ClassVar = 1.0

    @cached_property
    def sampler(self) -> _native.GaussianRows:
        """The native form."""
        return _native.GaussianRows(seed=self.seed)
