"""Plan: how a run will use threads and memory, decided before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hopvec.errors import MemoryBoundError
from hopvec.graph import Graph
from hopvec.machine import available_memory, cores, in_words

LINE = 64  # bytes of one node in one slab: a cache line
COLUMNS = {"float32": 16, "float16": 32}  # of a slab
NEAR_CACHE = 4 << 20  # two blocks that fit are best left to one thread; larger ones are shared

Orders = Literal["fused", "kept", "twice"]
"""How orders meet: added as they are made; kept for their row norms; or computed twice for them."""


@dataclass(frozen=True)
class Bytes:
    """What a run keeps in memory, by purpose."""

    graph: int
    """The rows, unless they lie in a file; ids, keys, degrees and powers of degrees."""
    output: int
    """The vectors, unless they go to a file; then one slab of them."""
    blocks: int
    orders: int
    norms: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.graph + self.output + self.blocks + self.orders + self.norms


@dataclass(frozen=True)
class Plan:
    """How a run will use threads and memory. Print it to read it."""

    nodes: int
    dim: int
    precision: Literal["float32", "float16"]
    slabs: int
    slabs_in_flight: int
    threads_per_slab: int
    orders: Orders
    output: Literal["memory", "file"]
    bytes: Bytes

    @property
    def threads(self) -> int:
        """The threads that work at the same time."""
        return self.slabs_in_flight * self.threads_per_slab

    @property
    def columns(self) -> int:
        """The columns of a full slab."""
        return COLUMNS[self.precision]

    @property
    def passes(self) -> int:
        """How often each slab is computed."""
        return 2 if self.orders == "twice" else 1

    def __str__(self) -> str:
        orders = {
            "fused": "orders added as they are made",
            "kept": f"orders kept ({in_words(self.bytes.orders)})",
            "twice": "orders computed twice",
        }
        where = {"memory": "in memory", "file": "in a scratch file"}[self.output]
        output = in_words(4 * self.nodes * self.dim)
        return (
            f"{self.slabs} {'slab' if self.slabs == 1 else 'slabs'} of {self.columns} columns "
            f"in {self.precision}, "
            f"{self.slabs_in_flight} at a time on {self.threads} "
            f"{'thread' if self.threads == 1 else 'threads'}; "
            f"{orders[self.orders]}; output of {output} {where}; "
            f"{in_words(self.bytes.total)} in all, {in_words(self.bytes.graph)} of it the graph"
        )

    @property
    def disk(self) -> int:
        """The bytes of scratch files: the vectors by slabs, then by rows."""
        return 8 * self.nodes * self.dim if self.output == "file" else 0


def make_plan(
    graph: Graph,
    *,
    dim: int,
    precision: Literal["float32", "float16"],
    orders_with_norms: int,
    threads: int | None,
    memory: int | None,
) -> Plan:
    """The fastest plan that fits `memory` bytes in all, or what is free where there is no bound.

    `orders_with_norms` is the number of orders whose rows are made unit, 0 for the plain sum.
    Raises MemoryBoundError with the least that would do.
    """
    slabs = -(-dim // COLUMNS[precision])
    threads = threads or cores()
    in_flight = min(threads, slabs) if 2 * LINE * graph.nodes <= NEAR_CACHE else 1
    budget = memory if memory is not None else resident(graph) + available_memory()
    candidates: list[tuple[int, Orders, Literal["memory", "file"]]]
    if not orders_with_norms:
        candidates = [(in_flight, "fused", "memory"), (1, "fused", "memory"), (1, "fused", "file")]
    else:  # row norms are added slab after slab: for orders computed twice, one is in flight
        candidates = [(in_flight, "kept", "memory"), (1, "twice", "memory"), (1, "twice", "file")]
    for slabs_in_flight, orders, output in candidates:
        plan = Plan(
            nodes=graph.nodes,
            dim=dim,
            precision=precision,
            slabs=slabs,
            slabs_in_flight=slabs_in_flight,
            threads_per_slab=threads // slabs_in_flight,
            orders=orders,
            output=output,
            bytes=Bytes(
                graph=resident(graph),
                output=4 * graph.nodes * (dim if output == "memory" else COLUMNS[precision]),
                blocks=2 * LINE * graph.nodes * slabs_in_flight,
                orders=slabs * LINE * graph.nodes * orders_with_norms if orders == "kept" else 0,
                norms=12 * graph.nodes * orders_with_norms if orders == "twice" else 0,
            ),
        )
        if plan.bytes.total <= budget:
            return plan
    least, rows = plan.bytes.total, plan.bytes.graph
    bound = "the memory bound" if memory is not None else "the memory available"
    raise MemoryBoundError(
        f"This run needs at least {in_words(least)} ({in_words(rows)} for the graph, "
        f"{in_words(least - rows)} for one slab), and {bound} is {in_words(budget)}. "
        "Allow it more memory."
    )


def least_working_bytes(
    nodes: int, *, precision: Literal["float32", "float16"], orders_with_norms: int
) -> int:
    """The least memory that a run takes beside the graph: one slab, in the way that needs least."""
    return nodes * (2 * LINE + 4 * COLUMNS[precision] + 12 * orders_with_norms)


def resident(graph: Graph) -> int:
    """The bytes of memory that a graph takes in a run, its ids and all that is kept for a node."""
    rows = graph.indptr.nbytes if graph.mapped else graph.nbytes
    return int(rows + graph.ids.nbytes + 32 * graph.nodes)
