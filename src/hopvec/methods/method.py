"""Method: what every way of embedding a graph has in common."""

from __future__ import annotations

import dataclasses
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.engine.fitted import FittedState
from hopvec.engine.normalize import not_zero
from hopvec.engine.plan import Plan
from hopvec.errors import GraphError, ParameterError
from hopvec.graph import Graph
from hopvec.graph.arrow import column_names
from hopvec.graph.columns import name_both_ends
from hopvec.methods.parameters import Directory, Either, Integer, OneOf, Size, check
from hopvec.progress import Progress, no_progress

if TYPE_CHECKING:
    from sklearn.utils import Tags

logger = logging.getLogger("hopvec")

RUNTIME_PARAMS = ("threads", "memory", "spill_dir")
"""Parameters that change no vector, and are not stored with the vectors."""


@dataclass(kw_only=True, eq=False, repr=False)
class Method(ABC):
    """A way of embedding a graph: parameters in the constructor, the work in `embed`.

    Follows scikit-learn's conventions (get_params, set_params, clone, fit, fit_transform,
    Pipeline), where the samples are the nodes and X is the adjacency matrix.
    """

    dim: Annotated[int, Integer(1, 65536), "columns of the embedding (paper: d)"] = 128
    seed: Annotated[int, Integer(0, 2**64 - 1), "same seed, same bytes"] = 0
    threads: Annotated[
        int | None,
        Either(Integer(1, 1024), OneOf((None,))),
        "threads to use; none given: the cores this process may use",
    ] = None
    memory: Annotated[
        str | float | None,
        Either(Size(), OneOf((None,))),
        "bound on the memory of the run, graph included, such as '4GB'; none given: what is free",
    ] = None
    spill_dir: Annotated[
        str | PathLike[str] | None,
        Directory(),
        "directory for data that does not fit in memory; by default that of the output file, or of "
        "temporary files",
    ] = None

    zero_vectors: ClassVar[str] = ""
    """Advice to those who want vectors for nodes without edges, where there is one."""

    zero_orders: ClassVar[str] = ""
    """Advice to those who want vectors for nodes with edges that have none, where there is one."""

    space: ClassVar[Mapping[str, str]] = {}
    """What `hopvec.tune` searches unless told otherwise: parameters, and the texts of ranges."""

    takes_directed: ClassVar[bool] = True
    """Whether the method is defined for directed graphs."""

    supports_like: ClassVar[bool] = False
    """Whether `embed` takes `like=`, to make vectors comparable with those of an earlier run."""

    takes_features: ClassVar[bool] = False
    """Whether the method makes use of what is known of nodes beside their edges."""

    def check(self) -> None:
        """Raises ParameterError for what is wrong with a parameter, or with several together."""
        check(self)

    @abstractmethod
    def plan(self, graph: Graph) -> Plan:
        """How a run on this graph will use threads and memory."""

    @abstractmethod
    def working_bytes(self, nodes: int, rows: int = 0) -> int:
        """The least memory that a run takes beside a graph of so many nodes and bytes of rows."""

    @abstractmethod
    def estimate_seconds(self, graph: Graph, progress: Progress) -> float:
        """The time of a run on this graph, from a trial of a little of the work."""

    @abstractmethod
    def vectors(self, graph: Graph, progress: Progress) -> NDArray[np.float32]:
        """The embedding of a graph, rows in the order of its ids; parameters are checked before."""

    def embed(self, graph: Any, *, progress: Progress | None = None) -> Embedding:
        """The embedding of a graph: a Graph, or anything that as_graph makes one of.

        That is an adjacency matrix (scipy, numpy), a graph of networkx, igraph or PyTorch
        Geometric, or a table of edges (pandas, polars, pyarrow, duckdb) with named ends.
        `progress` is called with the parts done and their number, from the calling thread. Raises
        ParameterError, GraphError or MemoryLimitError.
        """
        graph = self.validate_graph(graph)
        vectors, fitted_state = self.make(graph, progress or no_progress)
        self.report_zero_vectors(graph, vectors)
        return self.to_embedding(graph, vectors, fitted_state)

    def make(
        self, graph: Graph, progress: Progress
    ) -> tuple[NDArray[np.float32], FittedState | None]:
        """The vectors, and what it takes to make comparable ones, where the method can."""
        return self.vectors(graph, progress), None

    def validate_graph(self, graph: Any) -> Graph:
        """The Graph to embed; refuses it, or a parameter, where there can be no embedding."""
        self.check()
        accepted = as_graph(graph)
        if accepted.directed and not self.takes_directed:
            raise GraphError(
                f"{type(self).__name__} is defined for undirected graphs, and this one is directed."
                " Read it as undirected, or choose another method."
            )
        if accepted.features is not None and not self.takes_features:
            raise GraphError(
                f"{type(self).__name__} has no use for the features of nodes. Embed the graph "
                "without them, or choose FastRP."
            )
        return accepted

    def to_embedding(
        self, graph: Graph, vectors: NDArray[np.float32], fitted_state: FittedState | None = None
    ) -> Embedding:
        """Vectors that this method made of a graph, with their ids and how they were made."""
        known = {} if graph.features is None else {"features": graph.features.columns.names}
        made_by = {
            name: value for name, value in self.plain_params().items() if name not in RUNTIME_PARAMS
        }
        return Embedding(
            vectors=vectors,
            ids=graph.ids,
            parameters={"method": type(self).__name__, **made_by, **known},
            graph=graph.describe() | {k: v for k, v in graph.origin.items() if k == "columns"},
            fitted_state=fitted_state,
        )

    def report_zero_vectors(self, graph: Graph, vectors: NDArray[np.float32]) -> None:
        """Warns of nodes whose vectors are zero, those without edges and others."""
        self.warn_of_rows(vectors, *self.without_edges(graph))

    def warn_of_rows(
        self, vectors: NDArray[np.float32], without: NDArray[np.int32], what: str, first: int = 0
    ) -> None:
        """The same for the rows from `first` on, of which those of `without` have no edges.

        Vectors in a file are not read again for it: there, only nodes without edges are told.
        """
        nodes = len(vectors) - first
        rows = np.arange(first, len(vectors), dtype=np.int32)
        rows = without[without >= first] if isinstance(vectors, np.memmap) else rows
        zero = rows[~not_zero(vectors, rows)]
        lacking = int(np.isin(zero, without).sum())
        self.warn_of_zero_vectors(lacking, nodes, what)
        if lacking < len(zero):
            logger.warning(
                "Zero vectors: %s of %s nodes, though they have %s: what they reach is zero, or "
                "does not vary%s.",
                f"{len(zero) - lacking:,}",
                f"{nodes:,}",
                what,
                f"; {self.zero_orders}" if self.zero_orders else "",
            )

    def warn_of_zero_vectors(self, zero: int, nodes: int, what: str) -> None:
        """Warns of so many zero vectors among those of all nodes, if there are any."""
        if zero:
            logger.warning(
                "Zero vectors: %s of %s nodes, all without %s%s.",
                f"{zero:,}",
                f"{nodes:,}",
                what,
                f"; {self.zero_vectors}" if self.zero_vectors else "",
            )

    def without_edges(self, graph: Graph) -> tuple[NDArray[np.int32], str]:
        """The rows of nodes without edges that the method could follow, and what they lack."""
        return graph.rows[graph.connected :], "outgoing edges" if graph.directed else "edges"

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: N803
        """Embeds the graph and keeps the result as `embedding_`."""
        self.embedding_ = self.embed(X)
        self.n_features_in_ = len(self.embedding_.ids)
        return self

    def fit_transform(self, X: Any, y: object = None) -> NDArray[np.float32]:  # noqa: N803
        """The vectors of the graph, one row a node."""
        return self.fit(X).embedding_.vectors

    def transform(self, X: Any) -> NDArray[np.float32]:  # noqa: N803
        """The vectors of a graph by the same parameters; for the fitted graph, those of the fit."""
        if not hasattr(self, "embedding_"):
            raise self._not_fitted()
        graph = as_graph(X)
        if graph.nodes != self.n_features_in_:
            raise ParameterError(
                f"X has {graph.nodes} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input: the nodes must be those of the fit."
            )
        return self.embed(graph).vectors

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def plain_params(self) -> dict[str, Any]:
        """The parameters as plain numbers, texts and lists, as every file format keeps them."""
        plain = {}
        for name, value in self.get_params().items():
            value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
            value = fspath(value) if isinstance(value, PathLike) else value
            plain[name] = list(value) if isinstance(value, tuple) else value
        return plain

    def set_params(self, **parameters: Any) -> Self:
        """Changes parameters by name; they are checked when they are used."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}."
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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(sparse=True, pairwise=True, positive_only=True),
        )

    def _not_fitted(self) -> Exception:
        message = f"{type(self).__name__} is not fitted yet: call fit first."
        try:
            from sklearn.exceptions import NotFittedError
        except ImportError:
            return ParameterError(message)
        error: Exception = NotFittedError(message)
        return error


def as_graph(graph: Any) -> Graph:
    """A Graph as it is; the graph of another library, a matrix or a table of edges as a Graph."""
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, str | PathLike):
        raise GraphError(f"Read the file first: hopvec.read_graph({str(graph)!r}).")
    if hasattr(graph, "edge_index") or _is_edge_index(graph):
        return Graph.from_torch_geometric(graph)
    if hasattr(graph, "get_edgelist") and hasattr(graph, "is_directed"):
        return Graph.from_igraph(graph)
    if hasattr(graph, "is_directed") and hasattr(graph, "edges"):
        return Graph.from_networkx(graph)
    if hasattr(graph, "__arrow_c_stream__"):
        return _from_table(graph)
    matrix = hasattr(graph, "shape") or hasattr(graph, "__array__") or isinstance(graph, list)
    if not matrix or hasattr(graph, "columns"):
        raise GraphError(
            f"This is no graph but a {type(graph).__name__}. Make a graph of a table of edges by "
            "Graph.from_edges(table['source'], table['target'])."
        )
    return Graph.from_scipy(graph)


def _is_edge_index(graph: Any) -> bool:
    """Whether it is a tensor that can be no matrix: 2 rows of integers, and not 2 columns."""
    tensor = hasattr(graph, "detach") and len(graph.shape) == 2
    return bool(tensor and graph.shape[0] == 2 != graph.shape[1] and "int" in str(graph.dtype))


def _from_table(table: Any) -> Graph:
    """The graph of a table whose columns are named as the ends of edges; others are refused.

    A frame whose rows are named as its columns is an adjacency matrix, whatever the names.
    """
    names = column_names(table)
    rows = getattr(table, "index", [])
    matrix = len(rows) == len(names) and [str(row) for row in rows] == names
    if name_both_ends(names) and not matrix:
        return Graph.from_arrow(table)
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    raise GraphError(
        f"This is no graph but a {type(table).__name__} whose columns ({shown}) do not say which "
        "are the ends of an edge. Make a graph of a table of edges by Graph.from_arrow(table, "
        "source=..., target=...), of an adjacency matrix by Graph.from_scipy(table.to_numpy())."
    )
