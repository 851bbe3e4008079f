"""The strategy "blocks", for graphs that no worker can hold: a hop is a join of blocks.

A task computes one slab of one block of rows. The cells of its rows and the rows of the order
before come to it one block of columns after the other. Every order is a table of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike, NDArray
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from hopvec import _native
from hopvec.engine.fitted import FittedState
from hopvec.engine.normalize import ColumnScaler, standardizing
from hopvec.engine.plan import CACHE_LINE_BYTES, SLAB_COLUMNS
from hopvec.engine.slab import RandomRows, checked_scales
from hopvec.graph.feature_columns import column_sums, measured, standardized
from hopvec.graph.features import FeatureColumns, Features
from hopvec.methods import FastRP
from hopvec.methods.fastrp import Diagonals, degree_powers
from hopvec.spark.features import FeatureTable
from hopvec.spark.graph import CHUNK, Layout, StoredGraph
from hopvec.spark.tables import Tables, whole_worker
from hopvec.spark.vectors import PARTS, cut, present_rows, rows_of, table

WIDTH = SLAB_COLUMNS["float32"]  # columns of a slab


def vectors_by_blocks(graph: StoredGraph, method: FastRP, blocks: int, cores: int) -> DataFrame:
    """The vectors, id and embedding, by hops over so many blocks of rows and of columns.

    A worker computes one slab of one block at a time, on all its cores.
    """
    tables, layout = graph.tables, Layout(graph.nodes, blocks)
    nodes = graph.write_nodes(layout)
    known = _measure(nodes, graph.features, graph) if graph.features else None
    run = BlockRun(layout, graph.connected, graph.volume, graph.extremes, method, known)
    run.scales()  # refused here, before the hops, rather than in a task
    cells = graph.write_cells(layout)
    drawn = nodes.mapInArrow(run.draw, PARTS)
    rows = tables.write("start", drawn, doing="draw R", batch=graph.batch)
    profile = whole_worker(tables.session, cores)
    counted, before = [rows.limit(0).withColumn("order", F.lit(0))], "start"
    for order in range(1, 1 + max(run.weights)):
        hop = _join(cells, rows, run).mapInArrow(run.hop, PARTS, False, profile)
        rows = tables.write(f"order-{order}", hop, doing=f"hop {order}")
        if order - 1 not in run.weights or before == "start":
            tables.drop(before)
        if order in run.weights:
            counted.append(rows.withColumn("order", F.lit(order)))
        before = f"order-{order}"
    return _finish(graph, counted, nodes, run)


def _measure(nodes: DataFrame, features: FeatureTable, graph: StoredGraph) -> FeatureColumns:
    """The columns of features, with what makes their numbers standard."""
    columns = len(features.numbers)

    def sums(mean: NDArray[np.float64] | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        parts = nodes.select("keys", "numbers").mapInArrow(
            lambda batches: _sum_features(batches, columns, mean), "count binary, total binary"
        )
        found = graph.tables.run("measure features", parts.collect, batch=graph.batch)
        count = sum(np.frombuffer(row["count"], np.int64) for row in found)
        total = sum(np.frombuffer(row["total"], np.float64) for row in found)
        return np.asarray(count), np.asarray(total)

    return FeatureColumns(features.numbers, features.categories, *measured(sums))


def _sum_features(
    batches: Iterable[pa.RecordBatch], columns: int, mean: NDArray[np.float64] | None
) -> Iterator[pa.RecordBatch]:
    """The sums of columns of numbers over some chunks of nodes."""
    parts = (_matrix(node, "numbers", np.float64, columns) for node in rows_of(batches))
    count, total = column_sums(parts, columns, mean)
    yield pa.RecordBatch.from_pydict({"count": [count.tobytes()], "total": [total.tobytes()]})


def _matrix(node: dict[str, Any], name: str, kind: DTypeLike, columns: int) -> NDArray[Any]:
    """Features of a chunk of nodes."""
    return np.frombuffer(node[name], kind).reshape(len(node["keys"]) // 8, columns)


def _join(cells: DataFrame, rows: DataFrame, run: BlockRun) -> DataFrame:
    """The cells and the rows of the order before, at every task that needs them, in its order."""
    slabs = F.explode(F.sequence(F.lit(0), F.lit(run.slabs - 1))).alias("slab")
    blocks = F.explode(F.sequence(F.lit(0), F.lit(run.layout.blocks - 1))).alias("row_block")
    rows = rows.select("slab", "chunk", "rows", F.col("block").alias("column_block"), blocks)
    both = cells.select("*", slabs, F.lit(False).alias("is_rows")).unionByName(
        rows.withColumn("is_rows", F.lit(True)), allowMissingColumns=True
    )
    task = ["row_block", "slab"]
    order = [*task, "column_block", "is_rows", "chunk", "first_place", "first_neighbor"]
    tasks = run.layout.blocks * run.slabs
    return both.repartition(tasks, *task).sortWithinPartitions(*order)


def _finish(
    graph: StoredGraph, counted: list[DataFrame], nodes: DataFrame, run: BlockRun
) -> DataFrame:
    """The vectors of the orders that count."""
    if 0 not in run.weights:  # the only order for which R is drawn again
        nodes = nodes.drop("numbers", "categories")
    parts = reduce(DataFrame.unionAll, counted).groupBy("block", "chunk")
    sums = parts.cogroup(nodes.groupBy("block", "chunk")).applyInArrow(
        lambda key, some, ids: run.total(key, some, ids),
        f"block int, chunk int, ids array<{graph.ids}>, rows binary",
    )
    tables = graph.tables
    sums = tables.write("sums", sums, doing="sum orders", batch=graph.batch)
    columns = None
    if run.method.finish.normalization.standard_columns:
        moments = partial(_moments, sums, run, tables)
        count, total = moments(None)
        mean = total / max(1, count)
        columns = standardizing(mean, moments(mean)[1] / max(1, count))
    schema = f"id {graph.ids}, embedding array<float>"
    return sums.mapInArrow(lambda batches: run.vectors(batches, columns), schema)


def _moments(
    sums: DataFrame, run: BlockRun, tables: Tables, mean: NDArray[np.float64] | None
) -> tuple[int, NDArray[np.float64]]:
    """How many rows have a vector, and the sums of their columns or squared deviations."""
    parts = sums.mapInArrow(
        lambda batches: run.moments(batches, mean), "count bigint, moments binary"
    )
    found = tables.run("column statistics", parts.collect)
    total = sum(np.frombuffer(row["moments"], np.float64) for row in found)
    return sum(row["count"] for row in found), np.asarray(total)


@dataclass(frozen=True)
class BlockRun:
    """What a task must know of the graph and of the method. Its methods are what tasks do."""

    layout: Layout
    connected: int
    volume: float
    extremes: tuple[float, float]
    method: FastRP
    features: FeatureColumns | None

    @property
    def slabs(self) -> int:
        """The number of slabs."""
        return -(-self.method.width // WIDTH)

    @property
    def weights(self) -> dict[int, float]:
        """The orders that count, with their weights."""
        return self.method.order_weights()

    def scales(self) -> dict[int, float]:
        """What orders as they are made must be multiplied with to count by their weights.

        Raises GraphError if the plain sum would leave float32.
        """
        if self.method.finish.normalization.unit_orders:
            return self.weights
        _, factor = degree_powers([np.array(self.extremes)], self.method.beta, self.volume)
        scale = factor * self.method.plain_rows(self._fitted_state).scale
        return checked_scales({order: weight * scale for order, weight in self.weights.items()})

    def draw(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """L R, from which the hops go on: PARTS of some nodes."""
        for node in rows_of(batches):
            L, _ = self._degree_powers(node)  # noqa: N806
            R = self._random_rows(node)  # noqa: N806
            for slab in range(self.slabs):
                rows = self._drawn(R, node, L, slab)
                yield from cut(rows, block=node["block"], chunk=node["chunk"], slab=slab)

    def hop(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A times the order before: PARTS of the tasks whose cells and rows these are."""
        task = None
        for row in rows_of(batches):
            if task is None or (task.block, task.slab) != (row["row_block"], row["slab"]):
                if task:
                    yield from task.finish()
                task = HopTask(self.layout, row["row_block"], row["slab"])
            task.take(row)
        if task:
            yield from task.finish()

    def total(self, key: tuple[Any, ...], parts: pa.Table, nodes: pa.Table) -> pa.Table:
        """The weighted sum of the orders of a chunk, the rows of each made unit if asked."""
        (node,) = rows_of(nodes.to_batches())
        _, L_0 = self._degree_powers(node)  # noqa: N806
        unit = self.method.finish.normalization.unit_orders
        kept: dict[int, list[Any]] = {order: [] for order in sorted(self.weights)}
        if 0 in kept:
            R = self._random_rows(node)  # noqa: N806
            kept[0] = [self._drawn(R, node, L_0, slab) for slab in range(self.slabs)]
        for row in rows_of(parts.sort_by("slab").to_batches()):
            kept[row["order"]].append(np.frombuffer(row["rows"], np.float32).reshape(-1, WIDTH))
        scales = self.scales()
        sums = np.zeros((len(node["keys"]) // 8, self.method.width), np.float32)
        _native.weighted_sum(
            [np.concatenate(slabs).view(np.uint8).reshape(-1) for slabs in kept.values()],
            [scales[order] for order in kept],
            unit,
            self.slabs,
            False,
            sums,
            np.arange(len(sums), dtype=np.int32),
            1,
            _native.Stop(),
        )
        where = {"block": nodes["block"], "chunk": nodes["chunk"], "ids": nodes["ids"]}
        return pa.table({**where, "rows": pa.array([sums.tobytes()], pa.binary())})

    def moments(
        self, batches: Iterable[pa.RecordBatch], mean: NDArray[np.float64] | None
    ) -> Iterator[pa.RecordBatch]:
        """How many rows have a vector, and the sums of their columns or squared deviations."""
        count, total = 0, np.zeros(self.method.width)
        for row in rows_of(batches):
            rows, present = self._sums(row)
            count += len(present)
            total += _native.moments(rows, present, mean, 1, _native.Stop())
        yield pa.RecordBatch.from_pydict({"count": [count], "moments": [total.tobytes()]})

    def vectors(
        self, batches: Iterable[pa.RecordBatch], columns: ColumnScaler | None
    ) -> Iterator[pa.RecordBatch]:
        """The vectors of some chunks of sums."""
        unit = self.method.finish.normalization.unit_rows
        for batch in batches:
            for at, row in enumerate(rows_of([batch])):
                rows, present = self._sums(row)
                if columns:
                    columns.apply(rows, present, unit=unit, threads=1)
                yield from table(batch["ids"].slice(at, 1), rows).to_batches()

    def _sums(self, row: dict[str, Any]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """The rows of a chunk of sums, and which of them have a vector."""
        rows = np.frombuffer(row["rows"], np.float32).reshape(-1, self.method.width).copy()
        numbers = self.layout.numbers(row["block"], row["chunk"])
        return rows, present_rows(rows, numbers, self.connected)

    @property
    def _fitted_state(self) -> FittedState:
        fitted_state = self.method.fitted_state_of(self.layout.nodes, self.volume)
        return replace(fitted_state, features=self.features)

    def _random_rows(self, node: dict[str, Any]) -> RandomRows:
        """R for a chunk of nodes, with their features."""
        rows, known = np.arange(len(node["keys"]) // 8, dtype=np.int32), None
        if self.features:
            columns = self.features
            numbers = _matrix(node, "numbers", np.float64, len(columns.numbers))
            known = Features(
                columns,
                standardized(numbers, columns.mean, columns.deviation),
                _matrix(node, "categories", np.uint64, len(columns.categories)),
            )
        return self.method.random_rows(self._fitted_state, known, rows)

    def _degree_powers(self, node: dict[str, Any]) -> Diagonals:
        """The diagonals of L for a chunk of nodes, on one scale for all of them."""
        degrees = np.frombuffer(node["degrees"], np.float64)
        every = [degrees, np.array(self.extremes)]
        powers, _ = degree_powers(every, self.method.beta, self.volume)
        return powers[0]

    def _drawn(
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
    """One slab of one block of rows on its way through a hop."""

    def __init__(self, layout: Layout, block: int, slab: int) -> None:
        self.layout, self.block, self.slab = layout, block, slab
        self._total = np.zeros((layout.places(block), WIDTH), np.float32)
        self._degrees = np.zeros(len(self._total))
        self._column_block = -1

    def take(self, row: dict[str, Any]) -> None:
        """Takes a cell, or rows of the order before that its neighbors are among."""
        if row["column_block"] != self._column_block:
            self._multiply()
            self._column_block = row["column_block"]
            self._counts = np.zeros(len(self._total), np.int32)
            self._neighbors: list[NDArray[np.int32]] = []
            self._weights: list[NDArray[np.float32]] = []
            self._before = np.empty((self.layout.places(self._column_block), WIDTH), np.float32)
        first = CHUNK * row["chunk"]
        if row["is_rows"]:
            some = np.frombuffer(row["rows"], np.float32).reshape(-1, WIDTH)
            self._before[first : first + len(some)] = some
            return
        counts = np.frombuffer(row["counts"], np.int32)
        self._counts[first : first + len(counts)] += counts
        self._neighbors.append(np.frombuffer(row["neighbors"], np.int32))
        if row["weights"] is not None:
            self._weights.append(np.frombuffer(row["weights"], np.float32))

    def finish(self) -> Iterator[pa.RecordBatch]:
        """The rows of the order, by chunks."""
        self._multiply()
        degrees = self._degrees
        inverse = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
        self._total *= inverse.astype(np.float32)[:, None]
        yield from cut(self._total, block=self.block, slab=self.slab)

    def _multiply(self) -> None:
        """Adds the cells of a block of columns times its rows of the order before."""
        if self._column_block < 0 or not self._neighbors:
            return
        start = np.zeros(len(self._total) + 1, np.int64)
        np.cumsum(self._counts, out=start[1:])
        weights = np.concatenate(self._weights) if self._weights else None
        ones = np.ones(len(self._total), np.float32)
        cells = _native.Adjacency(start, np.concatenate(self._neighbors), weights, ones)
        rows = np.arange(len(self._total), dtype=np.int32)
        sink = _native.Sink(sum=self._total, rows=rows, columns=WIDTH, weight=1.0, add=True)
        before = self._before.view(np.uint8).reshape(-1)
        threads, stop = TaskContext.get().cpus(), _native.Stop()
        _native.hop(cells, before, False, sink, threads, stop)
        self._degrees += _native.degrees(start, weights)
