"""Common Crawl's graph of the web: the subgraph of its most central hosts.

A release is three kinds of gzipped text, with tabs between the columns:

    vertices    id, host                             0    com.nytimes
    edges       id, id                               0    17
    ranks       position, centrality, position, page rank, host, below a line of names with "#":
                by harmonic centrality first, then by page rank

Hosts are written backwards (com.nytimes is nytimes.com). Newer releases cut vertices and edges into
many files; those of domains have one more column, which is passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.graphs.lines import Block, Lines, parse_ahead
from hopvec.formats.graphs.source import Source
from hopvec.progress import Progress, no_progress
from hopvec.spill import SpillArray

Path_ = str | PathLike[str]
ColumnTypes = dict[str, pa.DataType | None]
"""The first columns of a file, in order; None for those that are passed over."""

VERTICES: ColumnTypes = {"id": pa.int64(), "host": pa.string()}
EDGES: ColumnTypes = {"from": pa.int64(), "to": pa.int64()}
RANKS: ColumnTypes = {
    "position": pa.int64(),
    "centrality": None,
    "page rank position": None,
    "page rank": None,
    "host": pa.string(),
}
COMMENT = b"#"
TOGETHER = 32  # blocks whose names are looked up together: each time costs a table of all hosts


@dataclass(frozen=True)
class Hosts:
    """The subgraph of some hosts, undirected, each edge once."""

    names: list[str]
    """Such as nytimes.com, the most central first."""
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    """Edges join names[source] and names[target]; source < target but for loops."""

    def labels(self, classes: int | None = None) -> list[str | None]:
        """The top-level domain of each host, such as com, if it is one of the most frequent ones.

        As in the paper, where 50 `classes` leave 9,886 of 10,000 hosts with a label. Of equally
        frequent ones the alphabet decides, which the paper leaves open. Without `classes`, all.
        """
        domains = [name.rpartition(".")[2] for name in self.names]
        often = sorted(Counter(domains).items(), key=lambda item: (-item[1], item[0]))
        kept = {domain for domain, _ in often[:classes]}
        return [domain if domain in kept else None for domain in domains]


def top_hosts(
    vertices: Path_ | Sequence[Path_],
    edges: Path_ | Sequence[Path_],
    ranks: Path_,
    count: int,
    *,
    progress: Progress | None = None,
) -> Hosts:
    """The `count` hosts that come first by harmonic centrality, and the links between them.

    As in the paper, a link is an undirected edge, whichever way it leads, and as often as it comes.
    Files are streamed: memory holds the hosts, some blocks of text, and 8 bytes for each link that
    is kept. `progress` is called with the bytes read and those of all files.

    Raises FormatError with file and line where a line is not as it should be, and where the files
    do not fit one another.
    """
    files = _Files(ranks, _several(vertices), _several(edges), progress)
    names = _first_by_rank(files, count)
    ids = _ids_of(files, names)
    source, target = _links_between(files, ids)
    files.done()
    return Hosts([forwards(name) for name in names.to_pylist()], source, target)


def forwards(host: str) -> str:
    """The usual name of a host that is written backwards.

    >>> forwards("com.nytimes.cooking")
    'cooking.nytimes.com'
    """
    return ".".join(reversed(host.split(".")))


class _Files:
    """The files of a release, and how much of them has been read."""

    def __init__(
        self,
        ranks: Path_,
        vertices: Sequence[Path_],
        edges: Sequence[Path_],
        progress: Progress | None,
    ) -> None:
        self.ranks, self.vertices, self.edges = ranks, vertices, edges
        self._progress = progress or no_progress
        self._start: dict[Path_, int] = {}
        self._size = 0
        for path in (ranks, *vertices, *edges):
            self._start[path] = self._size
            self._size += Path(path).stat().st_size if Path(path).is_file() else 0

    def tables(self, paths: Sequence[Path_], columns: ColumnTypes) -> Iterator[pa.Table]:
        """The wanted columns of some files, a block of lines at a time."""
        for path in paths:
            with Source(path, partial(self._advance, path)) as source:
                lines = (line for line in source.head.split(b"\n") if line.strip(b"\r"))
                first = next((line for line in lines if not line.startswith(COMMENT)), b"")
                count = max(len(columns), first.count(b"\t") + 1)
                parse = partial(_table, source.name, columns, count)
                yield from parse_ahead(parse, Lines(source, comments=(COMMENT,)))

    def done(self) -> None:
        """Tells that no more is read."""
        self._progress(self._size, self._size)

    def _advance(self, path: Path_, done: int, of: int) -> None:
        self._progress(self._start[path] + done, self._size)


def _first_by_rank(files: _Files, count: int) -> pa.Array:
    """The hosts of the positions 1 to count, in this order."""
    found: dict[int, str] = {}
    for table in files.tables([files.ranks], RANKS):
        position = table["position"].to_numpy()
        rows = np.flatnonzero((position >= 1) & (position <= count))
        hosts = table["host"].take(pa.array(rows)).to_pylist()
        for place, host in zip(position[rows].tolist(), hosts, strict=True):
            if found.setdefault(place, host) != host:
                raise FormatError(
                    f"{files.ranks}: {found[place]!r} and {host!r} both have the position "
                    f"{place:,}."
                )
        if len(found) == count:  # the file goes on with the others, in order of position
            break
    else:
        missing = next(place for place in range(1, count + 1) if place not in found)
        raise FormatError(
            f"{files.ranks}: no host has the position {missing:,}, and {count:,} hosts are "
            "asked for."
        )
    return pa.array([found[place] for place in range(1, count + 1)], pa.string())


def _ids_of(files: _Files, names: pa.Array) -> NDArray[np.int64]:
    """The ids of hosts."""
    import pyarrow.compute as pc

    ids = np.full(len(names), -1, np.int64)
    tables = files.tables(files.vertices, VERTICES)
    while some := list(islice(tables, TOGETHER)):
        table = pa.concat_tables(some)
        place = pc.index_in(table["host"], value_set=names)
        rows = np.flatnonzero(place.is_valid().to_numpy())
        ids[place.take(pa.array(rows)).to_numpy()] = table["id"].to_numpy()[rows]
        if (ids >= 0).all():
            return ids
    missing = names[int(np.argmax(ids < 0))].as_py()
    listed = ", ".join(map(str, files.vertices))
    raise FormatError(
        f"{listed}: {missing!r}, which has a rank, is not among the vertices. Are the files of one "
        "release, and are all of them there?"
    )


def _links_between(
    files: _Files, ids: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The places in `ids` of both ends of each link between two of them, each pair once."""
    order = np.argsort(ids)
    in_order, count = ids[order], len(ids)
    pairs = SpillArray(np.int64)

    def places(wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows whose id is among `ids`, and where."""
        at = np.searchsorted(in_order, wanted)
        at[at == count] = 0
        rows = np.flatnonzero(in_order[at] == wanted)
        return rows, order[at[rows]]

    for table in files.tables(files.edges, EDGES):
        rows, source = places(table["from"].to_numpy())
        kept, target = places(table["to"].to_numpy()[rows])
        source = source[kept]
        pairs.append(np.minimum(source, target) * count + np.maximum(source, target))
    codes = pairs.array()
    codes.sort()
    codes = codes[np.concatenate([[True], codes[1:] != codes[:-1]])] if len(codes) else codes
    return (codes // count).astype(np.int32), (codes % count).astype(np.int32)


def _table(name: str, columns: ColumnTypes, count: int, block: Block) -> pa.Table:
    """The wanted columns of a block of lines; what is wrong is told with its line."""
    import pyarrow.csv

    kinds = {column: kind for column, kind in columns.items() if kind is not None}
    more = [f"more {at}" for at in range(count - len(columns))]
    try:
        return pyarrow.csv.read_csv(
            pa.BufferReader(block.data),
            pyarrow.csv.ReadOptions(
                column_names=[*columns, *more], block_size=len(block.data) + 1, use_threads=False
            ),
            pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False),
            pyarrow.csv.ConvertOptions(
                column_types=kinds, include_columns=list(kinds), null_values=[]
            ),
        )
    except pa.ArrowException as error:
        lines = enumerate(block.data.split(b"\n")[:-1])
        wrong = ((row, line) for row, line in lines if _fault(line, columns, count))
        row, line = next(wrong, (0, b""))
        what = _fault(line, columns, count) or str(error)
        raise FormatError(
            f"{name}, line {block.number(block.edge + row):,}: "
            f"{line.decode(errors='replace')[:60]!r} {what}. A line holds {', '.join(columns)}, "
            "with tabs between them."
        ) from error


def _fault(line: bytes, columns: ColumnTypes, count: int) -> str:
    """What is wrong with a line; nothing if it is right."""
    cells = line.split(b"\t")
    if len(cells) != count:
        return f"has {len(cells)} of {count} columns"
    for (column, kind), cell in zip(columns.items(), cells, strict=False):
        if kind == pa.int64() and not cell.isdigit():
            return f"has no number as {column}"
        if kind == pa.string() and not _is_text(cell):
            return f"has a {column} that is no UTF-8 text"
    return ""


def _is_text(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True


def _several(paths: Path_ | Sequence[Path_]) -> Sequence[Path_]:
    return [paths] if isinstance(paths, str | PathLike) else paths
