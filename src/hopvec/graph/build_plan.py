"""BuildPlan: how a graph is built within a memory limit, so that later work fits beside it.

The plan is made when the edges have been read once, from upper bounds, and covers all that follows:
sorting the ids, building the rows, and the work on the finished graph. Each way to build is a list
of stages. The first way whose stages all fit is taken, so that a larger limit always succeeds where
a smaller one does; if none fits, the minimum is that of the way that needs least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from hopvec.graph.csr_builder import (
    MIN_LIMIT,
    NODE_BYTES,
    limit_for,
    rows_in_memory,
)
from hopvec.graph.size import GraphSize
from hopvec.memory import Needs, Shortage

PAIR_BYTES = 100  # of a pair of a relation and a node, while its edges are built

LaterWork = Callable[[GraphSize], Mapping[str, int]]
"""The least memory of the work on a finished graph of that size, by purpose, the graph included."""


@dataclass(frozen=True)
class EdgesSize:
    """What determines the memory of building a graph besides its size, when it has been read."""

    weighted: bool
    """Whether edges have weights."""
    nbytes: int
    """The bytes of the ends, weights and times, wherever they are."""
    sorting: int
    """The memory of sorting the ids."""


@dataclass(frozen=True)
class BuildPlan:
    """How a graph is built."""

    limit: int | None = None
    """Bytes of entries to hold in memory while building; None if all of them fit."""
    in_file: bool = False
    """Whether the CSR arrays go to a spill file, because later work would not fit beside them."""
    edges_in_file: bool = False
    """Whether the edges go to spill files before the graph is built."""


@dataclass(frozen=True)
class _Way:
    """A way to build, and what it needs."""

    build_in_memory: bool
    in_file: bool
    edges_in_file: bool
    held: int
    """The memory while the rows are built, besides their entries."""
    stages: tuple[Mapping[str, int], ...]

    @property
    def largest(self) -> Mapping[str, int]:
        """The stage that needs most."""
        return max(self.stages, key=lambda parts: sum(parts.values()))

    @property
    def total(self) -> int:
        return sum(self.largest.values())

    def plan(self, limit: int) -> BuildPlan:
        """The plan within a limit that is large enough."""
        room = None if self.build_in_memory else limit - self.held
        return BuildPlan(room, self.in_file, self.edges_in_file)


def plan_build(
    work: str, size: GraphSize, edges: EdgesSize, limit: int | None, later: LaterWork
) -> BuildPlan:
    """Choose the fastest way that fits; raise MemoryLimitError with the minimum if none does.

    `size` has upper bounds of the graph; `work` is the subject of the error.
    """
    if limit is None:
        return BuildPlan()
    ways = list(_ways(size, edges, later))
    for way in ways:
        if way.total <= limit:
            return way.plan(limit)
    least = min(ways, key=lambda way: way.total)
    raise Shortage(Needs(work, least.largest), limit, "Increase memory=.").error()


def _ways(size: GraphSize, edges: EdgesSize, later: LaterWork) -> Iterator[_Way]:
    """All ways, the fastest first."""
    builder = NODE_BYTES * size.nodes
    merged = size.entry_bytes
    unmerged = size.entries * (8 if edges.weighted else 4)
    if size.relations:
        builder += PAIR_BYTES * size.relations.pairs
        merged = 8 * size.relations.entries
    for in_file in (False, True):
        after = later(size.written_to_file() if in_file else size)
        for build_in_memory in (True, False):
            if size.relations and build_in_memory:
                continue  # the matrices of relations go to spill files
            rows = MIN_LIMIT if in_file else limit_for(merged)
            if build_in_memory:
                rows = rows_in_memory(size.entries, unmerged, merged, directed=size.directed)
            for edges_in_file in (False, True):
                held = edges.nbytes * (not edges_in_file)
                stages = (
                    {"the ids": edges.sorting, "the edges": held},
                    {"the ids": size.id_bytes, "building it": builder + rows, "the edges": held},
                    after,
                )
                yield _Way(
                    build_in_memory,
                    in_file,
                    edges_in_file,
                    size.id_bytes + builder + held,
                    tuple({name: part for name, part in parts.items() if part} for parts in stages),
                )
