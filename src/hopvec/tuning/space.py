"""The search space: which parameters of a method are searched, and over which values.

beta=-1:0                     any number in a range
beta=-1:0:0.1                 numbers in a range, with a step
weights.4=log:0.125:64        an entry of a list, log-uniform
weights=0,0,1,log:0.125:64    a whole list, some entries of which are searched
normalize=authors,full        one of several values
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hopvec.errors import ParameterError
from hopvec.methods import Method
from hopvec.methods.parameters import (
    REAL,
    Either,
    Integer,
    Reals,
    Rule,
    number,
    parameters,
    parse,
)

FORMS = "such as '-1:0', '-1:0:0.1', 'log:0.125:64' or 'authors,full'"
MAX_STEPS = 2**53  # of a range: floats cannot tell more apart
END_SHARE = 0.02  # share of a range that counts as its end
NOT_SEARCHED = {
    "seed": "its best value would be chance",
    "threads": "it does not change the vectors",
    "memory": "it does not change the vectors",
    "spill_dir": "it does not change the vectors",
    "workers": "it trades reproducibility for speed",
}


@dataclass(frozen=True)
class Range:
    """A range of numbers to search.

    It is the same as a string such as "-1:0", "-1:0:0.1" or "log:0.125:64".

    Parameters
    ----------
    low, high : float
        The ends, both included.
    log : bool, default=False
        Whether numbers are log-uniform.
    step : float, optional
        Restricts the range to low, low + step, ...

    Examples
    --------
    >>> from hopvec.tuning import Range
    >>> str(Range(0.125, 64, log=True)), str(Range(-1, 0, step=0.1))
    ('log:0.125:64', '-1:0:0.1')
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def _error(self) -> str | None:
        """The reason why the range is invalid; None if it is valid."""
        numbers = (self.low, self.high) if self.step is None else (self.low, self.high, self.step)
        if any(not isinstance(n, REAL) or not math.isfinite(n) for n in numbers):
            return "low, high and step must be finite numbers"
        if not self.low < self.high:
            return f"low must be below high, and {self.low:g} is not below {self.high:g}"
        if self.log and self.low <= 0:
            return f"a logarithmic range must be above 0, and it begins at {self.low:g}"
        length = self.high - self.low
        if self.step is not None and (
            self.log or not 0 < self.step <= length or length / self.step > MAX_STEPS
        ):
            return f"it cannot have a step of {self.step:g}"
        return None

    def _count(self) -> int | None:
        """The number of values of a range with a step; None without a step."""
        if self.step is None:
            return None
        return 1 + int((self.high - self.low) / self.step + 1e-9)  # ten times 0.1 is less than 1

    def _value(self, at: int) -> float:
        """A value of a range with a step, counted from 0."""
        return self.low + at * (self.step or 0)

    def _beyond(self, value: float) -> float | None:
        """A number beyond the end that a value is close to; None if it is not close to an end."""
        low, high, at = (math.log(n) if self.log else n for n in (self.low, self.high, value))
        margin = END_SHARE * (high - low)
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
    """A list of values to search.

    Parameters
    ----------
    values : tuple
        The values.

    Examples
    --------
    >>> from hopvec.tuning import Choices
    >>> str(Choices(("authors", "full")))
    'authors,full'
    """

    values: tuple[Any, ...]

    def _count(self) -> int:
        return len(self.values)

    def _value(self, at: int) -> Any:
        return self.values[at]

    def __str__(self) -> str:
        return ",".join(map(str, self.values))


Dimension = Range | Choices


