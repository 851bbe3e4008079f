"""The result of a parameter search."""

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
from hopvec.tabular import Tabular
from hopvec.tuning.space import Dimension
from hopvec.tuning.study import Trial


@dataclass(frozen=True, repr=False)
class Tuning(Tabular):
    """The result of `tune`; `print` shows the trials.

    Attributes
    ----------
    method : Method
        The method with the best parameters found, ready to embed the graph.
    best : Trial
        The first trial with the best score.
    untuned : float
        The score of the parameters as given to `tune`, the baseline of the search.
    trials : tuple of Trial
        All trials.
    dimensions : dict of str to Range or Choices
        The search space.
    measure : str
        The name of the score; higher is better.
    settings : dict
        Everything that the trials depend on.
    unseen : Labels or None
        Labels that the search has not used, for an unbiased test; None without labels.

    Examples
    --------
    >>> from hopvec import Graph, tune
    >>> graph = Graph.from_edges(range(20), [(7 * n + 1) % 20 for n in range(20)])
    >>> tuning = tune(graph, space={"beta": [0.0, 0.5]}, search="grid")
    >>> tuning.best.score == max(trial.score for trial in tuning.trials)
    True
    >>> embedding = tuning.method.embed(graph)
    """

    method: Method
    best: Trial
    untuned: float
    trials: tuple[Trial, ...]
    dimensions: Mapping[str, Dimension]
    measure: str
    settings: Mapping[str, Any]
    unseen: Labels | None

    def _table_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "trial": trial.number,
                "score": trial.score,
                "seconds": trial.seconds,
                **trial.parameters,
            }
            for trial in self.trials
        ]

    def _caption(self) -> str:
        return (
            f"{self.measure}; best is trial {self.best.number} with {self.best.score:.4f}, and "
            f"{self.untuned:.4f} without tuning"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the best parameters and the settings of the search, ready for JSON.

        Returns
        -------
        dict
            The version of hopvec, the best parameters, their score and the number of their trial,
            the score of the parameters as given, the number of trials, and the settings.

        Examples
        --------
        >>> from hopvec import Graph, tune
        >>> graph = Graph.from_edges(range(20), [(7 * n + 1) % 20 for n in range(20)])
        >>> tuning = tune(graph, space={"beta": [0.0, 0.5]}, search="grid")
        >>> tuning.to_dict()["trials"]
        2
        """
        parameters = self.method._plain_params()
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
        """Write the best parameters to a JSON file, for `hopvec embed --params`.

        Parameters
        ----------
        path : path
            The file. An existing file is replaced atomically.

        Raises
        ------
        FormatError
            If the file cannot be written.

        Examples
        --------
        >>> from hopvec import Graph, tune
        >>> graph = Graph.from_edges(range(20), [(7 * n + 1) % 20 for n in range(20)])
        >>> tuning = tune(graph, space={"beta": [0.0, 0.5]}, search="grid")
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     tuning.save(f"{folder}/best.json")
        """
        with atomic_write(Path(path)) as (file,):
            file.write((json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n").encode())

    @property
    def orders(self) -> list[str]:
        """For each trial, "reused" if an earlier one computed its orders, otherwise "new".

        New orders are the expensive part of a trial: beta, passes and the weights of earlier
        passes need them, the weights of the last pass do not.

        Examples
        --------
        >>> from hopvec import Graph, tune
        >>> graph = Graph.from_edges(range(20), [(7 * n + 1) % 20 for n in range(20)])
        >>> tuning = tune(graph, space={"beta": [0.0, 0.5]}, search="grid")
        >>> tuning.orders
        ['new', 'new']
        """
        combined = getattr(self.method, "_combine_params", ())
        seen: set[str] = set()
        found = []
        for trial in self.trials:
            key = json.dumps(
                {
                    name: value
                    for name, value in trial.parameters.items()
                    if name.partition(".")[0] not in combined
                }
            )
            found.append("reused" if key in seen else "new")
            seen.add(key)
        return found

    def table(self) -> pa.Table:
        """Return the trials as a table.

        Returns
        -------
        pyarrow.Table
            The columns number, score, seconds and orders, and one for each dimension.

        Examples
        --------
        >>> from hopvec import Graph, tune
        >>> graph = Graph.from_edges(range(20), [(7 * n + 1) % 20 for n in range(20)])
        >>> tuning = tune(graph, space={"beta": [0.0, 0.5]}, search="grid")
        >>> tuning.table().column_names
        ['number', 'beta', 'score', 'seconds', 'orders']
        """
        columns: dict[str, list[Any]] = {"number": [trial.number for trial in self.trials]}
        for name in self.dimensions:
            values = [trial.parameters[name] for trial in self.trials]
            mixed = len({type(value) for value in values}) > 1
            columns[name] = [str(value) for value in values] if mixed else values
        columns["score"] = [trial.score for trial in self.trials]
        columns["seconds"] = [trial.seconds for trial in self.trials]
        columns["orders"] = self.orders
        return pa.table(columns)

    def plot(self, path: str | PathLike[str]) -> None:
        """Plot the scores over each dimension.

        Parameters
        ----------
        path : path
            The file: .png, .svg or .pdf.

        Raises
        ------
        ParameterError
            If the suffix is another one.
        FormatError
            If the file cannot be written.
        MissingExtraError
            If the tune extra is not installed.

        Examples
        --------
        >>> from hopvec import Graph, tune
        >>> graph = Graph.from_edges(range(20), [(7 * n + 1) % 20 for n in range(20)])
        >>> tuning = tune(graph, space={"beta": [0.0, 0.5]}, search="grid")
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     tuning.plot(f"{folder}/search.png")
        """
        from hopvec.tuning.plot import write_plot

        write_plot(self, Path(path))

    def __str__(self) -> str:
        names = ["trial", *self.dimensions, "orders", self.measure]
        rows = [
            [
                str(trial.number),
                *(_format(trial.parameters[name]) for name in self.dimensions),
                orders,
                f"{trial.score:.4f}" + (" best" if trial is self.best else ""),
            ]
            for trial, orders in zip(self.trials, self.orders, strict=True)
        ]
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in [names, *rows]
        ]
        return "\n".join(lines)


def _format(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
