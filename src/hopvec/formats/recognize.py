"""Whether a file holds an embedding: several suffixes name formats of graphs as well."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.npy import ids_path
from hopvec.formats.parquet import files_of
from hopvec.formats.table import find_columns
from hopvec.formats.text import read_header


def holds_embedding(path: Path) -> bool:
    """Whether a file holds an embedding, by its suffix and a look at how it begins.

    A folder does if it holds Parquet files that do.
    """
    look = _parquet if path.is_dir() else LOOKS.get(path.suffix.lower())
    try:
        return look is not None and path.exists() and look(path)
    except (FormatError, OSError, pa.ArrowException, zipfile.BadZipFile):
        return False


def _parquet(path: Path) -> bool:
    import pyarrow.parquet as pq

    return bool(find_columns(path, pq.read_schema(files_of(path)[0])))


def _arrow(path: Path) -> bool:
    with pa.ipc.open_file(str(path)) as reader:
        return bool(find_columns(path, reader.schema))


def _npz(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return {"vectors.npy", "ids.npy"} <= set(archive.namelist())


def _delimited(path: Path) -> bool:
    """Whether the names of the columns are those that hopvec writes."""
    names = read_header(path).replace("\t", ",").split(",")
    return names == ["id", *(f"e{number}" for number in range(len(names) - 1))]


def _word2vec(path: Path) -> bool:
    """Whether line 1 is `count dim`, and line 2 has an id and that many numbers."""
    with path.open("rb") as file:
        first, second = file.readline(1 << 16).split(), file.readline(1 << 26).split()
    whole = len(first) == 2 and all(number.isdigit() for number in first)
    return whole and len(second) == int(first[1]) + 1


LOOKS: dict[str, Callable[[Path], bool]] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
    ".npy": lambda path: ids_path(path).is_file(),
    ".npz": _npz,
    ".csv": _delimited,
    ".tsv": _delimited,
    ".gz": _delimited,
    ".txt": _word2vec,
    ".vec": lambda path: True,
    ".bin": lambda path: True,
}