class Space:
    """The dimensions of a search: parameters of a method, or entries of a parameter that is a list.

    All other parameters are those of `base`. Raises ParameterError for a parameter that the method
    does not have, and for values that it does not allow.
    """

    def __init__(self, method: Method, given: Mapping[str, Any]) -> None:
        self.base: Method = method
        self.dimensions: dict[str, Dimension] = {}
        for name, values in given.items():
            self._add(name, values)
        if not self.dimensions:
            raise ParameterError(
                f"space: there is nothing to search for {type(method).__name__}. Give ranges or "
                f"lists of values, {FORMS}."
            )
        self._check()

    def method(self, values: Mapping[str, Any]) -> Method:
        """The method with the parameters of a point."""
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
        """Whether the method allows the parameters of a point, inside the space or not."""
        try:
            self.method(values)._check()
        except ParameterError:
            return False
        return True

    def grid_size(self) -> int:
        """The number of points of the grid. Raises ParameterError if it is infinite."""
        size = 1
        for name, dimension in self.dimensions.items():
            count = dimension._count()
            if count is None:
                raise ParameterError(
                    f"space: a grid needs lists of values or ranges with a step, and {name} is any "
                    f"number in {dimension}. Give it a step, such as {name}={dimension}:0.1."
                )
            size *= count
        return size

    def grid_point(self, number: int) -> dict[str, Any]:
        """A point of the grid, counted from 0; the last dimension varies fastest."""
        point, rest = {}, self.grid_size()
        for name, dimension in self.dimensions.items():
            rest //= dimension._count() or 1
            at, number = divmod(number, rest)
            point[name] = dimension._value(at)
        return point

    def to_strings(self) -> dict[str, str]:
        """The dimensions as strings, in the syntax of the command line."""
        return {name: str(dimension) for name, dimension in self.dimensions.items()}

    def _add(self, name: str, values: Any) -> None:
        parameter, entry = _entry(name)
        if name in self.dimensions or (entry is not None and parameter in self.dimensions):
            raise ParameterError(f"space: {name} is given twice.")
        rule = self._rule(name, parameter, entry)
        if parameter in NOT_SEARCHED:
            raise ParameterError(
                f"space: {name} cannot be searched, since {NOT_SEARCHED[parameter]}."
            )
        if _is_list(rule) and entry is None and isinstance(values, str):
            self._add_list(name, values)
        else:
            self.dimensions[name] = _dimension(name, values, rule if entry is None else None)

    def _add_list(self, name: str, text: str) -> None:
        """Add a list of numbers and ranges: numbers go to the base, ranges become dimensions."""
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
        rules = {declared.name: declared.rule for declared in parameters(type(self.base))}
        if parameter not in rules:
            raise ParameterError(
                f"space: {owner} has no parameter {parameter!r}; it has {', '.join(rules)}."
            )
        if entry is not None:
            if not _is_list(rules[parameter]):
                raise ParameterError(
                    f"space: {parameter} is not a list, so it has no entry {name}."
                )
            value = getattr(self.base, parameter)
            length = 0 if isinstance(value, str) else len(value)
            if not 1 <= entry <= length:
                actual = repr(value) if isinstance(value, str) else f"a list of {length}"
                raise ParameterError(
                    f"space: {name} does not exist, since {parameter} is {actual}. Give the whole "
                    f"list, such as {parameter}=0,0,1,log:0.125:64."
                )
        return rules[parameter]

    def is_integer(self, name: str) -> bool:
        """Whether a dimension is restricted to integers."""
        return isinstance(self._rule(name, *_entry(name)), Integer)

    def _check(self) -> None:
        """Validate the ends of ranges and all choices, one dimension at a time."""
        first = {name: _extremes(dimension)[0] for name, dimension in self.dimensions.items()}
        for name, dimension in self.dimensions.items():
            for value in _extremes(dimension):
                self.method(first | {name: value})._check()
            step = dimension.step if isinstance(dimension, Range) else None
            if isinstance(step, float) and self.is_integer(name):
                raise ParameterError(
                    f"space: {name} is an integer, so its step must be an integer."
                )


def _is_list(rule: Rule) -> bool:
    """Whether a rule allows a list of numbers."""
    return isinstance(rule.second if isinstance(rule, Either) else rule, Reals)


def _entry(name: str) -> tuple[str, int | None]:
    """The parameter of a dimension, and the 1-based index of its entry if it is a list."""
    parameter, dot, entry = name.partition(".")
    if dot and not entry.isdecimal():
        raise ParameterError(
            f"space: {name} is not an entry of a list. Entries are numbered from 1, as in "
            "weights.4."
        )
    return parameter, int(entry) if dot else None


def _extremes(dimension: Dimension) -> Sequence[Any]:
    return (dimension.low, dimension.high) if isinstance(dimension, Range) else dimension.values


def _dimension(name: str, values: Any, rule: Rule | None) -> Dimension:
    """Make a dimension from a Range, a list of values, or a string."""
    if isinstance(values, str):
        values = _parse_range(values) if ":" in values else _parse_choices(values, rule)
    if isinstance(values, Range):
        error = values._error()
        if error is not None:
            raise ParameterError(f"space: the range {values} of {name} is invalid: {error}.")
        return values
    if isinstance(values, list | tuple) and values:
        return Choices(tuple(_plain(value) for value in values))
    raise ParameterError(
        f"space: {name} must be a Range, a list of values, or a string {FORMS}, got {values!r}."
    )


def _plain(value: Any) -> Any:
    """A value as it is read back from JSON."""
    value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    return list(value) if isinstance(value, tuple) else value


def _parse_range(text: str) -> Range | str:
    """Parse a range; return the string itself if it is not one."""
    log, _, rest = text.strip().partition(":")
    parts: list[Any] = [
        number(part.strip()) for part in (rest if log == "log" else text).split(":")
    ]
    if len(parts) not in (2, 3) or any(isinstance(part, str) for part in parts):
        return text
    low, high, *step = parts
    return Range(low, high, log=log == "log", step=step[0] if step else None)


def _parse_choices(text: str, rule: Rule | None) -> list[Any]:
    return [number(p) if rule is None else parse(p, rule) for p in map(str.strip, text.split(","))]
