"""Edge tables in Parquet (a file or a directory of files) or Arrow IPC (file or stream)."""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.arrow_data import SMALL_FILE, arrow_errors, open_arrow_stream, validate
from hopvec.formats.graphs.edges import Batch, EdgeStream, column_metadata
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.parquet_directory import Part, list_parts
from hopvec.formats.graphs.read_ahead import read_ahead
from hopvec.graph.arrow import (
    WHOLE_FLOATS,
    choose_table_columns,
    id_array,
    is_numeric,
    open_table,
    relation_array,
    weight_array,
)
from hopvec.graph.columns import ColumnSpec, chosen_by_position_warning, unused_numbers_warning

logger: logging.Logger = logging.getLogger("hopvec")

SUFFIXES = (".parquet", ".pq", ".parq", ".arrow", ".feather", ".ipc", ".arrows")
OPTIONS = frozenset({"source", "target", "weight", "unweighted", "relation", "time"})

BATCH_ROWS = 1 << 17  # rows per batch

KINDS = {b"PAR1": "Parquet", b"ARROW1": "Arrow file", b"\xff\xff\xff\xff": "Arrow stream"}
UNSUPPORTED = {
    b"PARE": "the Parquet file is encrypted; write it without encryption.",
    b"FEA1": "this is Feather version 1; write it as version 2, which is Arrow IPC.",
}


def recognize(file: InputFile) -> str | None:
    """By the first bytes; a directory can only contain Parquet files."""
    if file.is_directory:
        return "it is a directory"
    for magic in (*KINDS, *UNSUPPORTED):
        if file.head.startswith(magic):
            shown = magic.decode() if magic.isascii() else magic.hex(" ")
            return f"it begins with {shown}"
    return None


def read_edges(file: InputFile, options: ReadOptions) -> EdgeStream:
    """Stream the edges in batches of limited size; only the chosen columns are read."""
    reader = _Reader(file.name, options)
    if file.is_directory:
        parts, others = list_parts(file)
        if others:
            reader.metadata["other files"] = others
        return reader.parquet(file, parts)
    for magic, message in UNSUPPORTED.items():
        if file.head.startswith(magic):
            raise FormatError(f"{file.name}: {message}")
    kind = next((kind for magic, kind in KINDS.items() if file.head.startswith(magic)), None)
    if kind is None:
        found = f"it begins with {file.head[:8]!r}" if file.head else "it is empty"
        advice = " If it is a text file, use format='csv'." if file.head.isascii() else ""
        raise FormatError(f"{file.name}: this is neither Parquet nor Arrow IPC; {found}.{advice}")
    if kind == "Parquet":
        return reader.parquet(file, [Part(_seekable(file), file.name)])
    return reader.arrow(file, kind)


def _seekable(file: InputFile) -> Path | BinaryIO:
    """The path of a plain file, which pyarrow reads fastest, or its decompressed bytes."""
    return file.plain_file or file.seekable()


def _open_arrow(source: Path | BinaryIO) -> pa.ipc.RecordBatchFileReader:
    """Open an Arrow file; a large one is mapped, since one batch may hold all of its edges."""
    if not isinstance(source, Path):
        return pa.ipc.open_file(pa.PythonFile(source))
    if source.stat().st_size <= SMALL_FILE:
        return pa.ipc.open_file(source.read_bytes())
    return pa.ipc.open_file(pa.memory_map(str(source)))


def _record_batches(file: InputFile, reader: pa.ipc.RecordBatchFileReader) -> Iterator[Any]:
    """The record batches of an Arrow file, with all columns.

    Selecting columns would make pyarrow copy them; unused columns cost little or nothing.
    """
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)
        file.report((number + 1) / reader.num_record_batches)


def from_stream(table: Any, options: ReadOptions | None = None) -> EdgeStream:
    """The edges of any object with __arrow_c_stream__: pandas, polars, pyarrow, duckdb."""
    stream = open_table(table)
    name = f"the {type(table).__name__}"
    return from_reader(name, stream.schema, stream, options or ReadOptions())


def from_reader(
    name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], options: ReadOptions
) -> EdgeStream:
    """The edges of record batches; `name` is for error messages."""
    reader = _Reader(name, options)
    reader.choose(schema)
    return reader.stream(reader.batches(batches, "table"))


