"""Terminal: prints results to standard output, and everything else to standard error."""

from __future__ import annotations

import codecs
import json
import logging
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TextIO

import click

from hopvec.cli.messages import name_options
from hopvec.escape import tab_separated, visible, visible_json
from hopvec.machine import format_bytes
from hopvec.progress import SHOW_IMMEDIATELY, Progress, no_progress

Label = str | Callable[[], str]
"""The label of a progress bar, or a function that returns the current one."""
LINE_SECONDS = 10.0  # between progress lines if standard error is not a terminal


class Terminal:
    """The output of a command. Inside its `with` block, it prints the library's log as well."""

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

    def info(self, text: str) -> None:
        """Print a line to standard error, unless --quiet was given."""
        if not self.quiet:
            click.echo(visible(text), err=True)

    def info_rows(self, rows: Sequence[tuple[str, str]]) -> None:
        """Print names and values in two columns to standard error."""
        for line in () if self.quiet else _aligned(rows, sys.stderr):
            click.echo(line, err=True)

    def print(self, text: str) -> None:
        """Print text of the result."""
        click.echo(visible(text, keep="\n\t"))

    def print_cells(self, cells: Iterable[str]) -> None:
        """Print a row of the result, separated by tabs, for programs that read it."""
        click.echo(tab_separated(cells))

    def print_rows(self, rows: Sequence[tuple[str, str]]) -> None:
        """Print names and values in two columns as the result."""
        for line in _aligned(rows, sys.stdout):
            click.echo(line)

    def print_json(self, value: Any) -> None:
        """Print the result as JSON."""
        plain = not _is_unicode(sys.stdout)
        click.echo(visible_json(json.dumps(value, indent=2, ensure_ascii=plain)))

    def print_table(
        self,
        title: str,
        names: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        numbers: int = 1,
        bold: Collection[tuple[int, int]] = (),
        ends: Collection[int] = (),
    ) -> None:
        """Print the result as a table; the last `numbers` columns are aligned to the right.

        `bold` are (row, column) cells; `ends` are rows with a line below them.
        """
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(visible(title)), title_justify="left", title_style="bold")
        for at, name in enumerate(names):
            table.add_column(
                Text(visible(name)), justify="left" if at < len(names) - numbers else "right"
            )
        for number, row in enumerate(rows):
            cells = (
                Text(visible(cell), style="bold" if (number, at) in bold else "")
                for at, cell in enumerate(row)
            )
            table.add_row(*cells, end_section=number in ends)
        Console().print(table)

    @contextmanager
    def progress(self, label: Label, unit: str) -> Iterator[Progress]:
        """Show the progress of a stage: yield a callback that takes (done, total).

        On a terminal it is a bar with rate and time left, elsewhere a line every ten seconds. A
        `total` of 0 means that it is unknown. The unit "bytes" is shown as sizes, "%" without a
        rate.
        """
        if self.quiet:
            yield no_progress
        elif sys.stderr.isatty():
            with _bar(label, unit) as update:
                yield update
        else:
            yield self._lines(label, unit)

    def _lines(self, label: Label, unit: str) -> Progress:
        start = last = time.monotonic()

        def update(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= LINE_SECONDS:
                last = now
                self.info(f"{_text(label)}: {progress_text(done, total, now - start, unit)}")

        return update


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def _is_unicode(stream: TextIO) -> bool:
    """Whether a stream can encode all characters; one without an encoding holds strings."""
    return codecs.lookup(stream.encoding or "utf-8").name.startswith("utf")


def wrap(text: str, width: int) -> list[str]:
    """Split a string into lines, at least one; a number stays with what it counts.

    >>> wrap("7 duplicates, 8 loops", 15)
    ['7 duplicates,', '8 loops']
    """
    lines = textwrap.wrap(re.sub(r"(?<=\d) (?=\S)", "\N{NO-BREAK SPACE}", text), width)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] or [""]


def progress_text(done: int, total: int, seconds: float, unit: str) -> str:
    """The progress of a stage as a string.

    >>> progress_text(3, 12, 6.0, "rows"), progress_text(3, 12, 6.0, "%")
    ('25 %, 0.5 rows/s, 18 s left', '25 %, 18 s left')
    """
    rate = done / seconds if seconds > 0 else 0.0
    amount = format_bytes(done) if unit == "bytes" else f"{done:,} {unit}"
    parts = [f"{100 * done / total:.0f} %" if total else amount, _rate_text(rate, unit)]
    if total and rate:
        parts.append(f"{duration((total - done) / rate)} left")
    return ", ".join(filter(None, parts))


def duration(seconds: float) -> str:
    """A duration as a string.

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


def _aligned(rows: Sequence[tuple[str, str]], stream: TextIO) -> Iterator[str]:
    """The lines of two columns; the second is wrapped to the width of a terminal."""
    rows = [(visible(name), visible(text)) for name, text in rows]
    width = max((len(name) for name, _ in rows), default=0)
    columns = shutil.get_terminal_size().columns if stream.isatty() else sys.maxsize
    for name, text in rows:
        first, *others = wrap(text, max(20, columns - width - 2))
        yield click.style(f"{name:<{width}}", bold=True) + f"  {first}"
        yield from (" " * (width + 2) + line for line in others)


def _text(label: Label) -> str:
    return visible(label if isinstance(label, str) else label())


def _rate_text(rate: float, unit: str) -> str:
    """A rate such as '120 MB/s'; empty for percentages."""
    if unit == "%":
        return ""
    return f"{format_bytes(rate)}/s" if unit == "bytes" else f"{rate:,.3g} {unit}/s"


@contextmanager
def _bar(label: Label, unit: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[state]}", markup=False),
    )
    start = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(_text(label), total=None, state="")

        def update(done: int, total: int) -> None:
            state = progress_text(done, total, time.monotonic() - start, unit)
            known = total or None
            bar.update(task, description=_text(label), completed=done, total=known, state=state)

        yield update


class _Log(logging.Handler):
    """Handles the library's log: warnings are collected as notes, the rest is printed at once."""

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
        message = name_options(record.getMessage())
        if record.levelno >= logging.WARNING and not hasattr(record, SHOW_IMMEDIATELY):
            self._terminal.notes.append(message)
        else:
            self._terminal.info(message)
