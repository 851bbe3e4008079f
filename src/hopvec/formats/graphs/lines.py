"""The lines of a text that hold edges: comments and blank lines left out, their numbers kept."""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Callable

from hopvec.errors import FormatError
from hopvec.formats.graphs.source import Source

BLOCK = 1 << 20
LONGEST = 1 << 20  # a longer line holds no edge
RUNS = re.compile(rb"[ \t]+")
MARKS = (b"#", b"%")


class Lines:
    """A text as pyarrow reads it: `read` gives its bytes without the lines that hold no edge.

    `skip` lines at the start are left out; so are blank ones and comments, those that begin with
    one of `comments`. With `runs`, any stretch of blanks and tabs is one tab; with `single`, one
    blank. A comment below an edge that `might_be_edge` is refused: nothing is dropped by guess.
    """

    closed = False

    def __init__(
        self,
        source: Source,
        *,
        skip: int = 0,
        comments: tuple[bytes, ...] = (),
        runs: bool = False,
        single: bool = False,
        might_be_edge: Callable[[str], bool] = lambda line: False,
    ) -> None:
        self._source, self._comments, self._runs = source, comments, runs
        self._single, self._might_be_edge = single, might_be_edge
        self._skip, self._line = skip, 1  # lines still to skip; the number of the next line
        self._rest, self._ready = b"", memoryview(b"")
        self._left_out = array("q")  # numbers of the lines that were left out
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=32)
        self._edges_before = False
        self.comments = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size`."""
        while not self._ready:
            block = self._next_lines()
            if not block:
                return b""
            self._recent.append((self._line, block))
            self._ready = memoryview(self._edges(block))
        part = self._ready[:size] if size >= 0 else self._ready
        self._ready = self._ready[len(part) :]
        return bytes(part)

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def number(self, row: int) -> int:
        """The number of the line that became a row; rows are counted from 0, lines from 1."""
        # Before left-out line i (numbered from 0) there are left_out[i] - 1 - i rows.
        low, high = 0, len(self._left_out)
        while low < high:
            middle = (low + high) // 2
            if self._left_out[middle] - 1 - middle <= row:
                low = middle + 1
            else:
                high = middle
        return row + 1 + low

    def find(self, text: bytes) -> int | None:
        """The number of the line of the last few blocks that begins with a text."""
        for first, block in self._recent:
            at = 0 if block.startswith(text) else block.find(b"\n" + text) + 1
            if at or block.startswith(text):
                return first + block.count(b"\n", 0, at)
        return None

    def open_quote(self) -> int | None:
        """The number of the first recent line in which a quote is opened and not closed."""
        for first, block in self._recent:
            if b'"' in block:
                for number, line in enumerate(block.split(b"\n")):
                    if line.count(b'"') % 2:
                        return first + number
        return None

    def not_text(self) -> int | None:
        """The number of the first recent line that is no UTF-8."""
        for first, block in self._recent:
            try:
                block.decode()
            except UnicodeDecodeError as error:
                return first + block.count(b"\n", 0, error.start)
        return None

    def _next_lines(self) -> bytes:
        """Whole lines, those of a block; the last line of the text may lack its end."""
        block = self._rest
        while True:
            more = self._source.read(BLOCK)
            if b"\0" in more:
                at = f"{self._source.name}, line {self._at(block, more)}"
                raise FormatError(f"{at}: a byte 0, so this is no text.")
            block += more
            end = block.rfind(b"\n") + 1
            if not more:
                self._rest = b""
                return block + b"\n" if block and not block.endswith(b"\n") else block
            if end:
                self._rest = block[end:]
                return block[:end]
            if len(block) > LONGEST:
                raise FormatError(
                    f"{self._source.name}, line {self._line:,}: the line is longer than "
                    f"{LONGEST:,} bytes, so this is no list of edges."
                )

    def _at(self, before: bytes, block: bytes) -> str:
        ends = before.count(b"\n") + block.count(b"\n", 0, block.index(b"\0"))
        return f"{self._line + ends:,}"

    def _edges(self, block: bytes) -> bytes:
        """The lines of a block that hold edges."""
        first, self._line = self._line, self._line + block.count(b"\n")
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            self._line = first + block.count(b"\n")
        if first == 1 and block.startswith(b"\xef\xbb\xbf"):
            block = block[3:]
        if self._skip or self._has_others(block):
            block = self._filter(block, first)
        else:
            self._edges_before = True
        if self._runs or (self._single and self._has_runs(block)):
            block = b"\n".join(RUNS.sub(b"\t", line.strip(b" \t")) for line in block.split(b"\n"))
            if not self._runs:
                block = block.replace(b"\t", b" ")
        return block

    def _has_others(self, block: bytes) -> bool:
        if block.startswith((b"\n", *self._comments)) or b"\n\n" in block:
            return True
        if b"\n \n" in block or b"\n\t\n" in block:
            return True
        return any(b"\n" + mark in block for mark in self._comments)

    @staticmethod
    def _has_runs(block: bytes) -> bool:
        return b"  " in block or b" \n" in block or b"\n " in block or block.startswith(b" ")

    def _filter(self, block: bytes, first: int) -> bytes:
        kept: list[bytes] = []
        for number, line in enumerate(block.split(b"\n")[:-1], first):
            comment = line.startswith(self._comments) if self._comments else False
            if self._skip or comment or not line.strip():
                self._skip = max(0, self._skip - 1)
                self._left_out.append(number)
                self.comments += comment
                if comment and (kept or self._edges_before):
                    self._refuse_if_edge(line, number)
            else:
                kept.append(line)
        self._edges_before = self._edges_before or bool(kept)
        return b"\n".join([*kept, b""]) if kept else b""

    def _refuse_if_edge(self, line: bytes, number: int) -> None:
        text = line.decode(errors="replace")
        if not text[1:2].isspace() and self._might_be_edge(text):
            raise FormatError(
                f"{self._source.name}, line {number:,}: is {text[:40]!r} a comment or an edge? Say "
                f"comment='' if it is an edge, comment={text[0]!r} if such lines are comments."
            )
