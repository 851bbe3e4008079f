"""Study: the trials of a search in a file, one per line, so that a search can be resumed.

    {"hopvec": "0.1.0", "settings": {"method": "FastRP", "space": {"beta": "-1:0"}, ...}}
    {"number": 1, "parameters": {"beta": -0.61}, "score": 0.2123, "seconds": 0.31}

A line is appended when a trial has finished. However the process ends, only the running trial is
lost: an incomplete last line is cut off when the search resumes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from io import FileIO
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import Any, Self

from hopvec.errors import FormatError, ParameterError
from hopvec.formats.atomic import lock


@dataclass(frozen=True)
class Trial:
    """One point of the search space and its score.

    Attributes
    ----------
    number : int
        Number of the trial, from 1.
    parameters : dict
        The values of the dimensions.
    score : float
        The score; higher is better.
    seconds : float
        The time it took; 0 for a point that was tried before.

    Examples
    --------
    >>> from hopvec import Graph, tune
    >>> graph = Graph.from_edges(range(20), [(7 * n + 1) % 20 for n in range(20)])
    >>> tuning = tune(graph, space={"beta": [0.0, 0.5]}, search="grid")
    >>> tuning.trials[1].number, tuning.trials[1].parameters
    (2, {'beta': 0.5})
    """

    number: int
    parameters: dict[str, Any]
    score: float
    seconds: float


class Study:
    """The trials of a search, in memory and optionally in a file.

    If the file exists, the study begins with its trials. Raises ParameterError if their settings
    differ, and FormatError if another process is using the file.
    """

    def __init__(self, path: str | os.PathLike[str] | None, settings: Mapping[str, Any]) -> None:
        self.trials: list[Trial] = []
        # as read back from the file
        self.settings: dict[str, Any] = json.loads(json.dumps(settings))
        self._path = None if path is None else Path(path)
        # without a buffer, which would write the rest of a failed line when it is closed
        self._file: FileIO | None = None

    def __enter__(self) -> Self:
        if self._path is not None:
            with _os_errors(self._path, "written"):
                self._file = FileIO(self._path, "a+b")
            try:
                if not S_ISREG(os.fstat(self._file.fileno()).st_mode):
                    raise FormatError(f"{self._path}: a study must be a regular file.")
                self._read(self._file, self._path)
            except BaseException:
                self._close()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def add(self, trial: Trial) -> None:
        """Add a finished trial."""
        self.trials.append(trial)
        self._write(asdict(trial))

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is not None and self._path is not None:
            left = memoryview(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            with _os_errors(self._path, "written"):
                while left:
                    left = left[self._file.write(left) :]
                os.fsync(self._file.fileno())

    def _close(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # every line is on the disk already
                self._file.close()

    def _read(self, file: FileIO, path: Path) -> None:
        if lock(file) is False:
            raise FormatError(
                f"{path}: another search is using this study. Wait for it to finish, or choose "
                "another file."
            )
        with _os_errors(path, "read"):
            file.seek(0)
            content = file.readall()
            whole = content[: content.rfind(b"\n") + 1]
            file.truncate(len(whole))  # drops the incomplete line of a killed process
        lines = [_parsed(path, number, line) for number, line in enumerate(whole.splitlines(), 1)]
        if not lines:
            self._write({"hopvec": version("hopvec"), "settings": self.settings})
            return
        self._check_settings(path, lines[0].get("settings"))
        for number, line in enumerate(lines[1:], start=1):
            if line.keys() != Trial.__dataclass_fields__.keys() or line["number"] != number:
                raise FormatError(f"{path}, line {number + 1}: this is not trial number {number}.")
            self.trials.append(Trial(**line))

    def _check_settings(self, path: Path, found: Any) -> None:
        if not isinstance(found, dict):
            raise FormatError(f"{path}, line 1: this is not a study, since it has no settings.")
        for name in self.settings.keys() | found.keys():
            before, now = found.get(name), self.settings.get(name)
            if before != now:
                raise ParameterError(
                    f"{path}: this study has different settings ({name}: {_format(before)}, now "
                    f"{_format(now)}). Use the same settings, or choose another file."
                )


@contextmanager
def _os_errors(path: Path, what: str) -> Iterator[None]:
    """Raise FormatError if the file cannot be "written" or "read"."""
    try:
        yield
    except OSError as error:
        raise FormatError(f"{path}: cannot be {what} ({error.strerror or error}).") from error


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise FormatError(
            f"{path}, line {number}: this is not a line of a study ({error})."
        ) from error
    return value if isinstance(value, dict) else {}


def _format(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_format(entry)}" for name, entry in value.items())
    return "nothing" if value is None else str(value)
