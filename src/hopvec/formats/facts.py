"""How an embedding was made, as the JSON text that every format keeps beside the vectors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from hopvec.embedding import Embedding


def to_json(embedding: Embedding) -> str:
    """The parameters and the facts of the graph."""
    facts = {"parameters": embedding.parameters, "graph": embedding.graph}
    return json.dumps(facts, default=_plain)


def from_json(text: str | bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the facts of the graph; both empty where the text is."""
    facts = json.loads(text or "{}")
    return dict(facts.get("parameters", {})), dict(facts.get("graph", {}))


def _plain(value: object) -> Any:
    """Numbers and lists of numpy as those of Python; anything else by how it looks."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else repr(value)
