"""vectors.txt or .vec and vectors.bin: the text and the binary format of word2vec.

Both begin with the line `count dim`. Below it are, in text, lines of an id and its numbers; in
binary, an id, a space and the numbers as little-endian float32, one after the other.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.blocks import BLOCK_BYTES, iter_blocks
from hopvec.formats.text import (
    IF_EDGES,
    Layout,
    lines,
    open_text,
    read_lines,
)
from hopvec.graph.id_encoder import parse_integer_ids
from hopvec.machine import release_pages
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

DTYPES = ("float32",)
WHITE_SPACE = r"^$|[\s\x0b\x{85}\pZ]"
LONGEST_ID = 1 << 20


def write_embedding(embedding: Embedding, path: Path, dtype: str, progress: Progress) -> None:
    """Writes the format that the suffix names. Raises FormatError for ids with whitespace."""
    _require_words(embedding, path)
    with atomic_write(path) as (file,):
        file.write(f"{len(embedding)} {embedding.dim}\n".encode())
        for ids, rows in iter_blocks(embedding, dtype, progress):
            if _is_binary(path):
                words = (f"{id} ".encode() for id in ids.to_pylist())
                numbers = rows.astype("<f4", copy=False)
                file.writelines(part for pair in zip(words, numbers, strict=True) for part in pair)
            else:
                file.writelines(lines(ids, rows, " "))


def read_embedding(path: Path, progress: Progress) -> Embedding:
    """Reads ids, which are integers if all of them can be, and vectors; there are no parameters.

    `progress` is called with the bytes read and those of the file.
    """
    from hopvec.embedding import Embedding

    count, dim = _header(path)
    if _is_binary(path):
        ids, vectors = _read_binary(path, count, dim, progress)
    else:
        ids, vectors = _read_text(path, dim, progress)
    if len(ids) != count:
        raise FormatError(f"{path}: {len(ids):,} vectors where line 1 announces {count:,}.")
    return Embedding(vectors, ids)


def _is_binary(path: Path) -> bool:
    return path.suffix.lower() == ".bin"


def _require_words(embedding: Embedding, path: Path) -> None:
    import pyarrow.compute as pc

    if pa.types.is_integer(embedding.ids.type):
        return
    wrong = pc.index(pc.match_substring_regex(embedding.ids, WHITE_SPACE), True).as_py()
    if wrong >= 0:
        raise FormatError(
            f"{path}: word2vec files cannot hold the id {embedding.ids[wrong].as_py()!r}, as ids "
            f"there end at whitespace; save as .parquet or .csv, or rename the node."
        )


def _header(path: Path) -> tuple[int, int]:
    """The count of vectors and their dim."""
    with open_text(path) as file:
        line = file.readline(100)
    match = re.fullmatch(rb"([0-9]{1,18}) ([1-9][0-9]{0,8})\s*\n", line)
    if not match:
        raise FormatError(
            f"{path}, line 1: the count of the vectors and their dim are needed, such as "
            f"'2708 128', found {line[:40].decode(errors='replace').rstrip()!r}. {IF_EDGES}"
        )
    return int(match[1]), int(match[2])


def _read_text(path: Path, dim: int, progress: Progress) -> tuple[pa.Array, NDArray[np.float32]]:
    columns = ["id", *(str(number) for number in range(1, dim + 1))]
    with open_text(path) as file:
        file.readline()
        spare = file.readline().rstrip(b"\r\n").endswith(b" ")  # as word2vec itself writes
    layout = Layout(" ", columns, quoted=False)
    if spare:
        layout = Layout(" ", [*columns, ""], ignored=dim + 1, quoted=False)
    return read_lines(path, layout, progress)


def _read_binary(
    path: Path, count: int, dim: int, progress: Progress
) -> tuple[pa.Array, NDArray[np.float32]]:
    size, width = path.stat().st_size, 4 * dim
    if count * (width + 2) > size:
        raise FormatError(
            f"{path}: ends at byte {size:,}, too early for {count:,} vectors of {dim}."
        )
    vectors, words = np.empty((count, dim), np.float32), []
    mapped = np.memmap(path, np.uint8, "r")
    data: Any = mapped.base  # the same bytes with the methods of bytes
    place = done = data.find(b"\n") + 1
    for row in range(count):
        end = data.find(b" ", place, place + LONGEST_ID)
        if end < 0 or end + 1 + width > size:
            raise FormatError(f"{path}, byte {place:,}: vector {row + 1:,} is cut short.")
        words.append(data[place:end].lstrip(b"\n"))  # word2vec ends each vector with a line
        vectors[row] = np.frombuffer(data, "<f4", dim, end + 1)
        place = end + 1 + width
        if place - done > BLOCK_BYTES:
            release_pages(mapped[done:place])
            done = place
            progress(done, size)
    progress(size, size)
    if data[place:].strip():
        raise FormatError(f"{path}, byte {place:,}: more follows the last vector.")
    return parse_integer_ids(_texts(path, words)), vectors


def _texts(path: Path, words: list[bytes]) -> pa.Array:
    for row, word in enumerate(words):
        try:
            word.decode()
        except UnicodeDecodeError:
            raise FormatError(
                f"{path}, vector {row + 1:,}: its id {word[:40]!r} is not UTF-8 text."
            ) from None
    return pa.array(words, pa.large_binary()).cast(pa.large_string())
