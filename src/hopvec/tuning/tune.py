"""The search for the parameters of a method that suit a graph best."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Annotated, Any, Literal

from hopvec.errors import ParameterError
from hopvec.evaluate.held_out import SAMPLING, Samplings
from hopvec.graph import Graph
from hopvec.labels import Labels
from hopvec.methods import FastRP, Method
from hopvec.methods.method import RUNTIME_PARAMS
from hopvec.methods.parameters import Either, Integer, OneOf, Real, check
from hopvec.progress import Progress, ProgressOption, callback, no_progress
from hopvec.tuning.objective import (
    AUC,
    ClassificationObjective,
    LinkPredictionObjective,
    Objective,
    ObjectiveName,
    RecommendationObjective,
    graph_checksum,
)
from hopvec.tuning.result import Tuning
from hopvec.tuning.space import Range, Space
from hopvec.tuning.study import Study, Trial
from hopvec.tuning.suggest import MAX_TRIALS, number_of_trials, suggest
from hopvec.tuning.trial_vectors import TrialVectors

logger: logging.Logger = logging.getLogger("hopvec")

LABEL_PARAMS = ("measure", "validation", "train", "shuffles", "C")
LINK_PARAMS = ("objective", "held_out", "sampling")
PARTS = 100  # units of progress per trial; half of them for the vectors


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """The parameters of `tune`."""

    trials: Annotated[
        int | None,
        Either(Integer(1, MAX_TRIALS), OneOf((None,))),
        "number of points to try; by default 20, as in the paper, or all points of a grid",
    ] = None
    search: Annotated[
        Literal["tpe", "random", "grid"],
        OneOf(("tpe", "random", "grid")),
        "how points are chosen: by optuna's TPE, as in the paper; at random; or from a grid",
    ] = "tpe"
    search_dim: Annotated[
        int,
        Integer(1, 65536),
        "maximum dim during the search, as in the paper; the result has the dim of the method",
    ] = 64
    measure: Annotated[
        Literal["macro", "micro"], OneOf(("macro", "micro")), "which F1 to maximize"
    ] = "macro"
    validation: Annotated[
        float,
        Real(0.001, 1),
        "share of the labeled nodes that the search uses; the rest is left for an unbiased test",
    ] = 0.5
    train: Annotated[
        float | None,
        Either(Real(0.0001, 0.9999), OneOf((None,))),
        "share of the labeled nodes to train on; the other nodes of the search are scored; by "
        "default 0.01, as in the paper, but at least 100 nodes",
    ] = None
    shuffles: Annotated[int, Integer(1, 10_000), "number of training splits per trial"] = 10
    C: Annotated[
        float | str,
        Either(Real(1e-6, 1e6), OneOf(("auto",))),
        "inverse regularization strength; auto: cross-validated on the training nodes",
    ] = 0.1
    objective: Annotated[
        str,
        ObjectiveName(),
        "without labels: what to maximize: auc, the AUC of predicting held-out edges; or of "
        "recommending them, recall@20, ndcg@20, mrr@20 or hit_rate@20, with any number",
    ] = AUC
    held_out: Annotated[
        float, Real(0.001, 0.9), "without labels: share of the edges to hold out and predict"
    ] = 0.2
    sampling: Annotated[
        Samplings,
        SAMPLING,
        "without labels: the pairs that the edges are compared with: uniform, all pairs alike; "
        "degree, both ends in proportion to their degree; both, the mean of the two scores",
    ] = "both"


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
    objective: str = SearchSettings.objective,
    held_out: float = SearchSettings.held_out,
    sampling: Samplings = SearchSettings.sampling,
    study: str | PathLike[str] | None = None,
    progress: ProgressOption = None,
    finished: Callable[[Trial], object] | None = None,
) -> Tuning:
    """Search for the parameters of a method that suit a graph best.

    With labels, trials are scored by the F1 of node classification with few training labels;
    without, by the AUC of predicting held-out edges, the mean for uniform negatives and for
    negatives drawn by degree. The default is 20 trials by optuna with 64 columns, over the
    `search_space` of the method: beta, spectrum and the weights of orders 1 and 2 of FastRP, or the
    space of the paper if it has one pass.

    Orders are cached: a trial that changes only weights or spectrum costs one sum. At the end, the
    parameters of `method` as given are scored in the same way, and a warning is logged if no trial
    was better.

    Parameters
    ----------
    graph : Graph
        The graph to embed, or anything that `method.embed` accepts.
    labels : Labels, optional
        The labels of nodes.
    method : Method, optional
        The method, with the parameters that are not searched; by default FastRP(). All randomness
        of the search comes from its seed.
    space : dict, optional
        Maps parameters to a `Range`, a list of values, or a string such as "-1:0", "log:0.125:64"
        or "authors,full". "weights.4" is an entry of a list, "0,0,1,log:0.125:64" a whole list. By
        default the usual search space of the method.
    trials : int, optional
        Number of points to try; by default 20, or all points of a grid.
    search : {"tpe", "random", "grid"}
        How points are chosen: by optuna's tree-structured Parzen estimator, at random, or from a
        grid.
    search_dim : int
        Maximum dim during the search. The result has the dim of `method`.
    measure : {"macro", "micro"}
        Which F1 to maximize.
    validation : float
        Share of the labeled nodes that the search uses. The others are returned as `unseen`.
    train : float, optional
        Share of the labeled nodes to train on; by default 0.01, but at least 100 nodes.
    shuffles : int
        Number of training splits per trial.
    C : float or "auto"
        Inverse regularization strength of the classifier, as in `classify`.
    objective : str
        What to maximize without labels: "auc", or a metric of recommending one held-out edge per
        node, such as "recall@20", "ndcg@20", "mrr@20" or "hit_rate@20"; see `recommend`.
    held_out : float
        Share of the edges to hold out, without labels.
    sampling : {"both", "uniform", "degree"}
        How the negatives are drawn that the edges are compared with, without labels; see
        `evaluate.hold_out`. "both" maximizes the mean of the two scores, so that vectors do not
        win by degrees alone.
    study : path, optional
        A file that each finished trial is appended to. If it exists, an interrupted search
        resumes and gives the same result.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the amount of work done and the
        total.
    finished : callable, optional
        Called with each trial, including those read from the study.

    Returns
    -------
    Tuning
        The method with the best parameters, and all trials.

    Raises
    ------
    ParameterError
        If a parameter or the space is invalid, or the study has other settings.
    MissingExtraError
        If the tune extra is not installed.

    Examples
    --------
    >>> from hopvec import Graph, tune
    >>> graph = Graph.from_edges(range(20), [(7 * n + 1) % 20 for n in range(20)])
    >>> tuning = tune(graph, space={"beta": "-1:1:0.5"}, search="grid")
    >>> len(tuning.trials)
    5
    """
    progress = callback(progress, "tuning")
    settings = SearchSettings(
        trials=trials,
        search=search,
        search_dim=search_dim,
        measure=measure,
        validation=validation,
        train=train,
        shuffles=shuffles,
        C=C,
        objective=objective,
        held_out=held_out,
        sampling=sampling,
    )
    check_search_settings(settings, labeled=labels is not None)
    method = FastRP() if method is None else method
    _check_types(method, labels)
    graph = method._validate_graph(graph)
    given = search_space(method, space)
    as_given = _with_search_dim(method, given, search_dim)
    searched = Space(as_given, given)
    count = number_of_trials(searched, search, trials)
    scoring = _objective(graph, labels, settings, method)
    with Study(study, _study_settings(graph, searched, settings, scoring)) as saved:
        run = _Run(searched, settings, scoring, saved, count)
        run.all(progress or no_progress, finished or (lambda trial: None))
    found = tuple(saved.trials[:count])
    best = max(found, key=lambda trial: trial.score)
    untuned = run.score(as_given)
    _warn_at_range_end(searched, best)
    _warn_if_untuned_is_better(untuned, best)
    return Tuning(
        method=Space(method, given).method(best.parameters),
        best=best,
        untuned=untuned,
        trials=found,
        dimensions=searched.dimensions,
        measure=scoring.measure,
        settings=saved.settings,
        unseen=scoring.unseen,
    )


def check_search_settings(settings: SearchSettings, *, labeled: bool) -> None:
    """Raise ParameterError for settings that are invalid or would have no effect."""
    check(settings, "tune")
    for name in LINK_PARAMS if labeled else LABEL_PARAMS:
        if getattr(settings, name) != getattr(SearchSettings, name):
            kind = "without" if labeled else "with"
            raise ParameterError(f"tune: {name}= applies only to a search {kind} labels.")
    if settings.objective != AUC:
        for name in ("held_out", "sampling"):
            if getattr(settings, name) != getattr(SearchSettings, name):
                raise ParameterError(
                    f"tune: {name}= applies only to the objective {AUC}: to test recommendations, "
                    "one edge of each node is held out."
                )


class _Run:
    """Runs the remaining trials of a search."""

    def __init__(
        self, space: Space, settings: SearchSettings, objective: Objective, study: Study, count: int
    ) -> None:
        self._space, self._settings, self._objective = space, settings, objective
        self._study, self._count = study, count
        self._vectors = TrialVectors(objective.graph)

    def all(self, progress: Progress, finished: Callable[[Trial], object]) -> None:
        """Run all remaining trials; `finished` is called with the earlier ones too."""
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
            if earlier.parameters == values:  # and so has the same score
                return Trial(number, values, earlier.score, 0.0)

        def part(first: int, parts: int) -> Progress:
            before = PARTS * (number - 1) + first
            return lambda done, total: progress(
                before + parts * done // max(1, total), PARTS * self._count
            )

        score = self.score(
            self._space.method(values), part(0, PARTS // 2), part(PARTS // 2, PARTS // 2)
        )
        return Trial(number, values, score, time.perf_counter() - start)

    def score(
        self, method: Method, embedding: Progress = no_progress, scoring: Progress = no_progress
    ) -> float:
        """The score of a method, with separate progress for embedding and scoring."""
        fitted = self._vectors.embed(method, embedding)
        return self._objective.score(method._to_embedding(self._objective.graph, fitted), scoring)

    @property
    def _seed(self) -> int:
        return int(self._space.base.seed)


def _check_types(method: object, labels: object) -> None:
    if not isinstance(method, Method):
        raise ParameterError(f"tune: method must be a Method such as FastRP(), got {method!r}.")
    if labels is not None and not isinstance(labels, Labels):
        raise ParameterError(
            f"tune: labels must be Labels, got a {type(labels).__name__}. Create them with "
            "Labels.from_pairs(ids, labels) or hopvec.read_labels(path)."
        )


def search_space(method: Method, space: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The given space, or the default space of the method."""
    given = method.search_space if space is None else space
    if not given:
        raise ParameterError(
            f"tune: {type(method).__name__} has no default search space. Give one, such as "
            "space={'dim': '64:256:64'}."
        )
    return given


