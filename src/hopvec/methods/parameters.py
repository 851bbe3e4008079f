"""Parameters: declared once on a method, with the allowed values and a help text.

    beta: Annotated[float, Real(-1, 1), "strength of the degree normalization"] = 0.25

The constructor, the error messages, the command line and the docs all use this declaration.
"""

from __future__ import annotations

import inspect
import math
import os
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from hopvec.errors import ParameterError
from hopvec.machine import memory_limit

T = TypeVar("T")
REAL = int | float | np.integer | np.floating
MAX_ENTRY = 1e6  # of a list of numbers: float32 holds their sums and products


class Rule(Protocol):
    """The allowed values of a parameter."""

    def must(self) -> str:
        """The allowed values, as the end of the sentence "must ..."."""

    def fault(self, value: Any) -> str | None:
        """None for an allowed value; otherwise what is wrong with it, possibly an empty string."""


@dataclass(frozen=True)
class Integer:
    """An integer from `low` to `high`."""

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

    max_length: int
    low: float = -MAX_ENTRY
    high: float = MAX_ENTRY

    def must(self) -> str:
        """See Rule."""
        if (self.low, self.high) == (-MAX_ENTRY, MAX_ENTRY):
            return f"hold 1 to {self.max_length} finite numbers"
        return f"hold 1 to {self.max_length} numbers from {self.low:g} to {self.high:g}"

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
        return None if 1 <= len(value) <= self.max_length else f"it has {len(value)}"


@dataclass(frozen=True)
class OneOf:
    """One of several values."""

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
    """A value that either of two rules allows."""

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
    """A declared parameter of a method."""

    name: str
    default: Any
    rule: Rule
    help: str
    required: bool = False
    """Whether it has no default."""


_DECLARED: dict[type, tuple[Parameter, ...]] = {}  # a cache: annotations take milliseconds to read


def parameters(method: type) -> tuple[Parameter, ...]:
    """The parameters of a method: its own first, then those of its base classes."""
    if method not in _DECLARED:
        _DECLARED[method] = tuple(_declared(method))
    return _DECLARED[method]


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
    """Parse a string according to a rule; return the string itself if it cannot be parsed.

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
    """Parse a number, as int if possible; return the string itself if it is not a number."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def documented(method: type[T]) -> type[T]:
    """Add a Parameters section to the docstring of a method, and its signature for help()."""
    section = "\n".join(["    Parameters", "    ----------", *_entries(method)])
    summary, heading, examples = (method.__doc__ or "").rstrip().partition("    Examples\n")
    method.__doc__ = f"{summary.rstrip()}\n\n{section}\n\n{heading}{examples}".rstrip() + "\n    "
    _sign(method, _keywords(method))
    return method


def takes_parameters_of(method: type) -> Callable[[type[T]], type[T]]:
    """Document the **parameters of a class, which are those of a method, like the method does."""

    def document(cls: type[T]) -> type[T]:
        before, entry, after = (cls.__doc__ or "").partition("    **parameters\n")
        if entry:  # there are no docstrings with python -OO
            after = after.partition("\n\n")[2]
            cls.__doc__ = before + "\n".join(_entries(method)) + "\n\n" + after
        own = list(inspect.signature(cls).parameters.values())[:-1]
        _sign(cls, own + _keywords(method))
        return cls

    return document


def _entries(method: type) -> list[str]:
    """The parameters of a method as indented lines of a numpydoc section."""
    hints = get_type_hints(method)
    lines = []
    for p in parameters(method):
        default = "" if p.required else f", default={p.default!r}"
        lines += [f"{p.name} : {_type_name(hints[p.name])}{default}", *_wrapped(p)]
    return [f"    {line}" for line in lines]


def _keywords(method: type) -> list[inspect.Parameter]:
    """The parameters of a method as keywords of its constructor."""
    return [
        inspect.Parameter(
            p.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if p.required else p.default,
        )
        for p in parameters(method)
    ]


def _sign(cls: Any, own: list[inspect.Parameter]) -> None:
    """Set the signature of a class and of its constructor."""
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    cls.__signature__ = inspect.Signature(own)
    cls.__init__.__signature__ = inspect.Signature([this, *own])


def _type_name(hint: Any) -> str:
    """A type as numpydoc writes it.

    >>> _type_name(Literal["sqrt"] | float), _type_name(Sequence[float]), _type_name(int | None)
    ("{'sqrt'} or float", 'sequence of float', 'int or None')
    """
    arguments = get_args(hint)
    if get_origin(hint) is Literal:
        return "{" + ", ".join(map(repr, arguments)) + "}"
    if get_origin(hint) is Sequence:
        return f"sequence of {_type_name(arguments[0])}"
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(map(_type_name, arguments))
    return "None" if hint is type(None) else str(getattr(hint, "__name__", hint))


def _wrapped(parameter: Parameter) -> list[str]:
    """The help text and the allowed values of a parameter, as indented sentences."""
    text = f"{parameter.help[0].upper()}{parameter.help[1:]}."
    if not isinstance(parameter.rule, OneOf):  # the type names its values already
        text += f" Must {parameter.rule.must()}."
    return textwrap.wrap(text, 92, initial_indent="    ", subsequent_indent="    ")


def check(method: Any, owner: str | None = None) -> None:
    """Raise ParameterError for the first parameter with an invalid value.

    The message starts with `owner`, by default the name of the class.
    """
    owner = owner or type(method).__name__
    for parameter in parameters(type(method)):
        check_value(owner, parameter.name, parameter.rule, getattr(method, parameter.name))


def check_value(owner: str, name: str, rule: Rule, value: Any) -> None:
    """Raise ParameterError if a rule does not allow the value of a parameter."""
    fault = rule.fault(value)
    if fault is not None:
        shown = value.tolist() if isinstance(value, np.ndarray) else value
        remark = f" ({fault})" if fault else ""
        raise ParameterError(f"{owner}: {name} must {rule.must()}, got {shown!r}{remark}.")
