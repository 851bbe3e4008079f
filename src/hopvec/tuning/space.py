"""Space: which parameters of a method are searched, and over what.

beta=-1:0                     any number of a range
beta=-1:0:0.1                 numbers of a range, by steps
weights.4=log:0.125:64        an entry of a list, uniform in its logarithm
weights=0,0,1,log:0.125:64    a whole list, of which some entries are searched
normalize=authors,full        one of a few values
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from hopvec.errors import ParameterError
from hopvec.methods import Method
from hopvec.methods.parameters import REAL, Integer, Reals, Rule, number, parameters, parse

FORMS = "such as '-1:0', '-1:0:0.1', 'log:0.125:64' or 'authors,full'"
NEAR = 0.02  # share of a range that counts as its end
NOT_SEARCHED = {
    "seed": "its best value would be luck",
    "threads": "it changes no vector",
    "memory": "it changes no vector",
    "spill_dir": "it changes no vector",
    "workers": "it gives up the same bytes for speed",
}


@dataclass(frozen=True)
class Range:
    """The numbers from `low` to `high`, both included.

    With `log` they are uniform in their logarithm, with `step` only low, low + step, ... count.
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def fault(self) -> str | None:
        """What is wrong with it, as a sentence; None if nothing is."""
        numbers = (self.low, self.high) if self.step is None else (self.low, self.high, self.step)
        if any(not isinstance(n, REAL) or not math.isfinite(n) for n in numbers):
            return "its ends and its step must be finite numbers"
        if not self.low < self.high:
            return f"it must go up, and {self.low:g} is not below {self.high:g}"
        if self.log and self.low <= 0:
            return f"a logarithm needs numbers above 0, and it begins at {self.low:g}"
        if self.step is not None and (self.log or not 0 < self.step <= self.high - self.low):
            return f"a step of {self.step:g} does not fit it"
        return None

    def points(self) -> list[float] | None:
        """The numbers that steps lead to; None without steps."""
        if self.step is None:
            return None
        steps = int((self.high - self.low) / self.step + 1e-9)  # 0.1 ten times is less than 1
        return [self.low + i * self.step for i in range(steps + 1)]

    def beyond(self, value: float) -> float | None:
        """A number outside, near a value that is at one of the ends; None for all others."""
        low, high, at = (math.log(n) if self.log else n for n in (self.low, self.high, value))
        margin = NEAR * (high - low)
        if at - low <= margin:
            outside = low - margin
        elif high - at <= margin:
            outside = high + margin
        else:
            return None
        return math.exp(outside) if self.log else outside

    def __str__(self) -> str:
        ends = f"{self.low!r}:{self.high!r}"
        step = "" if self.step is None else f":{self.step!r}"
        return f"log:{ends}" if self.log else ends + step


@dataclass(frozen=True)
class Choices:
    """One of a few values."""

    values: tuple[Any, ...]

    def __str__(self) -> str:
        return ",".join(map(str, self.values))


Dimension = Range | Choices


