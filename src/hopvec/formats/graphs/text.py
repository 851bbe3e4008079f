"""Lists of edges as text: CSV, TSV, white space; the layout is found by looking."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Batch, EdgeStream, Options, column_facts
from hopvec.formats.graphs.lines import MARKS, Lines
from hopvec.formats.graphs.source import HEAD, Source
from hopvec.graph.columns import Columns, choose_columns, name_both_ends

SUFFIXES = (".csv", ".tsv", ".txt", ".edges", ".edgelist", ".el", ".tab", ".dat")
OPTIONS = frozenset({"source", "target", "weight", "unweighted", "separator", "header", "comment"})

NAMES = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "space"}
WORDS = {name: separator for separator, name in NAMES.items()} | {"\\t": "\t"}
RUNS = "white space"
LOOKED_AT = 1000  # lines


@dataclass(frozen=True)
class Layout:
    """How the lines of a text are to be cut into columns."""

    separator: str
    """One character, or RUNS."""
    count: int
    """Columns of a line."""
    skip: int = 0
    """Lines above the first edge."""
    header: bool = False
    comments: tuple[bytes, ...] = ()
    trim: bool = False
    """Whether blanks around a cell do not belong to it."""


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


def read_edges(source: Source, options: Options) -> EdgeStream:
    """The edges, a block of lines at a time."""
    layout, rows = find_layout(source, options)
    names = rows[0] if layout.header else None
    body = rows[1:] if layout.header else rows
    numeric = [
        any(_is_number(row[at]) for row in body if at < len(row)) for at in range(layout.count)
    ]
    columns = choose_columns(source.name, names, layout.count, numeric, options)
    facts: dict[str, Any] = {
        "separator": NAMES.get(layout.separator, layout.separator),
        "header": layout.header,
        **column_facts(names or [str(at + 1) for at in range(layout.count)], columns),
    }
    lines = edge_lines(source, layout, options)
    return EdgeStream(
        _batches(source, lines, layout, columns, facts),
        facts,
        untyped=True,
        place=lambda edge: f"line {lines.number(edge):,}",
    )


def edge_lines(source: Source, layout: Layout, options: Options) -> Lines:
    """The lines of a text below its header, without comments."""

    def might_be_edge(line: str) -> bool:
        return options.comment is None and len(split(line, layout.separator)) == layout.count

    return Lines(
        source,
        skip=layout.skip,
        comments=layout.comments,
        runs=layout.separator == RUNS,
        single=layout.separator == " ",
        might_be_edge=might_be_edge,
    )


def find_layout(source: Source, options: Options) -> tuple[Layout, list[list[str]]]:
    """The layout of a text, by what is asked for and by its first lines, which come with it."""
    numbered = first_lines(source)
    comments = _comment_marks(numbered, options)
    data = [(n, line) for n, line in numbered if not line.startswith(comments or ("\0",))]
    if not data:
        raise FormatError(f"{source.name}: there are no edges in it.")
    first = data[0][0]
    lines = [line for _, line in data[:LOOKED_AT]]
    separator = _separator(f"{source.name}, line {first:,}", lines, options)
    rows = [split(line, separator) for line in lines]
    trim = separator in ",;|" and all(cell[:1] == " " for row in rows for cell in row[1:])
    rows = [[cell.strip() for cell in row] for row in rows] if trim else rows
    header = _is_header(rows, options) if options.header is None else options.header
    marks = tuple(mark.encode() for mark in comments)
    return Layout(separator, len(rows[0]), first - 1 + header, header, marks, trim), rows


def split(line: str, separator: str) -> list[str]:
    """The cells of a line."""
    if separator == RUNS:
        return line.split()
    if separator == " ":
        line = line.strip(" ")
    return next(csv.reader([line], delimiter=separator))


def first_lines(source: Source) -> list[tuple[int, str]]:
    """The lines of the head that are not blank, with their numbers."""
    if b"\0" in source.head:
        line = source.head.count(b"\n", 0, source.head.index(b"\0")) + 1
        raise FormatError(f"{source.name}, line {line:,}: a byte 0, so this is no text.")
    try:
        text = source.head.decode(
            "utf-8-sig", errors="strict" if len(source.head) < HEAD else "ignore"
        )
    except UnicodeDecodeError as error:
        line = source.head.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{source.name}, line {line:,}: this is no UTF-8 text.") from error
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(source.head) >= HEAD and len(lines) > 1:
        lines.pop()  # cut off
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _comment_marks(lines: Sequence[tuple[int, str]], options: Options) -> tuple[str, ...]:
    """What comments begin with. A text whose every line begins with # has ids that do."""
    if options.comment is not None:
        return (options.comment,) if options.comment else ()
    marks = tuple(mark.decode() for mark in MARKS)
    marked = [line for _, line in lines if line.startswith(marks)]
    return () if len(marked) > 5 and 2 * len(marked) > len(lines) else marks


