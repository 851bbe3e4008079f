"""GML: graph [ node [ id 1 label "a" ] edge [ source 1 target 2 weight 3 ] ].

networkx's reader is not used: for 500,000 edges it took 2.5 times as long and 3 times the memory,
and its errors do not name the line.
"""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Batch, EdgeStream
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions

SUFFIXES = (".gml",)
OPTIONS = frozenset({"weight", "unweighted"})

WEIGHTS = ("weight", "value")  # Mark Newman's networks use "value"
BATCH_EDGES = 1 << 16  # edges per batch
TOKEN = re.compile(r'"[^"]*"|[\[\]]|[^\s\[\]"]+')
KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def recognize(file: InputFile) -> str | None:
    """The file contains a list `graph` with a list `node`."""
    head = file.head
    if re.search(rb"(?m)^\s*graph\s*\[", head) and re.search(rb"\bnode\s*\[", head):
        return "it contains 'graph [' and 'node ['"
    return None


def read_edges(file: InputFile, options: ReadOptions) -> EdgeStream:
    """Read the edges. Nodes are named by their labels if these are unique, else by their ids.

    The whole file is read before the first edge is returned, since labels may follow the edges.
    """
    graph = _read_graph(file)
    weight = _choose_weight(file.name, graph, options)
    names, which = _names(graph)
    batches = _batches(file.name, graph, names, weight)
    return EdgeStream(
        batches,
        {"ids": which, "weight": weight or "none"},
        directed=graph.directed,
        nodes=pa.array(list(names.values()), pa.large_string()),
        untyped=True,
        locate=lambda edge: f"line {graph.edge_lines[edge]:,}",
    )


@dataclass
class _Graph:
    """The content of the file; nodes have the ids of the file."""

    directed: bool = False
    labels: dict[str, str | None] = field(default_factory=dict)
    """Node id -> label."""
    ends: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    values: dict[str, dict[int, str]] = field(default_factory=dict)
    """The other attributes of edges: name -> index of the edge -> value."""
    edge_lines: array[int] = field(default_factory=lambda: array("q"))


class _Token(NamedTuple):
    line: int
    text: str


def _tokens(file: InputFile) -> Iterator[_Token]:
    """Iterate over words, brackets and quoted strings, which may span several lines."""
    pending: list[str] = []  # the lines since a quote was opened
    first = 0
    for number, line in file.lines():
        if not pending and line.lstrip().startswith("#"):
            continue
        first = first if pending else number
        if (line.count('"') % 2 == 0) == bool(pending):  # the quote stays open, or is opened
            pending.append(line)
            continue
        for match in TOKEN.finditer("".join((*pending, line))):
            yield _Token(first, match[0])
        pending = []
    if pending:
        raise FormatError(f"{file.name}, line {first:,}: the closing quote is missing.")


class _Parser:
    """Parses pairs of a key and a value; a value may be a list of such pairs."""

    def __init__(self, file: InputFile) -> None:
        self.name, self._tokens = file.name, _tokens(file)
        self.line = self.key_line = 1

    def pairs(self, inside: str | None) -> Iterator[tuple[str, str]]:
        """Iterate over the pairs of the list `inside`, or of the file if it is None."""
        while True:
            token = self.next()
            if token is None or token == "]":
                if (token is None) != (inside is None):
                    raise self.error(
                        f"the list {inside!r} is not closed." if inside else "unmatched ']'."
                    )
                return
            if not KEY.fullmatch(token):
                raise self.error(f"a key must begin with a letter, found {token[:60]!r}.")
            self.key_line = self.line
            key, value = token, self.next()
            if value is None or value == "]":
                raise self.error(f"the key {key!r} has no value.")
            yield key, value

    def skip(self, inside: str) -> None:
        """Skip the rest of a list."""
        depth = 1
        while depth:
            token = self.next()
            if token is None:
                raise self.error(f"the list {inside!r} is not closed.")
            depth += {"[": 1, "]": -1}.get(token, 0)

    def values(self, inside: str) -> dict[str, str]:
        """The pairs of a list, without nested lists; of repeated keys, the first."""
        found: dict[str, str] = {}
        for key, value in self.pairs(inside):
            if value == "[":
                self.skip(key)
            else:
                found.setdefault(key, _unquoted(value))
        return found

    def next(self) -> str | None:
        """The next token; None at the end of the file."""
        token = next(self._tokens, None)
        if token is None:
            return None
        self.line = token.line
        return token.text

    def error(self, message: str) -> FormatError:
        """The error for the current line."""
        return FormatError(f"{self.name}, line {self.line:,}: {message}")


