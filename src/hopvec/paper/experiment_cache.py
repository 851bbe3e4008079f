"""ExperimentCache: the data sets, embeddings and measurements of a reproduction, each made once."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass
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

MIN_CACHED_SECONDS = 5.0  # CPU seconds from which an embedding is kept in a file
REPEATS, ENOUGH = 5, 0.5  # runs, and CPU seconds of all of them, to time what is quick

Stage = Callable[[str], AbstractContextManager[Progress]]
"""Opens a stage by its name; inside it, progress is told."""


def no_stage(name: str) -> AbstractContextManager[Progress]:
    """Tells nobody."""
    return nullcontext(no_progress)


@dataclass(frozen=True)
class Score:
    """F1 in percent at one share of labeled nodes: mean over shuffles, and its deviation."""

    share: float
    macro_f1: float
    deviation: float
    micro_f1: float
    C: float


class ExperimentCache:
    """Where the items of a reproduction get their data sets, embeddings and scores.

    What takes long is kept in `folder`, so that items share it and a run that was stopped goes on
    where it was.
    """

    def __init__(self, *, data: Path | None, folder: Path, quick: bool, stage: Stage) -> None:
        self.quick = quick
        self.shuffles = 3 if quick else 10
        self._data, self._folder = data, folder
        self._stage, self._within = stage, False
        self._loaded: dict[str, Dataset] = {}
        self._made: dict[str, tuple[Embedding, float]] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[Progress]:
        """Opens a stage that is told of; one within another is part of it and tells nothing."""
        if self._within:
            yield no_progress
            return
        self._within = True
        try:
            with self._stage(name) as progress:
                yield progress
        finally:
            self._within = False

    def available(self, *names: str) -> list[str]:
        """Those of some data sets that are there."""
        there = {entry.name for entry in datasets.available(self._data)}
        return [name for name in names if name in there]

    def missing(self, *names: str) -> list[str]:
        """A line for each of some data sets that is not there."""
        there = self.available(*names)
        return [f"{name} (hopvec data get {name})" for name in names if name not in there]

    def dataset(self, name: str) -> Dataset:
        """A data set that is there."""
        if name not in self._loaded:
            with self.stage(f"reading {name}"):
                self._loaded[name] = datasets.load(name, data=self._data)
        return self._loaded[name]

    def labels(self, name: str) -> Labels:
        """The labels of a data set that has them."""
        labels = self.dataset(name).labels
        if labels is None:
            raise DatasetError(f"{name} has no labels.")
        return labels

    def tuned(self, name: str, method: Method) -> Method:
        """A method with the parameters that the search of the paper finds for a data set."""
        self._folder.mkdir(parents=True, exist_ok=True)
        key = _key({"dataset": name, "method": method, "quick": self.quick})
        with self.stage(f"{name}: searching parameters of {type(method).__name__}") as progress:
            return tune(
                self.dataset(name).graph,
                self.labels(name),
                method=method,
                trials=5 if self.quick else 20,
                shuffles=2 if self.quick else 10,
                study=self._folder / f"{name}-search-{key}.jsonl",
                progress=progress,
            ).method

    def embedding(self, name: str, method: Method) -> Embedding:
        """The embedding of a data set by a method; what took long is read if it was made before."""
        return self._embedding(name, method)[0]

    def _embedding(self, name: str, method: Method) -> tuple[Embedding, float]:
        """The embedding, and the CPU seconds of one run."""
        settings = {"dataset": name, "method": method}
        key = _key(settings)
        path = self._folder / f"{name}-{type(method).__name__.lower()}-{key}.parquet"
        if path.exists():
            return load(path), json.loads(path.with_suffix(".json").read_text())["seconds"]
        if key not in self._made:
            with self.stage(f"{name}: embedding by {type(method).__name__}") as progress:
                start = time.process_time()
                embedding = method.embed(self.dataset(name).graph, progress=progress)
                seconds = time.process_time() - start
            self._made = {key: (embedding, seconds)}  # the last one: it is asked for again
            if seconds >= MIN_CACHED_SECONDS:
                _write(path.with_suffix(".json"), settings | {"seconds": seconds})
                embedding.save(path)
        return self._made[key]

    def cpu_seconds(self, name: str, method: Method) -> float:
        """The CPU time of an embedding, the least of a few where it is quick."""

        def least() -> float:
            graph, seconds = self.dataset(name).graph, [self._embedding(name, method)[1]]
            with self.stage(f"{name}: timing {type(method).__name__}"):
                while len(seconds) < REPEATS and sum(seconds) < ENOUGH:
                    start = time.process_time()
                    method.embed(graph)
                    seconds.append(time.process_time() - start)
            return min(seconds)

        return float(self.measured("seconds", {"dataset": name, "method": method}, least))

    def scores(
        self,
        name: str,
        method: Method,
        shares: Sequence[float],
        *,
        C: float | str = "auto",  # noqa: N803
        shuffles: int | None = None,
    ) -> list[Score]:
        """How well an embedding tells the labels of its data set, for some shares of them."""
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
        return [Score(**row) for row in self.measured("scores", settings, score)]

    def measured(self, what: str, settings: dict[str, Any], measure: Callable[[], Any]) -> Any:
        """What `measure` gives, from a file if it was measured before with the same settings."""
        path = self._folder / f"{what}-{_key(settings)}.json"
        if path.exists():
            return json.loads(path.read_text())[what]
        found = measure()
        _write(path, settings | {what: found})
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
    params = {"name": type(method).__name__, **method.plain_params()}
    del params["spill_dir"]  # it changes no result
    return params


def _key(settings: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(_plain(settings), sort_keys=True).encode()).hexdigest()[:12]
