"""What float32 rounding may do to a row: the distance from the oracle that is allowed."""
# ruff: noqa: N803, N806

import numpy as np

from oracle import CONSTANT, has_row, orders, standardize, unit_rows


def bound(
    S,
    R,
    dim,
    weights,
    beta=0.0,
    self_weight=0.0,
    normalize="none",
    direction="out",
    epsilon=1e-6,
    size=None,
):
    """How far each row of a float32 run may be from the oracle: n norms of a difference.

    A sum is accurate to epsilon times the sum of the magnitudes of its terms: with |R| and
    |weights| in place of R and weights, or `size` in place of |R| if R is a sum itself. Without
    normalization that is all. Unit rows divide by the norm of a row and standardizing by the
    deviation of a column, so both magnify the error if the terms of a row cancel, or if the
    deviation of a column is far below its root mean square. This bound is the first-order
    propagation of the error through both. If it exceeds the row itself, float32 does not determine
    the row, and the bound is infinite.
    """
    S, R = np.asarray(S, np.float64), np.asarray(R, np.float64)[:, :dim]
    terms = orders(S, R, weights, beta, self_weight, direction)
    size = np.abs(R) if size is None else size[:, :dim]
    sizes = orders(S, size, weights, beta, self_weight, direction)
    if normalize == "none":
        return epsilon * np.linalg.norm(sum(abs(w) * size for w, size in sizes), axis=1)
    error = sum(
        abs(weight) * unit_error(N_i, size, epsilon)
        for (weight, N_i), (_, size) in zip(terms, sizes, strict=True)
    )
    N = sum(weight * unit_rows(N_i) for weight, N_i in terms)
    present = has_row(S, direction) | N.any(axis=1)
    error[present] = standardized_error(N[present], error[present])
    length = np.linalg.norm(error, axis=1)
    if normalize == "authors":
        return length
    N[present] = standardize(N[present])
    norms = np.linalg.norm(N, axis=1)
    relative = np.divide(2 * length, norms, out=np.full(len(N), np.inf), where=norms > 0)
    relative[(norms == 0) & (length == 0)] = 0
    return np.where(relative < 0.5, relative, np.inf)


def unit_error(N_i, size, epsilon):
    """The error of the entries of unit_rows(N_i), entries of N_i being known to epsilon * size."""
    norms = np.linalg.norm(N_i, axis=1, keepdims=True)
    unknown = np.where(size.any(axis=1, keepdims=True), np.inf, 0.0) + np.zeros_like(N_i)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_length = epsilon * np.linalg.norm(size, axis=1, keepdims=True) / norms
        error = epsilon * size / norms + of_length * np.abs(N_i) / norms
    return np.where((norms > 0) & (of_length < 0.5), error, unknown)


def standardized_error(N, error):
    """The error of the entries of standardize(N), those of N being known to `error`."""
    if len(N) == 0:
        return error
    deviation, root_mean_square = N.std(axis=0), np.sqrt((N**2).mean(axis=0))
    of_mean = error.mean(axis=0)
    of_deviation = of_mean + np.sqrt((error**2).mean(axis=0))
    known = deviation > 2 * (of_deviation + CONSTANT * root_mean_square)
    zero = ~N.any(axis=0) & ~error.any(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = (error + of_mean + np.abs(standardize(N)) * of_deviation) / deviation
    return np.where(known, result, np.where(zero, 0.0, np.inf))
