"""Files <-> embeddings. A new format is one file and one line in the table."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hopvec.errors import FormatError
from hopvec.formats import npy, npz

if TYPE_CHECKING:
    from hopvec.embedding import Embedding


class Format(Protocol):
    """What the module of a format offers."""

    def write_embedding(self, embedding: Embedding, path: Path) -> None:
        """Writes an embedding; a file of that name is replaced whole or not at all."""

    def read_embedding(self, path: Path) -> Embedding:
        """Reads what `write_embedding` wrote."""


EMBEDDING_FORMATS: dict[str, Format] = {
    ".npy": npy,
    ".npz": npz,
}


def write_embedding(embedding: Embedding, path: str | PathLike[str]) -> None:
    """Writes an embedding in the format that the suffix of the path names."""
    _format(Path(path)).write_embedding(embedding, Path(path))


def read_embedding(path: str | PathLike[str]) -> Embedding:
    """Reads an embedding from the format that the suffix of the path names.

    Raises FormatError for whatever a damaged file makes the libraries below raise.
    """
    path = Path(path)
    if not path.is_file():
        raise FormatError(f"{path}: there is no such file.")
    format_ = _format(path)
    try:
        embedding = format_.read_embedding(path)
    except (FormatError, MemoryError):
        raise
    except Exception as error:
        raise FormatError(f"{path}: not an embedding that hopvec wrote ({error}).") from error
    kind = embedding.ids.type
    if embedding.ids.null_count or str(kind) not in ("int64", "string", "large_string"):
        raise FormatError(f"{path}: its ids must be int64 or strings without nulls, got {kind}.")
    return embedding


def _format(path: Path) -> Format:
    if path.suffix not in EMBEDDING_FORMATS:
        raise FormatError(
            f"{path}: the suffix {path.suffix!r} names no format for embeddings; "
            f"use one of {', '.join(EMBEDDING_FORMATS)}."
        )
    return EMBEDDING_FORMATS[path.suffix]
