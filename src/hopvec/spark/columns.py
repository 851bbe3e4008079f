"""The strategy "columns": every worker holds the graph, and a task computes whole slabs.

Nothing goes from worker to worker between hops. Slabs become rows by one shuffle in the end; where
the rows of every order are made unit, a first pass over the slabs finds their norms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext
from pyspark.sql import DataFrame

from hopvec import _native
from hopvec.engine.combine import SlabSum, SumsOfSquares, unit_scales
from hopvec.engine.normalize import Columns, statistics
from hopvec.engine.plan import COLUMNS, LINE, SlabPlan
from hopvec.engine.slab import Destination, Propagation, Slab
from hopvec.graph import Graph
from hopvec.methods import FastRP
from hopvec.spark.graph import CHUNK, Layout, StoredGraph
from hopvec.spark.local import kept, local_graph, local_scales
from hopvec.spark.tables import whole_worker
from hopvec.spark.vectors import PARTS, cut, joined, present_rows, statistics_of, table

SQUARES = "chunk int, slab int, squares binary"
SCALES = "chunk int, scales binary"


def vectors_by_columns(graph: StoredGraph, method: FastRP, cores: int) -> DataFrame:
    """The vectors, id and embedding; bit by bit those of one machine.

    A worker computes one slab at a time, on all its cores.
    """
    tables, layout = graph.tables, Layout(graph.nodes)
    nodes = graph.write_nodes(layout)
    graph.write_cells(layout)
    run = SlabRun(tables.folder, graph.nodes, graph.connected, graph.directed, method)
    slabs = tables.session.range(0, run.slabs, 1, run.slabs)
    profile = whole_worker(tables.session, cores)
    if method.finish.normalization.unit_orders:
        squares = slabs.mapInArrow(run.squares, SQUARES, False, profile).groupBy("chunk")
        scales = squares.applyInArrow(lambda key, some: run.scales(key, some), SCALES)
        tables.write("scales", scales, doing="row norms")
    parts = slabs.mapInArrow(run.sums, PARTS, False, profile).groupBy("block", "chunk")
    finished = parts.cogroup(nodes.select("block", "chunk", "ids").groupBy("block", "chunk"))
    return finished.applyInArrow(
        lambda key, some, ids: run.finish(key, some, ids), f"id {graph.ids}, embedding array<float>"
    )


@dataclass(frozen=True)
class SlabRun:
    """What a task must know of the graph and of the method. Its methods are what tasks do."""

    folder: str
    nodes: int
    connected: int
    directed: bool
    method: FastRP

    @property
    def slabs(self) -> int:
        """The number of slabs."""
        return -(-self.method.width // COLUMNS[self.method.precision])

    def squares(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The sums of squares of the rows of every order, by chunks: SQUARES of some slabs."""
        for index, engine in self._slabs(batches):
            norms = SumsOfSquares(engine.plan, engine.orders)
            engine.carry(index, norms)
            for chunk in range(-(-self.nodes // CHUNK)):
                here = slice(CHUNK * chunk, CHUNK * (chunk + 1))
                some = np.stack([norms.squares[order][here] for order in engine.orders])
                yield _row(SQUARES, chunk, index, some)

    def scales(self, key: tuple[Any, ...], squares: pa.Table) -> pa.Table:
        """What makes the rows of a chunk unit, by the squares of all slabs, added in order."""
        weights = self.method.order_weights()
        total = np.zeros((len(weights), Layout(self.nodes).rows(0, key[0].as_py())))
        for payload in squares.sort_by("slab")["squares"]:
            total += np.frombuffer(payload.as_buffer(), np.float64).reshape(total.shape)
        scales = unit_scales(dict(zip(weights, total, strict=True)), weights)
        some = np.stack([scales[order] for order in weights])
        return pa.Table.from_batches([_row(SCALES, key[0].as_py(), some)])

    def sums(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The weighted sum of the orders, by chunks: PARTS of some slabs."""
        unit = self.method.finish.normalization.unit_orders
        for index, engine in self._slabs(batches):
            scales: Any = engine.propagation.scales(self.method.order_weights())
            if unit:
                scales = kept(self.folder, "scales", self._scales)
            rows = np.zeros((self.nodes, engine.plan.columns), dtype=np.float32)
            engine.carry(index, SlabSum(rows, engine.graph.rows, scales))
            found = self._statistics(rows, scales, engine)
            yield from cut(rows, slab=index, columns=found)

    def finish(self, key: tuple[Any, ...], parts: pa.Table, nodes: pa.Table) -> pa.Table:
        """The vectors of a chunk of nodes."""
        numbers = Layout(self.nodes).numbers(0, key[1].as_py())
        rows = joined(parts, len(numbers), self.method.width)
        columns = statistics_of(parts, self.method.width)
        if columns:
            present = present_rows(rows, numbers, self.connected)
            unit = self.method.finish.normalization.unit_rows
            columns.apply(rows, present, unit=unit, threads=1)
        return table(nodes["ids"].combine_chunks(), rows)

    def _statistics(
        self, rows: NDArray[np.float32], scales: dict[int, NDArray[np.float32]], engine: Engine
    ) -> Columns | None:
        """The statistics of the columns of a slab, where columns are standardised."""
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
        for batch in batches:
            for index in batch["id"].to_pylist():
                yield index, engine

    def _engine(self) -> Engine:
        graph = local_graph(self.folder, self.nodes, self.directed)
        threads = TaskContext.get().cpus()
        plan = self.method.narrow(1).set_params(normalize="none", threads=threads).plan(graph)
        plan = replace(plan, width=self.method.width, slabs=self.slabs)
        return Engine(
            graph, plan, self.method.propagation(graph), list(self.method.order_weights())
        )


@dataclass(frozen=True)
class Engine:
    """The graph on this worker, and how its slabs are computed."""

    graph: Graph
    plan: SlabPlan
    propagation: Propagation
    orders: list[int]

    def carry(self, index: int, destination: Destination) -> None:
        """Carries a slab through its hops."""
        size = LINE * self.plan.nodes
        blocks = _native.allocate(size), _native.allocate(size)
        slab = Slab(index, self.plan, self.graph, destination, blocks, _native.Stop())
        self.propagation.carry(slab, self.orders)


def _row(schema: str, *values: Any) -> pa.RecordBatch:
    """One row of whole numbers and, last, the bytes of an array."""
    names = [column.split()[0] for column in schema.split(", ")]
    arrays = [pa.array([value], pa.int32()) for value in values[:-1]]
    arrays.append(pa.array([values[-1].tobytes()], pa.binary()))
    return pa.RecordBatch.from_arrays(arrays, names)
