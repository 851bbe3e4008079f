"""Metadata of an embedding (parameters, graph, fitted state) as JSON, stored with the vectors."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.fitted import FittedState, FittedStatistics
from hopvec.engine.normalize import ColumnScaler
from hopvec.engine.principal import Components
from hopvec.graph.features import FeatureColumns

if TYPE_CHECKING:
    from hopvec.embedding import Embedding


class Metadata(NamedTuple):
    """The fields of an embedding other than vectors and ids, in the order of its constructor."""

    parameters: dict[str, Any]
    graph: dict[str, Any]
    fitted_state: FittedState | None


def to_json(embedding: Embedding) -> str:
    """The metadata of an embedding as JSON."""
    metadata: dict[str, Any] = {"parameters": embedding.parameters, "graph": embedding.graph}
    if embedding.fitted_state:
        metadata["fitted_state"] = _state_to_dict(embedding.fitted_state)
    return json.dumps(metadata, default=_json_default)


def is_metadata_json(text: str) -> bool:
    """Whether a string, which may be too long to parse, looks like a result of `to_json`."""
    return text.startswith('{"parameters": {')


def from_json(text: str | bytes) -> Metadata:
    """Parse the result of `to_json`; an empty string gives empty metadata."""
    metadata = json.loads(text or "{}")
    fitted_state = metadata.get("fitted_state")
    return Metadata(
        dict(metadata.get("parameters", {})),
        dict(metadata.get("graph", {})),
        _state_from_dict(fitted_state) if fitted_state else None,
    )


def _state_to_dict(fitted_state: FittedState) -> dict[str, Any]:
    """The fitted state as JSON values; arrays are base64 of little-endian bytes."""
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


def _state_from_dict(values: Mapping[str, Any]) -> FittedState:
    return FittedState(
        values["sparsity"],
        values["volume"],
        tuple(values.get("refine_weights", ())),
        _features_from_dict(values["features"]) if "features" in values else None,
        _statistics_from_dict(values),
        tuple(_statistics_from_dict(stored) for stored in values.get("earlier_passes", ())),
    )


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
        basis = _from_base64(stored["basis"], "<f4").reshape(stored["width"], -1)
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
    return FeatureColumns(
        tuple(values["numbers"]),
        tuple(values["categories"]),
        _from_base64(values["mean"], "<f8"),
        _from_base64(values["deviation"], "<f8"),
    )


def _columns_to_dict(columns: ColumnScaler) -> dict[str, str]:
    return {"mean": _to_base64(columns.mean), "factor": _to_base64(columns.factor)}


def _columns_from_dict(values: Mapping[str, str]) -> ColumnScaler:
    return ColumnScaler(_from_base64(values["mean"], "<f8"), _from_base64(values["factor"], "<f8"))


def _to_base64(array: NDArray[Any]) -> str:
    return b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def _from_base64(text: str, kind: str) -> NDArray[Any]:
    little = np.frombuffer(b64decode(text), kind)
    return little.astype(little.dtype.newbyteorder("="))


def _json_default(value: object) -> Any:
    """NumPy values as Python ones, anything else as its repr."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else repr(value)
