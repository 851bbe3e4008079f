"""Graph: the record that every method works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native
from hopvec.errors import GraphError
from hopvec.machine import file_map, interruptible
from hopvec.progress import Progress, no_progress

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp

    from hopvec.graph.features import Features


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An immutable graph: the rows of its adjacency matrix S, and the ids of its nodes.

    Nodes have numbers of the graph's own: the node with most entries first, ties broken by the
    hash of the id, nodes without a row last. So the numbering depends on the graph alone, hubs
    stay in the caches, and nothing is renumbered before a run. `indptr`, `indices` and `weights`
    are S in that numbering; `ids` keeps the order people know (sorted, or as it was given), and
    `ids[rows[i]]` is the id of node i. `to_scipy` and every embedding are in the order of `ids`.
    """

    indptr: NDArray[np.int64]
    """[nodes + 1]: the entries of node i are indptr[i] to indptr[i + 1]."""
    indices: NDArray[np.int32]
    """[entries]: neighbors, ascending in each row."""
    weights: NDArray[np.float32] | None
    """[entries], all positive; None when every entry is 1."""
    ids: pa.Array
    """[nodes]: int64 or large_string."""
    rows: NDArray[np.int32]
    """[nodes]: node i is ids[rows[i]], and row rows[i] of every embedding."""
    keys: NDArray[np.uint64]
    """[nodes]: XXH64 of the ids, what the random rows are drawn from."""
    directed: bool
    duplicates: int = 0
    """Edges of the input that repeated an earlier one."""
    loops: int = 0
    """Edges of the input from a node to itself."""
    zero_weights: int = 0
    """Edges of the input with weight 0, which were left out."""
    origin: dict[str, Any] = field(default_factory=dict)
    """How a file was understood: its format and why, the columns used, what was left alone."""
    features: Features | None = None
    """What is known of the nodes beside their edges; `with_features` adds it."""
    is_target: NDArray[np.bool_] | None = None
    """[nodes], in the order of `ids`: of a bipartite graph, whether a node is a target."""

    def __post_init__(self) -> None:
        given = (self.indptr, self.indices, self.weights, self.rows, self.keys, self.is_target)
        for array in given:
            if array is not None:
                array.flags.writeable = False

    @staticmethod
    def from_edges(
        source: Any,
        target: Any,
        weight: Any = None,
        *,
        directed: bool = False,
        duplicates: Literal["sum", "first", "error"] = "sum",
        loops: Literal["keep", "drop"] = "keep",
        nodes: int | Sequence[Any] | Any | None = None,
        threads: int | None = None,
    ) -> Graph:
        """A graph from a list of edges: edge e joins source[e] and target[e].

        Ids are integers or strings: lists, numpy, Arrow or pandas columns. In an undirected graph
        an edge (u, v) stands for S_uv and S_vu, a loop for one entry S_uu. `nodes` names all
        nodes, those without edges too, and fixes their order; a number n stands for the ids
        0 .. n-1. Without it the nodes are those of the edges, in ascending order.

        Raises GraphError naming the first edge that is wrong. Linear in the edges but for sorting
        each row; peak memory is about twice the finished rows beside the input, and more where ids
        are looked up: strings, and integers that are spread over more than twice the edges.

        >>> Graph.from_edges(["a", "b"], ["b", "c"])
        Graph(3 nodes, 2 edges, undirected, unweighted)
        """
        from hopvec.graph.edge_list import from_edges

        return from_edges(source, target, weight, directed, duplicates, loops, nodes, threads)

    @staticmethod
    def from_bipartite(
        source: Any,
        target: Any,
        weight: Any = None,
        *,
        prefixes: tuple[str, str] | None = None,
        duplicates: Literal["sum", "first", "error"] = "sum",
        threads: int | None = None,
    ) -> Graph:
        """A graph of two kinds of nodes, such as users and items, that edges lead between.

        It is undirected, and knows its sides: `sources` and `targets` are their ids. An id stands
        for one node, so one that is on both sides is refused, unless `prefixes` tells them apart:
        with ("user:", "item:") the ids are "user:5" and "item:5". The rest as in from_edges.

        >>> graph = Graph.from_bipartite([1, 1, 2], [1, 2, 2], prefixes=("user ", "item "))
        >>> graph.sources.to_pylist(), graph.targets.to_pylist()
        (['user 1', 'user 2'], ['item 1', 'item 2'])
        """
        from hopvec.graph.bipartite import from_bipartite

        return from_bipartite(source, target, weight, prefixes, duplicates, threads)

    @staticmethod
    def from_arrow(
        table: Any,
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        weight: str | int | None = None,
        unweighted: bool = False,
        directed: bool = False,
        duplicates: Literal["sum", "first", "error"] = "sum",
        loops: Literal["keep", "drop"] = "keep",
        nodes: int | Sequence[Any] | Any | None = None,
        threads: int | None = None,
    ) -> Graph:
        """A graph from a table of edges: pandas, polars, pyarrow, duckdb, all that speaks Arrow.

        The columns are those named here (or numbered, from 1 on), else those whose names say what
        they are (source and target, src and dst, from and to, ...; weight, w, value, ...), else
        the first two. `unweighted` leaves a column of weights alone; the rest as in from_edges.

        >>> Graph.from_arrow(pa.table({"from": ["a", "b"], "to": ["b", "c"], "weight": [2, 3]}))
        Graph(3 nodes, 2 edges, undirected, weighted)
        """
        from hopvec.graph.arrow import from_arrow
        from hopvec.graph.columns import ColumnSpec

        spec = ColumnSpec(source, target, weight, unweighted)
        return from_arrow(table, spec, directed, duplicates, loops, nodes, threads)

    @staticmethod
    def from_scipy(
        matrix: sp.sparray | sp.spmatrix | NDArray[Any],
        *,
        ids: Sequence[Any] | Any | None = None,
        directed: bool = False,
        symmetrize: bool = False,
        threads: int | None = None,
    ) -> Graph:
        """A graph from its adjacency matrix (scipy sparse or numpy): S_ij is the weight of i to j.

        A symmetric matrix is taken as it is, never symmetrized again. Another one needs
        `directed=True`, or `symmetrize=True`, which takes every entry as an undirected edge.

        >>> import numpy as np
        >>> Graph.from_scipy(np.array([[0, 1], [1, 0]]))
        Graph(2 nodes, 1 edge, undirected, unweighted)
        """
        from hopvec.graph.convert import from_scipy

        return from_scipy(matrix, ids, directed, symmetrize, threads)

    @staticmethod
    def from_networkx(graph: nx.Graph, *, weight: str = "weight") -> Graph:
        """A graph from networkx; edges without the weight attribute weigh 1.

        A DiGraph becomes directed, the edges of a MultiGraph are summed.
        """
        from hopvec.graph.convert import from_networkx

        return from_networkx(graph, weight)

    @staticmethod
    def from_igraph(graph: Any, *, weight: str = "weight") -> Graph:
        """A graph from igraph: ids are the vertex names, or 0 .. n-1 where there are none.

        Without the edge attribute `weight` every edge weighs 1. Repeated edges are summed.
        """
        from hopvec.graph.convert import from_igraph

        return from_igraph(graph, weight)

    @staticmethod
    def from_torch_geometric(
        data: Any,
        *,
        directed: bool = False,
        symmetrize: bool = False,
        threads: int | None = None,
    ) -> Graph:
        """A graph from PyTorch Geometric: a Data object, or an edge_index of shape [2, edges].

        A Data object gives edge_index, edge_weight and num_nodes; its ids are 0 .. n-1. PyTorch
        Geometric keeps an undirected edge twice, once a direction, so the edges are taken as the
        entries of an adjacency matrix, and the rules are those of from_scipy.
        """
        from hopvec.graph.convert import from_torch_geometric

        return from_torch_geometric(data, directed, symmetrize, threads)

    def with_features(
        self,
        features: Any,
        *,
        id_column: str | None = None,
        progress: Progress | None = None,
    ) -> Graph:
        """The same graph with what is known of its nodes: numbers, categories, texts.

        `features` is a table (pandas, polars, pyarrow, duckdb) or a dict of columns: rows are
        matched by the ids in `id_column`, not given a column called id, node, name, ..., else the
        only one that holds ids of the graph; where none does, they are those of the nodes in the
        order of `ids`. Which of the last two it was is logged. An index of pandas that has no name
        is no feature. Or an array (numpy, scipy sparse) with a row for every node in
        the order of `ids`, whose columns are named 0, 1, ... Numbers are
        brought to mean 0 and variance 1 over the nodes; texts, categories and truth values count
        by being equal; lists of numbers are as many columns. A null is a value that is not known.
        `progress` is called with the columns that are done and their number.

        Raises GraphError naming the row and the column of what is wrong, such as NaN.

        >>> graph = Graph.from_edges(["a", "b"], ["b", "c"])
        >>> known = {"id": ["a", "b", "c"], "age": [30, 41, None], "city": ["Bonn", "Bonn", "Ulm"]}
        >>> graph.with_features(known).features.describe()["missing"]
        1
        """
        from hopvec.graph.features import make_features

        made = make_features(features, self.ids, self.rows, id_column, progress or no_progress)
        return replace(self, features=made)

    def to_scipy(self) -> sp.csr_array:
        """The adjacency matrix S as a scipy CSR array, float32, rows in the order of `ids`."""
        from hopvec.graph.convert import to_scipy

        return to_scipy(self)

    def to_networkx(self) -> nx.Graph:
        """The graph for networkx (DiGraph if directed), nodes in the order of `ids`."""
        from hopvec.graph.convert import to_networkx

        return to_networkx(self)

    @property
    def nodes(self) -> int:
        """The number of nodes, n."""
        return len(self.rows)

    @property
    def sources(self) -> pa.Array:
        """The ids of the sources of a bipartite graph, such as users, in the order of `ids`."""
        return self._side(is_target=False)

    @property
    def targets(self) -> pa.Array:
        """The ids of the targets of a bipartite graph, such as items, in the order of `ids`."""
        return self._side(is_target=True)

    def _side(self, *, is_target: bool) -> pa.Array:
        if self.is_target is None:
            raise GraphError(
                "This graph has no sides: make it by Graph.from_bipartite, or "
                "read_graph(..., bipartite=True)."
            )
        return self.ids.filter(pa.array(self.is_target == is_target))

    @property
    def entries(self) -> int:
        """The number of stored entries of S."""
        return len(self.indices)

    @cached_property
    def edges(self) -> int:
        """The number of distinct edges, an undirected one counted once."""
        if self.directed:
            return self.entries
        return (
            self.entries + _native.nodes_with_loops(self.indptr, self.indices, self.mapped)
        ) // 2

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """The weighted degrees d_i = sum_j S_ij in the order of `ids`."""
        degrees = np.empty(self.nodes)
        degrees[self.rows] = self.node_degrees
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def node_degrees(self) -> NDArray[np.float64]:
        """The weighted degrees in the graph's internal order."""
        degrees = _native.degrees(self.indptr, self.weights, self.mapped)
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def volume(self) -> float:
        """The sum of all entries of S: 2m of the paper."""
        return float(np.cumsum(self.node_degrees)[-1])  # one after the other: the same everywhere

    @cached_property
    def connected(self) -> int:
        """The number of nodes with a row; they come first in the graph's internal order."""
        return int(np.count_nonzero(self.indptr[1:] > self.indptr[:-1]))

    @property
    def isolated(self) -> int:
        """The number of nodes without edges; in a directed graph, without edges that leave them."""
        return self.nodes - self.connected

    @cached_property
    def largest_component(self) -> int:
        """The number of nodes of the largest component; the direction of edges does not count."""
        return interruptible(
            lambda stop: _native.largest_component(
                self.indptr, self.indices, not self.directed, self.mapped, stop
            )
        )

    @property
    def nbytes(self) -> int:
        """The bytes of indptr, indices and weights."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.indptr.nbytes + self.indices.nbytes + weights

    @property
    def mapped(self) -> bool:
        """Whether indices and weights lie in a file, because they did not fit a memory limit."""
        return file_map(self.indices) is not None

    def describe(self) -> dict[str, Any]:
        """The facts of the graph by name, ready for a report or JSON."""
        known: dict[str, Any] = {}
        if self.features is not None:
            known["features"] = self.features.describe()
        if self.is_target is not None:
            targets = int(np.count_nonzero(self.is_target))
            known["sides"] = {"sources": self.nodes - targets, "targets": targets}
        return {
            "nodes": self.nodes,
            "edges": self.edges,
            "directed": self.directed,
            "weighted": self.weights is not None,
            "volume": self.volume,
            "largest_degree": float(self.node_degrees.max()),
            "isolated": self.isolated,
            "largest_component": self.largest_component,
            "duplicates": self.duplicates,
            "loops": self.loops,
            "zero_weights": self.zero_weights,
            "bytes": self.nbytes,
            **known,
        }

    def __repr__(self) -> str:
        edges = "1 edge" if self.edges == 1 else f"{self.edges:,} edges"
        nodes = "1 node" if self.nodes == 1 else f"{self.nodes:,} nodes"
        direction = "directed" if self.directed else "undirected"
        weighted = "unweighted" if self.weights is None else "weighted"
        sides = "" if self.is_target is None else "bipartite, "
        return f"Graph({nodes}, {edges}, {sides}{direction}, {weighted})"
