"""Lists of edges as text: CSV, TSV, whitespace; the dialect is found by looking."""

from __future__ import annotations

import csv
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs.dialect import (
    DECIMAL,
    ICONV,
    NAMES,
    OPEN_QUOTE,
    Dialect,
    find_dialect,
    is_number,
)
from hopvec.formats.graphs.edges import Batch, EdgeStream, column_metadata
from hopvec.formats.graphs.lines import Block, Lines, parsed_ahead
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.source import HEAD, Source
from hopvec.graph.columns import (
    EdgeColumns,
    choose_columns,
    chosen_by_position_warning,
    look_like_column_names,
    unused_numbers_warning,
)

logger = logging.getLogger("hopvec")

SUFFIXES = (".csv", ".tsv", ".txt", ".edges", ".edgelist", ".el", ".tab", ".dat")
OPTIONS = frozenset({"source", "target", "weight", "unweighted", "separator", "header", "comment"})

EPOCH = re.compile(r"1\d{9}(\d{3})?")  # from 2001 to 2033, in seconds or thousandths of them
WRONG_ROW = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")  # as pyarrow says it


def recognize(source: Source) -> str | None:
    """Any text may be a list of edges; so this comes last in the table."""
    if not source.head or b"\0" in source.head:
        return None
    try:
        source.head[: len(source.head) - 4 * (len(source.head) == HEAD)].decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return None
    return "it is text"


def read_edges(source: Source, options: ReadOptions) -> EdgeStream:
    """The edges, a block of lines at a time."""
    dialect, rows = find_dialect(source, options)
    names = rows[0] if dialect.header else None
    body = rows[1:] if dialect.header else rows
    numeric = [_share_of_numbers(body, at, dialect) for at in range(dialect.count)]
    _refuse_other_tables(source.name, rows, dialect, options)
    columns = choose_columns(source.name, names, dialect.count, numeric, options.columns)
    for note in (
        *_notes_on_columns(names, body, numeric, columns, options),
        *_notes_on_layout(rows, dialect, columns, options),
    ):
        logger.warning("%s: %s", source.name, note)
    metadata: dict[str, Any] = {
        "separator": NAMES.get(dialect.separator, dialect.separator),
        "header": dialect.header,
        **column_metadata(names or [str(at + 1) for at in range(dialect.count)], columns),
    }
    if dialect.decimal != "." and columns.weight is not None:
        metadata["decimal mark"] = NAMES[dialect.decimal]
    lines = edge_lines(source, dialect, options)
    return EdgeStream(
        _batches(source, lines, dialect, columns, metadata),
        metadata,
        untyped=True,
        locate=lambda edge: f"line {lines.number(edge):,}",
    )


def _share_of_numbers(rows: list[list[str]], at: int, dialect: Dialect) -> float:
    """How many of the rows that have a column have a number in it, from 0 to 1."""
    cells = [row[at] for row in rows if at < len(row)]
    return sum(map(dialect.is_number, cells)) / max(1, len(cells))


def _notes_on_columns(
    names: list[str] | None,
    body: list[list[str]],
    numeric: list[float],
    columns: EdgeColumns,
    options: ReadOptions,
) -> Iterator[str]:
    """What to tell of the columns that were chosen."""
    if names:
        notes = (
            chosen_by_position_warning(names, columns, options.columns),
            unused_numbers_warning(names, numeric, columns, options.columns),
        )
        yield from filter(None, notes)
    elif options.weight is None and columns.weight is not None:
        cells = [row[columns.weight] for row in body if len(row) > columns.weight]
        if all(map(EPOCH.fullmatch, cells)):
            yield (
                f"Column {columns.weight + 1} is taken as weights, though its numbers look like "
                "times in seconds: --unweighted leaves it alone."
            )
    if columns.weight is None and not options.unweighted:
        for at in (at for at in range(len(body[0]) if body else 0) if at not in columns):
            cells = [row[at] for row in body if at < len(row)]
            if any("," in cell for cell in cells) and all(map(DECIMAL.fullmatch, cells)):
                name = repr(names[at]) if names else f"column {at + 1}"
                yield (
                    f"No weights are used, though {name} looks like numbers with commas "
                    f"({cells[0]}), which may be decimal marks or not: write them with points."
                )


