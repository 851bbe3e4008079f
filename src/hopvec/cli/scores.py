"""Scores of files of vectors: written to a file, printed for people, for programs or in lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopvec.cli.outputs import check_apart, write_json, write_text
from hopvec.cli.terminal import Terminal, is_terminal
from hopvec.errors import FormatError
from hopvec.formats.destination import check_writable

SUFFIXES = (".json", ".csv")


@dataclass(frozen=True)
class ScoreTable:
    """Scores in all forms that they are given in."""

    plain: dict[str, Any]
    """All there is, by the name of the file of vectors, ready for JSON."""
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    """Texts and numbers, as the columns name them."""
    show: Callable[[Terminal], None]
    """Prints a table for people."""

    def write(self, output: Path) -> None:
        """Writes the scores in the format that the suffix names."""
        if output.suffix.lower() == ".json":
            write_json(output, self.plain)
            return
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        write_text(output, text.getvalue())

    def answer(self, terminal: Terminal, as_json: bool) -> None:
        """Prints the scores: for a program, for people, or in lines."""
        if as_json:
            terminal.answer_json(self.plain)
        elif is_terminal():
            self.show(terminal)
        else:
            for row in [self.columns, *self.rows]:
                terminal.answer("\t".join(f"{v:.6g}" if isinstance(v, float) else v for v in row))


def check_scores(output: Path | None, inputs: Sequence[str | None]) -> None:
    """Raises FormatError unless scores could be written to this path, beside all inputs."""
    if output is None:
        return
    if output.suffix.lower() not in SUFFIXES:
        raise FormatError(f"{output}: scores are written as {' or '.join(SUFFIXES)}.")
    check_writable(output)
    check_apart(output, inputs)


def best(values: Sequence[float], value: float) -> bool:
    """Whether a value stands out among those of several files."""
    return len(values) > 1 and value == max(values)
