""".mtx: a Matrix Market file. Row i of the file, counted from 1, is the node i - 1."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Matrix, checked_matrix
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.source import Source

SUFFIXES = (".mtx", ".mm")
OPTIONS = frozenset({"unweighted"})

BANNER = b"%%matrixmarket"
FIELDS = ("pattern", "integer", "unsigned-integer", "real", "double")
BLOCK = 1 << 22  # bytes parsed at a time


class Header(NamedTuple):
    """The first line: %%MatrixMarket matrix coordinate real symmetric."""

    item: str
    dialect: str
    field: str
    symmetry: str

    @property
    def width(self) -> int:
        """The numbers on the line of an entry."""
        return 2 if self.field == "pattern" else 3


class Block(NamedTuple):
    """Whole lines of the file, the first of which has this number."""

    line: int
    text: bytes


def recognize(source: Source) -> str | None:
    """The first line begins with %%MatrixMarket."""
    if source.head[: len(BANNER)].lower() == BANNER:
        return "it begins with %%MatrixMarket"
    return None


def read_edges(source: Source, options: ReadOptions) -> Matrix:
    """The adjacency matrix, both triangles of a symmetric one."""
    import scipy.sparse as sp

    header = _header(source)
    blocks = _blocks(source)
    nodes, count, rest = _size(source, blocks)
    rows, columns, values = _entries(source, header, nodes, count, chain([rest], blocks))
    symmetric = header.symmetry == "symmetric"
    if symmetric:
        other = rows != columns
        rows, columns = (
            np.concatenate([rows, columns[other]]),
            np.concatenate([columns, rows[other]]),
        )
        values = np.concatenate([values, values[other]])
    matrix = sp.coo_array((values, (rows, columns)), shape=(nodes, nodes))
    metadata: dict[str, Any] = {
        "matrix": f"{header.field}, {header.symmetry}",
        "ids": "row i of the file, counted from 1, is the node i - 1",
    }
    return checked_matrix(source.name, matrix, metadata, options.unweighted, symmetric or None)


def _header(source: Source) -> Header:
    line = source.head.split(b"\n", 1)[0].decode("utf-8", "replace")
    words = line.lower().split()
    if len(words) != 5 or words[0].encode() != BANNER:
        raise FormatError(
            f"{source.name}, line 1: a Matrix Market file begins with a line such as "
            f"'%%MatrixMarket matrix coordinate real symmetric', found {line.strip()[:60]!r}."
        )
    header = Header(*words[1:])
    for found, allowed in (
        (header.item, ("matrix",)),
        (header.dialect, ("coordinate",)),
        (header.field, FIELDS),
        (header.symmetry, ("general", "symmetric")),
    ):
        if found not in allowed:
            raise FormatError(
                f"{source.name}, line 1: a {found!r} Matrix Market file is no graph; here "
                f"{' or '.join(allowed)} is read."
            )
    return header


def _blocks(source: Source) -> Iterator[Block]:
    """The file in blocks of whole lines."""
    line, rest = 1, b""
    while data := source.read(BLOCK):
        whole, newline, rest_of_block = (rest + data).rpartition(b"\n")
        rest = rest_of_block
        if newline:
            yield Block(line, whole + newline)
            line += whole.count(b"\n") + 1
    if rest:
        yield Block(line, rest + b"\n")


def _size(source: Source, blocks: Iterator[Block]) -> tuple[int, int, Block]:
    """The numbers of nodes and of entries, and what follows them in their block."""
    for block in blocks:
        start = 0
        for number, line in enumerate(block.text.split(b"\n"), block.line):
            start += len(line) + 1
            words = line.split()
            if not words or line.startswith(b"%"):
                continue
            if len(words) != 3 or not all(word.isdigit() and len(word) < 16 for word in words):
                expected = "here stand the numbers of rows, columns and entries"
                raise _error(source, number, expected, line)
            rows, columns, count = map(int, words)
            if rows != columns:
                size = f"{rows:,} x {columns:,}".encode()
                raise _error(source, number, "an adjacency matrix is square", size)
            return rows, count, Block(number + 1, block.text[start:])
    raise FormatError(f"{source.name}: it ends before the numbers of rows, columns and entries.")


def _entries(
    source: Source, header: Header, nodes: int, count: int, blocks: Iterable[Block]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The rows, columns (both from 0 on) and values of all entries."""
    integers = np.int32 if nodes < 2**31 else np.int64
    rows, columns, values, found = [], [], [], 0
    for block in blocks:
        lines, table = _numbers(source, block, header.width)
        _check(source, block, lines, table, nodes)
        found += len(table)
        if found > count:
            line = int(lines[len(table) - (found - count)])
            raise FormatError(f"{source.name}, line {line:,}: here is more than {count:,} entries.")
        rows.append((table[:, 0] - 1).astype(integers))
        columns.append((table[:, 1] - 1).astype(integers))
        values.append(table[:, 2].copy() if header.width == 3 else np.ones(len(table), np.int8))
    if found < count:
        raise FormatError(f"{source.name}: it ends after {found:,} of {count:,} entries.")
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def _numbers(source: Source, block: Block, width: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The numbers of the entries of a block, one row each, and the lines they stand on."""
    text = block.text
    if b"%" in text:  # comments between the entries; their lines stay, so that numbers are right
        text = b"\n".join(b"" if line[:1] == b"%" else line for line in text.split(b"\n"))
    words = _words(text)
    wrong = np.flatnonzero((words != width) & (words != 0))
    if len(wrong):
        at = int(wrong[0])
        expected = f"an entry has {width} numbers"
        raise _error(source, block.line + at, expected, text.split(b"\n", at + 1)[at])
    lines = block.line + np.flatnonzero(words)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # what later versions raise
            numbers = np.fromstring(text, dtype=np.float64, sep=" ")
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != len(lines) * width:
        raise _no_number(source, block, text)
    return lines, numbers.reshape(-1, width)


def _words(text: bytes) -> NDArray[np.int64]:
    """How many words each line has."""
    characters = np.frombuffer(text, np.uint8)
    in_word = characters > ord(" ")
    starts = in_word.copy()
    starts[1:] &= ~in_word[:-1]
    ends = np.flatnonzero(characters == ord("\n"))
    return np.diff(np.cumsum(starts)[ends], prepend=0)


def _check(
    source: Source, block: Block, lines: NDArray[Any], table: NDArray[np.float64], nodes: int
) -> None:
    ends = table[:, :2]
    wrong = ((ends < 1) | (ends > nodes) | (ends != np.floor(ends))).any(axis=1)
    expected = f"rows and columns are integers from 1 to {nodes:,}"
    if not wrong.any():
        wrong = ~np.isfinite(table).all(axis=1)
        expected = "a weight is a finite number"
    if wrong.any():
        line = int(lines[np.argmax(wrong)])
        raise _error(source, line, expected, block.text.split(b"\n")[line - block.line])


def _no_number(source: Source, block: Block, text: bytes) -> FormatError:
    """The error of the first line of a block that holds something else than numbers."""
    for number, line in enumerate(text.split(b"\n"), block.line):
        for word in line.split():
            try:
                float(word)
            except ValueError:
                return _error(source, number, "an entry holds numbers", line)
    return FormatError(f"{source.name}, after line {block.line - 1:,}: an entry holds no numbers.")


def _error(source: Source, line: int, expected: str, found: bytes) -> FormatError:
    shown = found.decode("utf-8", "replace").strip()[:60]
    return FormatError(f"{source.name}, line {line:,}: {expected}, found {shown!r}.")
