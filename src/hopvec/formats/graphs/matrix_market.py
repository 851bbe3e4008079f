""".mtx: a Matrix Market file. Row i of the file, counted from 1, is the node i - 1."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Matrix, Options, checked_matrix
from hopvec.formats.graphs.source import Source

SUFFIXES = (".mtx", ".mm")
OPTIONS = frozenset({"unweighted"})

BANNER = b"%%matrixmarket"
FIELDS = ("pattern", "integer", "unsigned-integer", "real", "double")


class Header(NamedTuple):
    """The first line: %%MatrixMarket matrix coordinate real symmetric."""

    item: str
    layout: str
    field: str
    symmetry: str


def recognize(source: Source) -> str | None:
    """The first line begins with %%MatrixMarket."""
    if source.head[: len(BANNER)].lower() == BANNER:
        return "it begins with %%MatrixMarket"
    return None


def read_edges(source: Source, options: Options) -> Matrix:
    """The adjacency matrix, both triangles of a symmetric one."""
    from scipy.io import mmread

    header = _header(source)
    _check_size(source)
    with source.whole() as file:
        try:
            matrix = mmread(file)
        except (ValueError, TypeError, OverflowError, OSError, EOFError, StopIteration) as error:
            raise _fault(source.name, str(error)) from error
    facts: dict[str, Any] = {
        "matrix": f"{header.field}, {header.symmetry}",
        "ids": "row i of the file, counted from 1, is the node i - 1",
    }
    symmetric = True if header.symmetry == "symmetric" else None
    return checked_matrix(source.name, matrix, facts, options.unweighted, symmetric)


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
        (header.layout, ("coordinate",)),
        (header.field, FIELDS),
        (header.symmetry, ("general", "symmetric")),
    ):
        if found not in allowed:
            raise FormatError(
                f"{source.name}, line 1: a {found!r} Matrix Market file is no graph; here "
                f"{' or '.join(allowed)} is read."
            )
    return header


def _check_size(source: Source) -> None:
    """Refuses a line of sizes that does not hold three numbers; scipy would not tell the line."""
    for number, line in enumerate(source.head.split(b"\n")[1:], 2):
        if line.strip() and not line.startswith(b"%"):
            words = line.split()
            if len(words) != 3 or not all(word.isdigit() for word in words):
                shown = line.decode("utf-8", "replace").strip()[:60]
                raise FormatError(
                    f"{source.name}, line {number:,}: here stand the numbers of rows, columns and "
                    f"entries, found {shown!r}."
                )
            return


def _fault(name: str, message: str) -> FormatError:
    """The error of scipy's reader, with the line where it tells one."""
    message = message.strip().rstrip(".")
    line = re.match(r"[Ll]ine (\d+): *(.*)", message, re.DOTALL)
    if line:
        return FormatError(f"{name}, line {int(line[1]):,}: {line[2]}.")
    return FormatError(f"{name}: damaged Matrix Market file ({message}).")
