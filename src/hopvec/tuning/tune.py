"""Tuning: a search for the parameters of a method that suit a graph."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Annotated, Any, Literal

from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.labels import Labels
from hopvec.methods import FastRP, Method
from hopvec.methods.method import RUNTIME_PARAMS
from hopvec.methods.parameters import Either, Integer, OneOf, Real, check
from hopvec.progress import Progress
from hopvec.tuning.objective import (
    ClassificationObjective,
    LinkPredictionObjective,
    Objective,
    graph_checksum,
)
from hopvec.tuning.result import Tuning
from hopvec.tuning.space import Range, Space
from hopvec.tuning.study import Study, Trial
from hopvec.tuning.suggest import number_of_trials, suggest
from hopvec.tuning.trial_vectors import TrialVectors

logger = logging.getLogger("hopvec")

FOR_LABELS = ("measure", "validation", "train", "shuffles", "C")
PARTS = 100  # of a trial, that progress is told in; half of them for the vectors


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """How the parameters are searched: the settings of `tune`."""

    trials: Annotated[
        int | None,
        Either(Integer(1, 100_000), OneOf((None,))),
        "points to try; none given: 20, as the paper, or all of a grid",
    ] = None
    search: Annotated[
        Literal["tpe", "random", "grid"],
        OneOf(("tpe", "random", "grid")),
        "how the next point is chosen: by optuna, as the paper; at random; or one after the other",
    ] = "tpe"
    search_dim: Annotated[
        int,
        Integer(1, 65536),
        "most columns while searching, as the paper; the best parameters keep the method's dim",
    ] = 64
    measure: Annotated[
        Literal["macro", "micro"], OneOf(("macro", "micro")), "which F1 is to be large"
    ] = "macro"
    validation: Annotated[
        float,
        Real(0.001, 1),
        "share of the labeled nodes that the search sees; the rest is left for an honest test",
    ] = 0.5
    train: Annotated[
        float | None,
        Either(Real(0.0001, 0.9999), OneOf((None,))),
        "share of the labeled nodes to learn from, scored on the others that are seen; "
        "none given: 0.01, as the paper, or 100 nodes if that is more",
    ] = None
    shuffles: Annotated[int, Integer(1, 10_000), "times the nodes that are seen are split"] = 10
    C: Annotated[
        float | str,
        Either(Real(1e-6, 1e6), OneOf(("auto",))),
        "inverse strength of the regulariser; auto: chosen within the training nodes",
    ] = 0.1
    held_out: Annotated[
        float, Real(0.001, 0.9), "without labels: share of the edges to be found again"
    ] = 0.2


def tune(
    graph: Any,
    labels: Labels | None = None,
    *,
    method: Method | None = None,
    space: Mapping[str, Any] | None = None,
    trials: int | None = SearchSettings.trials,
    search: Literal["tpe", "random", "grid"] = SearchSettings.search,
    search_dim: int = SearchSettings.search_dim,
    measure: Literal["macro", "micro"] = SearchSettings.measure,
    validation: float = SearchSettings.validation,
    train: float | None = SearchSettings.train,
    shuffles: int = SearchSettings.shuffles,
    C: float | str = SearchSettings.C,  # noqa: N803  (as classify calls it)
    held_out: float = SearchSettings.held_out,
    study: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    finished: Callable[[Trial], object] | None = None,
) -> Tuning:
    """The parameters of a method that are best for a graph, by a search over a space of them.

    With labels, a setting is as good as the F1 of node classification where few labels are known;
    without, as the AUC of finding edges that were held out (docs/tuning.md has the protocols). By
    default this is the search of the paper: FastRP with beta in [-1, 0] and the weight of order 4
    log-uniform in [2^-3, 2^6], 20 trials by optuna with 64 columns.

    `method` holds the parameters that are not searched; `space` maps the others to what is
    searched: a `Range`, a list of values, or a text such as "-1:0", "log:0.125:64" or
    "authors,full". "weights.4" is an entry of a list, "0,0,1,log:0.125:64" a whole one. Orders are
    kept: a trial that only changes weights or normalize costs one sum.

    `study` names a file that every trial is added to: a search that was interrupted goes on with
    the trial it was at, and ends with the same result. All randomness comes from the seed of the
    method. `finished` is called with every trial, those of the file included; `progress` with the
    parts done and their number. In the end the parameters of `method` as they are given are scored
    in the same way: a warning tells if no trial was better, as can be where they lie outside.

    >>> from hopvec import Graph
    >>> graph = Graph.from_edges(range(20), [(7 * node + 1) % 20 for node in range(20)])
    >>> tuning = tune(graph, space={"beta": "-1:1:0.5"}, search="grid")
    >>> len(tuning.trials), tuning.best.score == max(trial.score for trial in tuning.trials)
    (5, True)
    """
    settings = SearchSettings(
        trials=trials,
        search=search,
        search_dim=search_dim,
        measure=measure,
        validation=validation,
        train=train,
        shuffles=shuffles,
        C=C,
        held_out=held_out,
    )
    check_search_settings(settings, labeled=labels is not None)
    method = FastRP() if method is None else method
    _refuse_others(method, labels)
    graph = method.validate_graph(graph)
    given = search_space(method, space)
    searched = Space(_narrowed(method, given, search_dim), given)
    count = number_of_trials(searched, search, trials)
    objective = _objective(graph, labels, settings, method)
    with Study(study, _known(graph, searched, settings, objective)) as kept:
        run = _Run(searched, settings, objective, kept, count)
        run.all(progress or _untold, finished or (lambda trial: None))
    found = tuple(kept.trials[:count])
    best = max(found, key=lambda trial: trial.score)
    untuned = run.score(searched.base)
    _tell_of_ends(searched, best)
    _tell_of_untuned(untuned, best)
    return Tuning(
        method=Space(method, given).method(best.parameters),
        best=best,
        untuned=untuned,
        trials=found,
        dimensions=searched.dimensions,
        measure=objective.measure,
        settings=kept.settings,
        unseen=objective.unseen,
    )


def check_search_settings(settings: SearchSettings, *, labeled: bool) -> None:
    """Raises ParameterError for settings that are not allowed, or would have no effect."""
    check(settings, "tune")
    for name in ("held_out",) if labeled else FOR_LABELS:
        if getattr(settings, name) != getattr(SearchSettings, name):
            kind = "without labels, and some" if labeled else "with labels, and none"
            raise ParameterError(f"tune: {name} is for a search {kind} are given. Leave it out.")


def _untold(done: int, of: int) -> None:
    """Progress that nobody is told of."""


class _Run:
    """The trials of a search that are not done yet, one after the other."""

    def __init__(
        self, space: Space, settings: SearchSettings, objective: Objective, study: Study, count: int
    ) -> None:
        self._space, self._settings, self._objective = space, settings, objective
        self._study, self._count = study, count
        self._vectors = TrialVectors(objective.graph)

    def all(self, progress: Progress, finished: Callable[[Trial], object]) -> None:
        """Makes the study whole; `finished` is told of the trials it has already as well."""
        for trial in self._study.trials[: self._count]:
            finished(trial)
        for number in range(len(self._study.trials) + 1, self._count + 1):
            trial = self._trial(number, progress)
            self._study.add(trial)
            finished(trial)
            progress(PARTS * number, PARTS * self._count)

    def _trial(self, number: int, progress: Progress) -> Trial:
        start = time.perf_counter()
        history = self._study.trials
        values = suggest(self._space, self._settings.search, self._seed, history)
        for earlier in history:
            if earlier.parameters == values:  # then so is the score
                return Trial(number, values, earlier.score, 0.0)

        def part(first: int, parts: int) -> Progress:
            before = PARTS * (number - 1) + first
            return lambda done, of: progress(
                before + parts * done // max(1, of), PARTS * self._count
            )

        score = self.score(
            self._space.method(values), part(0, PARTS // 2), part(PARTS // 2, PARTS // 2)
        )
        return Trial(number, values, score, time.perf_counter() - start)

    def score(
        self, method: Method, embedding: Progress = _untold, scoring: Progress = _untold
    ) -> float:
        """How good a method is; both progresses are told of their part."""
        fitted = self._vectors.embed(method, embedding)
        return self._objective.score(method.to_embedding(self._objective.graph, fitted), scoring)

    @property
    def _seed(self) -> int:
        return int(self._space.base.seed)


def _refuse_others(method: object, labels: object) -> None:
    if not isinstance(method, Method):
        raise ParameterError(f"tune: the method must be one such as FastRP(), got {method!r}.")
    if labels is not None and not isinstance(labels, Labels):
        raise ParameterError(
            f"tune: labels must be Labels, got a {type(labels).__name__}. Make them of two columns "
            "by Labels.from_pairs(ids, labels), or of a file by hopvec.read_labels."
        )


def search_space(method: Method, space: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The space that is asked for, else the one that the method declares."""
    given = method.space if space is None else space
    if not given:
        raise ParameterError(
            f"tune: there is no space that {type(method).__name__} is usually searched over. Say "
            "what is to be searched, such as space={'dim': '64:256:64'} (--space dim=64:256:64)."
        )
    return given


