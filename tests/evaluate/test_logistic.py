import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from hopvec._native import Stop
from hopvec.evaluate.logistic import fit


def problem(rows=120, dim=6, classes=5, seed=0):
    """Rows that end in a one, and classes of very different sizes that depend on them."""
    random = np.random.default_rng(seed)
    features = random.standard_normal((rows, dim))
    signal = features @ random.standard_normal((dim, classes)) + random.standard_normal(classes)
    level = np.linspace(-1, 3, classes)
    members = signal + 0.5 * random.standard_normal((rows, classes)) > level
    members[:2] = [[True], [False]]
    return np.column_stack([features, np.ones(rows)]), members


def loss(rows, members, C, weights):  # noqa: N803
    margins = rows @ weights
    data = C * (np.logaddexp(0, margins) - members * margins).sum(axis=0)
    return data + (weights * weights).sum(axis=0) / 2


@pytest.mark.parametrize("C", [0.001, 0.1, 10, 1000])
def test_the_weights_equal_those_of_liblinear(C):  # noqa: N803
    rows, members = problem()
    model = LogisticRegression(solver="liblinear", C=C, tol=1e-10, max_iter=1000)
    weights = fit(rows, members, C)
    for number in range(members.shape[1]):
        model.fit(rows[:, :-1], members[:, number])
        expected = [*model.coef_[0], *model.intercept_]
        np.testing.assert_allclose(weights[:, number], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("C", [0.01, 1, 100])
def test_the_weights_are_a_local_minimum(C):  # noqa: N803
    rows, members = problem(seed=1)
    weights = fit(rows, members, C)
    best = loss(rows, members, C, weights)
    random = np.random.default_rng(0)
    for size in (1e-3, 1e-1, 10):
        other = weights + size * random.standard_normal(weights.shape)
        assert (loss(rows, members, C, other) > best).all()


def test_a_class_does_not_depend_on_the_others():
    rows, members = problem()
    together = fit(rows, members, 1.0)
    alone = np.column_stack([fit(rows, members[:, [k]], 1.0) for k in range(members.shape[1])])
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-7)


def test_the_result_does_not_depend_on_the_start():
    rows, members = problem()
    near = fit(rows, members, 0.5)
    np.testing.assert_allclose(
        fit(rows, members, 1.0, start=near), fit(rows, members, 1.0), rtol=1e-5, atol=1e-7
    )


def test_a_step_that_is_too_long_is_shortened():
    rows, members = problem(rows=40)
    far = np.full((rows.shape[1], members.shape[1]), 30.0)  # where the curvature is nearly nothing
    np.testing.assert_allclose(
        fit(1.0 * rows, members, 100.0, start=far), fit(rows, members, 100.0), rtol=1e-3, atol=1e-4
    )


def test_separable_classes_have_finite_weights():
    rows = np.column_stack([np.r_[-np.ones(10), np.ones(10)], np.ones(20)])
    weights = fit(rows, rows[:, :1] > 0, 1e6)
    assert np.isfinite(weights).all()
    assert (rows @ weights > 0).ravel().tolist() == [False] * 10 + [True] * 10


def test_it_stops_when_stop_is_set():
    rows, members = problem()
    stop = Stop()
    stop.set()
    with pytest.raises(InterruptedError):
        fit(rows, members, 1.0, stop=stop)
