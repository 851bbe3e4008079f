"""One-vs-rest logistic regression, for all classes at once.

The problem is that of liblinear (scikit-learn: solver="liblinear"). For every class, with targets
y = 1 for its members and 0 for the rest, and a 1 as the last entry of each row x:

    minimize over w    |w|^2 / 2 + C sum_i [ log(1 + exp(w . x_i)) - y_i w . x_i ]

so the intercept is regularized as well. The problem has a unique solution. liblinear finds it class
by class, on a sparse copy of the rows; here all classes share each pass over the rows, a product of
two dense matrices, which is ten to twenty times faster.
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

TOLERANCE = 1e-7  # of the gradient, measured as in liblinear, whose default is 1e-4
MAX_NEWTON_STEPS = 100  # as in liblinear; about ten are needed
MAX_CG_STEPS = 1000  # conjugate gradient iterations per Newton step


def fit(
    rows: Matrix,
    members: NDArray[np.bool_],
    C: float,  # noqa: N803  (as liblinear and scikit-learn call it)
    *,
    tolerance: float = TOLERANCE,
    start: Matrix | None = None,
    stop: Stop | None = None,
) -> Matrix:
    """The weights, one column per class, by Newton's method from `start` or 0.

    `rows` [n, dim + 1] end in a 1, `members` [n, classes] is the membership mask. A class has
    converged when |gradient| <= tolerance * share * |gradient at 0|, where share is that of its
    members or of its non-members, whichever is smaller. Raises InterruptedError if `stop` is set.
    """
    rows32 = rows.astype(np.float32)  # steps may be inexact; the gradient is float64
    targets = members.astype(np.float64)
    share = np.maximum(np.minimum(members.sum(axis=0), (~members).sum(axis=0)), 1) / len(rows)
    scale = C * _norms(rows.T @ (0.5 - targets))
    bound = tolerance * share * scale
    weights = np.zeros((rows.shape[1], members.shape[1])) if start is None else start.copy()
    active = np.arange(members.shape[1])  # classes that have not converged
    state = _state(rows, targets, C, weights, rows @ weights)
    for _ in range(MAX_NEWTON_STEPS):
        weights[:, active] = state.weights
        size = _norms(state.gradient)
        unconverged = size > bound[active]
        if not unconverged.any():
            break
        if not unconverged.all():
            active, size = active[unconverged], size[unconverged]
            state = _State(*(part[..., unconverged] for part in state))
        accuracy = size * np.minimum(0.1, np.sqrt(size / scale[active]))
        accuracy = np.maximum(accuracy, 0.25 * bound[active])
        step = _newton_step(rows32, C * state.curvature, state.gradient, accuracy, stop)
        state = _line_search(rows, targets[:, active], C, state, step)
    return weights


@contextmanager
def one_blas_thread(owner: str) -> Iterator[None]:
    """Limit BLAS to one thread.

    The other cores are used by other shuffles, and a threaded sum would depend on the number of
    threads in its last digits.
    """
    require_extra(owner)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


def require_extra(owner: str) -> None:
    """Raise MissingExtraError unless the evaluate extra is installed."""
    try:
        import threadpoolctl  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"{owner} needs the evaluate extra: pip install 'hopvec[evaluate]'."
        ) from error


class _State(NamedTuple):
    """The state of the optimization for some classes."""

    weights: Matrix
    margins: Matrix
    """rows @ weights"""
    curvature: Matrix
    """p (1 - p) of the probabilities p"""
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
    """Solves H step = -gradient by conjugate gradients, until |residual| <= accuracy.

    The Hessian H = 1 + rows^T diag(curvature) rows of each class is never formed.
    """
    curvature32 = curvature.astype(np.float32)
    residual = -gradient.astype(np.float32)
    step = np.zeros_like(residual)
    direction = residual.copy()
    square = (residual * residual).sum(axis=0)
    for _ in range(MAX_CG_STEPS):
        unsolved = square > accuracy * accuracy
        if not unsolved.any():
            break
        if stop is not None and stop.stopped:
            raise InterruptedError
        product = direction + rows.T @ (curvature32 * (rows @ direction))
        along = _quotient(square, (direction * product).sum(axis=0), unsolved)
        step += along * direction
        residual -= along * product
        before, square = square, (residual * residual).sum(axis=0)
        direction = residual + _quotient(square, before, unsolved) * direction
    return step.astype(np.float64)


def _quotient(
    numerator: NDArray[np.float32], denominator: NDArray[np.float32], where: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """The quotients, 0 for classes that are already solved."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=where)


def _line_search(rows: Matrix, targets: Matrix, C: float, state: _State, step: Matrix) -> _State:  # noqa: N803
    """The state after the step, halved per class until its loss decreases enough (Armijo)."""
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
