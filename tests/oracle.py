"""The formulas of FastRP in dense float64 numpy, straight from the paper: the judge of everything.

S = weighted adjacency matrix, d_i = sum_j S_ij, 2m = sum of all entries, A = D^-1 S,
L = diag((d_j / 2m)^beta), R = random rows with entries +sqrt(s), 0, -sqrt(s).

    N_0 = L R (self_weight)    N_1 = A L R    N_i = A N_(i-1)    N = sum_i weights[i-1] * N_i
"""

import numpy as np

CONSTANT = 2.0**-20  # a column whose spread is below this share of its size is constant


def embed(S, R, dim, weights, beta=0.0, self_weight=0.0, normalize="none"):
    """N: n x dim, float64. S is n x n, R is n x (at least dim)."""
    S, R = np.asarray(S, np.float64), np.asarray(R, np.float64)[:, :dim]
    terms = orders(S, R, weights, beta, self_weight)
    if normalize == "none":
        return sum(weight * N_i for weight, N_i in terms)
    N = sum(weight * unit_rows(N_i) for weight, N_i in terms)
    # A node without a row has no vector, and no say in the statistics, unless order 0 gives it one.
    present = S.any(axis=1) | N.any(axis=1)
    N[present] = standardize(N[present])
    return unit_rows(N) if normalize == "full" else N


def orders(S, R, weights, beta, self_weight):
    """The pairs (weight, N_i) whose weight is not 0, order 0 first."""
    A, L, L_0 = transition(S), degree_power(S, beta), degree_power(S, beta, order_0=True)
    terms = [(self_weight, L_0[:, None] * R)]
    N_i = L[:, None] * R
    for weight in weights:
        N_i = A @ N_i
        terms.append((weight, N_i))
    return [(weight, N_i) for weight, N_i in terms if weight != 0]


def transition(S):
    """A = D^-1 S; a row without entries stays zero."""
    d = S.sum(axis=1)
    return S / np.where(d > 0, d, 1.0)[:, None]


def degree_power(S, beta, order_0=False):
    """The diagonal of L: (d_j / 2m)^beta.

    A node of degree 0 has 0 (1 for beta = 0); in order 0 it counts as degree 1.
    """
    d, volume = S.sum(axis=1), S.sum() or 1.0
    if beta == 0:
        return np.ones(len(d))
    power = (np.where(d > 0, d, 1.0) / volume) ** beta
    return power if order_0 else np.where(d > 0, power, 0.0)


def unit_rows(N):
    """Rows of length 1; a zero row stays zero."""
    norms = np.linalg.norm(N, axis=1, keepdims=True)
    return np.divide(N, norms, out=np.zeros_like(N), where=norms > 0)


def standardize(N):
    """Columns of mean 0 and variance 1 (of the population); a constant column becomes 0."""
    if len(N) == 0:
        return N
    mean, deviation = N.mean(axis=0), N.std(axis=0)
    varies = deviation > CONSTANT * np.sqrt((N**2).mean(axis=0))
    return np.divide(N - mean, deviation, out=np.zeros_like(N), where=varies)


def second_order(S, p, q):
    """P[t, v, x]: how likely node2vec goes from v to x when it came to v from t (section 3.2).

    In proportion to S_vx / p for x = t, S_vx where S_tx > 0, S_vx / q elsewhere. Zero where there
    is no edge (t, v), or none that leaves v.
    """
    nodes = len(S)
    bias = np.where(S > 0, 1.0, 1.0 / q)  # of x, given t
    np.fill_diagonal(bias, 1.0 / p)
    mass = (S > 0)[:, :, None] * S[None, :, :] * bias[:, None, :]
    total = mass.sum(axis=2, keepdims=True)
    return np.divide(mass, total, out=np.zeros((nodes, nodes, nodes)), where=total > 0)


def walk_scores(S, alpha=1.0, beta=0.0):
    """P3-alpha, (P^alpha)^3 with P = D^-1 S and powers of entries; RP3-beta, columns / d^beta."""
    P = transition(np.asarray(S, np.float64)) ** alpha * (np.asarray(S) > 0)
    d = np.asarray(S, np.float64).sum(axis=0)
    return P @ P @ P / np.where(d > 0, d, 1.0) ** beta
