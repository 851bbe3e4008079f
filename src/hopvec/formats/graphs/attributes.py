"""Edge attributes as networkx writes them at the end of a line: a b {'weight': 31}."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

AT_END = re.compile(rb"([\t ,;|])\{((?:'[^\n]*)?)\}[ \t]*$", re.MULTILINE)
WEIGHT = re.compile(rb"'weight': (?:np\.\w+\(|')?([-+.\w]+)")  # numpy prints np.float64(0.5)


@dataclass(frozen=True)
class Attributes:
    """How to replace the attributes: by a cell with the weight, or by nothing."""

    weighted: bool
    """Whether any edge of the first lines has a weight."""
    example: str
    """The attributes of the first edge that has any."""

    def unwrap(self, text: bytes) -> bytes:
        """Replace the attributes of all lines. As in networkx, a missing weight is 1.

        If the first lines have no weights, one that follows is left in place, and is rejected later
        as an extra column.
        """
        return AT_END.sub(self._cell, text)

    def _cell(self, match: re.Match[bytes]) -> bytes:
        weight = WEIGHT.search(match[2])
        if self.weighted:
            return match[1] + (weight[1] if weight else b"1")
        return match[0] if weight else b""


def find_attributes(lines: Sequence[str]) -> Attributes | None:
    """The attributes at the ends of the first lines; None unless every line has them."""
    matches = [AT_END.search(line.encode()) for line in lines]
    contents = [match[2] for match in matches if match]
    if len(contents) < len(lines):
        return None
    example = next(filter(None, contents), b"").decode()
    return Attributes(any(map(WEIGHT.search, contents)), example)
