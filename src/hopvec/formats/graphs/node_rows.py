"""Nodes in files of Neo4j: rows of nodes in a table of edges, and labels of nodes.

apoc.export.csv writes nodes and relationships to one table. A row of a node has an `_id` and
`_labels`, a row of a relationship a `_start`, an `_end` and a `_type`.
"""

from __future__ import annotations

import logging
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.formats.graphs.edges import Batch, EdgeStream
from hopvec.graph.ids import missing_mask

logger: logging.Logger = logging.getLogger("hopvec")

NODE_COLUMNS = ("_id", "_labels")
EDGE_COLUMNS = ("_start", "_end")
FIRST_LABEL = r"^:?([^:;]*)[:;]?(?s:.*)$"  # of Person;Actor and of :Person:Actor


@dataclass
class NodeRows:
    """Separates the rows of nodes from those of edges."""

    columns: dict[str, int]
    """The positions of the columns of ids and labels."""
    _ids: list[pa.Array] = field(default_factory=list)
    _labels: list[pa.Array] = field(default_factory=list)
    _count: int = 0
    """The number of rows so far."""
    _edges: int = 0
    """The number of edges so far."""
    _starts: array[int] = field(default_factory=lambda: array("q"))
    """The number of edges before each block of rows."""
    _rows: list[NDArray[np.int64] | int] = field(default_factory=list)
    """Of each block, the rows of its edges; only the first row if all of them are edges."""

    @staticmethod
    def find(names: Sequence[str] | None) -> NodeRows | None:
        """Recognize the names of the columns; None if there are no rows of nodes."""
        if names is None or not {*NODE_COLUMNS, *EDGE_COLUMNS} <= {*names}:
            return None
        return NodeRows({name: names.index(name) for name in NODE_COLUMNS})

    def split(
        self, columns: dict[str, pa.Array], bad: Mapping[int, str]
    ) -> tuple[dict[str, pa.Array], Mapping[int, str]]:
        """Take the ids and labels of nodes; return the rows of edges, and which of them are bad."""
        ids, labels = (columns.pop(name) for name in NODE_COLUMNS)
        is_edge = missing_mask(ids)
        for role in ("source", "target"):
            is_edge |= ~missing_mask(columns[role])
        edges = np.flatnonzero(is_edge)
        only_edges = len(edges) == len(is_edge)
        self._starts.append(self._edges)
        self._rows.append(self._count if only_edges else self._count + edges)
        self._count += len(is_edge)
        self._edges += len(edges)
        if only_edges:
            return columns, bad
        nodes = pa.array(~is_edge)
        self._ids.append(ids.filter(nodes))
        self._labels.append(labels.filter(nodes))
        position = np.cumsum(is_edge) - 1
        return (
            {role: column.filter(pa.array(is_edge)) for role, column in columns.items()},
            {int(position[row]): reason for row, reason in bad.items()},
        )

    def row(self, edge: int) -> int:
        """The row of an edge, both counted from 0."""
        block = bisect_right(self._starts, edge) - 1
        rows, within = self._rows[block], edge - self._starts[block]
        return rows + within if isinstance(rows, int) else int(rows[within])

    def add_nodes(self, stream: EdgeStream, name: str, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The batches; after the last one, the stream has the nodes and their types."""
        yield from batches
        if self._ids:
            stream.nodes = pa.concat_arrays(self._ids)
            stream.types = first_labels(name, pa.concat_arrays(self._labels))


def first_labels(name: str, labels: pa.Array) -> pa.Array:
    """The first label of each node, as its type; warns if some have several."""
    import pyarrow.compute as pc

    first = pc.replace_substring_regex(labels, FIRST_LABEL, r"\1")
    plain = pc.utf8_ltrim(labels, ":")
    several = pc.not_equal(first, plain)
    if (count := pc.sum(several).as_py() or 0) > 0:
        logger.warning(
            "%s: the type of a node with several labels is the first one: %s, such as %s.",
            name,
            "1 node" if count == 1 else f"{count:,} nodes",
            plain.filter(several)[0].as_py(),
        )
    return first
