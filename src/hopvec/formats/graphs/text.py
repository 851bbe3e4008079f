"""Edge lists as delimited text: CSV, TSV or whitespace; the dialect is detected."""

from __future__ import annotations

import csv
import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs.bad_rows import SKIP_ADVICE
from hopvec.formats.graphs.dialect import (
    DECIMAL_COMMA,
    ICONV,
    OPEN_QUOTE,
    SEPARATOR_NAMES,
    Dialect,
    find_dialect,
    is_number,
)
from hopvec.formats.graphs.edges import Batch, EdgeStream, column_metadata
from hopvec.formats.graphs.input_file import HEAD, InputFile
from hopvec.formats.graphs.lines import Block, Lines, parse_ahead
from hopvec.formats.graphs.node_rows import NODE_COLUMNS, NodeRows
from hopvec.formats.graphs.options import ReadOptions
from hopvec.graph.columns import (
    EDGES,
    EdgeColumns,
    choose_columns,
    chosen_by_position_warning,
    look_like_column_names,
    unused_numbers_warning,
)

logger: logging.Logger = logging.getLogger("hopvec")

SUFFIXES = (".csv", ".tsv", ".txt", ".edges", ".edgelist", ".el", ".tab", ".dat")
OPTIONS = frozenset(
    {
        *("source", "target", "weight", "unweighted", "relation", "time"),
        *("separator", "header", "comment"),
    }
)

TIMESTAMP = re.compile(r"1\d{9}(\d{3})?")  # from 2001 to 2033, in seconds or milliseconds
WRONG_ROW = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")  # pyarrow's message


def recognize(file: InputFile) -> str | None:
    """Any text may be an edge list, so this format comes last."""
    if not file.head or b"\0" in file.head:
        return None
    try:
        file.head[: len(file.head) - 4 * (len(file.head) == HEAD)].decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return None
    return "it is text"


def read_edges(file: InputFile, options: ReadOptions) -> EdgeStream:
    """Detect the dialect, choose the columns, and stream the edges in blocks of lines."""
    dialect, rows = find_dialect(file, options)
    names = rows[0] if dialect.header else None
    body = rows[1:] if dialect.header else rows
    numeric = [_fraction_of_numbers(body, at, dialect) for at in range(dialect.count)]
    _check_is_edge_list(file.name, rows, dialect, options)
    _check_weight_number(file.name, dialect, options)
    columns = choose_columns(
        file.name, names, dialect.count, numeric, options._columns, header_found=dialect.header
    )
    node_rows = NodeRows.find(names) if options._pairs is EDGES else None
    if node_rows is not None:  # the columns before the edges are properties of nodes
        numeric[: columns.source] = [0.0] * columns.source
    for warning in (
        *_column_warnings(names, body, numeric, columns, options),
        *_dialect_warnings(rows, dialect, columns, options),
    ):
        logger.warning("%s: %s", file.name, warning)
    metadata: dict[str, Any] = {
        "separator": SEPARATOR_NAMES.get(dialect.separator, dialect.separator),
        "header": dialect.header,
        **column_metadata(names or [str(at + 1) for at in range(dialect.count)], columns),
    }
    if dialect.decimal != "." and columns.weight is not None:
        metadata["decimal mark"] = SEPARATOR_NAMES[dialect.decimal]
    if node_rows is not None:
        metadata["ignored"] = [name for name in metadata["ignored"] if name not in NODE_COLUMNS]
    lines = edge_lines(file, dialect, options)

    def line(edge: int) -> int:
        return lines.number(edge if node_rows is None else node_rows.row(edge))

    batches = _batches(
        file, lines, dialect, columns, metadata, node_rows, line, skip=options.bad_rows == "skip"
    )
    stream = EdgeStream(
        batches,
        metadata,
        untyped=True,
        decimal=dialect.decimal,
        locate=lambda edge: f"line {line(edge):,}",
        relations=columns.relation is not None,
    )
    if node_rows is not None:
        stream.batches = node_rows.add_nodes(stream, file.name, batches)
    return stream


def _fraction_of_numbers(rows: list[list[str]], at: int, dialect: Dialect) -> float:
    """The fraction of the cells of a column that are numbers."""
    cells = [row[at] for row in rows if at < len(row)]
    return sum(map(dialect.is_number, cells)) / max(1, len(cells))


