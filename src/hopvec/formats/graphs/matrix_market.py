""".mtx: a Matrix Market file. Row i of the file, counted from 1, is the node i - 1.

scipy parses the entries. Every line is checked first, since scipy misreads malformed lines
silently: `1 2.5 1` as the entry `1 2 .5`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import (
    Matrix,
    check_matrix_memory,
    check_matrix_options,
    checked_matrix,
)
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions

SUFFIXES = (".mtx", ".mm")
OPTIONS = frozenset({"unweighted"})

BANNER = b"%%matrixmarket"
FIELDS = ("pattern", "integer", "unsigned-integer", "real", "double")
BLOCK_BYTES = 1 << 22  # bytes checked at a time
MAX_LINE = 1 << 24  # bytes
MIN_ENTRY_BYTES = 4  # "1 1" and the end of its line
ENTRY_BYTES, PATTERN_BYTES = 16, 9  # of an entry in memory: two indices and a value

NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
INDICES = r"[0-9]+[ \t]+[0-9]+"


class Header(NamedTuple):
    """The first line: %%MatrixMarket matrix coordinate real symmetric."""

    object: str
    format: str
    field: str
    symmetry: str

    @property
    def width(self) -> int:
        """The number of values on the line of an entry."""
        return 2 if self.field == "pattern" else 3

    @property
    def entry(self) -> str:
        """A regular expression for the line of an entry, without the end of the line."""
        weight = rf"[ \t]+{NUMBER}" if self.width == 3 else ""
        return rf"[ \t]*{INDICES}{weight}[ \t]*"


class SizeLine(NamedTuple):
    """The line with the number of rows, columns and entries."""

    line: int
    """Its line number, from 1."""
    nodes: int
    entries: int


def recognize(file: InputFile) -> str | None:
    """The file begins with %%MatrixMarket."""
    if file.head[: len(BANNER)].lower() == BANNER:
        return "it begins with %%MatrixMarket"
    return None


def read_edges(file: InputFile, options: ReadOptions) -> Matrix:
    """Return the adjacency matrix, both triangles of a symmetric one."""
    import scipy.sparse as sp

    header = _header(file)
    check_matrix_options(file.name, options)
    stream = file.stream()
    size = _size(file, stream)
    pattern = header.field == "pattern"
    entries = size.entries * (2 if header.symmetry == "symmetric" else 1)
    held = (PATTERN_BYTES if pattern else ENTRY_BYTES) * entries
    weighted = not (pattern or options.unweighted)
    check_matrix_memory(file.name, size.nodes, entries, held, weighted, options)
    matrix = _entries(file, header, size, stream)
    rows, columns, values = matrix.row, matrix.col, matrix.data
    if pattern:
        values = np.ones(len(rows), np.int8)
    symmetric = header.symmetry == "symmetric"
    if symmetric:
        other = rows != columns
        rows, columns = (
            np.concatenate([rows, columns[other]]),
            np.concatenate([columns, rows[other]]),
        )
        values = np.concatenate([values, values[other]])
    matrix = sp.coo_array((values, (rows, columns)), shape=matrix.shape)
    metadata: dict[str, Any] = {
        "matrix": f"{header.field}, {header.symmetry}",
        "ids": "row i of the file, counted from 1, is the node i - 1",
    }
    return checked_matrix(file.name, matrix, metadata, options.unweighted, symmetric or None)


def _header(file: InputFile) -> Header:
    line = file.head.split(b"\n", 1)[0].decode("utf-8", "replace")
    words = line.lower().split()
    if len(words) != 5 or words[0].encode() != BANNER:
        raise FormatError(
            f"{file.name}, line 1: a Matrix Market file begins with a line such as "
            f"'%%MatrixMarket matrix coordinate real symmetric', found {line.strip()[:60]!r}."
        )
    header = Header(*words[1:])
    for found, allowed in (
        (header.object, ("matrix",)),
        (header.format, ("coordinate",)),
        (header.field, FIELDS),
        (header.symmetry, ("general", "symmetric")),
    ):
        if found not in allowed:
            raise FormatError(
                f"{file.name}, line 1: Matrix Market files of type {found!r} are not "
                f"supported; the type must be {' or '.join(allowed)}."
            )
    return header


def _size(file: InputFile, stream: Any) -> SizeLine:
    """Read the file up to the line with the numbers of rows, columns and entries."""
    number = 0
    while line := stream.readline(MAX_LINE):
        number += 1
        words = line.split()
        if not words or line.startswith(b"%"):
            continue
        if len(words) != 3 or not all(word.isdigit() and len(word) < 16 for word in words):
            expected = "expected the numbers of rows, columns and entries"
            raise _error(file, number, expected, line)
        rows, columns, count = map(int, words)
        if rows != columns:
            shape = f"{rows:,} x {columns:,}".encode()
            raise _error(file, number, "an adjacency matrix must be square", shape)
        if file.plain_file and count * MIN_ENTRY_BYTES > file.size + 1:
            raise FormatError(
                f"{file.name}, line {number:,}: the file is too short for {count:,} entries."
            )
        return SizeLine(number, rows, count)
    raise FormatError(f"{file.name}: it ends before the numbers of rows, columns and entries.")


def _entries(file: InputFile, header: Header, size: SizeLine, stream: Any) -> Any:
    """The matrix of all entries, as scipy parses them."""
    import scipy.io

    try:
        matrix = scipy.io.mmread(_CheckedLines(file, header, size, stream))
    except FormatError:
        raise
    except MemoryError:
        raise FormatError(
            f"{file.name}, line {size.line:,}: there is not enough memory for {size.entries:,} "
            "entries."
        ) from None
    except (ValueError, OverflowError) as error:
        raise _translated(file, size, str(error)) from error
    if not np.isfinite(matrix.data).all():
        at = int(np.argmin(np.isfinite(matrix.data)))
        raise FormatError(
            f"{file.name}, entry of row {matrix.row[at] + 1:,} and column "
            f"{matrix.col[at] + 1:,}: the weight is too large for a float64."
        )
    return matrix


def _translated(file: InputFile, size: SizeLine, reason: str) -> FormatError:
    """The error for what scipy finds wrong: an index, or the number of entries."""
    missing = re.search(r"Expected another (\d+)", reason)
    if missing:
        found = size.entries - int(missing[1])
        return FormatError(f"{file.name}: it ends after {found:,} of {size.entries:,} entries.")
    match = re.match(r"Line (\d+): (.*)", reason)
    if not match:
        return FormatError(f"{file.name}: the entries cannot be read ({reason}).")
    line, what = int(match[1]), match[2].rstrip(".")
    if "out of bounds" in what or "out of range" in what:
        what = _indices_expected(size)
        if file.path is not None and not file.is_pipe:
            with InputFile(file.path) as again:
                return _error(file, line, what, next(islice(again.stream(), line - 1, None)))
    elif "Too many" in what:
        what = f"this entry is beyond the {size.entries:,} announced in line {size.line:,}"
    return FormatError(f"{file.name}, line {line:,}: {what}.")


def _indices_expected(size: SizeLine) -> str:
    return f"rows and columns must be integers from 1 to {size.nodes:,}"


class _CheckedLines:
    """A file for scipy: the header, the sizes and the entries, each line of which was checked.

    Line numbers stay those of the file. Comments between the entries, which scipy does not read,
    become empty lines.
    """

    def __init__(self, file: InputFile, header: Header, size: SizeLine, stream: Any) -> None:
        self._file, self._header, self._size, self._stream = file, header, size, stream
        self._line = size.line + 1
        kind = "pattern" if header.width == 2 else "real"
        start = f"%%MatrixMarket matrix coordinate {kind} general\n" + "%\n" * (size.line - 2)
        sizes = f"{size.nodes} {size.nodes} {size.entries}\n"
        self._blocks = chain([(start + sizes).encode()], self._checked_blocks())
        self._block = io.BytesIO()

    def read(self, size: int = -1) -> bytes:
        """The next bytes: at most `size`, and none at the end of the file."""
        while not (part := self._block.read(size)):
            block = next(self._blocks, None)
            if block is None:
                return b""
            self._block = io.BytesIO(block)
        return part

    def _checked_blocks(self) -> Iterator[bytes]:
        """The rest of the file in blocks of whole lines."""
        entries = rf"\A(?:(?:{self._header.entry}|[ \t]*)\r?\n)*\z"
        rest = b""
        while data := self._stream.read(BLOCK_BYTES):
            whole, newline, rest = (rest + data).rpartition(b"\n")
            if newline:
                yield self._checked(whole + newline, entries)
            if len(rest) > MAX_LINE:
                raise self._wrong_entry(self._line, rest)
        if rest:
            yield self._checked(rest + b"\n", entries)

    def _checked(self, block: bytes, entries: str) -> bytes:
        """The block, in which all lines are entries or empty."""
        import pyarrow.compute as pc

        if b"%" in block:
            lines = block.split(b"\n")
            block = b"\n".join(b"" if line[:1] == b"%" else line for line in lines)
        if not pc.match_substring_regex(pa.array([block], pa.large_binary()), entries)[0].as_py():
            entry = re.compile(rf"(?:{self._header.entry}|[ \t]*)\r?".encode())
            numbered = enumerate(block.split(b"\n"), self._line)
            raise self._wrong_entry(
                *next(pair for pair in numbered if not entry.fullmatch(pair[1]))
            )
        self._line += block.count(b"\n")
        return block

    def _wrong_entry(self, number: int, line: bytes) -> FormatError:
        """The error for a line that is not an entry."""
        words, width = line[:MAX_LINE].split(), self._header.width
        if len(words) != width:
            expected = f"an entry must have {width} numbers"
        elif not all(word.isdigit() for word in words[:2]):
            expected = _indices_expected(self._size)
        else:
            expected = "a weight must be a finite number"
        return _error(self._file, number, expected, line)


def _error(file: InputFile, line: int, expected: str, found: bytes) -> FormatError:
    shown = found[:1000].decode("utf-8", "replace").strip()[:60]
    return FormatError(f"{file.name}, line {line:,}: {expected}, found {shown!r}.")
