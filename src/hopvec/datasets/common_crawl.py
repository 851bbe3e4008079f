"""Web graphs of Common Crawl: the subgraph of the most central hosts.

A release has three kinds of gzipped text files with tab-separated columns:

    vertices    id, host                             0    com.nytimes
    edges       id, id                               0    17
    ranks       position, centrality, position, page rank, host, below a header line with "#":
                by harmonic centrality first, then by page rank

Hosts are reversed (com.nytimes is nytimes.com). Newer releases split vertices and edges into many
files; those of domains have one more column, which is ignored.
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
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.lines import Block, Lines, parse_ahead
from hopvec.progress import Progress, no_progress
from hopvec.spill import SpillArray

Path_ = str | PathLike[str]
ColumnTypes = dict[str, pa.DataType | None]
"""The first columns of a file, in order; None for ignored columns."""

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
BLOCKS = 32  # blocks whose names are looked up at a time; each lookup builds a table of all hosts


@dataclass(frozen=True)
class Hosts:
    """The subgraph of some hosts, undirected, each edge once.

    Attributes
    ----------
    names : list of str
        The names of the hosts, such as nytimes.com, most central first.
    source, target : array of int32
        Edges join names[source] and names[target]; source <= target.

    Examples
    --------
    >>> import numpy as np
    >>> from hopvec.datasets.common_crawl import Hosts
    >>> Hosts(["nytimes.com", "bbc.co.uk"], np.int32([0]), np.int32([1])).labels()
    ['com', 'uk']
    """

    names: list[str]
    source: NDArray[np.int32]
    target: NDArray[np.int32]

    def labels(self, classes: int | None = None) -> list[str | None]:
        """Return the top-level domain of each host, such as com.

        In the paper, 50 `classes` give 9,886 of 10,000 hosts a label. Ties are broken
        alphabetically, which the paper does not specify.

        Parameters
        ----------
        classes : int, optional
            Number of most frequent top-level domains to use; by default all.

        Returns
        -------
        list of str or None
            The label of each host; None if its domain is not one of the most frequent ones.

        Examples
        --------
        >>> import numpy as np
        >>> from hopvec.datasets.common_crawl import Hosts
        >>> hosts = Hosts(["a.com", "b.uk", "c.com"], np.int32([0, 0]), np.int32([1, 2]))
        >>> hosts.labels(classes=1)
        ['com', None, 'com']
        """
        domains = [name.rpartition(".")[2] for name in self.names]
        by_frequency = sorted(Counter(domains).items(), key=lambda item: (-item[1], item[0]))
        used = {domain for domain, _ in by_frequency[:classes]}
        return [domain if domain in used else None for domain in domains]


def top_hosts(
    vertices: Path_ | Sequence[Path_],
    edges: Path_ | Sequence[Path_],
    ranks: Path_,
    count: int,
    *,
    progress: Progress | None = None,
) -> Hosts:
    """Extract the hosts of highest harmonic centrality, and the links between them.

    As in the paper, links are undirected edges, and repeated links count once. Files are streamed:
    memory holds the hosts, some blocks of text, and 8 bytes for each link between the hosts.

    Parameters
    ----------
    vertices : path or sequence of paths
        The files of the hosts and their numbers.
    edges : path or sequence of paths
        The files of the links.
    ranks : path
        The file of the hosts, ordered by harmonic centrality.
    count : int
        The number of hosts to keep.
    progress : callable, optional
        Called with the bytes read and the size of all files.

    Returns
    -------
    Hosts
        The names of the hosts, and the links between them.

    Raises
    ------
    FormatError
        If a line is malformed, with its file and number, or the files do not belong together.

    Examples
    --------
    >>> from hopvec.datasets.common_crawl import top_hosts
    >>> top_hosts("vertices.txt.gz", "edges.txt.gz", "ranks.txt.gz", 50_000)  # doctest: +SKIP
    """
    files = _Files(ranks, _as_list(vertices), _as_list(edges), progress)
    names = _first_by_rank(files, count)
    ids = _ids_of(files, names)
    source, target = _links_between(files, ids)
    files.done()
    return Hosts([forwards(name) for name in names.to_pylist()], source, target)


def forwards(host: str) -> str:
    """The usual name of a reversed host name.

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
        """Yield the columns of some files, a block of lines at a time."""
        for path in paths:
            with InputFile(path, partial(self._advance, path)) as file:
                lines = (line for line in file.head.split(b"\n") if line.strip(b"\r"))
                first = next((line for line in lines if not line.startswith(COMMENT)), b"")
                count = max(len(columns), first.count(b"\t") + 1)
                parse = partial(_table, file.name, columns, count)
                yield from parse_ahead(parse, Lines(file, comments=(COMMENT,)))

    def done(self) -> None:
        """Report that all files are read."""
        self._progress(self._size, self._size)

    def _advance(self, path: Path_, done: int, total: int) -> None:
        self._progress(self._start[path] + done, self._size)


