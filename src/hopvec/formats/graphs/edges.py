"""Edges as they come out of a file: batches of columns, and what was found out about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs.source import Source

if TYPE_CHECKING:
    import scipy.sparse as sp


class Batch(NamedTuple):
    """Some edges: columns of equal length."""

    source: pa.Array
    target: pa.Array
    weight: pa.Array | None
    """Numbers; texts where the file is text."""


@dataclass(frozen=True)
class Options:
    """What a caller says about the input. None: found out by looking."""

    source: str | int | None = None
    """The column of source ids: its name, or its number from 1 on."""
    target: str | int | None = None
    weight: str | int | None = None
    unweighted: bool = False
    """Leaves a column of weights alone."""
    separator: str | None = None
    header: bool | None = None
    variable: str | None = None
    """The matrix to take of a file with several."""


@dataclass
class EdgeStream:
    """The edges of an input, to be read once, and how they were understood."""

    batches: Iterator[Batch]
    facts: dict[str, Any] = field(default_factory=dict)
    """For the run report: the columns used, the separator, what was left alone and why."""
    directed: bool | None = None
    """What the file itself says; None where it says nothing."""
    nodes: pa.Array | None = None
    """All ids, for formats that list them; known when the batches are used up."""
    untyped: bool = False
    """Ids are texts that stand for integers if all of them look like integers."""
    place: Callable[[int], str] = lambda edge: f"edge {edge + 1:,}"
    """Where in the file an edge stands, counted from 0: 'line 48,213'."""


@dataclass
class Matrix:
    """The adjacency matrix of an input."""

    matrix: sp.sparray
    facts: dict[str, Any] = field(default_factory=dict)
    symmetric: bool | None = None
    """What the file itself says."""


class GraphFormat(Protocol):
    """What the module of a format offers."""

    SUFFIXES: Sequence[str]
    OPTIONS: frozenset[str]
    """The Options that mean something for this format; others are refused."""

    def recognize(self, source: Source) -> str | None:
        """Why it must be this format, by content ('it begins with PAR1'); None if it is not."""

    def read_edges(self, source: Source, options: Options) -> EdgeStream | Matrix:
        """The edges, or the adjacency matrix. Raises FormatError naming file and place."""


SOURCES = ("source", "src", "from", "u", "head", "node1", "start", "source_id", "from_id", "id1")
TARGETS = ("target", "dst", "to", "v", "tail", "node2", "end", "target_id", "to_id", "id2")
WEIGHTS = ("weight", "weights", "w", "value", "count", "strength", "score")


class Columns(NamedTuple):
    """The positions of the columns of an edge table, from 0 on."""

    source: int
    target: int
    weight: int | None


def choose_columns(
    place: str, names: Sequence[str] | None, count: int, numeric: Sequence[bool], options: Options
) -> Columns:
    """The columns of a table that hold the edges: as asked for, else by their names, else by place.

    `names` is None where the table has none, `numeric` says which columns hold numbers. Without a
    name, the third of three columns is the weight if it holds numbers.
    """
    if count < 2:
        found = f" ({', '.join(names)})" if names else ""
        raise FormatError(f"{place}: an edge needs two columns, found {count}{found}.")
    source = _asked(place, "source", options.source, names, count)
    target = _asked(place, "target", options.target, names, count)
    weight = _asked(place, "weight", options.weight, names, count)
    lowered = [name.strip().lower() for name in names or []]

    def known(candidates: Sequence[str], taken: set[int | None]) -> int | None:
        found = (lowered.index(name) for name in candidates if name in lowered)
        return next((position for position in found if position not in taken), None)

    if source is None:
        source = known(SOURCES, {target, weight})
    if target is None:
        target = known(TARGETS, {source, weight})
    free = [position for position in range(count) if position not in (source, target, weight)]
    if source is None:
        source = free.pop(0)
    if target is None:
        target = free.pop(0)
    if weight is None and not options.unweighted:
        weight = known(WEIGHTS, {source, target})
        if weight is None and names is None and count == 3 and numeric[2]:
            weight = next(iter({0, 1, 2} - {source, target}))
            weight = weight if numeric[weight] else None
    if source == target:
        raise FormatError(f"{place}: source and target are the same column, {source + 1}.")
    return Columns(source, target, weight)


def _asked(
    place: str, role: str, wanted: str | int | None, names: Sequence[str] | None, count: int
) -> int | None:
    if wanted is None:
        return None
    if names and wanted in names:
        return names.index(str(wanted))
    if str(wanted).isdecimal() and 1 <= int(wanted) <= count:
        return int(wanted) - 1
    have = f"the columns are {', '.join(names)}" if names else f"it has {count} columns, no header"
    raise FormatError(f"{place}: there is no column {wanted!r} for the {role}; {have}.")
