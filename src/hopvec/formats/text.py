"""Text files with one vector per line: parses and formats many lines at once."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.blocks import RowBuffer
from hopvec.graph.id_encoder import parse_integer_ids
from hopvec.progress import Progress

READ_BYTES = 2 << 20
LINE_BYTES = 1 << 19
IF_EDGES = "If this is a graph, embed it first: hopvec embed FILE -o vectors.parquet."


@dataclass(frozen=True)
class LineFormat:
    """The columns of the lines below the header."""

    separator: str
    columns: list[str]
    """Their names, for error messages."""
    id: int = 0
    """The index of the id column; all others but `type` and `ignored` are numbers."""
    ignored: int | None = None
    """The index of a column to skip."""
    quoted: bool = True
    type: int | None = None
    """The index of a column of types of nodes."""

    @property
    def numbers(self) -> list[int]:
        """The indices of the columns of numbers."""
        others = (self.id, self.ignored, self.type)
        return [n for n in range(len(self.columns)) if n not in others]


def lines(
    ids: pa.Array, rows: NDArray[Any], separator: str, numbers_separator: str | None = None
) -> Iterator[pa.Buffer]:
    """Format ids and numbers as text, one line per row, in chunks of a few megabytes.

    Every number has the fewest digits that round-trip to the same float32. The numbers may be in
    one column, with a separator of their own.
    """
    import pyarrow.compute as pc

    step = max(1, LINE_BYTES // (4 * rows.shape[1]))
    for first in range(0, len(rows), step):
        block = rows[first : first + step]
        numbers = pa.array(block.reshape(-1)).cast(pa.string())
        offsets = pa.array(np.arange(0, block.size + 1, rows.shape[1], dtype=np.int32))
        lists = pa.ListArray.from_arrays(offsets, numbers)
        joined = pc.binary_join(lists, numbers_separator or separator)
        names = ids[first : first + step].cast(pa.string())
        joined = pc.binary_join_element_wise(names, joined, separator)
        _, _, text = pc.binary_join_element_wise(joined, "", "\n").buffers()
        yield text


def read_lines(
    path: Path, line_format: LineFormat, progress: Progress, memory_limit: int | None = None
) -> tuple[pa.Array, pa.ChunkedArray | None, NDArray[np.float32]]:
    """Read the ids, the types if there are any, and the vectors of the lines below the header.

    `progress` is called with the number of bytes read and the size of the file; see RowBuffer for
    `memory_limit`. Raises FormatError for the first line that does not match the format.
    """
    _check_last_line(path)
    try:
        return _parse_lines(path, line_format, progress, memory_limit)
    except pa.ArrowInvalid as error:
        raise _first_line_error(path, line_format) or error from error


def read_header(path: Path) -> str:
    """Read the first line, without its line break."""
    with open_text(path) as file:
        line = file.readline(1 << 26)
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}, line 1: byte {error.start:,} is not UTF-8 text.") from error
    if not text:
        raise FormatError(f"{path}: the file is empty.")
    return text.rstrip("\r\n")


def open_text(path: Path) -> BinaryIO | gzip.GzipFile:
    """Open a file for reading bytes, decompressed if its content is gzipped."""
    if is_gzipped(path):
        return gzip.open(path)
    return path.open("rb")


def is_gzipped(path: Path) -> bool:
    """Whether the file begins with the signature of gzip."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _parse_lines(
    path: Path, line_format: LineFormat, progress: Progress, memory_limit: int | None
) -> tuple[pa.Array, pa.ChunkedArray | None, NDArray[np.float32]]:
    import pyarrow.csv

    names = [str(number) for number in range(len(line_format.columns))]
    kinds = {name: pa.large_string() for name in names}
    kinds |= {names[number]: pa.float32() for number in line_format.numbers}
    buffer = RowBuffer(len(line_format.numbers), memory_limit)
    ids = [pa.array([], pa.large_string())]
    types: list[pa.Array] = []
    size = path.stat().st_size
    with pa.OSFile(str(path)) as file:
        batches = pyarrow.csv.open_csv(
            pa.CompressedInputStream(file, "gzip") if is_gzipped(path) else file,
            pyarrow.csv.ReadOptions(block_size=READ_BYTES, column_names=names, skip_rows=1),
            pyarrow.csv.ParseOptions(
                delimiter=line_format.separator,
                quote_char='"' if line_format.quoted else False,
                newlines_in_values=line_format.quoted,
            ),
            pyarrow.csv.ConvertOptions(column_types=kinds, null_values=[]),
        )
        for batch in batches:
            ids.append(batch.column(line_format.id))
            if line_format.type is not None:
                types.append(batch.column(line_format.type).dictionary_encode())
            rows = buffer.grow(len(batch))
            for dimension, number in enumerate(line_format.numbers):
                rows[:, dimension] = batch.column(number).to_numpy()
            progress(file.tell(), size)
    all_types = pa.chunked_array(types).unify_dictionaries() if types else None
    return parse_integer_ids(pa.concat_arrays(ids)), all_types, buffer.vectors


def _check_last_line(path: Path) -> None:
    """Refuse a file that may be truncated within its last number; gzip detects this itself."""
    if is_gzipped(path):
        return
    with path.open("rb") as file:
        file.seek(-1, 2)
        if file.read(1) not in b"\r\n":
            raise FormatError(
                f"{path}: the last line has no line break, so the file may be truncated at byte "
                f"{file.tell():,}. If it is complete, add a line break."
            )


def _first_line_error(path: Path, line_format: LineFormat) -> FormatError | None:
    """The error for the first line that does not match the format; None if all lines do."""
    with open_text(path) as file:
        text = (line.decode(errors="surrogateescape") for line in file)
        quote = '"' if line_format.quoted else None
        reader = csv.reader(text, delimiter=line_format.separator, quotechar=quote)
        next(reader)
        header_end = previous_end = reader.line_num
        for cells in reader:
            cause = _line_error(cells, line_format) if cells else None
            if cause:
                hint = f" {IF_EDGES}" if previous_end == header_end else ""
                return FormatError(f"{path}, line {previous_end + 1:,}: {cause}.{hint}")
            previous_end = reader.line_num
    return None


def _line_error(cells: list[str], line_format: LineFormat) -> str | None:
    if len(cells) != len(line_format.columns):
        return f"expected {len(line_format.columns)} columns, found {len(cells)}"
    if not cells[line_format.id].isascii() and not _is_text(cells[line_format.id]):
        return "the id is not UTF-8 text"
    for number in line_format.numbers:
        try:
            float(cells[number])
        except ValueError:
            shown = cells[number].encode(errors="replace").decode()
            return f"{shown[:40]!r} in column {line_format.columns[number]} is not a number"
    return None


def _is_text(cell: str) -> bool:
    try:
        cell.encode()
    except UnicodeEncodeError:
        return False
    return True