def _notes_on_layout(
    rows: list[list[str]], dialect: Dialect, columns: EdgeColumns, options: ReadOptions
) -> Iterator[str]:
    """What to tell of how the lines were understood."""
    if options.header is None and not dialect.header and _may_be_header(rows, columns):
        yield (
            f"line 1 ({', '.join(rows[0])}) is taken as {options.pairs.one}, though its names come "
            "nowhere else; --header says that it names the columns."
        )
    attributes = dialect.attributes
    if attributes and attributes.example and not attributes.weighted and not options.unweighted:
        yield (
            f"The attributes behind the edges, as {{{attributes.example[:40]}}}, hold no 'weight' "
            "and are not used. Write another attribute alone: "
            "networkx.write_edgelist(graph, path, data=['capacity'])."
        )


def _refuse_other_tables(
    name: str, rows: list[list[str]], dialect: Dialect, options: ReadOptions
) -> None:
    """Refuses a table of vectors, and an adjacency matrix, unless columns of it are asked for."""
    if options.source is not None or options.target is not None:
        return
    if dialect.header and rows[0] == ["id", *(f"e{at}" for at in range(dialect.count - 1))]:
        raise FormatError(f"{name}: these are vectors that hopvec wrote, not {options.pairs.many}.")
    square = dialect.count > 3 and dialect.count == len(rows) and not dialect.header
    if square and all(is_number(cell) for row in rows for cell in row):
        raise FormatError(
            f"{name}: {dialect.count} lines of {dialect.count} numbers look like an adjacency "
            "matrix. Read it by Graph.from_scipy(numpy.loadtxt(...)), or name the columns of edges "
            "with --source and --target."
        )


