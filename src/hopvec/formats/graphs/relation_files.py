"""Edges in several files, one per relation: KNOWS=knows.csv,LIKES=likes.csv."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from hopvec.address import is_address
from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Batch, EdgeStream, Matrix
from hopvec.progress import Progress


def relation_files(path: Any) -> dict[str, str | PathLike[str]] | None:
    """The files by relation of a dict, or of text such as "KNOWS=a.csv,LIKES=b.csv"; else None."""
    if isinstance(path, Mapping):
        return {str(name): file for name, file in path.items()}
    if not isinstance(path, str) or "=" not in path or is_address(path) or Path(path).exists():
        return None
    parts = [part.partition("=") for part in path.split(",")]
    if not all(name.strip() and mark and file.strip() for name, mark, file in parts):
        return None
    names = [name.strip() for name, _, _ in parts]
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"{path}: the relation {twice!r} occurs twice.")
    return {name.strip(): file.strip() for name, _, file in parts}


def join_streams(found: Mapping[str, tuple[str, EdgeStream | Matrix]]) -> EdgeStream:
    """One stream of the edges of several files; `found` has the file and its edges by relation."""
    streams: dict[str, tuple[str, EdgeStream]] = {}
    for relation, (name, stream) in found.items():
        if isinstance(stream, Matrix):
            raise FormatError(
                f"{name}: this is a matrix, but the edges of a relation are read from a list."
            )
        streams[relation] = name, stream
    all_streams = [stream for _, stream in streams.values()]
    directed = {stream.directed for stream in all_streams}
    if len(directed) > 1:
        raise FormatError(
            "Some of the files say that their edges are directed, and others do not. Choose with "
            "directed=, and for single relations with relation_direction=."
        )
    starts: list[int] = []

    def locate(edge: int) -> str:
        at = max(number for number, start in enumerate(starts) if start <= edge)
        name, stream = list(streams.values())[at]
        return f"{name}, {stream.locate(edge - starts[at])}"

    columns = [stream.metadata.get("columns") for stream in all_streams]
    return EdgeStream(
        _batches(streams, starts),
        {"columns": columns[0]} if columns.count(columns[0]) == len(columns) else {},
        directed=directed.pop(),
        untyped=all(stream.untyped for stream in all_streams),
        locate=locate,
        locates_file=True,
        relations=True,
        parts=all_streams,
    )


def _batches(streams: Mapping[str, tuple[str, EdgeStream]], starts: list[int]) -> Iterator[Batch]:
    rows = 0
    for relation, (_, stream) in streams.items():
        starts.append(rows)
        for batch in stream.batches:
            rows += len(batch.source)
            yield batch._replace(
                relation=pa.repeat(pa.scalar(relation, pa.large_string()), len(batch.source)),
                prefixes=stream.prefixes,
            )


def joined_progress(
    progress: Progress | None, sizes: Sequence[int], number: int
) -> Progress | None:
    """The progress of one file of several, in bytes of all of them."""
    if progress is None:
        return None
    before, total = sum(sizes[:number]), sum(sizes)
    return lambda done, _: progress(before + done, total)
