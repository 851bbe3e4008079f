"""What a pass fits to the sum of its orders: on the driver, from products that tasks have summed.

The same functions of the engine as on one machine fit the statistics and apply them to rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.finish import Finish
from hopvec.engine.fitted import FittedState, FittedStatistics
from hopvec.engine.normalize import ColumnScaler
from hopvec.engine.principal import (
    add_products,
    blocks_of,
    centered_gram,
    leading_components,
)
from hopvec.engine.refine import Compress, Whiten, add_normalized_products, write_vectors
from hopvec.engine.spectral import Floats
from hopvec.machine import cores
from hopvec.methods import FastRP

AddRows = Callable[[NDArray[np.float32], NDArray[np.int32], Floats, Floats], None]
"""Adds the products of some rows to a Gram matrix, and the rows to a sum; which rows have a vector
is the second argument."""


@dataclass(frozen=True)
class FittedRun:
    """What a run has learned from its graph, for the metadata of its vectors."""

    state: FittedState
    graph: dict[str, Any]
    """Properties of the graph."""


def pass_name(name: str, number: int, method: FastRP, separator: str = "-") -> str:
    """The name of a table or stage of a pass; the last pass adds nothing to it."""
    last = number == method.passes - 1
    return name if last else f"{name}{separator}{number + 1}"


class PassSum(Protocol):
    """The weighted sum of the orders of a pass, distributed over tasks."""

    @property
    def columns(self) -> ColumnScaler:
        """The mean and deviation of each column."""

    @property
    def present(self) -> int:
        """The number of rows that have a vector, if rows of orders are normalized."""

    def products(self, add: AddRows) -> tuple[Floats, Floats, int]:
        """The Gram matrix of the rows as `add` reads them, their sum and how many have a vector."""


def fit_whitening(total: PassSum) -> FittedStatistics:
    """The statistics of a pass that is not the last."""
    return Whiten().fit(total.columns, _covariance(total), total.present, cores())


def fit_last_pass(
    total: PassSum,
    method: FastRP,
    finish: Finish | Compress,
    degree_factors: Floats | None,
) -> FittedStatistics:
    """The statistics of the last pass; `degree_factors` are for columns with degrees."""
    dim = int(method.dim)
    if isinstance(finish, Compress):
        return finish.fit(total.columns, _covariance(total), dim, degree_factors, cores())
    if finish.like is not None:
        return finish.like
    columns = None
    if finish.normalization.standard_columns and total.present:
        columns = total.columns
    if dim == method._width:
        return FittedStatistics(columns)

    def add(
        rows: NDArray[np.float32], present: NDArray[np.int32], gram: Floats, sums: Floats
    ) -> None:
        _standardize(rows, present, columns, finish)
        for _, block in blocks_of(rows):
            add_products(block, gram, sums, 1)

    covariance, mean = centered_gram(*total.products(add))
    spectrum = finish.spectrum
    components = leading_components(covariance, mean, dim, spectrum=spectrum, threads=cores())
    return FittedStatistics(columns, components)


def finished_rows(
    rows: NDArray[np.float32],
    present: NDArray[np.int32],
    degrees: NDArray[np.float64] | None,
    finish: Finish | Compress,
    statistics: FittedStatistics,
) -> NDArray[np.float32]:
    """The vectors of some rows of the sum, which are changed; `degrees` are by part and row."""
    components = statistics.components
    if isinstance(finish, Compress):
        assert components is not None
        all_degrees = [] if degrees is None else list(degrees)
        dim = components.basis.shape[1] + len(all_degrees)
        vectors = np.empty((len(rows), dim), np.float32)
        targets = np.arange(len(rows), dtype=np.int32)
        write_vectors(rows, statistics, all_degrees, vectors, targets, 1)
        return vectors
    _standardize(rows, present, statistics.columns, finish)
    if components is None:
        return rows
    projected = components.project(rows, 1)
    components.columns.apply(projected, present, unit=finish.normalization.unit_rows, threads=1)
    return projected


def _covariance(total: PassSum) -> Callable[[ColumnScaler], tuple[Floats, Floats]]:
    """The covariance of the normalized rows, for given columns."""

    def covariance(columns: ColumnScaler) -> tuple[Floats, Floats]:
        def add(
            rows: NDArray[np.float32], present: NDArray[np.int32], gram: Floats, sums: Floats
        ) -> None:
            add_normalized_products(rows, gram, sums, columns=columns, threads=1)

        return centered_gram(*total.products(add))

    return covariance


def _standardize(
    rows: NDArray[np.float32],
    present: NDArray[np.int32],
    columns: ColumnScaler | None,
    finish: Finish,
) -> None:
    if columns:
        columns.apply(rows, present, unit=finish.normalization.unit_rows, threads=1)
