"""The files of a Parquet directory, with the columns encoded in the names of subdirectories."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import unquote

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.arrow_data import open_parquet
from hopvec.formats.graphs.input_file import InputFile

if TYPE_CHECKING:
    import pyarrow.parquet as pq

SUFFIXES = (".parquet", ".pq", ".parq")
NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Part:
    """One Parquet file of a table."""

    file: Path | BinaryIO
    name: str
    """Relative to the directory: 'year=2026/part-0.parquet'."""
    keys: dict[str, pa.Scalar] = field(default_factory=dict)
    """The columns encoded in its path (year=2026), each with its only value."""

    def open(self) -> pq.ParquetFile:
        """Open the file for reading page by page."""
        return open_parquet(self.file)

    def schema(self, file: pq.ParquetFile) -> pa.Schema:
        """The columns of the file, then those encoded in its path."""
        schema = file.schema_arrow
        for name, value in self.keys.items():
            if name not in schema.names:
                schema = schema.append(pa.field(name, value.type))
        return schema

    def complete(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Add the columns encoded in the path to a batch of the file."""
        for name, value in self.keys.items():
            if name not in batch.schema.names:
                batch = batch.append_column(name, pa.repeat(value, len(batch)))
        return batch


def list_parts(file: InputFile) -> tuple[list[Part], list[str]]:
    """The Parquet files of a directory in order of their names, and the names of other files.

    Names that begin with '.' or '_' are skipped: writers use them for files without data.
    """
    directory = file.path or Path()
    paths: list[Path] = []
    others: list[Path] = []
    for path in sorted(directory.rglob("*")):
        relative = path.relative_to(directory)
        if path.is_dir() or any(name.startswith((".", "_")) for name in relative.parts):
            continue
        (paths if _is_parquet(path) else others).append(path)
    names = [str(path.relative_to(directory)) for path in others]
    if not paths:
        inside = f"it holds {_listed(names)}" if names else "it is empty"
        raise FormatError(
            f"{file.name}: a directory must contain Parquet files, but {inside}. Give the path "
            "of a file instead."
        )
    values = [_values(path.relative_to(directory)) for path in paths]
    kinds = {name: _kind(name, values) for keys in values for name in keys}
    parts = [
        Part(
            path,
            str(path.relative_to(directory)),
            {name: _scalar(value, kinds[name]) for name, value in keys.items()},
        )
        for path, keys in zip(paths, values, strict=True)
    ]
    return parts, names


def _is_parquet(path: Path) -> bool:
    if path.suffix.lower() in SUFFIXES:
        return True
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _values(relative: Path) -> dict[str, str]:
    pairs = (name.split("=", 1) for name in relative.parts[:-1] if "=" in name)
    return {unquote(name): unquote(value) for name, value in pairs}


def _kind(name: str, values: list[dict[str, str]]) -> pa.DataType:
    given = [keys[name] for keys in values if keys.get(name, NULL) != NULL]
    integers = all(value.isascii() and value.lstrip("-").isdecimal() for value in given)
    return pa.int64() if given and integers and max(map(len, given)) < 19 else pa.large_string()


def _scalar(value: str, kind: pa.DataType) -> pa.Scalar:
    plain: Any = None if value == NULL else value
    return pa.scalar(plain, pa.large_string()).cast(kind)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
