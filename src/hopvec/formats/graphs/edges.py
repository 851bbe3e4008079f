"""What the reader of a format returns: a stream of edges or an adjacency matrix, with metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions
from hopvec.graph.columns import EdgeColumns
from hopvec.graph.convert import check_positions
from hopvec.graph.ids import first_missing
from hopvec.graph.size import GraphSize
from hopvec.memory import Needs

if TYPE_CHECKING:
    import scipy.sparse as sp


MATRIX_NODE_BYTES = 52  # of a node while the graph of a matrix is built


class Batch(NamedTuple):
    """A batch of edges: columns of equal length."""

    source: pa.Array
    target: pa.Array
    weight: pa.Array | None
    relation: pa.Array | None = None
    """The relations, large_string; None if the edges have none."""
    time: pa.Array | None = None
    """The times as they are in the file; None if the edges have none."""
    bad: Mapping[int, str] = MappingProxyType({})
    """Rows that could not be parsed and are skipped, with the reason; their cells are empty."""
    prefixes: tuple[str, str] | None = None
    """The prefixes of sources and targets, if they are not those of the whole stream."""

    @property
    def names(self) -> Iterator[tuple[str, pa.Array]]:
        """The columns in which no cell may be empty, with their roles."""
        columns = zip(self._fields, (self.source, self.target, None, self.relation), strict=False)
        return ((role, column) for role, column in columns if column is not None)

    def first_missing(self) -> tuple[int, str] | None:
        """The first row with an empty id or relation, and which of them it is."""
        rows = ((first_missing(column), role) for role, column in self.names)
        return min(((row, role) for row, role in rows if row is not None), default=None)

    def filter(self, kept: NDArray[np.bool_]) -> Batch:
        """The rows of a mask."""
        mask = pa.array(kept)
        columns = (None if column is None else column.filter(mask) for column in self[:5])
        source, target, weight, relation, time = columns
        return Batch(source, target, weight, relation, time)


@dataclass
class EdgeStream:
    """The edges of a file, which can be read once, and how the file was read."""

    batches: Iterator[Batch]
    metadata: dict[str, Any] = field(default_factory=dict)
    """For the run report: the columns used and ignored, the separator, ..."""
    directed: bool | None = None
    """Whether the file says that its edges are directed; None if it does not say."""
    nodes: pa.Array | int | None = None
    """All ids, in formats that list them; an integer n means 0 .. n-1. Set when all batches have
    been read."""
    types: pa.Array | None = None
    """The types of `nodes`, strings, in formats that have them."""
    duplicates: Literal["first"] | None = None
    """The default for repeated edges in this format: "first" if both ends may list an edge."""
    untyped: bool = False
    """Whether the file does not distinguish integers from strings. Ids are then strings, and
    become integers if all of them look like integers."""
    decimal: str = "."
    """The decimal mark of a text, which ids such as 1.0 have, too."""
    locate: Callable[[int], str] = lambda edge: f"edge {edge + 1:,}"
    """Where in the file an edge is, counted from 0, for error messages: 'line 48,213'."""
    locates_file: bool = False
    """Whether `locate` also names the file, because there are several."""
    relations: bool = False
    """Whether the batches have relations."""
    prefixes: tuple[str, str] | None = None
    """Prefixes that the ids of sources and targets get; None if they stay as they are."""
    has_prefixes: bool = False
    """Whether the ids have their prefixes already."""
    parts: Sequence[EdgeStream] = ()
    """The streams that this one joins."""


@dataclass
class Matrix:
    """The adjacency matrix of a file, and how the file was read."""

    matrix: sp.sparray
    metadata: dict[str, Any] = field(default_factory=dict)
    symmetric: bool | None = None
    """Whether the file says that the matrix is symmetric; None if it does not say."""


class GraphFormat(Protocol):
    """The interface of a module that reads one format."""

    @property
    def SUFFIXES(self) -> Sequence[str]:  # noqa: N802  (a constant of the module)
        """File suffixes, used if the content does not identify the format."""

    @property
    def OPTIONS(self) -> frozenset[str]:  # noqa: N802
        """The fields of ReadOptions that apply to this format only; others are rejected."""

    def recognize(self, file: InputFile) -> str | None:
        """The reason why the content is of this format ('it begins with PAR1'); None if not."""

    def read_edges(self, file: InputFile, options: ReadOptions) -> EdgeStream | Matrix:
        """Read the edges or the matrix; raise FormatError with the file and the location."""


def column_metadata(names: Sequence[str], columns: EdgeColumns) -> dict[str, Any]:
    """For the run report: the names of the columns that are used, and of those that are ignored."""
    ignored = [name for position, name in enumerate(names) if position not in columns]
    used = {"columns": columns.names(names)}
    return used | {"ignored": ignored} if ignored else used


def check_matrix_options(name: str, options: ReadOptions) -> None:
    """Raise FormatError for options that apply to lists of edges only; before a matrix is read."""
    if options.bipartite:
        raise FormatError(
            f"{name}: bipartite=True is for lists of edges, and this is a matrix; leave it out."
        )
    for argument, given in (
        ("nodes", options.nodes is not None),
        ("duplicates", options.duplicates is not None),
        ("loops", options.loops != "keep"),
        ("bad_rows", options.bad_rows != "error"),
    ):
        if given:
            raise FormatError(f"{name}: {argument}= does not apply to a matrix; leave it out.")


def check_matrix_memory(
    name: str, nodes: int, entries: int, held: int, weighted: bool, options: ReadOptions
) -> None:
    """Raise MemoryLimitError if a matrix, or the graph built from it, does not fit in memory.

    `held` is the memory of the matrix while the graph is built.
    """
    limit = options._memory_bytes
    if limit is None:
        return
    size = GraphSize(
        nodes=nodes,
        entries=entries * (2 if options.symmetrize else 1),
        weighted=weighted,
        directed=bool(options.directed),
        id_bytes=8 * nodes,
    )
    built = MATRIX_NODE_BYTES * nodes + 2 * size.entry_bytes
    stages = ({"the matrix": held, "the graph": built}, options._min_run_memory(size))
    largest = max(stages, key=lambda parts: sum(parts.values()))
    work = f"{name}: a matrix of {entries:,} entries, which is read as a whole,"
    Needs(work, largest).check(
        limit,
        "Increase memory=, or convert the matrix to a list of edges, which is read in parts.",
    )


def checked_matrix(
    location: str,
    matrix: Any,
    metadata: dict[str, Any],
    unweighted: bool = False,
    symmetric: bool | None = None,
) -> Matrix:
    """Return an adjacency matrix; raise FormatError unless it is square and real.

    If `unweighted`, each nonzero entry becomes 1.
    """
    import scipy.sparse as sp

    try:
        check_positions(matrix)
        if hasattr(matrix, "check_format"):  # the indices of a damaged file may be out of range
            matrix.check_format(full_check=True)
        entries = sp.coo_array(matrix)
        if entries.dtype.kind not in "biuf":
            raise TypeError(f"it holds {entries.dtype}, but weights are real numbers")
    except (TypeError, ValueError) as error:
        raise FormatError(f"{location}: this is not an adjacency matrix ({error}).") from error
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:
        shape = " x ".join(f"{length:,}" for length in entries.shape)
        raise FormatError(f"{location}: an adjacency matrix is square, but this one is {shape}.")
    if unweighted:
        entries.data = (entries.data != 0).astype(np.int8)
    return Matrix(entries, metadata, symmetric)
