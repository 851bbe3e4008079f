"""The edges of a graph by node: buckets of nodes with all their edges, merged and counted.

A bucket has the nodes whose keys are in a range. An edge (u, v) is sent to the bucket of u and to
that of v, so that each of them counts the entries of its nodes alone. In a directed matrix, v
receives it as incoming.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from hopvec import _native
from hopvec.graph.transpose import Direction
from hopvec.spark.encode import Distinct, pack_ids, unpack_ids
from hopvec.spark.packed import concatenated, iter_rows, pack, pack_slices, unpack

HALF_EDGES = (
    "bucket int, matrix int, incoming boolean, owners binary, others binary, weights binary, "
    "ids binary"
)
"""Half edges on the way to the bucket of their owner: the key of the owner, and of the other end;
or ids, on the way to their own bucket."""
BUCKETS = (
    "bucket int, matrix int, incoming boolean, codes binary, owners binary, others binary, "
    "weights binary, ids array<{ids}>, keys binary, degrees binary, statistics binary, "
    "collision array<{ids}>"
)
"""Rows of a bucket: one with its nodes, by key, and some with half edges, whose owners are
positions among the nodes. `codes` sort the nodes in the internal order."""
NODE_ROWS = -1  # in place of a matrix or a part: rows of nodes
MAX_HALF_EDGES = 1 << 21  # in a row of BUCKETS
NO_ROW = 1 << 40  # added to the code of a node without a row of S


@dataclass(frozen=True)
class Part:
    """One part of the columns: the matrix and the direction that its hops follow."""

    matrix: int
    """0 is the merged graph; relations follow."""
    direction: Direction


@dataclass(frozen=True)
class Matrices:
    """The matrices of a graph."""

    directed: tuple[bool, ...]
    """Whether each has incoming half edges."""
    parts: tuple[Part, ...]
    """Those whose degrees are needed."""


@dataclass(frozen=True)
class BucketStatistics:
    """What the driver learns about a bucket."""

    bucket: int
    codes: NDArray[np.int64]
    """The distinct codes of the nodes, ascending."""
    counts: NDArray[np.int64]
    """How many nodes have each of them."""
    entries: int
    loops: int
    weighted: bool
    nodes_with_edges: int
    """The number of nodes with an edge in some part."""
    part_entries: int
    """The number of entries of the rows, in all parts."""
    extremes: tuple[float, float]
    volumes: NDArray[np.float64]
    """By part: the sum of the degrees."""
    squares: NDArray[np.float64]
    """By part: the sum of log(1 + degree)^2."""

    def pack(self) -> pa.Array:
        """The statistics as a binary value."""
        head = [self.bucket, self.entries, self.loops, self.weighted, self.nodes_with_edges]
        head += [self.part_entries, len(self.codes), len(self.volumes)]
        numbers = np.concatenate([np.array(head, np.int64), self.codes, self.counts])
        reals = np.concatenate([self.extremes, self.volumes, self.squares])
        return pa.array([numbers.tobytes() + reals.astype(np.float64).tobytes()], pa.binary())

    @classmethod
    def unpack(cls, packed: Any) -> BucketStatistics:
        """The inverse of `pack`."""
        head = unpack(packed[:64], np.int64).tolist()
        size, parts = head[6:]
        codes, counts = unpack(packed[64 : 64 + 16 * size], np.int64).reshape(2, size)
        reals = unpack(packed[64 + 16 * size :], np.float64)
        extremes = float(reals[0]), float(reals[1])
        return cls(
            head[0],
            codes,
            counts,
            head[1],
            head[2],
            bool(head[3]),
            head[4],
            head[5],
            extremes,
            *reals[2:].reshape(2, parts),
        )


def bucket_of(keys: NDArray[Any], buckets: int) -> NDArray[np.int32]:
    """The buckets of keys: equal ranges, in ascending order."""
    high = keys.view(np.uint64) >> np.uint64(32)
    return ((high * np.uint64(buckets)) >> np.uint64(32)).astype(np.int32)


def send_encoded(
    batches: Iterable[pa.RecordBatch], *, buckets: int, directed: bool
) -> Iterator[pa.RecordBatch]:
    """Split ENCODED_EDGES into HALF_EDGES."""
    for row in iter_rows(batches):
        ids = unpack_ids(row["ids"])
        yield _split_ids(ids, buckets)
        if row["u"] is not None:
            weights = None if row["weights"] is None else unpack(row["weights"], np.float32)
            ends = unpack(row["u"], np.int64), unpack(row["v"], np.int64)
            yield from _split_edges(0, *ends, weights, buckets, directed=directed)


def send_pairs(
    batches: Iterable[pa.RecordBatch], *, buckets: int, directed: tuple[bool, ...]
) -> Iterator[pa.RecordBatch]:
    """Split edges, in the columns matrix, u, v and weight, into HALF_EDGES."""
    for batch in batches:
        matrix = batch["matrix"].to_numpy()
        for number in np.unique(matrix).tolist():
            of_matrix = np.flatnonzero(matrix == number)
            u, v = (batch[end].to_numpy()[of_matrix] for end in ("u", "v"))
            weights = batch["weight"].to_numpy()[of_matrix]
            yield from _split_edges(number, u, v, weights, buckets, directed=directed[number])


def merged_buckets(half_edges: DataFrame, ids: str, matrices: Matrices) -> DataFrame:
    """BUCKETS from HALF_EDGES."""
    return half_edges.groupBy("bucket").applyInArrow(
        lambda table: _merge(table, matrices), BUCKETS.format(ids=ids)
    )


def _split_edges(
    matrix: int,
    u: NDArray[np.int64],
    v: NDArray[np.int64],
    weights: NDArray[np.float32] | None,
    buckets: int,
    *,
    directed: bool,
) -> Iterator[pa.RecordBatch]:
    """The half edges of some edges, by bucket; a loop of an undirected matrix has one."""
    if directed:
        yield _split_half_edges(matrix, u, v, weights, buckets, incoming=False)
        yield _split_half_edges(matrix, v, u, weights, buckets, incoming=True)
        return
    others = np.flatnonzero(u != v)
    owners, ends = np.concatenate([u, v[others]]), np.concatenate([v, u[others]])
    if weights is not None:
        weights = np.concatenate([weights, weights[others]])
    yield _split_half_edges(matrix, owners, ends, weights, buckets, incoming=False)


def _split_half_edges(
    matrix: int,
    owners: NDArray[np.int64],
    others: NDArray[np.int64],
    weights: NDArray[np.float32] | None,
    buckets: int,
    *,
    incoming: bool,
) -> pa.RecordBatch:
    bucket = bucket_of(owners, buckets)
    order, found, bounds = by_group(bucket, buckets)
    return pa.RecordBatch.from_pydict(
        {
            "bucket": found.astype(np.int32),
            "matrix": np.full(len(found), matrix, np.int32),
            "incoming": pa.array([incoming] * len(found), pa.bool_()),
            "owners": pack_slices(owners[order], bounds),
            "others": pack_slices(others[order], bounds),
            "weights": pack_slices(None if weights is None else weights[order], bounds),
            "ids": pa.nulls(len(found), pa.binary()),
        }
    )


def _split_ids(ids: pa.Array, buckets: int) -> pa.RecordBatch:
    distinct = Distinct()
    distinct.encode(ids)
    ids, keys = distinct.ids()
    order, found, bounds = by_group(bucket_of(keys, buckets), buckets)
    ordered = ids.take(pa.array(order))
    packed = [pack_ids(ordered.slice(first, last - first)) for first, last in pairwise(bounds)]
    none = pa.nulls(len(found), pa.binary())
    return pa.RecordBatch.from_pydict(
        {
            "bucket": found.astype(np.int32),
            "matrix": np.full(len(found), NODE_ROWS, np.int32),
            "incoming": pa.array([False] * len(found), pa.bool_()),
            **dict.fromkeys(("owners", "others", "weights"), none),
            "ids": pa.array(packed, pa.binary()),
        }
    )


def by_group(
    group: NDArray[Any], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
    """Order values by their group: the order, the groups that occur, and the bounds of each."""
    small = group.astype(np.uint16) if groups <= 1 << 16 else group  # which numpy sorts faster
    order = np.argsort(small, kind="stable")
    counts = np.bincount(group, minlength=1)
    found = np.flatnonzero(counts)
    return order, found, [0, *np.cumsum(counts[found]).tolist()]


def _merge(table: pa.Table, matrices: Matrices) -> pa.Table:
    """BUCKETS of one bucket."""
    bucket = table["bucket"][0].as_py()
    rows = list(iter_rows(table.to_batches()))
    distinct = Distinct()
    for row in rows:
        if row["matrix"] == NODE_ROWS:
            distinct.encode(unpack_ids(row["ids"]))
    ids, keys = distinct.ids()
    order = np.argsort(keys)
    ids, keys = ids.take(pa.array(order)), keys[order]
    collision = np.flatnonzero(keys[1:] == keys[:-1])
    if len(collision):
        pair = ids.slice(int(collision[0]), 2)
        return _table([_node_row(bucket, ids, keys, collision=pair)])
    half_edges = {
        (matrix, incoming): _merged_half_edges(rows, keys, matrix, incoming=incoming)
        for matrix, directed in enumerate(matrices.directed)
        for incoming in ((False, True) if directed else (False,))
    }
    return _table(list(_bucket_rows(bucket, ids, keys, half_edges, matrices.parts)))


@dataclass(frozen=True)
class HalfEdges:
    """Distinct half edges of a bucket: positions of their owners, ascending, and other keys."""

    owners: NDArray[np.int32]
    others: NDArray[np.int64]
    weights: NDArray[np.float32] | None
    """None if all are 1."""

    def degrees(self, nodes: int, chosen: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """The sum of the weights of each owner."""
        owners, weights = self.owners, self.weights
        if chosen is not None:
            owners = owners[chosen]
            weights = None if weights is None else weights[chosen]
        return np.bincount(owners, weights, nodes).astype(np.float64)


def _merged_half_edges(
    rows: list[dict[str, Any]], keys: NDArray[np.uint64], matrix: int, *, incoming: bool
) -> HalfEdges:
    """Add up duplicates, in ascending order in float64 as on one machine."""
    own = [row for row in rows if row["matrix"] == matrix and row["incoming"] == incoming]
    nodes, ends = _native.IntegerDictionary(1), _native.IntegerDictionary(1)
    nodes.encode(keys.view(np.int64))
    pairs = nodes.encode(concatenated([row["owners"] for row in own], np.int64)).astype(np.int64)
    pairs <<= 32
    pairs |= ends.encode(concatenated([row["others"] for row in own], np.int64))
    given = None
    if any(row["weights"] is not None for row in own):
        given = concatenated([row["weights"] for row in own], np.float32)
        order = np.lexsort((given, pairs))
        pairs, given = pairs[order], given[order]
    else:
        pairs.sort()
    first = np.ones(len(pairs), bool)
    np.not_equal(pairs[1:], pairs[:-1], out=first[1:])
    distinct = pairs[first]
    weights = given
    if len(distinct) < len(pairs):
        group = np.cumsum(first) - 1
        weights = np.bincount(group, given).astype(np.float32)  # adds one after the other
    if weights is not None and (weights == 1).all():
        weights = None
    others = ends.merge()[distinct & 0xFFFFFFFF] if len(distinct) else np.empty(0, np.int64)
    return HalfEdges((distinct >> 32).astype(np.int32), others, weights)


def _bucket_rows(
    bucket: int,
    ids: pa.Array,
    keys: NDArray[np.uint64],
    half_edges: dict[tuple[int, bool], HalfEdges],
    parts: Sequence[Part],
) -> Iterator[dict[str, pa.Array]]:
    """The rows of a bucket."""
    nodes = len(keys)
    out, into = half_edges[0, False], half_edges.get((0, True))
    rows = np.bincount(out.owners, minlength=nodes)
    columns = np.bincount(into.owners, minlength=nodes) if into else 0
    codes = np.where(rows == 0, NO_ROW, 0) - rows - columns
    degrees = [_degrees(half_edges, part, keys) for part in parts]
    distinct, counts = np.unique(codes, return_counts=True)
    positive = [np.where(d > 0, d, 1.0) for d in degrees]
    statistics = BucketStatistics(
        bucket,
        distinct,
        counts,
        entries=len(out.owners),
        loops=int(np.count_nonzero(keys.view(np.int64)[out.owners] == out.others)),
        weighted=out.weights is not None,
        nodes_with_edges=int(np.count_nonzero(np.any([d > 0 for d in degrees], axis=0))),
        part_entries=sum(_entries(half_edges, part) for part in parts),
        extremes=(min(d.min() for d in positive), max(d.max() for d in positive)),
        volumes=np.array([d.sum() for d in degrees]),
        squares=np.array([np.sum(np.log1p(d) ** 2) for d in degrees]),
    )
    yield _node_row(bucket, ids, keys, codes, np.stack(degrees), statistics)
    for (matrix, incoming), found in half_edges.items():
        for first in range(0, len(found.owners), MAX_HALF_EDGES):
            chunk = slice(first, first + MAX_HALF_EDGES)
            weights = None if found.weights is None else found.weights[chunk]
            yield {
                "bucket": pa.array([bucket], pa.int32()),
                "matrix": pa.array([matrix], pa.int32()),
                "incoming": pa.array([incoming]),
                "codes": pack(codes),
                "owners": pack(found.owners[chunk]),
                "others": pack(found.others[chunk]),
                "weights": pack(weights),
                "ids": pa.nulls(1, pa.list_(ids.type)),
                **{name: pa.nulls(1, pa.binary()) for name in ("keys", "degrees", "statistics")},
                "collision": pa.nulls(1, pa.list_(ids.type)),
            }


def _degrees(
    half_edges: dict[tuple[int, bool], HalfEdges], part: Part, keys: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """The degrees of the nodes of a bucket in a part."""
    out, into = half_edges[part.matrix, False], half_edges.get((part.matrix, True))
    if part.direction == "out" or into is None:
        return out.degrees(len(keys))
    if part.direction == "in":
        return into.degrees(len(keys))
    no_loops = keys.view(np.int64)[into.owners] != into.others
    return out.degrees(len(keys)) + into.degrees(len(keys), no_loops)


def _entries(half_edges: dict[tuple[int, bool], HalfEdges], part: Part) -> int:
    """The number of entries of the rows of a bucket in a part; a loop may count twice."""
    out, into = half_edges[part.matrix, False], half_edges.get((part.matrix, True))
    if part.direction == "out" or into is None:
        return len(out.owners)
    return len(into.owners) + (len(out.owners) if part.direction == "both" else 0)


def _node_row(
    bucket: int,
    ids: pa.Array,
    keys: NDArray[np.uint64],
    codes: NDArray[np.int64] | None = None,
    degrees: NDArray[np.float64] | None = None,
    statistics: BucketStatistics | None = None,
    collision: pa.Array | None = None,
) -> dict[str, pa.Array]:
    """The row with the nodes of a bucket."""
    return {
        "bucket": pa.array([bucket], pa.int32()),
        "matrix": pa.array([NODE_ROWS], pa.int32()),
        "incoming": pa.array([False]),
        "codes": pack(codes),
        **{name: pa.nulls(1, pa.binary()) for name in ("owners", "others", "weights")},
        "ids": _list(ids),
        "keys": pack(keys),
        "degrees": pack(degrees),
        "statistics": statistics.pack() if statistics else pa.nulls(1, pa.binary()),
        "collision": pa.nulls(1, pa.list_(ids.type)) if collision is None else _list(collision),
    }


def _list(values: pa.Array) -> pa.Array:
    """A single list of values."""
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


def _table(rows: list[dict[str, pa.Array]]) -> pa.Table:
    """Rows of BUCKETS, whose ids are strings as Spark has them."""
    batches = [pa.RecordBatch.from_pydict(row) for row in rows]
    table = pa.Table.from_batches(batches)
    if pa.types.is_large_string(table.schema.field("ids").type.value_type):
        strings = pa.list_(pa.string())
        for name in ("ids", "collision"):
            at = table.schema.get_field_index(name)
            table = table.set_column(at, name, table[name].cast(strings))
    return table
