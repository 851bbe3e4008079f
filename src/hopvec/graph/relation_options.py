"""RelationOptions: how the relations of a graph are weighted, balanced and directed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from hopvec.errors import GraphError, ParameterError
from hopvec.graph.transpose import Direction
from hopvec.graph.validation import MAX_WEIGHT, MIN_WEIGHT, check_choice

BALANCES = ("none", "total", "node")
DIRECTIONS = ("out", "in", "both")
OTHERS = "*"  # stands for all relations that are not named
EXAMPLES = {
    "relation_weights": "KNOWS=1,LIKES=0.5",
    "relation_direction": "KNOWS=both,LIKES=out",
}

Balance = Literal["none", "total", "node"]


@dataclass(frozen=True)
class RelationOptions:
    """How relations are weighted, balanced and directed; see Graph.from_edges."""

    weights: Mapping[str, float] = field(default_factory=dict)
    """The weights by name; if there are none, every relation has the weight 1."""
    balance: Balance = "none"
    directions: Mapping[str, Direction] = field(default_factory=dict)

    @classmethod
    def checked(cls, owner: str, weights: Any, balance: Any, direction: Any) -> RelationOptions:
        """The options of a function; raises ParameterError for an invalid one."""
        check_choice(owner, "relation_balance", balance, BALANCES)
        return cls(
            {
                name: _weight(owner, name, value)
                for name, value in _by_name(owner, "relation_weights", weights)
            },
            balance,
            {
                name: _direction(owner, name, value)
                for name, value in _by_name(owner, "relation_direction", direction)
            },
        )

    def check_unused(self, owner: str) -> None:
        """Raise ParameterError for an option that has no effect, because there are no relations."""
        given = {
            "relation_weights": self.weights,
            "relation_balance": self.balance != "none",
            "relation_direction": self.directions,
        }
        for name in (name for name, value in given.items() if value):
            raise ParameterError(f"{owner}: {name}= needs relation=, the relations of the edges.")

    def weight(self, name: str, location: str = "") -> float:
        """The weight of a relation; raises GraphError if others are named, but not this one."""
        if not self.weights:
            return 1.0
        found = self.weights.get(name, self.weights.get(OTHERS))
        if found is None:
            raise GraphError(
                f"{location}the relation {name!r} has no weight; relation_weights= names "
                f"{', '.join(map(repr, self.weights))}. Add it, or give all others a weight with "
                f"{OTHERS!r}, such as 0 to leave them out."
            )
        return found

    def direction(self, name: str, *, directed: bool) -> Direction:
        """The direction of a relation; by default that of all edges."""
        default: Direction = "out" if directed else "both"
        return self.directions.get(name, self.directions.get(OTHERS, default))

    @property
    def named(self) -> list[str]:
        """The relations that are named with a positive weight."""
        return [name for name, weight in self.weights.items() if weight > 0 and name != OTHERS]

    @property
    def mentioned(self) -> list[str]:
        """All relations that are named."""
        return [name for name in {**self.weights, **self.directions} if name != OTHERS]


def _by_name(owner: str, option: str, values: Any) -> list[tuple[str, Any]]:
    """The values by the names of relations, from a dict or from text such as "KNOWS=1,LIKES=2"."""
    if values is None:
        return []
    found: list[tuple[Any, Any]] = []
    if isinstance(values, str):
        pairs = (text.rpartition("=") for text in values.split(","))
        found = [(name.strip(), value.strip()) for name, _, value in pairs]
    elif isinstance(values, Mapping):
        found = list(values.items())
    names = [name for name, _ in found]
    valid = all(isinstance(name, str) and name for name in names)
    if not found or not valid or len({*names}) < len(names):
        raise ParameterError(
            f"{owner}: {option} must be a dict, or text such as {EXAMPLES[option]!r}, that names "
            f"each relation once, got {values!r}."
        )
    return found


def _weight(owner: str, name: str, value: Any) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = np.nan
    if not (weight == 0 or MIN_WEIGHT <= weight <= MAX_WEIGHT):
        raise ParameterError(
            f"{owner}: the weight of the relation {name!r} must be 0 or between {MIN_WEIGHT:g} and "
            f"{MAX_WEIGHT:g}, got {value!r}."
        )
    return weight


def _direction(owner: str, name: str, value: Any) -> Direction:
    if value not in DIRECTIONS:
        allowed = ", ".join(map(repr, DIRECTIONS))
        raise ParameterError(
            f"{owner}: the direction of the relation {name!r} must be one of {allowed}, got "
            f"{value!r}."
        )
    direction: Direction = value
    return direction
