"""Text files with a vector a line: cells cut from lines, lines made of cells, both in bulk."""

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
LINE_BYTES = 4 << 20
IF_EDGES = "If these are edges, make vectors of them first: hopvec embed."


@dataclass(frozen=True)
class Layout:
    """How the lines below the header are cut into cells."""

    separator: str
    columns: list[str]
    """What each cell is, for people."""
    id: int = 0
    """Which cell is the id; all others are numbers."""
    ignored: int | None = None
    """Which cell is to be skipped."""
    quoted: bool = True

    @property
    def numbers(self) -> list[int]:
        """The cells that are numbers."""
        return [n for n in range(len(self.columns)) if n not in (self.id, self.ignored)]


def lines(ids: pa.Array, rows: NDArray[Any], separator: str) -> Iterator[pa.Buffer]:
    """The text of id and numbers, a line a row, in pieces of a few megabytes.

    Every number is the shortest that reads back to the same float32.
    """
    import pyarrow.compute as pc

    dim = rows.shape[1]
    step = max(1, LINE_BYTES // (4 * dim))
    for first in range(0, len(rows), step):
        here = rows[first : first + step]
        numbers = pa.array(here.reshape(-1)).cast(pa.string())
        ends = np.arange(0, here.size + 1, dim, dtype=np.int32)
        joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(ends), numbers), separator)
        names = ids[first : first + step].cast(pa.string())
        joined = pc.binary_join_element_wise(names, joined, separator)
        _, _, text = pc.binary_join_element_wise(joined, "", "\n").buffers()
        yield text


def read_lines(
    path: Path, layout: Layout, progress: Progress
) -> tuple[pa.Array, NDArray[np.float32]]:
    """The ids and vectors of the lines below the header.

    `progress` is called with the bytes read and those of the file. Raises FormatError with the
    first line that is not of the layout.
    """
    _require_last_line_ends(path)
    try:
        return _read_lines(path, layout, progress)
    except pa.ArrowInvalid as error:
        raise _first_wrong_line(path, layout) or error from error


def read_header(path: Path) -> str:
    """The first line, without its end."""
    with open_text(path) as file:
        line = file.readline(1 << 26)
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}, line 1: byte {error.start:,} is not UTF-8 text.") from error
    if not text:
        raise FormatError(f"{path}: is empty.")
    return text.rstrip("\r\n")


def open_text(path: Path) -> BinaryIO | gzip.GzipFile:
    """The bytes of the file, unpacked if it is gzipped, whatever it is called."""
    if is_gzipped(path):
        return gzip.open(path)
    return path.open("rb")


def is_gzipped(path: Path) -> bool:
    """Whether the file begins as gzip files do."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _read_lines(
    path: Path, layout: Layout, progress: Progress
) -> tuple[pa.Array, NDArray[np.float32]]:
    import pyarrow.csv

    names = [str(number) for number in range(len(layout.columns))]
    kinds = {name: pa.large_string() for name in names}
    kinds |= {names[number]: pa.float32() for number in layout.numbers}
    stack, ids = RowBuffer(len(layout.numbers)), [pa.array([], pa.large_string())]
    size = path.stat().st_size
    with pa.OSFile(str(path)) as file:
        batches = pyarrow.csv.open_csv(
            pa.CompressedInputStream(file, "gzip") if is_gzipped(path) else file,
            pyarrow.csv.ReadOptions(block_size=READ_BYTES, column_names=names, skip_rows=1),
            pyarrow.csv.ParseOptions(
                delimiter=layout.separator,
                quote_char='"' if layout.quoted else False,
                newlines_in_values=layout.quoted,
            ),
            pyarrow.csv.ConvertOptions(column_types=kinds, null_values=[]),
        )
        for batch in batches:
            ids.append(batch.column(layout.id))
            rows = stack.grow(len(batch))
            for place, number in enumerate(layout.numbers):
                rows[:, place] = batch.column(number).to_numpy()
            progress(file.tell(), size)
    return parse_integer_ids(pa.concat_arrays(ids)), stack.vectors


def _require_last_line_ends(path: Path) -> None:
    """Refuses a file cut in its last number, which would be another number. Gzip tells itself."""
    if is_gzipped(path):
        return
    with path.open("rb") as file:
        file.seek(-1, 2)
        if file.read(1) not in b"\r\n":
            raise FormatError(
                f"{path}: its last line does not end, so the file may be cut short at byte "
                f"{file.tell():,}; end the line if it is whole."
            )


def _first_wrong_line(path: Path, layout: Layout) -> FormatError | None:
    """What is wrong with the first line that is not of the layout; if all are, nothing."""
    with open_text(path) as file:
        text = (line.decode(errors="surrogateescape") for line in file)
        quote = '"' if layout.quoted else None
        reader = csv.reader(text, delimiter=layout.separator, quotechar=quote)
        next(reader)
        first = before = reader.line_num
        for cells in reader:
            wrong = _what_is_wrong(cells, layout) if cells else None
            if wrong:
                hint = f" {IF_EDGES}" if before == first else ""
                return FormatError(f"{path}, line {before + 1:,}: {wrong}.{hint}")
            before = reader.line_num
    return None


def _what_is_wrong(cells: list[str], layout: Layout) -> str | None:
    if len(cells) != len(layout.columns):
        found = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
        return f"{found} where {len(layout.columns)} are needed"
    if not cells[layout.id].isascii() and not _is_text(cells[layout.id]):
        return "the id is not UTF-8 text"
    for number in layout.numbers:
        try:
            float(cells[number])
        except ValueError:
            shown = cells[number].encode(errors="replace").decode()
            return f"{shown[:40]!r} in column {layout.columns[number]} is not a number"
    return None


def _is_text(cell: str) -> bool:
    try:
        cell.encode()
    except UnicodeEncodeError:
        return False
    return True
