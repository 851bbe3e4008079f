"""embed_snapshots: one embedding per window of time, all in the fitted state of the first."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np
import pyarrow as pa

from hopvec.embedding import Embedding, load
from hopvec.errors import ParameterError
from hopvec.evaluate.movement import movement
from hopvec.formats import read_preview
from hopvec.formats.destination import create_directory
from hopvec.formats.graphs.options import ReadKeywords, ReadOptions, merge_options
from hopvec.formats.table_files import TableFile, write_tables
from hopvec.graph.times import format_duration, format_time, parse_duration
from hopvec.machine import memory_limit
from hopvec.methods import FastRP, Method
from hopvec.progress import Progress, ProgressOption, callback, no_progress
from hopvec.snapshots.manifest import MANIFEST, Manifest, settings_of
from hopvec.snapshots.stored_edges import StoredEdges, check_options
from hopvec.snapshots.windows import Window, make_windows
from hopvec.spill import SpillFile
from hopvec.tabular import Tabular

logger: logging.Logger = logging.getLogger("hopvec")

TABLE = "movement.csv"
MAX_LISTED = 5  # windows in a warning
COSINES = ("mean_cosine", "median_cosine", "decile_cosine")
NUMBERS = ("nodes", "edges", "in_both", "added", "removed")


class Snapshot(NamedTuple):
    """One window of `embed_snapshots`, and how far its nodes moved since the window before.

    Attributes
    ----------
    window : str
        The name of the window: its end.
    start, end : str
        The times of its edges: start <= time < end.
    path : Path or None
        The file of its vectors; None if it has no edges.
    nodes, edges : int
        The size of its graph.
    in_both, added, removed : int or None
        Nodes that are in the window before as well, only here, or only there. None for the first.
    mean_cosine, median_cosine, decile_cosine : float or None
        The mean, the median and the lowest tenth of the cosines between the vectors of a node in
        the two windows; 1 means that it did not move.

    Examples
    --------
    >>> Snapshot("2024-01-29", "2024-01-01", "2024-01-29", None, 0, 0).nodes
    0
    """

    window: str
    start: str
    end: str
    path: Path | None
    nodes: int
    edges: int
    in_both: int | None = None
    added: int | None = None
    removed: int | None = None
    mean_cosine: float | None = None
    median_cosine: float | None = None
    decile_cosine: float | None = None


@dataclass(frozen=True, repr=False)
class Snapshots(Tabular):
    """The result of `embed_snapshots`: one row per window.

    Attributes
    ----------
    directory : Path
        The directory of the files.
    windows : tuple of Snapshot
        The windows in the order of time.
    origin : dict
        How the input was read.

    Examples
    --------
    >>> from pathlib import Path
    >>> one = Snapshot("2024-01-29", "2024-01-01", "2024-01-29", None, 0, 0)
    >>> Snapshots(Path("snapshots"), (one,)).to_arrow().num_rows
    1
    """

    directory: Path
    windows: tuple[Snapshot, ...]
    origin: dict[str, Any] | None = None

    def _table_rows(self) -> list[dict[str, Any]]:
        return [
            one._asdict() | {"path": None if one.path is None else str(one.path)}
            for one in self.windows
        ]

    def to_arrow(self) -> pa.Table:
        """Return the windows as an Arrow table.

        Returns
        -------
        pyarrow.Table
            One row per window, with the attributes of `Snapshot` as columns.

        Examples
        --------
        >>> from pathlib import Path
        >>> Snapshots(Path("snapshots"), ()).to_arrow().column_names[:3]
        ['window', 'start', 'end']
        """
        types = dict.fromkeys(NUMBERS, pa.int64()) | dict.fromkeys(COSINES, pa.float64())
        fields = [(name, types.get(name, pa.string())) for name in Snapshot._fields]
        return pa.Table.from_pylist(self._table_rows(), pa.schema(fields))

    def __str__(self) -> str:
        made = sum(one.path is not None for one in self.windows)
        first, last = (self.windows[at].window if self.windows else "" for at in (0, -1))
        return f"Snapshots({made:,} of {len(self.windows):,} windows, {first} to {last})"


def embed_snapshots(
    path: str | PathLike[str],
    output: str | PathLike[str],
    *,
    every: Any,
    window: Any,
    method: Method | None = None,
    query: str | None = None,
    options: ReadOptions | None = None,
    dtype: str = "float32",
    force: bool = False,
    progress: ProgressOption = None,
    read_progress: Progress | None = None,
    **keywords: Unpack[ReadKeywords],
) -> Snapshots:
    r"""Embed the edges of each window of time, with comparable vectors.

    The first window is embedded by `method`, and all others with `like=` the first, so that any two
    snapshots can be compared by `evaluate.movement`. The first window starts at `since`, by default
    at the oldest edge, rounded down to a whole day if `every` is a number of days, else to an hour,
    minute or second. Each of the others ends `every` later than the one before it; the last is the
    first that ends after the newest edge.

    A run that was interrupted is resumed by the same call, with the same bytes as without the
    interruption. If edges were added, only the windows that they belong to are embedded again.

    Parameters
    ----------
    path : str or path
        The file of edges, as in `read_graph`, or with `query` the address of a database.
    output : str or path
        The directory of the results, created if necessary: a file such as 2024-01-29.parquet for
        each window, named by the end of the window; movement.csv, the table of the result; and
        snapshots.json, from which a run is resumed.
    every : str or timedelta
        The time from one window to the next, such as "7d".
    window : str or timedelta
        The length of a window, such as "28d": edges with end - window <= time < end.
    method : FastRP, optional
        The method, with the number of threads, the memory limit and the spill directory; by default
        `FastRP()`.
    query : str, optional
        The SQL query, as in `read_sql`.
    options : ReadOptions, optional
        The keywords below as one record. Keywords override its fields.
    dtype : {"float32", "float16"}, default "float32"
        The type of the written vectors.
    force : bool, default False
        Whether to replace the snapshots of a run with other options.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the number of finished windows
        and the total.
    read_progress : callable, optional
        Called while the edges are read, as the `progress` of `read_graph`.
    time, half_life, since, until, source, target, weight : optional
        As in `read_graph`; `time` is required. With `half_life`, ages are measured from the end of
        each window.
    format, unweighted, separator, header, comment, variable : optional
        As in `read_graph`.
    relation, relation_weights, relation_balance, relation_direction : optional
        As in `read_graph`.
    directed, bipartite, prefixes, one_kind, duplicates, loops, bad_rows : optional
        As in `read_graph`.
    nodes, node_type : optional
        As in `read_graph`; these are nodes of each window.
    as_of, symmetrize, threads, memory, reserve, spill_dir : optional
        Options of `read_graph` that are rejected here: ages are measured from the end of each
        window, a matrix has no times, and the others are parameters of the method.

    Returns
    -------
    Snapshots
        The windows, their files, and how far nodes moved from each window to the next.

    Raises
    ------
    ParameterError
        If an option is invalid, or if the directory holds snapshots with other options.
    FormatError, GraphError, MemoryLimitError
        As in `read_graph`. GraphError also if the edges of the first window have changed since the
        run that is resumed.

    Examples
    --------
    >>> import pathlib, tempfile, hopvec
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text(
    ...     "source,target,day\na,b,2024-01-01\nb,c,2024-01-05\nc,a,2024-01-12\n"
    ... )
    >>> found = hopvec.embed_snapshots(
    ...     folder / "edges.csv", folder / "snapshots", time="day", every="7d", window="7d",
    ...     method=hopvec.FastRP(dim=8),
    ... )
    >>> [(one.window, one.nodes, one.added) for one in found.windows]
    [('2024-01-08', 3, None), ('2024-01-15', 2, 0)]
    """
    options = merge_options("read_graph", options or ReadOptions(), keywords, ReadKeywords)
    options = options if query is None else replace(options, _query=query)
    check_options(options)
    lengths = {
        "every": parse_duration("embed_snapshots", "every", every),
        "window": parse_duration("embed_snapshots", "window", window),
    }
    directory = Path(output)
    create_directory(directory, MANIFEST)
    run = _Run(_copy(method, directory), dtype, callback(progress, "embedding") or no_progress)
    options = run.reading(options)
    edges = StoredEdges.read(path, options, read_progress or no_progress)
    windows = make_windows(*edges.span, **lengths, since=options._times.since)
    settings = settings_of(
        run.method,
        options,
        dtype,
        **{name: format_duration(length) for name, length in lengths.items()},
        start=format_time(windows[0].start),
    )
    manifest = Manifest.open(directory, settings, force=force)
    rows = run.embed(edges, windows, manifest)
    result = Snapshots(directory, tuple(rows), edges.origin)
    table = result.to_arrow().drop_columns(["path"])
    write_tables(TableFile(directory / TABLE, table.schema, table.to_batches()))
    return result


@dataclass
class _Run:
    """Embeds the windows that are not finished."""

    method: Any
    dtype: str
    progress: Progress
    _last: tuple[Path, Embedding] | None = None
    """The last vectors that were compared."""

    def reading(self, options: ReadOptions) -> ReadOptions:
        """The reading options with the threads and the memory limit of the method."""
        return replace(
            options,
            threads=self.method.threads,
            memory=self.method.memory,
            _run_memory=self.method._run_memory,
            spill_dir=self.method.spill_dir,
        )

    def embed(
        self, edges: StoredEdges, windows: list[Window], manifest: Manifest
    ) -> list[Snapshot]:
        """Embed the windows in the order of time, and compare each with the one before it."""
        found: list[Snapshot] = []
        first: Path | None = None
        previous: str | None = None
        changed = False  # whether the previous window has been embedded now
        for number, (window, fingerprint) in enumerate(
            zip(windows, edges.fingerprints(windows), strict=True)
        ):
            self.progress(number, len(windows))
            name, text = window.name, fingerprint.text
            finished = manifest.has(name, text)
            limits = (format_time(window.start), format_time(window.end))
            if fingerprint[0] == 0:
                found.append(Snapshot(name, *limits, None, 0, 0))
                if not finished:
                    manifest.add(name, text, {"edges": 0})
                continue
            if first is None:
                manifest.refer_to(name, text)
            if not finished:
                self._embed_window(edges, window, manifest.path(name), first)
            first = first or manifest.path(name)
            row = manifest.windows[name]["row"] if finished else {}
            if not finished or changed or row["previous"] != previous:
                old = None if previous is None else manifest.path(previous)
                row = {"previous": previous, **self._compare(old, manifest.path(name))}
                manifest.add(name, text, row)
            previous, changed = name, not finished
            values = {key: value for key, value in row.items() if key != "previous"}
            found.append(Snapshot(name, *limits, manifest.path(name), **values))
        self.progress(len(windows), len(windows))
        _warn_about_empty(edges.name, found)
        return found

    def _embed_window(
        self, edges: StoredEdges, window: Window, path: Path, first: Path | None
    ) -> None:
        graph = edges.graph(window, self.reading(edges.options))
        # the state as it is in the file, also if this run has written it
        like = {} if first is None else {"like": read_preview(first).embedding}
        self.method.embed(graph, **like).save(path, dtype=self.dtype)

    def _compare(self, old: Path | None, path: Path) -> dict[str, Any]:
        """The row of a window in the table: its size, and how far its nodes moved."""
        new = load(path)
        row: dict[str, Any] = {"nodes": len(new), "edges": new.graph["edges"]}
        if old is not None:
            moved = movement(self._vectors(old), new)
            row |= {"in_both": len(moved.ids), "added": moved.added, "removed": moved.removed}
            if len(moved.ids):
                cosines = moved.cosines.astype(np.float64)
                measures = (cosines.mean(), np.median(cosines), np.quantile(cosines, 0.1))
                values = (round(float(value), 6) for value in measures)
                row |= dict(zip(COSINES, values, strict=True))
        self._last = path, self._held(new)
        return row

    def _vectors(self, path: Path) -> Embedding:
        """The vectors of a file, which are in memory if it was the last one."""
        if self._last is not None and self._last[0] == path:
            return self._last[1]
        return self._held(load(path))

    def _held(self, embedding: Embedding) -> Embedding:
        """The vectors for the next comparison: with a memory limit, in a spill file."""
        if memory_limit(self.method.memory) is None:
            return embedding
        file = SpillFile(self.method.spill_dir)
        file.append(embedding.vectors)
        return replace(embedding, vectors=file.mapped(np.float32, embedding.vectors.shape))


def _copy(method: Method | None, directory: Path) -> Method:
    """A copy of the method, with a spill directory; raises ParameterError if it has no `like`."""
    method = FastRP() if method is None else method
    if not method._supports_like:
        raise ParameterError(
            f"embed_snapshots: the vectors of {type(method).__name__} cannot be compared; use "
            "FastRP."
        )
    copy = type(method)(**method.get_params())
    copy._check()
    if copy.spill_dir is None:
        copy.set_params(spill_dir=directory)
    return copy


def _warn_about_empty(name: str, found: list[Snapshot]) -> None:
    empty = [one.window for one in found if one.path is None]
    if empty:
        listed = ", ".join(empty[:MAX_LISTED]) + (", ..." if len(empty) > MAX_LISTED else "")
        windows = "1 window has" if len(empty) == 1 else f"{len(empty):,} windows have"
        logger.warning("%s: %s no edges and no snapshot: %s.", name, windows, listed)