@dataclass
class _Reader:
    """Reads the chosen columns of a table, which may consist of several files."""

    name: str
    options: ReadOptions
    columns: dict[str, str] = field(default_factory=dict)
    """The names of the chosen columns by role: source, target, weight, ..."""
    metadata: dict[str, Any] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    """The first row of each file opened so far."""
    parts: list[Part] = field(default_factory=list)
    rows: int = 0
    """The number of rows read so far."""
    types: tuple[pa.DataType, ...] = ()
    """The types of the ids."""

    def choose(self, schema: pa.Schema, location: str | None = None) -> None:
        """Choose the columns by the schema of the first file, and warn about guesses."""
        columns = choose_table_columns(location or self.name, schema, self.options._columns)
        self.columns = columns.names(schema.names)
        self.metadata.update(column_metadata(schema.names, columns))
        ends = (self.columns["source"], self.columns["target"])
        if any(pa.types.is_floating(schema.field(name).type) for name in ends):
            self.metadata["ids"] = WHOLE_FLOATS
        numeric = [is_numeric(kind) for kind in schema.types]
        for warning in (
            chosen_by_position_warning(schema.names, columns, self.options._columns),
            unused_numbers_warning(schema.names, numeric, columns, self.options._columns),
        ):
            if warning:
                logger.warning("%s: %s", self.name, warning)

    def stream(self, batches: Iterator[Batch]) -> EdgeStream:
        relations = "relation" in self.columns
        return EdgeStream(batches, self.metadata, locate=self.locate, relations=relations)

    def locate(self, row: int) -> str:
        """The location of a row, with the file if there are several."""
        if len(self.parts) < 2:
            return f"row {row + 1:,}"
        at = bisect_right(self.starts, row) - 1
        return f"{self.parts[at].name}, row {row - self.starts[at] + 1:,}"

    def parquet(self, file: InputFile, parts: list[Part]) -> EdgeStream:
        """Stream the edges of Parquet files, one after the other."""
        self.metadata["kind"] = "Parquet"
        self.parts = parts
        location = file.name
        if file.is_directory:
            location = f"{Path(file.name, parts[0].name)}, the first Parquet file of this directory"
        with self.errors("Parquet"), parts[0].open() as first:
            self.choose(parts[0].schema(first), location)
        if file.is_directory:
            self.metadata["files"] = len(parts)
        return self.stream(self._parquet_batches(file))

    def _parquet_batches(self, file: InputFile) -> Iterator[Batch]:
        for number, part in enumerate(self.parts):
            self.starts.append(self.rows)
            with self.errors("Parquet"), part.open() as parquet:
                self._check_part(part.schema(parquet))
                present = parquet.schema_arrow.names
                names = [name for name in self.columns.values() if name in present]
                total = max(1, parquet.metadata.num_rows) * len(self.parts)
                decoded = map(part.complete, parquet.iter_batches(BATCH_ROWS, columns=names))
                with read_ahead(decoded) as batches:
                    for batch in self.batches(batches, "Parquet"):
                        yield batch
                        done = (self.rows - self.starts[-1]) / total
                        file.report(number / len(self.parts) + done)

    def _check_part(self, schema: pa.Schema) -> None:
        """Raise FormatError if a file lacks columns of the first file, or they differ in type."""
        missing = [name for name in self.columns.values() if name not in schema.names]
        if missing:
            raise FormatError(
                f"{self._file()}: there is no column {missing[0]!r}, unlike in "
                f"{self.parts[0].name}; the columns are {', '.join(schema.names)}."
            )
        requested: dict[str, Any] = {"unweighted": "weight" not in self.columns, **self.columns}
        choose_table_columns(self._file(), schema, ColumnSpec(**requested))

    def arrow(self, file: InputFile, kind: str) -> EdgeStream:
        """Stream the edges of an Arrow IPC file or stream."""
        self.metadata["kind"] = kind
        with self.errors(kind):
            if kind == "Arrow stream":
                stream = open_arrow_stream(file.stream())
                self.choose(stream.schema)
                return self.stream(self.batches(stream, kind))
            reader = _open_arrow(_seekable(file))
            self.choose(reader.schema)
        return self.stream(self.batches(_record_batches(file, reader), kind))

    def batches(self, batches: Iterable[pa.RecordBatch], kind: str) -> Iterator[Batch]:
        """The chosen columns of record batches, in batches of limited size."""
        with self.errors(kind):
            for batch in batches:
                for start in range(0, len(batch), BATCH_ROWS):
                    rows = batch.slice(start, BATCH_ROWS)
                    columns = {role: rows.column(name) for role, name in self.columns.items()}
                    edges = self._edges(columns)
                    self.rows += len(rows)
                    yield edges

    def _edges(self, columns: dict[str, pa.Array]) -> Batch:
        validate(columns.values())

        def locate(row: int) -> str:
            return f"{self.name}, {self.locate(self.rows + row)}"

        source, target = (id_array(columns[role], locate) for role in ("source", "target"))
        self.types = self.types or (source.type, target.type)
        if self.types != (source.type, target.type):
            raise FormatError(
                f"{self._file()}: ids are integers in some files of this directory and strings in "
                "others."
            )
        weight, relation = columns.get("weight"), columns.get("relation")
        return Batch(
            source,
            target,
            None if weight is None else weight_array(weight),
            None if relation is None else relation_array(relation),
            columns.get("time"),
        )

    def _file(self) -> str:
        """The name of the current file."""
        return self.name if len(self.parts) < 2 else str(Path(self.name, self._part().name))

    def _part(self) -> Part:
        return self.parts[max(0, len(self.starts) - 1)]

    def errors(self, kind: str) -> AbstractContextManager[None]:
        """Convert errors of Arrow to FormatError with the file and the row."""
        return arrow_errors(
            self._file, kind, lambda: self.rows - (self.starts[-1] if self.starts else 0)
        )
