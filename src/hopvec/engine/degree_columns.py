"""Columns of the vectors that hold the logarithms of degrees (degree_weight)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.slab import Propagation


def fit_degree_factors(propagation: Propagation, size: float) -> NDArray[np.float64]:
    """The factors that scale log(1 + degree) to a root mean square of `size`.

    There is one for every transition matrix of the hops; the mean is over the nodes with edges.
    """
    factors = np.zeros(len(propagation.hops))
    nodes = int(propagation.has_row.sum())
    for part, A in enumerate(propagation.hops):  # noqa: N806
        logarithms = _native.logarithm(1.0 + A.degrees)
        squares = float(np.cumsum(logarithms**2)[-1])  # in sequence: the same on every machine
        factors[part] = size * np.sqrt(nodes / squares) if squares > 0 else 0.0
    return factors


def degree_columns(
    degrees: Sequence[NDArray[np.float64]], factors: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Factor * log(1 + degree) of some nodes, with one column for every transition matrix."""
    columns = [
        factor * _native.logarithm(1.0 + some)
        for factor, some in zip(factors, degrees, strict=True)
    ]
    return np.stack(columns, axis=1).astype(np.float32)
