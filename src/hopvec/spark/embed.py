"""Embedding a graph on Spark: a DataFrame of edges in, a DataFrame of vectors out."""

from __future__ import annotations

import logging
from typing import Any, Literal

from pyspark.sql import DataFrame

from hopvec.graph.columns import ColumnSpec
from hopvec.machine import memory_limit
from hopvec.methods import FastRP
from hopvec.progress import Progress
from hopvec.spark.blocks import vectors_by_blocks
from hopvec.spark.columns import vectors_by_columns
from hopvec.spark.edges import Edges
from hopvec.spark.estimate import Cluster, SparkEstimate, check_method, plan_run
from hopvec.spark.features import feature_table
from hopvec.spark.graph import StoredGraph, store
from hopvec.spark.tables import Tables

INGEST = 8  # stages from the edges to their cells
logger = logging.getLogger("hopvec")


def embed(
    edges: DataFrame,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    unweighted: bool = False,
    directed: bool = False,
    nodes: DataFrame | None = None,
    features: DataFrame | None = None,
    features_id: str | None = None,
    method: FastRP | None = None,
    strategy: Literal["auto", "columns", "blocks"] = "auto",
    spill_dir: str | None = None,
    output: str | None = None,
    progress: Progress | None = None,
) -> DataFrame:
    """The vectors of a graph, id and embedding: those of `method.embed` on one machine.

    The columns of `edges` are those named, else those whose names say what they are, as for
    Graph.from_arrow; ids are integers or strings. `nodes` adds nodes that no edge mentions.
    `features` is what is known of nodes, as for Graph.with_features: rows are matched by the ids in
    the column `features_id`, not given one called id, node, name, ...

    "columns" gives the same bytes as one machine, "blocks" the same vectors up to rounding; "auto"
    takes "columns" where a worker can hold the graph (see `estimate`). `method.memory` bounds the
    memory of a worker.

    `spill_dir` is a folder that all workers reach. What is written there is deleted when the Spark
    application ends, the vectors too, unless `output` names a folder for them. `progress` is called
    with the stages done and their number. Raises GraphError, FormatError, ParameterError or
    MemoryLimitError.
    """
    method = FastRP() if method is None else method
    check_method(method, strategy, features is not None)
    spec = ColumnSpec(source, target, weight, unweighted)
    checked = Edges.of(edges, spec, directed=directed, nodes=nodes)
    known = feature_table(features, features_id, checked.ids)
    stages = [INGEST + 2]

    def told(done: int) -> None:
        if progress:
            progress(done, max(done, *stages))

    tables = Tables.create(edges.sparkSession, spill_dir, told)
    if output is not None:
        tables.refuse_existing(output)
    checked.check(tables)
    graph = store(checked, tables, known.check(tables) if known else None)
    plan = _plan(graph, method, strategy)
    logger.info("%s", plan)
    stages.append(_stages(plan, method) + (2 if known else 0))
    if 0 not in method.order_weights():
        what = "outgoing edges" if directed else "edges"
        method.warn_of_zero_vectors(graph.nodes - graph.connected, graph.nodes, what)
    vectors = _vectors(graph, method, plan)
    written = tables.write("vectors", vectors, doing="write vectors", path=output)
    tables.drop(*tables.written - {"vectors"})
    return written


def _plan(graph: StoredGraph, method: FastRP, strategy: Any) -> SparkEstimate:
    """What a graph that is in tables takes, and the strategy that suits it."""
    cluster = Cluster.of(graph.tables.session, memory_limit(method.memory))
    sizes = graph.nodes, graph.entries
    columns = graph.features.columns if graph.features else 0
    plan = plan_run(
        *sizes, method, cluster, weighted=graph.weighted, features=columns, strategy=strategy
    )
    check_method(method, plan.strategy, columns > 0)
    return plan


def _vectors(graph: StoredGraph, method: FastRP, plan: SparkEstimate) -> DataFrame:
    """The vectors by the strategy of a plan, not yet computed."""
    if plan.strategy == "blocks":
        return vectors_by_blocks(graph, method, plan.blocks, plan.cluster.cores)
    return vectors_by_columns(graph, method, plan.cluster.cores)


def _stages(plan: SparkEstimate, method: FastRP) -> int:
    """The number of stages of a run."""
    normalization = method.finish.normalization
    if plan.strategy == "columns":
        return INGEST + 2 + normalization.unit_orders
    return INGEST + 3 + max(method.order_weights()) + normalization.standard_columns
