"""The rows of S from a list of edges, in memory or, a range of rows at a time, in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.errors import GraphError
from hopvec.machine import forget
from hopvec.progress import Progress, no_progress
from hopvec.spill import SpillFile

CHUNK = 1 << 20  # edges, entries or nodes that are looked at together where not all fit
PLACING = 0.75  # of the time of a draft; sorting takes the rest

T = TypeVar("T", bound=np.generic)


class Edges(Protocol):
    """Edges whose ends have node numbers, as many times as they are asked for."""

    @property
    def weight(self) -> NDArray[np.float32] | None:
        """Their weights, if they have some."""

    def __len__(self) -> int: ...

    def chunks(self, *, directed: bool, drop_loops: bool) -> Iterator[_native.Edges]:
        """All of them, as the native steps see them."""


@dataclass(frozen=True)
class EdgeList:
    """Edges whose ends have node numbers: table[id - offset], or id - offset without a table.

    The arrays may be memory maps: they are then read in chunks, whose pages are given back.
    """

    source: NDArray[Any]
    target: NDArray[Any]
    weight: NDArray[np.float32] | None
    offset: int = 0
    table: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.source)

    def chunks(self, *, directed: bool, drop_loops: bool) -> Iterator[_native.Edges]:
        """All edges, as the native steps see them."""
        size = CHUNK if isinstance(self.source, np.memmap) else max(1, len(self))
        for first in range(0, len(self), size):
            source, target = self.source[first : first + size], self.target[first : first + size]
            weight = None if self.weight is None else self.weight[first : first + size]
            yield _native.Edges(
                source, target, weight, self.offset, self.table, directed, drop_loops
            )
            for part in (source, target, weight):
                if part is not None:
                    forget(part)


@dataclass(frozen=True)
class Rows:
    """S by rows, in the graph's internal order."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    order: NDArray[np.int32]
    """[nodes]: the number that a node had in the edges."""


@dataclass
class Draft:
    """Sorted rows as the edges give them, multiple entries side by side."""

    start: NDArray[np.int64]
    distinct: NDArray[np.int32]
    """[nodes]: the distinct entries of a row."""
    loops: int
    zeros: int
    columns: NDArray[np.int32] | None = None
    """[nodes]: those of a column, in a directed graph."""
    repeated: int = 0
    """Edges that repeat an earlier one."""
    entries: Entries = field(default_factory=lambda: Entries())


