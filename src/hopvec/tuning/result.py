"""Tuning: what a search has found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from hopvec.formats.atomic import atomic_write
from hopvec.labels import Labels
from hopvec.methods import Method
from hopvec.methods.method import RUNTIME_PARAMS
from hopvec.tuning.space import Dimension
from hopvec.tuning.study import Trial


@dataclass(frozen=True)
class Tuning:
    """The outcome of `tune`: `method` is ready to embed the graph, `print` shows the trials."""

    method: Method
    """The method with the best parameters found, and all else as it was given."""
    best: Trial
    """The first of the trials with the best score."""
    untuned: float
    """The score of the parameters as they were given, by the same protocol: what to beat."""
    trials: tuple[Trial, ...]
    dimensions: Mapping[str, Dimension]
    """What was searched."""
    measure: str
    """The name of the scores; more is better."""
    settings: Mapping[str, Any]
    """All that the trials depended on."""
    unseen: Labels | None
    """Labels that the search has not seen, for an honest test; None without labels."""

    def to_dict(self) -> dict[str, Any]:
        """The best parameters and how they were found, ready for JSON."""
        parameters = self.method.plain_params()
        kept = {name: value for name, value in parameters.items() if name not in RUNTIME_PARAMS}
        return {
            "hopvec": version("hopvec"),
            "parameters": {"method": type(self.method).__name__, **kept},
            "score": self.best.score,
            "untuned": self.untuned,
            "trial": self.best.number,
            "trials": len(self.trials),
            "settings": dict(self.settings),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the best parameters as JSON, which `hopvec embed --params` takes."""
        with atomic_write(Path(path)) as (file,):
            file.write((json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n").encode())

    def table(self) -> pa.Table:
        """The trials: their number, a column for each dimension, score and seconds."""
        columns: dict[str, list[Any]] = {"number": [trial.number for trial in self.trials]}
        for name in self.dimensions:
            values = [trial.parameters[name] for trial in self.trials]
            mixed = len({type(value) for value in values}) > 1
            columns[name] = [str(value) for value in values] if mixed else values
        columns["score"] = [trial.score for trial in self.trials]
        columns["seconds"] = [trial.seconds for trial in self.trials]
        return pa.table(columns)

    def plot(self, path: str | PathLike[str]) -> None:
        """Draws the search: scores over every dimension, and the best so far; .png, .svg, .pdf."""
        from hopvec.tuning.plot import draw

        draw(self, Path(path))

    def __str__(self) -> str:
        names = ["trial", *self.dimensions, self.measure]
        rows = [
            [
                str(trial.number),
                *(_shown(trial.parameters[name]) for name in self.dimensions),
                f"{trial.score:.4f}" + (" best" if trial is self.best else ""),
            ]
            for trial in self.trials
        ]
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in [names, *rows]
        ]
        return "\n".join(lines)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
