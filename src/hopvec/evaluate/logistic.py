"""Logistic regression, one class against the rest, for all classes at once.

The problem is that of liblinear (scikit-learn: solver="liblinear"). For every class, with targets
y = 1 for its members and 0 for the rest, and a 1 as the last entry of every row x:

    minimize over w    |w|^2 / 2 + C sum_i [ log(1 + exp(w . x_i)) - y_i w . x_i ]

so the intercept is regularised as well. The problem has one solution. liblinear comes to it class
by class, over rows copied into linked entries; here all classes share each pass over the rows, a
product of two dense matrices, which is ten to twenty times as fast.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopvec._native import Stop
from hopvec.errors import MissingExtraError

Matrix = NDArray[np.float64]

TOLERANCE = 1e-7  # of the gradient, as liblinear measures it; the default there is 1e-4
MAX_NEWTON_STEPS = 100  # as liblinear has it; ten are usual
MAX_CG_STEPS = 1000  # with the rows, for one step


def fit(
    rows: Matrix,
    members: NDArray[np.bool_],
    C: float,  # noqa: N803  (as liblinear and scikit-learn call it)
    *,
    tolerance: float = TOLERANCE,
    start: Matrix | None = None,
    stop: Stop | None = None,
) -> Matrix:
    """The weights of all classes, a column each: Newton's steps from `start`, or from 0.

    `rows` [n, dim + 1] end in a one, `members` [n, classes] tells whose members they are. A class
    is done when |gradient| <= tolerance share |gradient at 0|, where share is that of its members
    or of the others, whichever are fewer. Raises InterruptedError once `stop` is set.
    """
    light = rows.astype(np.float32)  # steps need not be exact, only where they lead to
    targets = members.astype(np.float64)
    share = np.maximum(np.minimum(members.sum(axis=0), (~members).sum(axis=0)), 1) / len(rows)
    scale = C * _norms(rows.T @ (0.5 - targets))
    bound = tolerance * share * scale
    weights = np.zeros((rows.shape[1], members.shape[1])) if start is None else start.copy()
    left = np.arange(members.shape[1])  # the classes that are not done
    state = _state(rows, targets, C, weights, rows @ weights)
    for _ in range(MAX_NEWTON_STEPS):
        weights[:, left] = state.weights
        size = _norms(state.gradient)
        open_ = size > bound[left]
        if not open_.any():
            break
        if not open_.all():
            left, size = left[open_], size[open_]
            state = _State(*(part[..., open_] for part in state))
        accuracy = size * np.minimum(0.1, np.sqrt(size / scale[left]))
        accuracy = np.maximum(accuracy, 0.25 * bound[left])
        step = _newton_step(light, C * state.curvature, state.gradient, accuracy, stop)
        state = _search(rows, targets[:, left], C, state, step)
    return weights


@contextmanager
def one_blas_thread(owner: str) -> Iterator[None]:
    """Keeps the products of matrices on the thread they are called from.

    That leaves the other cores to other threads; and which thread adds what would change the last
    digits of a sum.
    """
    require_extra(owner)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


def require_extra(owner: str) -> None:
    """Raises MissingExtraError unless what a regression needs is installed."""
    try:
        import threadpoolctl  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"{owner} needs the evaluate extra: pip install 'hopvec[evaluate]'."
        ) from error


class _State(NamedTuple):
    """Where some classes are."""

    weights: Matrix
    margins: Matrix
    """rows @ weights"""
    curvature: Matrix
    """p (1 - p) of their probabilities p"""
    loss: Matrix
    gradient: Matrix


def _state(rows: Matrix, targets: Matrix, C: float, weights: Matrix, margins: Matrix) -> _State:  # noqa: N803
    from scipy.special import expit

    probabilities = expit(margins)
    loss = C * (np.logaddexp(0, margins) - targets * margins).sum(axis=0)
    loss += 0.5 * (weights * weights).sum(axis=0)
    gradient = weights + C * (rows.T @ (probabilities - targets))
    return _State(weights, margins, probabilities * (1 - probabilities), loss, gradient)


def _newton_step(
    rows: NDArray[np.float32],
    curvature: Matrix,
    gradient: Matrix,
    accuracy: Matrix,
    stop: Stop | None,
) -> Matrix:
    """Solves H step = -gradient by conjugate gradients, until the rest is below the accuracy.

    H = 1 + rows^T diag(curvature) rows is that of each class, and is never formed.
    """
    light = curvature.astype(np.float32)
    rest = -gradient.astype(np.float32)
    step = np.zeros_like(rest)
    direction = rest.copy()
    square = (rest * rest).sum(axis=0)
    for _ in range(MAX_CG_STEPS):
        going = square > accuracy * accuracy
        if not going.any():
            break
        if stop is not None and stop.stopped:
            raise InterruptedError
        product = direction + rows.T @ (light * (rows @ direction))
        along = _quotient(square, (direction * product).sum(axis=0), going)
        step += along * direction
        rest -= along * product
        before, square = square, (rest * rest).sum(axis=0)
        direction = rest + _quotient(square, before, going) * direction
    return step.astype(np.float64)


def _quotient(
    above: NDArray[np.float32], below: NDArray[np.float32], where: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """The quotients, and 0 for the classes that are done."""
    return np.divide(above, below, out=np.zeros_like(above), where=where)


def _search(rows: Matrix, targets: Matrix, C: float, state: _State, step: Matrix) -> _State:  # noqa: N803
    """The state after the step, halved for a class until its loss falls as it should (Armijo)."""
    moves = rows @ step
    slope = (state.gradient * step).sum(axis=0)
    length = np.ones_like(slope)
    while True:
        after = _state(
            rows, targets, C, state.weights + length * step, state.margins + length * moves
        )
        rounding = 1e-12 * np.abs(state.loss)
        short = after.loss > state.loss + 1e-4 * length * slope + rounding
        if not short.any():
            return after
        length[short] /= 2


def _norms(columns: Matrix) -> Matrix:
    norms: Matrix = np.sqrt((columns * columns).sum(axis=0))
    return norms
