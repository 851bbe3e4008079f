"""Plan: how a run will use threads and memory, decided before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Literal

from hopvec.errors import MemoryLimitError
from hopvec.graph import Graph
from hopvec.machine import available_memory, cores, format_bytes

CACHE_LINE_BYTES = 64  # bytes of one node in one slab: a cache line
SLAB_COLUMNS = {"float32": 16, "float16": 32}  # of a slab
NEAR_CACHE = 4 << 20  # two blocks that fit are best left to one thread; larger ones are shared

OrderStorage = Literal["streamed", "cached", "recomputed"]
"""How orders meet: added as they are made; kept for their row norms; or computed twice for them."""


@dataclass(frozen=True)
class Bytes:
    """What a run keeps in memory, by purpose."""

    graph: int
    """The rows, unless they lie in a file; ids, keys, degrees and powers of degrees."""
    output: int
    """The vectors, unless they go to a file; then one slab of them."""
    working: Mapping[str, int]
    """All else that the method keeps, by name."""

    @property
    def total(self) -> int:
        """All of it."""
        return self.graph + self.output + sum(self.working.values())


@dataclass(frozen=True)
class Plan:
    """How a run will use threads and memory. Print it to read it."""

    nodes: int
    dim: int
    threads: int
    """The threads that work at the same time."""
    bytes: Bytes

    @property
    def disk(self) -> int:
        """The bytes of spill files."""
        return 0

    def __str__(self) -> str:
        working = [
            f"{format_bytes(size)} {name}" for name, size in self.bytes.working.items() if size
        ]
        parts = [
            f"{format_bytes(self.bytes.graph)} the graph",
            f"{format_bytes(self.bytes.output)} the vectors",
            *working,
        ]
        return (
            f"{_threads(self.threads)}; {format_bytes(self.bytes.total)} in all: {', '.join(parts)}"
        )


@dataclass(frozen=True)
class SlabPlan(Plan):
    """How a run by slabs will use threads and memory."""

    width: int
    """The columns that are carried through the hops: `dim` of them, or more to choose from."""
    precision: Literal["float32", "float16"]
    slabs: int
    slabs_in_flight: int
    orders: OrderStorage
    output: Literal["memory", "file"]
    parts: int = 1
    """Equal parts that the slabs fall into; each begins with the first columns of R."""
    spill_dir: str | PathLike[str] | None = None
    """The directory of spill files; None: the system's directory for temporary files."""

    @property
    def threads_per_slab(self) -> int:
        """The threads that share the rows of a slab."""
        return self.threads // self.slabs_in_flight

    @property
    def columns(self) -> int:
        """The columns of a full slab."""
        return SLAB_COLUMNS[self.precision]

    @property
    def passes(self) -> int:
        """How often each slab is computed."""
        return 2 if self.orders == "recomputed" else 1

    def __str__(self) -> str:
        orders = {
            "streamed": "orders added as they are made",
            "cached": f"orders kept ({format_bytes(self.bytes.working['orders'])})",
            "recomputed": "orders computed twice",
        }
        where = {"memory": "in memory", "file": "in a spill file"}[self.output]
        output = format_bytes(4 * self.nodes * self.dim)
        compressed = f"{self.width} columns compressed to {self.dim}; "
        return (
            f"{self.slabs} {'slab' if self.slabs == 1 else 'slabs'} of {self.columns} columns "
            f"in {self.precision}, "
            f"{self.slabs_in_flight} at a time on {_threads(self.threads)}; "
            f"{orders[self.orders]}; {compressed if self.compresses else ''}"
            f"output of {output} {where}; "
            f"{format_bytes(self.bytes.total)} in all, "
            f"{format_bytes(self.bytes.graph)} of it the graph"
        )

    @property
    def compresses(self) -> bool:
        """Whether the columns become fewer in the end."""
        return self.width > self.dim

    @property
    def row_passes(self) -> int:
        """How often the rows of the sum are gone through a few at a time, once it is there."""
        return 2 if self.compresses else int(self.output == "file")

    @property
    def disk(self) -> int:
        """The bytes of spill files: the sum by slabs, then the vectors by rows."""
        return 4 * self.nodes * (self.width + self.dim) if self.output == "file" else 0


