"""Random graphs by their law: as many edges as a disk holds, the same for any number of threads.

Edge number i is a pure function of the law, the seed and i. So edges are drawn by all cores, block
after block, and a file of any number of them is written in the same little memory.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native, machine
from hopvec.errors import ParameterError
from hopvec.formats.graphs.write import Table, write_tables
from hopvec.graph import Graph
from hopvec.graph.ids import arrow_view
from hopvec.methods.parameters import Either, Integer, OneOf, Real, Reals, check, documented
from hopvec.progress import Progress

BLOCK = 1 << 20  # edges that are drawn and written together: 8 MB
MAX_NODES = 2**31 - 1
OFFSET = 1 / 500  # of ChungLu, as a share of the nodes
GRAPH500 = (0.57, 0.19, 0.19, 0.05)

Nodes = NDArray[np.int32]


class Law(Protocol):
    """What the native laws have: the edges from number `first` on, as many as the arrays hold."""

    def draw(
        self, first: int, source: Nodes, target: Nodes, threads: int, stop: _native.Stop
    ) -> None:
        """Fills both arrays."""


@dataclass(frozen=True, kw_only=True)
class RandomGraph:
    """What all random graphs have: a number of edges, a seed, and where the edges go."""

    edges: Annotated[int, Integer(1, 10**12), "edges to draw"]
    seed: Annotated[int, Integer(0, 2**64 - 1), "same seed, same edges"] = 0
    threads: Annotated[
        int | None,
        Either(Integer(1, 1024), OneOf((None,))),
        "threads to use; none given: the cores this process may use",
    ] = None

    def __post_init__(self) -> None:
        check(self)

    @property
    @abstractmethod
    def node_count(self) -> int:
        """The number of nodes, those without edges among them."""

    @abstractmethod
    def law(self) -> Law:
        """The native law, which draws."""

    def blocks(self) -> Iterator[tuple[Nodes, Nodes]]:
        """All edges in their order, up to 2^20 at a time: both ends, int32, from 0 on."""
        law, stop, threads = self.law(), _native.Stop(), self.threads or machine.cores()
        for first in range(0, self.edges, BLOCK):
            size = min(BLOCK, self.edges - first)
            ends = np.empty(size, np.int32), np.empty(size, np.int32)
            law.draw(first, *ends, threads, stop)
            yield ends

    def graph(self, *, progress: Progress | None = None) -> Graph:
        """The graph of all edges, undirected; repeated edges and loops are left out.

        Every node is in it, whether or not it has an edge. It takes 8 bytes an edge while they are
        drawn, then what Graph.from_edges takes; one that is too large for that goes to a file, and
        `read_graph` reads it within a bound. `progress` is called with the edges drawn and all.
        """
        ends = np.empty(self.edges, np.int32), np.empty(self.edges, np.int32)
        done = 0
        for block in self.blocks():
            for end, part in zip(ends, block, strict=True):
                end[done : done + len(part)] = part
            done += len(block[0])
            if progress:
                progress(done, self.edges)
        return Graph.from_edges(
            *ends, nodes=self.node_count, duplicates="first", loops="drop", threads=self.threads
        )

    def write(self, path: str | PathLike[str], *, progress: Progress | None = None) -> None:
        """Writes all edges as they are drawn: the columns source and target, int32.

        The suffix names the format: .parquet, .arrow, .csv, .tsv, or the latter two with .gz. A
        file of that name is replaced whole or not at all. Memory does not grow with the edges;
        `progress` is called with the edges written and all.
        """
        schema = pa.schema([("source", pa.int32()), ("target", pa.int32())])

        def batches() -> Iterator[pa.RecordBatch]:
            done = 0
            for block in self.blocks():
                yield pa.RecordBatch.from_arrays(list(map(arrow_view, block)), schema=schema)
                done += len(block[0])
                if progress:
                    progress(done, self.edges)

        write_tables(Table(Path(path), schema, batches()))


@documented
@dataclass(frozen=True, kw_only=True)
class ErdosRenyi(RandomGraph):
    """G(n, m) of Erdos and Renyi: `edges` distinct pairs of `nodes` nodes, all equally likely.

    No edge is repeated and none is a loop: edge i is the pair at place i of a random permutation of
    all pairs, which is computed as it is needed and takes no memory.

    >>> ErdosRenyi(nodes=1000, edges=5000).graph()
    Graph(1,000 nodes, 5,000 edges, undirected, unweighted)
    """

    nodes: Annotated[int, Integer(2, MAX_NODES), "n: nodes"]

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs = self.nodes * (self.nodes - 1) // 2
        if self.edges > pairs:
            raise ParameterError(
                f"ErdosRenyi: {self.nodes:,} nodes have {pairs:,} pairs, got {self.edges:,} edges. "
                "Ask for fewer edges or for more nodes."
            )

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return self.nodes

    def law(self) -> Law:
        """The native law."""
        return _native.ErdosRenyi(nodes=self.nodes, seed=self.seed)


NUMBERING = OneOf(("shuffled", "plain"))


@documented
@dataclass(frozen=True, kw_only=True)
class ChungLu(RandomGraph):
    """A power-law graph of Chung and Lu: the ends of an edge are drawn by weights, independently.

    The node of rank r = 0, 1, ... has the integral from r to r + 1 of (x + n/500)^(-1/(g - 1)) as
    its weight, g being the exponent: its expected degree is its share of all weights times 2m, and
    the number of nodes of degree d falls as d^-g. n/500 bounds the largest degree. Edges may repeat
    and may be loops.
    """

    nodes: Annotated[int, Integer(2, MAX_NODES), "n: nodes"]
    exponent: Annotated[float, Real(2.01, 10), "exponent of the power law of degrees"] = 2.3
    numbering: Annotated[str, NUMBERING, "numbers of nodes: at random, or by rank"] = "shuffled"

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return self.nodes

    def law(self) -> Law:
        """The native law."""
        return _native.ChungLu(
            nodes=self.nodes,
            exponent=self.exponent,
            offset=self.nodes * OFFSET,
            shuffled=self.numbering == "shuffled",
            seed=self.seed,
        )


@documented
@dataclass(frozen=True, kw_only=True)
class RMat(RandomGraph):
    """R-MAT of Chakrabarti, Zhan and Faloutsos, as in Graph500: 2^scale nodes, hubs within hubs.

    An edge falls into one of the four quadrants of the adjacency matrix with the probabilities a
    (upper left), b, c and d, then into a quadrant of that quadrant, `scale` times. Graph500 asks
    for 16 edges a node and for shuffled numbers. Edges may repeat and may be loops, more often than
    not on small graphs; many nodes have no edge.
    """

    scale: Annotated[int, Integer(1, 30), "binary logarithm of the number of nodes"]
    quadrants: Annotated[
        tuple[float, ...], Reals(4, 0, 1), "a, b, c, d: probabilities of the quadrants"
    ] = GRAPH500
    numbering: Annotated[str, NUMBERING, "numbers of nodes: at random, or as they fall"] = (
        "shuffled"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.quadrants) != 4 or abs(sum(self.quadrants) - 1) > 1e-9:
            raise ParameterError(
                "RMat: quadrants must hold four probabilities that add up to 1, got "
                f"{list(self.quadrants)}, of which the sum is {sum(self.quadrants):g}."
            )

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return 1 << self.scale

    def law(self) -> Law:
        """The native law."""
        a, b, c, _ = self.quadrants
        return _native.RMat(
            scale=self.scale,
            a=a,
            b=b,
            c=c,
            shuffled=self.numbering == "shuffled",
            seed=self.seed,
        )


RANDOM_GRAPHS: dict[str, type[RandomGraph]] = {
    "erdos-renyi": ErdosRenyi,
    "chung-lu": ChungLu,
    "rmat": RMat,
}