def _column_warnings(
    names: list[str] | None,
    body: list[list[str]],
    numeric: list[float],
    columns: EdgeColumns,
    options: ReadOptions,
) -> Iterator[str]:
    """Warnings about the columns that were chosen."""
    if names:
        warnings = (
            chosen_by_position_warning(names, columns, options._columns),
            unused_numbers_warning(names, numeric, columns, options._columns),
        )
        yield from filter(None, warnings)
    elif options.weight is None and columns.weight is not None:
        cells = [row[columns.weight] for row in body if len(row) > columns.weight]
        if all(map(TIMESTAMP.fullmatch, cells)):
            yield (
                f"Column {columns.weight + 1} is used as the weight, although its numbers look "
                f"like timestamps: pass time={columns.weight + 1} to read it as the time of the "
                "edges, or unweighted=True to ignore it."
            )
    if columns.weight is None and not options.unweighted:
        for at in (at for at in range(len(numeric)) if at not in columns):
            cells = [row[at] for row in body if at < len(row)]
            if any("," in cell for cell in cells) and all(map(DECIMAL_COMMA.fullmatch, cells)):
                name = repr(names[at]) if names else f"column {at + 1}"
                yield (
                    f"No column is used as the weight, although {name} looks like numbers with "
                    f"commas ({cells[0]}), which may or may not be decimal marks: write them with "
                    "points."
                )


def _dialect_warnings(
    rows: list[list[str]], dialect: Dialect, columns: EdgeColumns, options: ReadOptions
) -> Iterator[str]:
    """Warnings about how the lines were read."""
    if options.header is None and not dialect.header and _may_be_header(rows, columns):
        yield (
            f"line 1 ({', '.join(rows[0])}) is read as {options._pairs.one}, although its names "
            "occur nowhere else: pass header=True if it names the columns."
        )
    attributes = dialect.attributes
    if attributes and attributes.example and not attributes.weighted and not options.unweighted:
        yield (
            f"The attributes of the edges, such as {{{attributes.example[:40]}}}, have no 'weight' "
            "and are ignored. To use another attribute, write it alone: "
            "networkx.write_edgelist(graph, path, data=['capacity'])."
        )


def _check_is_edge_list(
    name: str, rows: list[list[str]], dialect: Dialect, options: ReadOptions
) -> None:
    """Raise FormatError for vectors and adjacency matrices, unless columns are requested."""
    if options.source is not None or options.target is not None:
        return
    if dialect.header and rows[0] == ["id", *(f"e{at}" for at in range(dialect.count - 1))]:
        raise FormatError(
            f"{name}: these are vectors written by hopvec, not {options._pairs.many}."
        )
    square = dialect.count > 3 and dialect.count == len(rows) and not dialect.header
    if square and all(is_number(cell) for row in rows for cell in row):
        raise FormatError(
            f"{name}: {dialect.count} lines of {dialect.count} numbers look like an adjacency "
            "matrix. Read it with Graph.from_scipy(numpy.loadtxt(...)), or choose the columns of "
            "an edge list with source= and target=."
        )


def _check_weight_number(name: str, dialect: Dialect, options: ReadOptions) -> None:
    """Raise FormatError for weight=1 without a header, which may be a slip for weights=1.

    It would make ids of the other columns, which may be the weights.
    """
    ends_given = options.source is not None and options.target is not None
    by_number = str(options.weight).isdecimal() and not dialect.header
    if by_number and options.header is None and not ends_given:
        raise FormatError(
            f"{name}: weight={options.weight} is the number of a column. Confirm that the first "
            f"line is {dialect.pairs.one} with header=False, or choose source= and target= as well."
        )


