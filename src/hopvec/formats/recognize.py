"""Whether a file holds an embedding or a graph, since some suffixes are used for both."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from hopvec.formats.arrow_data import open_arrow
from hopvec.formats.npy import ids_path
from hopvec.formats.npz_arrays import ZIP_ERRORS
from hopvec.formats.parquet import files_of
from hopvec.formats.table import find_columns
from hopvec.formats.text import read_header

READ_ERRORS = (ValueError, MemoryError, pa.ArrowException, *ZIP_ERRORS)


def holds_embedding(path: Path) -> bool:
    """Whether a file holds an embedding, by its suffix and its first bytes.

    A directory does if its Parquet files do. A pipe, which can be read only once, does not.
    """
    check = _parquet if path.is_dir() else CHECKS.get(path.suffix.lower())
    try:
        return check is not None and (path.is_file() or path.is_dir()) and check(path)
    except READ_ERRORS:
        return False


def _parquet(path: Path) -> bool:
    import pyarrow.parquet as pq

    return bool(find_columns(path, pq.read_schema(files_of(path)[0])))


def _arrow(path: Path) -> bool:
    with open_arrow(path) as reader:
        return bool(find_columns(path, reader.schema))


def _npz(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return {"vectors.npy", "ids.npy"} <= set(archive.namelist())


def _delimited(path: Path) -> bool:
    """Whether the column names are those that hopvec writes."""
    names = read_header(path).replace("\t", ",").split(",")
    first = ["id", "type"] if names[:2] == ["id", "type"] else ["id"]
    return names == first + [f"e{column}" for column in range(len(names) - len(first))]


def _word2vec(path: Path) -> bool:
    """Whether line 1 is `count dim`, and line 2 has an id and that many numbers."""
    with path.open("rb") as file:
        first, second = file.readline(1 << 16).split(), file.readline(1 << 26).split()
    is_header = len(first) == 2 and all(number.isdigit() for number in first)
    return is_header and len(second) == int(first[1]) + 1


CHECKS: dict[str, Callable[[Path], bool]] = {
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
