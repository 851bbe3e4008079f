"""ComparableMethod: what the methods share whose vectors can be compared with those of a run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.engine.combine import combine
from hopvec.engine.fitted import FittedState
from hopvec.engine.slab import Hops, Propagation
from hopvec.errors import GraphError, ParameterError
from hopvec.graph import Graph
from hopvec.graph.features import Features
from hopvec.methods.method import RUNTIME_PARAMS, Method, as_graph
from hopvec.methods.slab_method import SlabMethod
from hopvec.progress import Progress, no_progress

TELLING = ("nodes", "edges", "directed", "weighted", "volume")  # facts that tell graphs apart


@dataclass(kw_only=True, eq=False, repr=False)
class ComparableMethod(SlabMethod):
    """A method that can make vectors in the frame of an earlier run."""

    supports_like: ClassVar = True

    @abstractmethod
    def hops(self, graph: Graph) -> Hops:
        """A for every part of the columns."""

    @abstractmethod
    def hops_of_new_nodes(self, graph: Graph, new: Graph) -> Hops:
        """The same for the graph and nodes that come later, which nothing flows back from."""

    @abstractmethod
    def propagation_along(self, hops: Hops, like: FittedState | None = None) -> Propagation:
        """How the orders of a slab are made, with what a frame has fixed if there is one."""

    def propagation(self, graph: Graph, like: FittedState | None = None) -> Propagation:
        """How the orders of a slab of this graph are made."""
        return self.propagation_along(self.hops(graph), like)

    def embed(
        self,
        graph: Any,
        *,
        features: Any = None,
        like: Embedding | None = None,
        progress: Progress | None = None,
    ) -> Embedding:
        """The embedding of a graph, as `Method.embed` has it.

        `features` is what is known of the nodes, all that Graph.with_features takes.

        With `like`, an embedding of an earlier graph by the same parameters, the vectors are
        comparable with its own: s of R, 2m, the statistics of features and columns and the basis of
        `oversample` are those of its frame. For the same graph they are the same bytes.
        """
        graph = _with_features(as_graph(graph), features)
        if like is None:
            return super().embed(graph, progress=progress)
        graph = self.validate_graph(graph)
        fitted_state = shared_state(self, like, graph.features)
        propagation = self.propagation(graph, fitted_state)
        vectors = self._alike(propagation, fitted_state, progress)
        self.report_zero_vectors(graph, vectors)
        return self.to_embedding(graph, vectors, fitted_state)

    def embed_new(
        self,
        new_edges: Any,
        *,
        graph: Any,
        like: Embedding,
        features: Any = None,
        progress: Progress | None = None,
    ) -> Embedding:
        """Vectors for nodes that come after a run, comparable with those it made.

        `like` is the embedding of `graph` by these parameters, and `new_edges` a graph (or all that
        as_graph takes) of edges that have a new node at one end or both. The new nodes look at the
        old graph: their rows are appended to it, nothing flows back, and every order of theirs is
        computed, then normalized with the statistics and the basis of the run. The old vectors
        stay as they are. Takes about the time of the run. `features`, where the run had some, are
        those of the nodes of `new_edges`.

        >>> from hopvec import FastRP
        >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
        >>> old, new = FastRP(dim=8).embed(graph), Graph.from_edges(["d", "d"], ["a", "b"])
        >>> FastRP(dim=8).embed_new(new, graph=graph, like=old).ids.to_pylist()
        ['d']
        """
        graph = self.validate_graph(graph)
        fitted_state = shared_state(self, like, graph.features)
        check_same_graph(graph, like)
        new = _with_features(as_graph(new_edges), features)
        propagation = self.propagation_along(self.hops_of_new_nodes(graph, new), fitted_state)
        extended = propagation.graph
        vectors = self._alike(propagation, fitted_state, progress)
        made = self.to_embedding(extended, vectors, fitted_state)
        made = replace(made, vectors=vectors[graph.nodes :], ids=extended.ids[graph.nodes :])
        without = extended.rows[~propagation.has_row]
        self.warn_of_rows(vectors, without, self.without_edges(extended)[1], first=graph.nodes)
        return made

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: N803
        """Embeds the graph, and keeps the result as `embedding_` and the graph for `transform`."""
        self.graph_ = as_graph(X)
        return super().fit(self.graph_)

    def transform(self, X: Any) -> NDArray[np.float32]:  # noqa: N803
        """The vectors of nodes that come after the fit, by the edges that they bring.

        `X` is as in `embed_new`, which also tells the ids: the rows are its new nodes in the
        order of the ids of `X`. A matrix has no ids, so that it cannot tell of new nodes: it is
        embedded by itself, and so is a graph of the nodes of the fit.

        >>> from hopvec import FastRP
        >>> model = FastRP(dim=8).fit(Graph.from_edges(["a", "a", "b"], ["b", "c", "c"]))
        >>> model.transform(Graph.from_edges(["d", "d"], ["a", "b"])).shape
        (1, 8)
        """
        if hasattr(X, "dtype") or isinstance(X, list) or not hasattr(self, "embedding_"):
            return super().transform(X)
        new = as_graph(X)
        if new.ids.equals(self.graph_.ids):
            return super().transform(new)
        return self.embed_new(new, graph=self.graph_, like=self.embedding_).vectors

    def _alike(
        self, propagation: Propagation, fitted_state: FittedState, progress: Progress | None
    ) -> NDArray[np.float32]:
        """Vectors finished with what an earlier run measured."""
        return combine(
            self.plan(propagation.graph),
            propagation,
            self.order_weights(),
            replace(self.finish, like=fitted_state.statistics),
            progress=progress or no_progress,
        ).vectors


def _with_features(graph: Graph, features: Any) -> Graph:
    return graph if features is None else graph.with_features(features)


def shared_state(method: Method, like: Embedding, features: Features | None = None) -> FittedState:
    """The frame of an embedding, for a run that is to make comparable vectors.

    Raises ParameterError if it has none, or was made with other parameters or features.
    """
    name = type(method).__name__
    if like.fitted_state is None:
        raise ParameterError(
            f"{name}: this embedding does not tell what comparable vectors must share. Embed its "
            "graph again by FastRP, and save it as .parquet, .arrow, .npy or .npz."
        )
    own = {"method": name, **method.plain_params()}
    for parameter, value in own.items():
        if parameter not in RUNTIME_PARAMS and like.parameters.get(parameter) != value:
            raise ParameterError(
                f"{name}: {parameter} is {value!r}, and the embedding to be like was made with "
                f"{like.parameters.get(parameter)!r}. Comparable vectors have the same parameters."
            )
    theirs = like.fitted_state.features.kinds if like.fitted_state.features else []
    ours = features.columns.kinds if features else []
    if theirs != ours:
        raise ParameterError(
            f"{name}: the embedding to be like was made with {_in_words(theirs)}, and here are "
            f"{_in_words(ours)}. Comparable vectors have the same features."
        )
    return like.fitted_state


def _in_words(names: list[str]) -> str:
    if not names:
        return "no features"
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return f"the features {shown}"


def check_same_graph(graph: Graph, like: Embedding) -> None:
    """Raises GraphError if an embedding tells that it was made from another graph."""
    facts = graph.describe()
    if any(like.graph.get(fact, facts[fact]) != facts[fact] for fact in TELLING):
        raise GraphError(
            f"The vectors were made from a graph of {_size_and_kind(like.graph)}, and this one has "
            f"{_size_and_kind(facts)}. New nodes need the graph of the run, read in the same way."
        )


def _size_and_kind(facts: Mapping[str, Any]) -> str:
    kind = "directed" if facts["directed"] else "undirected"
    weighted = "weighted" if facts["weighted"] else "unweighted"
    size = f"{facts['nodes']:,} nodes and {facts['edges']:,} edges"
    return f"{size}, {kind}, {weighted}, with 2m = {facts['volume']:,.9g}"
