"""Plan: how a run will use threads and memory, decided before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Literal

from hopvec.graph import Graph
from hopvec.graph.size import GraphSize
from hopvec.machine import available_memory, cores, format_bytes
from hopvec.memory import Needs, Shortage

CACHE_LINE_BYTES = 64  # a node has one cache line per slab
SLAB_COLUMNS = {"float32": 16, "float16": 32}
MIN_SHARED_BYTES = 4 << 20  # all threads share one slab if its two blocks are larger than this

OrderStorage = Literal["streamed", "cached", "recomputed"]
"""Added to the sum as they are computed; cached until their row norms are known; or computed twice,
first for their row norms."""


@dataclass(frozen=True)
class Bytes:
    """The memory of a run, by purpose."""

    graph: int
    """The CSR arrays, unless they are in a file; ids, keys, degrees and powers of degrees."""
    output: int
    """The vectors, or one slab of them if they are in a spill file."""
    working: Mapping[str, int]
    """Everything else that the method needs, by name."""

    @property
    def total(self) -> int:
        """The sum."""
        return self.graph + self.output + sum(self.working.values())


@dataclass(frozen=True)
class Plan:
    """How a run will use threads and memory, decided before it starts.

    `method.plan(graph)` returns the plan of a run; `print(plan)` summarizes it, and
    `method.embed(graph, plan=plan)` follows it.

    Attributes
    ----------
    nodes : int
        The number of nodes.
    dim : int
        The number of columns of the embedding.
    threads : int
        The number of threads that work at the same time.
    bytes : Bytes
        The memory by purpose: `graph`, `output` (the vectors), `working` (a dict with everything
        else), and the sum of all, `total`.

    Examples
    --------
    >>> from hopvec import FastRP, Graph
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> plan = FastRP(dim=64, threads=2).plan(graph)
    >>> plan.nodes, plan.dim, plan.disk
    (3, 64, 0)
    """

    nodes: int
    dim: int
    threads: int
    bytes: Bytes

    @property
    def disk(self) -> int:
        """The size of spill files in bytes."""
        return 0

    def __str__(self) -> str:
        working = [
            f"{format_bytes(size)} {name}" for name, size in self.bytes.working.items() if size
        ]
        parts = [
            f"{format_bytes(self.bytes.graph)} graph",
            f"{format_bytes(self.bytes.output)} vectors",
            *working,
        ]
        return (
            f"{_threads(self.threads)}; "
            f"{format_bytes(self.bytes.total)} in total: {', '.join(parts)}"
        )


@dataclass(frozen=True)
class SlabPlan(Plan):
    """How a run slab by slab will use threads and memory."""

    width: int
    """The columns that are propagated: `dim`, or more to choose from."""
    precision: Literal["float32", "float16"]
    slabs: int
    slabs_in_flight: int
    orders: OrderStorage
    output: Literal["memory", "file"]
    parts: int = 1
    """Equal parts of the slabs; each starts with the first columns of R."""
    passes: int = 1
    """How often all slabs are propagated; later passes start from what the one before found."""
    compresses: bool = False
    """Whether the columns are projected on their principal components at the end."""
    spill_dir: str | PathLike[str] | None = None
    """The directory of spill files; by default the system's directory for temporary files."""

    @property
    def threads_per_slab(self) -> int:
        """The number of threads that share the rows of a slab."""
        return self.threads // self.slabs_in_flight

    @property
    def columns(self) -> int:
        """The columns of a full slab."""
        return SLAB_COLUMNS[self.precision]

    @property
    def slab_runs(self) -> int:
        """How often each slab is computed in a pass."""
        return 2 if self.orders == "recomputed" else 1

    def __str__(self) -> str:
        orders = {
            "streamed": "orders streamed",
            "cached": f"orders cached ({format_bytes(self.bytes.working['orders'])})",
            "recomputed": "orders recomputed",
        }
        where = {"memory": "in memory", "file": "in a spill file"}[self.output]
        output = format_bytes(4 * self.nodes * self.dim)
        compressed = f"{self.width} columns compressed to {self.dim}; "
        return (
            f"{f'{self.passes} passes of ' if self.passes > 1 else ''}"
            f"{self.slabs} {'slab' if self.slabs == 1 else 'slabs'} of {self.columns} columns "
            f"in {self.precision}, "
            f"{self.slabs_in_flight} at a time on {_threads(self.threads)}; "
            f"{orders[self.orders]}; {compressed if self.width > self.dim else ''}"
            f"output of {output} {where}; "
            f"{format_bytes(self.bytes.total)} with the graph of {format_bytes(self.bytes.graph)}"
        )

    @property
    def row_passes(self) -> int:
        """How often the finished sum is read, block by block."""
        return 2 if self.compresses else int(self.output == "file")

    @property
    def disk(self) -> int:
        """The size of spill files in bytes: the sum by slabs, then the vectors by rows.

        Several passes also store the start of the pass, and the vectors by slabs.
        """
        columns = self.width + self.dim
        if self.passes > 1:
            columns *= 2
        return 4 * self.nodes * columns if self.output == "file" else 0


