"""How a text of columns is laid out: its separator, header and comments, found by looking."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hopvec.errors import FormatError
from hopvec.formats.graphs.attributes import Attributes, find_attributes
from hopvec.formats.graphs.lines import MARKS
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.source import HEAD, Source
from hopvec.formats.graphs.whitespace import opener, squeezer
from hopvec.graph.columns import EDGES, PairKind, find_id_column, name_both_ends

NAMES = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "space"}
WORDS = {name: separator for separator, name in NAMES.items()} | {"\\t": "\t"}
RUNS = "whitespace"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
OPEN_QUOTE = "a quote is opened and not closed on this line; an id cannot span lines."
ICONV = "If it is Latin-1, turn it into UTF-8: iconv -f latin1 -t utf-8."
CLOSE = ",;|"  # separators that may have blanks behind them
LOOKED_AT = 1000  # lines
DECIMAL = re.compile(r"[+-]?\d+(,\d+)?")  # a number with a decimal comma, or whole
CLEAR = re.compile(r"[+-]?(0,\d+|\d+,(?!\d{3}$)\d+)")  # one that is no 1,000 either
JSON = re.compile(r'\{\s*"|\[\s*[\[{]|[\[{]$')


@dataclass(frozen=True)
class Dialect:
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
    pairs: PairKind = EDGES
    """What a line holds."""
    attributes: Attributes | None = None
    """What becomes of the attributes of networkx at the ends of lines, if there are any."""
    decimal: str = "."
    """What stands before the fraction of a number: a point or a comma."""

    @property
    def delimiter(self) -> str:
        """What stands between two cells of a tidy line."""
        return "\t" if self.separator == RUNS else self.separator

    @cached_property
    def tidy(self) -> Callable[[bytes], bytes]:
        """What makes lines such that their cells are cut by the delimiter and quotes alone."""
        if self.attributes is not None:
            attributes, rest = self.attributes, replace(self, attributes=None).tidy
            return lambda text: rest(attributes.unwrap(text))
        if self.separator in (RUNS, " "):
            return squeezer(b" \t" if self.separator == RUNS else b" ", self.delimiter.encode())
        return opener(self.delimiter.encode()) if self.trim else lambda text: text

    def cells(self, line: str) -> list[str]:
        """The cells of a line."""
        tidy = self.tidy(line.encode() + b"\n")
        row = next(csv.reader([tidy.decode()], delimiter=self.delimiter))
        return [cell.strip() for cell in row] if self.trim else row

    def is_number(self, cell: str) -> bool:
        """Whether a cell holds a number, with the decimal mark of this text."""
        if self.decimal == ",":
            return bool(DECIMAL.fullmatch(cell))
        return is_number(cell)


def find_dialect(source: Source, options: ReadOptions) -> tuple[Dialect, list[list[str]]]:
    """The dialect of a text, by what is asked for and by its first lines, which come with it."""
    data, comments = data_lines(source, options)
    first = data[0][0]
    lines = [line for _, line in data[:LOOKED_AT]]
    if JSON.match(lines[0].lstrip()):
        raise FormatError(
            f"{source.name}: this looks like JSON. Write the {options.pairs.many} as CSV or "
            "Parquet."
        )
    attributes = find_attributes(lines)
    if attributes is not None:
        lines = [attributes.unwrap(line.encode()).decode() for line in lines]
    separator = _separator(f"{source.name}, line {first:,}", lines, options)
    dialect = Dialect(separator, 0, comments=comments, pairs=options.pairs)
    rows = list(map(dialect.cells, lines))
    if separator in CLOSE and all(cell[:1] == " " for row in rows for cell in row[1:]):
        dialect = replace(dialect, trim=True)
        rows = list(map(dialect.cells, lines))
    if separator != "," and _has_decimal_commas(rows):
        dialect = replace(dialect, decimal=",")
    header = _is_header(rows, dialect, options) if options.header is None else options.header
    return (
        replace(
            dialect,
            count=len(rows[0]),
            skip=first - 1 + header,
            header=header,
            attributes=attributes,
        ),
        rows,
    )


def data_lines(
    source: Source, options: ReadOptions
) -> tuple[list[tuple[int, str]], tuple[bytes, ...]]:
    """The first lines that are no comments, with their numbers, and what comments begin with."""
    numbered = first_lines(source)
    marks = _comment_marks(numbered, options)
    data = [(n, line) for n, line in numbered if not (marks and line.startswith(marks))]
    if not data:
        only = " All its lines are comments; if not, say --comment ''." if numbered else ""
        where = f" in the first {HEAD:,} bytes" if len(source.head) >= HEAD else ""
        raise FormatError(f"{source.name}: there are no {options.pairs.many} in it{where}.{only}")
    return data, tuple(mark.encode() for mark in marks)


def first_lines(source: Source) -> list[tuple[int, str]]:
    """The lines of the head that are not blank, with their numbers."""
    if b"\0" in source.head:
        line = source.head.count(b"\n", 0, source.head.index(b"\0")) + 1
        hint = " Is it UTF-16? Write it as UTF-8." if source.head[:2] in UTF_16 else ""
        raise FormatError(f"{source.name}, line {line:,}: a byte 0, so this is no text.{hint}")
    try:
        text = source.head.decode(
            "utf-8-sig", errors="strict" if len(source.head) < HEAD else "ignore"
        )
    except UnicodeDecodeError as error:
        line = source.head.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"{source.name}, line {line:,}: this is no UTF-8 text. {ICONV}"
        ) from error
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(source.head) >= HEAD and len(lines) > 1:
        lines.pop()  # cut off
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _comment_marks(lines: Sequence[tuple[int, str]], options: ReadOptions) -> tuple[str, ...]:
    """What comments begin with. If most lines do so, and go on without a blank, ids do so."""
    if options.comment is not None:
        return (options.comment,) if options.comment else ()
    marks = tuple(mark.decode() for mark in MARKS)
    ids = [line for _, line in lines if line.startswith(marks) and not line[1:2].isspace()]
    return () if len(ids) > 5 and 2 * len(ids) > len(lines) else marks


def _separator(place: str, lines: Sequence[str], options: ReadOptions) -> str:
    if options.separator is not None:
        separator = WORDS.get(options.separator, options.separator)
        one = len(separator) == 1 and separator.isascii() and separator not in '"\r\n\0'
        if not one and separator != RUNS:
            raise FormatError(
                f"{place}: a separator is one ASCII character, 'tab', 'space' or '{RUNS}', "
                f"got {options.separator!r}."
            )
        return separator
    best, share = "", 0.0
    # Commas stand in numbers and names of texts that are cut by something else, hardly vice versa.
    for separator in ("\t", ";", "|", ",", " ", RUNS):
        dialect = Dialect(separator, 0, trim=separator in CLOSE)
        counts = [len(dialect.cells(line)) for line in lines]
        usual = max(set(counts), key=lambda count: (counts.count(count), count))
        agree = counts.count(usual) / len(counts)
        if usual >= 2 and agree > share:
            best, share = separator, agree
        if usual >= 2 and agree == 1:
            break
    if not best and lines[0].count('"') % 2:
        raise FormatError(f"{place}: {OPEN_QUOTE}")
    if not best:
        raise FormatError(
            f"{place}: {lines[0][:40]!r} is one column, and {options.pairs.one} "
            "needs two. If another character stands between them, name it: --separator."
        )
    return best


def _has_decimal_commas(rows: Sequence[list[str]]) -> bool:
    """Whether a column beside two others holds numbers with a decimal comma, below line 1 at least.

    Some of them must be clear: all of 1,000 and 2,500 may be thousands.
    """
    points = any("." in cell and is_number(cell) for row in rows for cell in row)
    if len(rows[0]) < 3 or points:
        return False
    for at in range(len(rows[0])):
        cells = [row[at] for row in rows[1:] or rows if at < len(row)]
        if all(map(DECIMAL.fullmatch, cells)) and any(map(CLEAR.fullmatch, cells)):
            return True
    return False


def _is_header(rows: Sequence[list[str]], dialect: Dialect, options: ReadOptions) -> bool:
    """Whether the first row names the columns: by known names, or texts above numbers.

    In a table of labels also by the name of the ids, or by a label that no other row has.
    """
    first, body = rows[0], rows[1:]
    asked = [name for name in (options.source, options.target, options.weight) if name in first]
    if any(not str(name).isdecimal() for name in asked):
        return True
    if any(map(dialect.is_number, first)):
        return False
    if name_both_ends(first, options.pairs):  # unless u or v is a node, as in the edges u v, v w
        letters = {cell for cell in first if len(cell) == 1}
        return letters.isdisjoint(cell for row in body for cell in row)
    if any(_mostly_numbers(body, at, dialect) for at, name in enumerate(first) if name):
        return True
    if options.pairs.same_type:
        return False
    ids = find_id_column(first)
    if ids is not None and len(first) > 2:
        return all(row[first.index(ids)] != ids for row in body if len(row) == len(first))
    return len(first) == 2 and _comes_nowhere_else(rows, 1)


def _comes_nowhere_else(rows: Sequence[list[str]], at: int) -> bool:
    """Whether a column says something in the first row alone, and nearly all others repeat."""
    cells = [row[at] for row in rows if at < len(row)]
    often = Counter(cells)
    alone = sum(often[cell] == 1 for cell in cells)
    return len(cells) > 9 and often[cells[0]] == 1 and alone <= len(cells) // 5


def _mostly_numbers(rows: Sequence[list[str]], at: int, dialect: Dialect) -> bool:
    """Whether a column holds numbers alone, and more of them than empty cells."""
    cells = [row[at] for row in rows if at < len(row)]
    given = [cell for cell in cells if cell]
    return 2 * len(given) > len(cells) and all(map(dialect.is_number, given))


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, as float() reads it; 1_000 is none."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
