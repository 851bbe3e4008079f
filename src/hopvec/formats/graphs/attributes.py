"""The attributes that networkx writes behind an edge: a b {'weight': 31}."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

AT_END = re.compile(rb"([\t ,;|])\{((?:'[^\n]*)?)\}[ \t]*$", re.MULTILINE)
WEIGHT = re.compile(rb"'weight': (?:np\.\w+\(|')?([-+.\w]+)")  # numpy has np.float64(0.5)


@dataclass(frozen=True)
class Attributes:
    """What becomes of attributes: a cell with their weight, or none where no edge has one."""

    weighted: bool
    example: str
    """Those of the first edge that has any."""

    def unwrap(self, text: bytes) -> bytes:
        """Lines without attributes. As for networkx, an edge that does not tell its weight has 1.

        A weight below first lines without any stays, to be refused as a column too many.
        """
        return AT_END.sub(self._cell, text)

    def _cell(self, match: re.Match[bytes]) -> bytes:
        weight = WEIGHT.search(match[2])
        if self.weighted:
            return match[1] + (weight[1] if weight else b"1")
        return match[0] if weight else b""


def find_attributes(lines: Sequence[str]) -> Attributes | None:
    """What is behind the edges of the first lines; None unless all of them have attributes."""
    found = [AT_END.search(line.encode()) for line in lines]
    inside = [match[2] for match in found if match]
    if len(inside) < len(lines):
        return None
    example = next(filter(None, inside), b"").decode()
    return Attributes(any(map(WEIGHT.search, inside)), example)