class Space:
    """The dimensions of a search, each a parameter of a method or an entry of one that is a list.

    Everything outside them is as `base` has it. Raises ParameterError for a parameter that the
    method does not have, and for values that it does not allow.
    """

    def __init__(self, method: Method, given: Mapping[str, Any]) -> None:
        self.base = method
        self.dimensions: dict[str, Dimension] = {}
        for name, what in given.items():
            self._add(name, what)
        if not self.dimensions:
            raise ParameterError(
                f"space: it has no range and no choice for {type(method).__name__}. Give it "
                f"some, {FORMS}."
            )
        self._check()

    def method(self, values: Mapping[str, Any]) -> Method:
        """The method at a point of the space."""
        changed: dict[str, Any] = {}
        for name, value in values.items():
            parameter, entry = _entry(name)
            if entry is None:
                changed[parameter] = value
            else:
                listed = list(changed.get(parameter, getattr(self.base, parameter)))
                listed[entry - 1] = value
                changed[parameter] = listed
        return type(self.base)(**self.base.get_params() | changed)

    def allows(self, values: Mapping[str, Any]) -> bool:
        """Whether the method would work at a point, inside the space or not."""
        try:
            self.method(values).check()
        except ParameterError:
            return False
        return True

    def points(self) -> list[dict[str, Any]]:
        """All points, the last dimension changing first; only of choices and steps."""
        axes = []
        for name, dimension in self.dimensions.items():
            values = dimension.values if isinstance(dimension, Choices) else dimension.points()
            if values is None:
                raise ParameterError(
                    f"space: a grid needs choices or steps, and {name} is any number of "
                    f"{dimension}. Give it a step, such as {name}={dimension}:0.1."
                )
            axes.append(values)
        return [dict(zip(self.dimensions, point, strict=True)) for point in product(*axes)]

    def texts(self) -> dict[str, str]:
        """The dimensions in the form of the command line."""
        return {name: str(dimension) for name, dimension in self.dimensions.items()}

    def _add(self, name: str, what: Any) -> None:
        parameter, entry = _entry(name)
        rule = self._rule(name, parameter, entry)
        if parameter in NOT_SEARCHED:
            raise ParameterError(f"space: {name} is not searched, since {NOT_SEARCHED[parameter]}.")
        if name in self.dimensions or (entry is not None and parameter in self.dimensions):
            raise ParameterError(f"space: it says twice what is searched of {name}.")
        if isinstance(rule, Reals) and entry is None and isinstance(what, str):
            self._add_list(name, what)
        else:
            self.dimensions[name] = _dimension(name, what, rule if entry is None else None)

    def _add_list(self, name: str, text: str) -> None:
        """A list of numbers and ranges: the numbers become the base, the ranges dimensions."""
        numbers: list[Any] = []
        for part in text.split(","):
            if ":" in part:
                dimension = _dimension(name, part, None)
                self.dimensions[f"{name}.{len(numbers) + 1}"] = dimension
                numbers.append(dimension.low if isinstance(dimension, Range) else part)
            else:
                numbers.append(number(part.strip()))
        self.base = type(self.base)(**self.base.get_params() | {name: numbers})

    def _rule(self, name: str, parameter: str, entry: int | None) -> Rule:
        owner = type(self.base).__name__
        known = {declared.name: declared.rule for declared in parameters(type(self.base))}
        if parameter not in known:
            raise ParameterError(
                f"space: {owner} has no parameter {parameter!r}; it has {', '.join(known)}."
            )
        if entry is not None:
            if not isinstance(known[parameter], Reals):
                raise ParameterError(f"space: {parameter} is no list, so there is no {name}.")
            length = len(getattr(self.base, parameter))
            if not 1 <= entry <= length:
                raise ParameterError(
                    f"space: {name} is not there, since {parameter} has {length} entries. Give the "
                    f"whole list, such as {parameter}=0,0,1,log:0.125:64."
                )
        return known[parameter]

    def whole(self, name: str) -> bool:
        """Whether a dimension has integers only."""
        return isinstance(self._rule(name, *_entry(name)), Integer)

    def _check(self) -> None:
        """Lets the method judge the ends of ranges and all choices, one dimension at a time."""
        first = {name: _extremes(dimension)[0] for name, dimension in self.dimensions.items()}
        for name, dimension in self.dimensions.items():
            for value in _extremes(dimension):
                self.method(first | {name: value}).check()
            step = dimension.step if isinstance(dimension, Range) else None
            if isinstance(step, float) and self.whole(name):
                raise ParameterError(f"space: {name} is an integer, and its step must be one too.")


def _entry(name: str) -> tuple[str, int | None]:
    """The parameter of a dimension, and which of its entries, counted from 1."""
    parameter, dot, entry = name.partition(".")
    if dot and not entry.isdecimal():
        raise ParameterError(
            f"space: {name} names no entry of a list: they are counted from 1, as in weights.4."
        )
    return parameter, int(entry) if dot else None


def _extremes(dimension: Dimension) -> Sequence[Any]:
    return (dimension.low, dimension.high) if isinstance(dimension, Range) else dimension.values


def _dimension(name: str, what: Any, rule: Rule | None) -> Dimension:
    """A dimension as it is given: a Range, a list of choices, or the text of either."""
    if isinstance(what, str):
        what = _range(what) if ":" in what else _choices(what, rule)
    if isinstance(what, Range):
        fault = what.fault()
        if fault is not None:
            raise ParameterError(f"space: the range {what} of {name} cannot be: {fault}.")
        return what
    if isinstance(what, list | tuple) and what:
        return Choices(tuple(_plain(value) for value in what))
    raise ParameterError(
        f"space: {name} must be a Range, a list of values, or a text {FORMS}, got {what!r}."
    )


def _plain(value: Any) -> Any:
    """A value as it comes back from a file of JSON."""
    value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    return list(value) if isinstance(value, tuple) else value


def _range(text: str) -> Range | str:
    """The Range that a text stands for; the text itself if it is none."""
    log, _, rest = text.strip().partition(":")
    parts: list[Any] = [
        number(part.strip()) for part in (rest if log == "log" else text).split(":")
    ]
    if len(parts) not in (2, 3) or any(isinstance(part, str) for part in parts):
        return text
    low, high, *step = parts
    return Range(low, high, log=log == "log", step=step[0] if step else None)


def _choices(text: str, rule: Rule | None) -> list[Any]:
    return [number(p) if rule is None else parse(p, rule) for p in map(str.strip, text.split(","))]
