"""Suggestions: pure functions of the seed and the trials so far, inside the space."""

import sys

import pytest

from hopvec import MissingExtraError, ParameterError
from hopvec.tuning.space import Range, Space
from hopvec.tuning.study import Trial
from hopvec.tuning.suggest import number_of_trials, suggest
from one_pass import one_pass

SPACE = Space(
    one_pass(),
    {
        "beta": "-1:1:0.25",
        "weights": "0,0,1,log:0.125:64",
        "dim": "16:64:16",
        "normalize": ["authors", "full"],
    },
)


def search(space, kind, count, seed=0, score=lambda values: 0.0):
    """The trials of a search, with the values of each."""
    history = []
    for number in range(1, count + 1):
        values = suggest(space, kind, seed, history)
        history.append(Trial(number, values, score(values), 0.0))
    return history


@pytest.mark.parametrize("kind", ["tpe", "random"])
def test_the_same_history_and_seed_give_the_same_values(kind):
    first, second = (search(SPACE, kind, 14) for _ in range(2))
    assert first == second
    assert search(SPACE, kind, 3, seed=1) != first[:3]


@pytest.mark.parametrize("kind", ["tpe", "random"])
def test_values_are_inside_the_space(kind):
    for trial in search(SPACE, kind, 16):
        values = trial.parameters
        assert values["beta"] in (-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1)
        assert 0.125 <= values["weights.4"] <= 64
        assert values["dim"] in (16, 32, 48, 64)
        assert isinstance(values["dim"], int)
        assert values["normalize"] in ("authors", "full")
        SPACE.method(values)._check()


def test_random_values_of_a_logarithmic_range_are_log_uniform():
    space = Space(one_pass(weights=(0, 0, 1, 1)), {"weights.4": Range(0.125, 64, log=True)})
    values = [suggest(space, "random", seed, [])["weights.4"] for seed in range(270)]
    for octave in range(-3, 6, 3):  # three times three of them: a third of the values each
        inside = sum(2.0**octave <= value < 2.0 ** (octave + 3) for value in values)
        assert abs(inside - 90) < 4 * (270 * 2 / 9) ** 0.5


def test_tpe_prefers_points_with_good_scores():
    space = Space(one_pass(), {"beta": "-1:1"})
    history = search(space, "tpe", 40, score=lambda values: -abs(values["beta"] - 0.3))
    late = sorted(abs(trial.parameters["beta"] - 0.3) for trial in history[20:])
    assert late[len(late) // 2] < 0.35  # of values drawn at random, half are farther away than 0.5


def test_grid_points_are_taken_in_order():
    space = Space(one_pass(), {"beta": "0:1:0.5", "normalize": "authors,full"})
    assert [trial.parameters for trial in search(space, "grid", 6)] == [
        {"beta": beta, "normalize": normalize}
        for beta in (0, 0.5, 1)
        for normalize in ("authors", "full")
    ]


def test_the_number_of_trials_is_20_or_all_of_a_grid():
    grid = Space(one_pass(), {"beta": "0:1:0.5"})
    assert number_of_trials(grid, "tpe", None) == 20
    assert number_of_trials(grid, "random", 7) == 7
    assert number_of_trials(grid, "grid", None) == 3
    assert number_of_trials(grid, "grid", 2) == 2
    with pytest.raises(ParameterError, match="the grid has 3 points, fewer than 4 trials"):
        number_of_trials(grid, "grid", 4)


def test_a_grid_with_more_points_than_trials_are_allowed_is_refused_unless_trials_is_given():
    grid = Space(one_pass(), {"beta": "0:1:1e-6", "normalize": "authors,full"})
    with pytest.raises(ParameterError, match=r"the grid has 2,000,002 points.* larger steps"):
        number_of_trials(grid, "grid", None)
    assert number_of_trials(grid, "grid", 3) == 3
    assert [trial.parameters for trial in search(grid, "grid", 3)] == [
        {"beta": 0.0, "normalize": "authors"},
        {"beta": 0.0, "normalize": "full"},
        {"beta": 1e-6, "normalize": "authors"},
    ]


def test_without_optuna_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hopvec\[tune\]'"):
        suggest(SPACE, "tpe", 0, [])


def test_optuna_logs_nothing(capfd):
    search(SPACE, "tpe", 2)
    assert capfd.readouterr() == ("", "")
