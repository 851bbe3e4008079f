"""The strategy "columns": every worker holds the graph, and a task computes whole slabs.

Workers exchange nothing between hops. A task writes its slab to a file in the spill directory, and
the tasks that make the vectors read their rows from the files of all slabs. If the rows of each
order are normalized to unit length, a first run over the slabs computes their norms. Between two
passes, tasks whiten the rows of the sum.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext
from pyspark.sql import DataFrame, Row

from hopvec import _native
from hopvec.engine import principal
from hopvec.engine.combine import SlabSum, SumsOfSquares, unit_scales
from hopvec.engine.fitted import FittedState
from hopvec.engine.normalize import ColumnScaler, fit_column_scaler
from hopvec.engine.plan import CACHE_LINE_BYTES, SLAB_COLUMNS, SlabPlan
from hopvec.engine.refine import Compress, max_abs
from hopvec.engine.row_sum import WhitenedRows
from hopvec.engine.slab import Destination, Hops, Propagation, Slab
from hopvec.graph.relation_edges import Relation
from hopvec.methods import FastRP
from hopvec.spark.buckets import Part
from hopvec.spark.files import write_file
from hopvec.spark.fit import FittedRun, fit_last_pass, fit_whitening, pass_name
from hopvec.spark.graph import StoredGraph
from hopvec.spark.local import cached, local_features, local_graph, local_scales
from hopvec.spark.node_blocks import CHUNK_NODES, NodeBlocks
from hopvec.spark.slab_files import SlabFiles
from hopvec.spark.stored_sum import DistributedSum, StoredSum, WhitenedFiles
from hopvec.spark.tables import CHUNK_BATCH, Tables, whole_worker
from hopvec.spark.vectors import ZeroVectors, integers, vector_columns

FILES_SCHEMA = "slab bigint, file string"
SUMS_SCHEMA = "slab bigint, result binary"
SCALES_SCHEMA = "chunk bigint, scales binary"


def vectors_by_columns(
    graph: StoredGraph,
    method: FastRP,
    cores: int,
    zeros: ZeroVectors,
    like: FittedState | None = None,
) -> tuple[DataFrame, FittedRun]:
    """Compute the vectors, id and embedding; bit-identical to those of one machine.

    A worker computes one slab at a time, on all its cores. `like` is the fitted state of an
    earlier run, with which the vectors are comparable.
    """
    tables, node_blocks = graph.tables, NodeBlocks(graph.nodes)
    nodes = graph.write_nodes(node_blocks)
    relations = graph.relations if method.relations == "concat" else None
    kinds = relations.kinds if relations else ()
    matrices = range(1 + len(kinds))
    graph.write_cells(node_blocks, tuple(Part(matrix, "out") for matrix in matrices))
    features = graph.features
    names = (features.numbers, features.categories) if features else None
    run = SlabRun(
        tables.directory,
        graph.nodes,
        graph.rows,
        graph.directed,
        method,
        names,
        kinds,
        like=like,
    )
    earlier = []
    for _ in range(int(method.passes) - 1):
        total, _ = _sum_orders(run, tables, cores)
        distributed = DistributedSum(total, tables, run.named("whiten", " pass "))
        statistics = fit_whitening(distributed)
        earlier.append(statistics)
        assert statistics.components is not None
        start = WhitenedRows(
            WhitenedFiles(
                distributed.whiten(statistics, run.named("start")),
                graph.nodes,
                principal.PART_ROWS,
                SLAB_COLUMNS[method.precision],
            ),
            max_abs(statistics.components),
        )
        tables.drop(run.named("sums"))
        run = replace(run, number=run.number + 1, start=start)
    total, first = _sum_orders(run, tables, cores)
    finish = method._finish_like(like)
    distributed = DistributedSum(total, tables, "principal components")
    statistics = fit_last_pass(distributed, method, finish, first.degree_factors)
    parallel = tables.backend.parallelism
    spread = nodes.select("chunk", "ids").repartition(
        max(parallel, node_blocks.chunks(0) // CHUNK_BATCH), "chunk"
    )
    vectors = spread.mapInArrow(
        lambda batches: total.vectors(batches, finish, statistics, zeros), vector_columns(graph.ids)
    )
    state = like or replace(first.state, statistics=statistics, earlier_passes=tuple(earlier))
    properties = first.graph | (graph.relations.describe() if graph.relations else {})
    return vectors, FittedRun(state, properties)


def _sum_orders(run: SlabRun, tables: Tables, cores: int) -> tuple[StoredSum, FirstSlab]:
    """Run all slabs of a pass."""
    session, node_blocks = tables.session, NodeBlocks(run.nodes)
    slabs = session.range(0, run.slabs, 1, run.slabs)
    profile = whole_worker(tables.backend.master, cores)
    if run.method._finish.normalization.unit_orders:
        tables.make_directory(run.named("squares"))
        squares = slabs.mapInArrow(run.squares, FILES_SCHEMA, False, profile)
        stage = run.named("row norms", " of pass ")
        norms = sorted(tables.run(stage, squares.collect))
        parallel = tables.backend.parallelism
        chunks = session.range(0, node_blocks.chunks(0), 1, parallel)
        scales = chunks.mapInArrow(lambda batches: run.scales(batches, norms), SCALES_SCHEMA)
        tables.write(run.named("scales"), scales, stage=stage)
        tables.drop(run.named("squares"))
    tables.make_directory(run.named("sums"))
    sums = slabs.mapInArrow(run.sums, SUMS_SCHEMA, False, profile)
    found = sorted(tables.run(run.named("sum orders", " of pass "), sums.collect))
    tables.drop(*{run.named("scales"), *run.earlier("start")} & tables.written)
    results: list[SlabResult] = [pickle.loads(row["result"]) for row in found]
    first = results[0].first
    assert first is not None
    columns = ColumnScaler(
        np.concatenate([result.columns.mean for result in results])[: run.method._width],
        np.concatenate([result.columns.factor for result in results])[: run.method._width],
    )
    files = tuple(result.file for result in results)
    total = StoredSum(
        run.nodes,
        run.rows,
        run.method,
        files,
        columns,
        results[0].present,
        first.parts,
        first.degrees,
        first.edge_mask_file,
    )
    return total, first


@dataclass(frozen=True)
class FirstSlab:
    """What the task of the first slab finds out for the whole run."""

    state: FittedState
    """The fitted state before the run."""
    graph: dict[str, Any]
    """Properties of the graph."""
    parts: int
    """The number of parts of the columns."""
    degree_factors: NDArray[np.float64] | None
    degrees: str | None
    """A file of the degrees in all parts, if the vectors have columns of them."""
    edge_mask_file: str | None
    """A file of a mask of the nodes with an edge in some part, if they are not the first ones."""


@dataclass(frozen=True)
class SlabResult:
    """The sum of a slab."""

    file: str
    columns: ColumnScaler
    present: int
    """The number of rows that have a vector, if rows of orders are normalized."""
    first: FirstSlab | None


@dataclass(frozen=True)
class SlabRun:
    """The work of the tasks of a pass: their functions, and the data that they need."""

    directory: str
    nodes: int
    rows: int
    """The number of nodes with a row of S; they come first."""
    directed: bool
    method: FastRP
    features: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    """The names of the numeric and of the categorical columns."""
    relations: tuple[Relation, ...] = ()
    """The relations, if each has columns of its own."""
    number: int = 0
    """The number of the pass, from 0 on."""
    start: WhitenedRows | None = None
    """X, from which the pass starts; None if it starts from R."""
    like: FittedState | None = None

    @property
    def slabs(self) -> int:
        """The number of slabs."""
        return -(-self.method._width // SLAB_COLUMNS[self.method.precision])

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

    def squares(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the sums of squares of slabs: one file per slab, all orders of a chunk together."""
        for index, engine in self._slabs(batches):
            norms = SumsOfSquares(engine.plan, engine.orders)
            engine.propagate(index, norms)
            file = self._write("squares", index, self._by_chunks(list(norms.squares.values())))
            yield pa.RecordBatch.from_pylist([{"slab": index, "file": file}])

    def scales(
        self, batches: Iterable[pa.RecordBatch], squares: list[Row]
    ) -> Iterator[pa.RecordBatch]:
        """The factors that give rows unit length, from the sums of squares of all slabs."""
        weights = self.weights
        names = [row["file"] for row in squares]
        with SlabFiles(names, self._node_blocks, len(weights), np.float64) as files:
            for chunk in integers(batches):
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
                scales = cached(self.directory, "scales", self._scales, version=self.number)
            else:
                scales = engine.propagation.scales(self.weights)
            rows = np.zeros((self.nodes, engine.plan.columns), dtype=np.float32)
            engine.propagate(index, SlabSum(rows, engine.propagation.graph.rows, scales))
            present = self._present(scales, engine)
            result = SlabResult(
                self._write("sums", index, [rows]),
                fit_column_scaler(rows, present, engine.plan.threads),
                len(present),
                self._first_slab(engine) if index == 0 else None,
            )
            packed = pickle.dumps(result)
            yield pa.RecordBatch.from_pylist([{"slab": index, "result": packed}])

    def _present(
        self, scales: dict[int, NDArray[np.float32]], engine: WorkerEngine
    ) -> NDArray[np.int32]:
        """The rows that have a vector."""
        present = engine.propagation.has_row
        unit = self.method._finish.normalization.unit_orders
        if 0 in scales and unit:  # the only order in which a node without a row of A has a vector
            present = present | (scales[0] != 0)
        return np.flatnonzero(present).astype(np.int32)

    def _first_slab(self, engine: WorkerEngine) -> FirstSlab:
        propagation, factors, degrees, edge_mask_file = engine.propagation, None, None, None
        graph = propagation.graph
        finish = self.method._finish
        state = engine.propagation.fitted_state
        assert state is not None
        if isinstance(finish, Compress) and finish.degree_weight:
            factors = finish.degree_factors(engine.propagation, int(self.method.dim))
            by_node = np.stack([A.degrees for A in propagation.hops], axis=1)
            degrees = self._write("sums", -1, [by_node])
        if not propagation.has_row[: self.rows].all() or propagation.has_row[self.rows :].any():
            edge_mask_file = self._write("sums", -2, [propagation.has_row])
        properties = {
            "nodes": graph.nodes,
            "edges": graph.edges,
            "directed": graph.directed,
            "weighted": graph.weights is not None,
            "volume": graph.volume,
            "largest_degree": float(graph._node_degrees.max()),
            "isolated": graph.isolated,
        }
        return FirstSlab(state, properties, len(propagation.hops), factors, degrees, edge_mask_file)

    def _scales(self) -> dict[int, NDArray[np.float32]]:
        return local_scales(self.directory, self.named("scales"), self.nodes, list(self.weights))

    def _slabs(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, WorkerEngine]]:
        engine = cached(self.directory, "engine", self._engine, version=self.number)
        for index in integers(batches):
            yield index, engine

    def _engine(self) -> WorkerEngine:
        hops, plan = cached(self.directory, "hops", self._hops)
        state = self.like or self.method._state_of(hops)
        graph = hops[0].graph
        start = self.start or self.method._random_rows(state, graph.features, graph.rows)
        propagation = self.method._one_pass(hops, start, state)
        return WorkerEngine(plan, propagation, list(self.weights))

    def _hops(self) -> tuple[Hops, SlabPlan]:
        graph = local_graph(self.directory, self.nodes, self.directed, self.relations)
        if self.features:
            features = local_features(self.directory, self.nodes, *self.features)
            graph = replace(graph, features=features)
        threads = TaskContext.get().cpus()
        plain = self.method._with_dim(1)
        plan = plain.set_params(normalize="none", direction="out", threads=threads).plan(graph)
        parts = self.method._parts(graph)
        plan = replace(plan, width=self.method._width, slabs=self.slabs, parts=parts)
        return self.method._hops(graph, plan), plan

    @property
    def _node_blocks(self) -> NodeBlocks:
        return NodeBlocks(self.nodes)

    def _by_chunks(self, values: list[NDArray[np.float64]]) -> Iterator[NDArray[np.float64]]:
        """Stack arrays and split them into chunks."""
        for chunk in range(self._node_blocks.chunks(0)):
            yield np.stack(
                [array[CHUNK_NODES * chunk : CHUNK_NODES * (chunk + 1)] for array in values]
            )

    def _write(self, kind: str, slab: int, arrays: Iterable[NDArray[Any]]) -> str:
        """Write arrays to a file of this task attempt; returns its name."""
        attempt = TaskContext.get().taskAttemptId()
        file = f"{self.directory}/{self.named(kind)}/{slab}-{attempt}"
        write_file(file, arrays)
        return file


@dataclass(frozen=True)
class WorkerEngine:
    """The plan of the slabs on this worker, and how a pass propagates them."""

    plan: SlabPlan
    propagation: Propagation
    orders: list[int]

    def propagate(self, index: int, destination: Destination) -> None:
        """Propagate a slab through all hops."""
        size = CACHE_LINE_BYTES * self.plan.nodes
        blocks = _native.allocate(size), _native.allocate(size)
        graph = self.propagation.graph
        slab = Slab(index, self.plan, graph, destination, blocks, _native.Stop())
        self.propagation.propagate(slab, self.orders)
