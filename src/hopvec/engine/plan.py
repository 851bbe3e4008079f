"""Plan: how a run will use threads and memory, decided before it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Literal

from hopvec.errors import MemoryLimitError
from hopvec.graph import Graph
from hopvec.machine import available_memory, cores, format_bytes

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
            f"{format_bytes(self.bytes.total)} in total, "
            f"{format_bytes(self.bytes.graph)} for the graph"
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
    graph: Graph,
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
            f"but {_limit(graph, memory)}. Raise the memory limit, or choose another method."
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
    extra: Mapping[str, int] | None = None,
    parts: int = 1,
    passes: int = 1,
    compresses: bool = False,
    spill_dir: str | PathLike[str] | None = None,
) -> SlabPlan:
    """The fastest plan that fits in `memory` bytes, or in the free memory if `memory` is None.

    `width` is the number of columns that are propagated, if it is more than `dim`;
    `orders_with_norms` is the number of orders whose rows are normalized, 0 for the plain sum;
    `extra` is the memory besides slabs, by purpose; see SlabPlan for the others.
    Raises MemoryLimitError with the minimum memory needed.
    """
    width = width or dim
    slabs = -(-width // SLAB_COLUMNS[precision])
    threads, budget = threads or cores(), _budget(graph, memory)
    in_flight = min(threads, slabs) if 2 * CACHE_LINE_BYTES * graph.nodes <= MIN_SHARED_BYTES else 1
    candidates: list[tuple[int, OrderStorage, Literal["memory", "file"]]]
    if not orders_with_norms:
        candidates = [
            (in_flight, "streamed", "memory"),
            (1, "streamed", "memory"),
            (1, "streamed", "file"),
        ]
    else:  # recomputed orders add up row norms slab after slab, so only one is in flight
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
            passes=passes,
            compresses=compresses,
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
                    "wide sum": 4 * graph.nodes * width * (compresses and output == "memory"),
                    "previous pass": 4 * graph.nodes * width * (passes > 1 and output == "memory"),
                    **(extra or {}),
                },
            ),
        )
        if plan.bytes.total <= budget:
            return plan
    needed, of_graph = plan.bytes.total, plan.bytes.graph
    raise MemoryLimitError(
        f"This run needs at least {format_bytes(needed)} ({format_bytes(of_graph)} for the graph, "
        f"{format_bytes(needed - of_graph)} for one slab), but {_limit(graph, memory)}. "
        "Raise the memory limit."
    )


def min_slab_bytes(
    nodes: int, *, precision: Literal["float32", "float16"], orders_with_norms: int
) -> int:
    """The minimum memory of a run besides the graph: one slab, with recomputed orders."""
    return nodes * (2 * CACHE_LINE_BYTES + 4 * SLAB_COLUMNS[precision] + 12 * orders_with_norms)


def resident(graph: Graph) -> int:
    """The memory of a graph in a run: CSR arrays, ids, features and all arrays per node."""
    rows = graph.indptr.nbytes if graph._mapped else graph.nbytes
    features = graph.features.nbytes if graph.features else 0
    relations = graph.relations.nbytes if graph.relations else 0
    return int(rows + graph.ids.nbytes + 32 * graph.nodes + features + relations)


def _budget(graph: Graph, memory: int | None) -> int:
    return memory if memory is not None else resident(graph) + available_memory()


def _limit(graph: Graph, memory: int | None) -> str:
    limit = "the memory limit" if memory is not None else "the available memory"
    return f"{limit} is {format_bytes(_budget(graph, memory))}"


def _threads(count: int) -> str:
    return f"{count} {'thread' if count == 1 else 'threads'}"
