"""ScoreTable: scores that are written to a file, or printed as a table, JSON or lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopvec.cli.outputs import STDOUT, check_not_input, write_json, write_text
from hopvec.cli.terminal import Terminal, is_terminal
from hopvec.errors import FormatError
from hopvec.formats.destination import check_writable

SUFFIXES = (".json", ".csv")


@dataclass(frozen=True)
class ScoreTable:
    """Scores, ready for each kind of output."""

    plain: dict[str, Any]
    """All results by file of vectors, ready for JSON."""
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    """Strings and numbers, one per column."""
    show: Callable[[Terminal], None]
    """Prints a table to the terminal."""

    def write(self, output: Path) -> None:
        """Write the scores in the format that the suffix selects."""
        if output == STDOUT or output.suffix.lower() == ".json":
            write_json(output, self.plain)
            return
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        write_text(output, text.getvalue())

    def print(self, terminal: Terminal, as_json: bool) -> None:
        """Print the scores: as JSON, as a table on a terminal, else as lines."""
        if as_json:
            terminal.print_json(self.plain)
        elif is_terminal():
            self.show(terminal)
        else:
            for row in [self.columns, *self.rows]:
                terminal.print_cells(f"{v:.6g}" if isinstance(v, float) else v for v in row)


def check_scores(output: Path | None, inputs: Sequence[str | None]) -> None:
    """Raise FormatError unless scores can be written to this path without replacing an input."""
    if output is None or output == STDOUT:
        return
    if output.suffix.lower() not in SUFFIXES:
        raise FormatError(f"{output}: scores can be written as {' or '.join(SUFFIXES)}.")
    check_writable(output)
    check_not_input(output, inputs)


def best(values: Sequence[float], value: float) -> bool:
    """Whether a value is the best of several."""
    return len(values) > 1 and value == max(values)
