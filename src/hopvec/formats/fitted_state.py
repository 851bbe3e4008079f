"""The fitted state of an embedding as JSON values, validated when it is read.

Arrays are base64 of little-endian bytes. Later runs compute with them, so a damaged state must not
be read: numbers are finite and in their range, and arrays fit together.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.fitted import FittedState, FittedStatistics
from hopvec.engine.normalize import ColumnScaler
from hopvec.engine.principal import Components
from hopvec.graph.features import FeatureColumns

MAX_SPARSITY = 1e12  # the most that FastRP accepts


# Beyond these, vectors in float32 would not be finite; real states are far below.
MAX_ABS = 1e30
MAX_STANDARD = 1e15  # of a mean in standard deviations, and of the entries of components


def check_fits(state: FittedState, dim: int, edges: object) -> None:
    """Raise ValueError if a state cannot be that of vectors of `dim` columns."""
    if state.volume == 0 and edges != 0:
        raise ValueError("the volume of the fitted state is 0")
    for statistics in (state.statistics, *state.earlier_passes):
        _check_statistics(statistics)
    last = state.statistics
    width, columns = dim, dim
    if last.components:
        width, columns = last.components.basis.shape
        columns += 0 if last.degree_factors is None else len(last.degree_factors)
    elif last.columns:
        columns = len(last.columns.mean)
    if columns != dim:
        raise ValueError(f"the fitted state is that of {columns:,} columns instead of {dim:,}")
    for statistics in state.earlier_passes:
        components = statistics.components
        if statistics.columns is None:
            raise ValueError("a pass of the fitted state has no columns")
        if components is None or components.basis.shape != (width, width):
            raise ValueError("the passes of the fitted state differ in their columns")


def _check_statistics(statistics: FittedStatistics) -> None:
    """Raise ValueError unless the arrays fit together."""
    components, columns = statistics.components, statistics.columns
    if components is None:
        return
    width, dim = components.basis.shape
    if (np.abs(components.basis) > MAX_STANDARD).any():
        raise ValueError("the components of the fitted state have numbers that are too large")
    if len(components.columns.mean) != dim or (columns and len(columns.mean) != width):
        raise ValueError("the arrays of the fitted state differ in length")


def state_to_dict(fitted_state: FittedState) -> dict[str, Any]:
    """The fitted state as JSON values."""
    values: dict[str, Any] = {"sparsity": fitted_state.sparsity, "volume": fitted_state.volume}
    if fitted_state.features:
        values["features"] = _features_to_dict(fitted_state.features)
    values |= _statistics_to_dict(fitted_state.statistics)
    if fitted_state.earlier_passes:
        values["refine_weights"] = list(fitted_state.refine_weights)
        values["earlier_passes"] = [
            _statistics_to_dict(statistics) for statistics in fitted_state.earlier_passes
        ]
    return values


def state_from_dict(values: Mapping[str, Any]) -> FittedState:
    """The result of `state_to_dict` as a fitted state. Raises ValueError if it is damaged."""
    try:
        sparsity = values["sparsity"]
        return FittedState(
            None if sparsity is None else _number("sparsity", sparsity, 1, MAX_SPARSITY),
            _number("volume", values["volume"], 0),
            tuple(_number("refine_weights", one) for one in values.get("refine_weights", ())),
            _features_from_dict(values["features"]) if "features" in values else None,
            _statistics_from_dict(values),
            tuple(_statistics_from_dict(stored) for stored in values.get("earlier_passes", ())),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the fitted state is damaged: {error!r}") from error


def _number(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """A number of the state."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not low <= value <= high:
        raise ValueError(f"{name} of the fitted state is {value!r}")
    return float(value)


def _statistics_to_dict(statistics: FittedStatistics) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if statistics.columns:
        values["columns"] = _columns_to_dict(statistics.columns)
    if statistics.components:
        values["components"] = {
            "width": len(statistics.components.basis),
            "basis": _to_base64(statistics.components.basis),
            "columns": _columns_to_dict(statistics.components.columns),
        }
    if statistics.degree_factors is not None:
        values["degree_factors"] = _to_base64(statistics.degree_factors)
    return values


def _statistics_from_dict(values: Mapping[str, Any]) -> FittedStatistics:
    components = factors = None
    if "components" in values:
        stored = values["components"]
        basis = _from_base64(stored["basis"], "<f4").reshape(int(stored["width"]), -1)
        components = Components(basis, _columns_from_dict(stored["columns"]))
    if "degree_factors" in values:
        factors = _from_base64(values["degree_factors"], "<f8")
    columns = _columns_from_dict(values["columns"]) if "columns" in values else None
    return FittedStatistics(columns, components, factors)


def _features_to_dict(features: FeatureColumns) -> dict[str, Any]:
    return {
        "numbers": list(features.numbers),
        "categories": list(features.categories),
        "mean": _to_base64(features.mean),
        "deviation": _to_base64(features.deviation),
    }


def _features_from_dict(values: Mapping[str, Any]) -> FeatureColumns:
    numbers, categories = (tuple(map(_text, values[name])) for name in ("numbers", "categories"))
    mean, deviation = (_from_base64(values[name], "<f8") for name in ("mean", "deviation"))
    if not len(numbers) == len(mean) == len(deviation) or (deviation < 0).any():
        raise ValueError("the features of the fitted state do not fit together")
    return FeatureColumns(numbers, categories, mean, deviation)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a name is {value!r}")
    return value


def _columns_to_dict(columns: ColumnScaler) -> dict[str, str]:
    return {"mean": _to_base64(columns.mean), "factor": _to_base64(columns.factor)}


def _columns_from_dict(values: Mapping[str, str]) -> ColumnScaler:
    mean, factor = (_from_base64(values[name], "<f8") for name in ("mean", "factor"))
    if len(mean) != len(factor) or (factor < 0).any():
        raise ValueError("the columns of the fitted state do not fit together")
    if (np.maximum(np.abs(mean), factor) > MAX_ABS).any() or (
        np.abs(mean * factor) > MAX_STANDARD
    ).any():
        raise ValueError("the columns of the fitted state have numbers that are too large")
    return ColumnScaler(mean, factor)


def _to_base64(array: NDArray[Any]) -> str:
    return b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def _from_base64(text: str, kind: str) -> NDArray[Any]:
    little = np.frombuffer(b64decode(text, validate=True), kind)
    if not (np.abs(little) <= MAX_ABS).all():
        raise ValueError("the fitted state has numbers that are not finite or too large")
    return little.astype(little.dtype.newbyteorder("="))
