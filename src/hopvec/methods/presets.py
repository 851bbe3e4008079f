"""Presets: sets of parameters of FastRP that have a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hopvec.errors import ParameterError


@dataclass(frozen=True)
class Preset:
    """A set of parameters, and what it is for."""

    parameters: Mapping[str, Any]
    """Those that are not the defaults of FastRP."""
    help: str


PRESETS = {
    "balanced": Preset({}, "the defaults: good on every kind of graph, without tuning"),
    "fast": Preset(
        {"weights": (0.0, 0.0, 1.0, 1.0)}, "two hops less, in about two thirds of the time"
    ),
    "best": Preset(
        {"weights": (0.0, 0.0, *[1.0] * 8), "oversample": 4},
        "ten hops of four times the columns, the best of them kept; at least ten times the time",
    ),
    "social": Preset(
        {"weights": (0.0, 0.0, 1.0, 4.0), "beta": -0.5},
        "for dense social networks, such as BlogCatalog: short walks, hubs held back",
    ),
    "paper": Preset(
        {"dim": 512, "weights": (0.0, 0.0, 1.0, 4.0), "beta": -0.75, "normalize": "none"},
        "the paper to the letter (section 4.3), which tunes the last weight and beta",
    ),
    "authors": Preset(
        {"dim": 512, "weights": (0.0, 0.0, 1.0, 4.0), "beta": -0.75, "normalize": "authors"},
        "the same with the normalization of the authors' code",
    ),
    "neo4j": Preset(
        {"weights": (0.0, 1.0, 1.0), "beta": 0.0, "sparsity": 3.0, "normalize": "orders"},
        "the documented defaults of Neo4j GDS; other random numbers, and degrees sum weights",
    ),
}


def preset(name: str) -> Preset:
    """The preset of a name. Raises ParameterError with those that there are."""
    if name not in PRESETS:
        raise ParameterError(f"There is no preset {name!r}; there are {', '.join(PRESETS)}.")
    return PRESETS[name]
