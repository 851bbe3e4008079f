"""Metadata of an embedding (parameters, graph, fitted state) as JSON, stored with the vectors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hopvec.engine.fitted import FittedState
from hopvec.formats.fitted_state import state_from_dict, state_to_dict

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
        metadata["fitted_state"] = state_to_dict(embedding.fitted_state)
    return json.dumps(metadata, default=_json_default)


def is_metadata_json(text: str) -> bool:
    """Whether a string, which may be too long to parse, looks like a result of `to_json`."""
    return text.startswith('{"parameters": {')


def from_json(text: str | bytes) -> Metadata:
    """Parse the result of `to_json`; an empty string gives empty metadata.

    Raises ValueError if it is damaged.
    """
    metadata = json.loads(text or "{}")
    for part in (metadata, *(metadata.get(name, {}) for name in ("parameters", "graph"))):
        if not isinstance(part, dict):
            raise ValueError("the metadata are not a JSON object")
    fitted_state = metadata.get("fitted_state")
    return Metadata(
        dict(metadata.get("parameters", {})),
        dict(metadata.get("graph", {})),
        state_from_dict(fitted_state) if fitted_state else None,
    )


def _json_default(value: object) -> Any:
    """NumPy values as Python ones, anything else as its repr."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else repr(value)
