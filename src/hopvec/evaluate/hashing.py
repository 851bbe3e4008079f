"""Random numbers as hashes of a seed and ids, so that the order of the input does not matter."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)


class RandomStream(IntEnum):
    """Purposes of random numbers: each has a stream of its own, for any seed."""

    HELD_OUT_EDGES = 1
    NEGATIVES = 2
    REGRESSION = 3
    NODE_SAMPLE = 4
    DEGREE_NEGATIVES = 5


def hash_uint64(*parts: int | NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers and arrays of the same shape to random 64-bit numbers, by splitmix64."""
    with np.errstate(over="ignore"):
        state = np.zeros(1, dtype=np.uint64)
        for part in parts:
            state = _finalize((state ^ np.asarray(part, dtype=np.uint64)) + GOLDEN_RATIO)
    return state


def uniform_integers(bound: int, bits: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Map random bits to integers in [0, bound), uniform to 2^-22 for any number of nodes."""
    uniform = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return (uniform * bound).astype(np.int64)


def _finalize(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of splitmix64, as in native/random.hpp."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
