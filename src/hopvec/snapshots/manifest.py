"""Manifest: what a directory of snapshots holds, so that a run can be resumed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any

from hopvec.errors import FormatError, GraphError, ParameterError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.graphs.options import ReadOptions
from hopvec.methods.method import RUNTIME_PARAMS, Method

MAX_TEXT = 200  # characters of a value; longer ones, such as lists of nodes, are hashed
MANIFEST = "snapshots.json"
RUNTIME_OPTIONS = ("threads", "memory", "reserve", "spill_dir", "_pairs", "_run_memory")


@dataclass
class Manifest:
    """The settings of a run and its finished windows, stored after each of them."""

    directory: Path
    settings: dict[str, Any]
    windows: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The finished windows by name: their fingerprint, and the row of the table."""
    reference: str | None = None
    """The name and the fingerprint of the window whose fitted state all others share."""

    @classmethod
    def open(cls, directory: Path, settings: dict[str, Any], *, force: bool) -> Manifest:
        """The manifest of a directory; `force` deletes its earlier snapshots.

        Raises ParameterError if the directory holds snapshots with other settings.
        """
        settings = json.loads(json.dumps(settings))
        path = directory / MANIFEST
        found = _read(path) if path.exists() else None
        if force and found is not None:
            found.delete()
            found = None
        if found is None:
            return cls(directory, settings)
        for name in sorted(found.settings.keys() | settings.keys()):
            before, now = found.settings.get(name), settings.get(name)
            if before != now:
                raise ParameterError(
                    f"{directory}: the snapshots in this directory were made with {name}={before!r}"
                    f", not {now!r}. Choose another directory, or replace them with force=True."
                )
        return found

    def delete(self) -> None:
        """Delete the manifest, then the snapshots, so that no rerun takes them for its own."""
        snapshots = [self.directory / f"{window}.parquet" for window in self.windows]
        for path in (self.directory / MANIFEST, *snapshots):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise FormatError(
                    f"{path}: cannot be deleted ({error.strerror or error})."
                ) from error

    def refer_to(self, window: str, fingerprint: str) -> None:
        """Set the first window; raises GraphError if it was another one, or had other edges."""
        reference = f"{window}: {fingerprint}"
        if self.reference not in (None, reference):
            raise GraphError(
                f"{self.directory}: the edges of the first window have changed since the snapshots "
                "in this directory were made, and all of them share its fitted state. Choose "
                "another directory, or replace them with force=True."
            )
        self.reference = reference

    def path(self, window: str) -> Path:
        """The file of a window."""
        return self.directory / f"{window}.parquet"

    def has(self, window: str, fingerprint: str) -> bool:
        """Whether the embedding of a window with these edges is finished."""
        entry = self.windows.get(window)
        return (
            entry is not None
            and entry["fingerprint"] == fingerprint
            and (not entry["row"]["edges"] or self.path(window).exists())
        )

    def add(self, window: str, fingerprint: str, row: dict[str, Any]) -> None:
        """Store a finished window."""
        self.windows[window] = {"fingerprint": fingerprint, "row": row}
        self.windows = dict(sorted(self.windows.items()))
        content = {
            "settings": self.settings,
            "reference": self.reference,
            "windows": self.windows,
        }
        with atomic_write(self.directory / MANIFEST) as (file,):
            file.write((json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def settings_of(method: Method, options: ReadOptions, dtype: str, **windows: Any) -> dict[str, Any]:
    """All settings that determine the bytes of the snapshots, given the edges."""
    reading = {
        option.name.lstrip("_"): _plain(value)
        for option in fields(options)
        if option.name not in RUNTIME_OPTIONS
        and _plain(value := getattr(options, option.name)) != _plain(option.default)
    }
    parameters = {
        name: value for name, value in method._plain_params().items() if name not in RUNTIME_PARAMS
    }
    return {"method": type(method).__name__, **parameters, **reading, "dtype": dtype, **windows}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, PathLike):
        return str(value)
    text = repr(list(value) if hasattr(value, "__iter__") else value)
    return text if len(text) < MAX_TEXT else hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> Manifest:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Manifest(path.parent, content["settings"], content["windows"], content["reference"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(
            f"{path}: this is not the manifest of snapshots ({error}). Choose another directory."
        ) from error
