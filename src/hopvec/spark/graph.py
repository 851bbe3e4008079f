"""The graph as tables: nodes in the internal order of Graph, and the entries of S in cells.

Node i of the internal order is in block i % blocks, at position i // blocks. A chunk is CHUNK_NODES
consecutive positions of a block; a cell holds the entries of S in the rows of a chunk and the
columns of a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from hopvec.errors import GraphError
from hopvec.graph.ids import MAX_NODES, check_collisions
from hopvec.graph.relation_options import RelationOptions
from hopvec.spark.edges import EdgeFrame, key
from hopvec.spark.features import PACKED, FeatureTable, pack_features
from hopvec.spark.relations import ascending_sum, found_relations, merge_pairs, relation_pairs
from hopvec.spark.tables import CHUNK_BATCH, NODE_BATCH, Tables

CHUNK_NODES = 4096  # nodes whose rows are stored together
PIECE = 1 << 21  # entries that are sorted and packed together; a cell can have several pieces
ROW_BITS = 33  # low bits of monotonically_increasing_id: the row; the others: the partition
CELLS = (
    "row_block int, column_block int, chunk int, first_position int, first_neighbor int, "
    "counts binary, neighbors binary, weights binary"
)


@dataclass(frozen=True)
class NodeBlocks:
    """The assignment of nodes to blocks and chunks."""

    nodes: int
    blocks: int = 1

    def block_size(self, block: int) -> int:
        """The number of nodes in a block."""
        return (self.nodes - block + self.blocks - 1) // self.blocks

    def chunks(self, block: int) -> int:
        """The number of chunks in a block."""
        return -(-self.block_size(block) // CHUNK_NODES)

    def chunk_size(self, block: int, chunk: int) -> int:
        """The number of nodes in a chunk."""
        return min(CHUNK_NODES, self.block_size(block) - CHUNK_NODES * chunk)

    def node_indices(self, block: int, chunk: int) -> NDArray[np.int64]:
        """The indices of the nodes in a chunk, in the internal order."""
        positions = CHUNK_NODES * chunk + np.arange(self.chunk_size(block, chunk))
        return positions * self.blocks + block

    def block(self, index: str) -> Column:
        """The block of the node whose index is in a column."""
        return (F.col(index) % self.blocks).cast("int")

    def position(self, index: str) -> Column:
        """The position in its block of the node whose index is in a column."""
        return F.expr(f"cast({index} div {self.blocks} as int)")

    def entry(self, row: str, column: str) -> Column:
        """An entry of S as one integer; ascending integers follow the order of the cells."""
        size = self.block_size(0)
        cell = self.block(row).cast("bigint") * self.blocks + self.block(column)
        return (cell * size + self.position(row)) * size + self.position(column)

    def split_entries(self, entries: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """The row block, column block, position and neighbor of each entry."""
        rows, neighbor = np.divmod(entries, self.block_size(0))
        cell, position = np.divmod(rows, self.block_size(0))
        return *np.divmod(cell, self.blocks), position, neighbor


@dataclass(frozen=True)
class StoredGraph:
    """A graph in the tables `ranked` and `pairs`, from which nodes and cells are written."""

    tables: Tables
    ids: str
    """The type of the ids: 'string' or 'bigint'."""
    directed: bool
    weighted: bool
    nodes: int
    connected: int
    """The number of nodes with a row of S; they come first."""
    entries: int
    """The number of entries of S."""
    volume: float
    """The sum of all entries: 2m."""
    extremes: tuple[float, float]
    """The smallest and the largest weighted degree, where a degree of 0 counts as 1."""
    offsets: tuple[int, ...]
    """The index of the first node in each partition of the table `ranked`."""
    features: FeatureTable | None

    @property
    def batch(self) -> int:
        """How many chunks of nodes, with their features, are in memory at a time."""
        columns = self.features.columns if self.features else 0
        return max(1, CHUNK_BATCH // (1 + columns // 8))

    def indexed_nodes(self) -> DataFrame:
        """The nodes: id, key, weighted degree and index in the internal order."""
        partition = F.shiftright("rank", ROW_BITS)
        index = F.lit(list(self.offsets))[partition] + F.col("rank").bitwiseAND((1 << ROW_BITS) - 1)
        return self.tables.read("ranked").select("id", "key", "degree", index.alias("index"))

    def write_nodes(self, node_blocks: NodeBlocks) -> DataFrame:
        """Write the nodes, one row per chunk: block, chunk, ids, keys, degrees, PACKED features."""
        nodes, features = self.indexed_nodes(), self.features
        columns = (len(features.numbers), len(features.categories)) if features else None
        nodes = features.join(nodes) if features else nodes
        nodes = nodes.withColumn("block", node_blocks.block("index"))
        nodes = nodes.withColumn("position", node_blocks.position("index"))
        nodes = nodes.withColumn("chunk", F.expr(f"position div {CHUNK_NODES}").cast("int"))
        schema = f"block int, chunk int, ids array<{self.ids}>, keys binary, degrees binary"
        schema += PACKED if features else ""
        packed = nodes.groupBy("block", "chunk").applyInArrow(
            lambda table: _pack_nodes(table, columns), schema
        )
        nodes = self.tables.write("nodes", packed, stage="pack nodes", batch=NODE_BATCH)
        if features:
            features.check_matches(nodes, self.nodes, self.tables)
            self.tables.drop("features")
        return nodes

    def write_cells(self, node_blocks: NodeBlocks) -> DataFrame:
        """Write the cells, in pieces; neighbors are positions in their block, ascending."""
        pairs, indices = self.tables.read("pairs"), self.indexed_nodes().drop("id", "degree")
        for end, name in (("u", "row"), ("v", "column")):
            named = indices.withColumnsRenamed({"key": end, "index": name})
            pairs = pairs.join(named, end).drop(end)
        if not self.directed:
            forward, backward = (
                F.struct("row", "column"),
                F.struct(F.col("column").alias("row"), F.col("row").alias("column")),
            )
            both = F.array(forward, backward)
            both = F.when(F.expr("row = column"), F.array(forward)).otherwise(both)
            pairs = pairs.select("weight", F.inline(both))
        entry = node_blocks.entry("row", "column").alias("entry")
        entries = pairs.select(entry, *(["weight"] if self.weighted else []))
        # Spark samples the entries to find the ranges: write them, so that they are joined once.
        entries = self.tables.write("entries", entries, stage="join edges", batch=NODE_BATCH)
        ranges = max(self.entries // PIECE, self.tables.session.sparkContext.defaultParallelism)
        ranged = entries.repartitionByRange(ranges, "entry")
        packed = ranged.mapInArrow(lambda batches: pack_cells(batches, node_blocks), CELLS)
        cells = self.tables.write("cells", packed, stage="pack edges", batch=NODE_BATCH)
        self.tables.drop("entries")
        return cells


def store(edges: EdgeFrame, tables: Tables, features: FeatureTable | None) -> StoredGraph:
    """Store checked edges and features as a graph: merge the edges, and order the nodes."""
    pairs, directed = _merge(edges, tables)
    edges = replace(edges, directed=directed)
    _rank(edges, pairs, tables)
    ranked = tables.read("ranked")
    partition = F.shiftright("rank", ROW_BITS).alias("partition")
    degree = F.when(F.col("degree") > 0, F.col("degree")).otherwise(1.0)
    counts = [
        F.count(F.lit(1)).alias("nodes"),
        F.count(F.when(F.col("rows") > 0, 1)).alias("connected"),
        F.sum("rows").alias("entries"),
        F.sum("degree").alias("volume"),
        F.min(degree).alias("smallest"),
        F.max(degree).alias("largest"),
        F.max("weighted").alias("weighted"),
    ]
    ordered = ranked.groupBy(partition).agg(*counts).sort("partition")
    found = tables.run("count nodes", ordered.collect, batch=NODE_BATCH)
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
        extremes=(min(row["smallest"] for row in found), max(row["largest"] for row in found)),
        offsets=tuple(offsets),
        features=features,
    )


def _merge(edges: EdgeFrame, tables: Tables) -> tuple[DataFrame, bool]:
    """Write the pairs of keys (u, v), u <= v in an undirected graph, with their weight.

    Also return whether the graph is stored as a directed one. The weights of duplicate edges are
    added in ascending order in float64, so that the sum does not depend on the order of the edges.
    """
    if edges.relations is not None:
        merged, directed = _merge_relations(edges, edges.relations, tables)
        return tables.write("pairs", merged, stage="merge edges"), directed
    u, v = key("source"), key("target")
    ends = (u, v) if edges.directed else (F.least(u, v), F.greatest(u, v))
    columns = [ends[0].alias("u"), ends[1].alias("v")]
    pairs, weight = edges.frame.select(*columns), F.count(F.lit(1)).cast("double")
    if edges.weighted:
        pairs = edges.frame.filter("weight != 0").select(*columns, F.col("weight").cast("float"))
        weight = ascending_sum("weight")
    merged = pairs.groupBy("u", "v").agg(weight.cast("float").alias("weight"))
    return tables.write("pairs", merged, stage="merge edges"), edges.directed


def _merge_relations(
    edges: EdgeFrame, options: RelationOptions, tables: Tables
) -> tuple[DataFrame, bool]:
    """The pairs of a graph with relations; see hopvec.spark.relations."""
    kinds = found_relations(edges.frame, options, edges.directed, tables)
    frame = edges.frame if edges.weighted else edges.frame.withColumn("weight", F.lit(1.0))
    frame = frame.filter("weight != 0").withColumn("weight", F.col("weight").cast("float"))
    pairs = relation_pairs(frame, kinds, key("source"), key("target"))
    pairs = tables.write("relation pairs", pairs, stage="merge edges")
    return merge_pairs(pairs, kinds, options, tables)


def _rank(edges: EdgeFrame, pairs: DataFrame, tables: Tables) -> None:
    """Write the nodes in the internal order: most entries first, ties by key, no row last."""
    all_ids = edges.all_ids().withColumn("key", key("id"))
    ids = tables.write("ids", all_ids, stage="collect ids")
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
    tables.write("ranked", ranked, stage="number nodes", batch=NODE_BATCH)
    tables.drop("ids")


def _end(key: str, what: str) -> list[Column]:
    """The contribution of an entry to the node of its row, or of its column."""
    row, weight = int(what == "row"), F.col("weight").cast("double")
    return [
        F.col(key).alias("key"),
        F.lit(row).alias("rows"),
        F.lit(1 - row).alias("columns"),
        (weight * row).alias("degree"),
        (weight != 1).alias("weighted"),
    ]


def _refuse_collisions(ranked: DataFrame, tables: Tables) -> None:
    """Raise GraphError with both ids if two of them have the same key."""
    repeated = ranked.groupBy("key").count().filter("count > 1")
    found = tables.run("count nodes", repeated.first, batch=NODE_BATCH)
    if found is not None:
        same = ranked.filter(F.col("key") == found["key"]).select("id").take(2)
        check_collisions(pa.array([row["id"] for row in same]))


def _pack_nodes(table: pa.Table, features: tuple[int, int] | None) -> pa.Table:
    """Pack the nodes of a chunk, in the order of their positions, into one row."""
    table = table.sort_by("position").combine_chunks()
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


def pack_cells(
    batches: Iterable[pa.RecordBatch], node_blocks: NodeBlocks
) -> Iterator[pa.RecordBatch]:
    """Sort a range of entries and pack them into cells; the first and last can be incomplete."""
    filled = [batch for batch in batches if len(batch)]
    if not filled:
        return
    table, weights = pa.Table.from_batches(filled), None
    entries = table["entry"].to_numpy()
    if "weight" in table.column_names:
        order = np.argsort(entries)
        entries, weights = entries[order], table["weight"].to_numpy()[order]
    else:
        entries = np.sort(entries)
    row_block, column_block, position, neighbor = node_blocks.split_entries(entries)
    cells = np.stack([row_block, column_block, position // CHUNK_NODES])
    starts = np.flatnonzero(np.append(True, np.any(cells[:, 1:] != cells[:, :-1], axis=0)))
    ends = [*starts[1:].tolist(), len(entries)]
    counts = [
        np.bincount(
            position[first:last] - CHUNK_NODES * chunk,
            minlength=node_blocks.chunk_size(block, chunk),
        )
        for first, last, (block, _, chunk) in zip(starts, ends, cells[:, starts].T, strict=True)
    ]
    integers = np.vstack([cells[:, starts], position[starts], neighbor[starts]]).astype(np.int32)
    names = ("row_block", "column_block", "chunk", "first_position", "first_neighbor")
    yield pa.RecordBatch.from_pydict(
        {
            **dict(zip(names, integers, strict=True)),
            "counts": pa.array([count.astype(np.int32).tobytes() for count in counts], pa.binary()),
            "neighbors": _split(neighbor.astype(np.int32), starts, ends),
            "weights": pa.nulls(len(starts), pa.binary())
            if weights is None
            else _split(weights, starts, ends),
        }
    )


def _split(values: NDArray[np.generic], starts: NDArray[np.int64], ends: list[int]) -> pa.Array:
    """The bytes of consecutive slices of an array."""
    offsets = np.array([*starts, ends[-1]], np.int64) * values.itemsize
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.binary(), len(starts), buffers)
