"""Normalization of the sum of orders: columns of mean 0 and variance 1, rows of length 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.machine import interruptible

BLOCK_ROWS = 1 << 14  # processed together
CACHE_LINE_FLOATS = 16
MIN_SPREAD = 2.0**-20  # a smaller relative deviation of a column is rounding error


@dataclass(frozen=True)
class Normalization:
    """How the orders and their sum are normalized."""

    unit_orders: bool = False
    """The rows of every order are scaled to unit length before they are added."""
    standard_columns: bool = False
    """The columns of the sum are standardized to mean 0 and variance 1."""
    unit_rows: bool = False
    """The rows of the result are scaled to unit length."""


NORMALIZATIONS = {
    "none": Normalization(),
    "orders": Normalization(unit_orders=True),
    "authors": Normalization(unit_orders=True, standard_columns=True),
    "full": Normalization(unit_orders=True, standard_columns=True, unit_rows=True),
}


@dataclass(frozen=True)
class ColumnScaler:
    """Standardizes columns: subtracts a mean, then multiplies by a factor."""

    mean: NDArray[np.float64]
    factor: NDArray[np.float64]
    """1 / deviation, or 0 for a column that is constant up to rounding error."""

    def centered(self) -> ColumnScaler:
        """Only subtracts the mean; constant columns still become 0."""
        return ColumnScaler(self.mean, np.where(self.factor > 0, 1.0, 0.0))

    def apply(
        self, values: NDArray[np.float32], rows: NDArray[np.int32], *, unit: bool, threads: int
    ) -> None:
        """Standardize rows in place; `unit` scales them to unit length afterwards.

        Zero rows stay zero: otherwise all of them would share one meaningless vector.
        """
        rows = rows[is_nonzero(values, rows)]
        interruptible(
            lambda stop: _native.standardize(
                values, rows, self.mean, self.factor, unit, threads, stop
            ),
            operations=4 * values.size,
        )


def fit_column_scaler(
    values: NDArray[np.float32], rows: NDArray[np.int32], threads: int
) -> ColumnScaler:
    """Fit a scaler to some rows, summed in the given order."""
    if len(rows) == 0:
        return ColumnScaler(np.zeros(values.shape[1]), np.zeros(values.shape[1]))

    def moments(about: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return interruptible(
            lambda stop: _native.moments(values, rows, about, threads, stop),
            operations=4 * values.size,
        )

    mean = moments(None)
    mean /= len(rows)
    return column_scaler(mean, moments(mean) / len(rows))


def column_scaler(mean: NDArray[np.float64], variance: NDArray[np.float64]) -> ColumnScaler:
    """The scaler of columns with this mean and variance."""
    deviation = np.sqrt(variance)
    varies = deviation > MIN_SPREAD * np.sqrt(mean * mean + deviation * deviation)
    return ColumnScaler(mean, np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies))


def present_rows(
    values: NDArray[np.float32], has_row: NDArray[np.bool_], rows: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The rows that have a vector, in the graph's internal order; node i has the row rows[i].

    Nodes without edges come last. Those whose sum is zero do not enter the statistics.
    """
    connected, without_row = rows[has_row], rows[~has_row]
    return np.concatenate([connected, without_row[is_nonzero(values, without_row)]])


def is_nonzero(values: NDArray[np.float32], rows: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Mask of the given rows that have a nonzero entry, computed block by block."""
    found = np.zeros(len(rows), dtype=bool)
    for first in range(0, len(rows), BLOCK_ROWS):
        here, some = found[first : first + BLOCK_ROWS], rows[first : first + BLOCK_ROWS]
        # Most rows have a nonzero first entry, so that the others are not read.
        for columns in (1, CACHE_LINE_FLOATS, values.shape[1]):
            left = np.flatnonzero(~here)
            here[left] = values[:, :columns][some[left]].any(axis=1)
    return found
