"""The cache of a reproduction: datasets, embeddings and measurements are computed once."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hopvec import datasets
from hopvec.datasets import Dataset
from hopvec.embedding import Embedding, load
from hopvec.errors import DatasetError
from hopvec.evaluate import classify
from hopvec.formats.atomic import atomic_write
from hopvec.labels import Labels
from hopvec.methods import Method
from hopvec.progress import Progress, no_progress
from hopvec.tuning import tune

MIN_CACHED_SECONDS = 5.0  # CPU time from which an embedding is written to a file
MAX_RUNS, ENOUGH_SECONDS = 5, 0.5  # of short runs, when they are timed

Stage = Callable[[str], AbstractContextManager[Progress]]
"""Opens a named stage; the context manager returns its progress callback."""


def no_stage(name: str) -> AbstractContextManager[Progress]:
    """Ignore stages."""
    return nullcontext(no_progress)


@dataclass(frozen=True)
class Score:
    """F1 in percent at one training share: mean and standard deviation over shuffles."""

    share: float
    macro_f1: float
    deviation: float | None
    """None for a single shuffle."""
    micro_f1: float
    C: float


class ExperimentCache:
    """Provides the datasets, embeddings and scores of a reproduction.

    Slow results are stored in `directory`, so that items share them and an interrupted run resumes.
    """

    def __init__(self, *, data: Path | None, directory: Path, quick: bool, stage: Stage) -> None:
        self.quick = quick
        self.shuffles = 3 if quick else 10
        self.trials, self.trial_shuffles = (5, 2) if quick else (20, 10)  # of the search
        self._data, self._directory = data, directory
        self._stage, self._in_stage = stage, False
        self._loaded: dict[str, Dataset] = {}
        self._last: dict[str, tuple[Embedding, float]] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[Progress]:
        """Open a stage. A stage within another is part of it and is not reported."""
        if self._in_stage:
            yield no_progress
            return
        self._in_stage = True
        try:
            with self._stage(name) as progress:
                yield progress
        finally:
            self._in_stage = False

    def available(self, *names: str) -> list[str]:
        """The datasets that are available locally."""
        local = {entry.name for entry in datasets.available(self._data)}
        return [name for name in names if name in local]

    def missing(self, *names: str) -> list[str]:
        """For each dataset that is not available, its name and how to get it."""
        available = self.available(*names)
        return [f"{name} (hopvec data get {name})" for name in names if name not in available]

    def dataset(self, name: str) -> Dataset:
        """An available dataset."""
        if name not in self._loaded:
            with self.stage(f"reading {name}"):
                self._loaded[name] = datasets.load(name, data=self._data)
        return self._loaded[name]

    def labels(self, name: str) -> Labels:
        """The labels of a dataset. Raises DatasetError if it has none."""
        labels = self.dataset(name).labels
        if labels is None:
            raise DatasetError(f"{name} has no labels.")
        return labels

    def tuned(self, name: str, method: Method) -> Method:
        """A method with the parameters that the search of the paper finds on a dataset."""
        self._directory.mkdir(parents=True, exist_ok=True)
        key = _key({"dataset": name, "method": method, "quick": self.quick})
        with self.stage(f"{name}: searching parameters of {type(method).__name__}") as progress:
            return tune(
                self.dataset(name).graph,
                self.labels(name),
                method=method,
                trials=self.trials,
                shuffles=self.trial_shuffles,
                study=self._directory / f"{name}-search-{key}.jsonl",
                progress=progress,
            ).method

    def embedding(self, name: str, method: Method) -> Embedding:
        """The embedding of a dataset, read from a file if it was computed before."""
        return self._embedding(name, method)[0]

    def _embedding(self, name: str, method: Method) -> tuple[Embedding, float]:
        """The embedding and the CPU seconds of one run."""
        settings = {"dataset": name, "method": method}
        key = _key(settings)
        path = self._directory / f"{name}-{type(method).__name__.lower()}-{key}.parquet"
        if path.exists():
            return load(path), json.loads(path.with_suffix(".json").read_text())["seconds"]
        if key not in self._last:
            with self.stage(f"{name}: embedding by {type(method).__name__}") as progress:
                start = time.process_time()
                embedding = method.embed(self.dataset(name).graph, progress=progress)
                seconds = time.process_time() - start
            self._last = {key: (embedding, seconds)}  # usually needed again
            if seconds >= MIN_CACHED_SECONDS:
                _write(path.with_suffix(".json"), settings | {"seconds": seconds})
                embedding.save(path)
        return self._last[key]

    def cpu_seconds(self, name: str, method: Method) -> float:
        """The CPU time of an embedding; of short runs, the minimum of several."""

        def minimum() -> float:
            graph, seconds = self.dataset(name).graph, [self._embedding(name, method)[1]]
            with self.stage(f"{name}: timing {type(method).__name__}"):
                while len(seconds) < MAX_RUNS and sum(seconds) < ENOUGH_SECONDS:
                    start = time.process_time()
                    method.embed(graph)
                    seconds.append(time.process_time() - start)
            return min(seconds)

        return float(self.measure_once("seconds", {"dataset": name, "method": method}, minimum))

    def scores(
        self,
        name: str,
        method: Method,
        shares: Sequence[float],
        *,
        C: float | str = "auto",  # noqa: N803
        shuffles: int | None = None,
    ) -> list[Score]:
        """How well an embedding predicts the labels of its dataset, per training share."""
        shuffles = self.shuffles if shuffles is None else shuffles

        def score() -> list[dict[str, Any]]:
            embedding = self.embedding(name, method)
            with self.stage(f"{name}: scoring {type(method).__name__}") as progress:
                found = classify(
                    embedding,
                    self.labels(name),
                    shares=shares,
                    shuffles=shuffles,
                    C=C,
                    progress=progress,
                )
            return [
                asdict(Score(row.share, row.macro_f1, row.macro_deviation, row.micro_f1, row.C))
                for row in found.shares
            ]

        settings = {
            "dataset": name,
            "method": method,
            "shuffles": shuffles,
            "shares": shares,
            "C": C,
        }
        found = [Score(**row) for row in self.measure_once("scores", settings, score)]
        return found if shuffles > 1 else [replace(one, deviation=None) for one in found]

    def measure_once(self, name: str, settings: dict[str, Any], measure: Callable[[], Any]) -> Any:
        """The result of `measure`, from a file if it was measured before with these settings."""
        path = self._directory / f"{name}-{_key(settings)}.json"
        if path.exists():
            return json.loads(path.read_text())[name]
        found = measure()
        _write(path, settings | {name: found})
        return found


def _write(path: Path, record: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as (file,):
        file.write(json.dumps(_plain(record), indent=1).encode())


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _plain_method(value) if isinstance(value, Method) else value
        for name, value in settings.items()
    }


def _plain_method(method: Method) -> dict[str, Any]:
    params = {"name": type(method).__name__, **method._plain_params()}
    del params["spill_dir"]  # it changes no result
    return params


def _key(settings: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(_plain(settings), sort_keys=True).encode()).hexdigest()[:12]
