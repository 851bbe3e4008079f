"""Files <-> embeddings. A new format is one file and one line in the table."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hopvec.errors import FormatError, ParameterError
from hopvec.formats import arrow, delimited, npy, npz, parquet, word2vec
from hopvec.formats.preview import Preview
from hopvec.graph.ids import first_duplicate
from hopvec.progress import Progress, no_progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding


class Format(Protocol):
    """What the module of a format offers."""

    @property
    def DTYPES(self) -> tuple[str, ...]:  # noqa: N802
        """The types of number it can hold."""

    def write_embedding(
        self, embedding: Embedding, path: Path, dtype: str, progress: Progress
    ) -> None:
        """Writes an embedding; a file of that name is replaced whole or not at all."""

    def read_embedding(self, path: Path, progress: Progress) -> Embedding:
        """Reads what `write_embedding` wrote."""


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

# How files begin that say themselves what they are, whatever they are called.
EMBEDDING_MAGIC: dict[bytes, Format] = {
    b"PAR1": parquet,
    b"ARROW1": arrow,
    b"\x93NUMPY": npy,
    b"PK\x03\x04": npz,
}

# Those that can tell their first rows and the number of all without reading the rest.
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
    """Writes an embedding in the format that the suffix of the path names.

    `dtype` is "float32", or "float16" for half the size where the format can hold it; `progress` is
    called with the rows written and their number.
    """
    path = Path(path)
    format_to_write(path, dtype).write_embedding(embedding, path, dtype, progress or no_progress)


def format_to_write(path: Path, dtype: str = "float32") -> Format:
    """The format that the suffix of the path names. Raises FormatError if it holds no `dtype`."""
    if dtype not in DTYPES:
        raise ParameterError(f"save: dtype must be one of {', '.join(DTYPES)}, got {dtype!r}.")
    format_ = format_named(path)
    if dtype not in format_.DTYPES:
        able = [suffix for suffix, other in EMBEDDING_FORMATS.items() if dtype in other.DTYPES]
        raise FormatError(
            f"{path}: a {suffix_of(path)} file cannot hold {dtype}; use one of {', '.join(able)}."
        )
    return format_


def read_embedding(path: str | PathLike[str], *, progress: Progress | None = None) -> Embedding:
    """Reads an embedding from the format that the file begins as, or else its suffix names.

    `progress` is called with how much is read, and of how much: rows, or bytes of text. Raises
    FormatError for whatever a damaged file makes the libraries below raise.
    """
    path = Path(path)
    return _checked(path, lambda: _whole(path, progress or no_progress)).embedding


def read_preview(path: str | PathLike[str], *, progress: Progress | None = None) -> Preview:
    """Reads the first rows of an embedding and the number of all, or all where it must."""
    path = Path(path)

    def start() -> Preview:
        begin = PREVIEW_READERS.get(_recognized(path))
        return begin(path) if begin else _whole(path, progress or no_progress)

    return _checked(path, start)


def _whole(path: Path, progress: Progress) -> Preview:
    embedding = _recognized(path).read_embedding(path, progress)
    return Preview(embedding, len(embedding))


def _checked(path: Path, read: Callable[[], Preview]) -> Preview:
    """What is read. Raises FormatError if it fails, or if the ids are none or repeated."""
    if not path.exists():
        raise FormatError(f"{path}: there is no such file.")
    try:
        start = read()
    except (FormatError, MemoryError):
        raise
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(". ")
        raise FormatError(f"{path}: cannot be read as an embedding ({reason}).") from error
    ids = start.embedding.ids
    if ids.null_count or str(ids.type) not in ("int64", "string", "large_string"):
        raise FormatError(
            f"{path}: its ids must be int64 or strings without nulls, got {ids.type}."
        )
    twice = first_duplicate(ids)
    if twice is not None:
        raise FormatError(
            f"{path}: the id {twice!r} comes more than once, and every row must have its own."
        )
    return start


def _recognized(path: Path) -> Format:
    """The format of a file that is there; a folder holds Parquet, as Spark writes it."""
    if path.is_dir():
        return parquet
    with path.open("rb") as file:
        start = file.read(max(map(len, EMBEDDING_MAGIC)))
    for magic, format_ in EMBEDDING_MAGIC.items():
        if start.startswith(magic):
            return format_
    return format_named(path)


def format_named(path: Path) -> Format:
    """The format that the suffix of the path names. Raises FormatError if there is none."""
    if suffix_of(path) not in EMBEDDING_FORMATS:
        raise FormatError(
            f"{path}: the suffix {path.suffix!r} names no format for embeddings; "
            f"use one of {', '.join(EMBEDDING_FORMATS)}."
        )
    return EMBEDDING_FORMATS[suffix_of(path)]


def suffix_of(path: Path) -> str:
    """The end of the name that tells the format, such as .npy or .csv.gz."""
    ends = [suffix.lower() for suffix in path.suffixes]
    return "".join(ends[-2:] if ends[-1:] == [".gz"] else ends[-1:])
