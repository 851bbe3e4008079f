"""Parameters: declared once on a method, with what is allowed and what they are for.

    beta: Annotated[float, Real(-1, 1), "strength of the degree normalization"] = 0.25

The constructor, the error messages, the command line and the docs all read them from there.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar, get_args, get_type_hints

import numpy as np

from hopvec.errors import ParameterError
from hopvec.machine import memory_limit

T = TypeVar("T")
REAL = int | float | np.integer | np.floating
LARGEST = 1e6  # of the numbers in a list: float32 holds their sums and products


class Rule(Protocol):
    """What is allowed for a parameter."""

    def must(self) -> str:
        """What is allowed, as the end of a sentence: 'must be ...'."""

    def fault(self, value: Any) -> str | None:
        """None for an allowed value; else a remark on what is wrong with it, possibly empty."""


@dataclass(frozen=True)
class Integer:
    """A whole number from `low` to `high`."""

    low: int
    high: int

    def must(self) -> str:
        """See Rule."""
        return f"be an integer from {self.low:,} to {self.high:,}"

    def fault(self, value: Any) -> str | None:
        """See Rule."""
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return None if whole and self.low <= value <= self.high else ""


@dataclass(frozen=True)
class Real:
    """A finite number from `low` to `high`."""

    low: float
    high: float

    def must(self) -> str:
        """See Rule."""
        return f"be a number from {self.low:g} to {self.high:g}"

    def fault(self, value: Any) -> str | None:
        """See Rule."""
        number = isinstance(value, REAL) and not isinstance(value, bool)
        return None if number and self.low <= value <= self.high else ""


@dataclass(frozen=True)
class Reals:
    """A list of numbers from `low` to `high`."""

    longest: int
    low: float = -LARGEST
    high: float = LARGEST

    def must(self) -> str:
        """See Rule."""
        if (self.low, self.high) == (-LARGEST, LARGEST):
            return f"hold 1 to {self.longest} finite numbers"
        return f"hold 1 to {self.longest} numbers from {self.low:g} to {self.high:g}"

    def fault(self, value: Any) -> str | None:
        """See Rule."""
        listed = value.ndim == 1 if isinstance(value, np.ndarray) else isinstance(value, Sequence)
        if not listed or isinstance(value, str):
            return ""
        for entry, number in enumerate(value, start=1):
            real = isinstance(number, REAL) and not isinstance(number, bool)
            if not real or not math.isfinite(number):
                return f"entry {entry} is {number}"
            if not self.low <= number <= self.high:
                bound = self.high if number > self.high else self.low
                return f"entry {entry} is beyond {bound:g}"
        return None if 1 <= len(value) <= self.longest else f"{len(value)} of them"


@dataclass(frozen=True)
class OneOf:
    """One of a few values."""

    options: tuple[Any, ...]

    def must(self) -> str:
        """See Rule."""
        return "be " + " or ".join(repr(option) for option in self.options)

    def fault(self, value: Any) -> str | None:
        """See Rule."""
        same = (type(value) is type(option) and value == option for option in self.options)
        return None if any(same) else ""


@dataclass(frozen=True)
class Size:
    """A size in bytes, such as "4GB"."""

    def must(self) -> str:
        """See Rule."""
        return "be a positive size such as '4GB', '512MiB' or a number of bytes"

    def fault(self, value: Any) -> str | None:
        """See Rule."""
        try:
            return "" if value is None or memory_limit(value) is None else None
        except ParameterError:
            return ""


@dataclass(frozen=True)
class Directory:
    """The path of a directory, the address of one on a cluster (s3://...), or None."""

    def must(self) -> str:
        """See Rule."""
        return "be the path of a writable directory, or None"

    def fault(self, value: Any) -> str | None:
        """See Rule."""
        if value is None or (isinstance(value, str) and "://" in value):
            return None
        if not isinstance(value, str | os.PathLike):
            return ""
        if not Path(value).is_dir():
            return "there is no such directory"
        return None if os.access(value, os.W_OK) else "it is not writable"


@dataclass(frozen=True)
class Either:
    """What either of two rules allows."""

    first: Rule
    second: Rule

    def must(self) -> str:
        """See Rule."""
        return f"{self.first.must()}, or {self.second.must()}"

    def fault(self, value: Any) -> str | None:
        """See Rule."""
        fault = self.first.fault(value)
        return fault if fault is None else self.second.fault(value)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method, as it is declared."""

    name: str
    default: Any
    rule: Rule
    help: str
    required: bool = False
    """Whether it has no default."""


_KNOWN: dict[type, tuple[Parameter, ...]] = {}  # to read the annotations takes milliseconds


def parameters(method: type) -> tuple[Parameter, ...]:
    """The parameters of a method: its own first, then those that it shares with others."""
    if method not in _KNOWN:
        _KNOWN[method] = tuple(_declared(method))
    return _KNOWN[method]


def _declared(method: type) -> Iterator[Parameter]:
    hints = get_type_hints(method, include_extras=True)
    owners = [inspect.get_annotations(owner) for owner in method.__mro__]

    def distance(field: Field[Any]) -> int:
        return next(steps for steps, owner in enumerate(owners) if field.name in owner)

    for field in sorted(fields(method), key=distance):
        _, rule, help_ = get_args(hints[field.name])
        required = field.default is MISSING
        yield Parameter(field.name, None if required else field.default, rule, help_, required)


def parse(text: str, rule: Rule) -> Any:
    """The value that a text stands for under a rule; the text itself where there is none.

    >>> parse("0,0,1,4", Reals(32)), parse("1e9", Integer(1, 10**12)), parse("much", Real(0, 1))
    ([0, 0, 1, 4], 1000000000, 'much')
    """
    if isinstance(rule, Either):
        first = parse(text, rule.first)
        return first if rule.first.fault(first) is None else parse(text, rule.second)
    if isinstance(rule, Reals):
        return [number(part.strip()) for part in text.split(",")]
    if isinstance(rule, OneOf):
        return next((option for option in rule.options if str(option) == text), text)
    if isinstance(rule, Size | Directory):
        return text
    value = number(text)
    whole = isinstance(rule, Integer) and isinstance(value, float) and value.is_integer()
    return int(value) if whole else value


def number(text: str) -> int | float | str:
    """The number that a text stands for, whole where it can be; the text itself if it is none."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def documented(method: type[T]) -> type[T]:
    """Adds the parameters to the docstring of a method, and shows a plain signature in help()."""
    declared = parameters(method)
    lines = [
        f"    {p.name}: {p.help}; must {p.rule.must()}"
        + ("" if p.required else f" (default {p.default!r})")
        for p in declared
    ]
    method.__doc__ = (method.__doc__ or "").rstrip() + "\n\n    Parameters:\n\n" + "\n".join(lines)
    keywords = [
        inspect.Parameter(
            p.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if p.required else p.default,
        )
        for p in declared
    ]
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signed: list[tuple[Any, list[inspect.Parameter]]] = [(method, []), (method.__init__, [this])]
    for target, before in signed:
        target.__signature__ = inspect.Signature(before + keywords)
    return method


def check(method: Any, owner: str | None = None) -> None:
    """Raises ParameterError for the first parameter of a method that is not allowed.

    `owner` is whose parameters the message says they are, the name of the class if it is not given.
    """
    owner = owner or type(method).__name__
    for parameter in parameters(type(method)):
        check_value(owner, parameter.name, parameter.rule, getattr(method, parameter.name))


def check_value(owner: str, name: str, rule: Rule, value: Any) -> None:
    """Raises ParameterError unless a rule allows the value of a parameter."""
    fault = rule.fault(value)
    if fault is not None:
        shown = value.tolist() if isinstance(value, np.ndarray) else value
        remark = f" ({fault})" if fault else ""
        raise ParameterError(f"{owner}: {name} must {rule.must()}, got {shown!r}{remark}.")
