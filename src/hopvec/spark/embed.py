"""Embedding a graph on Spark: a DataFrame of edges in, a DataFrame of vectors out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from hopvec.embedding import Embedding
from hopvec.engine.fitted import FittedState
from hopvec.engine.slab import check_degrees
from hopvec.errors import ParameterError
from hopvec.formats.metadata import to_json
from hopvec.formats.parquet import DIRECTORY_METADATA
from hopvec.graph.age_weights import TimeOptions
from hopvec.graph.columns import ColumnSpec
from hopvec.graph.features import FeatureColumns
from hopvec.graph.relation_options import RelationOptions
from hopvec.machine import memory_limit
from hopvec.methods import FastRP
from hopvec.methods.alignment import shared_state
from hopvec.methods.direction import check_direction, edge_kind
from hopvec.methods.method import RUNTIME_PARAMS
from hopvec.methods.relations import no_relations_error
from hopvec.progress import Progress, no_progress
from hopvec.spark.blocks import vectors_by_blocks
from hopvec.spark.buckets import Part
from hopvec.spark.cluster import Cluster
from hopvec.spark.columns import vectors_by_columns
from hopvec.spark.edges import FRAME, EdgeFrame
from hopvec.spark.estimate import Parts, SparkEstimate, plan_run
from hopvec.spark.features import FeatureTable, feature_table
from hopvec.spark.fit import FittedRun
from hopvec.spark.graph import StoredGraph, store
from hopvec.spark.node_types import NodeTypes
from hopvec.spark.parameters import check_method
from hopvec.spark.tables import Tables
from hopvec.spark.times import apply_times
from hopvec.spark.vectors import ZeroVectors

INGEST_STAGES = 4  # stages from the edges to their cells
logger: logging.Logger = logging.getLogger("hopvec")


def embed(
    edges: DataFrame,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    unweighted: bool = False,
    relation: str | None = None,
    relation_weights: Mapping[str, float] | str | None = None,
    relation_balance: Literal["none", "total", "node"] = "none",
    relation_direction: Mapping[str, str] | str | None = None,
    time: str | None = None,
    half_life: str | timedelta | None = None,
    as_of: Any = None,
    since: Any = None,
    until: Any = None,
    directed: bool = False,
    nodes: DataFrame | None = None,
    node_type: str | None = None,
    features: DataFrame | None = None,
    features_id: str | None = None,
    method: FastRP | None = None,
    like: Embedding | None = None,
    strategy: Literal["auto", "columns", "blocks"] = "auto",
    spill_dir: str | None = None,
    output: str | None = None,
    progress: Progress = no_progress,
) -> DataFrame:
    """Embed a graph on Spark.

    The vectors are those of `method.embed` on one machine: bit-identical, or the same up to
    rounding, see `strategy`.

    Parameters
    ----------
    edges : DataFrame
        The edges, with integers or strings as ids.
    source, target, weight : str, optional
        The columns of `edges`. By default they are chosen by name, as in `Graph.from_arrow`.
    unweighted : bool
        Ignore a column of weights.
    relation : str, optional
        The column of relations.
    relation_weights, relation_balance, relation_direction
        How relations are weighted, balanced and directed, as in `Graph.from_edges`.
    time : str, optional
        The column of times.
    half_life, as_of, since, until
        Weights by age and a window of time, as in `Graph.from_edges`.
    directed : bool
        Follow edges from source to target only.
    nodes : DataFrame, optional
        Ids of additional nodes, which may have no edges.
    node_type : str, optional
        The column of `nodes` with the types of nodes.
    features : DataFrame, optional
        Features of nodes, as in `Graph.with_features`, matched by id.
    features_id : str, optional
        The id column of `features`. By default the one called id, node, name, ...
    method : FastRP, optional
        The method; by default `FastRP()`. `method.memory` limits the memory per worker.
    like : Embedding, optional
        An embedding of an earlier graph with the same parameters. The new vectors are comparable
        with it, as in `FastRP.embed`.
    strategy : {"auto", "columns", "blocks"}
        "columns" gives bit-identical vectors to one machine, "blocks" the same up to rounding.
        "auto" chooses "columns" if a worker can hold the graph, see `estimate`.
    spill_dir : str, optional
        A directory that all workers can reach, for intermediate results. They are deleted when the
        Spark application ends. The default is `method.spill_dir`, else `/tmp` on the file system of
        the cluster.
    output : str, optional
        A new directory for the vectors, in Parquet. Without it, they are stored in `spill_dir` and
        deleted when the Spark application ends.
    progress : callable, optional
        Called with the number of finished stages and the total.

    Returns
    -------
    DataFrame
        The columns `id`, `type` if there is a `node_type`, and `embedding`, an array of floats. Its
        directory has the metadata of the run, so that `hopvec.load` returns an embedding that can
        be passed as `like`.

    Raises
    ------
    GraphError
        If `edges`, `nodes` or `features` are invalid.
    FormatError
        If columns are missing or ambiguous, or if `output` exists.
    ParameterError
        If the parameters of the method are invalid, or not supported on Spark.
    MemoryLimitError
        If no strategy fits into the memory of a worker.
    MissingExtraError
        If hopvec is not installed in the Python of the workers.

    Examples
    --------
    >>> from hopvec import FastRP, spark  # doctest: +SKIP
    >>> edges = session.read.parquet("edges.parquet")  # doctest: +SKIP
    >>> vectors = spark.embed(edges, method=FastRP(dim=128))  # doctest: +SKIP
    >>> vectors.columns  # doctest: +SKIP
    ['id', 'embedding']
    """
    run = run_embed(
        edges,
        ColumnSpec(source, target, weight, unweighted, relation=relation, time=time),
        relations=RelationOptions.checked(
            "embed", relation_weights, relation_balance, relation_direction
        ),
        times=TimeOptions.checked("embed", time, half_life, as_of, since, until),
        directed=directed,
        nodes=nodes,
        node_type=node_type,
        features=features,
        features_id=features_id,
        method=FastRP() if method is None else method,
        like=like,
        strategy=strategy,
        spill_dir=spill_dir,
        output=output,
        progress=progress,
    )
    return run.vectors


@dataclass(frozen=True)
class SparkRun:
    """A finished run."""

    vectors: DataFrame
    columns: dict[str, Any]
    """The columns of the edges that were used, and those that were ignored."""
    nodes: int
    plan: SparkEstimate
    metadata: Embedding
    """How the vectors were made, without the vectors."""
    seconds: dict[str, float]
    """The time of each stage."""


@dataclass(frozen=True)
class GraphInput:
    """The DataFrames of a graph, with valid columns; their rows have not been read yet."""

    edges: EdgeFrame
    times: TimeOptions | None
    """How times of edges are used; None if there are none."""
    types: NodeTypes | None
    features: FeatureTable | None

    def store(self, tables: Tables, method: FastRP, like: Embedding | None) -> StoredGraph:
        """Check all rows, and store the graph."""
        edges = self.edges
        if self.times is not None or edges.relations is not None:
            edges.check(tables)
        if self.types is not None:
            self.types.check(tables)
        if self.times is not None:
            edges = apply_times(edges, self.times, tables)
        features = self.features.check(tables) if self.features else None
        return store(edges, tables, features, method, like)


def run_embed(
    edges: DataFrame,
    spec: ColumnSpec,
    *,
    relations: RelationOptions,
    times: TimeOptions,
    directed: bool,
    nodes: DataFrame | None,
    node_type: str | None,
    features: DataFrame | None,
    features_id: str | None,
    method: FastRP,
    like: Embedding | None,
    strategy: Literal["auto", "columns", "blocks"],
    spill_dir: str | None,
    output: str | None,
    progress: Progress,
    name: str = FRAME,
) -> SparkRun:
    """Embed a graph on Spark; see `embed`. Messages call the edges by their `name`."""
    check_method(method, strategy, features is not None)
    edge_frame = EdgeFrame.from_frame(
        edges,
        spec,
        directed=directed,
        nodes=nodes,
        node_type=node_type,
        relations=relations,
        name=name,
    )
    graph_input = GraphInput(
        edge_frame,
        None if spec.time is None else times,
        NodeTypes.from_frame(nodes, node_type, edge_frame.ids),
        feature_table(features, features_id, edge_frame.ids),
    )
    _shared_state(method, like, graph_input.features)  # raises if it differs
    if edge_frame.relations is None:
        check_direction("FastRP", edge_frame.directed, method.direction)
        if method.relations == "concat":
            raise no_relations_error("FastRP")
    stages = [INGEST_STAGES + 2]

    def on_stage(done: int) -> None:
        progress(done, max(done, *stages))

    if spill_dir is None and method.spill_dir is not None:
        spill_dir = str(method.spill_dir)
    tables = Tables.create(edges.sparkSession, spill_dir, on_stage)
    tables.check_output(output)
    try:
        return _run(graph_input, method, like, strategy, output, tables, stages)
    finally:
        tables.discard()


def _run(
    graph_input: GraphInput,
    method: FastRP,
    like: Embedding | None,
    strategy: Literal["auto", "columns", "blocks"],
    output: str | None,
    tables: Tables,
    stages: list[int],
) -> SparkRun:
    """Run all stages; their number is added to `stages` as soon as it is known."""
    given, state = method, _shared_state(method, like, graph_input.features)
    graph, types = graph_input.store(tables, method, like), graph_input.types
    directed = graph.relations.directed if graph.relations else graph_input.edges.directed
    if not directed:  # it has one transition matrix
        method = replace(method, direction="out")
    check_degrees(np.array(graph.extremes))
    plan = _plan(graph, method, strategy)
    for line in str(plan).splitlines():
        logger.info("%s", line)
    stages.append(_stages(plan, method) + (2 if graph.features else 0))
    kind = edge_kind(directed, method.direction)
    if 0 not in method._order_weights():
        method._warn_about_isolated_nodes(graph.nodes - graph.connected, graph.nodes, kind)
    zeros = ZeroVectors(tables.backend.context)
    vectors, fitted = _vectors(graph, method, plan, zeros, state)
    vectors = vectors if types is None else types.join(vectors)
    written = tables.write("vectors", vectors, stage="write vectors", path=output)
    zero = zeros.total(written, graph)
    method._warn_about_connected_nodes(zero, graph.nodes, graph.connected, kind)
    metadata = _metadata(given, fitted)
    directory = output or tables.path("vectors")
    tables.backend.write_text(f"{directory}/{DIRECTORY_METADATA}", to_json(metadata))
    tables.drop(*tables.written - {"vectors"})
    columns = graph_input.edges.columns
    return SparkRun(written, columns, graph.nodes, plan, metadata, tables.seconds)


def _shared_state(
    method: FastRP, like: Embedding | None, features: FeatureTable | None
) -> FittedState | None:
    """The fitted state of an earlier run. Raises ParameterError if its parameters differ."""
    if like is None:
        return None
    if not isinstance(like, Embedding):
        raise ParameterError(f"embed: like must be an Embedding, got {type(like).__name__}.")
    none = np.empty(0)
    names = (features.numbers, features.categories) if features else None
    return shared_state(method, like, FeatureColumns(*names, none, none) if names else None)


def _metadata(method: FastRP, fitted: FittedRun) -> Embedding:
    """How the vectors were made: an embedding without rows."""
    parameters = {
        name: value for name, value in method._plain_params().items() if name not in RUNTIME_PARAMS
    }
    features = fitted.state.features
    names = {} if features is None else {"features": features.names}
    return Embedding(
        np.empty((0, int(method.dim)), np.float32),
        pa.array([], pa.int64()),
        {"method": "FastRP", **parameters, **names},
        fitted.graph,
        fitted.state,
    )


def _plan(graph: StoredGraph, method: FastRP, strategy: Any) -> SparkEstimate:
    """Estimate the run of a stored graph, and choose its strategy."""
    cluster = Cluster.from_session(graph.tables.session, memory_limit(method.memory))
    columns = graph.features.columns if graph.features else 0
    plan = plan_run(
        graph.nodes,
        graph.entries,
        method,
        cluster,
        weighted=graph.weighted,
        features=columns,
        parts=_parts(graph),
        strategy=strategy,
    )
    check_method(method, plan.strategy, columns > 0)
    return plan


def _parts(graph: StoredGraph) -> Parts | None:
    """The parts of the columns; None if there is one, with S itself."""
    parts = graph.matrices.parts
    return None if parts == (Part(0, "out"),) else Parts(len(parts), graph.part_entries)


def _vectors(
    graph: StoredGraph,
    method: FastRP,
    plan: SparkEstimate,
    zeros: ZeroVectors,
    like: FittedState | None,
) -> tuple[DataFrame, FittedRun]:
    """The vectors by the strategy of a plan, evaluated lazily, and what the run has learned."""
    if plan.strategy == "blocks":
        return vectors_by_blocks(graph, method, plan.blocks, plan.cluster.cores, zeros, like)
    return vectors_by_columns(graph, method, plan.cluster.cores, zeros, like)


def _stages(plan: SparkEstimate, method: FastRP) -> int:
    """The number of stages of a run without features."""
    normalization, passes = method._finish.normalization, int(method.passes)
    by_pass = [method._weights_of_pass(number) for number in range(passes)]
    if plan.strategy == "columns":
        stages = passes * (1 + normalization.unit_orders)
    else:
        stages = sum(2 + max(weights) for weights in by_pass)
        stages += passes * normalization.standard_columns
    return INGEST_STAGES + stages + passes - 1 + method._compresses + 1
