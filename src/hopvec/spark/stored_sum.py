"""The sum of a pass of "columns", in files of slabs: products of its rows, whitening, vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext
from pyspark.sql import DataFrame

from hopvec.engine import principal
from hopvec.engine.finish import Finish
from hopvec.engine.fitted import FittedStatistics
from hopvec.engine.normalize import ColumnScaler
from hopvec.engine.plan import SLAB_COLUMNS
from hopvec.engine.refine import Compress, project
from hopvec.engine.spectral import Floats
from hopvec.methods import FastRP
from hopvec.spark.files import open_file, write_file
from hopvec.spark.fit import AddRows, finished_rows
from hopvec.spark.node_blocks import CHUNK_NODES, NodeBlocks
from hopvec.spark.products import PRODUCTS_SCHEMA, pack_products, sum_parts
from hopvec.spark.slab_files import SlabFiles
from hopvec.spark.tables import Tables
from hopvec.spark.vectors import ZeroVectors, integers, rows_with_vector, vector_table

TASKS_PER_CORE = 4  # so that a slow task delays a stage by little


@dataclass(frozen=True)
class StoredSum:
    """The sum of a pass; its rows are in the internal order, in one file per slab."""

    nodes: int
    rows: int
    """The number of nodes with a row of S; they come first."""
    method: FastRP
    files: tuple[str, ...]
    columns: ColumnScaler
    """The mean and deviation of each column."""
    present: int
    """The number of rows that have a vector, if rows of orders are normalized."""
    parts: int = 1
    """The number of parts of the columns."""
    degrees: str | None = None
    """The file of the degrees in all parts, if the vectors have columns of them."""
    edge_mask_file: str | None = None
    """The file of a mask of the nodes with an edge in some part, if they are not the first ones."""

    @property
    def node_blocks(self) -> NodeBlocks:
        """A single block of nodes."""
        return NodeBlocks(self.nodes)

    def part_products(
        self, batches: Iterable[pa.RecordBatch], add: AddRows, part_rows: int
    ) -> Iterator[pa.RecordBatch]:
        """The sums of products over parts of the rows."""
        width = self.method._width
        with self._open() as files:
            for part in integers(batches):
                gram, total, count = np.zeros((width, width)), np.zeros(width), 0
                for chunk in self._chunks(part, part_rows):
                    rows, present = self._read(files, chunk)
                    add(rows, present, gram, total)
                    count += len(present)
                yield pack_products(part, gram, total, count)

    def whiten(
        self,
        batches: Iterable[pa.RecordBatch],
        statistics: FittedStatistics,
        directory: str,
        part_rows: int,
    ) -> Iterator[pa.RecordBatch]:
        """Write X, from which the next pass starts: a file for each part, slab after slab."""
        columns, whitening = statistics.columns, statistics.components
        assert columns is not None
        assert whitening is not None
        step = SLAB_COLUMNS[self.method.precision]
        with self._open() as files:
            for part in integers(batches):
                count = min(part_rows, self.nodes - part * part_rows)
                slabs = np.zeros((len(self.files), count, step), np.float32)
                for chunk in self._chunks(part, part_rows):
                    rows, _ = self._read(files, chunk)
                    project(rows, columns, whitening, rows, None, 1)
                    first = CHUNK_NODES * chunk - part * part_rows
                    for slab, block in enumerate(slabs):
                        some = rows[:, slab * step : (slab + 1) * step]
                        block[first : first + len(rows), : some.shape[1]] = some
                file = f"{directory}/{part}-{TaskContext.get().taskAttemptId()}"
                write_file(file, [slabs])
                yield pa.RecordBatch.from_pylist([{"part": part, "file": file}])

    def vectors(
        self,
        batches: Iterable[pa.RecordBatch],
        finish: Finish | Compress,
        statistics: FittedStatistics,
        zeros: ZeroVectors,
    ) -> Iterator[pa.RecordBatch]:
        """The vectors of chunks of nodes."""
        names = [] if self.degrees is None else [self.degrees]
        degrees = SlabFiles(names, self.node_blocks, self.parts, np.float64)
        with self._open() as files, degrees:
            for batch in batches:
                for row, chunk in enumerate(batch["chunk"].to_pylist()):
                    rows, present = self._read(files, chunk)
                    some = next(degrees.read(chunk), None)
                    by_part = None if some is None else some.reshape(-1, self.parts).T
                    vectors = finished_rows(rows, present, by_part, finish, statistics)
                    zeros.count(vectors, self._has_row(chunk), 0, chunk)
                    yield from vector_table(batch["ids"].slice(row, 1), vectors).to_batches()

    def _open(self) -> SlabFiles:
        step = SLAB_COLUMNS[self.method.precision]
        return SlabFiles(list(self.files), self.node_blocks, step, np.float32)

    def _read(self, files: SlabFiles, chunk: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """The rows of a chunk, and the indices of those that have a vector."""
        indices, step = self.node_blocks.node_indices(0, chunk), SLAB_COLUMNS[self.method.precision]
        rows = np.empty((len(indices), self.method._width), np.float32)
        for slab, values in enumerate(files.read(chunk)):
            part = rows[:, slab * step : (slab + 1) * step]
            part[:] = values.reshape(-1, step)[:, : part.shape[1]]
        return rows, rows_with_vector(rows, self._has_row(chunk))

    def _has_row(self, chunk: int) -> NDArray[np.bool_]:
        """A mask of the nodes of a chunk with an edge in some part."""
        if self.edge_mask_file is None:
            return self.node_blocks.node_indices(0, chunk) < self.rows
        with SlabFiles([self.edge_mask_file], self.node_blocks, 1, np.bool_) as mask:
            return next(mask.read(chunk))

    def _chunks(self, part: int, part_rows: int) -> range:
        """The chunks of a part."""
        last = min(self.nodes, (part + 1) * part_rows)
        return range(part * part_rows // CHUNK_NODES, -(-last // CHUNK_NODES))


@dataclass(frozen=True)
class DistributedSum:
    """A sum, and the session whose tasks read it."""

    total: StoredSum
    tables: Tables
    stage: str
    """What the products are for: the description of the stage."""

    @property
    def columns(self) -> ColumnScaler:
        """The mean and deviation of each column."""
        return self.total.columns

    @property
    def present(self) -> int:
        """The number of rows that have a vector, if rows of orders are normalized."""
        return self.total.present

    def products(self, add: AddRows) -> tuple[Floats, Floats, int]:
        """The Gram matrix of the rows as `add` reads them, their sum and how many have a vector.

        The parts are those of one machine, so that the bytes are the same.
        """
        total, part_rows = self.total, principal.PART_ROWS
        products = self._parts().mapInArrow(
            lambda batches: total.part_products(batches, add, part_rows), PRODUCTS_SCHEMA
        )
        return sum_parts(products, total.method._width, self.tables, self.stage)

    def whiten(self, statistics: FittedStatistics, name: str) -> tuple[str, ...]:
        """Write X to a directory; returns the files of its parts."""
        total, directory, part_rows = self.total, self.tables.path(name), principal.PART_ROWS
        self.tables.make_directory(name)
        files = self._parts().mapInArrow(
            lambda batches: total.whiten(batches, statistics, directory, part_rows),
            "part bigint, file string",
        )
        found = sorted(self.tables.run(self.stage, files.collect))
        return tuple(row["file"] for row in found)

    def _parts(self) -> DataFrame:
        """The numbers of the parts."""
        parts = -(-self.total.nodes // principal.PART_ROWS)
        tasks = min(parts, TASKS_PER_CORE * self.tables.backend.parallelism)
        return self.tables.session.range(0, parts, 1, tasks)


@dataclass(frozen=True)
class WhitenedFiles:
    """X in files of parts of the rows, each slab after slab."""

    files: tuple[str, ...]
    nodes: int
    part_rows: int
    slab_columns: int

    def slab_blocks(self, index: int, columns: slice) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the columns of one slab in blocks, each with the index of its first row."""
        for part, name in enumerate(self.files):
            first = part * self.part_rows
            count = min(self.part_rows, self.nodes - first)
            size = 4 * count * self.slab_columns
            with open_file(name) as file:
                data = file.read_at(size, index * size)
            rows = np.frombuffer(data, np.float32).reshape(count, self.slab_columns)
            yield first, rows[:, : columns.stop - columns.start]
