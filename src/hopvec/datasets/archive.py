"""edges.npz and nodes.csv.gz: the files of datasets that were derived from published data.

edges.npz contains `n`, `src` and `dst`, each edge once with src <= dst; with labels also `label`,
-1 for none, and `label_names`. nodes.csv.gz has one row per node, in the order of their numbers,
with the columns `name`, `label` (empty for none), and possibly others.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError, GraphError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.numpy_archive import Arrays, listing, open_archive
from hopvec.formats.labels.read import read_labels
from hopvec.graph import Graph
from hopvec.graph.edge_list import from_numbered_edges
from hopvec.graph.ids import number_nodes
from hopvec.labels import Labels

EDGES, NODES = "edges.npz", "nodes.csv.gz"


class Archive(NamedTuple):
    """The contents of the two files."""

    graph: Graph
    labels: Labels | None
    nodes: pa.Table | None
    """The columns of nodes.csv.gz, in the order of graph.ids; None if there is no such file."""


def read_archive(directory: Path) -> Archive:
    """Read the graph, the labels of its nodes, and the table of nodes.

    Ids are the names of the nodes if every node has a unique name, else their numbers.
    """
    path = directory / EDGES
    with InputFile(path) as file, open_archive(file) as archive:
        arrays = Arrays(file.name, archive)
        missing = [name for name in ("n", "src", "dst") if name not in arrays.names]
        if missing:
            raise FormatError(f"{path}: there is no array {missing[0]!r}; {listing(arrays)}.")
        count, start, end = int(arrays.get("n")), arrays.get("src"), arrays.get("dst")
    nodes = _read_nodes(directory / NODES, count) if (directory / NODES).exists() else None
    try:
        numbered = number_nodes(start, end, count)
        if nodes is not None and _are_unique(nodes["name"]):
            names = nodes["name"].combine_chunks().cast(pa.large_string())
            numbered.ids = lambda: names
        graph = from_numbered_edges(
            numbered, None, directed=False, duplicates="sum", loops="keep", threads=None
        )
    except GraphError as error:
        raise FormatError(f"{path}: {error}") from error
    labels = read_labels(path) if "label" in arrays.names else None
    return Archive(graph, labels and _by_id(path, labels, graph), nodes)


def write_archive(
    directory: Path,
    names: Sequence[str],
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    labels: Sequence[str | None],
) -> None:
    """Write both files atomically, both or none."""
    import pyarrow.csv

    label_names = sorted({label for label in labels if label is not None})
    number_of = {name: number for number, name in enumerate(label_names)} | {None: -1}
    table = pa.table({"name": pa.array(names), "label": pa.array(labels, pa.string())})
    directory.mkdir(parents=True, exist_ok=True)
    with atomic_write(directory / EDGES, directory / NODES) as (edges, nodes):
        np.savez_compressed(
            edges,
            n=np.int64(len(names)),
            src=source,
            dst=target,
            label=np.array([number_of[label] for label in labels], np.int16),
            label_names=np.array(label_names, str),
        )
        with gzip.GzipFile("", "wb", fileobj=nodes, mtime=0) as text:
            pyarrow.csv.write_csv(table, text)


def _by_id(path: Path, labels: Labels, graph: Graph) -> Labels:
    """Replace the ids 0 to n-1 of labels by the ids of a graph."""
    if len(labels) != graph.nodes:
        raise FormatError(f"{path}: it has {graph.nodes:,} nodes, but {len(labels):,} labels.")
    return replace(labels, ids=graph.ids)


def _read_nodes(path: Path, count: int) -> pa.Table:
    import pyarrow.csv

    options = pyarrow.csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    try:
        with pyarrow.csv.open_csv(path) as reader:
            options.column_types = dict.fromkeys(reader.schema.names, pa.string())
        table = pyarrow.csv.read_csv(path, convert_options=options)
    except (OSError, pa.ArrowException) as error:
        raise FormatError(f"{path}: cannot be read ({error}).") from error
    if len(table) != count or "name" not in table.column_names:
        raise FormatError(
            f"{path}: it must have a column name and one row for each of {count:,} nodes, got "
            f"{len(table):,} rows with the columns {', '.join(table.column_names)}."
        )
    return table


def _are_unique(names: pa.ChunkedArray) -> bool:
    """Whether every node has a name, and all names are different."""
    return names.null_count == 0 and len(names.unique()) == len(names)
