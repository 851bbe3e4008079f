"""The next point to try, from the trials so far: by a sampler of optuna, or from a grid."""

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
MAX_TRIALS = 100_000


def suggest(space: Space, search: str, seed: int, history: Sequence[Trial]) -> dict[str, Any]:
    """The values of the next trial, a pure function of the arguments.

    "tpe" is optuna's default, the tree-structured Parzen estimator, after ten random trials;
    "random" draws every point at random; "grid" takes all points in order. The sampler is rebuilt
    from the history for each trial, so that a resumed search gives the same result.
    """
    if search == "grid":
        return space.grid_point(len(history))
    with _quiet_optuna():
        return _ask(space, search, seed, history)


def _ask(space: Space, search: str, seed: int, history: Sequence[Trial]) -> dict[str, Any]:
    import optuna

    trial_seed = int(np.random.SeedSequence([seed, len(history)]).generate_state(1)[0])
    samplers = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
    study = optuna.create_study(direction="maximize", sampler=samplers[search](seed=trial_seed))
    distributions = {
        name: _distribution(dimension, space.is_integer(name))
        for name, dimension in space.dimensions.items()
    }
    for trial in history:
        study.add_trial(
            optuna.create_trial(
                params={
                    name: _to_optuna(dimension, trial.parameters[name])
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


def _distribution(dimension: Dimension, integer: bool) -> BaseDistribution:
    """A dimension as a distribution of optuna, which sees only the index of a choice."""
    import optuna

    if isinstance(dimension, Choices):
        return optuna.distributions.CategoricalDistribution(range(len(dimension.values)))
    if integer:
        low, high, step = (int(n) for n in (dimension.low, dimension.high, dimension.step or 1))
        return optuna.distributions.IntDistribution(low, high, log=dimension.log, step=step)
    return optuna.distributions.FloatDistribution(
        dimension.low, dimension.high, log=dimension.log, step=dimension.step
    )


def _to_optuna(dimension: Dimension, value: Any) -> Any:
    return dimension.values.index(value) if isinstance(dimension, Choices) else value


@contextmanager
def _quiet_optuna() -> Iterator[None]:
    """Keep optuna from logging every study it creates."""
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
    """The number of trials: by default 20, or all points of a grid."""
    if search != "grid":
        return trials or TRIALS
    points = space.grid_size()
    if trials is not None and trials > points:
        raise ParameterError(f"tune: the grid has {points:,} points, fewer than {trials:,} trials.")
    if trials is None and points > MAX_TRIALS:
        raise ParameterError(
            f"tune: the grid has {points:,} points, and a search at most {MAX_TRIALS:,} trials. "
            "Use larger steps, or try only the first points with trials=."
        )
    return trials or points
