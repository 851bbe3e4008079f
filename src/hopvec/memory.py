"""Memory limits: what work needs at least, and the error if a limit is below that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from hopvec.errors import MemoryLimitError
from hopvec.machine import format_bytes

PROGRAM_BYTES = 180_000_000
"""Python, its libraries, and buffers of reading and writing, whose size does not depend on the
data. The limits of the command line include them, those of the library do not."""
DIGITS = 3  # of a size in a message


@dataclass(frozen=True)
class Needs:
    """The memory that some work needs at least, by purpose."""

    work: str
    """The work, as the subject of a sentence."""
    parts: Mapping[str, int]
    """Bytes by purpose: "the graph", "one slab"."""

    @property
    def total(self) -> int:
        """The sum."""
        return sum(self.parts.values())

    def check(self, limit: int, advice: str, *, available: bool = False) -> None:
        """Raise MemoryLimitError if it exceeds a limit, or the available memory."""
        if self.total > limit:
            raise Shortage(self, limit, advice, available).error()


@dataclass(frozen=True)
class Shortage:
    """A limit that is too small."""

    needs: Needs
    limit: int
    advice: str
    available: bool = False
    """Whether it is the memory that is available, instead of a limit that a user has set."""

    def including_program(self, limit: int) -> Self:
        """The same for a limit of the whole program, from which `data_limit` was derived."""
        parts = {**self.needs.parts, "the program": PROGRAM_BYTES}
        return replace(self, needs=replace(self.needs, parts=parts), limit=limit)

    def error(self) -> MemoryLimitError:
        """The error, which names the minimum, rounded up: a run with that limit succeeds."""
        parts = [f"{format_bytes(size)} for {name}" for name, size in self.needs.parts.items()]
        listed = f" ({', '.join(parts)})" if len(parts) > 1 else ""
        what = "available memory" if self.available else "memory limit"
        error = MemoryLimitError(
            f"{self.needs.work} needs at least {format_bytes(rounded_up(self.needs.total))}"
            f"{listed}, but the {what} is {format_bytes(rounded_down(self.limit))}. {self.advice}"
        )
        error.shortage = self
        return error


def rounded_up(size: int) -> int:
    """A size rounded up to the digits that are shown.

    >>> rounded_up(1_234_567), rounded_up(999_600), rounded_up(12)
    (1240000, 1000000, 12)
    """
    unit = _unit(size)
    return -(-size // unit) * unit


def rounded_down(size: int) -> int:
    """A size rounded down to the digits that are shown.

    >>> rounded_down(1_239_999)
    1230000
    """
    unit = _unit(size)
    return size // unit * unit


def _unit(size: int) -> int:
    unit: int = 10 ** max(0, math.floor(math.log10(max(1, size))) + 1 - DIGITS)
    return unit


def data_limit(limit: int | None) -> int | None:
    """The part of a limit of the whole program that is left for data, at least 1."""
    return None if limit is None else max(1, limit - PROGRAM_BYTES)
