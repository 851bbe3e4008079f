"""Distributions of R: every entry is a pure function of (seed, node key, column)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from hopvec import _native

MIN_SCATTER_SPARSITY = 32.0


@dataclass(frozen=True)
class SparseRows:
    """R with entries +sqrt(s), 0 and -sqrt(s), one in s nonzero."""

    seed: int
    sparsity: float

    features: ClassVar[None] = None
    max_abs: ClassVar[float] = 1.0

    @property
    def scale(self) -> float:
        """R is `scale` times what the sampler draws, which is at most 1 and so fits float16."""
        return math.sqrt(self.sparsity)

    @property
    def prefer_scatter(self) -> bool:
        """Whether R is so sparse that scattering its entries beats gathering whole rows."""
        return self.sparsity >= MIN_SCATTER_SPARSITY

    @cached_property
    def sampler(self) -> _native.SparseRows:
        """The native sampler."""
        return _native.SparseRows(seed=self.seed, sparsity=self.sparsity)


@dataclass(frozen=True)
class GaussianRows:
    """R with standard normal entries."""

    seed: int
    scale: ClassVar[float] = 8.0
    features: ClassVar[None] = None
    max_abs: ClassVar[float] = 1.0

    @cached_property
    def sampler(self) -> _native.GaussianRows:
        """The native sampler."""
        return _native.GaussianRows(seed=self.seed)
