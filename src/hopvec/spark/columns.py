"""The strategy "columns": every worker holds the graph, and a task computes whole slabs.

Nothing goes from worker to worker between hops. A task leaves its slab in a file of the spill
folder, and those that make vectors read the rows they need of all slabs. Where the rows of every
order are made unit, a first pass over the slabs finds their norms.
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
from hopvec.engine.normalize import ColumnScaler, statistics
from hopvec.engine.plan import CACHE_LINE_BYTES, SLAB_COLUMNS, SlabPlan
from hopvec.engine.slab import Destination, Propagation, Slab
from hopvec.graph import Graph
from hopvec.methods import FastRP
from hopvec.spark.files import SlabFiles, write_file
from hopvec.spark.graph import CHUNK, Layout, StoredGraph
from hopvec.spark.local import kept, local_features, local_graph, local_scales
from hopvec.spark.tables import FEW_ROWS, whole_worker
from hopvec.spark.vectors import present_rows, table

FILES = "slab bigint, file string, statistics binary"
SCALES = "chunk bigint, scales binary"


def vectors_by_columns(graph: StoredGraph, method: FastRP, cores: int) -> DataFrame:
    """The vectors, id and embedding; bit by bit those of one machine.

    A worker computes one slab at a time, on all its cores.
    """
    tables, layout = graph.tables, Layout(graph.nodes)
    session, parallel = tables.session, tables.session.sparkContext.defaultParallelism
    nodes = graph.write_nodes(layout)
    graph.write_cells(layout)
    known = graph.features
    names = (known.numbers, known.categories) if known else None
    run = SlabRun(tables.folder, graph.nodes, graph.connected, graph.directed, method, names)
    slabs = session.range(0, run.slabs, 1, run.slabs)
    profile = whole_worker(session, cores)
    if method.finish.normalization.unit_orders:
        tables.make_folder("squares")
        squares = slabs.mapInArrow(run.squares, FILES, False, profile)
        norms = sorted(tables.run("row norms", squares.collect))
        chunks = session.range(0, layout.chunks(0), 1, parallel)
        scales = chunks.mapInArrow(lambda batches: run.scales(batches, norms), SCALES)
        tables.write("scales", scales, doing="row norms")
        tables.drop("squares")
    tables.make_folder("sums")
    sums = slabs.mapInArrow(run.sums, FILES, False, profile)
    files = sorted(tables.run("sum orders", sums.collect))
    spread = nodes.select("chunk", "ids").repartition(
        max(parallel, layout.chunks(0) // FEW_ROWS), "chunk"
    )
    return spread.mapInArrow(
        lambda batches: run.finish(batches, files), f"id {graph.ids}, embedding array<float>"
    )


@dataclass(frozen=True)
class SlabRun:
    """What a task must know of the graph and of the method. Its methods are what tasks do."""

    folder: str
    nodes: int
    connected: int
    directed: bool
    method: FastRP
    features: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """The names of columns of numbers and of categories."""

    @property
    def slabs(self) -> int:
        """The number of slabs."""
        return -(-self.method.width // SLAB_COLUMNS[self.method.precision])

    def squares(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Files of the sums of squares of some slabs: those of every order, chunk after chunk."""
        for index, engine in self._slabs(batches):
            norms = SumsOfSquares(engine.plan, engine.orders)
            engine.propagate(index, norms)
            yield self._file("squares", index, self._by_chunks(list(norms.squares.values())))

    def scales(
        self, batches: Iterable[pa.RecordBatch], squares: list[Row]
    ) -> Iterator[pa.RecordBatch]:
        """What makes the rows of some chunks unit, by the squares of all slabs, added in order."""
        weights = self.method.order_weights()
        names = [row["file"] for row in squares]
        with SlabFiles(names, self._layout, len(weights), np.float64) as files:
            for chunk in _integers(batches):
                total = np.zeros((len(weights), self._layout.rows(0, chunk)))
                for some in files.read(chunk):
                    total += some.reshape(total.shape)
                scales = unit_scales(dict(zip(weights, total, strict=True)), weights)
                some = np.stack([scales[order] for order in weights])
                yield pa.RecordBatch.from_pylist([{"chunk": chunk, "scales": some.tobytes()}])

    def sums(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Files of the weighted sum of the orders of some slabs."""
        unit = self.method.finish.normalization.unit_orders
        for index, engine in self._slabs(batches):
            scales: Any
            if unit:
                scales = kept(self.folder, "scales", self._scales)
            else:
                scales = engine.propagation.scales(self.method.order_weights())
            rows = np.zeros((self.nodes, engine.plan.columns), dtype=np.float32)
            engine.propagate(index, SlabSum(rows, engine.graph.rows, scales))
            yield self._file("sums", index, [rows], self._statistics(rows, scales, engine))

    def finish(
        self, batches: Iterable[pa.RecordBatch], sums: list[Row]
    ) -> Iterator[pa.RecordBatch]:
        """The vectors of some chunks of nodes."""
        columns = _joined_statistics(sums, self.method.width)
        unit = self.method.finish.normalization.unit_rows
        width, names = SLAB_COLUMNS[self.method.precision], [row["file"] for row in sums]
        with SlabFiles(names, self._layout, width, np.float32) as files:
            for batch in batches:
                for at, chunk in enumerate(batch["chunk"].to_pylist()):
                    numbers = self._layout.numbers(0, chunk)
                    rows = np.empty((len(numbers), self.method.width), np.float32)
                    for slab, some in enumerate(files.read(chunk)):
                        here = rows[:, slab * width : (slab + 1) * width]
                        here[:] = some.reshape(-1, width)[:, : here.shape[1]]
                    if columns:
                        present = present_rows(rows, numbers, self.connected)
                        columns.apply(rows, present, unit=unit, threads=1)
                    yield from table(batch["ids"].slice(at, 1), rows).to_batches()

    def _statistics(
        self, rows: NDArray[np.float32], scales: dict[int, NDArray[np.float32]], engine: Engine
    ) -> ColumnScaler | None:
        """The statistics of the columns of a slab, where columns are standardized."""
        if not self.method.finish.normalization.standard_columns:
            return None
        present = engine.graph.rows[: self.connected]
        if 0 in scales:  # the only order of a node without a row, which gives some a vector
            others = self.connected + np.flatnonzero(scales[0][self.connected :])
            present = np.concatenate([present, others.astype(np.int32)])
        return statistics(rows, present, engine.plan.threads) if len(present) else None

    def _scales(self) -> dict[int, NDArray[np.float32]]:
        return local_scales(self.folder, self.nodes, list(self.method.order_weights()))

    def _slabs(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Engine]]:
        engine = kept(self.folder, "engine", self._engine)
        for index in _integers(batches):
            yield index, engine

    def _engine(self) -> Engine:
        graph = local_graph(self.folder, self.nodes, self.directed)
        if self.features:
            known = local_features(self.folder, self.nodes, *self.features)
            graph = replace(graph, features=known)
        threads = TaskContext.get().cpus()
        plan = self.method.with_dim(1).set_params(normalize="none", threads=threads).plan(graph)
        plan = replace(plan, width=self.method.width, slabs=self.slabs)
        return Engine(
            graph, plan, self.method.propagation(graph), list(self.method.order_weights())
        )

    @property
    def _layout(self) -> Layout:
        return Layout(self.nodes)

    def _by_chunks(self, values: list[NDArray[np.float64]]) -> Iterator[NDArray[np.float64]]:
        """Arrays side by side, cut into chunks."""
        for chunk in range(self._layout.chunks(0)):
            yield np.stack([some[CHUNK * chunk : CHUNK * (chunk + 1)] for some in values])

    def _file(
        self,
        kind: str,
        slab: int,
        arrays: Iterable[NDArray[Any]],
        columns: ColumnScaler | None = None,
    ) -> pa.RecordBatch:
        """Writes arrays to a file of this attempt at a task, and tells of it: a row of FILES."""
        file = f"{self.folder}/{kind}/{slab}-{TaskContext.get().taskAttemptId()}"
        write_file(file, arrays)
        found = np.stack([columns.mean, columns.factor]).tobytes() if columns else b""
        return pa.RecordBatch.from_pylist([{"slab": slab, "file": file, "statistics": found}])


@dataclass(frozen=True)
class Engine:
    """The graph on this worker, and how its slabs are computed."""

    graph: Graph
    plan: SlabPlan
    propagation: Propagation
    orders: list[int]

    def propagate(self, index: int, destination: Destination) -> None:
        """Carries a slab through its hops."""
        size = CACHE_LINE_BYTES * self.plan.nodes
        blocks = _native.allocate(size), _native.allocate(size)
        slab = Slab(index, self.plan, self.graph, destination, blocks, _native.Stop())
        self.propagation.propagate(slab, self.orders)


def _integers(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    """What a range of Spark holds."""
    for batch in batches:
        yield from batch["id"].to_pylist()


def _joined_statistics(sums: list[Row], width: int) -> ColumnScaler | None:
    """The statistics of the columns of all slabs, where they came with the files."""
    if not all(row["statistics"] for row in sums):
        return None
    found = [np.frombuffer(row["statistics"], np.float64).reshape(2, -1) for row in sums]
    mean, factor = np.concatenate(found, axis=1)[:, :width]
    return ColumnScaler(mean, factor)