def _may_be_header(rows: list[list[str]], columns: EdgeColumns) -> bool:
    """Whether the first row may name the columns, because its ids occur in no other row.

    In addition, nearly all other rows share ids, or the first row is a pair of common names.
    """
    ends = [
        (row[columns.source], row[columns.target]) for row in rows if len(row) > max(columns[:2])
    ]
    counts = Counter(id for pair in ends for id in set(pair))
    unique = [all(counts[id] == 1 for id in pair) for pair in ends]
    if len(unique) < 2 or not unique[0] or any(map(is_number, rows[0])):
        return False
    rare = len(unique) > 2 and sum(unique) <= max(1, len(unique) // 5)
    return rare or look_like_column_names(*ends[0])


def edge_lines(file: InputFile, dialect: Dialect, options: ReadOptions) -> Lines:
    """The lines of a text after its header, without comments."""

    def might_be_edge(line: str) -> bool:
        short = options.comment is None and len(line) < HEAD
        return short and len(dialect.cells(line)) == dialect.count

    return Lines(
        file,
        skip=dialect.skip,
        comments=dialect.comments,
        normalize=dialect.normalize,
        might_be_edge=might_be_edge,
        header=dialect.header,
    )


def _batches(
    file: InputFile,
    lines: Lines,
    dialect: Dialect,
    chosen: EdgeColumns,
    metadata: dict[str, Any],
    node_rows: NodeRows | None,
    line: Callable[[int], int],
    *,
    skip: bool,
) -> Iterator[Batch]:
    """The edges; `line` is the number of the line of an edge."""
    rows = 0
    used = {role: at for role, at in chosen._asdict().items() if at is not None}
    used |= {} if node_rows is None else node_rows.columns
    for parsed, bad in parse(
        file, lines, dialect, list(used.values()), weight=chosen.weight, skip=skip
    ):
        columns = dict(zip(used, parsed, strict=True))
        if node_rows is not None:
            columns, bad = node_rows.split(columns, bad)
        if "weight" in columns and skip:
            columns["weight"] = _numbers_or_nan(columns["weight"], dialect)
        elif "weight" in columns:
            columns["weight"] = _numbers(columns["weight"], file, line, dialect, rows)
        yield Batch(**{"weight": None, **columns}, bad=bad)
        rows += len(columns["source"])
    if rows == 0:
        raise FormatError(f"{file.name}: there are no {dialect.pairs.many} in it.")
    if lines.comments:
        metadata["comments"] = lines.comments


def parse(
    file: InputFile,
    lines: Lines,
    dialect: Dialect,
    used: Sequence[int],
    *,
    weight: int | None = None,
    skip: bool = False,
) -> Iterator[tuple[list[pa.Array], Mapping[int, str]]]:
    """The used columns, batch by batch: strings, except for the column `weight`.

    If `skip`, the cells of lines that cannot be parsed are empty; each such row has a reason.
    """
    columns = partial(_columns_and_bad_rows, file.name, dialect, used, weight, skip)
    return parse_ahead(columns, lines, from_pipe=file.is_pipe)


def _columns_and_bad_rows(
    name: str, dialect: Dialect, used: Sequence[int], weight: int | None, skip: bool, block: Block
) -> tuple[list[pa.Array], Mapping[int, str]]:
    try:
        return _columns(name, dialect, used, weight, block), {}
    except FormatError:
        bad = _bad_lines(block, dialect) if skip else {}
        if not bad:
            raise
    lines = block.data.split(b"\n")
    for row in bad:
        lines[row] = dialect.delimiter.encode() * (dialect.count - 1)
    return _columns(name, dialect, used, weight, replace(block, data=b"\n".join(lines))), bad


def _bad_lines(block: Block, dialect: Dialect) -> dict[int, str]:
    """The lines that cannot be parsed, with the reasons."""
    bad = {}
    for row, line in enumerate(block.data.split(b"\n")[:-1]):
        if not _is_utf8(line):
            bad[row] = "the line is not UTF-8"
        elif b'"' in line and _has_open_quote(line, dialect):
            bad[row] = "a quote is not closed"
        elif len(next(csv.reader([line.decode()], delimiter=dialect.delimiter))) != dialect.count:
            bad[row] = f"there are not {dialect.count} columns"
    return bad


def _columns(
    name: str, dialect: Dialect, used: Sequence[int], weight: int | None, block: Block
) -> list[pa.Array]:
    """Parse a block as strings; weights are numbers if all of them can be parsed."""
    try:
        try:
            table = _table(dialect, used, weight, block)
        except pa.ArrowInvalid:
            table = _table(dialect, used, None, block)
    except pa.ArrowInvalid as error:
        raise _parse_error(name, dialect, block, str(error)) from error
    if len(table) != block.count or _ends_in_open_quote(block, dialect):
        raise _parse_error(name, dialect, block, "a line continues on the next one")
    columns = [column.combine_chunks() for column in table.columns]
    if dialect.trim:
        import pyarrow.compute as pc

        columns = [
            column if pa.types.is_floating(column.type) else pc.utf8_trim_whitespace(column)
            for column in columns
        ]
    return columns


def _table(dialect: Dialect, used: Sequence[int], weight: int | None, block: Block) -> pa.Table:
    """Parse the used columns of a block with pyarrow: strings, and the weight as numbers."""
    import pyarrow.csv

    names = [str(at) for at in range(dialect.count)]
    types = {names[at]: pa.float64() if at == weight else pa.large_string() for at in used}
    return pyarrow.csv.read_csv(
        pa.BufferReader(block.data),
        pyarrow.csv.ReadOptions(
            column_names=names, block_size=len(block.data) + 1, use_threads=False
        ),
        pyarrow.csv.ParseOptions(delimiter=dialect.delimiter),
        pyarrow.csv.ConvertOptions(
            include_columns=list(types),
            column_types=types,
            null_values=[],
            decimal_point=dialect.decimal,
        ),
    )


def _parse_error(name: str, dialect: Dialect, block: Block, error: str) -> FormatError:
    """An error of pyarrow with its line."""
    rows = block.data.split(b"\n")

    def location(row: int) -> str:
        return f"{name}, line {block.number(block.edge + row):,}"

    quotes = (
        row for row, line in enumerate(rows) if b'"' in line and _has_open_quote(line, dialect)
    )
    skip = f" {SKIP_ADVICE}" if dialect.pairs is EDGES else ""
    if (row := next(quotes, None)) is not None:
        return FormatError(f"{location(row)}: {OPEN_QUOTE}{skip}")
    if "UTF8" in error:
        row = next(row for row, line in enumerate(rows) if not _is_utf8(line))
        return FormatError(f"{location(row)}: this is not UTF-8 text. {ICONV}")
    if not (wrong := WRONG_ROW.search(error)):
        return FormatError(
            f"{location(0)}: cannot be read as lines of {dialect.pairs.many} ({error})."
        )
    row, expected, actual = map(int, wrong.groups())
    advice = ""
    if actual > expected:
        advice = (
            f" If each line holds a node and its {dialect.pairs.listed}, use format='adjacency'."
        )
    return FormatError(
        f"{location(row - 1)}: {rows[row - 1].decode(errors='replace')[:60]!r} has {actual} "
        f"columns, but the lines before it have {expected}.{advice}{skip}"
    )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _ends_in_open_quote(block: Block, dialect: Dialect) -> bool:
    """Whether the last line opens a quote that is never closed, which pyarrow does not report."""
    last = block.data[block.data.rfind(b"\n", 0, -1) + 1 : -1]
    return b'"' in last and _has_open_quote(last, dialect)


def _has_open_quote(line: bytes, dialect: Dialect) -> bool:
    """Whether a line opens a quote without closing it, so that the next line would belong to it."""
    reader = csv.reader([line.decode(errors="replace") + "\n", ""], delimiter=dialect.delimiter)
    with suppress(csv.Error):  # the csv module rejects very long cells
        next(reader)
    return reader.line_num > 1


def _numbers_or_nan(column: pa.Array, dialect: Dialect) -> pa.Array:
    """The weights as numbers, NaN where a cell is not one."""
    if pa.types.is_floating(column.type):
        return column
    numbers = [
        float(cell.replace(dialect.decimal, ".")) if dialect.is_number(cell) else math.nan
        for cell in column.to_pylist()
    ]
    return pa.array(numbers, pa.float64())


def _numbers(
    column: pa.Array, file: InputFile, line: Callable[[int], int], dialect: Dialect, before: int
) -> pa.Array:
    """The weights as numbers; raises FormatError with the line of the first that is not one."""
    if pa.types.is_floating(column.type):
        return column
    cells = column.to_pylist()
    for row, cell in enumerate(cells):
        if not dialect.is_number(cell):
            raise FormatError(
                f"{file.name}, line {line(before + row):,}: the weight {cell!r} is not a "
                "number. Choose another column with weight=, ignore it with unweighted=True, or "
                "use bad_rows='skip' to skip such rows."
            )
    return pa.array([float(cell.replace(dialect.decimal, ".")) for cell in cells], pa.float64())
