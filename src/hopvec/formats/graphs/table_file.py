"""TableFile: the columns of a Parquet or Arrow file, for ids, labels and features of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.arrow_data import (
    arrow_errors,
    open_arrow,
    open_arrow_stream,
    record_batches,
    validate,
)
from hopvec.formats.graphs.columnar import KINDS, UNSUPPORTED
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.parquet_directory import Part, list_parts

Batches = Callable[[list[str]], Iterator[pa.RecordBatch]]
"""Reads some columns."""


@dataclass(frozen=True)
class TableFile:
    """A Parquet or Arrow file, or a directory of Parquet files; see `arrow_data`."""

    name: str
    kind: str
    schema: pa.Schema
    _batches: Batches

    def read(self, names: list[str] | None = None) -> pa.Table:
        """Read some columns, by default all, in the given order."""
        names = self.schema.names if names is None else names
        rows = 0
        with arrow_errors(self.name, self.kind, lambda: rows):
            tables = [pa.schema([self.schema.field(name) for name in names]).empty_table()]
            for batch in self._batches(names):
                columns = [batch.column(name) for name in names]
                validate(columns)
                tables.append(pa.Table.from_arrays(columns, names))
                rows += len(batch)
            return pa.concat_tables(tables, promote_options="permissive").unify_dictionaries()


@contextmanager
def open_table_file(file: InputFile) -> Iterator[TableFile]:
    """Open a file of a kind that `columnar.recognize` knows."""
    for magic, message in UNSUPPORTED.items():
        if file.head.startswith(magic):
            raise FormatError(f"{file.name}: {message}")
    kind = next((kind for magic, kind in KINDS.items() if file.head.startswith(magic)), "Parquet")
    with ExitStack() as stack:
        with arrow_errors(file.name, kind):
            if file.is_directory:
                table = _parquet(file, list_parts(file)[0])
            elif kind == "Parquet":
                table = _parquet(file, [Part(file.plain_file or file.seekable(), file.name)])
            elif kind == "Arrow file":
                reader = stack.enter_context(open_arrow(file.plain_file or file.seekable()))
                batches = partial(record_batches, reader)
                table = TableFile(file.name, kind, reader.schema, lambda names: batches())
            else:
                stream = stack.enter_context(open_arrow_stream(file.stream()))
                table = TableFile(file.name, kind, stream.schema, lambda names: iter(stream))
            _check_names(table)
        yield table


def _parquet(file: InputFile, parts: list[Part]) -> TableFile:
    with parts[0].open() as first:
        schema = parts[0].schema(first)

    def batches(names: list[str]) -> Iterator[pa.RecordBatch]:
        for part in parts:
            with part.open() as parquet:
                stored = [name for name in names if name not in part.keys]
                for batch in parquet.iter_batches(columns=stored):
                    yield part.complete(batch)

    return TableFile(file.name, "Parquet", schema, batches)


def _check_names(table: TableFile) -> None:
    names = table.schema.names
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"{table.name}: two columns are named {repeated!r}; rename one of them.")