def plan_for(
    graph: Graph,
    *,
    owner: str,
    dim: int,
    threads: int | None,
    memory: int | None,
    working: Mapping[str, int],
) -> Plan:
    """The plan of a method that can work in one way only, beside the graph and the vectors.

    `owner` is the method; `working` tells what else it keeps. Raises MemoryLimitError with the
    memory needed if that is more than `memory` bytes, or than what is free without a bound.
    """
    plan = Plan(
        nodes=graph.nodes,
        dim=dim,
        threads=threads or cores(),
        bytes=Bytes(graph=resident(graph), output=4 * graph.nodes * dim, working=working),
    )
    if plan.bytes.total > _budget(graph, memory):
        parts = [f"{format_bytes(size)} for {name}" for name, size in working.items()]
        raise MemoryLimitError(
            f"{owner} needs {format_bytes(plan.bytes.total)} ({format_bytes(plan.bytes.graph)} for "
            f"the graph, {format_bytes(plan.bytes.output)} for the vectors, {', '.join(parts)}), "
            f"and {_bound(graph, memory)}. Allow it more memory, or choose another method."
        )
    return plan


def make_slab_plan(
    graph: Graph,
    *,
    dim: int,
    width: int | None = None,
    precision: Literal["float32", "float16"],
    orders_with_norms: int,
    threads: int | None,
    memory: int | None,
    more: Mapping[str, int] | None = None,
    parts: int = 1,
    spill_dir: str | PathLike[str] | None = None,
) -> SlabPlan:
    """The fastest plan that fits `memory` bytes in all, or what is free where there is no bound.

    `width` columns are carried through the hops, if that is more than `dim`;
    `orders_with_norms` is the number of orders whose rows are made unit, 0 for the plain sum;
    `more` tells what the method keeps beside slabs; `parts` is that of SlabPlan.
    Raises MemoryLimitError with the least that would do.
    """
    width = width or dim
    slabs = -(-width // SLAB_COLUMNS[precision])
    threads, budget = threads or cores(), _budget(graph, memory)
    in_flight = min(threads, slabs) if 2 * CACHE_LINE_BYTES * graph.nodes <= NEAR_CACHE else 1
    candidates: list[tuple[int, OrderStorage, Literal["memory", "file"]]]
    if not orders_with_norms:
        candidates = [
            (in_flight, "streamed", "memory"),
            (1, "streamed", "memory"),
            (1, "streamed", "file"),
        ]
    else:  # row norms are added slab after slab: for orders computed twice, one is in flight
        candidates = [
            (in_flight, "cached", "memory"),
            (1, "recomputed", "memory"),
            (1, "recomputed", "file"),
        ]
    for slabs_in_flight, orders, output in candidates:
        plan = SlabPlan(
            nodes=graph.nodes,
            dim=dim,
            width=width,
            threads=threads // slabs_in_flight * slabs_in_flight,
            precision=precision,
            slabs=slabs,
            slabs_in_flight=slabs_in_flight,
            orders=orders,
            output=output,
            parts=parts,
            spill_dir=spill_dir,
            bytes=Bytes(
                graph=resident(graph),
                output=4 * graph.nodes * (dim if output == "memory" else SLAB_COLUMNS[precision]),
                working={
                    "blocks": 2 * CACHE_LINE_BYTES * graph.nodes * slabs_in_flight,
                    "orders": slabs
                    * CACHE_LINE_BYTES
                    * graph.nodes
                    * orders_with_norms
                    * (orders == "cached"),
                    "norms": 12 * graph.nodes * orders_with_norms * (orders == "recomputed"),
                    "wide sum": 4 * graph.nodes * width * (width > dim and output == "memory"),
                    **(more or {}),
                },
            ),
        )
        if plan.bytes.total <= budget:
            return plan
    least, rows = plan.bytes.total, plan.bytes.graph
    raise MemoryLimitError(
        f"This run needs at least {format_bytes(least)} ({format_bytes(rows)} for the graph, "
        f"{format_bytes(least - rows)} for one slab), and {_bound(graph, memory)}. "
        "Allow it more memory."
    )


def least_working_bytes(
    nodes: int, *, precision: Literal["float32", "float16"], orders_with_norms: int
) -> int:
    """The least memory that a run takes beside the graph: one slab, in the way that needs least."""
    return nodes * (2 * CACHE_LINE_BYTES + 4 * SLAB_COLUMNS[precision] + 12 * orders_with_norms)


def resident(graph: Graph) -> int:
    """The memory that a graph takes in a run: rows, ids, and all that is kept for a node."""
    rows = graph.indptr.nbytes if graph.mapped else graph.nbytes
    features = graph.features.nbytes if graph.features else 0
    return int(rows + graph.ids.nbytes + 32 * graph.nodes + features)


def _budget(graph: Graph, memory: int | None) -> int:
    return memory if memory is not None else resident(graph) + available_memory()


def _bound(graph: Graph, memory: int | None) -> str:
    bound = "the memory limit" if memory is not None else "the memory available"
    return f"{bound} is {format_bytes(_budget(graph, memory))}"


def _threads(count: int) -> str:
    return f"{count} {'thread' if count == 1 else 'threads'}"
