""".txt, .vec and .bin: the text and binary formats of word2vec.

Both begin with the line `count dim`. In the text format, lines with an id and its numbers follow;
in the binary one, an id, a space and the numbers as little-endian float32 for each vector.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.blocks import iter_blocks
from hopvec.formats.text import IF_EDGES, LineFormat, is_gzipped, lines, open_text, read_lines
from hopvec.graph.id_encoder import parse_integer_ids
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

DTYPES = ("float32",)
EMPTY_OR_WHITESPACE = r"^$|[\s\x0b\x{85}\pZ]"
MAX_ID_BYTES = 1 << 20
BLOCK_BYTES = 4 << 20  # of a binary file, read at a time
MAX_DEFLATE_RATIO = 1032  # decompressed bytes per byte of gzip data


def write_embedding(embedding: Embedding, path: Path, dtype: str, progress: Progress) -> None:
    """Write the format given by the suffix. Raises FormatError for ids with whitespace."""
    _check_ids(embedding, path)
    with atomic_write(path) as (file,):
        file.write(f"{len(embedding)} {embedding.dim}\n".encode())
        for (ids, *_), rows in iter_blocks(embedding, dtype, progress):
            if _is_binary(path):
                names = (f"{id} ".encode() for id in ids.to_pylist())
                numbers = rows.astype("<f4", copy=False)
                file.writelines(part for pair in zip(names, numbers, strict=True) for part in pair)
            else:
                file.writelines(lines(ids, rows, " "))


def read_embedding(path: Path, progress: Progress, memory_limit: int | None = None) -> Embedding:
    """Read ids, as integers if all of them are, and vectors; the format holds no parameters.

    `progress` is called with the number of bytes read and the size of the file.
    """
    from hopvec.embedding import Embedding

    count, dim = _header(path)
    if not count:
        _check_no_vectors(path)
        return Embedding(np.empty((0, dim), np.float32), pa.array([], pa.large_string()))
    if _is_binary(path):
        ids, vectors = _read_binary(path, count, dim, progress)
    else:
        _check_size(path, count, dim, 2 * dim)  # a digit and a space for each number
        ids, vectors = _read_text(path, dim, progress, memory_limit)
    if len(ids) != count:
        raise FormatError(
            f"{path}: the number of vectors is {len(ids):,}, but line 1 says {count:,}."
        )
    return Embedding(vectors, ids)


def _is_binary(path: Path) -> bool:
    return path.suffix.lower() == ".bin"


def _check_ids(embedding: Embedding, path: Path) -> None:
    import pyarrow.compute as pc

    if pa.types.is_integer(embedding.ids.type):
        return
    row = pc.index(pc.match_substring_regex(embedding.ids, EMPTY_OR_WHITESPACE), True).as_py()
    if row >= 0:
        raise FormatError(
            f"{path}: word2vec files cannot hold the id {embedding.ids[row].as_py()!r}, since ids "
            "must not be empty or contain whitespace. Save as .parquet or .csv, or rename the node."
        )


def _header(path: Path) -> tuple[int, int]:
    """The number of vectors and their dim."""
    with open_text(path) as file:
        line = file.readline(100)
    match = re.fullmatch(rb"([0-9]{1,18}) ([1-9][0-9]{0,8})\s*\n", line)
    if not match:
        raise FormatError(
            f"{path}, line 1: expected the number of vectors and their dim, such as '2708 128', "
            f"found {line[:40].decode(errors='replace').rstrip()!r}. {IF_EDGES}"
        )
    return int(match[1]), int(match[2])


def _check_no_vectors(path: Path) -> None:
    with open_text(path) as file:
        file.readline()
        if file.read(MAX_ID_BYTES).strip():
            raise FormatError(f"{path}: there are vectors in it, but line 1 says 0.")


def _check_size(path: Path, count: int, dim: int, width: int) -> None:
    """Raise FormatError if a file is too short for its vectors, of `width` bytes at least."""
    size = path.stat().st_size
    if count * width > size * (MAX_DEFLATE_RATIO if is_gzipped(path) else 1):
        raise FormatError(
            f"{path}: the file is truncated: its {size:,} bytes are too few for {count:,} vectors "
            f"of dim {dim}."
        )


def _read_text(
    path: Path, dim: int, progress: Progress, memory_limit: int | None
) -> tuple[pa.Array, NDArray[np.float32]]:
    columns = ["id", *(str(number) for number in range(1, dim + 1))]
    with open_text(path) as file:
        file.readline()
        trailing_space = file.readline().rstrip(b"\r\n").endswith(b" ")  # written by word2vec
    line_format = LineFormat(" ", columns, quoted=False)
    if trailing_space:
        line_format = LineFormat(" ", [*columns, ""], ignored=dim + 1, quoted=False)
    ids, _, vectors = read_lines(path, line_format, progress, memory_limit)
    return ids, vectors


def _read_binary(
    path: Path, count: int, dim: int, progress: Progress
) -> tuple[pa.Array, NDArray[np.float32]]:
    size, width = path.stat().st_size, 4 * dim
    _check_size(path, count, dim, width + 2)
    vectors, names = np.empty((count, dim), np.float32), []
    with path.open("rb") as file:
        position = len(file.readline())
        data, start, ended = b"", 0, False
        for row in range(count):
            if not ended and len(data) - start < MAX_ID_BYTES + 1 + width:
                more = file.read(BLOCK_BYTES + width)
                data, start, ended = data[start:] + more, 0, not more
                progress(position, size)
            end = data.find(b" ", start, start + MAX_ID_BYTES)
            if end < 0 or end + 1 + width > len(data):
                raise FormatError(f"{path}, byte {position:,}: vector {row + 1:,} is truncated.")
            names.append(data[start:end].lstrip(b"\n"))  # word2vec ends vectors with a line break
            vectors[row] = np.frombuffer(data, "<f4", dim, end + 1)
            position += end + 1 + width - start
            start = end + 1 + width
        if data[start:].strip() or file.read(MAX_ID_BYTES).strip():
            raise FormatError(f"{path}, byte {position:,}: unexpected data after the last vector.")
    progress(size, size)
    return parse_integer_ids(_decoded(path, names)), vectors


def _decoded(path: Path, names: list[bytes]) -> pa.Array:
    for row, name in enumerate(names):
        try:
            name.decode()
        except UnicodeDecodeError:
            raise FormatError(
                f"{path}, vector {row + 1:,}: the id {name[:40]!r} is not UTF-8 text."
            ) from None
    return pa.array(names, pa.large_binary()).cast(pa.large_string())
