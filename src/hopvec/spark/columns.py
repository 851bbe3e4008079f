"""The strategy "columns": every worker holds the graph, and a task computes whole slabs.

Workers exchange nothing between hops. A task writes its slab to a file in the spill directory, and
the tasks that make the vectors read their rows from the files of all slabs. If the rows of each
order are normalized to unit length, a first pass over the slabs computes their norms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext
from pyspark.sql import DataFrame, Row

from hopvec import _native
from hopvec.engine.combine import SlabSum, SumsOfSquares, unit_scales
from hopvec.engine.normalize import ColumnScaler, fit_column_scaler
from hopvec.engine.plan import CACHE_LINE_BYTES, SLAB_COLUMNS, SlabPlan
from hopvec.engine.slab import Destination, Propagation, Slab
from hopvec.graph import Graph
from hopvec.methods import FastRP
from hopvec.spark.files import SlabFiles, write_file
from hopvec.spark.graph import CHUNK_NODES, NodeBlocks, StoredGraph
from hopvec.spark.local import cached, local_features, local_graph, local_scales
from hopvec.spark.tables import CHUNK_BATCH, whole_worker
from hopvec.spark.vectors import ZeroVectors, rows_with_vector, vector_table

FILES_SCHEMA = "slab bigint, file string, statistics binary"
SCALES_SCHEMA = "chunk bigint, scales binary"


def vectors_by_columns(
    graph: StoredGraph, method: FastRP, cores: int, zeros: ZeroVectors
) -> DataFrame:
    """Compute the vectors, id and embedding; bit-identical to those of one machine.

    A worker computes one slab at a time, on all its cores.
    """
    tables, node_blocks = graph.tables, NodeBlocks(graph.nodes)
    session, parallel = tables.session, tables.session.sparkContext.defaultParallelism
    nodes = graph.write_nodes(node_blocks)
    graph.write_cells(node_blocks)
    features = graph.features
    names = (features.numbers, features.categories) if features else None
    run = SlabRun(tables.directory, graph.nodes, graph.connected, graph.directed, method, names)
    slabs = session.range(0, run.slabs, 1, run.slabs)
    profile = whole_worker(session, cores)
    if method._finish.normalization.unit_orders:
        tables.make_directory("squares")
        squares = slabs.mapInArrow(run.squares, FILES_SCHEMA, False, profile)
        norms = sorted(tables.run("row norms", squares.collect))
        chunks = session.range(0, node_blocks.chunks(0), 1, parallel)
        scales = chunks.mapInArrow(lambda batches: run.scales(batches, norms), SCALES_SCHEMA)
        tables.write("scales", scales, stage="row norms")
        tables.drop("squares")
    tables.make_directory("sums")
    sums = slabs.mapInArrow(run.sums, FILES_SCHEMA, False, profile)
    files = sorted(tables.run("sum orders", sums.collect))
    spread = nodes.select("chunk", "ids").repartition(
        max(parallel, node_blocks.chunks(0) // CHUNK_BATCH), "chunk"
    )
    return spread.mapInArrow(
        lambda batches: run.finish(batches, files, zeros), f"id {graph.ids}, embedding array<float>"
    )


@dataclass(frozen=True)
class SlabRun:
    """The work of the tasks: their functions, and the data that they need."""

    directory: str
    nodes: int
    connected: int
    directed: bool
    method: FastRP
    features: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """The names of the numeric and of the categorical columns."""

    @property
    def slabs(self) -> int:
        """The number of slabs."""
        return -(-self.method._width // SLAB_COLUMNS[self.method.precision])

    def squares(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the sums of squares of slabs: one file per slab, all orders of a chunk together."""
        for index, engine in self._slabs(batches):
            norms = SumsOfSquares(engine.plan, engine.orders)
            engine.propagate(index, norms)
            yield self._file("squares", index, self._by_chunks(list(norms.squares.values())))

    def scales(
        self, batches: Iterable[pa.RecordBatch], squares: list[Row]
    ) -> Iterator[pa.RecordBatch]:
        """The factors that give rows unit length, from the sums of squares of all slabs."""
        weights = self.method._order_weights()
        names = [row["file"] for row in squares]
        with SlabFiles(names, self._node_blocks, len(weights), np.float64) as files:
            for chunk in _integers(batches):
                total = np.zeros((len(weights), self._node_blocks.chunk_size(0, chunk)))
                for squares_of_slab in files.read(chunk):
                    total += squares_of_slab.reshape(total.shape)
                scales = unit_scales(dict(zip(weights, total, strict=True)), weights)
                packed = np.stack([scales[order] for order in weights]).tobytes()
                yield pa.RecordBatch.from_pylist([{"chunk": chunk, "scales": packed}])

    def sums(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the weighted sum of the orders: one file per slab."""
        unit = self.method._finish.normalization.unit_orders
        for index, engine in self._slabs(batches):
            scales: Any
            if unit:
                scales = cached(self.directory, "scales", self._scales)
            else:
                scales = engine.propagation.scales(self.method._order_weights())
            rows = np.zeros((self.nodes, engine.plan.columns), dtype=np.float32)
            engine.propagate(index, SlabSum(rows, engine.graph.rows, scales))
            yield self._file("sums", index, [rows], self._statistics(rows, scales, engine))

    def finish(
        self, batches: Iterable[pa.RecordBatch], sums: list[Row], zeros: ZeroVectors
    ) -> Iterator[pa.RecordBatch]:
        """The vectors of chunks of nodes."""
        columns = _joined_statistics(sums, self.method._width)
        unit = self.method._finish.normalization.unit_rows
        width, names = SLAB_COLUMNS[self.method.precision], [row["file"] for row in sums]
        with SlabFiles(names, self._node_blocks, width, np.float32) as files:
            for batch in batches:
                for row, chunk in enumerate(batch["chunk"].to_pylist()):
                    indices = self._node_blocks.node_indices(0, chunk)
                    rows = np.empty((len(indices), self.method._width), np.float32)
                    for slab, values in enumerate(files.read(chunk)):
                        part = rows[:, slab * width : (slab + 1) * width]
                        part[:] = values.reshape(-1, width)[:, : part.shape[1]]
                    if columns:
                        present = rows_with_vector(rows, indices, self.connected)
                        columns.apply(rows, present, unit=unit, threads=1)
                    zeros.count(rows, indices, 0, chunk)
                    yield from vector_table(batch["ids"].slice(row, 1), rows).to_batches()

    def _statistics(
        self,
        rows: NDArray[np.float32],
        scales: dict[int, NDArray[np.float32]],
        engine: WorkerEngine,
    ) -> ColumnScaler | None:
        """The statistics of the columns of a slab, if columns are standardized."""
        if not self.method._finish.normalization.standard_columns:
            return None
        present = engine.graph.rows[: self.connected]
        if 0 in scales:  # the only order in which a node without a row of S can have a vector
            others = self.connected + np.flatnonzero(scales[0][self.connected :])
            present = np.concatenate([present, others.astype(np.int32)])
        return fit_column_scaler(rows, present, engine.plan.threads) if len(present) else None

    def _scales(self) -> dict[int, NDArray[np.float32]]:
        return local_scales(self.directory, self.nodes, list(self.method._order_weights()))

    def _slabs(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, WorkerEngine]]:
        engine = cached(self.directory, "engine", self._engine)
        for index in _integers(batches):
            yield index, engine

    def _engine(self) -> WorkerEngine:
        graph = local_graph(self.directory, self.nodes, self.directed)
        if self.features:
            features = local_features(self.directory, self.nodes, *self.features)
            graph = replace(graph, features=features)
        threads = TaskContext.get().cpus()
        plan = self.method._with_dim(1).set_params(normalize="none", threads=threads).plan(graph)
        plan = replace(plan, width=self.method._width, slabs=self.slabs)
        return WorkerEngine(
            graph, plan, self.method._propagation(graph, plan), list(self.method._order_weights())
        )

    @property
    def _node_blocks(self) -> NodeBlocks:
        return NodeBlocks(self.nodes)

    def _by_chunks(self, values: list[NDArray[np.float64]]) -> Iterator[NDArray[np.float64]]:
        """Stack arrays and split them into chunks."""
        for chunk in range(self._node_blocks.chunks(0)):
            yield np.stack(
                [array[CHUNK_NODES * chunk : CHUNK_NODES * (chunk + 1)] for array in values]
            )

    def _file(
        self,
        kind: str,
        slab: int,
        arrays: Iterable[NDArray[Any]],
        columns: ColumnScaler | None = None,
    ) -> pa.RecordBatch:
        """Write arrays to a file of this task attempt; returns its row of FILES_SCHEMA."""
        file = f"{self.directory}/{kind}/{slab}-{TaskContext.get().taskAttemptId()}"
        write_file(file, arrays)
        packed = np.stack([columns.mean, columns.factor]).tobytes() if columns else b""
        return pa.RecordBatch.from_pylist([{"slab": slab, "file": file, "statistics": packed}])


@dataclass(frozen=True)
class WorkerEngine:
    """The graph on this worker, and the plan for its slabs."""

    graph: Graph
    plan: SlabPlan
    propagation: Propagation
    orders: list[int]

    def propagate(self, index: int, destination: Destination) -> None:
        """Propagate a slab through all hops."""
        size = CACHE_LINE_BYTES * self.plan.nodes
        blocks = _native.allocate(size), _native.allocate(size)
        slab = Slab(index, self.plan, self.graph, destination, blocks, _native.Stop())
        self.propagation.propagate(slab, self.orders)


def _integers(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    """Iterate over the integers of a Spark range."""
    for batch in batches:
        yield from batch["id"].to_pylist()


def _joined_statistics(sums: list[Row], width: int) -> ColumnScaler | None:
    """The statistics of all columns, if the files of the slabs have them."""
    if not all(row["statistics"] for row in sums):
        return None
    parts = [np.frombuffer(row["statistics"], np.float64).reshape(2, -1) for row in sums]
    mean, factor = np.concatenate(parts, axis=1)[:, :width]
    return ColumnScaler(mean, factor)
