"""The edges of a graph as Arrow record batches: source, target and, if there are any, weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hopvec.graph.bipartite import sources_first
from hopvec.graph.csr_builder import row_ranges
from hopvec.progress import Progress, no_progress

if TYPE_CHECKING:
    from hopvec.graph.graph import Graph

BATCH_ENTRIES = 1 << 18  # entries per batch


def edge_reader(graph: Graph, progress: Progress = no_progress) -> pa.RecordBatchReader:
    """Each edge of a graph once, in batches of nodes in the graph's internal order."""
    fields = [("source", graph.ids.type), ("target", graph.ids.type)]
    if graph.weights is not None:
        fields.append(("weight", pa.float32()))
    schema = pa.schema(fields)
    return pa.RecordBatchReader.from_batches(schema, _batches(graph, schema, progress))


def _batches(graph: Graph, schema: pa.Schema, progress: Progress) -> Iterator[pa.RecordBatch]:
    for first, end in row_ranges(graph.indptr, BATCH_ENTRIES):
        entries = slice(graph.indptr[first], graph.indptr[end])
        source = np.repeat(np.arange(first, end), np.diff(graph.indptr[first : end + 1]))
        target = graph.indices[entries]
        once = source <= target if graph.symmetric else np.ones(len(target), dtype=bool)
        ends = sources_first(graph, source[once], target[once])
        columns = [graph.ids.take(pa.array(graph.rows[nodes])) for nodes in ends]
        if graph.weights is not None:
            columns.append(pa.array(graph.weights[entries][once]))
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
        progress(end, graph.nodes)
