"""The lines of a text that contain edges, in blocks, without comments and blank lines."""

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
from hopvec.formats.graphs.input_file import InputFile

BLOCK_BYTES = 1 << 20
MAX_LINE = 1 << 20  # bytes; a longer line cannot be an edge
COMMENT_PREFIXES = (b"#", b"%")
AHEAD = 2  # blocks parsed in advance while earlier ones are encoded
RECENT = 8  # blocks whose line numbers are known: more than are in flight at any time

T = TypeVar("T")


@dataclass(frozen=True)
class Block:
    """Lines that contain edges, and their position; edges count from 0, lines from 1."""

    data: bytes
    """Complete lines with their newlines; none is blank."""
    count: int
    """The number of edges."""
    edge: int
    """The number of the first edge."""
    line: int
    """The line number at which the block begins, whether or not that line was skipped."""
    skipped: Sequence[int]
    """The numbers of the lines that were skipped."""

    def number(self, edge: int) -> int:
        """The line number of an edge."""
        line = self.line + edge - self.edge

        # skipped[i] - i is the line number that would follow if the lines before were not skipped.
        def shifted(index: int) -> int:
            return self.skipped[index] - index

        return line + bisect_right(range(len(self.skipped)), line, key=shifted)


class Lines:
    """Iterates once over the blocks of a text, without the lines that contain no edge.

    Parameters
    ----------
    file : InputFile
        The text.
    skip : int
        The number of lines to skip at the start.
    comments : tuple of bytes
        Prefixes of comment lines, which are skipped, as are blank lines.
    normalize : callable
        Applied to each block, so that exactly one separator is between two columns.
    might_be_edge : callable
        Whether a line that looks like a comment could also be an edge. Such a line below the header
        or the first edge raises FormatError, since skipping it would be a guess.
    header : bool
        Whether the last line to skip is a header.
    """

    def __init__(
        self,
        file: InputFile,
        *,
        skip: int = 0,
        comments: tuple[bytes, ...] = (),
        normalize: Callable[[bytes], bytes] = lambda block: block,
        might_be_edge: Callable[[str], bool] = lambda line: False,
        header: bool = False,
    ) -> None:
        self._file, self._skip, self._comments = file, skip, comments
        self._prefixes = (b"\n", b" ", b"\t", *comments)  # of lines that may have no edge
        self._is_prefix = np.zeros(256, bool)
        self._is_prefix[[prefix[0] for prefix in self._prefixes]] = True
        self._max_prefix = int(np.flatnonzero(self._is_prefix)[-1])
        self._normalize, self._might_be_edge, self._header = normalize, might_be_edge, header
        self._line, self._edge = 1, 0  # the numbers of the next line and of the next edge
        self._rest = b""
        self._recent: deque[Block] = deque(maxlen=RECENT)
        self.comments: int = 0

    def __iter__(self) -> Iterator[Block]:
        while text := self._next_lines():
            block = self._edges(text)
            if block.data:
                self._recent.append(block)
                yield block

    def number(self, edge: int) -> int:
        """The line number of an edge in one of the last few blocks."""
        recent = tuple(self._recent)  # another thread may append to it
        return next(block for block in reversed(recent) if block.edge <= edge).number(edge)

    def _next_lines(self) -> bytes:
        """The next complete lines; a newline is added if the last one has none."""
        block = self._rest
        while True:
            more = self._file.read(BLOCK_BYTES)
            if b"\0" in more:
                line = self._line + _unix(block + more[: more.index(b"\0")]).count(b"\n")
                raise FormatError(
                    f"{self._file.name}, line {line:,}: a null byte; this is not text."
                )
            block += more
            if not more:
                self._rest = b""
                return _unix(
                    block if block.endswith((b"\n", b"\r")) or not block else block + b"\n"
                )
            # A carriage return at the very end may be the first half of a line end.
            end = max(block.rfind(b"\n"), block.rfind(b"\r", 0, -1)) + 1
            self._rest = block[end:]
            if len(self._rest) > MAX_LINE:
                line = self._line + _unix(block[:end]).count(b"\n")
                raise FormatError(
                    f"{self._file.name}, line {line:,}: the line is longer than "
                    f"{MAX_LINE:,} bytes; this is not a list of edges."
                )
            if end:
                return _unix(block[:end])

    def _edges(self, text: bytes) -> Block:
        """The block of edges in some lines."""
        line, edge = self._line, self._edge
        characters = np.frombuffer(text, np.uint8)
        ends = characters == ord("\n")
        self._line += int(np.count_nonzero(ends))
        skipped: Sequence[int] = ()
        if line == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if self._skip or text.startswith(self._prefixes) or self._may_have_prefix(characters, ends):
            text, skipped = self._filter(text, line)
        count = self._line - line - len(skipped)
        self._edge += count
        return Block(self._normalize(text), count, edge, line, skipped)

    def _may_have_prefix(self, characters: NDArray[np.uint8], ends: NDArray[np.bool_]) -> bool:
        """Whether a line below the first may be blank or a comment."""
        first = characters[1:]
        # Ids rarely begin with such a low byte, and comparing arrays is faster than listing ends.
        low = ends[:-1] & (first <= self._max_prefix)
        return bool(low.any() and self._is_prefix[first[low]].any())

    def _filter(self, text: bytes, first: int) -> tuple[bytes, array[int]]:
        kept: list[bytes] = []
        skipped = array("q")
        for number, line in enumerate(text.split(b"\n")[:-1], first):
            comment = bool(self._comments) and line.startswith(self._comments)
            if not self._skip and not comment and line.strip():
                kept.append(line)
                continue
            below = self._header and not self._skip
            self._skip = max(0, self._skip - 1)
            skipped.append(number)
            self.comments += comment
            if comment and (kept or self._edge or below):
                self._check_comment(line.decode(errors="replace"), number)
        kept.append(b"")
        return b"\n".join(kept), skipped

    def _check_comment(self, line: str, number: int) -> None:
        if not line[1:2].isspace() and self._might_be_edge(line):
            raise FormatError(
                f"{self._file.name}, line {number:,}: is {line[:40]!r} a comment or an edge? Use "
                f"comment='' if it is an edge, comment={line[0]!r} if such lines are comments."
            )


def parse_ahead(
    parse: Callable[[Block], T], blocks: Iterable[Block], *, from_pipe: bool = False
) -> Iterator[T]:
    """The parsed blocks; a thread reads and parses the next ones in advance.

    If blocks come from a pipe, they are read in this thread, so that Ctrl-C interrupts the wait.
    """
    if from_pipe:
        yield from map(parse, blocks)
        return
    rest = iter(blocks)

    def parse_next() -> T | None:
        block = next(rest, None)
        return None if block is None else parse(block)

    parser = ThreadPoolExecutor(1)
    try:
        ahead = deque(parser.submit(parse_next) for _ in range(1 + AHEAD))
        while (parsed := ahead.popleft().result()) is not None:
            ahead.append(parser.submit(parse_next))
            yield parsed
    finally:  # never waits: the garbage collector may close this inside threading, with locks held
        parser.shutdown(wait=False, cancel_futures=True)


def _unix(text: bytes) -> bytes:
    """The text with all line ends converted to newlines."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