@dataclass
class Build:
    """One building of rows: what is asked for, and the room it has.

    `draft` is a stable counting sort by row and a sort of each row; `finish` numbers the nodes and
    places the rows again in that numbering. `room` bounds the bytes of entries held at a time, None
    if there is room for both: else the draft is kept in a file without a name, and both go through
    their input once for every range of rows that fits.
    """

    nodes: int
    directed: bool
    duplicates: str
    drop_loops: bool
    threads: int
    room: int | None
    in_file: bool = False
    """Whether the rows shall be in a file even if they would fit."""
    progress: Progress = no_progress
    """Called with the share of the work that is done, in percent of 100."""

    def draft(self, edges: Edges, stop: _native.Stop) -> Draft:
        """Sorted rows as the edges give them; the edges are no longer needed then."""
        weighted = edges.weight is not None
        start, loops, zeros = self._count(edges, stop)
        self.progress(10, 100)
        draft = Draft(start, np.empty(self.nodes, dtype=np.int32), loops, zeros)
        draft.columns = np.zeros(self.nodes, dtype=np.int32) if self.directed else None
        for first, last in self._ranges(start, weighted):
            neighbor = np.empty(start[last] - start[first], dtype=np.int32)
            weight = np.empty(len(neighbor), dtype=np.float32) if weighted else None
            cursor = start[first:last] - start[first]
            placed = 0
            for chunk in edges.chunks(directed=self.directed, drop_loops=self.drop_loops):
                chunk.place(first, cursor, neighbor, weight, self.threads, stop)
                raise_if_stopped(stop)
                placed += len(chunk)
                self._tell((10, 50), first, last, PLACING * placed / max(1, len(edges)))
            del cursor
            draft.repeated += _native.sort_rows(
                start,
                first,
                last,
                neighbor,
                weight,
                self.directed,
                self.duplicates == "first",
                draft.distinct,
                self.threads,
                stop,
            )
            raise_if_stopped(stop)
            if draft.columns is not None:
                _native.count_columns(start, first, last, neighbor, draft.columns)
            draft.entries.append(neighbor, weight, whole=self.room is None)
            self._tell((10, 50), first, last, 1)
        return draft

    def finish(
        self, draft: Draft, keys: Callable[[], NDArray[np.uint64]], stop: _native.Stop
    ) -> Rows:
        """The rows of a draft in the graph's internal order, multiple entries merged.

        `keys` makes the keys of the nodes, which are needed for a moment only.
        """
        order = _native.order_nodes(draft.distinct, draft.columns, keys())
        indptr, number = self._numbering(order, draft.distinct)
        del order
        draft.distinct, draft.columns = np.empty(0, dtype=np.int32), None
        sums = draft.repeated > 0 and self.duplicates == "sum"
        weighted = sums or draft.entries.weight is not None
        entries, all_one = Entries(), True
        for first, last in self._ranges(indptr, weighted):
            neighbor = np.empty(indptr[last] - indptr[first], dtype=np.int32)
            weight = np.empty(len(neighbor), dtype=np.float32) if weighted else None
            for here, end, from_neighbor, from_weight in draft.entries.pieces(draft.start):
                all_one &= _native.renumber(
                    draft.start[here : end + 1],
                    from_neighbor,
                    from_weight,
                    here,
                    number,
                    indptr,
                    first,
                    last,
                    self.duplicates == "sum",
                    neighbor,
                    weight,
                    self.threads,
                    stop,
                )
                raise_if_stopped(stop)
                self._tell((50, 100), first, last, end / self.nodes)
            whole = last - first == self.nodes and not self.in_file
            entries.append(neighbor, weight, whole=whole)
        draft.entries, draft.start = Entries(), np.empty(0, dtype=np.int64)
        weights = None if all_one or entries.weight is None else entries.weight.array
        return Rows(indptr, entries.neighbor.array, weights, self._inverse(number))

    def _count(self, edges: Edges, stop: _native.Stop) -> tuple[NDArray[np.int64], int, int]:
        start = np.zeros(self.nodes + 1, dtype=np.int64)
        loops = zeros = 0
        counted = 0
        for chunk in edges.chunks(directed=self.directed, drop_loops=self.drop_loops):
            looped, weightless = chunk.count(start[1:], self.threads, stop)
            loops, zeros = loops + looped, zeros + weightless
            raise_if_stopped(stop)
            counted += len(chunk)
            self._tell((0, 10), 0, self.nodes, counted / max(1, len(edges)))
        np.cumsum(start, out=start)
        return start, loops, zeros

    def _tell(self, percents: tuple[int, int], first: int, last: int, share: float) -> None:
        """Tells that all rows before `first` are done, and a share of those before `last`."""
        begin, end = percents
        done = (first + (last - first) * share) / self.nodes
        self.progress(begin + int((end - begin) * done), 100)

    def _numbering(
        self, order: NDArray[np.int32], distinct: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Where the rows begin in the new numbering, and the new number of each node."""
        indptr = np.zeros(self.nodes + 1, dtype=np.int64)
        for first in range(0, self.nodes, CHUNK):
            here = slice(first + 1, min(first + CHUNK, self.nodes) + 1)
            np.cumsum(distinct[order[first : first + CHUNK]], out=indptr[here])
            indptr[here] += indptr[first]
        return indptr, self._inverse(order)

    def _inverse(self, order: NDArray[np.int32]) -> NDArray[np.int32]:
        inverse = np.empty(self.nodes, dtype=np.int32)
        for first in range(0, self.nodes, CHUNK):
            last = min(first + CHUNK, self.nodes)
            inverse[order[first:last]] = np.arange(first, last, dtype=np.int32)
        return inverse

    def _ranges(self, start: NDArray[np.int64], weighted: bool) -> list[tuple[int, int]]:
        """Ranges of rows whose entries fit the room; a row is never cut."""
        if self.room is None:
            return [(0, self.nodes)]
        most = max(1, self.room // (8 if weighted else 4))
        ranges, first = [], 0
        while first < self.nodes:
            last = int(np.searchsorted(start, start[first] + most, side="right")) - 1
            last = min(max(last, first + 1), self.nodes)
            ranges.append((first, last))
            first = last
        return ranges


def raise_if_stopped(stop: _native.Stop) -> None:
    """Ends the work of a thread whose result nobody waits for any more."""
    if stop.stopped:
        raise GraphError("The building of the graph was interrupted.")


class Entries:
    """The entries of rows, in memory or in files."""

    def __init__(self) -> None:
        self.neighbor: _Pieces[np.int32] = _Pieces()
        self.weight: _Pieces[np.float32] | None = None

    def append(
        self, neighbor: NDArray[np.int32], weight: NDArray[np.float32] | None, *, whole: bool
    ) -> None:
        """Adds the entries of the next rows, or of all of them."""
        self.neighbor.append(neighbor, whole=whole)
        if weight is not None:
            self.weight = self.weight or _Pieces()
            self.weight.append(weight, whole=whole)

    def pieces(
        self, start: NDArray[np.int64]
    ) -> Iterator[tuple[int, int, NDArray[np.int32], NDArray[np.float32] | None]]:
        """(first row, last row, neighbors, weights) of all rows: at once, or in chunks."""
        nodes = len(start) - 1
        mapped = isinstance(self.neighbor.array, np.memmap)
        first = 0
        while first < nodes:
            last = nodes
            if mapped:
                last = int(np.searchsorted(start, start[first] + CHUNK, side="right")) - 1
                last = min(max(last, first + 1), nodes)
            entries = slice(start[first], start[last])
            neighbor = self.neighbor.array[entries]
            weight = None if self.weight is None else self.weight.array[entries]
            yield first, last, neighbor, weight
            forget(neighbor)
            if weight is not None:
                forget(weight)
            first = last


class _Pieces(Generic[T]):
    """An array made of pieces: the only one itself, or a file that the pieces are written to."""

    def __init__(self) -> None:
        self._only: NDArray[T] | None = None
        self._file: SpillFile | None = None

    def append(self, piece: NDArray[T], *, whole: bool) -> None:
        """Adds a piece, or takes the only one."""
        if whole:
            self._only = piece
            return
        if self._file is None:
            self._file, self._type = SpillFile(), piece.dtype
        self._file.append(piece)

    @cached_property
    def array(self) -> NDArray[T]:
        """All pieces, one behind the other."""
        if self._file is None:
            return np.empty(0, dtype=np.int32) if self._only is None else self._only
        return self._file.mapped(self._type)
