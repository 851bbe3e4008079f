r"""Control characters of ids and file names, escaped wherever a person reads them.

Ids may contain anything: sequences that recolor a terminal or set its title, line breaks and tabs
that would forge rows, and marks that reverse the direction of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
CONTROL = re.compile(f"[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{DIRECTION}]")
CONTROL_OR_BACKSLASH = re.compile(rf"[\\{CONTROL.pattern[1:]}")
NAMES = {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\\": r"\\"}


def visible(text: str, keep: str = "") -> str:
    r"""Escape control characters, except those to keep.

    >>> print(visible("red\x1b[31m\n"))
    red\x1b[31m\n
    """
    return CONTROL.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), text)


def tab_separated(cells: Iterable[str]) -> str:
    r"""A line of cells separated by tabs. Control characters and backslashes in cells are escaped.

    >>> tab_separated(["ann", "a\tb", "c:\\x"])
    'ann\ta\\tb\tc:\\\\x'
    """
    return "\t".join(
        CONTROL_OR_BACKSLASH.sub(lambda found: _escaped(found[0]), cell) for cell in cells
    )


def visible_json(text: str) -> str:
    r"""Escape the control characters that JSON allows in strings; the values stay the same.

    >>> print(visible_json('["\x9b31m"]'))
    ["\u009b31m"]
    """
    return CONTROL.sub(
        lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text
    )


def _escaped(character: str) -> str:
    code = ord(character)
    return NAMES.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
