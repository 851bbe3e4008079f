"""write_graph: writes edges as tables with the columns source, target and, if any, weight."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hopvec.formats.table_files import TableFile, write_tables
from hopvec.graph.bipartite import sources_first
from hopvec.graph.csr_builder import row_ranges
from hopvec.progress import Progress, no_progress

if TYPE_CHECKING:
    from hopvec.graph import Graph

BATCH_ENTRIES = 1 << 18  # entries per batch


def write_graph(
    graph: Graph, path: str | PathLike[str], *, progress: Progress | None = None
) -> None:
    """Write each edge of a graph once; nodes without edges are not written.

    The suffix determines the format: .csv, .tsv (optionally with .gz), .parquet or .arrow. An
    existing file is replaced atomically. `progress` is called with the nodes written and the number
    of nodes.
    """
    write_tables(edge_table(graph, Path(path), progress or no_progress))


def edge_table(graph: Graph, path: Path, progress: Progress) -> TableFile:
    """The edges of a graph as a table for a file."""
    fields = [("source", graph.ids.type), ("target", graph.ids.type)]
    if graph.weights is not None:
        fields.append(("weight", pa.float32()))
    schema = pa.schema(fields)
    return TableFile(path, schema, _batches(graph, schema, progress))


def _batches(graph: Graph, schema: pa.Schema, progress: Progress) -> Iterator[pa.RecordBatch]:
    """The edges, in batches of nodes in the graph's internal order."""
    for first, end in row_ranges(graph.indptr, BATCH_ENTRIES):
        entries = slice(graph.indptr[first], graph.indptr[end])
        source = np.repeat(np.arange(first, end), np.diff(graph.indptr[first : end + 1]))
        target = graph.indices[entries]
        once = np.ones(len(target), dtype=bool) if graph.directed else source <= target
        ends = sources_first(graph, source[once], target[once])
        columns = [graph.ids.take(pa.array(graph.rows[nodes])) for nodes in ends]
        if graph.weights is not None:
            columns.append(pa.array(graph.weights[entries][once]))
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
        progress(end, graph.nodes)