def plan_for(
    size: GraphSize,
    *,
    owner: str,
    dim: int,
    threads: int | None,
    memory: int | None,
    working: Mapping[str, int],
) -> Plan:
    """The plan of a method that has only one way to run.

    `owner` is the name of the method; `working` is its memory besides the graph and the vectors.
    Raises MemoryLimitError with the memory needed if that exceeds `memory` bytes, or the free
    memory if `memory` is None.
    """
    plan = Plan(
        nodes=size.nodes,
        dim=dim,
        threads=threads or cores(),
        bytes=Bytes(graph=size.resident, output=4 * size.nodes * dim, working=working),
    )
    parts = {"the graph": plan.bytes.graph, "the vectors": plan.bytes.output, **working}
    Needs(owner, parts).check(
        _budget(size, memory),
        "Increase memory=, or choose another method.",
        available=memory is None,
    )
    return plan


@dataclass(frozen=True)
class SlabWork:
    """What a run slab by slab computes, which determines its plans."""

    dim: int
    width: int
    """The columns that are propagated: `dim`, or more to choose from."""
    precision: Literal["float32", "float16"]
    orders_with_norms: int
    """The number of orders whose rows are normalized, 0 for the plain sum."""
    threads: int
    extra: Mapping[str, int] = field(default_factory=dict)
    """The memory besides slabs, by purpose."""
    parts: int = 1
    passes: int = 1
    compresses: bool = False
    spill_dir: str | PathLike[str] | None = None

    @property
    def slabs(self) -> int:
        """The number of slabs."""
        return -(-self.width // SLAB_COLUMNS[self.precision])

    def plans(self, size: GraphSize) -> list[SlabPlan]:
        """All ways to run on a graph, the fastest first."""
        shared = 2 * CACHE_LINE_BYTES * size.nodes > MIN_SHARED_BYTES
        in_flight = 1 if shared else min(self.threads, self.slabs)
        # Recomputed orders add up row norms slab after slab, so only one is in flight.
        whole: OrderStorage = "cached" if self.orders_with_norms else "streamed"
        slower: OrderStorage = "recomputed" if self.orders_with_norms else "streamed"
        return [
            self._plan(size, in_flight, whole, "memory"),
            self._plan(size, 1, slower, "memory"),
            self._plan(size, 1, slower, "file"),
        ]

    def _plan(
        self,
        size: GraphSize,
        slabs_in_flight: int,
        orders: OrderStorage,
        output: Literal["memory", "file"],
    ) -> SlabPlan:
        nodes, normed = size.nodes, self.orders_with_norms
        columns = SLAB_COLUMNS[self.precision] if output == "file" else self.dim
        blocks = CACHE_LINE_BYTES * nodes
        wide = 4 * nodes * self.width * (output == "memory")
        return SlabPlan(
            nodes=nodes,
            dim=self.dim,
            width=self.width,
            threads=self.threads // slabs_in_flight * slabs_in_flight,
            precision=self.precision,
            slabs=self.slabs,
            slabs_in_flight=slabs_in_flight,
            orders=orders,
            output=output,
            parts=self.parts,
            passes=self.passes,
            compresses=self.compresses,
            spill_dir=self.spill_dir,
            bytes=Bytes(
                graph=size.resident,
                output=4 * nodes * columns,
                working={
                    "blocks": 2 * blocks * slabs_in_flight,
                    "orders": self.slabs * blocks * normed * (orders == "cached"),
                    "norms": 12 * nodes * normed * (orders == "recomputed"),
                    "wide sum": wide * self.compresses,
                    "previous pass": wide * (self.passes > 1),
                    **self.extra,
                },
            ),
        )

    def min_memory_plan(self, size: GraphSize) -> SlabPlan:
        """The plan that needs the minimum memory."""
        return min(self.plans(size), key=lambda plan: plan.bytes.total)

    def choose(self, size: GraphSize, memory: int | None) -> SlabPlan:
        """The fastest plan that fits in `memory` bytes, or in the free memory if it is None.

        Raises MemoryLimitError with the minimum memory needed.
        """
        budget = _budget(size, memory)
        fits = (plan for plan in self.plans(size) if plan.bytes.total <= budget)
        if (plan := next(fits, None)) is not None:
            return plan
        needed = self.min_memory_plan(size).bytes
        parts = {"the graph": needed.graph, "one slab": needed.total - needed.graph}
        needs = Needs("This run", parts)
        raise Shortage(needs, budget, "Increase memory=.", memory is None).error()


def resident(graph: Graph) -> int:
    """The memory of a graph in a run: CSR arrays, ids, features and all arrays per node."""
    return GraphSize.of(graph).resident


def _budget(size: GraphSize, memory: int | None) -> int:
    return memory if memory is not None else size.resident + available_memory()


def _threads(count: int) -> str:
    return f"{count} {'thread' if count == 1 else 'threads'}"
