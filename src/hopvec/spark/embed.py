"""Embedding a graph on Spark: a DataFrame of edges in, a DataFrame of vectors out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

import numpy as np
from pyspark.sql import DataFrame

from hopvec.engine.slab import check_degrees
from hopvec.graph.age_weights import TimeOptions
from hopvec.graph.columns import ColumnSpec
from hopvec.graph.relation_options import RelationOptions
from hopvec.machine import memory_limit
from hopvec.methods import FastRP
from hopvec.progress import Progress, no_progress
from hopvec.spark.blocks import vectors_by_blocks
from hopvec.spark.columns import vectors_by_columns
from hopvec.spark.edges import EdgeFrame
from hopvec.spark.estimate import Cluster, SparkEstimate, check_method, plan_run
from hopvec.spark.features import feature_table
from hopvec.spark.graph import StoredGraph, store
from hopvec.spark.node_types import NodeTypes
from hopvec.spark.tables import Tables
from hopvec.spark.times import apply_times
from hopvec.spark.vectors import ZeroVectors

INGEST_STAGES = 8  # stages from the edges to their cells
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
        The method; `FastRP(passes=1)` by default, since Spark runs a single pass.
        `method.memory` limits the memory per worker.
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
        The columns `id`, `type` if there is a `node_type`, and `embedding`, an array of floats.

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

    Examples
    --------
    >>> from hopvec import FastRP, spark  # doctest: +SKIP
    >>> edges = session.read.parquet("edges.parquet")  # doctest: +SKIP
    >>> vectors = spark.embed(edges, method=FastRP(dim=128, passes=1))  # doctest: +SKIP
    >>> vectors.columns  # doctest: +SKIP
    ['id', 'embedding']
    """
    method = FastRP(passes=1) if method is None else method
    check_method(method, strategy, features is not None)
    spec = ColumnSpec(source, target, weight, unweighted, relation=relation, time=time)
    times = TimeOptions.checked("embed", time, half_life, as_of, since, until)
    relations = RelationOptions.checked(
        "embed", relation_weights, relation_balance, relation_direction
    )
    edge_frame = EdgeFrame.from_frame(
        edges, spec, directed=directed, nodes=nodes, node_type=node_type, relations=relations
    )
    types = NodeTypes.from_frame(nodes, node_type, edge_frame.ids)
    feature_columns = feature_table(features, features_id, edge_frame.ids)
    stages = [INGEST_STAGES + 2]

    def on_stage(done: int) -> None:
        progress(done, max(done, *stages))

    if spill_dir is None and method.spill_dir is not None:
        spill_dir = str(method.spill_dir)
    tables = Tables.create(edges.sparkSession, spill_dir, on_stage)
    if output is not None:
        tables.refuse_existing(output)
    edge_frame.check(tables)
    if types is not None:
        types.check(tables)
    if time is not None:
        edge_frame = apply_times(edge_frame, times, tables)
    checked_features = feature_columns.check(tables) if feature_columns else None
    graph = store(edge_frame, tables, checked_features)
    check_degrees(np.array(graph.extremes))
    plan = _plan(graph, method, strategy)
    logger.info("%s", plan)
    stages.append(_stages(plan, method) + (2 if checked_features else 0))
    kind = "outgoing edges" if directed else "edges"
    if 0 not in method._order_weights():
        method._warn_about_isolated_nodes(graph.nodes - graph.connected, graph.nodes, kind)
    zeros = ZeroVectors(edges.sparkSession, graph.connected)
    vectors = _vectors(graph, method, plan, zeros)
    vectors = vectors if types is None else types.join(vectors)
    written = tables.write("vectors", vectors, stage="write vectors", path=output)
    method._warn_about_connected_nodes(zeros.total, graph.nodes, graph.connected, kind)
    tables.drop(*tables.written - {"vectors"})
    return written


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
        strategy=strategy,
    )
    check_method(method, plan.strategy, columns > 0)
    return plan


def _vectors(
    graph: StoredGraph, method: FastRP, plan: SparkEstimate, zeros: ZeroVectors
) -> DataFrame:
    """The vectors by the strategy of a plan, evaluated lazily."""
    if plan.strategy == "blocks":
        return vectors_by_blocks(graph, method, plan.blocks, plan.cluster.cores, zeros)
    return vectors_by_columns(graph, method, plan.cluster.cores, zeros)


def _stages(plan: SparkEstimate, method: FastRP) -> int:
    """The number of stages of a run without features."""
    normalization = method._finish.normalization
    if plan.strategy == "columns":
        return INGEST_STAGES + 2 + normalization.unit_orders
    return INGEST_STAGES + 3 + max(method._order_weights()) + normalization.standard_columns
