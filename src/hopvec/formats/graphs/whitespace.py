"""Blanks between the cells of a text: stretches of them made one separator, or none."""

from __future__ import annotations

import re
from collections.abc import Callable

QUOTED = rb'"(?:[^"\n]|"")*"'


def squeezer(blanks: bytes, separator: bytes) -> Callable[[bytes], bytes]:
    r"""Makes each stretch of blanks one separator and removes those at the ends of lines.

    >>> squeezer(b" \t", b"\t")(b' a   "b  c" \n')
    b'a\t"b  c"\n'
    """
    some = re.compile(b"[" + blanks + b"]+")
    quoted_or_some = re.compile(b"(?<![^\n" + blanks + b"])" + QUOTED + b"|[" + blanks + b"]+")
    double = tuple(bytes((one, other)) for one in blanks for other in blanks)
    ends = tuple(end for blank in blanks for end in (bytes((blank, 10)), bytes((10, blank))))
    others = tuple(bytes((blank,)) for blank in blanks if bytes((blank,)) != separator)

    def keep_quoted(match: re.Match[bytes]) -> bytes:
        return match[0] if match[0].startswith(b'"') else separator

    def squeeze(text: bytes) -> bytes:
        if not text[:1].isspace() and not any(mark in text for mark in (*double, *ends, *others)):
            return text
        text = quoted_or_some.sub(keep_quoted, text) if b'"' in text else some.sub(separator, text)
        text = text.replace(separator + b"\n", b"\n").replace(b"\n" + separator, b"\n")
        return text.removeprefix(separator)

    return squeeze


def opener(separator: bytes) -> Callable[[bytes], bytes]:
    r"""Removes the blanks between a separator and a quote, which would hide it.

    >>> opener(b",")(b'a, "b, c"\n')
    b'a,"b, c"\n'
    """
    mark = re.escape(separator)
    quoted_or_blanks = re.compile(b"(?<![^\n " + mark + b"])" + QUOTED + b"|" + mark + b' +(?=")')

    def keep_quoted(match: re.Match[bytes]) -> bytes:
        return match[0] if match[0].startswith(b'"') else separator

    def open_quotes(text: bytes) -> bytes:
        if separator + b" " not in text or b' "' not in text:
            return text
        return quoted_or_blanks.sub(keep_quoted, text)

    return open_quotes