def _narrowed(method: Method, given: Mapping[str, Any], dim: int) -> Method:
    """The method with the columns of the search, unless they are searched themselves."""
    columns = method.dim if "dim" in given else min(dim, method.dim)
    return type(method)(**method.get_params() | {"dim": columns})


def _objective(
    graph: Graph, labels: Labels | None, settings: SearchSettings, method: Method
) -> Objective:
    if labels is None:
        return LinkPredictionObjective(graph, share=settings.held_out, seed=int(method.seed))
    return ClassificationObjective(
        graph,
        labels,
        measure=settings.measure,
        validation=settings.validation,
        train=settings.train,
        shuffles=settings.shuffles,
        C=settings.C,
        threads=method.threads,
        seed=int(method.seed),
    )


def _tell_of_ends(space: Space, best: Trial) -> None:
    """Warns of a best value at the end of its range, if the method allows more."""
    for name, dimension in space.dimensions.items():
        value = best.parameters[name]
        beyond = dimension.beyond(value) if isinstance(dimension, Range) else None
        if beyond is not None and space.whole(name):
            beyond = math.floor(beyond) if beyond < value else math.ceil(beyond)
        if beyond is not None and space.allows({**best.parameters, name: beyond}):
            logger.warning(
                "The best %s, %.4g, is at the end of its range %s: a wider one may do better.",
                name,
                value,
                dimension,
            )


def _tell_of_untuned(score: float, best: Trial) -> None:
    """Warns of a search that has found nothing better than what it was given."""
    if score > best.score:
        logger.warning(
            "The parameters as they were given score %.4f, more than the best trial, %.4f: keep "
            "them, or search a wider space.",
            score,
            best.score,
        )


def _known(
    graph: Graph, space: Space, settings: SearchSettings, objective: Objective
) -> dict[str, Any]:
    """All that the trials depend on: a study goes on only with the same."""
    searched = {name.partition(".")[0] for name in space.dimensions if "." not in name}
    fixed = {
        name: value
        for name, value in space.base.plain_params().items()
        if name not in {*RUNTIME_PARAMS, *searched}
    }
    return {
        "method": type(space.base).__name__,
        "parameters": fixed,
        "space": space.texts(),
        "search": settings.search,
        "graph": graph_checksum(graph),
        **objective.settings,
    }
