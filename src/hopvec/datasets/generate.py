"""Random graphs of any size, with the same edges for any number of threads.

Edge i is a pure function of the distribution, the seed and i. So all cores draw edges, block after
block, and files of any size are written in constant memory.
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
from hopvec.formats.table_files import TableFile, write_tables
from hopvec.graph import Graph
from hopvec.graph.ids import arrow_view
from hopvec.methods.parameters import Either, Integer, OneOf, Real, Reals, check, documented
from hopvec.progress import ProgressOption, callback

BLOCK_EDGES = 1 << 20  # edges drawn and written at a time: 8 MB
MAX_NODES = 2**31 - 1
OFFSET = 1 / 500  # of ChungLu, as a fraction of the nodes
GRAPH500 = (0.57, 0.19, 0.19, 0.05)

Nodes = NDArray[np.int32]


class RandomGraphSampler(Protocol):
    """A native sampler of edges."""

    def draw(
        self, first: int, source: Nodes, target: Nodes, threads: int, stop: _native.Stop
    ) -> None:
        """Fill both arrays with the edges from number `first` on."""


@documented
@dataclass(frozen=True, kw_only=True)
class RandomGraph:
    """Base class of random graphs, with the methods that all of them have.

    Examples
    --------
    >>> from hopvec import datasets
    >>> random_graph = datasets.RMat(scale=10, edges=5000)
    >>> isinstance(random_graph, datasets.RandomGraph), random_graph.node_count
    (True, 1024)
    """

    edges: Annotated[int, Integer(1, 10**12), "number of edges to draw"]
    seed: Annotated[
        int, Integer(0, 2**64 - 1), "random seed; the same seed gives the same edges"
    ] = 0
    threads: Annotated[
        int | None,
        Either(Integer(1, 1024), OneOf((None,))),
        "number of threads; by default, the cores available to this process",
    ] = None

    def __post_init__(self) -> None:
        check(self)

    @property
    @abstractmethod
    def node_count(self) -> int:
        """The number of nodes, including those without edges."""

    @abstractmethod
    def _sampler(self) -> RandomGraphSampler:
        """The native sampler of the edges."""

    def blocks(self) -> Iterator[tuple[Nodes, Nodes]]:
        """Yield all edges in order, up to 2^20 at a time.

        Yields
        ------
        tuple of two arrays of int32
            The sources and the targets of the edges.

        Examples
        --------
        >>> from hopvec import datasets
        >>> [len(source) for source, _ in datasets.RMat(scale=10, edges=5000).blocks()]
        [5000]
        """
        sampler, stop, threads = self._sampler(), _native.Stop(), self.threads or machine.cores()
        for first in range(0, self.edges, BLOCK_EDGES):
            size = min(BLOCK_EDGES, self.edges - first)
            ends = np.empty(size, np.int32), np.empty(size, np.int32)
            sampler.draw(first, *ends, threads, stop)
            yield ends

    def graph(self, *, progress: ProgressOption = None) -> Graph:
        """Generate the undirected graph of all edges, without repeated edges and loops.

        All nodes are included, even those without edges. Drawing takes 8 bytes per edge, in
        addition to the memory of `Graph.from_edges`. For a larger graph, use `write`, and
        `read_graph` with a memory limit.

        Parameters
        ----------
        progress : bool or callable, optional
            Whether to show a progress bar; or a function, called with the number of edges drawn and
            the total.

        Returns
        -------
        Graph
            The graph, whose ids are 0 to n-1.

        Examples
        --------
        >>> from hopvec import datasets
        >>> datasets.ErdosRenyi(nodes=1000, edges=5000, seed=7).graph()
        Graph(1,000 nodes, 5,000 edges, undirected, unweighted)
        """
        progress = callback(progress, "generating")
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

    def write(self, path: str | PathLike[str], *, progress: ProgressOption = None) -> None:
        """Write all edges to a file with the int32 columns source and target.

        Memory use does not depend on the number of edges. An existing file is replaced atomically.

        Parameters
        ----------
        path : path
            The file. Its suffix selects the format: .parquet, .arrow, .csv, .tsv, .csv.gz, .tsv.gz.
        progress : bool or callable, optional
            Whether to show a progress bar; or a function, called with the number of edges written
            and the total.

        Raises
        ------
        FormatError
            If the suffix is unknown or the file cannot be written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from hopvec import datasets, read_graph
        >>> with TemporaryDirectory() as folder:
        ...     datasets.ErdosRenyi(nodes=100, edges=500).write(f"{folder}/edges.parquet")
        ...     read_graph(f"{folder}/edges.parquet")
        Graph(100 nodes, 500 edges, undirected, unweighted)
        """
        progress = callback(progress, "generating")
        schema = pa.schema([("source", pa.int32()), ("target", pa.int32())])

        def batches() -> Iterator[pa.RecordBatch]:
            done = 0
            for block in self.blocks():
                yield pa.RecordBatch.from_arrays(list(map(arrow_view, block)), schema=schema)
                done += len(block[0])
                if progress:
                    progress(done, self.edges)

        write_tables(TableFile(Path(path), schema, batches()))


@documented
@dataclass(frozen=True, kw_only=True)
class ErdosRenyi(RandomGraph):
    """G(n, m) of Erdos and Renyi: `edges` distinct pairs of `nodes` nodes, all equally likely.

    There are no repeated edges and no loops: edge i is entry i of a random permutation of all
    pairs, which is computed on demand and takes no memory.

    Examples
    --------
    >>> from hopvec import datasets
    >>> datasets.ErdosRenyi(nodes=1000, edges=5000).graph()
    Graph(1,000 nodes, 5,000 edges, undirected, unweighted)
    """

    nodes: Annotated[int, Integer(2, MAX_NODES), "number of nodes"]

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs = self.nodes * (self.nodes - 1) // 2
        if self.edges > pairs:
            raise ParameterError(
                f"ErdosRenyi: {self.nodes:,} nodes have {pairs:,} pairs, got {self.edges:,} edges. "
                "Choose fewer edges or more nodes."
            )

    @property
    def node_count(self) -> int:
        """The number of nodes, including those without edges."""
        return self.nodes

    def _sampler(self) -> RandomGraphSampler:
        """See RandomGraph."""
        return _native.ErdosRenyi(nodes=self.nodes, seed=self.seed)


NUMBERING = OneOf(("shuffled", "plain"))


@documented
@dataclass(frozen=True, kw_only=True)
class ChungLu(RandomGraph):
    """A power-law graph of Chung and Lu: both ends of an edge are drawn independently by weight.

    The node of rank r = 0, 1, ... has the integral from r to r + 1 of (x + n/500)^(-1/(g - 1)) as
    its weight, where g is the exponent. Its expected degree is 2m times its share of all weights,
    and the number of nodes of degree d falls as d^-g. n/500 limits the largest degree. There may be
    repeated edges and loops.

    Examples
    --------
    >>> from hopvec import datasets
    >>> datasets.ChungLu(nodes=1000, edges=5000).graph().nodes
    1000
    """

    nodes: Annotated[int, Integer(2, MAX_NODES), "number of nodes"]
    exponent: Annotated[float, Real(2.01, 10), "exponent of the power law of degrees"] = 2.3
    numbering: Annotated[str, NUMBERING, "order of the nodes: random, or by expected degree"] = (
        "shuffled"
    )

    @property
    def node_count(self) -> int:
        """The number of nodes, including those without edges."""
        return self.nodes

    def _sampler(self) -> RandomGraphSampler:
        """See RandomGraph."""
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
    """R-MAT of Chakrabarti, Zhan and Faloutsos, as in Graph500, with 2^scale nodes.

    An edge falls into one of the four quadrants of the adjacency matrix with the probabilities a
    (upper left), b, c and d, then into a quadrant of that quadrant, `scale` times. Graph500
    specifies 16 edges per node in shuffled order. There may be repeated edges and loops, mostly in
    small graphs, and many nodes have no edges.

    Examples
    --------
    >>> from hopvec import datasets
    >>> datasets.RMat(scale=10, edges=16 * 2**10).graph().nodes
    1024
    """

    scale: Annotated[int, Integer(1, 30), "binary logarithm of the number of nodes"]
    quadrants: Annotated[
        tuple[float, ...], Reals(4, 0, 1), "probabilities of the four quadrants, a, b, c and d"
    ] = GRAPH500
    numbering: Annotated[str, NUMBERING, "order of the nodes: random, or as generated"] = "shuffled"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.quadrants) != 4 or abs(sum(self.quadrants) - 1) > 1e-9:
            raise ParameterError(
                "RMat: quadrants must hold four probabilities that add up to 1, got "
                f"{list(self.quadrants)}, whose sum is {sum(self.quadrants):g}."
            )

    @property
    def node_count(self) -> int:
        """The number of nodes, including those without edges."""
        return 1 << self.scale

    def _sampler(self) -> RandomGraphSampler:
        """See RandomGraph."""
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
