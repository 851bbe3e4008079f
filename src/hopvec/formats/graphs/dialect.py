"""The dialect of delimited text (separator, header, comments), detected from the first lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hopvec.errors import FormatError
from hopvec.formats.graphs.attributes import Attributes, find_attributes
from hopvec.formats.graphs.input_file import HEAD, InputFile
from hopvec.formats.graphs.lines import COMMENT_PREFIXES
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.whitespace import quote_aligner, whitespace_collapser
from hopvec.graph.columns import (
    EDGES,
    PairKind,
    find_id_column,
    look_like_column_names,
    name_both_ends,
)

SEPARATOR_NAMES = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "space"}
NAMED_SEPARATORS = {name: separator for separator, name in SEPARATOR_NAMES.items()} | {"\\t": "\t"}
WHITESPACE = "whitespace"  # the separator is any run of spaces and tabs
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
OPEN_QUOTE = "a quote is opened but not closed on this line; an id cannot span lines."
ICONV = "If it is Latin-1, convert it to UTF-8: iconv -f latin1 -t utf-8."
MAY_PRECEDE_SPACES = ",;|"  # separators that may be followed by spaces
MAX_LINES = 1000  # lines from which the dialect is detected
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?")  # also matches a whole number
NOT_THOUSANDS = re.compile(r"[+-]?(0,\d+|\d+,(?!\d{3}$)\d+)")  # 1,000 may be a thousand
WHOLE_FLOAT = re.compile(r"\d+\.0")  # an integer, as pandas writes it if others are missing
JSON = re.compile(r'\{\s*"|\[\s*[\[{]|[\[{]$')


@dataclass(frozen=True)
class Dialect:
    """How the lines of a text are split into columns."""

    separator: str
    """One character, or WHITESPACE."""
    count: int
    """The number of columns."""
    skip: int = 0
    """The number of lines before the first edge."""
    header: bool = False
    comments: tuple[bytes, ...] = ()
    """The prefixes of comment lines."""
    trim: bool = False
    """Whether spaces around a cell are removed."""
    pairs: PairKind = EDGES
    """What a line contains."""
    attributes: Attributes | None = None
    """How to replace the attributes that networkx writes at the ends of lines, if there are any."""
    decimal: str = "."
    """The decimal mark: a point or a comma."""

    @property
    def delimiter(self) -> str:
        """The character between two cells of a normalized line."""
        return "\t" if self.separator == WHITESPACE else self.separator

    @cached_property
    def normalize(self) -> Callable[[bytes], bytes]:
        """A function that normalizes lines, so that csv.reader and pyarrow can split them."""
        if self.attributes is not None:
            attributes, rest = self.attributes, replace(self, attributes=None).normalize
            return lambda text: rest(attributes.unwrap(text))
        if self.separator in (WHITESPACE, " "):
            whitespace = b" \t" if self.separator == WHITESPACE else b" "
            return whitespace_collapser(whitespace, self.delimiter.encode())
        return quote_aligner(self.delimiter.encode()) if self.trim else lambda text: text

    def cells(self, line: str) -> list[str]:
        """The cells of a line."""
        normalized = self.normalize(line.encode() + b"\n")
        row = next(csv.reader([normalized.decode()], delimiter=self.delimiter))
        return [cell.strip() for cell in row] if self.trim else row

    def is_number(self, cell: str) -> bool:
        """Whether a cell is a number with the decimal mark of this text."""
        if self.decimal == ",":
            return bool(DECIMAL_COMMA.fullmatch(cell))
        return is_number(cell)


def find_dialect(file: InputFile, options: ReadOptions) -> tuple[Dialect, list[list[str]]]:
    """Detect what the options do not say; return the dialect and the rows of the first lines."""
    data, comments = data_lines(file, options)
    first = data[0][0]
    lines = [line for _, line in data[:MAX_LINES]]
    if JSON.match(lines[0].lstrip()):
        raise FormatError(
            f"{file.name}: this looks like JSON. Write the {options._pairs.many} as CSV or Parquet."
        )
    attributes = find_attributes(lines)
    if attributes is not None:
        lines = [attributes.unwrap(line.encode()).decode() for line in lines]
    separator = _find_separator(f"{file.name}, line {first:,}", lines, options)
    dialect = Dialect(separator, 0, comments=comments, pairs=options._pairs)
    rows = list(map(dialect.cells, lines))
    if separator in MAY_PRECEDE_SPACES and all(cell[:1] == " " for row in rows for cell in row[1:]):
        dialect = replace(dialect, trim=True)
        rows = list(map(dialect.cells, lines))
    if separator != "," and _has_decimal_commas(rows):
        dialect = replace(dialect, decimal=",")
    header = _is_header(rows, dialect, options) if options.header is None else options.header
    count = len(rows[0])
    named = header and (options.header or name_both_ends(rows[0], options._pairs))
    if options.bad_rows == "skip" and not named:  # the first row may be a bad one
        count = Counter(map(len, rows)).most_common(1)[0][0]
        header = header and len(rows[0]) == count
    dialect = replace(
        dialect,
        count=count,
        skip=first - 1 + header,
        header=header,
        attributes=attributes,
    )
    return dialect, rows


def data_lines(
    file: InputFile, options: ReadOptions
) -> tuple[list[tuple[int, str]], tuple[bytes, ...]]:
    """The first lines that are not comments, with their numbers, and the prefixes of comments."""
    numbered = first_lines(file, skip_bad=options.bad_rows == "skip")
    prefixes = _comment_prefixes(numbered, options)
    data = [(n, line) for n, line in numbered if not (prefixes and line.startswith(prefixes))]
    if not data:
        hint = " All lines look like comments; if they are not, use comment=''." if numbered else ""
        where = f" in the first {HEAD:,} bytes" if len(file.head) >= HEAD else ""
        raise FormatError(f"{file.name}: there are no {options._pairs.many} in it{where}.{hint}")
    return data, tuple(prefix.encode() for prefix in prefixes)


def first_lines(file: InputFile, *, skip_bad: bool = False) -> list[tuple[int, str]]:
    """The lines of the head that are not blank, with their numbers.

    If `skip_bad`, bytes that are not UTF-8 are replaced, since their lines are skipped later.
    """
    if b"\0" in file.head:
        line = file.head.count(b"\n", 0, file.head.index(b"\0")) + 1
        hint = " If it is UTF-16, convert it to UTF-8." if file.head[:2] in UTF_16 else ""
        raise FormatError(f"{file.name}, line {line:,}: a null byte; this is not text.{hint}")
    try:
        errors = "replace" if skip_bad else "strict" if len(file.head) < HEAD else "ignore"
        text = file.head.decode("utf-8-sig", errors=errors)
    except UnicodeDecodeError as error:
        line = file.head.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{file.name}, line {line:,}: this is not UTF-8 text. {ICONV}") from error
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(file.head) >= HEAD and len(lines) > 1:
        lines.pop()  # incomplete
    return [(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _comment_prefixes(lines: Sequence[tuple[int, str]], options: ReadOptions) -> tuple[str, ...]:
    """The prefixes of comments. If most lines have one without a space after it, they are ids."""
    if options.comment is not None:
        return (options.comment,) if options.comment else ()
    prefixes = tuple(prefix.decode() for prefix in COMMENT_PREFIXES)
    ids = [line for _, line in lines if line.startswith(prefixes) and not line[1:2].isspace()]
    return () if len(ids) > 5 and 2 * len(ids) > len(lines) else prefixes


def _find_separator(location: str, lines: Sequence[str], options: ReadOptions) -> str:
    """The requested separator, else the one that splits most lines into equally many cells."""
    if options.separator is not None:
        separator = NAMED_SEPARATORS.get(options.separator, options.separator)
        valid = len(separator) == 1 and separator.isascii() and separator not in '"\r\n\0'
        if not valid and separator != WHITESPACE:
            raise FormatError(
                f"{location}: separator= must be one ASCII character, 'tab', 'space' or "
                f"'{WHITESPACE}', got {options.separator!r}."
            )
        return separator
    best, best_share = "", 0.0
    # Numbers and names often contain commas while something else separates columns, hardly ever
    # the other way round.
    for separator in ("\t", ";", "|", ",", " ", WHITESPACE):
        dialect = Dialect(separator, 0, trim=separator in MAY_PRECEDE_SPACES)
        counts = [len(dialect.cells(line)) for line in lines]
        usual = max(set(counts), key=lambda count: (counts.count(count), count))
        share = counts.count(usual) / len(counts)
        if usual >= 2 and share > best_share:
            best, best_share = separator, share
        if usual >= 2 and share == 1:
            break
    if not best and lines[0].count('"') % 2:
        raise FormatError(f"{location}: {OPEN_QUOTE}")
    if not best:
        raise FormatError(
            f"{location}: {lines[0][:40]!r} is one column, but {options._pairs.one} needs two. If "
            "another character separates the columns, pass it as separator=."
        )
    return best


def _has_decimal_commas(rows: Sequence[list[str]]) -> bool:
    """Whether most cells of one of three or more columns are numbers with decimal commas.

    At least one of them must be unambiguous: 1,000 and 2,500 may be thousands. No number has a
    decimal point, except ids such as 1.0.
    """
    cells = (cell for row in rows for cell in row)
    points = any(
        "." in cell and is_number(cell) and not WHOLE_FLOAT.fullmatch(cell) for cell in cells
    )
    if len(rows[0]) < 3 or points:
        return False
    for at in range(len(rows[0])):
        column = [row[at] for row in rows[1:] or rows if at < len(row)]
        numbers = list(filter(DECIMAL_COMMA.fullmatch, column))
        if 2 * len(numbers) > len(column) and any(map(NOT_THOUSANDS.fullmatch, numbers)):
            return True
    return False


def _is_header(rows: Sequence[list[str]], dialect: Dialect, options: ReadOptions) -> bool:
    """Whether the first row names the columns: by known names, or by strings above numbers.

    In a table of labels, also by the name of the id column, or by a label that occurs only there.
    """
    first, body = rows[0], rows[1:]
    requested = [name for name in (options.source, options.target, options.weight) if name in first]
    if any(not str(name).isdecimal() for name in requested):
        return True
    if any(map(dialect.is_number, first)):
        return False
    if name_both_ends(first, options._pairs):  # unless u or v is a node, as in the edges u v, v w
        letters = {cell for cell in first if len(cell) == 1}
        return letters.isdisjoint(cell for row in body for cell in row)
    if any(_mostly_numbers(body, at, dialect) for at, name in enumerate(first) if name):
        return True
    if options._pairs.same_type:  # such names are also those of nodes, which would occur again
        cells = {cell for row in body for cell in row}
        named = len(first) > 1 and look_like_column_names(*first[:2])
        return bool(cells) and named and cells.isdisjoint(first[:2])
    id_column = find_id_column(first)
    if id_column is not None and len(first) > 2:
        at = first.index(id_column)
        return all(row[at] != id_column for row in body if len(row) == len(first))
    return len(first) == 2 and _first_is_unique(rows, 1)


def _first_is_unique(rows: Sequence[list[str]], at: int) -> bool:
    """Whether the first value of a column occurs once, while most other values repeat."""
    cells = [row[at] for row in rows if at < len(row)]
    counts = Counter(cells)
    unique = sum(counts[cell] == 1 for cell in cells)
    return len(cells) > 9 and counts[cells[0]] == 1 and unique <= len(cells) // 5


def _mostly_numbers(rows: Sequence[list[str]], at: int, dialect: Dialect) -> bool:
    """Whether a column holds only numbers and empty cells, and more numbers than empty cells."""
    cells = [row[at] for row in rows if at < len(row)]
    filled = [cell for cell in cells if cell]
    return 2 * len(filled) > len(cells) and all(map(dialect.is_number, filled))


def is_number(cell: str) -> bool:
    """Whether float() reads a cell as a number; 1_000 does not count."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
