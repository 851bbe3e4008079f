"""The next point of a space to try, from the trials so far: optuna's samplers, or a grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from hopvec.errors import MissingExtraError, ParameterError
from hopvec.tuning.space import Choices, Dimension, Space
from hopvec.tuning.study import Trial

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

TRIALS = 20  # as in the paper


def suggest(space: Space, search: str, seed: int, history: Sequence[Trial]) -> dict[str, Any]:
    """The values of the next trial, which depend on the arguments and nothing else.

    "tpe" is optuna's default, the tree-structured Parzen estimator, after ten random trials;
    "random" draws every trial; "grid" goes through all points in turn. The sampler is made anew
    from the history each time, so that a search that was interrupted goes on as if it was not.
    """
    if search == "grid":
        return space.points()[len(history)]
    with _quiet():
        return _ask(space, search, seed, history)


def _ask(space: Space, search: str, seed: int, history: Sequence[Trial]) -> dict[str, Any]:
    import optuna

    own_seed = int(np.random.SeedSequence([seed, len(history)]).generate_state(1)[0])
    samplers = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
    study = optuna.create_study(direction="maximize", sampler=samplers[search](seed=own_seed))
    distributions = {
        name: _distribution(dimension, space.whole(name))
        for name, dimension in space.dimensions.items()
    }
    for trial in history:
        study.add_trial(
            optuna.create_trial(
                params={
                    name: _known(dimension, trial.parameters[name])
                    for name, dimension in space.dimensions.items()
                },
                distributions=distributions,
                value=trial.score,
            )
        )
    asked = study.ask(distributions).params
    return {
        name: dimension.values[asked[name]] if isinstance(dimension, Choices) else asked[name]
        for name, dimension in space.dimensions.items()
    }


def _distribution(dimension: Dimension, whole: bool) -> BaseDistribution:
    """A dimension as optuna has it; of choices it knows the places only."""
    import optuna

    if isinstance(dimension, Choices):
        return optuna.distributions.CategoricalDistribution(range(len(dimension.values)))
    if whole:
        low, high, step = (int(n) for n in (dimension.low, dimension.high, dimension.step or 1))
        return optuna.distributions.IntDistribution(low, high, log=dimension.log, step=step)
    return optuna.distributions.FloatDistribution(
        dimension.low, dimension.high, log=dimension.log, step=dimension.step
    )


def _known(dimension: Dimension, value: Any) -> Any:
    return dimension.values.index(value) if isinstance(dimension, Choices) else value


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps optuna from telling of every study it makes."""
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError("tune needs the tune extra: pip install 'hopvec[tune]'.") from error
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def number_of_trials(space: Space, search: str, trials: int | None) -> int:
    """The number of trials there will be: of a grid all points, unless fewer are wanted."""
    if search != "grid":
        return trials or TRIALS
    points = len(space.points())
    if trials is not None and trials > points:
        raise ParameterError(f"tune: the grid has {points:,} points, fewer than {trials:,} trials.")
    return trials or points
