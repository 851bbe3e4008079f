"""GML: graph [ node [ id 1 label "a" ] edge [ source 1 target 2 weight 3 ] ]."""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Batch, EdgeStream
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.source import Source

SUFFIXES = (".gml",)
OPTIONS = frozenset({"weight", "unweighted"})

WEIGHTS = ("weight", "value")  # the second in the networks of M. Newman
ROWS = 1 << 16  # edges in a batch
TOKEN = re.compile(r'"[^"]*"|[\[\]]|[^\s\[\]"]+')
KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def recognize(source: Source) -> str | None:
    """A list called graph that holds a node."""
    head = source.head
    if re.search(rb"(?m)^\s*graph\s*\[", head) and re.search(rb"\bnode\s*\[", head):
        return "it holds 'graph [' and 'node ['"
    return None


def read_edges(source: Source, options: ReadOptions) -> EdgeStream:
    """The edges between the labels of the nodes if all have distinct ones, else between their ids.

    The whole file is read before the first edge: labels may stand below the edges.
    """
    graph = _read_graph(source)
    weight = _choose_weight(source.name, graph, options)
    names, which = _names(graph)
    batches = _batches(source.name, graph, names, weight)
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
    """What the file says, by the ids of the file."""

    directed: bool = False
    labels: dict[str, str | None] = field(default_factory=dict)
    """Of the nodes by their ids."""
    ends: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    values: dict[str, dict[int, str]] = field(default_factory=dict)
    """The other attributes of edges: name -> number of the edge -> value."""
    edge_lines: array[int] = field(default_factory=lambda: array("q"))


class _Token(NamedTuple):
    line: int
    text: str


def _tokens(source: Source) -> Iterator[_Token]:
    """Words, brackets and texts in quotes with their lines; a text may go on for several lines."""
    open_text, first = "", 0
    for number, line in source.lines():
        if not open_text and line.lstrip().startswith("#"):
            continue
        first = first if open_text else number
        open_text += line
        if open_text.count('"') % 2 == 0:
            for match in TOKEN.finditer(open_text):
                yield _Token(first, match[0])
            open_text = ""
    if open_text:
        raise FormatError(f"{source.name}, line {first:,}: the text in quotes does not end.")


class _Parser:
    """Pairs of a key and a value, where a value may be a list of pairs."""

    def __init__(self, source: Source) -> None:
        self.name, self._tokens = source.name, _tokens(source)
        self.line = self.key_line = 1

    def pairs(self, inside: str | None) -> Iterator[tuple[str, str]]:
        """The pairs up to the closing bracket (of the list `inside`), or to the end of the file."""
        while True:
            token = self.next()
            if token is None or token == "]":
                if (token is None) != (inside is None):
                    raise self.error(
                        f"the list {inside!r} does not end." if inside else "a ']' too many."
                    )
                return
            if not KEY.fullmatch(token):
                raise self.error(f"a key begins with a letter, found {token[:60]!r}.")
            self.key_line = self.line
            key, value = token, self.next()
            if value is None or value == "]":
                raise self.error(f"the key {key!r} has no value.")
            yield key, value

    def skip(self, inside: str) -> None:
        """Reads over a list."""
        depth = 1
        while depth:
            token = self.next()
            if token is None:
                raise self.error(f"the list {inside!r} does not end.")
            depth += {"[": 1, "]": -1}.get(token, 0)

    def values(self, inside: str) -> dict[str, str]:
        """The pairs of a list whose values are no lists; the first of those with the same key."""
        found: dict[str, str] = {}
        for key, value in self.pairs(inside):
            if value == "[":
                self.skip(key)
            else:
                found.setdefault(key, _plain(value))
        return found

    def next(self) -> str | None:
        """The next token."""
        token = next(self._tokens, None)
        if token is None:
            return None
        self.line = token.line
        return token.text

    def error(self, message: str) -> FormatError:
        """The error of the present line."""
        return FormatError(f"{self.name}, line {self.line:,}: {message}")


def _read_graph(source: Source) -> _Graph:
    parser = _Parser(source)
    graph: _Graph | None = None
    for key, value in parser.pairs(None):
        if key.lower() == "graph" and value == "[":
            if graph is not None:
                raise parser.error("there is a second graph; one graph is read from a file.")
            graph = _Graph()
            _read_items(parser, graph)
        elif value == "[":
            parser.skip(key)
    if graph is None:
        raise FormatError(f"{source.name}: there is no 'graph [' in it.")
    return graph


def _read_items(parser: _Parser, graph: _Graph) -> None:
    for key, value in parser.pairs("graph"):
        if key == "directed":
            if value not in ("0", "1"):
                raise parser.error(f"directed is 0 or 1, found {value[:60]!r}.")
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
        raise FormatError(f"{parser.name}, line {line:,}: the node {values['id']} comes twice.")
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


def _choose_weight(place: str, graph: _Graph, options: ReadOptions) -> str | None:
    if options.unweighted:
        return None
    if options.weight is None:
        return next((name for name in WEIGHTS if name in graph.values), None)
    if options.weight not in graph.values:
        raise FormatError(
            f"{place}: edges have no attribute {options.weight!r} for the weight; "
            f"they have {', '.join(graph.values) or 'none'}."
        )
    return str(options.weight)


def _names(graph: _Graph) -> tuple[dict[str, str], str]:
    """What the nodes are called, by the ids of the file, and why."""
    labels = [label for label in graph.labels.values() if label]
    if len(set(labels)) == len(graph.labels):
        return dict(zip(graph.labels, labels, strict=True)), "label"
    return {id: id for id in graph.labels}, "id, since not every node has a label of its own"


def _batches(
    place: str, graph: _Graph, names: dict[str, str], weight: str | None
) -> Iterator[Batch]:
    for start in range(0, len(graph.edge_lines), ROWS):
        edges = range(start, min(start + ROWS, len(graph.edge_lines)))
        ends = []
        for end in graph.ends:
            try:
                ends.append(pa.array([names[end[edge]] for edge in edges], pa.large_string()))
            except KeyError as error:
                line = next(graph.edge_lines[edge] for edge in edges if end[edge] not in names)
                raise FormatError(
                    f"{place}, line {line:,}: there is no node with the id {error.args[0]}."
                ) from error
        weights = None if weight is None else _weights(place, graph, weight, edges)
        yield Batch(ends[0], ends[1], weights)


def _weights(place: str, graph: _Graph, name: str, edges: range) -> pa.Array:
    """The weights of some edges; those without one weigh 1."""
    values, numbers = graph.values[name], []
    for edge in edges:
        try:
            numbers.append(float(values.get(edge, "1")))
        except ValueError:
            raise FormatError(
                f"{place}, line {graph.edge_lines[edge]:,}: the {name} {values[edge][:60]!r} of "
                "the edge is not a number."
            ) from None
    return pa.array(numbers, pa.float64())


def _plain(value: Any) -> str:
    return html.unescape(value[1:-1]) if value.startswith('"') else value
