"""Edges as they come out of a file: batches of columns, and what was found out about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.source import Source
from hopvec.graph.columns import EdgeColumns
from hopvec.graph.ids import first_missing

if TYPE_CHECKING:
    import scipy.sparse as sp


class Batch(NamedTuple):
    """Some edges: columns of equal length."""

    source: pa.Array
    target: pa.Array
    weight: pa.Array | None
    """Numbers; texts where the file is text."""

    def first_missing(self) -> tuple[int, str] | None:
        """The first row with an id that is null or empty, and which end that is."""
        ends = (("source", self.source), ("target", self.target))
        rows = ((first_missing(ids), role) for role, ids in ends)
        return min(((row, role) for row, role in rows if row is not None), default=None)


@dataclass
class EdgeStream:
    """The edges of an input, to be read once, and how they were understood."""

    batches: Iterator[Batch]
    metadata: dict[str, Any] = field(default_factory=dict)
    """For the run report: the columns used, the separator, what was left alone and why."""
    directed: bool | None = None
    """What the file itself says; None where it says nothing."""
    nodes: pa.Array | int | None = None
    """All ids, for formats that list them; a number n stands for 0 .. n-1. Known when the batches
    are used up."""
    duplicates: Literal["first"] | None = None
    """What repeated pairs mean in this format, unless the caller says otherwise: 'first' where both
    ends of an edge list it. None: nothing special, the caller's own default."""
    untyped: bool = False
    """Ids are texts that stand for integers if all of them look like integers."""
    locate: Callable[[int], str] = lambda edge: f"edge {edge + 1:,}"
    """Where in the file an edge stands, counted from 0: 'line 48,213'."""


@dataclass
class Matrix:
    """The adjacency matrix of an input."""

    matrix: sp.sparray
    metadata: dict[str, Any] = field(default_factory=dict)
    symmetric: bool | None = None
    """What the file itself says."""


class GraphFormat(Protocol):
    """What the module of a format offers."""

    @property
    def SUFFIXES(self) -> Sequence[str]:  # noqa: N802  (a constant of the module)
        """The suffixes that name the format where the content does not tell."""

    @property
    def OPTIONS(self) -> frozenset[str]:  # noqa: N802
        """The ReadOptions that mean something for this format; others are refused."""

    def recognize(self, source: Source) -> str | None:
        """Why it must be this format, by content ('it begins with PAR1'); None if it is not."""

    def read_edges(self, source: Source, options: ReadOptions) -> EdgeStream | Matrix:
        """The edges, or the adjacency matrix. Raises FormatError naming file and place."""


def column_metadata(names: Sequence[str], columns: EdgeColumns) -> dict[str, Any]:
    """For the run report: the names of the columns that were used, and of those left alone."""
    used = {role: names[place] for role, place in columns._asdict().items() if place is not None}
    left = [name for position, name in enumerate(names) if position not in columns]
    return {"columns": used, "ignored": left} if left else {"columns": used}


def checked_matrix(
    place: str,
    matrix: Any,
    metadata: dict[str, Any],
    unweighted: bool = False,
    symmetric: bool | None = None,
) -> Matrix:
    """The adjacency matrix that a file holds; what is not square and real is refused.

    `unweighted` takes every entry that is not 0 as 1.
    """
    import numpy as np
    import scipy.sparse as sp

    try:
        if hasattr(matrix, "check_format"):  # compressed rows of a damaged file may point anywhere
            matrix.check_format(full_check=True)
        entries = sp.coo_array(matrix)
        if entries.dtype.kind not in "biuf":
            raise TypeError(f"it holds {entries.dtype}, and weights are real numbers")
    except (TypeError, ValueError) as error:
        raise FormatError(f"{place}: this is no adjacency matrix ({error}).") from error
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:
        size = " x ".join(f"{length:,}" for length in entries.shape)
        raise FormatError(f"{place}: an adjacency matrix is square, this one is {size}.")
    if unweighted:
        entries.data = (entries.data != 0).astype(np.int8)
    return Matrix(entries, metadata, symmetric)
