"""Adjacency lists: each line holds a node and its neighbors."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Batch, EdgeStream
from hopvec.formats.graphs.input_file import HEAD, InputFile
from hopvec.formats.graphs.options import ReadOptions

SUFFIXES = (".adjlist", ".adj")
OPTIONS = frozenset({"separator"})

BATCH_EDGES = 1 << 17  # edges per batch, plus the rest of the last line


class Line(NamedTuple):
    """A line: a node and its neighbors."""

    number: int
    node: str
    neighbors: list[str]


def recognize(file: InputFile) -> str | None:
    """Lines of clearly varying length, each for a different node, some with nodes as neighbors."""
    if not file.head or b"\0" in file.head:
        return None
    lines = file.head.split(b"\n")
    if len(file.head) >= HEAD:
        lines.pop()  # incomplete
    lines = [line for line in lines if line.strip() and not line.startswith(b"#")]
    if any(_splits_evenly(lines, separator) for separator in b"\t,;|"):
        return None  # a table whose cells contain spaces
    fields = [line.split() for line in lines]
    counts = {len(found) for found in fields}
    nodes = {found[0] for found in fields}
    if len(counts) < 3 or max(counts) < 4 or len(nodes) < len(fields):
        return None
    if not any(name in nodes for found in fields for name in found[1:]):
        return None
    return f"its lines have {min(counts)} to {max(counts)} fields, each for a different node"


def _splits_evenly(lines: list[bytes], separator: int) -> bool:
    counts = {line.count(separator) for line in lines}
    return len(counts) == 1 and counts != {0}


def read_edges(file: InputFile, options: ReadOptions) -> EdgeStream:
    """Stream the edges node by node. An edge listed at both of its ends counts once."""
    starts = array("q")  # the number of edges before each line that has any
    numbers = array("q")  # the line numbers of those lines

    def locate(edge: int) -> str:
        return f"line {numbers[bisect_right(starts, edge) - 1]:,}"

    metadata = {"separator": options.separator or "whitespace"}
    stream = EdgeStream(iter(()), metadata, duplicates="first", untyped=True, locate=locate)
    stream.batches = _batches(stream, _lines(file, options.separator), starts, numbers)
    return stream


def _lines(file: InputFile, separator: str | None) -> Iterator[Line]:
    """The lines that are not comments; if the first has a colon, 'a: b c' is read as 'a b c'."""
    colon: bool | None = None
    for number, text in file.lines():
        if not text.strip() or text.startswith("#"):
            continue
        if separator is None:
            fields = text.split()
        else:
            fields = [name.strip() for name in text.rstrip("\r\n").split(separator)]
        if separator is None and colon is None:
            colon = fields[0].endswith(":") and len(fields[0]) > 1
        if colon:
            if not fields[0].endswith(":"):
                raise FormatError(
                    f"{file.name}, line {number:,}: there is no colon after the node "
                    f"{fields[0][:60]!r}, unlike on the first line."
                )
            fields[0] = fields[0][:-1]
        yield Line(number, fields[0], fields[1:])


def _batches(
    stream: EdgeStream, lines: Iterator[Line], starts: array[int], numbers: array[int]
) -> Iterator[Batch]:
    nodes: list[str] = []
    source: list[str] = []
    target: list[str] = []
    seen: list[pa.Array] = []  # of each batch, the nodes with a line, then the neighbors
    edges = 0
    for line in lines:
        nodes.append(line.node)
        if line.neighbors:
            starts.append(edges)
            numbers.append(line.number)
            edges += len(line.neighbors)
            source += [line.node] * len(line.neighbors)
            target += line.neighbors
        if max(len(source), len(nodes)) >= BATCH_EDGES:
            seen += _distinct(nodes, target)
            if source:
                yield _batch(source, target)
            nodes, source, target = [], [], []
    seen += _distinct(nodes, target)
    if source:
        yield _batch(source, target)
    stream.nodes = _all_nodes(seen)


def _batch(source: list[str], target: list[str]) -> Batch:
    return Batch(pa.array(source, pa.large_string()), pa.array(target, pa.large_string()), None)


def _distinct(*columns: list[str]) -> list[pa.Array]:
    return [pa.array(ids, pa.large_string()).unique() for ids in columns]


def _all_nodes(seen: list[pa.Array]) -> pa.Array:
    """All ids: first those with a line, in the order of the lines, then the others."""
    return pa.chunked_array([*seen[::2], *seen[1::2]], pa.large_string()).unique()
