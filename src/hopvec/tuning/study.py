"""Study: the trials of a search in a file, a line each, so that a search can be interrupted.

    {"hopvec": "0.1.0", "settings": {"method": "FastRP", "space": {"beta": "-1:0"}, ...}}
    {"number": 1, "parameters": {"beta": -0.61}, "score": 0.2123, "seconds": 0.31}

A line is added when a trial has finished. Whatever ends the process, at most the trial that was
running is lost: an unfinished last line is no trial, and is cut off when the search goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from hopvec.errors import FormatError, ParameterError
from hopvec.formats.atomic import lock


@dataclass(frozen=True)
class Trial:
    """One point of the space, and how good it is."""

    number: int
    """Counted from 1."""
    parameters: dict[str, Any]
    """The values of the dimensions of the space."""
    score: float
    seconds: float
    """What it took; 0 for a point that was tried before."""


class Study:
    """The trials of a search, in memory and in a file if it has one.

    With a file that holds trials of the same settings, it begins with those; a file of other
    settings is refused with the difference, and one that another process works on as well.
    """

    def __init__(self, path: str | os.PathLike[str] | None, settings: Mapping[str, Any]) -> None:
        self.trials: list[Trial] = []
        self.settings = json.loads(json.dumps(settings))  # as they will be read
        self._path = None if path is None else Path(path)
        self._file: BinaryIO | None = None

    def __enter__(self) -> Self:
        if self._path is not None:
            with _writing(self._path):
                self._file = self._path.open("a+b")
            try:
                self._read(self._file, self._path)
            except BaseException:
                self._file.close()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, trial: Trial) -> None:
        """Keeps a finished trial."""
        self.trials.append(trial)
        self._write(asdict(trial))

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is not None and self._path is not None:
            with _writing(self._path):
                self._file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
                self._file.flush()
                os.fsync(self._file.fileno())

    def _read(self, file: BinaryIO, path: Path) -> None:
        if lock(file) is False:
            raise FormatError(
                f"{path}: another search is at work on this study. Wait for it, or name another "
                "file."
            )
        file.seek(0)
        content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        file.truncate(len(whole))  # what a killed process had begun to write
        lines = [_parsed(path, number, line) for number, line in enumerate(whole.splitlines(), 1)]
        if not lines:
            self._write({"hopvec": version("hopvec"), "settings": self.settings})
            return
        self._refuse_others(path, lines[0].get("settings"))
        for number, line in enumerate(lines[1:], start=1):
            if line.keys() != Trial.__dataclass_fields__.keys() or line["number"] != number:
                raise FormatError(f"{path}, line {number + 1}: this is not trial number {number}.")
            self.trials.append(Trial(**line))

    def _refuse_others(self, path: Path, found: Any) -> None:
        if not isinstance(found, dict):
            raise FormatError(f"{path}, line 1: this is no study: it does not hold its settings.")
        for name in self.settings.keys() | found.keys():
            before, now = found.get(name), self.settings.get(name)
            if before != now:
                raise ParameterError(
                    f"{path}: this study was begun with another {name}: {_shown(before)}, now "
                    f"{_shown(now)}. Go on with the same, or name another file for the study."
                )


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turns what the system says of a file that cannot be written into a FormatError."""
    try:
        yield
    except OSError as error:
        raise FormatError(f"{path}: cannot be written ({error.strerror or error}).") from error


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise FormatError(
            f"{path}, line {number}: this is no line of a study ({error})."
        ) from error
    return value if isinstance(value, dict) else {}


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(entry)}" for name, entry in value.items())
    return "nothing" if value is None else str(value)
