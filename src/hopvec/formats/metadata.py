"""How an embedding was made, as the JSON text that every format keeps beside the vectors."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.finish import FittedStatistics
from hopvec.engine.fitted import FittedState
from hopvec.engine.normalize import ColumnScaler
from hopvec.engine.principal import Components
from hopvec.graph.features import FeatureColumns

if TYPE_CHECKING:
    from hopvec.embedding import Embedding


class Metadata(NamedTuple):
    """What an embedding tells beside vectors and ids."""

    parameters: dict[str, Any]
    graph: dict[str, Any]
    fitted_state: FittedState | None


def to_json(embedding: Embedding) -> str:
    """The parameters, the facts of the graph and the fitted_state."""
    facts: dict[str, Any] = {"parameters": embedding.parameters, "graph": embedding.graph}
    if embedding.fitted_state:
        facts["fitted_state"] = _state_to_plain(embedding.fitted_state)
    return json.dumps(facts, default=_plain)


def is_metadata_json(text: str) -> bool:
    """Whether a text looks like one of `to_json`, which may be too long to be read for that."""
    return text.startswith('{"parameters": {')


def from_json(text: str | bytes) -> Metadata:
    """The parameters, the facts of the graph and the fitted_state; empty where the text is."""
    facts = json.loads(text or "{}")
    fitted_state = facts.get("fitted_state")
    return Metadata(
        dict(facts.get("parameters", {})),
        dict(facts.get("graph", {})),
        _state_from_plain(fitted_state) if fitted_state else None,
    )


def _state_to_plain(fitted_state: FittedState) -> dict[str, Any]:
    """Numbers, and arrays as base64 of little-endian bytes."""
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
        kept = plain["components"]
        basis = _unpacked(kept["basis"], "<f4").reshape(kept["width"], -1)
        components = Components(basis, _columns_from_plain(kept["columns"]))
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
    """Numbers and lists of numpy as those of Python; anything else by how it looks."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else repr(value)
