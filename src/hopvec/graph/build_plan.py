"""BuildPlan: how a graph is built within a memory limit, so that the run fits beside it.

The plan is made when the edges have been read once, from upper bounds, and covers all that follows:
sorting the ids, building the rows, and the run on the finished graph. Each build strategy is a list
of stages. The first strategy whose stages all fit is used, so that a larger limit always succeeds
where a smaller one does; if none fits, the error names the minimum over all strategies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from hopvec.graph.csr_builder import (
    BUILDER_NODE_BYTES,
    MIN_LIMIT,
    in_memory_build_bytes,
    min_limit_for_one_block,
)
from hopvec.graph.size import GraphSize
from hopvec.memory import Needs, Shortage

BUILDER_RELATION_NODE_BYTES = 100  # of a pair of a relation and a node, while its edges are built

RunMemory = Callable[[GraphSize], Mapping[str, int]]
"""The minimum memory of a run on a finished graph of that size, by purpose, the graph included."""


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
    """Whether the CSR arrays go to a spill file, because the run would not fit beside them."""
    edges_in_file: bool = False
    """Whether the edges go to spill files before the graph is built."""


@dataclass(frozen=True)
class _BuildStrategy:
    """A way to build the graph, and the memory of its stages."""

    build_in_memory: bool
    in_file: bool
    edges_in_file: bool
    held: int
    """The memory while the rows are built, besides their entries."""
    stages: tuple[Mapping[str, int], ...]

    @property
    def largest(self) -> Mapping[str, int]:
        """The stage that needs the most memory."""
        return max(self.stages, key=lambda parts: sum(parts.values()))

    @property
    def total(self) -> int:
        return sum(self.largest.values())

    def plan(self, limit: int) -> BuildPlan:
        """The plan within a limit that is large enough."""
        room = None if self.build_in_memory else limit - self.held
        return BuildPlan(room, self.in_file, self.edges_in_file)


def plan_build(
    work: str, size: GraphSize, edges: EdgesSize, limit: int | None, run_memory: RunMemory
) -> BuildPlan:
    """Choose the fastest strategy that fits; if none does, raise MemoryLimitError with the minimum.

    `size` has upper bounds of the graph; `work` is the subject of the error.
    """
    if limit is None:
        return BuildPlan()
    strategies = list(_strategies(size, edges, run_memory))
    for strategy in strategies:
        if strategy.total <= limit:
            return strategy.plan(limit)
    smallest = min(strategies, key=lambda strategy: strategy.total)
    raise Shortage(Needs(work, smallest.largest), limit, "Increase memory=.").error()


def _strategies(
    size: GraphSize, edges: EdgesSize, run_memory: RunMemory
) -> Iterator[_BuildStrategy]:
    """All build strategies, the fastest first."""
    builder = BUILDER_NODE_BYTES * size.nodes
    merged = size.entry_bytes
    unmerged = size.entries * (8 if edges.weighted else 4)
    if size.relations:
        builder += BUILDER_RELATION_NODE_BYTES * size.relations.pairs
        merged = 8 * size.relations.entries
    for in_file in (False, True):
        after = run_memory(size.written_to_file() if in_file else size)
        for build_in_memory in (True, False):
            if size.relations and build_in_memory:
                continue  # the matrices of relations go to spill files
            rows = MIN_LIMIT if in_file else min_limit_for_one_block(merged)
            if build_in_memory:
                rows = in_memory_build_bytes(size.entries, unmerged, merged, directed=size.directed)
            for edges_in_file in (False, True):
                held = edges.nbytes * (not edges_in_file)
                stages = (
                    {"the ids": edges.sorting, "the edges": held},
                    {
                        "the ids": size.id_bytes,
                        "building the rows": builder + rows,
                        "the edges": held,
                    },
                    after,
                )
                yield _BuildStrategy(
                    build_in_memory,
                    in_file,
                    edges_in_file,
                    size.id_bytes + builder + held,
                    tuple({name: part for name, part in parts.items() if part} for parts in stages),
                )
