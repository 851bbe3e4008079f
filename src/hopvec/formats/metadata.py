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
        metadata["fitted_state"] = _state_to_plain(embedding.fitted_state)
    return json.dumps(metadata, default=_plain)


def is_metadata_json(text: str) -> bool:
    """Whether a string, which may be too long to parse, looks like a result of `to_json`."""
    return text.startswith('{"parameters": {')


def from_json(text: str | bytes) -> Metadata:
    """Parses the result of `to_json`; an empty string gives empty metadata."""
    metadata = json.loads(text or "{}")
    fitted_state = metadata.get("fitted_state")
    return Metadata(
        dict(metadata.get("parameters", {})),
        dict(metadata.get("graph", {})),
        _state_from_plain(fitted_state) if fitted_state else None,
    )


def _state_to_plain(fitted_state: FittedState) -> dict[str, Any]:
    """The fitted state as JSON values; arrays are base64 of little-endian bytes."""
    plain: dict[str, Any] = {"sparsity": fitted_state.sparsity, "volume": fitted_state.volume}
    columns, components = fitted_state.statistics.columns, fitted_state.statistics.components
    if fitted_state.features:
        plain["features"] = _features_to_plain(fitted_state.features)
    if columns:
        plain["columns"] = _columns_to_plain(columns)
    if components:
        plain["components"] = {
            "width": len(components.basis),
            "basis": _packed(components.basis),
            "columns": _columns_to_plain(components.columns),
        }
    return plain


def _state_from_plain(plain: Mapping[str, Any]) -> FittedState:
    components = None
    if "components" in plain:
        stored = plain["components"]
        basis = _unpacked(stored["basis"], "<f4").reshape(stored["width"], -1)
        components = Components(basis, _columns_from_plain(stored["columns"]))
    columns = _columns_from_plain(plain["columns"]) if "columns" in plain else None
    return FittedState(
        plain["sparsity"],
        plain["volume"],
        _features_from_plain(plain["features"]) if "features" in plain else None,
        FittedStatistics(columns, components),
    )


def _features_to_plain(features: FeatureColumns) -> dict[str, Any]:
    return {
        "numbers": list(features.numbers),
        "categories": list(features.categories),
        "mean": _packed(features.mean),
        "deviation": _packed(features.deviation),
    }


def _features_from_plain(plain: Mapping[str, Any]) -> FeatureColumns:
    return FeatureColumns(
        tuple(plain["numbers"]),
        tuple(plain["categories"]),
        _unpacked(plain["mean"], "<f8"),
        _unpacked(plain["deviation"], "<f8"),
    )


def _columns_to_plain(columns: ColumnScaler) -> dict[str, str]:
    return {"mean": _packed(columns.mean), "factor": _packed(columns.factor)}


def _columns_from_plain(plain: Mapping[str, str]) -> ColumnScaler:
    return ColumnScaler(_unpacked(plain["mean"], "<f8"), _unpacked(plain["factor"], "<f8"))


def _packed(array: NDArray[Any]) -> str:
    return b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def _unpacked(text: str, kind: str) -> NDArray[Any]:
    little = np.frombuffer(b64decode(text), kind)
    return little.astype(little.dtype.newbyteorder("="))


def _plain(value: object) -> Any:
    """NumPy values as Python ones, anything else as its repr."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else repr(value)
