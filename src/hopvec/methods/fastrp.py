"""FastRP: very sparse random projection of powers of the transition matrix (CIKM 2019)."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.engine.combine import PassMemory, combine
from hopvec.engine.degree_powers import degree_powers
from hopvec.engine.features import FeatureRows
from hopvec.engine.finish import Finish
from hopvec.engine.fitted import Fitted, FittedState
from hopvec.engine.normalize import NORMALIZATIONS
from hopvec.engine.plan import SLAB_COLUMNS, Plan, SlabPlan
from hopvec.engine.random_rows import GaussianRows, SparseRows
from hopvec.engine.refine import Compress, Whiten, refining_bytes, refining_seconds
from hopvec.engine.slab import Hops, Propagation, RandomRows, Slab, StartRows
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.graph.features import FeatureColumns, Features
from hopvec.graph.size import GraphSize
from hopvec.machine import cores
from hopvec.methods.alignment import shared_state
from hopvec.methods.bipartite import check_bipartite_weights
from hopvec.methods.direction import (
    DIRECTIONS,
    check_direction,
    rows_without_edges,
    transitions,
    transpose_bytes,
)
from hopvec.methods.method import as_graph
from hopvec.methods.new_nodes import embed_new_nodes
from hopvec.methods.parameters import Either, Integer, OneOf, Real, Reals, documented
from hopvec.methods.presets import preset
from hopvec.methods.relations import (
    check_relations,
    check_same_relations,
    relation_bytes,
    relation_transitions,
    warn_if_read_otherwise,
)
from hopvec.methods.slab_method import SlabMethod, nonzero_weights
from hopvec.progress import Progress, ProgressOption, callback, no_progress, stage

MAX_WIDTH = 8192  # columns of a principal component analysis: its eigenvectors then take minutes


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class FastRP(SlabMethod):
    """Embed a graph by very sparse random projections: fast, and without training.

    FastRP projects powers of the transition matrix A = D^-1 S with a very sparse random matrix R,
    and sums them:

        N = sum_i weights[i-1] A^i L R, with L = diag((d_j / 2m)^beta)

    With several passes, the whitened result of each pass replaces R in the next one. The defaults
    work well without tuning; `FastRP.preset` has others, and `FastRP.paper` follows the paper
    (Chen et al., CIKM 2019) exactly.

    Examples
    --------
    >>> from hopvec import FastRP, Graph
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> FastRP(dim=8, seed=7).embed(graph).vectors.shape
    (3, 8)
    """

    _supports_features: ClassVar[bool] = True
    _supports_like: ClassVar[bool] = True
    _isolated_advice: ClassVar[str] = "self_weight=1 with sparsity=3 gives them nonzero vectors"

    dim: Annotated[int, Integer(1, 65536), "columns of the embedding (paper: d)"] = 256
    weights: Annotated[
        Literal["auto"] | Sequence[float],
        Either(OneOf(("auto",)), Reals(32)),
        "weights of the orders N_1, N_2, ... (paper: alpha_1 .. alpha_k); 'auto': 1 for the orders "
        "1 to 6, or 3 to 6 with one pass",
    ] = "auto"
    beta: Annotated[
        float,
        Real(-1, 1),
        "exponent of the degrees in L; negative values reduce the influence of hubs (paper: beta)",
    ] = 0.25
    projection: Annotated[
        Literal["sparse", "gaussian"],
        OneOf(("sparse", "gaussian")),
        "entries of R: 'sparse': signs and zeros (paper); 'gaussian': normally distributed",
    ] = "sparse"
    sparsity: Annotated[
        Literal["sqrt"] | float,
        Either(OneOf(("sqrt",)), Real(1, 1e12)),
        "one in this many entries of R is nonzero (paper: s); 'sqrt': the square root of the "
        "number of nodes",
    ] = "sqrt"
    self_weight: Annotated[
        float,
        Real(-1e6, 1e6),
        "weight of order 0, L R; with a small sparsity, nodes without edges get a vector",
    ] = 0.0
    feature_weight: Annotated[
        float,
        Real(0, 1e6),
        "weight of the node features relative to R: 1 counts both equally, 0 ignores the features",
    ] = 1.0
    normalize: Annotated[
        Literal["none", "orders", "authors", "full"],
        OneOf(tuple(NORMALIZATIONS)),
        "'none': the plain sum of the paper; 'orders': unit rows of every order; 'authors': then "
        "standardized columns, as in the authors' code; 'full': then unit rows again",
    ] = "full"
    passes: Annotated[
        int,
        Integer(1, 16),
        "run this many times; each pass but the first starts from the whitened result of the one "
        "before instead of R",
    ] = 3
    refine_weights: Annotated[
        Literal["auto"] | Sequence[float],
        Either(OneOf(("auto",)), Reals(32)),
        "weights of the orders in all passes but the last; 'auto': order 3, or orders 2 and 3 of a "
        "bipartite graph",
    ] = "auto"
    oversample: Annotated[
        int,
        Integer(1, 64),
        "compute this many times as many columns, and keep the dim principal components",
    ] = 1
    spectrum: Annotated[
        float,
        Real(0, 2),
        "exponent of the standard deviations of the principal components that passes and "
        "oversample keep: 1 keeps them as they are, 0 makes all equal",
    ] = 0.75
    degree_weight: Annotated[
        float,
        Real(0, 1e6),
        "weight of a column with the logarithm of the degree, relative to the other columns; it "
        "helps to predict links, and 0 leaves it out",
    ] = 0.0
    direction: Annotated[
        Literal["out", "in", "both", "concat"],
        OneOf(tuple(DIRECTIONS)),
        "edges of a directed graph to follow: 'out': outgoing; 'in': incoming; 'both': as if "
        "undirected; 'concat': half of the columns outgoing, half incoming",
    ] = "out"
    relations: Annotated[
        Literal["merge", "concat"],
        OneOf(("merge", "concat")),
        "edges of a graph with relations: 'merge': all together, by their weights; 'concat': an "
        "equal part of the columns for each relation",
    ] = "merge"

    def _run_passes(
        self,
        hops: Hops,
        plan: SlabPlan,
        progress: Progress,
        like: FittedState | None = None,
        *,
        new_nodes: bool = False,
        memory: PassMemory | None = None,
    ) -> Propagation:
        """Run all passes but the last, and return how the last one computes the orders."""
        graph, state = hops[0].graph, like or self._state_of(hops)
        R = self._random_rows(state, graph.features, graph.rows)  # noqa: N806
        propagation = self._one_pass(hops, R, state)
        for number in range(int(self.passes) - 1):
            X = combine(  # noqa: N806
                plan,
                propagation,
                self._with_order_0(state.refine_weights),
                Whiten(like.earlier_passes[number] if like and new_nodes else None),
                progress=stage(progress, number, self._stages),
                memory=memory,
            )
            if like is None:
                state = replace(state, earlier_passes=(*state.earlier_passes, X.statistics))
            propagation = self._one_pass(hops, X.rows, state)
        return propagation

    def _one_pass(self, hops: Hops, R: StartRows, state: FittedState) -> Propagation:  # noqa: N803
        """Algorithm 1 for a slab of columns; the orders are summed as they are computed."""
        degrees = [A.degrees for A in hops]
        powers, factor = degree_powers(degrees, self.beta, state.volume, R.max_abs)

        def algorithm_1(slab: Slab, orders: Collection[int]) -> None:
            A, (L, L_0), k = hops[slab.part], powers[slab.part], max(orders)  # noqa: N806
            if 0 in orders:
                slab.draw(R, L_0)  # order 0
            if k >= 1:
                slab.first_hop(A, R, L, last=k == 1)  # N_1 = A L R
            for i in range(2, k + 1):
                slab.hop(A, last=i == k)  # N_i = A N_(i-1)

        return Propagation(hops, algorithm_1, factor * R.scale, fitted_state=state)

    def _order_weights(self) -> dict[int, float]:
        """The orders with a nonzero weight: alpha_i, and self_weight for order 0."""
        if not isinstance(self.weights, str):
            return self._with_order_0(self.weights)
        return self._with_order_0((0, 0, 1, 1, 1, 1) if self.passes == 1 else (1,) * 6)

    def _with_order_0(self, weights: Sequence[float], name: str = "weights") -> dict[int, float]:
        """The orders with a nonzero weight among these, and order 0 with self_weight."""
        by_order = {0: float(self.self_weight)}
        by_order |= {order: float(weight) for order, weight in enumerate(weights, start=1)}
        return nonzero_weights(by_order, "FastRP", f"{name} are all zero and so is self_weight")

    def _weights_of_pass(self, number: int, like: FittedState | None = None) -> dict[int, float]:
        """The orders with a nonzero weight in a pass, in a graph that is not bipartite."""
        if number == self.passes - 1:
            return self._order_weights()
        refine = like.refine_weights if like else self._resolved_refine_weights(bipartite=False)
        return self._with_order_0(refine)

    def _resolved_refine_weights(self, *, bipartite: bool) -> tuple[float, ...]:
        """The weights of the orders in all passes but the last; none if there is one pass.

        An odd order keeps negative eigenvalues of A, which distinguish nodes with different kinds
        of neighbors. In a bipartite graph, they repeat the positive ones.
        """
        if self.passes == 1:
            return ()
        if isinstance(self.refine_weights, str):
            return (0.0, 1.0, 1.0) if bipartite else (0.0, 0.0, 1.0)
        return tuple(float(weight) for weight in self.refine_weights)

    def _state_of(self, hops: Hops) -> FittedState:
        """The fitted state before the run, along these transition matrices."""
        graph = hops[0].graph
        return self._initial_state(
            graph.nodes,
            sum(A.volume for A in hops[:: len(DIRECTIONS[self.direction])]),
            graph.features.columns if graph.features else None,
            bipartite=graph.is_target is not None,
        )

    def _initial_state(
        self,
        nodes: int,
        volume: float,
        features: FeatureColumns | None = None,
        *,
        bipartite: bool = False,
    ) -> FittedState:
        """The fitted state before the run; `volume` is 2m."""
        s = math.sqrt(nodes) if self.sparsity == "sqrt" else float(self.sparsity)
        return FittedState(
            None if self.projection == "gaussian" else s,
            volume,
            self._resolved_refine_weights(bipartite=bipartite),
            features,
        )

    def _random_rows(
        self, state: FittedState, features: Features | None, rows: NDArray[np.int32]
    ) -> RandomRows:
        """R with the features added; node i has the features of row rows[i].

        The entries of R have mean 0 and variance 1 with every projection.
        """
        R = self._plain_rows(state)  # noqa: N806
        if features is None or state.features is None:
            return R
        return FeatureRows(R, features, state.features, float(self.feature_weight), rows)

    def _plain_rows(self, state: FittedState) -> SparseRows | GaussianRows:
        """R without features."""
        seed, s = int(self.seed), state.sparsity
        return GaussianRows(seed) if s is None else SparseRows(seed, s)

    def _zero_advice(self, connected: int) -> str:
        """How to get vectors for nodes that have edges and yet a zero vector."""
        if self.precision == "float16":
            return "precision='float32' may give them nonzero vectors"
        # With only two nodes, more than one pass makes both vectors zero again.
        one_pass = "passes=1, " if connected == 2 and self.passes > 1 else ""
        return f"{one_pass}self_weight=1 and sparsity=3 give them nonzero vectors"

    @property
    def search_space(self) -> Mapping[str, str]:
        """The default search space of `hopvec.tune`; for one pass, that of the paper."""
        if self.passes == 1:
            return {"beta": "-1:0", "weights": "0,0,1,log:0.125:64"}
        return {"beta": "-0.5:0.75", "spectrum": "0.25:1.25", "weights": "0:2,0:2,1,1,1,1"}

    @property
    def _combine_params(self) -> tuple[str, ...]:
        """The parameters that change how the orders of the last pass are summed and finished."""
        always = ("weights", "spectrum", "degree_weight")
        return always if self.passes > 1 else (*always, "self_weight", "normalize")

    @property
    def _width(self) -> int:
        """The number of columns that are computed."""
        return int(self.oversample) * int(self.dim)

    def _parts(self, graph: Graph | None = None) -> int:
        """The number of equal parts of the columns, one for each direction and relation."""
        directions = len(DIRECTIONS[self.direction])
        if graph is None or graph.relations is None or self.relations == "merge":
            return directions
        return directions * len(graph.relations.kinds)

    def _pass_weights(self) -> Sequence[Mapping[int, float]]:
        """The orders with a nonzero weight, and their weights, for each pass.

        Those of earlier passes are for a bipartite graph, which needs the most memory.
        """
        if self.passes == 1:
            return super()._pass_weights()
        earlier = self._with_order_0(
            self._resolved_refine_weights(bipartite=True), "refine_weights"
        )
        return [earlier] * (int(self.passes) - 1) + [self._order_weights()]

    @property
    def _compresses(self) -> bool:
        """Whether the sum is projected on its principal components."""
        return self._width > self.dim or self._refines

    @property
    def _refines(self) -> bool:
        """Whether the sum is finished by `Compress`; `Finish` keeps the bytes of plain FastRP."""
        return self.passes > 1 or self.degree_weight > 0

    @property
    def _finish(self) -> Finish | Compress:
        """How the sum of the orders becomes vectors."""
        spectrum = float(self.spectrum)
        if self._refines:
            return Compress(spectrum, self.passes > 1, float(self.degree_weight))
        return Finish(NORMALIZATIONS[self.normalize], spectrum)

    def _is_complete(self, state: FittedState) -> bool:
        """Whether a fitted state has all parts that a run with these parameters needs."""
        last, finish = state.statistics, self._finish
        if state.volume == 0:  # a graph without edges has no statistics
            return True
        if len(state.earlier_passes) != self.passes - 1:
            return False
        if isinstance(finish, Compress):
            has_factors = last.degree_factors is not None
            return bool(last.columns and last.components) and has_factors == bool(
                self.degree_weight
            )
        has_columns = last.columns is not None or not finish.normalization.standard_columns
        return has_columns and (last.components is not None or not self._compresses)

    @classmethod
    def preset(cls, name: str, **parameters: Any) -> Self:
        """Create FastRP with the parameters of a preset.

        Parameters
        ----------
        name : {"balanced", "fast", "best", "links", "paper", "authors", "neo4j"}
            "balanced" has the defaults, "fast" one pass, "best" six. "links" is for link prediction
            and recommendation. "paper", "authors" and "neo4j" follow the paper, the authors' code
            and Neo4j GDS.
        **parameters
            Parameters that override those of the preset.

        Returns
        -------
        FastRP
            A new method.

        Raises
        ------
        ParameterError
            If there is no such preset.

        Examples
        --------
        >>> FastRP.preset("best", dim=128).passes
        6
        """
        return cls().set_params(**{**preset(name).parameters, **parameters})

    @classmethod
    def paper(cls, *, alpha_4: float = 4.0, beta: float = -0.75, seed: int = 0) -> Self:
        """Create FastRP with the setting of the paper (section 4.3).

        It has dim 512, the weights (0, 0, 1, alpha_4) and one pass, and returns the plain sum. The
        paper tunes alpha_4 and beta for each graph.

        Parameters
        ----------
        alpha_4 : float, default=4.0
            The weight of order 4; the paper searches 2^-3 to 2^6.
        beta : float, default=-0.75
            The exponent of the degrees; the paper searches -1 to 0.
        seed : int, default=0
            The random seed.

        Returns
        -------
        FastRP
            A new method.

        Examples
        --------
        >>> FastRP.paper(alpha_4=8.0).weights
        (0.0, 0.0, 1.0, 8.0)
        """
        return cls.preset("paper", weights=(0.0, 0.0, 1.0, alpha_4), beta=beta, seed=seed)

    def embed(
        self,
        graph: Any,
        *,
        features: Any = None,
        like: Embedding | None = None,
        plan: Plan | None = None,
        progress: ProgressOption = None,
    ) -> Embedding:
        """Embed a graph.

        Parameters
        ----------
        graph : Graph or graph-like
            A Graph, an adjacency matrix (scipy, numpy), a graph of networkx, igraph or PyTorch
            Geometric, or a table of edges (pandas, polars, pyarrow, duckdb) whose columns are
            named like the ends of edges.
        features : table, optional
            Features of the nodes, in any form that `Graph.with_features` accepts.
        like : Embedding, optional
            An embedding of an earlier graph with the same parameters. The new vectors are
            comparable with it. For the same graph, the bytes are the same.
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
        >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
        >>> embedding = FastRP(dim=8, seed=7).embed(graph)
        >>> changed = Graph.from_edges(["a", "a", "b", "d"], ["b", "c", "c", "a"])
        >>> FastRP(dim=8, seed=7).embed(changed, like=embedding)
        Embedding(4 nodes, dim 8, FastRP)
        """
        progress = callback(progress, "embedding")
        graph = self._validate_graph(as_graph(graph, features))
        columns = graph.features.columns if graph.features else None
        state = None if like is None else shared_state(self, like, columns)
        if like is not None:
            warn_if_read_otherwise("FastRP", graph, like)
            if self.relations == "concat":
                names = graph.relations.names if graph.relations else []
                check_same_relations("FastRP", names, like)
        return self._embed(graph, plan, progress, like=state)

    def embed_new(
        self,
        new_edges: Any,
        *,
        graph: Any,
        like: Embedding,
        features: Any = None,
        progress: ProgressOption = None,
    ) -> Embedding:
        """Embed nodes that were not in the graph when it was embedded.

        The vectors of the new nodes are comparable with the old ones, which do not change. The new
        nodes gather from the old graph, but no edge leads back; their orders are normalized with
        the statistics of the earlier run. This takes about the time of that run.

        Parameters
        ----------
        new_edges : Graph or graph-like
            Edges that have a new node at one end or at both.
        graph : Graph or graph-like
            The graph of the earlier run.
        like : Embedding
            The embedding of `graph` with the same parameters.
        features : table, optional
            Features of the nodes of `new_edges`, if the earlier run had features.
        progress : bool or callable, optional
            Whether to show a progress bar; or a function, called with the amount of work done and
            the total.

        Returns
        -------
        Embedding
            The new nodes only, in the order of the ids of `new_edges`.

        Raises
        ------
        ParameterError
            If a parameter is invalid, or differs from the earlier run.
        GraphError
            If a graph is invalid, or `graph` is not that of the earlier run.
        MemoryLimitError
            If the run does not fit in the memory limit.

        Examples
        --------
        >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
        >>> old, new = FastRP(dim=8).embed(graph), Graph.from_edges(["d", "d"], ["a", "b"])
        >>> FastRP(dim=8).embed_new(new, graph=graph, like=old).ids.to_pylist()
        ['d']
        """
        progress = callback(progress, "embedding")
        if self.relations == "concat":
            raise ParameterError(
                "FastRP: embed_new does not support relations='concat'. Embed the whole graph "
                "again with like=, or choose relations='merge'."
            )
        return embed_new_nodes(
            self,
            as_graph(new_edges, features),
            graph=self._validate_graph(graph),
            like=like,
            progress=progress or no_progress,
        )

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: N803
        """Embed a graph and store the result as `embedding_`, as scikit-learn does.

        Parameters
        ----------
        X : Graph or graph-like
            As in `embed`; in scikit-learn, the adjacency matrix. It is kept for `transform`.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted method.

        Examples
        --------
        >>> FastRP(dim=8).fit([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).embedding_
        Embedding(3 nodes, dim 8, FastRP)
        """
        self.graph_: Graph = as_graph(X)
        return super().fit(self.graph_)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Return the vectors of nodes that were not in the fitted graph.

        Parameters
        ----------
        X : Graph or graph-like
            Edges of the new nodes, as in `embed_new`. A matrix has no ids, and so cannot name new
            nodes: it is embedded by itself, and so is a graph of the same nodes as the fitted one.

        Returns
        -------
        ndarray of float32, shape (new nodes, dim)
            One row per new node, in the order of the ids of `X`. A DataFrame if `set_output` or
            scikit-learn is configured so.

        Examples
        --------
        >>> model = FastRP(dim=8).fit(Graph.from_edges(["a", "a", "b"], ["b", "c", "c"]))
        >>> model.transform(Graph.from_edges(["d", "d"], ["a", "b"])).shape
        (1, 8)
        """
        if hasattr(X, "dtype") or isinstance(X, list) or not hasattr(self, "embedding_"):
            return super().transform(X)
        new = as_graph(X)
        if new.ids.equals(self.graph_.ids):
            return self._output(self.embed(new), X)
        return self._output(self.embed_new(new, graph=self.graph_, like=self.embedding_), X)

    def _compute(
        self, graph: Graph, plan: SlabPlan, progress: Progress, like: FittedState | None = None
    ) -> Fitted:
        """The result of the last pass, normalized; `like` is the state of an earlier run."""
        return self._compute_along(self._hops(graph, plan), plan, progress, like)

    def _hops(self, graph: Graph, plan: SlabPlan) -> Hops:
        """A for every part of the columns."""
        choose = relation_transitions if self.relations == "concat" else transitions
        return choose(graph, self.direction, plan.threads, plan.spill_dir)

    def _compute_along(
        self,
        hops: Hops,
        plan: SlabPlan,
        progress: Progress,
        like: FittedState | None = None,
        *,
        new_nodes: bool = False,
    ) -> Fitted:
        """The same along given transition matrices.

        Vectors of `new_nodes` use all statistics of `like`. Another graph has whitenings and means
        of its own, which hardly differ if the graph hardly does, and shares the components.
        """
        memory = PassMemory()
        return combine(
            plan,
            self._run_passes(hops, plan, progress, like, new_nodes=new_nodes, memory=memory),
            self._order_weights(),
            self._finish_like(like, new_nodes=new_nodes),
            progress=stage(progress, len(self._stages) - 1, self._stages),
            memory=memory,
        )

    def _finish_like(
        self, like: FittedState | None, *, new_nodes: bool = False
    ) -> Finish | Compress:
        """How the sum becomes vectors that are comparable with those of an earlier run."""
        finish = replace(self._finish, like=like.statistics) if like else self._finish
        return replace(finish, own_means=not new_nodes) if isinstance(finish, Compress) else finish

    def _propagation(
        self, graph: Graph, plan: SlabPlan, progress: Progress = no_progress
    ) -> Propagation:
        """How the last pass computes the orders of a slab."""
        return self._run_passes(self._hops(graph, plan), plan, progress)

    def _with_dim(self, dim: int) -> Self:
        """One pass with another number of columns, and without oversampling."""
        plain = {
            "passes": 1,
            "refine_weights": "auto",
            "oversample": 1,
            "spectrum": 1.0,
            "degree_weight": 0.0,
            "relations": "merge",
        }
        return super()._with_dim(dim).set_params(**plain)

    def _validate_graph(self, graph: Any) -> Graph:
        """Return the input as a Graph. Raises if it or a parameter does not allow an embedding."""
        validated = super()._validate_graph(graph)
        check_direction("FastRP", validated.directed, self.direction)
        self._check_feature_weight(validated.features is not None)
        if validated.is_target is not None:
            check_bipartite_weights("FastRP", self._order_weights())
        if self.relations == "concat":
            step = SLAB_COLUMNS[self.precision]
            check_relations("FastRP", validated, self._width, self._parts(validated), step)
        self._check_degree_columns(self._parts(validated))
        return validated

    def _check_degree_columns(self, parts: int) -> None:
        """Raise ParameterError if the columns with degrees leave none for anything else."""
        if self.degree_weight and self.dim <= parts:
            raise ParameterError(
                f"FastRP: degree_weight reserves {parts} of {self.dim} columns for degrees, so "
                "that none is left. Raise dim."
            )

    def _check_feature_weight(self, has_features: bool) -> None:
        """Raise ParameterError if feature_weight is set but the graph has no features."""
        if not has_features and self.feature_weight != FastRP.feature_weight:
            raise ParameterError(
                f"FastRP: feature_weight is {self.feature_weight:g}, but the graph has no features."
                " Pass them with features=, or leave feature_weight= out."
            )

    def _check(self) -> None:
        """Raise ParameterError if a parameter, or a combination of parameters, is invalid."""
        super()._check()
        if self.projection == "gaussian" and self.sparsity != "sqrt":
            raise ParameterError(
                f"FastRP: sparsity={self.sparsity!r} applies to projection='sparse' only, but "
                "projection is 'gaussian'. Leave one of them out."
            )
        if self.passes == 1 and not isinstance(self.refine_weights, str):
            raise ParameterError(
                f"FastRP: refine_weights={self.refine_weights!r} applies to the passes before the "
                "last, but passes is 1. Leave refine_weights out, or raise passes."
            )
        for name, plain in (("passes", 1), ("degree_weight", 0)):
            value = getattr(self, name)
            if value != plain and self.normalize != "full":
                raise ParameterError(
                    f"FastRP: {name}={value:g} needs normalize='full', got {self.normalize!r}. Set "
                    f"{name}={plain}, or normalize='full'."
                )
        if self._compresses and self._width > MAX_WIDTH:
            raise ParameterError(
                f"FastRP: oversample times dim must be at most {MAX_WIDTH:,}, got "
                f"{self.oversample} x {self.dim:,} = {self._width:,}. Reduce one of them."
            )
        self._check_degree_columns(self._parts())
        step = self._parts() * SLAB_COLUMNS[self.precision]
        if self._parts() > 1 and self._width % step:
            raise ParameterError(
                f"FastRP: direction={self.direction!r} needs a number of columns (dim times "
                f"oversample) that is a multiple of {step} in {self.precision}, got "
                f"{self._width:,}."
            )

    def _nodes_without_edges(self, graph: Graph) -> tuple[NDArray[np.int32], str]:
        """The rows of nodes without edges in the direction, and what they lack."""
        return rows_without_edges(graph, self.direction)

    def _state_bytes(self) -> int:
        """The approximate size of the whitening of every pass but the last, and the components."""
        if not self._compresses:
            return 0
        return 4 * self._width * (self._width * (int(self.passes) - 1) + int(self.dim))

    def _extra_bytes(self, size: GraphSize) -> dict[str, int]:
        """Whitening and principal components, and the CSR arrays of directions and relations."""
        more = relation_bytes if self.relations == "concat" else transpose_bytes
        if not self._refines:
            return super()._extra_bytes(size) | more(size, self.direction)
        components = refining_bytes(self._width, self.threads or cores())
        return {"principal components": components, **more(size, self.direction)}

    def _compression_seconds(self, plan: SlabPlan) -> float:
        """The time of whitening and principal components, by a trial."""
        if not self._refines:
            return super()._compression_seconds(plan)
        return plan.passes * refining_seconds(plan.nodes, plan.width, plan.threads)
