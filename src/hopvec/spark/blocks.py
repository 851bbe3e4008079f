"""The strategy "blocks", for graphs that no worker can hold: a hop is a join of blocks.

A task computes one slab of one block of rows. It receives the cells of its rows and the rows of
the previous order, one block of columns at a time. Every order is a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from hopvec import _native
from hopvec.engine.degree_powers import Diagonals, degree_powers
from hopvec.engine.finish import Finish
from hopvec.engine.fitted import FittedState, FittedStatistics
from hopvec.engine.normalize import ColumnScaler, column_scaler
from hopvec.engine.plan import CACHE_LINE_BYTES
from hopvec.engine.refine import Compress, project
from hopvec.engine.slab import RandomRows, checked_scales
from hopvec.engine.spectral import Floats
from hopvec.graph.feature_columns import column_sums, mean_and_deviation, standardize
from hopvec.graph.features import FeatureColumns, Features
from hopvec.methods import FastRP
from hopvec.spark.features import FeatureTable
from hopvec.spark.fit import (
    AddRows,
    FittedRun,
    finished_rows,
    fit_last_pass,
    fit_whitening,
    pass_name,
)
from hopvec.spark.graph import StoredGraph
from hopvec.spark.hop_task import WIDTH, HopTask
from hopvec.spark.node_blocks import NodeBlocks
from hopvec.spark.packed import iter_rows
from hopvec.spark.products import PRODUCTS_SCHEMA, pack_products, sum_parts
from hopvec.spark.tables import Tables, whole_worker
from hopvec.spark.vectors import (
    SLAB_CHUNKS,
    ZeroVectors,
    rows_with_vector,
    split_chunks,
    vector_columns,
    vector_table,
)


def vectors_by_blocks(
    graph: StoredGraph,
    method: FastRP,
    blocks: int,
    cores: int,
    zeros: ZeroVectors,
    like: FittedState | None = None,
) -> tuple[DataFrame, FittedRun]:
    """Compute the vectors, id and embedding, with `blocks` blocks of rows and of columns.

    A worker computes one slab of one block at a time, on all its cores. `like` is the fitted state
    of an earlier run, with which the vectors are comparable.
    """
    tables, node_blocks = graph.tables, NodeBlocks(graph.nodes, blocks)
    nodes = graph.write_nodes(node_blocks)
    features = _feature_columns(nodes, graph.features, graph) if graph.features else None
    state = like or method._initial_state(graph.nodes, graph.volume, features)
    parts = len(graph.matrices.parts)
    run = BlockRun(node_blocks, parts, state, graph.extremes, method, features, like=like)
    run.scales()  # raises before the hops rather than in a task
    cells = graph.write_cells(node_blocks, graph.matrices.parts)
    earlier, source = [], nodes
    for _ in range(int(method.passes) - 1):
        total = _sum_orders(run, graph, source, cells, cores)
        statistics = fit_whitening(total)
        earlier.append(statistics)
        tables.drop(*{*run.earlier("sums")} & tables.written)
        run, source = replace(run, number=run.number + 1, whitening=statistics), total.sums
    total = _sum_orders(run, graph, source, cells, cores)
    finish = method._finish_like(like)
    statistics = fit_last_pass(total, method, finish, _degree_factors(finish, graph, method))
    vectors = total.sums.mapInArrow(
        lambda batches: run.vectors(batches, finish, statistics, zeros), vector_columns(graph.ids)
    )
    if like is None:
        state = replace(state, statistics=statistics, earlier_passes=tuple(earlier))
    return vectors, FittedRun(state, _properties(graph))


def _sum_orders(
    run: BlockRun, graph: StoredGraph, source: DataFrame, cells: DataFrame, cores: int
) -> BlockSum:
    """Run the hops of a pass and sum their orders.

    `source` has the rows that the pass starts from: the nodes, or the sum of the pass before.
    """
    tables = graph.tables
    drawn = source.mapInArrow(run.draw, SLAB_CHUNKS)
    previous, batch = run.named("start"), graph.batch
    stage = "draw R" if run.number == 0 else run.named("whiten rows", " for pass ")
    rows = tables.write(previous, drawn, stage=stage, batch=batch)
    profile = whole_worker(tables.backend.master, cores)
    weighted = [rows.limit(0).withColumn("order", F.lit(0))]
    for order in range(1, 1 + max(run.weights)):
        hop = _join(cells, rows, run).mapInArrow(run.hop, SLAB_CHUNKS, False, profile)
        name = run.named(f"order-{order}")
        rows = tables.write(name, hop, stage=run.named(f"hop {order}", " of pass "))
        if order - 1 not in run.weights or previous == run.named("start"):
            tables.drop(previous)
        if order in run.weights:
            weighted.append(rows.withColumn("order", F.lit(order)))
        previous = name
    if 0 not in run.weights:  # R or X is computed again for order 0 only
        source = source.drop("numbers", "categories", "rows")
    parts = reduce(DataFrame.unionAll, weighted).groupBy("block", "chunk")
    sums = parts.cogroup(source.groupBy("block", "chunk")).applyInArrow(
        lambda key, parts, nodes: run.weighted_sum(key, parts, nodes),
        f"block int, chunk int, ids array<{graph.ids}>, degrees binary, rows binary",
    )
    stage = run.named("sum orders", " of pass ")
    sums = tables.write(run.named("sums"), sums, stage=stage, batch=batch)
    orders = {run.named(f"order-{order}") for order in range(1, 1 + max(run.weights))}
    tables.drop(*{*orders, run.named("start")} & tables.written)
    return BlockSum(sums, run, tables)


def _degree_factors(
    finish: Finish | Compress, graph: StoredGraph, method: FastRP
) -> NDArray[np.float64] | None:
    """The factors of the columns with degrees; None without such columns."""
    if not isinstance(finish, Compress) or not finish.degree_weight:
        return None
    size = finish.degree_weight / np.sqrt(method.dim - len(graph.squares))
    return np.array(
        [size * np.sqrt(graph.connected / some) if some > 0 else 0.0 for some in graph.squares]
    )


def _properties(graph: StoredGraph) -> dict[str, Any]:
    """Properties of the graph; 2m is left out, since its last bits depend on Spark."""
    return {
        "nodes": graph.nodes,
        "edges": graph.edges,
        "directed": graph.directed,
        "weighted": graph.weighted,
        "largest_degree": graph.extremes[1],
        "isolated": graph.nodes - graph.rows,
        **(graph.relations.describe() if graph.relations else {}),
    }


def _feature_columns(
    nodes: DataFrame, features: FeatureTable, graph: StoredGraph
) -> FeatureColumns:
    """The columns of features, with the mean and deviation of the numeric ones."""
    columns = len(features.numbers)

    def sums(mean: NDArray[np.float64] | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        parts = nodes.select("keys", "numbers").mapInArrow(
            lambda batches: _sum_features(batches, columns, mean), "count binary, total binary"
        )
        found = graph.tables.run("measure features", parts.collect, batch=graph.batch)
        count = sum(np.frombuffer(row["count"], np.int64) for row in found)
        total = sum(np.frombuffer(row["total"], np.float64) for row in found)
        return np.asarray(count), np.asarray(total)

    return FeatureColumns(features.numbers, features.categories, *mean_and_deviation(sums))


def _sum_features(
    batches: Iterable[pa.RecordBatch], columns: int, mean: NDArray[np.float64] | None
) -> Iterator[pa.RecordBatch]:
    """Sum the numeric columns over chunks of nodes."""
    parts = (_feature_matrix(node, "numbers", np.float64, columns) for node in iter_rows(batches))
    count, total = column_sums(parts, columns, mean)
    yield pa.RecordBatch.from_pydict({"count": [count.tobytes()], "total": [total.tobytes()]})


def _feature_matrix(
    node: dict[str, Any], name: str, dtype: DTypeLike, columns: int
) -> NDArray[Any]:
    """The features of a chunk of nodes."""
    return np.frombuffer(node[name], dtype).reshape(len(node["keys"]) // 8, columns)


def _join(cells: DataFrame, rows: DataFrame, run: BlockRun) -> DataFrame:
    """Send cells and rows of the previous order to the tasks that need them, in reading order."""
    of_part = run.slabs // run.parts
    first = F.col("part") * of_part
    slabs = F.explode(F.sequence(first, first + (of_part - 1))).alias("slab")
    blocks = F.explode(F.sequence(F.lit(0), F.lit(run.node_blocks.blocks - 1))).alias("row_block")
    rows = rows.select("slab", "chunk", "rows", F.col("block").alias("column_block"), blocks)
    both = cells.select("*", slabs, F.lit(False).alias("is_rows")).unionByName(
        rows.withColumn("is_rows", F.lit(True)), allowMissingColumns=True
    )
    task = ["row_block", "slab"]
    order = [*task, "column_block", "is_rows", "chunk", "first_position", "first_neighbor"]
    tasks = run.node_blocks.blocks * run.slabs
    return both.repartition(tasks, *task).sortWithinPartitions(*order)


@dataclass(frozen=True)
class BlockSum:
    """The sum of a pass, as a table."""

    sums: DataFrame
    run: BlockRun
    tables: Tables

    @property
    def columns(self) -> ColumnScaler:
        """The mean and deviation of each column."""
        return self._statistics[0]

    @property
    def present(self) -> int:
        """The number of rows that have a vector."""
        return self._statistics[1]

    @cached_property
    def _statistics(self) -> tuple[ColumnScaler, int]:
        count, total = self._moments(None)
        mean = total / max(1, count)
        return column_scaler(mean, self._moments(mean)[1] / max(1, count)), count

    def _moments(self, mean: NDArray[np.float64] | None) -> tuple[int, NDArray[np.float64]]:
        """The number of rows with a vector, and their column sums or squared deviations."""
        run = self.run
        parts = self.sums.mapInArrow(
            lambda batches: run.moments(batches, mean), "count bigint, moments binary"
        )
        found = self.tables.run(run.named("column statistics", " of pass "), parts.collect)
        total = sum(np.frombuffer(row["moments"], np.float64) for row in found)
        return sum(row["count"] for row in found), np.asarray(total)

    def products(self, add: AddRows) -> tuple[Floats, Floats, int]:
        """The Gram matrix of the rows as `add` reads them, their sum and how many have a vector."""
        run = self.run
        last = run.number == run.method.passes - 1
        stage = "principal components" if last else run.named("whiten", " pass ")
        parts = self.sums.mapInArrow(lambda batches: run.products(batches, add), PRODUCTS_SCHEMA)
        return sum_parts(parts, run.method._width, self.tables, stage)


@dataclass(frozen=True)
class BlockRun:
    """The work of the tasks: their functions, and the data that they need."""

    node_blocks: NodeBlocks
    parts: int
    """The number of equal parts of the slabs."""
    state: FittedState
    """The fitted state before the run."""
    extremes: tuple[float, float]
    method: FastRP
    features: FeatureColumns | None
    number: int = 0
    """The number of the pass, from 0 on."""
    whitening: FittedStatistics | None = None
    """Whitens the sum of the pass before; None in the first pass, which starts from R."""
    like: FittedState | None = None

    @property
    def slabs(self) -> int:
        """The number of slabs."""
        return -(-self.method._width // WIDTH)

    @property
    def weights(self) -> dict[int, float]:
        """The nonzero weights of the pass, by order."""
        return self.method._weights_of_pass(self.number, self.like)

    def named(self, name: str, separator: str = "-") -> str:
        """The name of a table or stage of this pass; the last pass adds nothing to it."""
        return pass_name(name, self.number, self.method, separator)

    def earlier(self, name: str) -> list[str]:
        """The names of a table in all earlier passes."""
        return [pass_name(name, number, self.method) for number in range(self.number)]

    def scales(self) -> dict[int, float]:
        """The factors of the computed orders in the weighted sum.

        Raises GraphError if the plain sum would overflow float32.
        """
        if self.method._finish.normalization.unit_orders:
            return self.weights
        _, factor = degree_powers([np.array(self.extremes)], self.method.beta, self.state.volume)
        scale = factor * self.method._plain_rows(self.state).scale
        return checked_scales({order: weight * scale for order, weight in self.weights.items()})

    def draw(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """L R or L X, the start of the hops, as SLAB_CHUNKS."""
        for node in iter_rows(batches):
            diagonals = [L for L, _ in self._degree_powers(node)]
            for slab, rows in enumerate(self._order_0(node, diagonals)):
                yield from split_chunks(rows, block=node["block"], chunk=node["chunk"], slab=slab)

    def hop(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A times the previous order, as SLAB_CHUNKS, from the cells and rows of tasks."""
        task = None
        for row in iter_rows(batches):
            if task is None or (task.block, task.slab) != (row["row_block"], row["slab"]):
                if task:
                    yield from task.finish()
                task = HopTask(self.node_blocks, row["row_block"], row["slab"])
            task.add(row)
        if task:
            yield from task.finish()

    def weighted_sum(self, key: tuple[Any, ...], parts: pa.Table, nodes: pa.Table) -> pa.Table:
        """The weighted sum of the orders of a chunk, after their rows are normalized if need be."""
        (node,) = iter_rows(nodes.to_batches())
        diagonals = [L_0 for _, L_0 in self._degree_powers(node)]
        unit = self.method._finish.normalization.unit_orders
        slabs_of: dict[int, list[Any]] = {order: [] for order in sorted(self.weights)}
        if 0 in slabs_of:
            slabs_of[0] = list(self._order_0(node, diagonals))
        for row in iter_rows(parts.sort_by("slab").to_batches()):
            rows = np.frombuffer(row["rows"], np.float32).reshape(-1, WIDTH)
            slabs_of[row["order"]].append(rows)
        scales = self.scales()
        sums = np.zeros((len(diagonals[0]), self.method._width), np.float32)
        _native.weighted_sum(
            [np.concatenate(slabs).view(np.uint8).reshape(-1) for slabs in slabs_of.values()],
            [scales[order] for order in slabs_of],
            unit,
            self.slabs,
            False,
            sums,
            np.arange(len(sums), dtype=np.int32),
            1,
            _native.Stop(),
        )
        columns = {name: nodes[name] for name in ("block", "chunk", "ids", "degrees")}
        return pa.table({**columns, "rows": pa.array([sums.tobytes()], pa.binary())})

    def moments(
        self, batches: Iterable[pa.RecordBatch], mean: NDArray[np.float64] | None
    ) -> Iterator[pa.RecordBatch]:
        """The number of rows with a vector, and their column sums or squared deviations."""
        count, total = 0, np.zeros(self.method._width)
        for row in iter_rows(batches):
            rows, present = self._sums(row)
            count += len(present)
            total += _native.moments(rows, present, mean, 1, _native.Stop())
        yield pa.RecordBatch.from_pydict({"count": [count], "moments": [total.tobytes()]})

    def products(self, batches: Iterable[pa.RecordBatch], add: AddRows) -> Iterator[pa.RecordBatch]:
        """The sums of products over the rows of a task."""
        width = self.method._width
        gram, total, count = np.zeros((width, width)), np.zeros(width), 0
        for row in iter_rows(batches):
            rows, present = self._sums(row)
            add(rows, present, gram, total)
            count += len(present)
        yield pack_products(TaskContext.get().partitionId(), gram, total, count)

    def vectors(
        self,
        batches: Iterable[pa.RecordBatch],
        finish: Finish | Compress,
        statistics: FittedStatistics,
        zeros: ZeroVectors,
    ) -> Iterator[pa.RecordBatch]:
        """The vectors of chunks of sums."""
        for batch in batches:
            for at, row in enumerate(iter_rows([batch])):
                rows, present = self._sums(row)
                degrees = self._degrees(row)
                columns = None if statistics.degree_factors is None else degrees
                vectors = finished_rows(rows, present, columns, finish, statistics)
                zeros.count(vectors, self._has_row(row), row["block"], row["chunk"])
                yield from vector_table(batch["ids"].slice(at, 1), vectors).to_batches()

    def _sums(self, row: dict[str, Any]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """The rows of a chunk of sums, and the indices of those with a vector."""
        rows = np.frombuffer(row["rows"], np.float32).reshape(-1, self.method._width).copy()
        return rows, rows_with_vector(rows, self._has_row(row))

    def _has_row(self, row: dict[str, Any]) -> NDArray[np.bool_]:
        """A mask of the nodes of a chunk with an edge in some part."""
        mask: NDArray[np.bool_] = np.any(self._degrees(row) > 0, axis=0)
        return mask

    def _degrees(self, row: dict[str, Any]) -> NDArray[np.float64]:
        """The degrees of the nodes of a chunk: a row for each part."""
        return np.frombuffer(row["degrees"], np.float64).reshape(self.parts, -1)

    def _order_0(
        self, node: dict[str, Any], diagonals: list[NDArray[np.float32]]
    ) -> Iterator[NDArray[np.float32]]:
        """The slabs of R or X for a chunk of nodes, scaled by the diagonal of their part."""
        of_part = self.slabs // self.parts
        if self.whitening is None:
            R = self._random_rows(node)  # noqa: N806
            for slab in range(self.slabs):
                yield self._draw_slab(R, node, diagonals[slab // of_part], slab % of_part)
            return
        columns, whitening = self.whitening.columns, self.whitening.components
        assert columns is not None
        assert whitening is not None
        rows, _ = self._sums(node)
        project(rows, columns, whitening, rows, None, 1)
        for slab in range(self.slabs):
            some = rows[:, slab * WIDTH : (slab + 1) * WIDTH] * diagonals[slab // of_part][:, None]
            yield np.pad(some, ((0, 0), (0, WIDTH - some.shape[1])))

    def _random_rows(self, node: dict[str, Any]) -> RandomRows:
        """R for a chunk of nodes, with their features."""
        rows, features = np.arange(len(node["keys"]) // 8, dtype=np.int32), None
        if self.features:
            columns = self.features
            numbers = _feature_matrix(node, "numbers", np.float64, len(columns.numbers))
            features = Features(
                columns,
                standardize(numbers, columns.mean, columns.deviation),
                _feature_matrix(node, "categories", np.uint64, len(columns.categories)),
            )
        return self.method._random_rows(self.state, features, rows)

    def _degree_powers(self, node: dict[str, Any]) -> list[Diagonals]:
        """The diagonals of L of each part for a chunk of nodes, on the same scale for all."""
        degrees = [*self._degrees(node), np.array(self.extremes)]
        powers, _ = degree_powers(degrees, self.method.beta, self.state.volume)
        return powers[:-1]

    def _draw_slab(
        self,
        random: RandomRows,
        node: dict[str, Any],
        diagonal: NDArray[np.float32],
        group: int,
    ) -> NDArray[np.float32]:
        """The rows of a slab of R for a chunk of nodes, scaled by a diagonal.

        R is the same in every part of the columns: `group` is the slab in its part.
        """
        keys = np.frombuffer(node["keys"], np.uint64)
        block = _native.allocate(CACHE_LINE_BYTES * len(keys))
        sink, stop = _native.Sink(next=block), _native.Stop()
        _native.draw(random.sampler, keys, diagonal, group, False, sink, 1, stop, random.features)
        return block.view(np.float32).reshape(-1, WIDTH)
