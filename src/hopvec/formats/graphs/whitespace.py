"""Normalizes the whitespace between the cells of a line of text, outside quotes."""

from __future__ import annotations

import re
from collections.abc import Callable

QUOTED = rb'"(?:[^"\n]|"")*"'


def whitespace_collapser(whitespace: bytes, separator: bytes) -> Callable[[bytes], bytes]:
    r"""A function that replaces runs of whitespace by one separator and trims lines.

    >>> whitespace_collapser(b" \t", b"\t")(b' a   "b  c" \n')
    b'a\t"b  c"\n'
    """
    run = re.compile(b"[" + whitespace + b"]+")
    quoted_or_run = re.compile(b"(?<![^\n" + whitespace + b"])" + QUOTED + b"|" + run.pattern)
    double = tuple(bytes((one, other)) for one in whitespace for other in whitespace)
    ends = tuple(end for space in whitespace for end in (bytes((space, 10)), bytes((10, space))))
    others = tuple(bytes((space,)) for space in whitespace if bytes((space,)) != separator)

    def collapse(text: bytes) -> bytes:
        if not text[:1].isspace() and not any(mark in text for mark in (*double, *ends, *others)):
            return text  # the common case: already normalized
        if b'"' in text:
            text = quoted_or_run.sub(_quoted_or(separator), text)
        else:
            text = run.sub(separator, text)
        text = text.replace(separator + b"\n", b"\n").replace(b"\n" + separator, b"\n")
        return text.removeprefix(separator)

    return collapse


def quote_aligner(separator: bytes) -> Callable[[bytes], bytes]:
    r"""A function that removes spaces between a separator and a quote, so that quotes are seen.

    >>> quote_aligner(b",")(b'a, "b, c"\n')
    b'a,"b, c"\n'
    """
    mark = re.escape(separator)
    quoted_or_spaces = re.compile(b"(?<![^\n " + mark + b"])" + QUOTED + b"|" + mark + b' +(?=")')

    def align(text: bytes) -> bytes:
        if separator + b" " not in text or b' "' not in text:
            return text
        return quoted_or_spaces.sub(_quoted_or(separator), text)

    return align


def _quoted_or(separator: bytes) -> Callable[[re.Match[bytes]], bytes]:
    """A replacement that leaves quoted cells as they are and puts a separator for the rest."""
    return lambda match: match[0] if match[0].startswith(b'"') else separator
