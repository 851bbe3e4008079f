"""The strategy "blocks", for graphs that no worker can hold: a hop is a join of blocks.

A task computes one slab of one block of rows. It receives the cells of its rows and the rows of
the previous order, one block of columns at a time. Every order is a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from hopvec import _native
from hopvec.engine.degree_powers import Diagonals, degree_powers
from hopvec.engine.fitted import FittedState
from hopvec.engine.normalize import ColumnScaler, column_scaler
from hopvec.engine.plan import CACHE_LINE_BYTES, SLAB_COLUMNS
from hopvec.engine.slab import RandomRows, checked_scales
from hopvec.graph.feature_columns import column_sums, mean_and_deviation, standardize
from hopvec.graph.features import FeatureColumns, Features
from hopvec.methods import FastRP
from hopvec.spark.features import FeatureTable
from hopvec.spark.graph import CHUNK_NODES, NodeBlocks, StoredGraph
from hopvec.spark.tables import Tables, whole_worker
from hopvec.spark.vectors import (
    SLAB_CHUNKS,
    ZeroVectors,
    iter_rows,
    rows_with_vector,
    split_chunks,
    vector_table,
)

WIDTH = SLAB_COLUMNS["float32"]  # columns per slab


def vectors_by_blocks(
    graph: StoredGraph, method: FastRP, blocks: int, cores: int, zeros: ZeroVectors
) -> DataFrame:
    """Compute the vectors, id and embedding, with `blocks` blocks of rows and of columns.

    A worker computes one slab of one block at a time, on all its cores.
    """
    tables, node_blocks = graph.tables, NodeBlocks(graph.nodes, blocks)
    nodes = graph.write_nodes(node_blocks)
    features = _feature_columns(nodes, graph.features, graph) if graph.features else None
    run = BlockRun(node_blocks, graph.connected, graph.volume, graph.extremes, method, features)
    run.scales()  # raises before the hops rather than in a task
    cells = graph.write_cells(node_blocks)
    drawn = nodes.mapInArrow(run.draw, SLAB_CHUNKS)
    rows = tables.write("start", drawn, stage="draw R", batch=graph.batch)
    profile = whole_worker(tables.session, cores)
    weighted, previous = [rows.limit(0).withColumn("order", F.lit(0))], "start"
    for order in range(1, 1 + max(run.weights)):
        hop = _join(cells, rows, run).mapInArrow(run.hop, SLAB_CHUNKS, False, profile)
        rows = tables.write(f"order-{order}", hop, stage=f"hop {order}")
        if order - 1 not in run.weights or previous == "start":
            tables.drop(previous)
        if order in run.weights:
            weighted.append(rows.withColumn("order", F.lit(order)))
        previous = f"order-{order}"
    return _finish(graph, weighted, nodes, run, zeros)


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
    slabs = F.explode(F.sequence(F.lit(0), F.lit(run.slabs - 1))).alias("slab")
    blocks = F.explode(F.sequence(F.lit(0), F.lit(run.node_blocks.blocks - 1))).alias("row_block")
    rows = rows.select("slab", "chunk", "rows", F.col("block").alias("column_block"), blocks)
    both = cells.select("*", slabs, F.lit(False).alias("is_rows")).unionByName(
        rows.withColumn("is_rows", F.lit(True)), allowMissingColumns=True
    )
    task = ["row_block", "slab"]
    order = [*task, "column_block", "is_rows", "chunk", "first_position", "first_neighbor"]
    tasks = run.node_blocks.blocks * run.slabs
    return both.repartition(tasks, *task).sortWithinPartitions(*order)


def _finish(
    graph: StoredGraph,
    weighted: list[DataFrame],
    nodes: DataFrame,
    run: BlockRun,
    zeros: ZeroVectors,
) -> DataFrame:
    """Compute the vectors from the orders with a nonzero weight."""
    if 0 not in run.weights:  # R is drawn again for order 0 only
        nodes = nodes.drop("numbers", "categories")
    parts = reduce(DataFrame.unionAll, weighted).groupBy("block", "chunk")
    sums = parts.cogroup(nodes.groupBy("block", "chunk")).applyInArrow(
        lambda key, parts, nodes: run.weighted_sum(key, parts, nodes),
        f"block int, chunk int, ids array<{graph.ids}>, rows binary",
    )
    tables = graph.tables
    sums = tables.write("sums", sums, stage="sum orders", batch=graph.batch)
    columns = None
    if run.method._finish.normalization.standard_columns:
        moments = partial(_moments, sums, run, tables)
        count, total = moments(None)
        mean = total / max(1, count)
        columns = column_scaler(mean, moments(mean)[1] / max(1, count))
    schema = f"id {graph.ids}, embedding array<float>"
    return sums.mapInArrow(lambda batches: run.vectors(batches, columns, zeros), schema)


def _moments(
    sums: DataFrame, run: BlockRun, tables: Tables, mean: NDArray[np.float64] | None
) -> tuple[int, NDArray[np.float64]]:
    """The number of rows with a vector, and their column sums or squared deviations."""
    parts = sums.mapInArrow(
        lambda batches: run.moments(batches, mean), "count bigint, moments binary"
    )
    found = tables.run("column statistics", parts.collect)
    total = sum(np.frombuffer(row["moments"], np.float64) for row in found)
    return sum(row["count"] for row in found), np.asarray(total)


@dataclass(frozen=True)
class BlockRun:
    """The work of the tasks: their functions, and the data that they need."""

    node_blocks: NodeBlocks
    connected: int
    volume: float
    extremes: tuple[float, float]
    method: FastRP
    features: FeatureColumns | None

    @property
    def slabs(self) -> int:
        """The number of slabs."""
        return -(-self.method._width // WIDTH)

    @property
    def weights(self) -> dict[int, float]:
        """The nonzero weights, by order."""
        return self.method._order_weights()

    def scales(self) -> dict[int, float]:
        """The factors of the computed orders in the weighted sum.

        Raises GraphError if the plain sum would overflow float32.
        """
        if self.method._finish.normalization.unit_orders:
            return self.weights
        _, factor = degree_powers([np.array(self.extremes)], self.method.beta, self.volume)
        scale = factor * self.method._plain_rows(self._fitted_state).scale
        return checked_scales({order: weight * scale for order, weight in self.weights.items()})

    def draw(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """L R, the start of the hops, as SLAB_CHUNKS."""
        for node in iter_rows(batches):
            L, _ = self._degree_powers(node)  # noqa: N806
            R = self._random_rows(node)  # noqa: N806
            for slab in range(self.slabs):
                rows = self._draw_slab(R, node, L, slab)
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
        _, L_0 = self._degree_powers(node)  # noqa: N806
        unit = self.method._finish.normalization.unit_orders
        slabs_of: dict[int, list[Any]] = {order: [] for order in sorted(self.weights)}
        if 0 in slabs_of:
            R = self._random_rows(node)  # noqa: N806
            slabs_of[0] = [self._draw_slab(R, node, L_0, slab) for slab in range(self.slabs)]
        for row in iter_rows(parts.sort_by("slab").to_batches()):
            rows = np.frombuffer(row["rows"], np.float32).reshape(-1, WIDTH)
            slabs_of[row["order"]].append(rows)
        scales = self.scales()
        sums = np.zeros((len(node["keys"]) // 8, self.method._width), np.float32)
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
        columns = {name: nodes[name] for name in ("block", "chunk", "ids")}
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

    def vectors(
        self,
        batches: Iterable[pa.RecordBatch],
        columns: ColumnScaler | None,
        zeros: ZeroVectors,
    ) -> Iterator[pa.RecordBatch]:
        """The vectors of chunks of sums."""
        unit = self.method._finish.normalization.unit_rows
        for batch in batches:
            for at, row in enumerate(iter_rows([batch])):
                rows, present = self._sums(row)
                if columns:
                    columns.apply(rows, present, unit=unit, threads=1)
                indices = self.node_blocks.node_indices(row["block"], row["chunk"])
                zeros.count(rows, indices, row["block"], row["chunk"])
                yield from vector_table(batch["ids"].slice(at, 1), rows).to_batches()

    def _sums(self, row: dict[str, Any]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """The rows of a chunk of sums, and the indices of those with a vector."""
        rows = np.frombuffer(row["rows"], np.float32).reshape(-1, self.method._width).copy()
        indices = self.node_blocks.node_indices(row["block"], row["chunk"])
        return rows, rows_with_vector(rows, indices, self.connected)

    @property
    def _fitted_state(self) -> FittedState:
        return self.method._initial_state(self.node_blocks.nodes, self.volume, self.features)

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
        return self.method._random_rows(self._fitted_state, features, rows)

    def _degree_powers(self, node: dict[str, Any]) -> Diagonals:
        """The diagonals of L for a chunk of nodes, on the same scale for all chunks."""
        degrees = np.frombuffer(node["degrees"], np.float64)
        powers, _ = degree_powers([degrees, np.array(self.extremes)], self.method.beta, self.volume)
        return powers[0]

    def _draw_slab(
        self,
        random: RandomRows,
        node: dict[str, Any],
        diagonal: NDArray[np.float32],
        slab: int,
    ) -> NDArray[np.float32]:
        """The rows of a slab of R, scaled by a diagonal, for a chunk of nodes."""
        keys = np.frombuffer(node["keys"], np.uint64)
        block = _native.allocate(CACHE_LINE_BYTES * len(keys))
        sink, stop = _native.Sink(next=block), _native.Stop()
        _native.draw(random.sampler, keys, diagonal, slab, False, sink, 1, stop, random.features)
        return block.view(np.float32).reshape(-1, WIDTH)


class HopTask:
    """One hop of one slab of one block of rows."""

    def __init__(self, node_blocks: NodeBlocks, block: int, slab: int) -> None:
        self.node_blocks: NodeBlocks = node_blocks
        self.block: int = block
        self.slab: int = slab
        self._total = np.zeros((node_blocks.block_size(block), WIDTH), np.float32)
        self._degrees = np.zeros(len(self._total))
        self._column_block = -1

    def add(self, row: dict[str, Any]) -> None:
        """Add a cell, or rows of the previous order that its entries refer to."""
        if row["column_block"] != self._column_block:
            self._multiply()
            self._column_block = row["column_block"]
            self._counts = np.zeros(len(self._total), np.int32)
            self._neighbors: list[NDArray[np.int32]] = []
            self._weights: list[NDArray[np.float32]] = []
            size = self.node_blocks.block_size(self._column_block)
            self._previous = np.empty((size, WIDTH), np.float32)
        first = CHUNK_NODES * row["chunk"]
        if row["is_rows"]:
            rows = np.frombuffer(row["rows"], np.float32).reshape(-1, WIDTH)
            self._previous[first : first + len(rows)] = rows
            return
        counts = np.frombuffer(row["counts"], np.int32)
        self._counts[first : first + len(counts)] += counts
        self._neighbors.append(np.frombuffer(row["neighbors"], np.int32))
        if row["weights"] is not None:
            self._weights.append(np.frombuffer(row["weights"], np.float32))

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Return the rows of the new order, as SLAB_CHUNKS."""
        self._multiply()
        degrees = self._degrees
        inverse = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
        self._total *= inverse.astype(np.float32)[:, None]
        yield from split_chunks(self._total, block=self.block, slab=self.slab)

    def _multiply(self) -> None:
        """Add the product of the cells of a column block and its rows of the previous order."""
        if self._column_block < 0 or not self._neighbors:
            return
        indptr = np.zeros(len(self._total) + 1, np.int64)
        np.cumsum(self._counts, out=indptr[1:])
        weights = np.concatenate(self._weights) if self._weights else None
        ones = np.ones(len(self._total), np.float32)
        cells = _native.Adjacency(indptr, np.concatenate(self._neighbors), weights, ones)
        rows = np.arange(len(self._total), dtype=np.int32)
        sink = _native.Sink(sum=self._total, rows=rows, columns=WIDTH, weight=1.0, add=True)
        previous = self._previous.view(np.uint8).reshape(-1)
        threads, stop = TaskContext.get().cpus(), _native.Stop()
        _native.hop(cells, previous, False, sink, threads, stop)
        self._degrees += _native.degrees(indptr, weights)
