"""The graph in tables: numbered and cut into cells in Spark SQL, as one machine would have it.

Node i in the graph's internal order lies in block i % blocks, at position i // blocks. A chunk is
CHUNK positions of a block; a cell holds the entries of S from a chunk of rows to a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from hopvec.errors import GraphError
from hopvec.graph.ids import MAX_NODES, refuse_collision
from hopvec.spark.edges import Edges, key
from hopvec.spark.features import PACKED, FeatureTable, pack_features
from hopvec.spark.tables import FEW_ROWS, MANY_ROWS, Tables

CHUNK = 4096  # nodes whose rows travel together
PIECE = 1 << 21  # entries that are sorted and packed together; a cell may come in several pieces
ROW_BITS = 33  # of monotonically_increasing_id count rows, the others partitions
CELLS = (
    "row_block int, column_block int, chunk int, first_place int, first_neighbor int, "
    "counts binary, neighbors binary, weights binary"
)


@dataclass(frozen=True)
class Layout:
    """How the nodes of a graph are spread over blocks and chunks."""

    nodes: int
    blocks: int = 1

    def places(self, block: int) -> int:
        """The number of nodes of a block."""
        return (self.nodes - block + self.blocks - 1) // self.blocks

    def chunks(self, block: int) -> int:
        """The number of chunks of a block."""
        return -(-self.places(block) // CHUNK)

    def rows(self, block: int, chunk: int) -> int:
        """The number of nodes of a chunk."""
        return min(CHUNK, self.places(block) - CHUNK * chunk)

    def numbers(self, block: int, chunk: int) -> NDArray[np.int64]:
        """The numbers of the nodes of a chunk."""
        places = CHUNK * chunk + np.arange(self.rows(block, chunk))
        return places * self.blocks + block

    def block(self, number: str) -> Column:
        """The block of a node, by its number."""
        return (F.col(number) % self.blocks).cast("int")

    def place(self, number: str) -> Column:
        """The place of a node in its block, by its number."""
        return F.expr(f"cast({number} div {self.blocks} as int)")

    def entry(self, row: str, column: str) -> Column:
        """An entry of S as one number, by which entries are in the order of their cells."""
        cell = self.block(row).cast("bigint") * self.blocks + self.block(column)
        return (cell * self.places(0) + self.place(row)) * self.places(0) + self.place(column)

    def cells_of(self, entries: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """The block of rows, the block of columns, place and neighbor of each of some entries."""
        rows, neighbor = np.divmod(entries, self.places(0))
        cell, place = np.divmod(rows, self.places(0))
        return *np.divmod(cell, self.blocks), place, neighbor


@dataclass(frozen=True)
class StoredGraph:
    """A graph that lies in tables: `numbered` and `pairs`, and the cells and nodes made of them."""

    tables: Tables
    ids: str
    """The type of the ids: 'string' or 'bigint'."""
    directed: bool
    weighted: bool
    nodes: int
    connected: int
    """The nodes with a row; they come first."""
    entries: int
    """The entries of S."""
    volume: float
    """The sum of all entries: 2m."""
    extremes: tuple[float, float]
    """The least and the largest weighted degree, where a degree of 0 is taken as 1."""
    offsets: tuple[int, ...]
    """The number of the first node of each partition of the table of ranked nodes."""
    features: FeatureTable | None

    @property
    def batch(self) -> int:
        """The chunks of nodes, with their features, that may be in memory at a time."""
        columns = self.features.columns if self.features else 0
        return max(1, FEW_ROWS // (1 + columns // 8))

    def numbered(self) -> DataFrame:
        """The nodes: id, key, weighted degree and number."""
        partition = F.shiftright("rank", ROW_BITS)
        number = F.lit(list(self.offsets))[partition] + F.col("rank").bitwiseAND(
            (1 << ROW_BITS) - 1
        )
        return self.tables.read("ranked").select("id", "key", "degree", number.alias("number"))

    def write_nodes(self, layout: Layout) -> DataFrame:
        """The table of nodes by chunks: block, chunk, ids, keys and degrees; features as PACKED."""
        nodes, known = self.numbered(), self.features
        columns = (len(known.numbers), len(known.categories)) if known else None
        nodes = known.beside(nodes) if known else nodes
        nodes = nodes.withColumn("block", layout.block("number"))
        nodes = nodes.withColumn("place", layout.place("number"))
        nodes = nodes.withColumn("chunk", F.expr(f"place div {CHUNK}").cast("int"))
        schema = f"block int, chunk int, ids array<{self.ids}>, keys binary, degrees binary"
        schema += PACKED if known else ""
        packed = nodes.groupBy("block", "chunk").applyInArrow(
            lambda table: _pack_nodes(table, columns), schema
        )
        nodes = self.tables.write("nodes", packed, doing="pack nodes", batch=MANY_ROWS)
        if known:
            known.tell(nodes, self.nodes, self.tables)
            self.tables.drop("features")
        return nodes

    def write_cells(self, layout: Layout) -> DataFrame:
        """The table of cells, cut into pieces; neighbors are places of their block, ascending."""
        pairs, numbers = self.tables.read("pairs"), self.numbered().drop("id", "degree")
        for end, name in (("u", "row"), ("v", "column")):
            named = numbers.withColumnsRenamed({"key": end, "number": name})
            pairs = pairs.join(named, end).drop(end)
        if not self.directed:
            there, back = (
                F.struct("row", "column"),
                F.struct(F.col("column").alias("row"), F.col("row").alias("column")),
            )
            both = F.when(F.expr("row = column"), F.array(there)).otherwise(F.array(there, back))
            pairs = pairs.select("weight", F.inline(both))
        entry = layout.entry("row", "column").alias("entry")
        entries = pairs.select(entry, *(["weight"] if self.weighted else []))
        # Ranges are found by a sample: what is sampled should not be joined twice.
        entries = self.tables.write("entries", entries, doing="join edges", batch=MANY_ROWS)
        ranges = max(self.entries // PIECE, self.tables.session.sparkContext.defaultParallelism)
        ranged = entries.repartitionByRange(ranges, "entry")
        packed = ranged.mapInArrow(lambda batches: pack_cells(batches, layout), CELLS)
        cells = self.tables.write("cells", packed, doing="pack edges", batch=MANY_ROWS)
        self.tables.drop("entries")
        return cells


def store(edges: Edges, tables: Tables, features: FeatureTable | None) -> StoredGraph:
    """The graph of edges and features that were checked: merged, and its nodes numbered."""
    pairs = _merge(edges, tables)
    _rank(edges, pairs, tables)
    ranked = tables.read("ranked")
    partition = F.shiftright("rank", ROW_BITS).alias("partition")
    degree = F.when(F.col("degree") > 0, F.col("degree")).otherwise(1.0)
    counts = [
        F.count(F.lit(1)).alias("nodes"),
        F.count(F.when(F.col("rows") > 0, 1)).alias("connected"),
        F.sum("rows").alias("entries"),
        F.sum("degree").alias("volume"),
        F.min(degree).alias("least"),
        F.max(degree).alias("largest"),
        F.max("weighted").alias("weighted"),
    ]
    ordered = ranked.groupBy(partition).agg(*counts).sort("partition")
    found = tables.run("count nodes", ordered.collect, batch=MANY_ROWS)
    _refuse_collisions(ranked, tables)
    nodes, offsets = 0, [0] * (1 + found[-1]["partition"])
    for row in found:
        offsets[row["partition"]] = nodes
        nodes += row["nodes"]
    if nodes > MAX_NODES:
        raise GraphError(f"A graph has at most {MAX_NODES:,} nodes, got {nodes:,}.")
    return StoredGraph(
        tables=tables,
        ids=edges.ids,
        directed=edges.directed,
        weighted=any(row["weighted"] for row in found),
        nodes=nodes,
        connected=sum(row["connected"] for row in found),
        entries=sum(row["entries"] for row in found),
        volume=sum(row["volume"] for row in found),
        extremes=(min(row["least"] for row in found), max(row["largest"] for row in found)),
        offsets=tuple(offsets),
        features=features,
    )


def _merge(edges: Edges, tables: Tables) -> DataFrame:
    """The table of pairs of keys (u, v), u <= v in an undirected graph, with their weight.

    The weights of edges that repeat one another are added in ascending order in float64, so that
    the sum does not depend on the order of edges.
    """
    u, v = key("source"), key("target")
    ends = (u, v) if edges.directed else (F.least(u, v), F.greatest(u, v))
    columns = [ends[0].alias("u"), ends[1].alias("v")]
    if edges.weighted:
        pairs = edges.frame.filter("weight != 0").select(*columns, F.col("weight").cast("float"))
        ascending = F.array_sort(F.collect_list(F.col("weight").cast("double")))
        weight = F.aggregate(ascending, F.lit(0.0), lambda total, weight: total + weight)
    else:
        pairs, weight = edges.frame.select(*columns), F.count(F.lit(1)).cast("double")
    merged = pairs.groupBy("u", "v").agg(weight.cast("float").alias("weight"))
    return tables.write("pairs", merged, doing="merge edges")


def _rank(edges: Edges, pairs: DataFrame, tables: Tables) -> None:
    """Writes the table of nodes in their order: most entries first, ties by key, no row last."""
    all_ids = edges.all_ids().withColumn("key", key("id"))
    ids = tables.write("ids", all_ids, doing="collect ids")
    if edges.directed:
        ends = pairs.select(*_end("u", "row")).unionAll(pairs.select(*_end("v", "column")))
    else:  # a loop is one entry
        others = pairs.filter("u != v").select(*_end("v", "row"))
        ends = pairs.select(*_end("u", "row")).unionAll(others)
    sums = [F.sum(name).alias(name) for name in ("rows", "columns", "degree")]
    counts = ends.groupBy("key").agg(*sums, F.max("weighted").alias("weighted"))
    nodes = ids.join(counts, "key", "left").fillna(0).fillna(False)
    as_unsigned = F.col("key").bitwiseXOR(F.lit(-(1 << 63)))
    ordered = nodes.orderBy(F.expr("rows = 0"), F.expr("rows + columns").desc(), as_unsigned)
    ranked = ordered.select(
        "id", "key", "rows", "degree", "weighted", F.monotonically_increasing_id().alias("rank")
    )
    tables.write("ranked", ranked, doing="number nodes", batch=MANY_ROWS)
    tables.drop("ids")


def _end(key: str, what: str) -> list[Column]:
    """What an entry adds to the node of its row, or of its column."""
    row, weight = int(what == "row"), F.col("weight").cast("double")
    return [
        F.col(key).alias("key"),
        F.lit(row).alias("rows"),
        F.lit(1 - row).alias("columns"),
        (weight * row).alias("degree"),
        (weight != 1).alias("weighted"),
    ]


def _refuse_collisions(ranked: DataFrame, tables: Tables) -> None:
    """Raises GraphError naming both ids where two have the same key."""
    twice = ranked.groupBy("key").count().filter("count > 1")
    found = tables.run("count nodes", twice.first, batch=MANY_ROWS)
    if found is not None:
        same = ranked.filter(F.col("key") == found["key"]).select("id").take(2)
        refuse_collision(pa.array([row["id"] for row in same]))


def _pack_nodes(table: pa.Table, features: tuple[int, int] | None) -> pa.Table:
    """One row for the nodes of a chunk, in the order of their places; features in columns."""
    table = table.sort_by("place").combine_chunks()
    ids = table["id"].chunk(0)
    return pa.table(
        {
            "block": table["block"][:1],
            "chunk": table["chunk"][:1],
            "ids": pa.ListArray.from_arrays(pa.array([0, len(ids)], pa.int32()), ids),
            "keys": pa.array([table["key"].to_numpy().tobytes()], pa.binary()),
            "degrees": pa.array([table["degree"].to_numpy().tobytes()], pa.binary()),
            **(pack_features(table, *features) if features else {}),
        }
    )


def pack_cells(batches: Iterable[pa.RecordBatch], layout: Layout) -> Iterator[pa.RecordBatch]:
    """The cells of a range of entries, which are sorted here; the first and last may go on."""
    some = [batch for batch in batches if len(batch)]
    if not some:
        return
    table, weights = pa.Table.from_batches(some), None
    entries = table["entry"].to_numpy()
    if "weight" in table.column_names:
        order = np.argsort(entries)
        entries, weights = entries[order], table["weight"].to_numpy()[order]
    else:
        entries = np.sort(entries)
    row_block, column_block, place, neighbor = layout.cells_of(entries)
    cells = np.stack([row_block, column_block, place // CHUNK])
    starts = np.flatnonzero(np.append(True, np.any(cells[:, 1:] != cells[:, :-1], axis=0)))
    ends = [*starts[1:].tolist(), len(entries)]
    counts = [
        np.bincount(place[first:last] - CHUNK * chunk, minlength=layout.rows(block, chunk))
        for first, last, (block, _, chunk) in zip(starts, ends, cells[:, starts].T, strict=True)
    ]
    integers = np.vstack([cells[:, starts], place[starts], neighbor[starts]]).astype(np.int32)
    names = ("row_block", "column_block", "chunk", "first_place", "first_neighbor")
    yield pa.RecordBatch.from_pydict(
        {
            **dict(zip(names, integers, strict=True)),
            "counts": pa.array([count.astype(np.int32).tobytes() for count in counts], pa.binary()),
            "neighbors": _cut(neighbor.astype(np.int32), starts, ends),
            "weights": pa.nulls(len(starts), pa.binary())
            if weights is None
            else _cut(weights, starts, ends),
        }
    )


def _cut(values: NDArray[np.generic], starts: NDArray[np.int64], ends: list[int]) -> pa.Array:
    """Stretches of an array, one behind the other, as their bytes."""
    offsets = np.array([*starts, ends[-1]], np.int64) * values.itemsize
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.binary(), len(starts), buffers)
