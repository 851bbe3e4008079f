"""GraphML: nodes and edges in XML, read as they come."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Batch, EdgeStream
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.source import Source

SUFFIXES = (".graphml",)
OPTIONS = frozenset({"weight", "unweighted"})

BLOCK = 1 << 18  # bytes parsed at a time: what the edges in memory come from
DIRECTIONS = {"directed": True, "undirected": False}


def recognize(source: Source) -> str | None:
    """The root element is graphml."""
    start = source.head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<") and b"<graphml" in start:
        return "it holds the element <graphml>"
    return None


def read_edges(source: Source, options: ReadOptions) -> EdgeStream:
    """The edges as they come; all nodes and the direction are in the file too."""
    reader = _Reader(source, options)
    reader.read_until(lambda: reader.directed is not None)
    if reader.directed is None:
        raise FormatError(f"{source.name}: there is no <graph> element in it.")
    metadata: dict[str, Any] = {"weight": reader.weight_key.name if reader.weight_key else "none"}
    stream = EdgeStream(
        iter(()),
        metadata,
        directed=reader.directed,
        untyped=True,
        locate=lambda edge: f"line {reader.lines[edge]:,}",
    )
    stream.batches = reader.batches(stream)
    return stream


@dataclass
class _Key:
    """A <key>: an attribute that edges, or only others, may have."""

    id: str
    name: str
    on_edges: bool
    default: str | None = None


@dataclass
class _Reader:
    """What the parser has met so far."""

    source: Source
    options: ReadOptions
    directed: bool | None = None
    nodes: list[str] = field(default_factory=list)
    chunks: list[pa.Array] = field(default_factory=list)
    """The ids of earlier nodes."""
    ends: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    weights: list[float] = field(default_factory=list)
    lines: array[int] = field(default_factory=lambda: array("q"))
    """Of every edge."""
    keys: list[_Key] = field(default_factory=list)
    weight_key: _Key | None = None
    edge: tuple[str, str] = ("", "")
    """The ends of the open edge."""
    line: int = 0
    weight: float = 1.0
    path: list[str] = field(default_factory=list)
    """The names of the open elements."""
    text: list[str] | None = None
    """The text of the open element, where it matters."""
    finished: bool = False

    def __post_init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def read_until(self, enough: Callable[[], bool]) -> None:
        """Parses on until there is enough, or nothing more."""
        while not self.finished and not enough():
            block = self.source.read(BLOCK)
            self.finished = not block
            try:
                self.parser.Parse(block, self.finished)
            except expat.ExpatError as error:
                raise FormatError(
                    f"{self.source.name}, line {error.lineno:,}, column {error.offset + 1:,}: this "
                    f"is no well-formed XML ({expat.errors.messages[error.code]})."
                ) from error

    def batches(self, stream: EdgeStream) -> Iterator[Batch]:
        """The edges of one block of the file after the other."""
        while True:
            if self.ends[0]:
                yield self._batch()
            if self.finished:
                break
            self.read_until(lambda: bool(self.ends[0]))
        self._keep_nodes()
        stream.nodes = pa.concat_arrays(self.chunks)

    def _batch(self) -> Batch:
        source, target = (pa.array(end, pa.large_string()) for end in self.ends)
        weight = pa.array(self.weights, pa.float64()) if self.weight_key else None
        self.ends, self.weights = ([], []), []
        self._keep_nodes()
        return Batch(source, target, weight)

    def _keep_nodes(self) -> None:
        self.chunks.append(pa.array(self.nodes, pa.large_string()))
        self.nodes = []

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(" ")[2]
        if name == "node":
            self.nodes.append(self._attribute(attributes, name, "id"))
        elif name == "edge":
            self._start_edge(attributes)
        elif name == "data" and self.weight_key and self.path[-1:] == ["edge"]:
            self.text = [] if attributes.get("key") == self.weight_key.id else None
        elif name == "graph":
            self._start_graph(attributes)
        elif name == "key":
            id = self._attribute(attributes, name, "id")
            on_edges = attributes.get("for", "all") in ("edge", "all")
            key = _Key(id, attributes.get("attr.name", id), on_edges)
            self.keys.append(key)
        elif name == "default":
            self.text = []
        elif name == "hyperedge":
            raise self._error("a hyperedge joins more than two nodes; only edges are read.")
        self.path.append(name)

    def _end(self, name: str) -> None:
        element = self.path.pop()
        if element == "edge":  # only now: a block of the file may end inside an edge
            self._add_edge()
        elif self.text is not None:
            text, self.text = "".join(self.text).strip(), None
            if element == "data":
                self.weight = self._number(text)
            elif self.path[-1:] == ["key"]:
                self.keys[-1].default = text

    def _characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def _start_graph(self, attributes: dict[str, str]) -> None:
        if self.directed is not None:
            raise self._error("there is a second <graph> element; one graph is read from a file.")
        default = self._attribute(attributes, "graph", "edgedefault")
        if default not in DIRECTIONS:
            raise self._error(f"edgedefault is directed or undirected, found {default!r}.")
        self.directed = DIRECTIONS[default]
        if self.options.unweighted:
            return
        wanted = self.options.weight
        keys = [key for key in self.keys if key.on_edges]
        known = [key for key in keys if (wanted or "weight") in (key.name, key.id)]
        if wanted is not None and not known:
            names = ", ".join(key.name for key in keys) or "none"
            raise self._error(
                f"there is no attribute {wanted!r} of edges for the weight; there is {names}."
            )
        self.weight_key = known[0] if known else None

    def _start_edge(self, attributes: dict[str, str]) -> None:
        source = self._attribute(attributes, "edge", "source")
        self.edge = source, self._attribute(attributes, "edge", "target")
        self.line = self.parser.CurrentLineNumber
        own = attributes.get("directed")
        if own is not None and (own in ("true", "1")) != self.directed:
            word = "directed" if self.directed else "undirected"
            raise self._error(f"the graph is {word}, this edge is not; mixed graphs are not read.")
        if self.weight_key:
            default = self.weight_key.default
            self.weight = 1.0 if default is None else self._number(default)

    def _add_edge(self) -> None:
        self.ends[0].append(self.edge[0])
        self.ends[1].append(self.edge[1])
        self.lines.append(self.line)
        if self.weight_key:
            self.weights.append(self.weight)

    def _number(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise self._error(f"the weight {text[:60]!r} is not a number.") from None

    def _attribute(self, attributes: dict[str, str], element: str, name: str) -> str:
        if name not in attributes:
            raise self._error(f"a <{element}> needs the attribute {name!r}.")
        return attributes[name]

    def _refuse_doctype(self, *_: object) -> None:
        raise self._error(
            "a document type declaration (<!DOCTYPE ...>) is not read, since it can make a small "
            "file a huge one; delete it."
        )

    def _error(self, message: str) -> FormatError:
        return FormatError(f"{self.source.name}, line {self.parser.CurrentLineNumber:,}: {message}")