def _separator(place: str, lines: Sequence[str], options: Options) -> str:
    if options.separator is not None:
        separator = WORDS.get(options.separator, options.separator)
        if len(separator) != 1 and separator != RUNS:
            raise FormatError(
                f"{place}: a separator is one character, 'tab', 'space' or '{RUNS}', "
                f"got {options.separator!r}."
            )
        return separator
    best, share = "", 0.0
    for separator in ("\t", ",", ";", "|", " ", RUNS):
        counts = [len(split(line, separator)) for line in lines]
        usual = max(set(counts), key=counts.count)
        agree = counts.count(usual) / len(counts)
        if usual >= 2 and agree > share:
            best, share = separator, agree
        if usual >= 2 and agree == 1:
            break
    if not best and lines[0].count('"') % 2:
        raise FormatError(f"{place}: a quote is opened and not closed.")
    if not best:
        raise FormatError(
            f"{place}: {lines[0][:40]!r} is one column, and an edge needs "
            "two. If another character stands between them, name it as the separator."
        )
    return best


def _is_header(rows: Sequence[list[str]], options: Options) -> bool:
    """Whether the first row names the columns: by known names, or texts above numbers."""
    first, body = rows[0], rows[1:]
    asked = (options.source, options.target, options.weight)
    if name_both_ends(first) or any(name in first for name in asked if isinstance(name, str)):
        return True
    return any(not _is_number(cell) and _all_numbers(body, at) for at, cell in enumerate(first))


def _all_numbers(rows: Sequence[list[str]], at: int) -> bool:
    """Whether there are rows and all of them hold a number in a column."""
    return bool(rows) and all(_is_number(row[at]) for row in rows if at < len(row))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _batches(
    source: Source, lines: Lines, layout: Layout, chosen: Columns, facts: dict[str, Any]
) -> Iterator[Batch]:
    rows = 0
    used = [at for at in chosen if at is not None]
    for columns in parse(source, lines, layout, used):
        weight = _numbers(columns[2], source, lines, rows) if len(used) > 2 else None
        yield Batch(columns[0], columns[1], weight)
        rows += len(columns[0])
    if lines.comments:
        facts["comments"] = lines.comments


def parse(
    source: Source, lines: Lines, layout: Layout, used: Sequence[int]
) -> Iterator[list[pa.Array]]:
    """The used columns as texts, batch by batch, by pyarrow."""
    import pyarrow.compute as pc
    import pyarrow.csv

    wrong: list[Any] = []

    def refuse(row: Any) -> str:
        wrong.append(row)
        return "error"

    names = [str(at) for at in range(layout.count)]
    try:
        batches = pyarrow.csv.open_csv(
            pa.PythonFile(lines, mode="r"),
            pyarrow.csv.ReadOptions(column_names=names, block_size=1 << 20),
            pyarrow.csv.ParseOptions(
                delimiter="\t" if layout.separator == RUNS else layout.separator,
                invalid_row_handler=refuse,
            ),
            pyarrow.csv.ConvertOptions(
                include_columns=[names[at] for at in used],
                column_types=dict.fromkeys(names, pa.large_string()),
            ),
        )
        for batch in batches:
            columns = batch.columns
            yield list(map(pc.utf8_trim_whitespace, columns)) if layout.trim else columns
    except pa.ArrowInvalid as error:
        raise _fault(source, lines, layout, wrong, error) from error


def _fault(
    source: Source, lines: Lines, layout: Layout, wrong: list[Any], error: pa.ArrowInvalid
) -> FormatError:
    """What pyarrow found wrong, with its line."""
    if "Empty CSV file" in str(error):
        return FormatError(f"{source.name}: there are no edges in it.")
    if "UTF8" in str(error):
        number = lines.not_text()
        at = f", line {number:,}" if number else ""
        return FormatError(f"{source.name}{at}: this is no UTF-8 text.")
    quote = lines.open_quote()
    if quote and ("out of sync" in str(error) or (wrong and wrong[0].text.count('"') % 2)):
        return FormatError(f"{source.name}, line {quote:,}: a quote is opened and not closed.")
    if wrong:
        row = wrong[0]
        number = lines.find(row.text.encode())
        at = f", line {number:,}" if number else ""
        advice = ""
        if row.actual_columns > row.expected_columns > 0:
            advice = " If each line holds a node and its neighbours, say format='adjacency'."
        return FormatError(
            f"{source.name}{at}: {row.text[:60]!r} has {row.actual_columns} columns, "
            f"the lines before it have {row.expected_columns}.{advice}"
        )
    return FormatError(f"{source.name}: cannot be read as lines of edges ({error}).")


def _numbers(column: pa.Array, source: Source, lines: Lines, before: int) -> pa.Array:
    """The weights as numbers; the first that is none is refused with its line."""
    import pyarrow.compute as pc

    try:
        return pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        texts = column.to_pylist()
    for row, text in enumerate(texts):
        if not _is_number(text):
            raise FormatError(
                f"{source.name}, line {lines.number(before + row):,}: the weight {text!r} is not a "
                "number. Name another column as the weight, or read the edges unweighted."
            )
    return pa.array([float(text) for text in texts], pa.float64())
