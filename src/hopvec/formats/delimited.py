"""vectors.csv or .tsv, also gzipped: the header id, e0, e1, ..., then a vector a line."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.blocks import iter_blocks
from hopvec.formats.text import IF_EDGES, Layout, lines, read_header, read_lines
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

DTYPES = ("float32",)


def write_embedding(embedding: Embedding, path: Path, dtype: str, progress: Progress) -> None:
    """Writes a vector a line; ids are quoted where they must be."""
    separator = separator_of(path)
    with atomic_write(path) as (file,), packed(file, path) as text:
        names = ["id", *(f"e{number}" for number in range(embedding.dim))]
        text.write((separator.join(names) + "\n").encode())
        for ids, rows in iter_blocks(embedding, dtype, progress):
            for piece in lines(_quoted(ids, separator), rows, separator):
                text.write(piece)


def read_embedding(path: Path, progress: Progress) -> Embedding:
    """Reads ids, which are integers if all of them can be, and vectors; there are no parameters.

    The column `id`, or else the first, holds the ids; all others are numbers. `progress` is called
    with the bytes read and those of the file.
    """
    from hopvec.embedding import Embedding

    separator = separator_of(path)
    header = next(csv.reader([read_header(path)], delimiter=separator), [])
    if len(header) < 2:
        raise FormatError(
            f"{path}, line 1: a column of ids and at least one of numbers are needed, "
            f"found {header}."
        )
    if _is_data(header):
        raise FormatError(
            f"{path}, line 1: holds numbers where the names of the columns are needed, "
            f"such as {separator.join(['id', 'e0', 'e1'])!r}. {IF_EDGES}"
        )
    place = header.index("id") if "id" in header else 0
    ids, vectors = read_lines(path, Layout(separator, header, place), progress)
    return Embedding(vectors, ids)


def separator_of(path: Path) -> str:
    """What stands between the cells of a file, by its suffix."""
    return "\t" if ".tsv" in (suffix.lower() for suffix in path.suffixes[-2:]) else ","


@contextmanager
def packed(file: BinaryIO, path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    """The file to write text to, gzipped if the path says so."""
    if path.suffix.lower() == ".gz":
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as text:
            yield text
    else:
        yield file


def _quoted(ids: pa.Array, separator: str) -> pa.Array:
    """The ids with quotes around those that hold a separator, a quote or the end of a line."""
    import pyarrow.compute as pc

    if pa.types.is_integer(ids.type):
        return ids
    doubled = pc.replace_substring(ids, '"', '""').cast(pa.string())
    quoted = pc.binary_join_element_wise("", doubled, "", '"')
    return pc.if_else(pc.match_substring_regex(ids, f'[{separator}"\r\n]'), quoted, doubled)


def _is_data(header: list[str]) -> bool:
    """Whether a first line is a vector. The names 0, 1, 2 that pandas gives columns are not one."""
    if header[1:] == [str(number) for number in range(len(header) - 1)]:
        return False
    try:
        return bool([float(cell) for cell in header[1:]])
    except ValueError:
        return False
