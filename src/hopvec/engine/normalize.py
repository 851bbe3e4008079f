"""Normalization of the sum of orders: columns of mean 0 and variance 1, rows of length 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.machine import interruptible

BLOCK_ROWS = 1 << 14  # looked at together
CACHE_LINE_FLOATS = 16  # entries of a row that come from memory together
CONSTANT = 2.0**-20  # spread of a column, relative to its size, that is rounding error and no more


@dataclass(frozen=True)
class Normalization:
    """What is done to orders and to their sum."""

    unit_orders: bool = False
    """The rows of every order become unit before they are added."""
    standard_columns: bool = False
    """The columns of the sum get mean 0 and variance 1."""
    unit_rows: bool = False
    """The rows become unit in the end."""


NORMALIZATIONS = {
    "none": Normalization(),
    "orders": Normalization(unit_orders=True),
    "authors": Normalization(unit_orders=True, standard_columns=True),
    "full": Normalization(unit_orders=True, standard_columns=True, unit_rows=True),
}


@dataclass(frozen=True)
class ColumnScaler:
    """What is subtracted from the columns of a matrix, and what they are then multiplied with."""

    mean: NDArray[np.float64]
    factor: NDArray[np.float64]
    """1 / deviation, or 0 for a column whose spread is rounding error: it becomes 0."""

    def apply(
        self, values: NDArray[np.float32], rows: NDArray[np.int32], *, unit: bool, threads: int
    ) -> None:
        """Changes some rows in place; they become unit in the end, if asked for.

        A row that is zero stays so: all of them would share one vector that tells nothing.
        """
        rows = rows[not_zero(values, rows)]
        interruptible(
            lambda stop: _native.standardize(
                values, rows, self.mean, self.factor, unit, threads, stop
            )
        )


def statistics(values: NDArray[np.float32], rows: NDArray[np.int32], threads: int) -> ColumnScaler:
    """What brings the columns to mean 0 and variance 1 over `rows`, summed in their order."""
    mean = interruptible(lambda stop: _native.moments(values, rows, None, threads, stop))
    mean /= len(rows)
    squares = interruptible(lambda stop: _native.moments(values, rows, mean, threads, stop))
    return standardizing(mean, squares / len(rows))


def standardizing(mean: NDArray[np.float64], variance: NDArray[np.float64]) -> ColumnScaler:
    """What brings columns of this mean and variance to mean 0 and variance 1."""
    deviation = np.sqrt(variance)
    varies = deviation > CONSTANT * np.sqrt(mean * mean + deviation * deviation)
    return ColumnScaler(mean, np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies))


def present_rows(
    values: NDArray[np.float32], has_row: NDArray[np.bool_], rows: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The rows that have a vector, in the graph's internal order; `rows` are those of its nodes.

    Nodes without a row of S come last. Those whose sum is zero stay so, and out of the statistics.
    """
    connected, without_row = rows[has_row], rows[~has_row]
    return np.concatenate([connected, without_row[not_zero(values, without_row)]])


def not_zero(values: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each of some rows has an entry that is not zero; looks at a few rows at a time."""
    found = np.zeros(len(rows), dtype=bool)
    for first in range(0, len(rows), BLOCK_ROWS):
        here, some = found[first : first + BLOCK_ROWS], rows[first : first + BLOCK_ROWS]
        for columns in (
            1,
            CACHE_LINE_FLOATS,
            values.shape[1],
        ):  # most rows show it in their first entry
            left = np.flatnonzero(~here)
            here[left] = values[:, :columns][some[left]].any(axis=1)
    return found
