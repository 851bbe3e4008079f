"""write_graph: writes edges as tables with the columns source, target and, if any, weight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from gzip import GzipFile
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats import suffix_of
from hopvec.formats.atomic import atomic_write
from hopvec.formats.delimited import compressed, separator_of
from hopvec.formats.destination import check_writable
from hopvec.graph.bipartite import sources_first
from hopvec.graph.csr_builder import row_ranges
from hopvec.progress import Progress, no_progress

if TYPE_CHECKING:
    from hopvec.graph import Graph

SUFFIXES = (".parquet", ".arrow", ".csv", ".tsv", ".csv.gz", ".tsv.gz")
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


class TableFile(NamedTuple):
    """A table and the file to write it to."""

    path: Path
    schema: pa.Schema
    batches: Iterable[pa.RecordBatch]


def edge_table(graph: Graph, path: Path, progress: Progress) -> TableFile:
    """The edges of a graph as a table for a file."""
    fields = [("source", graph.ids.type), ("target", graph.ids.type)]
    if graph.weights is not None:
        fields.append(("weight", pa.float32()))
    schema = pa.schema(fields)
    return TableFile(path, schema, _batches(graph, schema, progress))


def write_tables(*tables: TableFile) -> None:
    """Write tables in the formats given by their suffixes, all or none; see `atomic_write`."""
    for table in tables:
        check_table(table.path)
    with atomic_write(*(table.path for table in tables)) as files:
        for file, table in zip(files, tables, strict=True):
            _write(file, table)


def _write(file: BinaryIO, table: TableFile) -> None:
    path, schema, batches = table
    if suffix_of(path) == ".parquet":
        import pyarrow.parquet as pq

        # Integer ids hardly repeat within a row group, so a dictionary would only cost time.
        strings = [field.name for field in schema if not pa.types.is_primitive(field.type)]
        with pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=strings) as writer:
            for batch in batches:
                writer.write_batch(batch)
    elif suffix_of(path) == ".arrow":
        with pa.ipc.new_file(file, schema) as ipc:
            for batch in batches:
                ipc.write_batch(batch)
    else:
        with compressed(file, path) as text:
            _write_lines(text, separator_of(path), schema, batches)


def check_table(path: Path) -> None:
    """Raise FormatError if edges cannot be written to a path."""
    if suffix_of(path) not in SUFFIXES:
        raise FormatError(
            f"{path}: the suffix {path.suffix!r} is not a format for edges; use one of "
            f"{', '.join(SUFFIXES)}."
        )
    check_writable(path)


def _write_lines(
    file: BinaryIO | GzipFile, separator: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> None:
    """Write a header, then one line per row; ids are quoted if necessary."""
    import pyarrow.csv

    file.write((separator.join(schema.names) + "\n").encode())
    options = pyarrow.csv.WriteOptions(
        include_header=False, delimiter=separator, quoting_style="needed"
    )
    with pyarrow.csv.CSVWriter(file, schema, write_options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)


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
