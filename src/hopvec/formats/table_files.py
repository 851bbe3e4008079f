"""write_tables: writes tables of edges, links or results; the suffix gives the format."""

from __future__ import annotations

import json
from collections.abc import Iterable
from gzip import GzipFile
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats import suffix_of
from hopvec.formats.atomic import atomic_write
from hopvec.formats.delimited import compressed, separator_of
from hopvec.formats.destination import check_writable

SUFFIXES = (".parquet", ".arrow", ".csv", ".tsv", ".csv.gz", ".tsv.gz")
RESULT_SUFFIXES = (*SUFFIXES, ".jsonl", ".jsonl.gz")
"""The formats of results, which are not read back as edges."""

Batches = Iterable[pa.RecordBatch]


class TableFile(NamedTuple):
    """A table and the file to write it to."""

    path: Path
    schema: pa.Schema
    batches: Batches


def write_tables(*tables: TableFile) -> None:
    """Write tables in the formats given by their suffixes, all or none; see `atomic_write`.

    CSV, TSV and JSON lines do not hold the metadata of the schema.
    """
    for table in tables:
        check_table(table.path, RESULT_SUFFIXES)
    with atomic_write(*(table.path for table in tables)) as files:
        for file, table in zip(files, tables, strict=True):
            _write(file, table)


def write_lines(
    file: BinaryIO | GzipFile,
    schema: pa.Schema,
    batches: Batches,
    form: Literal["csv", "tsv", "jsonl"],
) -> None:
    """Write a table as text to an open file."""
    if form == "jsonl":
        for batch in batches:
            lines = (json.dumps(row, ensure_ascii=False) for row in batch.to_pylist())
            file.write("".join(f"{line}\n" for line in lines).encode(errors="surrogatepass"))
    else:
        _write_delimited(file, "\t" if form == "tsv" else ",", schema, batches)


def check_table(path: Path, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Raise FormatError if a table cannot be written to a path."""
    if suffix_of(path) not in suffixes:
        raise FormatError(
            f"{path}: the suffix {path.suffix!r} is not a format for tables; use one of "
            f"{', '.join(suffixes)}."
        )
    check_writable(path)


def _write(file: BinaryIO, table: TableFile) -> None:
    path, schema, batches = table
    if suffix_of(path) == ".parquet":
        import pyarrow.parquet as pq

        # Integer ids hardly repeat within a row group, so a dictionary would only cost time.
        strings = [field.name for field in schema if not pa.types.is_primitive(field.type)]
        with pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=strings) as writer:
            for batch in batches:
                writer.write_batch(batch)
    elif suffix_of(path) == ".arrow":
        with pa.ipc.new_file(file, schema) as ipc:
            for batch in batches:
                ipc.write_batch(batch)
    else:
        with compressed(file, path) as text:
            if ".jsonl" in suffix_of(path):
                write_lines(text, schema, batches, "jsonl")
            else:
                _write_delimited(text, separator_of(path), schema, batches)


def _write_delimited(
    file: BinaryIO | GzipFile, separator: str, schema: pa.Schema, batches: Batches
) -> None:
    """Write a header, then one line per row; ids are quoted if necessary."""
    import pyarrow.csv

    file.write((separator.join(schema.names) + "\n").encode())
    options = pyarrow.csv.WriteOptions(
        include_header=False, delimiter=separator, quoting_style="needed"
    )
    with pyarrow.csv.CSVWriter(file, schema, write_options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
