"""write_graph: writes edges as tables with the columns source, target and, if any, weight."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats import suffix_of
from hopvec.formats.table_files import TableFile, write_tables
from hopvec.graph.edge_stream import edge_reader
from hopvec.progress import Progress, no_progress

if TYPE_CHECKING:
    from hopvec.graph import Graph

BINARY = (".parquet", ".arrow")
UNREADABLE = r"[\x00\r\n]"


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
    check_ids(path, graph.ids)
    reader = edge_reader(graph, progress)
    return TableFile(path, reader.schema, reader)


def check_ids(path: Path, ids: pa.Array | pa.ChunkedArray) -> None:
    """Raise FormatError for an id that cannot be read back from a text file of edges."""
    import pyarrow.compute as pc

    if pa.types.is_integer(ids.type) or suffix_of(path) in BINARY:
        return
    row = pc.index(pc.match_substring_regex(ids, UNREADABLE), True).as_py()
    if row >= 0:
        raise FormatError(
            f"{path}: text files cannot hold the id {ids[row].as_py()!r}, since ids of edges must "
            "not contain line breaks or null bytes. Save as .parquet, or rename the node."
        )