def _may_be_header(rows: list[list[str]], columns: EdgeColumns) -> bool:
    """Whether the first row may name the columns: its ids come in no other row.

    And either nearly all other rows have ids that do, or it is a pair of names that columns have.
    """
    ends = [
        (row[columns.source], row[columns.target]) for row in rows if len(row) > max(columns[:2])
    ]
    often = Counter(id for ends_ in ends for id in set(ends_))
    alone = [all(often[id] == 1 for id in ends_) for ends_ in ends]
    if len(alone) < 2 or not alone[0] or any(map(is_number, rows[0])):
        return False
    few = len(alone) > 2 and sum(alone) <= max(1, len(alone) // 5)
    return few or look_like_column_names(*ends[0])


def edge_lines(source: Source, dialect: Dialect, options: ReadOptions) -> Lines:
    """The lines of a text below its header, without comments."""

    def might_be_edge(line: str) -> bool:
        short = options.comment is None and len(line) < HEAD
        return short and len(dialect.cells(line)) == dialect.count

    return Lines(
        source,
        skip=dialect.skip,
        comments=dialect.comments,
        tidy=dialect.tidy,
        might_be_edge=might_be_edge,
    )


def _batches(
    source: Source, lines: Lines, dialect: Dialect, chosen: EdgeColumns, metadata: dict[str, Any]
) -> Iterator[Batch]:
    rows = 0
    used = [at for at in chosen if at is not None]
    for columns in parse(source, lines, dialect, used):
        weight = _numbers(columns[2], source, lines, dialect, rows) if len(used) > 2 else None
        yield Batch(columns[0], columns[1], weight)
        rows += len(columns[0])
    if rows == 0:
        raise FormatError(f"{source.name}: there are no {dialect.pairs.many} in it.")
    if lines.comments:
        metadata["comments"] = lines.comments


def parse(
    source: Source, lines: Lines, dialect: Dialect, used: Sequence[int]
) -> Iterator[list[pa.Array]]:
    """The used columns as texts, batch by batch."""
    columns = partial(_columns, source.name, dialect, used)
    return parsed_ahead(columns, lines, endless=source.is_pipe)


def _columns(name: str, dialect: Dialect, used: Sequence[int], block: Block) -> list[pa.Array]:
    """The used columns of a block: ids as texts, weights as numbers if all of them are."""
    try:
        try:
            table = _table(dialect, used, block, pa.float64())
        except pa.ArrowInvalid:
            table = _table(dialect, used, block, pa.large_string())
    except pa.ArrowInvalid as error:
        raise _fault(name, dialect, block, str(error)) from error
    if len(table) != block.count or _ends_open(block, dialect):
        raise _fault(name, dialect, block, "a line goes on in the next one")
    columns = [column.combine_chunks() for column in table.columns]
    if dialect.trim:
        import pyarrow.compute as pc

        columns[:2] = map(pc.utf8_trim_whitespace, columns[:2])
    return columns


def _table(dialect: Dialect, used: Sequence[int], block: Block, weight: pa.DataType) -> pa.Table:
    """The used columns of a block, by pyarrow."""
    import pyarrow.csv

    names = [str(at) for at in range(dialect.count)]
    kinds = dict(zip((names[at] for at in used), [pa.large_string()] * 2 + [weight], strict=False))
    return pyarrow.csv.read_csv(
        pa.BufferReader(block.data),
        pyarrow.csv.ReadOptions(
            column_names=names, block_size=len(block.data) + 1, use_threads=False
        ),
        pyarrow.csv.ParseOptions(delimiter=dialect.delimiter),
        pyarrow.csv.ConvertOptions(
            include_columns=list(kinds),
            column_types=kinds,
            null_values=[],
            decimal_point=dialect.decimal,
        ),
    )


def _fault(name: str, dialect: Dialect, block: Block, error: str) -> FormatError:
    """What pyarrow found wrong, with its line."""
    rows = block.data.split(b"\n")

    def place(row: int) -> str:
        return f"{name}, line {block.number(block.edge + row):,}"

    quotes = (row for row, line in enumerate(rows) if b'"' in line and _is_open(line, dialect))
    if (opened := next(quotes, None)) is not None:
        return FormatError(f"{place(opened)}: {OPEN_QUOTE}")
    if "UTF8" in error:
        row = next(row for row, line in enumerate(rows) if not _is_text(line))
        return FormatError(f"{place(row)}: this is no UTF-8 text. {ICONV}")
    if not (wrong := WRONG_ROW.search(error)):
        return FormatError(
            f"{place(0)}: cannot be read as lines of {dialect.pairs.many} ({error})."
        )
    row, expected, actual = map(int, wrong.groups())
    advice = ""
    if actual > expected:
        second = dialect.pairs.listed
        advice = f" If each line holds a node and its {second}, say --format adjacency."
    return FormatError(
        f"{place(row - 1)}: {rows[row - 1].decode(errors='replace')[:60]!r} has {actual} columns, "
        f"the lines before it have {expected}.{advice}"
    )


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _ends_open(block: Block, dialect: Dialect) -> bool:
    """Whether the last line opens a quote that nothing closes, which pyarrow passes over."""
    last = block.data[block.data.rfind(b"\n", 0, -1) + 1 : -1]
    return b'"' in last and _is_open(last, dialect)


def _is_open(line: bytes, dialect: Dialect) -> bool:
    """Whether a quote is opened and not closed: the next line would then be taken in."""
    reader = csv.reader([line.decode(errors="replace") + "\n", ""], delimiter=dialect.delimiter)
    with suppress(csv.Error):  # a cell that is too long for it
        next(reader)
    return reader.line_num > 1


def _numbers(
    column: pa.Array, source: Source, lines: Lines, dialect: Dialect, before: int
) -> pa.Array:
    """The weights as numbers; the first that is none is refused with its line."""
    if pa.types.is_floating(column.type):
        return column
    texts = column.to_pylist()
    for row, text in enumerate(texts):
        if not dialect.is_number(text):
            raise FormatError(
                f"{source.name}, line {lines.number(before + row):,}: the weight {text!r} is not a "
                "number. Name another column with --weight, or ignore it with --unweighted."
            )
    return pa.array([float(text.replace(dialect.decimal, ".")) for text in texts], pa.float64())
