"""Graph: the input of every method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native
from hopvec.errors import GraphError
from hopvec.graph.node_types import describe_types
from hopvec.machine import file_map, interruptible
from hopvec.progress import ProgressOption, callback, no_progress

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp

    from hopvec.graph.features import Features
    from hopvec.graph.relations import Relations


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An immutable graph with node ids.

    Create graphs with `from_edges` and the other `from_...` functions, or with `read_graph`. The
    adjacency matrix S is stored in CSR format. Its rows (`indptr`, `indices`, `weights`, `keys`)
    are in an internal order, most neighbors first, and `ids[rows[i]]` is the id of node i.
    Everything else, such as `degrees`, `to_scipy` and every embedding, is in the order of `ids`.

    Attributes
    ----------
    indptr : ndarray of shape (nodes + 1,), int64
        The entries of node i are indptr[i] to indptr[i + 1].
    indices : ndarray of shape (entries,), int32
        The neighbors of each node, ascending in each row.
    weights : ndarray of shape (entries,), float32, or None
        The weights, all positive; None if every entry is 1.
    ids : pyarrow.Array
        The ids of the nodes, int64 or large_string.
    rows : ndarray of shape (nodes,), int32
        Node i is ids[rows[i]], and row rows[i] of every embedding.
    keys : ndarray of shape (nodes,), uint64
        The XXH64 hashes of the ids, which determine the random numbers of each node.
    directed : bool
        Whether the graph is directed.
    duplicates : int
        The number of input edges that repeat an earlier one.
    loops : int
        The number of input edges from a node to itself.
    zero_weights : int
        The number of input edges with weight 0, which were dropped.
    origin : dict
        How a file was read: its format and the reason, and the columns used and ignored.
    features : Features or None
        The features of the nodes, added by `with_features`.
    is_target : ndarray of bool, or None
        In a bipartite graph, mask of the target side, in the order of `ids`.
    relations : Relations or None
        The relations of the edges, such as KNOWS and LIKES, if they have any.
    node_types : pyarrow.DictionaryArray or None
        The types of the nodes in the order of `ids`, null for nodes without a type; None if no
        types are known.

    Examples
    --------
    >>> from hopvec import Graph
    >>> graph = Graph.from_edges(["ann", "ann", "bob"], ["bob", "cem", "cem"], [1, 2, 1])
    >>> graph
    Graph(3 nodes, 3 edges, undirected, weighted)
    >>> graph.ids.to_pylist(), graph.degrees.tolist()
    (['ann', 'bob', 'cem'], [3.0, 2.0, 3.0])
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    ids: pa.Array
    rows: NDArray[np.int32]
    keys: NDArray[np.uint64]
    directed: bool
    duplicates: int = 0
    loops: int = 0
    zero_weights: int = 0
    origin: dict[str, Any] = field(default_factory=dict)
    features: Features | None = None
    is_target: NDArray[np.bool_] | None = None
    relations: Relations | None = None
    node_types: pa.DictionaryArray | None = None

    def __post_init__(self) -> None:
        arrays = (self.indptr, self.indices, self.weights, self.rows, self.keys, self.is_target)
        for array in arrays:
            if array is not None:
                array.flags.writeable = False

    @staticmethod
    def from_edges(
        source: Any,
        target: Any = None,
        weight: Any = None,
        *,
        relation: Any = None,
        relation_weights: Mapping[str, float] | str | None = None,
        relation_balance: Literal["none", "total", "node"] = "none",
        relation_direction: Mapping[str, str] | str | None = None,
        time: Any = None,
        half_life: str | timedelta | None = None,
        as_of: Any = None,
        since: Any = None,
        until: Any = None,
        directed: bool = False,
        duplicates: Literal["sum", "first", "error"] = "sum",
        loops: Literal["keep", "drop"] = "keep",
        nodes: int | Sequence[Any] | Any | None = None,
        threads: int | None = None,
    ) -> Graph:
        """Create a graph from a list of edges.

        Edge e joins source[e] and target[e]. In an undirected graph, an edge (u, v) sets S_uv and
        S_vu, and a loop sets one entry S_uu. Peak memory is about twice that of the CSR arrays,
        plus the input; strings and widely spread integers also need a lookup table.

        Parameters
        ----------
        source, target : array-like of int or str
            The ids: lists, or numpy, Arrow or pandas columns. Without `target`, `source` is a list
            of pairs (source, target) or triples (source, target, weight).
        weight : array-like of float, optional
            One weight per edge. Edges of weight 0 are dropped.
        relation : array-like of str or int, optional
            The relation of each edge, such as KNOWS or LIKES. Edges of different relations are
            never duplicates of each other.
        relation_weights : dict or str, optional
            A weight for each relation, such as {"KNOWS": 1, "LIKES": 0.5} or "KNOWS=1,LIKES=0.5".
            Then every relation must be named; "*" stands for all others. By default all count 1.
        relation_balance : {"none", "total", "node"}, default "none"
            "total": relations are scaled to the same sum of weights, or to sums in proportion to
            their weights. "node": each node divides its degree among the relations it has.
        relation_direction : dict or str, optional
            The direction of relations that differ from `directed`, such as {"FOLLOWS": "out",
            "FRIEND": "both"}: "out" from source to target, "in" the other way, or "both".
        time : array-like, optional
            One time per edge: timestamps or dates, ISO dates as strings, or Unix time in seconds,
            milliseconds, microseconds or nanoseconds. Times without a zone are UTC.
        half_life : str or timedelta, optional
            The age at which an edge counts half, such as "30d": its weight is multiplied by
            0.5 ** (age / half_life). The units are s, min, h, d, w and y (365 days).
        as_of : str, number, date or datetime, optional
            The time from which ages are measured; edges after it are an error. By default the time
            of the newest edge.
        since, until : str, number, date or datetime, optional
            The window of time: edges with since <= time < until are used.
        directed : bool, default False
            Whether edges have a direction.
        duplicates : {"sum", "first", "error"}, default "sum"
            Add up the weights of repeated edges, keep the first one, or raise GraphError.
        loops : {"keep", "drop"}, default "keep"
            What to do with edges from a node to itself.
        nodes : int or array-like, optional
            The ids of all nodes, including those without edges, in the order to use; an integer n
            stands for the ids 0 to n-1. By default the ids in the edges, in ascending order.
        threads : int, optional
            The number of threads; by default all cores that this process may use.

        Returns
        -------
        Graph
            Its ids are in ascending order, or in the order of `nodes`.

        Raises
        ------
        GraphError
            If an id or a weight is invalid; the message names the first such edge.
        ParameterError
            If an option has an invalid value.

        Examples
        --------
        >>> Graph.from_edges(["a", "b"], ["b", "c"])
        Graph(3 nodes, 2 edges, undirected, unweighted)
        >>> Graph.from_edges([0, 1], [1, 2], [0.5, 2], directed=True, nodes=5)
        Graph(5 nodes, 2 edges, directed, weighted)
        >>> Graph.from_edges([("a", "b"), ("b", "c")])
        Graph(3 nodes, 2 edges, undirected, unweighted)
        >>> Graph.from_edges(["a", "b"], ["b", "c"], relation=["KNOWS", "LIKES"])
        Graph(3 nodes, 2 edges, 2 relations, undirected, unweighted)
        >>> days = ["2024-05-01", "2024-05-31"]
        >>> Graph.from_edges(["a", "b"], ["b", "c"], time=days, half_life="30d").degrees.tolist()
        [0.5, 1.5, 1.0]
        """
        from hopvec.graph import edge_list, relations
        from hopvec.graph.age_weights import EdgeTimes, TimeOptions, select_by_time
        from hopvec.graph.relation_options import RelationOptions

        time_options = TimeOptions.checked("Graph.from_edges", time, half_life, as_of, since, until)
        options = RelationOptions.checked(
            "Graph.from_edges", relation_weights, relation_balance, relation_direction
        )
        if target is None:
            source, target, weight = edge_list.split_pairs(source, weight)
        if time is not None:
            times = EdgeTimes(time_options)
            columns = (source, target, weight, relation)
            source, target, weight, relation = select_by_time(*columns, time, times)
        build = (directed, duplicates, loops, nodes, threads)
        if relation is None:
            options.check_unused("Graph.from_edges")
            graph = edge_list.from_edges(source, target, weight, *build)
        else:
            graph = relations.from_edges(source, target, weight, relation, options, *build)
        return graph if time is None else replace(graph, origin={"time": times.describe()})

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
        """Create a bipartite graph, whose edges join two kinds of nodes, such as users and items.

        The graph is undirected. Its `sources` and `targets` are the ids of its two sides.

        Parameters
        ----------
        source, target, weight, duplicates, threads
            As in `from_edges`.
        prefixes : tuple of two str, optional
            Prefixes for the ids of the two sides. With ("user:", "item:") the ids are "user:5" and
            "item:5", and the types of the nodes are "user" and "item".

        Returns
        -------
        Graph
            Its ids are those of both sides.

        Raises
        ------
        GraphError
            If an id is on both sides. An id is one node, unless `prefixes` distinguish the sides.

        Examples
        --------
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
        one_kind: bool = False,
        relation: str | int | None = None,
        relation_weights: Mapping[str, float] | str | None = None,
        relation_balance: Literal["none", "total", "node"] = "none",
        relation_direction: Mapping[str, str] | str | None = None,
        time: str | int | None = None,
        half_life: str | timedelta | None = None,
        as_of: Any = None,
        since: Any = None,
        until: Any = None,
        directed: bool = False,
        duplicates: Literal["sum", "first", "error"] = "sum",
        loops: Literal["keep", "drop"] = "keep",
        nodes: int | Sequence[Any] | Any | None = None,
        threads: int | None = None,
    ) -> Graph:
        """Create a graph from a table of edges, with one edge per row.

        Parameters
        ----------
        table : DataFrame or Table
            A table of pandas, polars, pyarrow, duckdb, or any other library that supports the Arrow
            C stream interface.
        source, target, weight : str or int, optional
            Columns by name, or by position, starting at 1. By default columns with usual names
            (source and target, src and dst, from and to, ...; weight, w, value, ...), else the
            first two columns without weights.
        unweighted : bool, default False
            Whether to ignore a column of weights.
        one_kind : bool, default False
            Whether the same id is the same node, although the column names suggest two kinds of
            nodes, such as user_id and item_id. Otherwise shared ids raise GraphError.
        relation : str or int, optional
            The column of relations, by name or position.
        relation_weights, relation_balance, relation_direction
            As in `from_edges`.
        time : str or int, optional
            The column of times, by name or position.
        half_life, as_of, since, until
            As in `from_edges`.
        directed, duplicates, loops, nodes, threads
            As in `from_edges`.

        Returns
        -------
        Graph
            As from `from_edges`. `origin` shows which columns were used.

        Raises
        ------
        GraphError
            If a column is missing, or an id or a weight is invalid.

        Examples
        --------
        >>> import pyarrow as pa
        >>> Graph.from_arrow(pa.table({"from": ["a", "b"], "to": ["b", "c"], "weight": [2, 3]}))
        Graph(3 nodes, 2 edges, undirected, weighted)
        """
        from hopvec.graph.arrow import from_arrow
        from hopvec.graph.columns import ColumnSpec

        spec = ColumnSpec(source, target, weight, unweighted, relation=relation, time=time)
        return from_arrow(
            table,
            spec,
            one_kind,
            relation_weights=relation_weights,
            relation_balance=relation_balance,
            relation_direction=relation_direction,
            half_life=half_life,
            as_of=as_of,
            since=since,
            until=until,
            directed=directed,
            duplicates=duplicates,
            loops=loops,
            nodes=nodes,
            threads=threads,
        )

    @staticmethod
    def from_scipy(
        matrix: sp.sparray | sp.spmatrix | NDArray[Any],
        *,
        ids: Sequence[Any] | Any | None = None,
        directed: bool = False,
        symmetrize: bool = False,
        threads: int | None = None,
    ) -> Graph:
        """Create a graph from its adjacency matrix.

        S_ij is the weight of the edge from i to j.

        Parameters
        ----------
        matrix : scipy.sparse array or matrix, or ndarray
            A square matrix. If it is symmetric, it is used as it is.
        ids : array-like, optional
            The ids of the nodes; by default 0 to n-1.
        directed : bool, default False
            Whether edges have a direction. A matrix that is not symmetric needs `directed=True` or
            `symmetrize=True`.
        symmetrize : bool, default False
            Whether to take every entry of a matrix that is not symmetric as an undirected edge.
        threads : int, optional
            The number of threads; by default all cores that this process may use.

        Returns
        -------
        Graph
            Node i is row i of the matrix.

        Raises
        ------
        GraphError
            If the matrix is not square, has invalid entries, or is not symmetric and neither
            `directed` nor `symmetrize` is set.

        Examples
        --------
        >>> import numpy as np
        >>> Graph.from_scipy(np.array([[0, 1], [1, 0]]))
        Graph(2 nodes, 1 edge, undirected, unweighted)
        """
        from hopvec.graph.convert import from_scipy

        return from_scipy(matrix, ids, directed, symmetrize, threads)

    @staticmethod
    def from_networkx(
        graph: nx.Graph[Any],
        *,
        weight: str = "weight",
        relation: str | None = None,
        relation_weights: Mapping[str, float] | str | None = None,
        relation_balance: Literal["none", "total", "node"] = "none",
        relation_direction: Mapping[str, str] | str | None = None,
    ) -> Graph:
        """Create a graph from a networkx graph.

        A DiGraph becomes a directed graph; parallel edges of a MultiGraph are summed.

        Parameters
        ----------
        graph : networkx.Graph
            The graph.
        weight : str, default "weight"
            The edge attribute with the weights. Edges without it have weight 1.
        relation : str, optional
            The edge attribute with the relations; "key" stands for the keys of a MultiGraph.
        relation_weights, relation_balance, relation_direction
            As in `from_edges`.

        Returns
        -------
        Graph
            Its ids are the nodes of the networkx graph, which must be strings or integers.

        Examples
        --------
        >>> import networkx as nx
        >>> Graph.from_networkx(nx.path_graph(3))
        Graph(3 nodes, 2 edges, undirected, unweighted)
        """
        from hopvec.graph.convert import from_networkx

        return from_networkx(
            graph,
            weight,
            relation,
            relation_weights=relation_weights,
            relation_balance=relation_balance,
            relation_direction=relation_direction,
        )

    @staticmethod
    def from_igraph(graph: Any, *, weight: str = "weight") -> Graph:
        """Create a graph from an igraph graph.

        Parallel edges are summed.

        Parameters
        ----------
        graph : igraph.Graph
            The graph. Ids are the vertex names, or 0 to n-1 if there are none.
        weight : str, default "weight"
            The edge attribute with the weights. Without it every edge has weight 1.

        Returns
        -------
        Graph
            Its nodes are in the order of the vertices.

        Examples
        --------
        >>> import igraph
        >>> Graph.from_igraph(igraph.Graph([(0, 1), (1, 2)]))
        Graph(3 nodes, 2 edges, undirected, unweighted)
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
        """Create a graph from PyTorch Geometric data.

        PyTorch Geometric stores an undirected edge twice, once per direction. So the edges are
        taken as the entries of an adjacency matrix, as in `from_scipy`.

        Parameters
        ----------
        data : Data or tensor
            A Data object with edge_index, edge_weight and num_nodes, or an edge_index of shape
            [2, edges]. Ids are 0 to n-1.
        directed, symmetrize, threads
            As in `from_scipy`.

        Returns
        -------
        Graph
            Node i is node i of the data.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> data = SimpleNamespace(edge_index=[[0, 1, 1, 2], [1, 0, 2, 1]], num_nodes=3)
        >>> Graph.from_torch_geometric(data)
        Graph(3 nodes, 2 edges, undirected, unweighted)
        """
        from hopvec.graph.convert import from_torch_geometric

        return from_torch_geometric(data, directed, symmetrize, threads)

    def with_features(
        self,
        features: Any,
        *,
        id_column: str | None = None,
        progress: ProgressOption = None,
    ) -> Graph:
        """Return the same graph with node features.

        Numbers are scaled to mean 0 and variance 1 over the nodes. Strings, categories and booleans
        are categorical. Lists of numbers become one column per entry. A null is a missing value.

        Parameters
        ----------
        features : table, dict of columns, or array
            A table (pandas, polars, pyarrow, duckdb) or a dict; or an array (numpy, scipy sparse)
            with one row per node in the order of `ids`, whose columns are named "0", "1", ...
            An unnamed index of pandas is not a feature.
        id_column : str, optional
            The column that matches rows to nodes. By default a column called id, node, name, ...,
            else the only column that holds ids of the graph, else rows are in the order of `ids`;
            a warning is logged in the last two cases.
        progress : bool or callable, optional
            Whether to show a progress bar; or a function, called with the number of finished
            columns and the total.

        Returns
        -------
        Graph
            Shares its arrays with this graph.

        Raises
        ------
        GraphError
            If a value is invalid, such as NaN; the message names its row and column.

        Examples
        --------
        >>> graph = Graph.from_edges(["a", "b"], ["b", "c"])
        >>> table = {"id": ["a", "b", "c"], "age": [30, 41, None], "city": ["Bonn", "Bonn", "Ulm"]}
        >>> graph.with_features(table).features.describe()["missing"]
        1
        """
        from hopvec.graph.features import make_features

        progress = callback(progress, "encoding features")
        made = make_features(features, self.ids, self.rows, id_column, progress or no_progress)
        return replace(self, features=made)

    def with_node_types(self, types: Any) -> Graph:
        """Return the same graph with types of nodes, such as "user" and "item".

        Embeddings of the graph keep the types, and searches can be limited to some of them.

        Parameters
        ----------
        types : array-like of str, or dict
            The type of each node in the order of `ids`, or types by id. None, an empty string and
            an id that is not in the dict mean that a node has no type.

        Returns
        -------
        Graph
            Shares its arrays with this graph.

        Raises
        ------
        ParameterError
            If there is not one type per node, or types are not strings.

        Examples
        --------
        >>> graph = Graph.from_edges(["ann", "ann"], ["tea", "jam"])
        >>> typed = graph.with_node_types({"ann": "user", "tea": "item", "jam": "item"})
        >>> typed.describe()["types"]
        {'item': 2, 'user': 1}
        """
        from hopvec.graph.node_types import encode_types, types_by_id

        if isinstance(types, Mapping):
            types = types_by_id(types, self.ids)
        return replace(self, node_types=encode_types("with_node_types", types, self.nodes))

    def to_scipy(self) -> sp.csr_array:
        """Return the adjacency matrix S as a scipy CSR array.

        Returns
        -------
        scipy.sparse.csr_array
            float32, with rows and columns in the order of `ids`.

        Examples
        --------
        >>> Graph.from_edges(["a", "b"], ["b", "c"]).to_scipy().toarray().tolist()
        [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
        """
        from hopvec.graph.convert import to_scipy

        return to_scipy(self)

    def to_arrow(self) -> pa.Table:
        """Return the edges as an Arrow table.

        The graph itself can also be passed to libraries that read Arrow streams, such as
        `polars.DataFrame(graph)`, which then read the edges in parts.

        Returns
        -------
        pyarrow.Table
            The columns "source" and "target", and "weight" if the graph is weighted. Each edge is
            listed once, and nodes without edges are not.

        Examples
        --------
        >>> Graph.from_edges(["a", "b"], ["b", "c"]).to_arrow().num_rows
        2
        """
        from hopvec.graph.edge_stream import edge_reader

        return edge_reader(self).read_all()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The edges as an Arrow stream, as in `to_arrow`."""
        from hopvec.graph.edge_stream import edge_reader

        return edge_reader(self).__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """The graph in a notebook."""
        from hopvec.notebook import graph_html

        return graph_html(self)

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the graph as a networkx graph.

        Returns
        -------
        networkx.Graph or networkx.DiGraph
            Its nodes are in the order of `ids`; the edge attribute "weight" has the weights.

        Examples
        --------
        >>> Graph.from_edges(["a", "b"], ["b", "c"]).to_networkx().number_of_edges()
        2
        """
        from hopvec.graph.convert import to_networkx

        return to_networkx(self)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.rows)

    @property
    def sources(self) -> pa.Array:
        """The ids on the source side of a bipartite graph, such as users, in the order of `ids`."""
        return self._side(is_target=False)

    @property
    def targets(self) -> pa.Array:
        """The ids on the target side of a bipartite graph, such as items, in the order of `ids`."""
        return self._side(is_target=True)

    def _side(self, *, is_target: bool) -> pa.Array:
        if self.is_target is None:
            raise GraphError(
                "This graph is not bipartite: make it with Graph.from_bipartite, or with "
                "read_graph(..., bipartite=True)."
            )
        return self.ids.filter(pa.array(self.is_target == is_target))

    @property
    def symmetric(self) -> bool:
        """Whether S is symmetric: the graph is undirected, and not balanced by node."""
        balanced = self.relations is not None and self.relations.balance == "node"
        return not self.directed and not balanced

    @property
    def entries(self) -> int:
        """The number of stored entries of S."""
        return len(self.indices)

    @cached_property
    def edges(self) -> int:
        """The number of distinct edges; an undirected edge counts once."""
        if self.directed:
            return self.entries
        return (
            self.entries + _native.nodes_with_loops(self.indptr, self.indices, self._mapped)
        ) // 2

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """The weighted degrees d_i = sum_j S_ij in the order of `ids`."""
        degrees = np.empty(self.nodes)
        degrees[self.rows] = self._node_degrees
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def _node_degrees(self) -> NDArray[np.float64]:
        """The weighted degrees in the graph's internal order."""
        degrees = _native.degrees(self.indptr, self.weights, self._mapped)
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def volume(self) -> float:
        """The sum of all entries of S: 2m of the paper."""
        return float(np.cumsum(self._node_degrees)[-1])  # added in sequence: same sum everywhere

    @cached_property
    def _connected(self) -> int:
        """The number of nodes with a row; they are first in the graph's internal order."""
        return int(np.count_nonzero(self.indptr[1:] > self.indptr[:-1]))

    @property
    def isolated(self) -> int:
        """The number of nodes without edges; in a directed graph, without outgoing edges."""
        return self.nodes - self._connected

    @cached_property
    def largest_component(self) -> int:
        """The number of nodes in the largest component, ignoring the direction of edges."""
        return interruptible(
            lambda stop: _native.largest_component(
                self.indptr, self.indices, not self.directed, self._mapped, stop
            )
        )

    @property
    def nbytes(self) -> int:
        """The bytes of indptr, indices and weights."""
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.indptr.nbytes + self.indices.nbytes + weights

    @property
    def _mapped(self) -> bool:
        """Whether indices and weights are in a file, because they exceeded a memory limit."""
        return file_map(self.indices) is not None

    def describe(self) -> dict[str, Any]:
        """Return statistics of the graph.

        Returns
        -------
        dict
            Numbers of nodes, edges, isolated nodes, duplicates, loops and edges of weight 0, the
            largest component and degree, and more, ready for a report or JSON.

        Examples
        --------
        >>> statistics = Graph.from_edges(["a", "a"], ["b", "c"]).describe()
        >>> statistics["nodes"], statistics["edges"], statistics["largest_degree"]
        (3, 2, 2.0)
        """
        more: dict[str, Any] = {}
        if self.features is not None:
            more["features"] = self.features.describe()
        if self.is_target is not None:
            targets = int(np.count_nonzero(self.is_target))
            more["sides"] = {"sources": self.nodes - targets, "targets": targets}
        more |= describe_types(self.node_types)
        if self.relations is not None:
            more["relations"] = self.relations.describe()
            more["relation_balance"] = self.relations.balance
        if half_life := self.origin.get("time", {}).get("half_life"):
            more["half_life"] = half_life
        return {
            "nodes": self.nodes,
            "edges": self.edges,
            "directed": self.directed,
            "weighted": self.weights is not None,
            "volume": self.volume,
            "largest_degree": float(self._node_degrees.max()),
            "isolated": self.isolated,
            "largest_component": self.largest_component,
            "duplicates": self.duplicates,
            "loops": self.loops,
            "zero_weights": self.zero_weights,
            "bytes": self.nbytes,
            **more,
        }

    def __repr__(self) -> str:
        edges = "1 edge" if self.edges == 1 else f"{self.edges:,} edges"
        nodes = "1 node" if self.nodes == 1 else f"{self.nodes:,} nodes"
        direction = "directed" if self.directed else "undirected"
        weighted = "unweighted" if self.weights is None else "weighted"
        kinds = [] if self.is_target is None else ["bipartite"]
        if self.relations is not None:
            count = len(self.relations.kinds)
            kinds.insert(0, "1 relation" if count == 1 else f"{count:,} relations")
        return f"Graph({', '.join([nodes, edges, *kinds, direction, weighted])})"
