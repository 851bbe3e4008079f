"""The lines of a text that hold edges: comments and blank lines left out, their numbers kept."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hopvec.errors import FormatError
from hopvec.formats.graphs.source import Source

BLOCK = 1 << 20
LONGEST = 1 << 20  # a longer line holds no edge
MARKS = (b"#", b"%")
AHEAD = 2  # blocks that are parsed while edges of earlier ones are taken
RECENT = 8  # blocks whose lines can be told: more than are ever on their way

T = TypeVar("T")


@dataclass(frozen=True)
class Block:
    """Lines that hold edges, and where they stand; edges are counted from 0, lines from 1."""

    data: bytes
    """Whole lines that end in a newline, none of them blank."""
    count: int
    """The number of edges."""
    edge: int
    """The number of the first edge."""
    line: int
    """The number of the line that the block begins with, whether or not it was left out."""
    left_out: Sequence[int]
    """The numbers of the lines that were left out."""

    def number(self, edge: int) -> int:
        """The number of the line of an edge."""
        line = self.line + edge - self.edge

        # left_out[i] - i is the line that follows the edges before it if nothing is left out.
        def moved(index: int) -> int:
            return self.left_out[index] - index

        return line + bisect_right(range(len(self.left_out)), line, key=moved)


class Lines:
    """A text in blocks of lines without those that hold no edge. It can be gone through once.

    `skip` lines at the start are left out; so are blank ones and comments, those that begin with
    one of `comments`. A comment below an edge that `might_be_edge` is refused: nothing is dropped
    by guess. `tidy` is what a block must go through to have one separator between two columns.
    """

    def __init__(
        self,
        source: Source,
        *,
        skip: int = 0,
        comments: tuple[bytes, ...] = (),
        tidy: Callable[[bytes], bytes] = lambda block: block,
        might_be_edge: Callable[[str], bool] = lambda line: False,
    ) -> None:
        self._source, self._skip, self._marks = source, skip, comments
        self._others = (b"\n", b" ", b"\t", *comments)  # what lines without an edge begin with
        self._may_begin_other = np.zeros(256, bool)
        self._may_begin_other[[start[0] for start in self._others]] = True
        self._last_other = int(np.flatnonzero(self._may_begin_other)[-1])
        self._tidy, self._might_be_edge = tidy, might_be_edge
        self._line, self._edge = 1, 0  # the numbers of the next line and of the next edge
        self._rest = b""
        self._recent: deque[Block] = deque(maxlen=RECENT)
        self.comments = 0

    def __iter__(self) -> Iterator[Block]:
        while text := self._next_lines():
            block = self._edges(text)
            if block.data:
                self._recent.append(block)
                yield block

    def number(self, edge: int) -> int:
        """The number of the line of an edge of the last few blocks."""
        recent = tuple(self._recent)  # a thread may read on meanwhile
        return next(block for block in reversed(recent) if block.edge <= edge).number(edge)

    def _next_lines(self) -> bytes:
        """Whole lines; the last line of the text may lack its end."""
        block = self._rest
        while True:
            more = self._source.read(BLOCK)
            if b"\0" in more:
                line = self._line + _unix(block + more[: more.index(b"\0")]).count(b"\n")
                raise FormatError(
                    f"{self._source.name}, line {line:,}: a byte 0, so this is no text."
                )
            block += more
            if not more:
                self._rest = b""
                return _unix(
                    block if block.endswith((b"\n", b"\r")) or not block else block + b"\n"
                )
            # A return at the very end may be the first half of a line end.
            end = max(block.rfind(b"\n"), block.rfind(b"\r", 0, -1)) + 1
            self._rest = block[end:]
            if len(self._rest) > LONGEST:
                line = self._line + _unix(block[:end]).count(b"\n")
                raise FormatError(
                    f"{self._source.name}, line {line:,}: the line is longer than "
                    f"{LONGEST:,} bytes, so this is no list of edges."
                )
            if end:
                return _unix(block[:end])

    def _edges(self, text: bytes) -> Block:
        """The lines of a text that hold edges."""
        line, edge = self._line, self._edge
        letters = np.frombuffer(text, np.uint8)
        ends = letters == ord("\n")
        self._line += int(np.count_nonzero(ends))
        left_out: Sequence[int] = ()
        if line == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if self._skip or text.startswith(self._others) or self._has_others(letters, ends):
            text, left_out = self._filter(text, line)
        count = self._line - line - len(left_out)
        self._edge += count
        return Block(self._tidy(text), count, edge, line, left_out)

    def _has_others(self, letters: NDArray[np.uint8], ends: NDArray[np.bool_]) -> bool:
        """Whether a line below the first might be blank or a comment."""
        first = letters[1:]
        # Ids hardly begin so low, and whole arrays are compared sooner than line ends are listed.
        low = ends[:-1] & (first <= self._last_other)
        return bool(low.any() and self._may_begin_other[first[low]].any())

    def _filter(self, text: bytes, first: int) -> tuple[bytes, array[int]]:
        kept: list[bytes] = []
        left_out = array("q")
        for number, line in enumerate(text.split(b"\n")[:-1], first):
            comment = bool(self._marks) and line.startswith(self._marks)
            if not self._skip and not comment and line.strip():
                kept.append(line)
                continue
            self._skip = max(0, self._skip - 1)
            left_out.append(number)
            self.comments += comment
            if comment and (kept or self._edge):
                self._refuse_if_edge(line.decode(errors="replace"), number)
        kept.append(b"")
        return b"\n".join(kept), left_out

    def _refuse_if_edge(self, line: str, number: int) -> None:
        if not line[1:2].isspace() and self._might_be_edge(line):
            raise FormatError(
                f"{self._source.name}, line {number:,}: is {line[:40]!r} a comment or an edge? Say "
                f"--comment '' if it is an edge, --comment {line[0]!r} if such lines are comments."
            )


def parsed_ahead(
    parse: Callable[[Block], T], blocks: Iterable[Block], *, endless: bool = False
) -> Iterator[T]:
    """What `parse` makes of each block: a thread reads and parses the next ones meanwhile.

    Blocks that may be `endless` in coming are waited for here, where Ctrl-C is heard.
    """
    if endless:
        yield from map(parse, blocks)
        return
    rest = iter(blocks)

    def parse_next() -> T | None:
        block = next(rest, None)
        return None if block is None else parse(block)

    with ThreadPoolExecutor(1) as parser:
        ahead = deque(parser.submit(parse_next) for _ in range(1 + AHEAD))
        while (parsed := ahead.popleft().result()) is not None:
            ahead.append(parser.submit(parse_next))
            yield parsed


def _unix(text: bytes) -> bytes:
    """A text with a newline at the end of each line, whatever was there."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