def _read_graph(file: InputFile) -> _Graph:
    parser = _Parser(file)
    graph: _Graph | None = None
    for key, value in parser.pairs(None):
        if key.lower() == "graph" and value == "[":
            if graph is not None:
                raise parser.error("this is a second graph; a file must hold only one.")
            graph = _Graph()
            _read_items(parser, graph)
        elif value == "[":
            parser.skip(key)
    if graph is None:
        raise FormatError(f"{file.name}: 'graph [' is missing.")
    return graph


def _read_items(parser: _Parser, graph: _Graph) -> None:
    for key, value in parser.pairs("graph"):
        if key == "directed":
            if value not in ("0", "1"):
                raise parser.error(f"directed must be 0 or 1, found {value[:60]!r}.")
            graph.directed = value == "1"
        elif value == "[" and key == "node":
            _add_node(parser, graph)
        elif value == "[" and key == "edge":
            _add_edge(parser, graph)
        elif value == "[":
            parser.skip(key)


def _add_node(parser: _Parser, graph: _Graph) -> None:
    line, values = parser.key_line, parser.values("node")
    if "id" not in values:
        raise FormatError(f"{parser.name}, line {line:,}: the node has no id.")
    if values["id"] in graph.labels:
        raise FormatError(f"{parser.name}, line {line:,}: the node id {values['id']} is repeated.")
    graph.labels[values["id"]] = values.get("label")


def _add_edge(parser: _Parser, graph: _Graph) -> None:
    line, values = parser.key_line, parser.values("edge")
    for end, name in zip(graph.ends, ("source", "target"), strict=True):
        if name not in values:
            raise FormatError(f"{parser.name}, line {line:,}: the edge has no {name}.")
        end.append(values.pop(name))
    for name, value in values.items():
        graph.values.setdefault(name, {})[len(graph.edge_lines)] = value
    graph.edge_lines.append(line)


def _choose_weight(file: str, graph: _Graph, options: ReadOptions) -> str | None:
    """The attribute of edges that is their weight; None if the graph is unweighted."""
    if options.unweighted:
        return None
    if options.weight is None:
        return next((name for name in WEIGHTS if name in graph.values), None)
    if options.weight not in graph.values:
        raise FormatError(
            f"{file}: edges have no attribute {options.weight!r} for the weight; their attributes "
            f"are: {', '.join(graph.values) or 'none'}."
        )
    return str(options.weight)


def _names(graph: _Graph) -> tuple[dict[str, str], str]:
    """The names of the nodes by their ids in the file, and where they are from."""
    labels = [label for label in graph.labels.values() if label]
    if len(set(labels)) == len(graph.labels):
        return dict(zip(graph.labels, labels, strict=True)), "label"
    return {id: id for id in graph.labels}, "id, since not every node has a unique label"


def _batches(
    file: str, graph: _Graph, names: dict[str, str], weight: str | None
) -> Iterator[Batch]:
    for start in range(0, len(graph.edge_lines), BATCH_EDGES):
        edges = range(start, min(start + BATCH_EDGES, len(graph.edge_lines)))
        ends = []
        for end in graph.ends:
            try:
                ends.append(pa.array([names[end[edge]] for edge in edges], pa.large_string()))
            except KeyError as error:
                line = next(graph.edge_lines[edge] for edge in edges if end[edge] not in names)
                raise FormatError(
                    f"{file}, line {line:,}: there is no node with the id {error.args[0]}."
                ) from error
        weights = None if weight is None else _weights(file, graph, weight, edges)
        yield Batch(ends[0], ends[1], weights)


def _weights(file: str, graph: _Graph, name: str, edges: range) -> pa.Array:
    """The weights of some edges, 1 if an edge has none."""
    values, numbers = graph.values[name], []
    for edge in edges:
        try:
            numbers.append(float(values.get(edge, "1")))
        except ValueError:
            raise FormatError(
                f"{file}, line {graph.edge_lines[edge]:,}: the {name} of an edge must be a number, "
                f"found {values[edge][:60]!r}."
            ) from None
    return pa.array(numbers, pa.float64())


def _unquoted(value: str) -> str:
    return html.unescape(value[1:-1]) if value.startswith('"') else value
