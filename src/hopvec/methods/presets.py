"""Presets: named sets of parameters of FastRP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hopvec.errors import ParameterError


@dataclass(frozen=True)
class Preset:
    """A set of parameters and its purpose."""

    parameters: Mapping[str, Any]
    """The parameters that differ from the defaults of FastRP."""
    help: str


ONE_PASS: dict[str, Any] = {"passes": 1, "spectrum": 1.0}

PRESETS = {
    "balanced": Preset({}, "the defaults: good for all kinds of graphs without tuning"),
    "fast": Preset(
        {"weights": (0.0, 0.0, 1.0, 1.0), **ONE_PASS},
        "one pass of four hops, in about a quarter of the time",
    ),
    "best": Preset(
        {"weights": (1.0,) * 10, "passes": 6},
        "six passes instead of three, and ten hops in the last; about twice the time",
    ),
    "links": Preset(
        {"beta": -0.5, "degree_weight": 1.0},
        "for predicting and recommending links: more weight for rare neighbors, and one column for "
        "the degrees of nodes",
    ),
    "paper": Preset(
        {
            "dim": 512,
            "weights": (0.0, 0.0, 1.0, 4.0),
            "beta": -0.75,
            "normalize": "none",
            **ONE_PASS,
        },
        "exactly as in the paper (section 4.3), which tunes the last weight and beta per graph",
    ),
    "authors": Preset(
        {
            "dim": 512,
            "weights": (0.0, 0.0, 1.0, 4.0),
            "beta": -0.75,
            "normalize": "authors",
            **ONE_PASS,
        },
        "the paper's parameters with the normalization of the authors' code",
    ),
    "neo4j": Preset(
        {
            "weights": (0.0, 1.0, 1.0),
            "beta": 0.0,
            "sparsity": 3.0,
            "normalize": "orders",
            **ONE_PASS,
        },
        "the documented defaults of Neo4j GDS; the random numbers differ, and degrees sum weights",
    ),
}


def preset(name: str) -> Preset:
    """The preset of a name. Raises ParameterError if there is none."""
    if name not in PRESETS:
        raise ParameterError(f"There is no preset {name!r}; the presets are {', '.join(PRESETS)}.")
    return PRESETS[name]
