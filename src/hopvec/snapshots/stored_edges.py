"""StoredEdges: the edges of an input, read and checked once, and stored in a spill file."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError, ParameterError
from hopvec.formats.graphs.build import checked_batches, graph_from_stream
from hopvec.formats.graphs.edges import Batch, EdgeStream
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.read import open_edges
from hopvec.formats.graphs.sql import open_query
from hopvec.graph import Graph
from hopvec.graph.age_weights import EdgeTimes
from hopvec.graph.id_encoder import parse_integer_ids
from hopvec.graph.ids import keys, numpy_view
from hopvec.graph.times import format_time
from hopvec.progress import Progress, no_progress
from hopvec.snapshots.windows import Window
from hopvec.spill import spill_errors

COLUMNS = ("source", "target", "weight", "relation", "time")
WHOLE_FLOAT = re.compile(r"-?\d+\.0+")
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # of Fibonacci hashing


class Fingerprint(tuple[int, int]):
    """The number of edges of a window, and the sum of their hashes."""

    @property
    def text(self) -> str:
        """The fingerprint as text, for the manifest."""
        return f"{self[0]}-{self[1]:016x}"


@dataclass
class StoredEdges:
    """The edges of an input inside its window, in the order of the input."""

    name: str
    options: ReadOptions
    times: EdgeTimes
    stream: EdgeStream
    """How the input was read; its batches are used up."""
    origin: dict[str, Any] = field(default_factory=dict)
    """For the run report."""
    _file: BinaryIO | None = None
    _spans: list[tuple[int, int]] = field(default_factory=list)
    """The first and last time of each stored batch."""
    _whole_floats: bool = False

    @classmethod
    def read(
        cls, path: str | PathLike[str], options: ReadOptions, progress: Progress
    ) -> StoredEdges:
        """Read the edges of a file, or of the query of the options."""
        with (
            open_edges(path, options, progress)
            if options._query is None
            else open_query(options._query, str(path), options, progress)
        ) as opened:
            edges = cls(opened.name, options, EdgeTimes(options._times), opened.stream())
            edges._store()
            times = edges.times.describe()
            if "as_of" in times:
                times["as_of"] = "the end of each window"
            edges.stream.metadata["time"] = times
            edges.origin = opened.origin()
        edges.times.check_not_empty(edges.name)
        if edges.times.span is None:
            raise GraphError(f"{edges.name}: the graph is empty: there are no edges in it.")
        return edges

    @property
    def span(self) -> tuple[int, int]:
        """The times of the oldest and the newest edge."""
        return self.times.span or (0, 0)

    def fingerprints(self, windows: Sequence[Window]) -> list[Fingerprint]:
        """The fingerprint of each window: it does not depend on the order of the edges."""
        starts, ends = (np.array(limits, np.int64) for limits in zip(*windows, strict=True))
        counts, hashes = np.zeros(len(windows) + 1, np.int64), np.zeros(len(windows) + 1, np.uint64)
        for batch in self._stored():
            times, row_hashes = numpy_view(batch["time"]), numpy_view(batch["hash"])
            first = np.searchsorted(ends, times, side="right")  # the windows of an edge are
            last = np.searchsorted(starts, times, side="right")  # those from first to last - 1
            np.add.at(counts, first, 1)
            np.subtract.at(counts, last, 1)
            np.add.at(hashes, first, row_hashes)
            np.subtract.at(hashes, last, row_hashes)
        pairs = zip(np.cumsum(counts)[:-1], np.cumsum(hashes)[:-1], strict=True)
        return [Fingerprint((int(count), int(total))) for count, total in pairs]

    def graph(self, window: Window, options: ReadOptions) -> Graph:
        """The graph of a window, as `read_graph` makes it; ages are measured from its end.

        `options` has the threads, the memory limit and the spill directory.
        """
        stream = replace(
            self.stream,
            batches=self._batches(window),
            metadata={key: value for key, value in self.stream.metadata.items() if key != "time"},
            prefixes=None,
            has_prefixes=True,  # of the stored ids
        )
        options = replace(
            self.options,
            time="time",
            since=format_time(window.start),
            until=format_time(window.end),
            as_of=None if self.options.half_life is None else format_time(window.end),
            threads=options.threads,
            memory=options.memory,
            reserve=options.reserve,
            spill_dir=options.spill_dir,
        )
        graph = graph_from_stream(self.name, stream, options, no_progress)
        return replace(graph, origin=self.origin | stream.metadata)

    def _store(self) -> None:
        """Read all batches, and write those inside the window of the options."""
        directory = self.options.spill_dir
        with spill_errors(directory):
            self._file = tempfile.TemporaryFile(prefix="hopvec-", dir=directory)  # noqa: SIM115
        integers, whole_floats = True, True
        writer: pa.ipc.RecordBatchFileWriter | None = None
        for batch, _, _ in checked_batches(self.name, self.stream, self.options, self.times):
            times = numpy_view(batch.time)
            inside = self.times.select(times)
            if not inside.any():
                continue
            if not inside.all():
                batch = batch.filter(inside)
                times = times[inside]
            if self.stream.untyped:  # as integers if all ids of the input look like integers
                ends = (batch.source, batch.target)
                integers = integers and all(
                    pa.types.is_integer(parse_integer_ids(ids).type) for ids in ends
                )
                whole_floats = whole_floats and all(map(_are_whole_floats, ends))
            columns = {role: getattr(batch, role) for role in COLUMNS}
            if batch.weight is None:  # some of several files may have weights
                columns["weight"] = pa.nulls(len(times), pa.float64())
            stored = pa.RecordBatch.from_pydict(
                {role: column for role, column in columns.items() if column is not None}
                | {"hash": pa.array(row_hashes(batch))}
            )
            self._spans.append((int(times.min()), int(times.max())))
            with spill_errors(directory):
                writer = writer or pa.ipc.new_file(self._file, stored.schema)
                writer.write_batch(stored)
        with spill_errors(directory):
            if writer is not None:
                writer.close()
            self._file.flush()
        self._whole_floats = self.stream.untyped and whole_floats and not integers
        self.stream.untyped = self.stream.untyped and (integers or whole_floats)

    def _stored(self, window: Window | None = None) -> Iterator[pa.RecordBatch]:
        """The stored batches, or those that have edges of a window."""
        assert self._file is not None
        with spill_errors(self.options.spill_dir):
            self._file.seek(0)
            reader = pa.ipc.open_file(self._file)
        for number, (oldest, newest) in enumerate(self._spans):
            if window is None or (newest >= window.start and oldest < window.end):
                with spill_errors(self.options.spill_dir):
                    batch = reader.get_batch(number)
                yield batch

    def _batches(self, window: Window) -> Iterator[Batch]:
        for stored in self._stored(window):
            times = numpy_view(stored["time"])
            inside = (times >= window.start) & (times < window.end)
            columns: dict[str, Any] = {
                role: stored[role] if role in stored.schema.names else None for role in COLUMNS
            }
            columns["time"] = stored["time"].view(pa.timestamp("us"))
            if stored["weight"].null_count:
                columns["weight"] = None
            if self._whole_floats:
                columns |= {end: _without_fraction(stored[end]) for end in ("source", "target")}
            batch = Batch(**columns)
            yield batch if inside.all() else batch.filter(inside)


def row_hashes(batch: Batch) -> NDArray[np.uint64]:
    """A hash of each edge with its weight, relation and time."""
    result = np.zeros(len(batch.source), np.uint64)
    parts = [keys(ids) for ids in (batch.source, batch.target)]
    parts.append(np.ascontiguousarray(numpy_view(batch.time)).view(np.uint64))
    if batch.weight is not None:
        parts.append(np.ascontiguousarray(numpy_view(batch.weight)).view(np.uint64))
    if batch.relation is not None:
        parts.append(keys(batch.relation))
    for part in parts:
        result += part
        result ^= result >> np.uint64(32)
        result *= MULTIPLIER
        result ^= result >> np.uint64(29)
    return result


def check_options(options: ReadOptions) -> None:
    """Raise ParameterError for reading options that snapshots cannot have."""
    if options.time is None:
        raise ParameterError("embed_snapshots: time= is needed: the column of times.")
    if options.as_of is not None:
        raise ParameterError(
            "embed_snapshots: ages are measured from the end of each window; leave as_of= out."
        )
    for name in ("threads", "memory", "reserve", "spill_dir"):
        if getattr(options, name) is not None:
            raise ParameterError(
                f"embed_snapshots: {name}= is that of the method; leave it out, and set it there."
            )


def _are_whole_floats(ids: pa.Array) -> bool:
    return all(WHOLE_FLOAT.fullmatch(id) for id in ids[:1].to_pylist()) and all(
        WHOLE_FLOAT.fullmatch(id) for id in ids.to_pylist()
    )


def _without_fraction(ids: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    return pc.replace_substring_regex(ids, r"\.0+$", "")
