"""Terminal: what people see of a run. Answers go to standard output, all else to standard error."""

from __future__ import annotations

import json
import logging
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import click

from hopvec.machine import in_words
from hopvec.progress import Progress, no_progress

Doing = str | Callable[[], str]
"""What a stage is doing, or a function that tells it as it goes."""
EVERY = 10.0  # seconds between the lines that stand for a bar where there is no terminal


class Terminal:
    """Where a verb prints. Inside its `with` block the library's log comes here as well."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.notes: list[str] = []
        """The library's warnings so far."""
        self._log = _Log(self, logging.INFO if verbose else logging.WARNING)

    def __enter__(self) -> Self:
        self._log.attach()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._log.detach()

    def say(self, text: str) -> None:
        """Tells people something, unless they asked for quiet."""
        if not self.quiet:
            click.echo(text, err=True)

    def facts(self, rows: Sequence[tuple[str, str]], *, answer: bool = False) -> None:
        """Prints facts in two columns: as the answer of a verb, else as something to tell."""
        width = max((len(name) for name, _ in rows), default=0)
        tell, stream = (self.answer, sys.stdout) if answer else (self.say, sys.stderr)
        columns = shutil.get_terminal_size().columns if stream.isatty() else sys.maxsize
        for name, text in rows:
            first, *others = wrapped(text, max(20, columns - width - 2))
            tell(click.style(f"{name:<{width}}", bold=True) + f"  {first}")
            for line in others:
                tell(" " * (width + 2) + line)

    def answer(self, text: str) -> None:
        """Prints a line of what was asked for."""
        click.echo(text)

    def answer_json(self, value: Any) -> None:
        """Prints what was asked for, for a program to read."""
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))

    def answer_table(
        self,
        title: str,
        names: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        numbers: int = 1,
        bold: Collection[tuple[int, int]] = (),
        ends: Collection[int] = (),
    ) -> None:
        """Prints a table for people; the last columns hold numbers.

        `bold` are cells by row and column, `ends` the rows that have a line below them.
        """
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(title), title_justify="left", title_style="bold")
        for at, name in enumerate(names):
            table.add_column(name, justify="left" if at < len(names) - numbers else "right")
        for number, row in enumerate(rows):
            cells = (
                Text(cell, style="bold" if (number, at) in bold else "")
                for at, cell in enumerate(row)
            )
            table.add_row(*cells, end_section=number in ends)
        Console().print(table)

    @contextmanager
    def progress(self, doing: Doing, unit: str) -> Iterator[Progress]:
        """A function of (done, of) that shows how far a stage is.

        A bar with rate and time left on a terminal; elsewhere a line now and then. `of` is 0 where
        the end is not known; the unit "bytes" is shown as sizes, that of "%" not at all.
        """
        if self.quiet:
            yield no_progress
        elif sys.stderr.isatty():
            with _bar(doing, unit) as update:
                yield update
        else:
            yield self._lines(doing, unit)

    def _lines(self, doing: Doing, unit: str) -> Progress:
        start = last = time.monotonic()

        def update(done: int, of: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= EVERY:
                last = now
                self.say(f"{told(doing)}: {how_far(done, of, now - start, unit)}")

        return update


def told(doing: Doing) -> str:
    """What a stage is doing now."""
    return doing if isinstance(doing, str) else doing()


def is_terminal() -> bool:
    """Whether people read the answer."""
    return sys.stdout.isatty()


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text, at least one; a number stays with what it counts.

    >>> wrapped("7 duplicates, 8 loops", 15)
    ['7 duplicates,', '8 loops']
    """
    lines = textwrap.wrap(re.sub(r"(?<=\d) (?=\S)", "\N{NO-BREAK SPACE}", text), width)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] or [""]


def how_far(done: int, of: int, seconds: float, unit: str) -> str:
    """The state of a stage in words.

    >>> how_far(3, 12, 6.0, "rows"), how_far(3, 12, 6.0, "%")
    ('25 %, 0.5 rows/s, 18 s left', '25 %, 18 s left')
    """
    rate = done / seconds if seconds > 0 else 0.0
    amount = in_words(done) if unit == "bytes" else f"{done:,} {unit}"
    parts = [f"{100 * done / of:.0f} %" if of else amount, speed(rate, unit)]
    if of and rate:
        parts.append(f"{duration((of - done) / rate)} left")
    return ", ".join(filter(None, parts))


def speed(rate: float, unit: str) -> str:
    """A rate in words, such as '120 MB/s'; nothing for percents."""
    if unit == "%":
        return ""
    return f"{in_words(rate)}/s" if unit == "bytes" else f"{rate:,.3g} {unit}/s"


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(0.25), duration(75), duration(7300)
    ('0.25 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 59.5:
        return f"{seconds:.2g} s"
    minutes = round(seconds / 60)
    return (
        f"{round(seconds) // 60} min {round(seconds) % 60} s"
        if minutes < 60
        else (f"{minutes // 60} h {minutes % 60} min")
    )


@contextmanager
def _bar(doing: Doing, unit: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[state]}", markup=False),
    )
    start = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(told(doing), total=None, state="")

        def update(done: int, of: int) -> None:
            state = how_far(done, of, time.monotonic() - start, unit)
            bar.update(task, description=told(doing), completed=done, total=of or None, state=state)

        yield update


class _Log(logging.Handler):
    """The library's log: warnings become notes, the rest is told on the way."""

    def __init__(self, terminal: Terminal, level: int) -> None:
        super().__init__(level)
        self._terminal, self._logger = terminal, logging.getLogger("hopvec")
        self._before = self._logger.level

    def attach(self) -> None:
        self._logger.addHandler(self)
        self._logger.setLevel(self.level)

    def detach(self) -> None:
        self._logger.removeHandler(self)
        self._logger.setLevel(self._before)

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self._terminal.notes.append(record.getMessage())
        else:
            self._terminal.say(record.getMessage())
