"""GraphML: nodes and edges in XML, read in one pass."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Batch, EdgeStream
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions

SUFFIXES = (".graphml",)
OPTIONS = frozenset({"weight", "unweighted"})

BLOCK_BYTES = 1 << 18  # bytes parsed at a time; the edges of one block are in memory
DIRECTIONS = {"directed": True, "undirected": False}


def recognize(file: InputFile) -> str | None:
    """The file contains the element <graphml>."""
    start = file.head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<") and b"<graphml" in start:
        return "it contains the element <graphml>"
    return None


def read_edges(file: InputFile, options: ReadOptions) -> EdgeStream:
    """Read the edges block by block; the file also lists the nodes and says if it is directed."""
    reader = _Reader(file, options)
    reader.read_until(lambda: reader.directed is not None)
    if reader.directed is None:
        raise FormatError(f"{file.name}: the <graph> element is missing.")
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
    """A <key> element: an attribute of edges or of other elements."""

    id: str
    name: str
    on_edges: bool
    default: str | None = None


@dataclass
class _Reader:
    """The state of the parser."""

    file: InputFile
    options: ReadOptions
    directed: bool | None = None
    nodes: list[str] = field(default_factory=list)
    chunks: list[pa.Array] = field(default_factory=list)
    """The ids of nodes from earlier blocks."""
    ends: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    weights: list[float] = field(default_factory=list)
    lines: array[int] = field(default_factory=lambda: array("q"))
    """The line number of each edge."""
    keys: list[_Key] = field(default_factory=list)
    weight_key: _Key | None = None
    edge: tuple[str, str] = ("", "")
    """The ends of the open edge."""
    line: int = 0
    weight: float = 1.0
    path: list[str] = field(default_factory=list)
    """The names of the open elements."""
    text: list[str] | None = None
    """The text of the open element, if it is needed."""
    finished: bool = False

    def __post_init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def read_until(self, enough: Callable[[], bool]) -> None:
        """Parse blocks until `enough()` is true or the file ends."""
        while not self.finished and not enough():
            block = self.file.read(BLOCK_BYTES)
            self.finished = not block
            try:
                self.parser.Parse(block, self.finished)
            except expat.ExpatError as error:
                raise FormatError(
                    f"{self.file.name}, line {error.lineno:,}, column {error.offset + 1:,}: this "
                    f"is not well-formed XML ({expat.errors.messages[error.code]})."
                ) from error
            except FormatError:
                raise
            except (LookupError, ValueError) as error:  # of the encoding in the XML declaration
                raise self._error(
                    f"the encoding of the file is not supported ({error}); convert it to UTF-8."
                ) from error

    def batches(self, stream: EdgeStream) -> Iterator[Batch]:
        """Iterate over the edges, a block of the file at a time."""
        while True:
            if self.ends[0]:
                yield self._batch()
            if self.finished:
                break
            self.read_until(lambda: bool(self.ends[0]))
        self._flush_nodes()
        stream.nodes = pa.concat_arrays(self.chunks)

    def _batch(self) -> Batch:
        source, target = (pa.array(end, pa.large_string()) for end in self.ends)
        weight = pa.array(self.weights, pa.float64()) if self.weight_key else None
        self.ends, self.weights = ([], []), []
        self._flush_nodes()
        return Batch(source, target, weight)

    def _flush_nodes(self) -> None:
        self.chunks.append(pa.array(self.nodes, pa.large_string()))
        self.nodes = []

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(" ")[2]
        if name in ("node", "edge") and self.path[-1:] != ["graph"]:
            parent = f"<{self.path[-1]}>" if self.path else "the document"
            raise self._error(f"<{name}> must be an element of <graph>, found in {parent}.")
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
            raise self._error("hyperedges are not supported, only edges between two nodes.")
        self.path.append(name)

    def _end(self, name: str) -> None:
        element = self.path.pop()
        if element == "edge":  # not at its start: a block of the file may end inside an edge
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
            raise self._error("this is a second <graph> element; a file must hold only one.")
        default = self._attribute(attributes, "graph", "edgedefault")
        if default not in DIRECTIONS:
            raise self._error(f"edgedefault must be directed or undirected, found {default!r}.")
        self.directed = DIRECTIONS[default]
        if self.options.unweighted:
            return
        requested = self.options.weight
        keys = [key for key in self.keys if key.on_edges]
        matching = [key for key in keys if (requested or "weight") in (key.name, key.id)]
        if requested is not None and not matching:
            names = ", ".join(key.name for key in keys) or "none"
            raise self._error(
                f"edges have no attribute {requested!r} for the weight; their attributes are: "
                f"{names}."
            )
        self.weight_key = matching[0] if matching else None

    def _start_edge(self, attributes: dict[str, str]) -> None:
        source = self._attribute(attributes, "edge", "source")
        self.edge = source, self._attribute(attributes, "edge", "target")
        self.line = self.parser.CurrentLineNumber
        directed = attributes.get("directed")
        if directed is not None and (directed in ("true", "1")) != self.directed:
            kind = "directed" if self.directed else "undirected"
            raise self._error(
                f"the graph is {kind}, but this edge is not; mixed graphs are not supported."
            )
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
            raise self._error(f"a weight must be a number, found {text[:60]!r}.") from None

    def _attribute(self, attributes: dict[str, str], element: str, name: str) -> str:
        if name not in attributes:
            raise self._error(f"a <{element}> needs the attribute {name!r}.")
        return attributes[name]

    def _refuse_doctype(self, *_: object) -> None:
        raise self._error(
            "document type declarations (<!DOCTYPE ...>) are refused, since entities can expand a "
            "small file to a huge one; delete the declaration."
        )

    def _error(self, message: str) -> FormatError:
        return FormatError(f"{self.file.name}, line {self.parser.CurrentLineNumber:,}: {message}")