def _first_by_rank(files: _Files, count: int) -> pa.Array:
    """The hosts of the positions 1 to count, in this order."""
    found: dict[int, str] = {}
    for table in files.tables([files.ranks], RANKS):
        position = table["position"].to_numpy()
        rows = np.flatnonzero((position >= 1) & (position <= count))
        hosts = table["host"].take(pa.array(rows)).to_pylist()
        for rank, host in zip(position[rows].tolist(), hosts, strict=True):
            if found.setdefault(rank, host) != host:
                raise FormatError(
                    f"{files.ranks}: {found[rank]!r} and {host!r} both have the position {rank:,}."
                )
        if len(found) == count:  # the file is in order of position
            break
    else:
        missing = next(rank for rank in range(1, count + 1) if rank not in found)
        raise FormatError(
            f"{files.ranks}: no host has the position {missing:,}, but {count:,} hosts are "
            "required."
        )
    return pa.array([found[rank] for rank in range(1, count + 1)], pa.string())


def _ids_of(files: _Files, names: pa.Array) -> NDArray[np.int64]:
    """The ids of hosts."""
    import pyarrow.compute as pc

    ids = np.full(len(names), -1, np.int64)
    tables = files.tables(files.vertices, VERTICES)
    while some := list(islice(tables, BLOCKS)):
        table = pa.concat_tables(some)
        position = pc.index_in(table["host"], value_set=names)
        rows = np.flatnonzero(position.is_valid().to_numpy())
        ids[position.take(pa.array(rows)).to_numpy()] = table["id"].to_numpy()[rows]
        if (ids >= 0).all():
            return ids
    missing = names[int(np.argmax(ids < 0))].as_py()
    listed = ", ".join(map(str, files.vertices))
    raise FormatError(
        f"{listed}: {missing!r} has a rank, but is not among the vertices. Make sure that all "
        "files belong to one release, and that none is missing."
    )


def _links_between(
    files: _Files, ids: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Both ends of each link between two of the ids, as positions in `ids`, each pair once."""
    order = np.argsort(ids)
    in_order, count = ids[order], len(ids)
    pairs = SpillArray(np.int64)

    def positions(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows whose id is in `ids`, and the position there."""
        at = np.searchsorted(in_order, values)
        at[at == count] = 0
        rows = np.flatnonzero(in_order[at] == values)
        return rows, order[at[rows]]

    for table in files.tables(files.edges, EDGES):
        rows, source = positions(table["from"].to_numpy())
        inside, target = positions(table["to"].to_numpy()[rows])
        source = source[inside]
        pairs.append(np.minimum(source, target) * count + np.maximum(source, target))
    codes = pairs.array()
    codes.sort()
    codes = codes[np.concatenate([[True], codes[1:] != codes[:-1]])] if len(codes) else codes
    return (codes // count).astype(np.int32), (codes % count).astype(np.int32)


def _table(name: str, columns: ColumnTypes, count: int, block: Block) -> pa.Table:
    """Parse a block of lines; raise FormatError naming a malformed line."""
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
            f"{line.decode(errors='replace')[:60]!r} {what}. A line must contain "
            f"{', '.join(columns)}, separated by tabs."
        ) from error


def _fault(line: bytes, columns: ColumnTypes, count: int) -> str:
    """What is wrong with a line; empty if nothing is."""
    cells = line.split(b"\t")
    if len(cells) != count:
        return f"has {len(cells)} of {count} columns"
    for (column, kind), cell in zip(columns.items(), cells, strict=False):
        if kind == pa.int64() and not cell.isdigit():
            return f"has no number for {column}"
        if kind == pa.string() and not _is_utf8(cell):
            return f"has a {column} that is not valid UTF-8"
    return ""


def _is_utf8(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True


def _as_list(paths: Path_ | Sequence[Path_]) -> Sequence[Path_]:
    return [paths] if isinstance(paths, str | PathLike) else paths
