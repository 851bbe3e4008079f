"""The diagonal matrix L = diag((d_j / 2m)^beta) of FastRP."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hopvec import _native

Diagonals = tuple[NDArray[np.float32], NDArray[np.float32]]
"""The diagonals of L, and of L for order 0."""


def degree_powers(
    degrees: Sequence[NDArray[np.float64]], beta: float, volume: float, max_abs: float = 1.0
) -> tuple[list[Diagonals], float]:
    """The diagonals of L for each array of degrees, (d_j / 2m)^beta (paper, Eq. 7), and a factor.

    `volume` is 2m. The diagonals must be multiplied by the factor, which they share: it consists
    of (2m)^-beta and of a power of two that scales the largest entry to just below 2^15, so that
    every order fits float16 if no entry of R exceeds `max_abs`. A node of degree 0 has the entry 0
    for beta < 0, since it has nothing to propagate, and counts as degree 1 in order 0.
    """
    powers = []
    for some in degrees:
        power_0 = _native.power(np.where(some > 0, some, 1.0), beta)
        powers.append((np.where(some > 0, power_0, 1.0 if beta == 0 else 0.0), power_0))
    largest = max(power_0.max() for _, power_0 in powers)
    scale = math.ldexp(1.0, 15 - int(np.frexp(largest * max_abs)[1]))
    power_of_volume = _native.power(np.array([volume or 1.0]), -beta)[0]
    diagonals = [
        ((power * scale).astype(np.float32), (power_0 * scale).astype(np.float32))
        for power, power_0 in powers
    ]
    return diagonals, float(power_of_volume) / scale