def _with_search_dim(method: Method, given: Mapping[str, Any], dim: int) -> Method:
    """The method with the dim of the search, unless dim is searched itself."""
    columns = method.dim if "dim" in given else min(dim, method.dim)
    return type(method)(**method.get_params() | {"dim": columns})


def _objective(
    graph: Graph, labels: Labels | None, settings: SearchSettings, method: Method
) -> Objective:
    if labels is None and settings.objective != AUC:
        return RecommendationObjective(graph, objective=settings.objective, seed=int(method.seed))
    if labels is None:
        return LinkPredictionObjective(
            graph, share=settings.held_out, sampling=settings.sampling, seed=int(method.seed)
        )
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


def _warn_at_range_end(space: Space, best: Trial) -> None:
    """Warn if a best value is at the end of its range, and the method allows values beyond."""
    for name, dimension in space.dimensions.items():
        value = best.parameters[name]
        beyond = dimension._beyond(value) if isinstance(dimension, Range) else None
        if beyond is not None and space.is_integer(name):
            beyond = math.floor(beyond) if beyond < value else math.ceil(beyond)
        if beyond is not None and space.allows({**best.parameters, name: beyond}):
            logger.warning(
                "The best %s, %.4g, is at the end of its range %s. A wider range may be better.",
                name,
                value,
                dimension,
            )


def _warn_if_untuned_is_better(score: float, best: Trial) -> None:
    """Warn if no trial is better than the parameters as given."""
    if score > best.score:
        logger.warning(
            "The parameters as given score %.4f, more than the best trial, %.4f. Keep them, or "
            "search a wider space.",
            score,
            best.score,
        )


def _study_settings(
    graph: Graph, space: Space, settings: SearchSettings, objective: Objective
) -> dict[str, Any]:
    """Everything that the trials depend on. A study is resumed only with the same settings."""
    searched = {name.partition(".")[0] for name in space.dimensions if "." not in name}
    fixed = {
        name: value
        for name, value in space.base._plain_params().items()
        if name not in {*RUNTIME_PARAMS, *searched}
    }
    return {
        "method": type(space.base).__name__,
        "parameters": fixed,
        "space": space.to_strings(),
        "search": settings.search,
        "graph": graph_checksum(graph),
        **objective.settings,
    }
