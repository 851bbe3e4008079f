"""Reads and writes embeddings. A new format is one module and one line in EMBEDDING_FORMATS.

arrow.py            .arrow and .feather
arrow_data.py       opening Parquet and Arrow files, and validating what is read
atomic.py           atomic_write: files that appear complete or not at all
blocks.py           iterating over vectors in blocks of rows
delimited.py        .csv and .tsv
destination.py      checks before a run that its result can be written
features.py         read_features: tables of node features
fitted_state.py     the fitted state of an embedding as JSON values, validated
metadata.py         parameters, graph and fitted state of an embedding as JSON
npy.py              .npy with the ids in a file beside it
npz.py              .npz; npz_arrays.py checks arrays before they are read
parquet.py          .parquet, reading
parquet_writer.py   .parquet, writing
positions.py        map positions as columns x and y of a vector file
preview.py          Preview: the first rows of a file
recognize.py        whether a file holds an embedding
table.py            embeddings as Arrow tables
text.py             lines of an id and numbers, for delimited.py and word2vec.py
thrift.py           Thrift's compact protocol, for parquet_writer.py
word2vec.py         the word2vec text and binary formats
frames.py           embeddings as tables of Arrow, pandas and polars
table_files.py      files of edges, links and results
graphs/             files -> graphs
labels/             files -> labels
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from hopvec.address import is_address
from hopvec.errors import FormatError, ParameterError
from hopvec.formats import arrow, delimited, npy, npz, parquet, word2vec
from hopvec.formats.arrow_data import declared_too_much, reason_of
from hopvec.formats.fitted_state import check_fits
from hopvec.formats.preview import Preview
from hopvec.graph.ids import first_duplicate
from hopvec.progress import Progress, no_progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding


class Format(Protocol):
    """The interface of a format module."""

    @property
    def DTYPES(self) -> tuple[str, ...]:  # noqa: N802
        """The dtypes that the format supports."""

    def write_embedding(
        self, embedding: Embedding, path: Path, dtype: str, progress: Progress
    ) -> None:
        """Write an embedding atomically."""

    def read_embedding(
        self, path: Path, progress: Progress, memory_limit: int | None = None
    ) -> Embedding:
        """Read an embedding; vectors beyond a limit in bytes go to a spill file, if possible."""


EMBEDDING_FORMATS: dict[str, Format] = {
    ".parquet": parquet,
    ".arrow": arrow,
    ".feather": arrow,
    ".npy": npy,
    ".npz": npz,
    ".csv": delimited,
    ".tsv": delimited,
    ".csv.gz": delimited,
    ".tsv.gz": delimited,
    ".txt": word2vec,
    ".vec": word2vec,
    ".bin": word2vec,
}

# The first bytes of a file decide before its suffix.
EMBEDDING_MAGIC: dict[bytes, Format] = {
    b"PAR1": parquet,
    b"ARROW1": arrow,
    b"\x93NUMPY": npy,
    b"PK\x03\x04": npz,
}

# The formats that can be previewed without reading the whole file.
PREVIEW_READERS: dict[Format, Callable[[Path], Preview]] = {
    parquet: parquet.read_preview,
    arrow: arrow.read_preview,
    npy: npy.read_preview,
}

DTYPES = ("float32", "float16")


def write_embedding(
    embedding: Embedding,
    path: str | PathLike[str],
    *,
    dtype: str = "float32",
    progress: Progress | None = None,
) -> None:
    """Write an embedding in the format given by the suffix of the path.

    `dtype` is "float32", or "float16" for half the size if the format supports it. `progress` is
    called with the number of rows written and the total.
    """
    path = Path(path)
    format_ = format_to_write(path, dtype)
    # The nodes of a graph are distinct: only ids from elsewhere need the time to compare them.
    _check_ids(path, embedding.ids, distinct=bool(embedding.graph))
    format_.write_embedding(embedding, path, dtype, progress or no_progress)


def format_to_write(path: Path, dtype: str = "float32") -> Format:
    """The format given by the suffix. Raises FormatError if it does not support `dtype`."""
    if dtype not in DTYPES:
        raise ParameterError(f"save: dtype must be one of {', '.join(DTYPES)}, got {dtype!r}.")
    format_ = format_named(path)
    if dtype not in format_.DTYPES:
        suffixes = [suffix for suffix, other in EMBEDDING_FORMATS.items() if dtype in other.DTYPES]
        raise FormatError(
            f"{path}: a {suffix_of(path)} file cannot hold {dtype}; use one of "
            f"{', '.join(suffixes)}."
        )
    return format_


def read_embedding(
    path: str | PathLike[str],
    *,
    progress: Progress | None = None,
    memory_limit: int | None = None,
) -> Embedding:
    """Read an embedding; the first bytes of the file decide its format, else the suffix.

    `progress` is called with the amount read and the total: rows, or bytes for text formats.
    Vectors beyond `memory_limit` bytes go to a spill file; .npy, .npz and binary word2vec ignore
    the limit. Raises FormatError if the file is damaged, whatever the library that reads it raises.
    """
    path = Path(path)
    return _checked(path, lambda: _read_all(path, progress or no_progress, memory_limit)).embedding


def read_preview(path: str | PathLike[str], *, progress: Progress | None = None) -> Preview:
    """Read the first rows and the number of rows; all rows if the format requires it."""
    path = Path(path)

    def read() -> Preview:
        preview = PREVIEW_READERS.get(_recognized(path))
        return preview(path) if preview else _read_all(path, progress or no_progress)

    return _checked(path, read)


def _read_all(path: Path, progress: Progress, memory_limit: int | None = None) -> Preview:
    embedding = _recognized(path).read_embedding(path, progress, memory_limit)
    return Preview(embedding, len(embedding))


def _checked(path: Path, read: Callable[[], Preview]) -> Preview:
    """Call `read`. Raises FormatError if it fails, or if ids are missing or repeated."""
    if not path.exists():
        if is_address(str(path)):
            raise FormatError(
                f"{path}: this is a database, not a file of vectors. Search its table with SQL, or "
                "load the file that it was exported from."
            )
        raise FormatError(f"{path}: there is no such file.")
    if not (path.is_file() or path.is_dir()):
        raise FormatError(
            f"{path}: vectors cannot be read from a pipe or a device. Save them to a file first."
        )
    try:
        preview = read()
        embedding = preview.embedding
        if embedding.fitted_state:
            check_fits(embedding.fitted_state, embedding.dim, embedding.graph.get("edges"))
    except FormatError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) and not declared_too_much(error, str(path)):
            raise
        raise FormatError(
            f"{path}: cannot be read as an embedding ({reason_of(error)})."
        ) from error
    _check_ids(path, preview.embedding.ids)
    return preview


def _check_ids(path: Path, ids: pa.Array, *, distinct: bool = False) -> None:
    """Raise FormatError unless ids can be stored; `distinct` if they are known to differ."""
    if ids.null_count:
        row = int(ids.is_null().index(True).as_py())
        raise FormatError(f"{path}, row {row:,}: the id is null.")
    try:
        ids.validate(full=True)
    except pa.ArrowInvalid as error:
        raise FormatError(f"{path}: an id is not UTF-8 text ({error}).") from error
    repeated = None if distinct else first_duplicate(ids)
    if repeated is not None:
        raise FormatError(f"{path}: the id {repeated!r} is repeated; ids must be unique.")


def _recognized(path: Path) -> Format:
    """The format of an existing file; a directory is Parquet, as Spark writes it."""
    if path.is_dir():
        return parquet
    with path.open("rb") as file:
        start = file.read(max(map(len, EMBEDDING_MAGIC)))
    for magic, format_ in EMBEDDING_MAGIC.items():
        if start.startswith(magic):
            return format_
    return format_named(path)


def format_named(path: Path) -> Format:
    """The format given by the suffix of the path. Raises FormatError if there is none."""
    if suffix_of(path) not in EMBEDDING_FORMATS:
        if path.is_dir():
            raise FormatError(f"{path}: this is a directory; name a file in it.")
        raise FormatError(
            f"{path}: {path.suffix!r} is not the suffix of an embedding format; "
            f"use one of {', '.join(EMBEDDING_FORMATS)}."
        )
    return EMBEDDING_FORMATS[suffix_of(path)]


def suffix_of(path: Path) -> str:
    """The suffix that decides the format, in lower case: .npy or .csv.gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:])
