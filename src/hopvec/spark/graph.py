"""The graph as tables: from edges to nodes in the internal order of Graph, and cells of A."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from hopvec.embedding import Embedding
from hopvec.errors import GraphError
from hopvec.graph.ids import MAX_NODES, check_collisions
from hopvec.graph.relation_edges import Relation
from hopvec.graph.transpose import Direction
from hopvec.methods import FastRP
from hopvec.methods.direction import DIRECTIONS
from hopvec.spark.buckets import (
    HALF_EDGES,
    BucketStatistics,
    Matrices,
    Part,
    merged_buckets,
    send_encoded,
    send_pairs,
)
from hopvec.spark.cells import CellWriter
from hopvec.spark.edges import EdgeFrame
from hopvec.spark.encode import BATCH_EDGES, write_encoded_edges
from hopvec.spark.features import PACKED, FeatureTable, pack_features
from hopvec.spark.node_blocks import CHUNK_NODES, InternalOrder, NodeBlocks
from hopvec.spark.packed import concatenated, pack, pack_slices, unpack
from hopvec.spark.relations import MergedRelations, merge_relations
from hopvec.spark.tables import CHUNK_BATCH, NODE_BATCH, Tables

PACKED_BATCH = 4  # rows of packed edges in memory at a time


@dataclass(frozen=True)
class StoredGraph:
    """A graph in the table `buckets`, from which nodes and cells are written."""

    tables: Tables
    ids: str
    """The type of the ids: 'string' or 'bigint'."""
    directed: bool
    """Whether the merged graph has a row for each direction of an edge."""
    matrices: Matrices
    relations: MergedRelations | None
    order: InternalOrder
    nodes: int
    connected: int
    """The number of nodes with an edge in some part of the columns."""
    rows: int
    """The number of nodes with a row of S; they come first."""
    entries: int
    """The number of entries of S."""
    part_entries: int
    """The number of entries of A for all parts of the columns."""
    weighted: bool
    volume: float
    """The sum of all entries: 2m."""
    extremes: tuple[float, float]
    """The smallest and the largest weighted degree, where a degree of 0 counts as 1."""
    squares: NDArray[np.float64]
    """The sum of log(1 + degree)^2 for each part."""
    features: FeatureTable | None
    edges: int
    """The number of distinct edges; an undirected edge counts once."""

    @property
    def batch(self) -> int:
        """How many chunks of nodes, with their features, are in memory at a time."""
        columns = self.features.columns if self.features else 0
        return max(1, CHUNK_BATCH // (1 + columns // 8))

    def indexed_nodes(self) -> DataFrame:
        """The nodes: id, key, degrees in all parts, whether they have any, and their index."""
        rows = self.tables.read("buckets").where("keys is not null")
        rows = rows.select("bucket", "codes", "ids", "keys", "degrees")
        schema = f"id {self.ids}, key bigint, degrees binary, connected boolean, index bigint"
        return rows.mapInArrow(partial(_index_nodes, order=self.order), schema)

    def write_nodes(self, node_blocks: NodeBlocks) -> DataFrame:
        """Write the nodes, one row per chunk: block, chunk, ids, keys, degrees, PACKED features."""
        nodes, features, blocks = self.indexed_nodes(), self.features, node_blocks.blocks
        columns = (len(features.numbers), len(features.categories)) if features else None
        nodes = features.join(nodes) if features else nodes
        nodes = nodes.withColumn("block", F.expr(f"cast(index % {blocks} as int)"))
        nodes = nodes.withColumn("position", F.expr(f"cast(index div {blocks} as int)"))
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

    def write_cells(self, node_blocks: NodeBlocks, parts: tuple[Part, ...]) -> DataFrame:
        """Write the cells of some parts; neighbors are positions in their block."""
        writer = CellWriter(
            node_blocks,
            self.order,
            parts,
            self.matrices.directed,
            self.weighted,
            len(self.order.starts),
        )
        cells = writer.cells(self.tables.read("buckets"))
        return self.tables.write("cells", cells, stage="pack edges", batch=PACKED_BATCH)


def store(
    edges: EdgeFrame,
    tables: Tables,
    features: FeatureTable | None,
    method: FastRP,
    like: Embedding | None,
) -> StoredGraph:
    """Store the edges and checked features as a graph: merge the edges, and order the nodes."""
    encoded, count = write_encoded_edges(edges, tables, ids_only=edges.relations is not None)
    relations = merge_relations(edges, tables, method, like)
    matrices = _matrices(edges, relations, method)
    if relations is not None:
        count = relations.edge_count
    _write_buckets(edges.ids, encoded, relations, matrices, tables, count)
    rows = tables.read("buckets").where("keys is not null").select("statistics", "collision")
    found = tables.run("merge edges", rows.collect)
    for row in found:
        if row["collision"] is not None:
            check_collisions(pa.array(row["collision"]))
    statistics = [BucketStatistics.unpack(row["statistics"]) for row in found]
    order = InternalOrder.of(sorted(statistics, key=lambda one: one.bucket))
    nodes = int(order.counts.sum())
    if nodes > MAX_NODES:
        raise GraphError(f"A graph has at most {MAX_NODES:,} nodes, got {nodes:,}.")
    directed = matrices.directed[0]
    entries = sum(one.entries for one in statistics)
    loops = sum(one.loops for one in statistics)
    volumes = np.sum([one.volumes for one in statistics], axis=0)
    return StoredGraph(
        tables=tables,
        ids=edges.ids,
        directed=directed,
        matrices=matrices,
        relations=relations,
        order=order,
        nodes=nodes,
        connected=sum(one.nodes_with_edges for one in statistics),
        rows=int(order.counts[order.codes < 0].sum()),
        entries=entries,
        part_entries=sum(one.part_entries for one in statistics),
        weighted=any(one.weighted for one in statistics),
        volume=float(np.sum(volumes[:: len({part.direction for part in matrices.parts})])),
        extremes=(
            min(one.extremes[0] for one in statistics),
            max(one.extremes[1] for one in statistics),
        ),
        squares=np.sum([one.squares for one in statistics], axis=0),
        features=features,
        edges=entries if directed else (entries + loops) // 2,
    )


def _matrices(edges: EdgeFrame, relations: MergedRelations | None, method: FastRP) -> Matrices:
    """The matrices of the graph: the merged one, and those of relations that are concatenated."""
    if relations is None:
        directions = DIRECTIONS[method.direction] if edges.directed else DIRECTIONS["out"]
        return Matrices((edges.directed,), _parts(range(1), directions))
    directions = DIRECTIONS[method.direction] if relations.directed else DIRECTIONS["out"]
    if method.relations == "merge":
        return Matrices((relations.as_entries,), _parts(range(1), directions))
    kinds: tuple[Relation, ...] = relations.kinds
    directed = (relations.as_entries, *(kind.direction != "both" for kind in kinds))
    return Matrices(directed, _parts(range(1, 1 + len(kinds)), directions))


def _parts(matrices: Iterable[int], directions: Iterable[Direction]) -> tuple[Part, ...]:
    """The parts of matrices in some directions."""
    return tuple(Part(matrix, direction) for matrix in matrices for direction in directions)


def _write_buckets(
    ids: str,
    encoded: DataFrame,
    relations: MergedRelations | None,
    matrices: Matrices,
    tables: Tables,
    edges: int,
) -> None:
    """Write the table `buckets`."""
    buckets = max(tables.backend.parallelism, 2 * edges // BATCH_EDGES)
    send = partial(send_encoded, buckets=buckets, directed=matrices.directed[0])
    half_edges = encoded.select("u", "v", "weights", "ids").mapInArrow(send, HALF_EDGES)
    if relations is not None:
        more = partial(send_pairs, buckets=buckets, directed=matrices.directed)
        half_edges = half_edges.unionAll(relations.pairs.mapInArrow(more, HALF_EDGES))
    merged = merged_buckets(half_edges, ids, matrices)
    tables.write("buckets", merged, stage="merge edges", batch=PACKED_BATCH)
    tables.drop(*{"encoded edges", "timed", "relation pairs", "pairs"} & tables.written)


def _index_nodes(
    batches: Iterable[pa.RecordBatch], order: InternalOrder
) -> Iterator[pa.RecordBatch]:
    """The nodes of buckets; see StoredGraph.indexed_nodes."""
    for batch in batches:
        for row in range(len(batch)):
            values = {name: batch[name][row] for name in ("bucket", "codes", "keys", "degrees")}
            codes, keys = (unpack(values[name].as_buffer(), np.int64) for name in ("codes", "keys"))
            degrees = unpack(values["degrees"].as_buffer(), np.float64).reshape(-1, len(keys))
            by_node = np.ascontiguousarray(degrees.T)
            yield pa.RecordBatch.from_pydict(
                {
                    "id": batch["ids"].slice(row, 1).flatten(),
                    "key": keys,
                    "degrees": pack_slices(by_node, len(degrees) * np.arange(len(keys) + 1)),
                    "connected": pa.array(by_node.any(axis=1)),
                    "index": order.indices(values["bucket"].as_py(), codes).astype(np.int64),
                }
            )


def _pack_nodes(table: pa.Table, features: tuple[int, int] | None) -> pa.Table:
    """Pack the nodes of a chunk, in the order of their positions, into one row."""
    table = table.sort_by("position").combine_chunks()
    ids = table["id"].chunk(0)
    degrees = concatenated([value.as_buffer() for value in table["degrees"]], np.float64)
    by_part: NDArray[Any] = degrees.reshape(len(ids), -1).T
    return pa.table(
        {
            "block": table["block"][:1],
            "chunk": table["chunk"][:1],
            "ids": pa.ListArray.from_arrays(pa.array([0, len(ids)], pa.int32()), ids),
            "keys": pack(table["key"].to_numpy()),
            "degrees": pack(by_part),
            **(pack_features(table, *features) if features else {}),
        }
    )
