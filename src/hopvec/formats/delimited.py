""".csv and .tsv, also gzipped: the header id, e0, e1, ..., then one vector per line.

If nodes have types, a column `type` follows the ids.
"""

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
from hopvec.formats.blocks import iter_blocks, node_columns
from hopvec.formats.text import IF_EDGES, LineFormat, lines, read_header, read_lines
from hopvec.graph.columns import name_edges
from hopvec.progress import Progress, no_progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

DTYPES = ("float32",)


def write_embedding(embedding: Embedding, path: Path, dtype: str, progress: Progress) -> None:
    """Write one vector per line; ids are quoted if necessary."""
    with atomic_write(path) as (file,), compressed(file, path) as text:
        write_csv(embedding, text, separator_of(path), progress)


def write_csv(
    embedding: Embedding,
    file: BinaryIO | gzip.GzipFile,
    separator: str = ",",
    progress: Progress = no_progress,
) -> None:
    """Write the header and all vectors to an open file."""
    beside = node_columns(embedding, slice(0))
    names = [*beside, *(f"e{column}" for column in range(embedding.dim))]
    file.write((separator.join(names) + "\n").encode())
    for columns, rows in iter_blocks(embedding, "float32", progress):
        for chunk in lines(joined_columns(columns, separator), rows, separator):
            file.write(chunk)


def read_embedding(path: Path, progress: Progress, memory_limit: int | None = None) -> Embedding:
    """Read ids, as integers if all of them are, and vectors; the format holds no parameters.

    The ids are in the column `id` or else in the first one. If the second column is called `type`,
    it holds the types of the nodes. All other columns are numbers.
    `progress` is called with the number of bytes read and the size of the file.
    """
    from hopvec.embedding import Embedding

    separator = separator_of(path)
    header = next(csv.reader([read_header(path)], delimiter=separator), [])
    if len(header) < 2:
        raise FormatError(
            f"{path}, line 1: expected a column of ids and at least one column of numbers, "
            f"found {header}. {IF_EDGES}"
        )
    if _is_data(header):
        raise FormatError(
            f"{path}, line 1: expected a header of column names such as "
            f"{separator.join(['id', 'e0', 'e1'])!r}, found numbers. {IF_EDGES}"
        )
    if "id" not in header and name_edges(header):
        raise FormatError(
            f"{path}: this is a graph, not vectors; its columns are {', '.join(header[:5])}. Embed "
            f"it first: hopvec embed FILE -o vectors.parquet."
        )
    id_column = header.index("id") if "id" in header else 0
    type_column = 1 if header[:2] == ["id", "type"] and len(header) > 2 else None
    line_format = LineFormat(separator, header, id_column, type=type_column)
    ids, types, vectors = read_lines(path, line_format, progress, memory_limit)
    return Embedding(vectors, ids, types=types)


def separator_of(path: Path) -> str:
    """The separator of a file, by its suffix."""
    return "\t" if ".tsv" in (suffix.lower() for suffix in path.suffixes[-2:]) else ","


@contextmanager
def compressed(file: BinaryIO, path: Path) -> Iterator[BinaryIO | gzip.GzipFile]:
    """The file itself, or a gzip stream to it if the path ends in .gz."""
    if path.suffix.lower() == ".gz":
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as text:
            yield text
    else:
        yield file


def joined_columns(columns: list[pa.Array], separator: str) -> pa.Array:
    """The columns beside the vectors as text, quoted if necessary; a missing type is empty."""
    import pyarrow.compute as pc

    quoted = [_quoted(column, separator).cast(pa.string()) for column in columns]
    if len(quoted) == 1:
        return quoted[0]
    return pc.binary_join_element_wise(*(pc.fill_null(one, "") for one in quoted), separator)


def _quoted(ids: pa.Array, separator: str) -> pa.Array:
    """The ids, with quotes around those that contain a separator, a quote or a line break."""
    import pyarrow.compute as pc

    if pa.types.is_integer(ids.type):
        return ids
    doubled = pc.replace_substring(ids, '"', '""').cast(pa.string())
    quoted = pc.binary_join_element_wise("", doubled, "", '"')
    return pc.if_else(pc.match_substring_regex(ids, f'[{separator}"\r\n]'), quoted, doubled)


def _is_data(header: list[str]) -> bool:
    """Whether the first line is a vector. The column names 0, 1, 2 of pandas are not."""
    if header[1:] == [str(number) for number in range(len(header) - 1)]:
        return False
    try:
        return bool([float(cell) for cell in header[1:]])
    except ValueError:
        return False
