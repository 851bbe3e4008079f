"""Edges as pairs of 64-bit keys, and the distinct ids, packed in batches; checked on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from hopvec import _native
from hopvec.errors import GraphError
from hopvec.graph.ids import arrow_view, numpy_view, string_buffers
from hopvec.graph.validation import valid_weights
from hopvec.spark.edges import EdgeFrame, refuse
from hopvec.spark.packed import pack
from hopvec.spark.tables import NODE_BATCH, Tables

BATCH_EDGES = 1 << 20  # edges that are encoded together
ENCODED_EDGES = (
    "table string, rows bigint, fault string, source {ids}, target {ids}, weight double, "
    "u binary, v binary, weights binary, ids binary"
)
EDGES, NODES = "edges", "nodes"


def write_encoded_edges(
    edges: EdgeFrame, tables: Tables, *, ids_only: bool
) -> tuple[DataFrame, int]:
    """Write the edges and nodes as ENCODED_EDGES; return them and the number of edges.

    Edges of weight 0 are left out, but not their ids. Raises GraphError for invalid rows.
    """
    columns = ["source", "target", *(["weight"] if edges.weighted else [])]
    schema = ENCODED_EDGES.format(ids=edges.ids)
    encode = partial(_encode_edges, ids_only=ids_only, checked=edges.checked)
    encoded = edges.frame.select(*columns).mapInArrow(encode, schema)
    if edges.nodes is not None:
        encoded = encoded.unionAll(edges.nodes.mapInArrow(_encode_nodes, schema))
    stage = "check the edges"
    encoded = tables.write("encoded edges", encoded, stage=stage, batch=NODE_BATCH)
    checked = encoded.select("table", "rows", "fault", "source", "target", "weight")
    found = tables.run(stage, checked.collect)
    for fault in ("source", "target", "weight"):
        for row in found:
            if row["fault"] == fault:
                refuse(fault, row["source"], row["target"], row["weight"])
    if any(row["fault"] for row in found):
        raise GraphError("nodes: an id is null.")
    count = {kind: sum(row["rows"] for row in found if row["table"] == kind) for kind in KINDS}
    if edges.nodes is not None and not count[NODES]:
        raise GraphError("The graph is empty: the list of nodes is empty.")
    if edges.nodes is None and not count[EDGES]:
        raise GraphError("The graph is empty: there are no edges, and no nodes were given.")
    return encoded, count[EDGES]


KINDS = (EDGES, NODES)


@dataclass
class Distinct:
    """Distinct ids, each with a code in the order of arrival."""

    dictionary: _native.StringDictionary | _native.IntegerDictionary | None = None

    def encode(self, ids: pa.Array) -> NDArray[np.int32]:
        """The codes of ids, which are int64 or strings without nulls."""
        integers = pa.types.is_integer(ids.type)
        if self.dictionary is None:
            kind = _native.IntegerDictionary if integers else _native.StringDictionary
            self.dictionary = kind(1)
        if isinstance(self.dictionary, _native.IntegerDictionary):
            return self.dictionary.encode(numpy_view(ids))
        return self.dictionary.encode(*string_buffers(ids))

    def ids(self) -> tuple[pa.Array, NDArray[np.uint64]]:
        """All ids by code, and their keys; nothing can be encoded afterwards."""
        if isinstance(self.dictionary, _native.IntegerDictionary):
            values = self.dictionary.merge()
            return arrow_view(values), _native.integer_keys(values)
        assert self.dictionary is not None
        offsets, text = self.dictionary.merge()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
        ids = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
        return ids, _native.string_keys(offsets, text)


def pack_ids(ids: pa.Array) -> bytes:
    """Ids as one binary value."""
    sink = pa.BufferOutputStream()
    batch = pa.RecordBatch.from_arrays([ids], ["id"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack_ids(packed: Any) -> pa.Array:
    """The ids of a binary value."""
    with pa.ipc.open_stream(pa.py_buffer(packed)) as reader:
        return reader.read_next_batch()["id"]


def _encode_edges(
    batches: Iterable[pa.RecordBatch], *, ids_only: bool, checked: bool
) -> Iterator[pa.RecordBatch]:
    """Encode edges as ENCODED_EDGES."""
    for batch in _joined(batches):
        fault = None if checked else _fault(batch)
        if fault is not None:
            yield _row(EDGES, batch["source"].type, **fault)
            continue
        distinct = Distinct()
        u, v = (
            np.concatenate([distinct.encode(some) for some in batch[end].chunks])
            for end in ("source", "target")
        )
        ids, keys = distinct.ids()
        packed: dict[str, NDArray[Any]] = {}
        if not ids_only:
            packed = {"u": keys[u], "v": keys[v]}
            if "weight" in batch.column_names:
                weight = batch["weight"].to_numpy()
                kept = weight != 0
                packed = {name: values[kept] for name, values in packed.items()}
                packed["weights"] = weight[kept].astype(np.float32)
        yield _row(EDGES, batch["source"].type, rows=len(batch), ids=ids, packed=packed)


def _encode_nodes(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Encode ids of nodes as ENCODED_EDGES."""
    for batch in _joined(batches):
        column = batch["id"]
        if column.null_count:
            yield _row(NODES, column.type, fault="id")
            continue
        distinct = Distinct()
        for some in column.chunks:
            distinct.encode(some)
        yield _row(NODES, column.type, rows=len(batch), ids=distinct.ids()[0])


def _joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join batches up to BATCH_EDGES rows."""
    some: list[pa.RecordBatch] = []
    for batch in batches:
        if len(batch):
            some.append(batch)
        if sum(map(len, some)) >= BATCH_EDGES:
            yield pa.Table.from_batches(some)
            some = []
    if some:
        yield pa.Table.from_batches(some)


def _fault(batch: pa.Table) -> dict[str, Any] | None:
    """The first invalid edge of a batch, and what is invalid."""
    for name in batch.column_names:
        column = batch[name]
        if name == "weight":
            values = column.to_numpy()
            invalid = ~(valid_weights(values) | (values == 0))
        else:
            invalid = column.is_null().to_numpy() if column.null_count else np.zeros(1, bool)
        if invalid.any():
            row = batch.slice(int(np.argmax(invalid)), 1).to_pylist()[0]
            return {"fault": name, **row}
    return None


def _row(
    table: str,
    id_type: pa.DataType,
    *,
    rows: int = 0,
    fault: str | None = None,
    source: Any = None,
    target: Any = None,
    weight: float | None = None,
    ids: pa.Array | None = None,
    packed: dict[str, NDArray[Any]] | None = None,
) -> pa.RecordBatch:
    """A row of ENCODED_EDGES."""
    packed = packed or {}
    columns = {
        "table": pa.array([table]),
        "rows": pa.array([rows], pa.int64()),
        "fault": pa.array([fault], pa.string()),
        "source": pa.array([source], id_type),
        "target": pa.array([target], id_type),
        "weight": pa.array([weight], pa.float64()),
        **{name: pack(packed.get(name)) for name in ("u", "v", "weights")},
        "ids": pa.array([None if ids is None else pack_ids(ids)], pa.binary()),
    }
    return pa.RecordBatch.from_pydict(columns)
