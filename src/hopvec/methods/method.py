"""Method: the base class of all embedding methods."""

from __future__ import annotations

import dataclasses
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from os import PathLike, fspath
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.engine.fitted import Fitted, FittedState
from hopvec.engine.normalize import is_nonzero
from hopvec.engine.plan import Bytes, Plan
from hopvec.errors import GraphError, ParameterError
from hopvec.graph import Graph
from hopvec.graph.arrow import column_names
from hopvec.graph.columns import name_both_ends
from hopvec.graph.size import GraphSize
from hopvec.methods.estimator import Estimator
from hopvec.methods.parameters import (
    Directory,
    Either,
    Integer,
    OneOf,
    Size,
    check,
    parameters,
)
from hopvec.progress import Progress, ProgressOption, callback, no_progress

logger: logging.Logger = logging.getLogger("hopvec")

RUNTIME_PARAMS = ("threads", "memory", "spill_dir")
"""Parameters that do not change the vectors and are not stored with them."""
KEPT_ORIGIN = ("columns", "prefixes")  # what an embedding keeps of how its graph was read


@dataclass(kw_only=True, eq=False, repr=False)
class Method(Estimator, ABC):
    """A way of embedding a graph: parameters in the constructor, the work in `embed`.

    Follows the conventions of scikit-learn (get_params, set_params, clone, fit, fit_transform,
    set_output, Pipeline): the samples are the nodes and X is the adjacency matrix.
    """

    dim: Annotated[int, Integer(1, 65536), "columns of the embedding (paper: d)"] = 128
    seed: Annotated[
        int, Integer(0, 2**64 - 1), "random seed; the same seed gives the same bytes"
    ] = 0
    threads: Annotated[
        int | None,
        Either(Integer(1, 1024), OneOf((None,))),
        "number of threads; by default, the cores available to this process",
    ] = None
    memory: Annotated[
        str | float | None,
        Either(Size(), OneOf((None,))),
        "memory limit of the run, graph included, such as '4GB'; by default, the free memory",
    ] = None
    spill_dir: Annotated[
        str | PathLike[str] | None,
        Directory(),
        "directory for data that does not fit in memory; by default that of the output file, or of "
        "temporary files",
    ] = None

    _isolated_advice: ClassVar[str] = ""
    """How to get vectors for nodes without edges, if there is a way."""

    _supports_directed: ClassVar[bool] = True
    """Whether the method is defined for directed graphs."""

    _supports_features: ClassVar[bool] = False
    """Whether the method uses node features."""

    _supports_like: ClassVar[bool] = False
    """Whether `embed` takes `like=`, to make vectors comparable with those of an earlier run."""

    @property
    def search_space(self) -> Mapping[str, str]:
        """The default search space of `hopvec.tune`: parameters and their ranges."""
        return {}

    def _check(self) -> None:
        """Raise ParameterError if a parameter, or a combination of parameters, is invalid."""
        check(self)

    @abstractmethod
    def plan(self, graph: Graph) -> Plan:
        """Return how a run on a graph will use threads and memory.

        Parameters
        ----------
        graph : Graph
            The graph to embed.

        Returns
        -------
        Plan
            The fastest plan that fits in the memory limit. `print(plan)` summarizes it.

        Raises
        ------
        MemoryLimitError
            If no plan fits.

        Examples
        --------
        >>> from hopvec import FastRP, Graph
        >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
        >>> FastRP(dim=64).plan(graph).bytes.output
        768
        """

    @abstractmethod
    def _min_memory(self, size: GraphSize) -> Bytes:
        """The minimum memory of a run on a graph of that size."""

    def _run_memory(self, size: GraphSize) -> dict[str, int]:
        """The minimum memory of a run by purpose, for the plan of reading its graph."""
        needed = self._min_memory(size)
        return {"the graph": needed.graph, "the embedding": needed.total - needed.graph}

    def working_bytes(self, nodes: int, graph_bytes: int = 0) -> int:
        """Return the minimum memory of a run, besides the graph itself.

        `read_graph(..., memory="4GB", reserve=method.working_bytes)` leaves that much free.

        Parameters
        ----------
        nodes : int
            The number of nodes.
        graph_bytes : int, default=0
            The size of the CSR arrays of the graph in bytes.

        Returns
        -------
        int
            The memory in bytes.

        Examples
        --------
        >>> from hopvec import FastRP
        >>> FastRP(dim=64, passes=1, normalize="none").working_bytes(1_000_000)
        192000000
        """
        entries = max(0, graph_bytes - 8 * (nodes + 1)) // 4
        size = GraphSize(nodes, entries, False, True, 0, in_file=graph_bytes == 0)
        needed = self._min_memory(size)
        return needed.total - needed.graph

    def _state_bytes(self) -> int:
        """The approximate size of the matrices in the fitted state."""
        return 0

    @abstractmethod
    def _estimate_seconds(self, graph: Graph, plan: Any, progress: Progress) -> float:
        """The time of a run, extrapolated from a short trial; `plan` is that of the graph."""

    @abstractmethod
    def _compute(self, graph: Graph, plan: Any, progress: Progress) -> Fitted:
        """Embed a validated graph; `plan` is that of the graph."""

    def embed(
        self, graph: Any, *, plan: Plan | None = None, progress: ProgressOption = None
    ) -> Embedding:
        """Embed a graph.

        Parameters
        ----------
        graph : Graph or graph-like
            A Graph, an adjacency matrix (scipy, numpy), a graph of networkx, igraph or PyTorch
            Geometric, or a table of edges (pandas, polars, pyarrow, duckdb) whose columns are
            named like the ends of edges.
        plan : Plan, optional
            The plan to follow, as `self.plan(graph)` returns it; by default a new one is made.
        progress : bool or callable, optional
            Whether to show a progress bar; or a function, called with the amount of work done and
            the total, from the calling thread.

        Returns
        -------
        Embedding
            One vector per node, in the order of the ids of the graph.

        Raises
        ------
        ParameterError
            If a parameter is invalid, or parameters contradict each other.
        GraphError
            If the graph is invalid, or the method cannot embed it.
        MemoryLimitError
            If the run does not fit in the memory limit.

        Examples
        --------
        >>> from hopvec import Graph, RandNE
        >>> RandNE(dim=2).embed(Graph.from_edges(["a", "a", "b"], ["b", "c", "c"]))
        Embedding(3 nodes, dim 2, RandNE)
        """
        progress = callback(progress, "embedding")
        return self._embed(self._validate_graph(graph), plan, progress)

    def _embed(
        self, graph: Graph, plan: Plan | None, progress: Progress | None, **options: Any
    ) -> Embedding:
        """Embed a validated graph; `options` are those of `compute`."""
        plan = plan or self.plan(graph)
        for name, value in self._planned_shape(graph).items():
            if getattr(plan, name, None) != value:
                raise ParameterError(
                    f"{type(self).__name__}: plan= was made for another graph or with other "
                    f"parameters: {name} is {getattr(plan, name, None)} there, not {value}."
                )
        fitted = self._compute(graph, plan, progress or no_progress, **options)
        self._warn_about_zero_vectors(graph, fitted)
        return self._to_embedding(graph, fitted)

    def _planned_shape(self, graph: Graph) -> dict[str, Any]:
        """The fields of a plan that the graph and the parameters determine."""
        return {"nodes": graph.nodes, "dim": int(self.dim)}

    def _validate_graph(self, graph: Any) -> Graph:
        """Return the input as a Graph. Raises if it or a parameter does not allow an embedding."""
        self._check()
        validated = as_graph(graph)
        if validated.directed and not self._supports_directed:
            raise GraphError(
                f"{type(self).__name__} is defined for undirected graphs, but this graph is "
                "directed. Read it as undirected, or choose another method."
            )
        if not validated.directed and not validated.symmetric and not self._supports_directed:
            raise GraphError(
                f"{type(self).__name__} is defined for symmetric adjacency matrices, but that of "
                "this graph is not, because of relation_balance='node'. Choose another balance or "
                "method."
            )
        if validated.features is not None and not self._supports_features:
            raise GraphError(
                f"{type(self).__name__} does not support node features. Embed the graph without "
                "them, or choose FastRP."
            )
        return validated

    def _to_embedding(self, graph: Graph, fitted: Fitted) -> Embedding:
        """The result of a run with the ids of its graph and how it was made."""
        features = {} if graph.features is None else {"features": graph.features.columns.names}
        made_by = {
            name: value
            for name, value in self._plain_params().items()
            if name not in RUNTIME_PARAMS
        }
        return Embedding(
            vectors=fitted.vectors,
            ids=graph.ids,
            parameters={"method": type(self).__name__, **made_by, **features},
            graph=graph.describe() | {k: v for k, v in graph.origin.items() if k in KEPT_ORIGIN},
            fitted_state=fitted.state,
            types=graph.node_types,
        )

    def _warn_about_zero_vectors(self, graph: Graph, fitted: Fitted) -> None:
        """Warn if nodes have zero vectors, whether they have edges or not."""
        self._warn_about_zero_rows(fitted, *self._nodes_without_edges(graph))

    def _warn_about_zero_rows(
        self, fitted: Fitted, without: NDArray[np.int32], what: str, first: int = 0
    ) -> None:
        """Warn about zero vectors from row `first` on; the rows of `without` lack `what`."""
        rows = np.arange(first, len(fitted.vectors), dtype=np.int32)
        if fitted.zero_rows is not None:
            zero = rows[fitted.zero_rows[first:]]
        else:
            zero = rows[~is_nonzero(fitted.vectors, rows)]
        isolated = int(np.isin(zero, without).sum())
        self._warn_about_isolated_nodes(isolated, len(rows), what)
        connected = len(rows) - len(without[without >= first])
        self._warn_about_connected_nodes(len(zero) - isolated, len(rows), connected, what)

    def _warn_about_connected_nodes(self, zero: int, nodes: int, connected: int, what: str) -> None:
        """Warn if some of the `connected` nodes, which have `what`, have a zero vector."""
        if zero:
            advice = self._zero_advice(connected)
            logger.warning(
                "Zero vectors: %s of %s nodes, although they have %s: all rows that they reach "
                "are zero, or all are equal%s.",
                f"{zero:,}",
                f"{nodes:,}",
                what,
                f"; {advice}" if advice else "",
            )

    def _zero_advice(self, connected: int) -> str:
        """How to get vectors for nodes that have edges and yet a zero vector, if there is a way.

        `connected` is the number of nodes with edges.
        """
        return ""

    def _warn_about_isolated_nodes(self, isolated: int, nodes: int, what: str) -> None:
        """Warn if nodes have a zero vector because they lack `what`, such as "edges"."""
        if isolated:
            logger.warning(
                "Zero vectors: %s of %s nodes, all without %s%s.",
                f"{isolated:,}",
                f"{nodes:,}",
                what,
                f"; {self._isolated_advice}" if self._isolated_advice else "",
            )

    def _nodes_without_edges(self, graph: Graph) -> tuple[NDArray[np.int32], str]:
        """The rows of nodes without edges that the method could follow, and what they lack."""
        return graph.rows[graph._connected :], "outgoing edges" if graph.directed else "edges"

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: N803
        """Embed a graph and store the result as `embedding_`, as scikit-learn does.

        Parameters
        ----------
        X : Graph or graph-like
            As in `embed`; in scikit-learn, the adjacency matrix.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted method.

        Examples
        --------
        >>> from hopvec import NetMF
        >>> NetMF(dim=2).fit([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).embedding_
        Embedding(3 nodes, dim 2, NetMF)
        """
        self.embedding_: Embedding = self.embed(X)
        self.n_features_in_: int = len(self.embedding_.ids)
        return self

    def fit_transform(self, X: Any, y: object = None) -> Any:  # noqa: N803
        """Embed a graph and return its vectors.

        Parameters
        ----------
        X : Graph or graph-like
            As in `fit`.
        y : None
            Ignored.

        Returns
        -------
        ndarray of float32, shape (nodes, dim)
            One row per node. A DataFrame if `set_output` or scikit-learn is configured so.

        Examples
        --------
        >>> from hopvec import FastRP
        >>> FastRP(dim=8).fit_transform([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).shape
        (3, 8)
        """
        return self._output(self.fit(X).embedding_, X)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Embed a graph of the same nodes with the same parameters and return its vectors.

        Parameters
        ----------
        X : Graph or graph-like
            A graph with as many nodes as the fitted one.

        Returns
        -------
        ndarray of float32, shape (nodes, dim)
            One row per node. A DataFrame if `set_output` or scikit-learn is configured so.

        Raises
        ------
        ParameterError
            If the number of nodes differs.

        Examples
        --------
        >>> from hopvec import NetMF
        >>> matrix = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
        >>> NetMF(dim=2).fit(matrix).transform(matrix).shape
        (3, 2)
        """
        if not hasattr(self, "embedding_"):
            raise self._not_fitted()
        graph = as_graph(X)
        if graph.nodes != self.n_features_in_:
            raise ParameterError(
                f"X has {graph.nodes} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input: the nodes of the fitted graph."
            )
        return self._output(self.embed(graph), X)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Ignored; for scikit-learn.

        Returns
        -------
        dict
            The value of every parameter.

        Examples
        --------
        >>> from hopvec import FastRP
        >>> FastRP(dim=64).get_params()["dim"]
        64
        """
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def _is_complete(self, state: FittedState) -> bool:
        """Whether a fitted state has all parts that a run with these parameters needs."""
        return True

    def _plain_params(self) -> dict[str, Any]:
        """The parameters as plain numbers, strings and lists, which every file format can store."""
        plain = {}
        for name, value in self.get_params().items():
            value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
            value = fspath(value) if isinstance(value, PathLike) else value
            plain[name] = list(value) if isinstance(value, tuple) else value
        return plain

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name.

        Parameters
        ----------
        **parameters
            New values. They are checked when they are used.

        Returns
        -------
        self
            The method itself.

        Raises
        ------
        ParameterError
            If there is no parameter of a name.

        Examples
        --------
        >>> from hopvec import FastRP
        >>> FastRP().set_params(dim=64, passes=1)
        FastRP(dim=64, passes=1)
        """
        valid = self.get_params()
        for name, value in parameters.items():
            if name not in valid:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}; its parameters are "
                    f"{', '.join(valid)}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = (
            f"{field.name}={getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) is not field.default
            and repr(getattr(self, field.name)) != repr(field.default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """The method in a notebook: its parameters."""
        from hopvec.notebook import method_html

        return method_html(self, {each.name: each.help for each in parameters(type(self))})


def as_graph(graph: Any, features: Any = None) -> Graph:
    """Convert another graph, a matrix or a table of edges to a Graph, and add node features."""
    if features is not None:
        return as_graph(graph).with_features(features)
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, str | PathLike):
        raise GraphError(f"Read the file first: hopvec.read_graph({str(graph)!r}).")
    if hasattr(graph, "edge_index") or hasattr(graph, "edge_types") or _is_edge_index(graph):
        return Graph.from_torch_geometric(graph)
    if hasattr(graph, "get_edgelist") and hasattr(graph, "is_directed"):
        return Graph.from_igraph(graph)
    if hasattr(graph, "is_directed") and hasattr(graph, "edges"):
        return Graph.from_networkx(graph)
    if hasattr(graph, "__arrow_c_stream__"):
        return _from_table(graph)
    if isinstance(graph, list) and all(isinstance(row, tuple) for row in graph):
        return _from_pairs(graph)
    matrix = hasattr(graph, "shape") or hasattr(graph, "__array__") or isinstance(graph, list)
    if not matrix or hasattr(graph, "columns"):
        raise GraphError(
            f"Expected a graph, got {type(graph).__name__}. Convert a table of edges with "
            "Graph.from_edges(table['source'], table['target'])."
        )
    return Graph.from_scipy(graph)


def _from_pairs(rows: list[tuple[Any, ...]]) -> Graph:
    """Convert a list of tuples, which are edges; reject one that may also be a matrix."""
    square = {len(row) for row in rows} == {len(rows)}
    if square and all(isinstance(value, Real) for row in rows for value in row):
        raise GraphError(
            f"{len(rows)} tuples of {len(rows)} numbers may be edges or a matrix: pass "
            "Graph.from_edges(...) or Graph.from_scipy(numpy.array(...))."
        )
    return Graph.from_edges(rows)


def _is_edge_index(graph: Any) -> bool:
    """Whether it is a tensor of 2 rows of integers, and not of 2 columns: it cannot be a matrix."""
    tensor = hasattr(graph, "detach") and len(graph.shape) == 2
    return bool(tensor and graph.shape[0] == 2 != graph.shape[1] and "int" in str(graph.dtype))


def _from_table(table: Any) -> Graph:
    """Convert a table whose columns are named like the ends of edges; reject any other table.

    A data frame whose index equals its columns is an adjacency matrix, whatever the names; but if
    both are 0, 1, ..., it may be a table of edges without a header.
    """
    names = column_names(table)
    index = getattr(table, "index", ())
    rows = [str(row) for row in index] if len(index) == len(names) else []
    numbered = rows == [str(row) for row in range(len(rows))]
    if rows == names and not numbered:
        return Graph.from_scipy(table.to_numpy(), ids=list(index))
    if name_both_ends(names):
        return Graph.from_arrow(table)
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    raise GraphError(
        f"Expected a graph, got {type(table).__name__} whose column names ({shown}) do not show "
        "which columns are the ends of an edge. Convert a table of edges with "
        "Graph.from_arrow(table, source=..., target=...), and an adjacency matrix with "
        "Graph.from_scipy(table.to_numpy()). A data frame whose index equals its columns, and both "
        "hold ids, is an adjacency matrix."
    )
