"""The formulas of the papers in dense float64 numpy, FastRP first: the ground truth.

S = weighted adjacency matrix, d_i = sum_j S_ij, 2m = sum of all entries, A = D^-1 S,
L = diag((d_j / 2m)^beta), R = random rows with entries +sqrt(s), 0, -sqrt(s).

    N_0 = L R (self_weight)    N_1 = A L R    N_i = A N_(i-1)    N = sum_i weights[i-1] * N_i

With several passes, X_1 = R, and X_(p+1) = (Z - mean) G^(-1/2) takes its place in pass p + 1, where
Z = unit_rows(N - mean) is the result of pass p, and G is the covariance of its rows. All passes but
the last have refine_weights in the place of weights.
"""

import numpy as np

CONSTANT = 2.0**-20  # a column whose spread is below this share of its size is constant


def embed(S, R, dim, weights, beta=0.0, self_weight=0.0, normalize="none", direction="out"):
    """The embedding N, n x dim in float64. S is n x n, R has at least dim columns."""
    S, R = np.asarray(S, np.float64), np.asarray(R, np.float64)[:, :dim]
    terms = orders(S, R, weights, beta, self_weight, direction)
    if normalize == "none":
        return sum(weight * N_i for weight, N_i in terms)
    N = sum(weight * unit_rows(N_i) for weight, N_i in terms)
    if normalize == "orders":
        return N
    # A node without edges has no vector and is left out of the statistics, unless order 0 has it.
    present = has_row(S, direction) | N.any(axis=1)
    zero = ~N.any(axis=1)
    N[present] = standardize(N[present])
    N[zero] = 0  # zero rows stay zero
    return unit_rows(N) if normalize == "full" else N


def refine(
    S,
    R,
    dim,
    weights,
    beta=0.0,
    self_weight=0.0,
    direction="out",
    passes=2,
    refine_weights=(0, 0, 1),
    spectrum=1.0,
    degree_weight=0.0,
):
    """The embedding by several passes, n x dim in float64. R has all columns to be propagated."""
    S, X = np.asarray(S, np.float64), np.asarray(R, np.float64)
    parts = 2 if direction == "concat" else 1
    X = np.hstack([X[:, : X.shape[1] // parts]] * parts)
    for number in range(1, passes + 1):
        chosen = weights if number == passes else refine_weights
        terms = orders(S, X, chosen, beta, self_weight, direction, same_columns=False)
        N = sum(weight * unit_rows(N_i) for weight, N_i in terms)
        present, zero = has_row(S, direction) | N.any(axis=1), ~N.any(axis=1)
        if passes == 1:
            N[present] = standardize(N[present])
        else:
            N[present] = center(N[present])
        N[zero] = 0
        Z = unit_rows(N)
        if number < passes:
            X = whiten(Z, present)
            X[zero] = 0
    columns = degree_columns(S, direction, degree_weight, dim - parts) if degree_weight else None
    if columns is None:
        return compress(Z, dim, spectrum, unit=True, present=present)
    others = compress(Z, dim - parts, spectrum, unit=True, present=present)
    return np.hstack([others, columns])


def whiten(Z, present, min_eigenvalue=1e-3):
    """(Z - mean) G^(-1/2), with the symmetric root of the covariance G of the present rows."""
    mean = Z[present].sum(axis=0) / max(1, present.sum())
    G = (Z[present] - mean).T @ (Z[present] - mean) / max(1, present.sum())
    values, V = np.linalg.eigh(G)
    if values[-1] <= 0:
        return np.zeros_like(Z)
    values = np.maximum(values, min_eigenvalue * values[-1])
    return (Z - mean) @ (V / np.sqrt(values)) @ V.T


def degree_columns(S, direction, weight, others):
    """weight times the rms 1 / sqrt(others) of the other columns, in proportion to log(1 + d)."""
    ways = ("out", "in") if direction == "concat" else (direction,)
    columns = np.log1p(np.stack([oriented(S, way).sum(axis=1) for way in ways], axis=1))
    size = np.sqrt((columns**2).sum(axis=0) / max(1, has_row(S, direction).sum()))
    return weight * columns / np.where(size > 0, size, 1.0) / np.sqrt(others)


def relative_errors(got, expected):
    """|difference| / |expected| per row; a row that must be zero has to be exactly zero."""
    size = np.linalg.norm(expected, axis=1)
    error = np.linalg.norm(got - expected, axis=1)
    return np.divide(error, size, out=np.where(error > 0, np.inf, 0.0), where=size > 0)


def features(numbers, number_signs, categories=()):
    """F = X P / sqrt(columns): n x dim, to be added to R.

    `numbers` is n x k with NaN for missing values, `number_signs` is k x dim. `categories` holds,
    for every categorical column, the n x dim signs of the nodes' values, 0 for missing values.
    """
    X = np.array(numbers, np.float64)
    mean, deviation = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    X = np.nan_to_num(np.divide(X - mean, deviation, out=np.zeros_like(X), where=deviation > 0))
    return (X @ number_signs + sum(categories)) / np.sqrt(X.shape[1] + len(categories))


def compress(N, dim, spectrum=1.0, unit=False, present=None):
    """The nonzero rows projected on their first `dim` principal components: n x dim.

    U Sigma^spectrum of the centered rows U Sigma V^T, up to signs and one factor; then unit rows.
    """
    present = N.any(axis=1) if present is None else present
    if not N.any():
        return np.zeros((len(N), dim))
    U, sigma, V = np.linalg.svd(N[present] - N[present].mean(axis=0), full_matrices=False)
    U, sigma, V = U[:, :dim], sigma[:dim], V[:dim]
    U = U * np.sign(V[np.arange(len(V)), np.abs(V).argmax(axis=1)])
    result = np.zeros((len(N), dim))
    result[present, : len(sigma)] = U * sigma[0] * (sigma / sigma[0]) ** spectrum
    result[~N.any(axis=1)] = 0  # zero rows stay zero
    return unit_rows(result) if unit else result


def orders(S, R, weights, beta, self_weight, direction="out", same_columns=True, volume=None):
    """The pairs (weight, N_i) with nonzero weight, order 0 first; 2m is `volume` if it is given.

    For direction "concat", half of the columns come from "out" and half from "in": both from the
    first half of the columns of R, or, in later passes, each from its own half.
    """
    if direction == "concat":
        first, second = np.hsplit(R, 2)
        starts = (("out", first), ("in", first if same_columns else second))
        both = (orders(S, half, weights, beta, self_weight, way) for way, half in starts)
        pairs = zip(*both, strict=True)
        return [(weight, np.hstack([N_i, N_j])) for (weight, N_i), (_, N_j) in pairs]
    S = oriented(S, direction)
    A = transition(S)
    L, L_0 = (degree_power(S, beta, order_0, volume) for order_0 in (False, True))
    terms = [(self_weight, L_0[:, None] * R)]
    N_i = L[:, None] * R
    for weight in weights:
        N_i = A @ N_i
        terms.append((weight, N_i))
    return [(weight, N_i) for weight, N_i in terms if weight != 0]


def merge_relations(matrices, weights, balance):
    """S = sum_r F_r S_r of a graph with the adjacency matrices S_r of its relations.

    F_r is diagonal: "none": w_r. "total": all S_r have sums in proportion to w_r, and S the sum of
    all. "node": A_i is the average of D_r^-1 S_r over the relations of node i, by w_r, and S = D A.
    """
    S, w = np.array(matrices, np.float64), np.array(weights, np.float64)
    if balance == "total":
        totals = S.sum(axis=(1, 2))
        w = np.divide(
            w * totals.sum() / w[totals > 0].sum(), totals, out=np.zeros_like(w), where=totals > 0
        )
    merged = np.einsum("r,rij->ij", w, S)
    if balance == "node":
        has = S.any(axis=2)
        shares = np.einsum("r,rij->ij", w, np.array([transition(S_r) for S_r in S]))
        average = shares / np.maximum((w[:, None] * has).sum(axis=0), 1e-300)[:, None]
        merged = merged.sum(axis=1)[:, None] * average
    return merged


def oriented(S, direction):
    """S, S^T, or the undirected S + S^T, in which loops count once."""
    both = S + S.T - np.diag(np.diag(S))
    return {"out": S, "in": S.T, "both": both}[direction]


def has_row(S, direction):
    """Whether each node has an edge in the given direction."""
    return oriented(S, "both" if direction == "concat" else direction).any(axis=1)


def transition(S):
    """A = D^-1 S; empty rows stay zero."""
    d = S.sum(axis=1)
    return S / np.where(d > 0, d, 1.0)[:, None]


def adjacency(nodes, source, target, weight, directed):
    """S from a list of edges: duplicates are summed; an undirected loop sets one entry."""
    S = np.zeros((nodes, nodes))
    for u, v, w in zip(source, target, weight, strict=True):
        S[u, v] += w
        if not directed and u != v:
            S[v, u] += w
    return S


def age_weights(weight, time, half_life, as_of=None, since=None, until=None):
    """weight * 0.5 ** ((as_of - time) / half_life), 0 outside since <= time < until.

    By default `as_of` is the newest time inside the window. Weights below 1e-25 become 0.
    """
    time, weight = np.asarray(time, np.float64), np.asarray(weight, np.float64)
    inside = np.ones(len(time), bool)
    if since is not None:
        inside &= time >= since
    if until is not None:
        inside &= time < until
    if half_life is not None and inside.any():
        age = (time[inside].max() if as_of is None else as_of) - time
        weight = weight * 0.5 ** (np.where(inside, age, 0.0) / half_life)
        weight = np.where(weight < 1e-25, 0.0, weight)
    return np.where(inside, weight, 0.0)


def degree_power(S, beta, order_0=False, volume=None):
    """The diagonal of L: (d_j / 2m)^beta.

    It is 0 for a node of degree 0 (1 for beta = 0), which order 0 treats as degree 1.
    """
    d, volume = S.sum(axis=1), volume or S.sum() or 1.0
    if beta == 0:
        return np.ones(len(d))
    power = (np.where(d > 0, d, 1.0) / volume) ** beta
    return power if order_0 else np.where(d > 0, power, 0.0)


def unit_rows(N):
    """Rows of length 1; a zero row stays zero."""
    norms = np.linalg.norm(N, axis=1, keepdims=True)
    return np.divide(N, norms, out=np.zeros_like(N), where=norms > 0)


def standardize(N):
    """Columns of mean 0 and (population) variance 1; constant columns become 0."""
    if len(N) == 0:
        return N
    mean, deviation = N.mean(axis=0), N.std(axis=0)
    varies = deviation > CONSTANT * np.sqrt((N**2).mean(axis=0))
    return np.divide(N - mean, deviation, out=np.zeros_like(N), where=varies)


def center(N):
    """Columns of mean 0; constant columns become 0."""
    if len(N) == 0:
        return N
    varies = N.std(axis=0) > CONSTANT * np.sqrt((N**2).mean(axis=0))
    return np.where(varies, N - N.mean(axis=0), 0.0)


def randne(S, R, weights, matrix="transition"):
    """U = (weights[0] + weights[1] S + weights[2] S^2 + ...) R, for R with orthonormal columns."""
    S, power = np.asarray(S, np.float64), np.asarray(R, np.float64)
    hop = transition(S) if matrix == "transition" else S
    U = np.zeros_like(power)
    for weight in weights:
        U += weight * power
        power = hop @ power
    return U


def gram_schmidt(R):
    """Orthonormal columns; a column that depends linearly on those before it becomes 0."""
    Q = np.array(R, np.float64)
    for column in range(Q.shape[1]):
        before = np.linalg.norm(Q[:, column])
        for _ in range(2):
            Q[:, column] -= Q[:, :column] @ (Q[:, :column].T @ Q[:, column])
        left = np.linalg.norm(Q[:, column])
        Q[:, column] = Q[:, column] / left if left > 1e-6 * before else 0.0
    return Q


def netmf_matrix(S, window=10, negatives=1.0, rank=None):
    """log max(1, vol / (b T) (P + ... + P^T) D^-1): exact (Algorithm 3), or by eigenpairs (4)."""
    S = np.asarray(S, np.float64)
    d, volume = S.sum(axis=1), S.sum()
    inverse = np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
    if rank is None:
        P = transition(S)
        powers = sum(np.linalg.matrix_power(P, r) for r in range(1, window + 1)) * inverse
    else:
        root = np.sqrt(inverse)
        values, U = np.linalg.eigh(root[:, None] * S * root)
        values, U = values[::-1][:rank], U[:, ::-1][:, :rank]
        filtered = np.maximum(sum(values**r for r in range(1, window + 1)), 0.0)
        powers = root[:, None] * (U * filtered @ U.T) * root
    return np.log(np.maximum(1.0, volume / (negatives * window) * powers))


def grarep_matrix(S, step):
    """X_ij = max(0, log(A^k_ij / sum_i A^k_ij) - log(1 / n)), A^k the powers of D^-1 S (Eq. 14)."""
    power = np.linalg.matrix_power(transition(np.asarray(S, np.float64)), step)
    arriving = power.sum(axis=0)
    share = np.divide(power, arriving, out=np.zeros_like(power), where=arriving > 0)
    return np.log(np.maximum(1.0, len(power) * share))


def left_factor(M, dim):
    """U Sigma^(1/2) of the largest singular values; the largest entry of a column is positive."""
    U, sigma, _ = np.linalg.svd(M)
    factor = np.zeros((len(M), dim))
    count = min(dim, len(M))
    factor[:, :count] = (U * np.sqrt(sigma))[:, :count]
    largest = np.abs(factor).argmax(axis=0)
    return factor * np.where(factor[largest, np.arange(dim)] < 0, -1.0, 1.0)


def second_order(S, p, q):
    """P[t, v, x]: the probability that node2vec steps from v to x, coming from t (section 3.2).

    It is proportional to S_vx / p if x = t, to S_vx if S_tx > 0, and to S_vx / q otherwise; 0 if
    there is no edge (t, v), or v has no out-edge.
    """
    nodes = len(S)
    bias = np.where(S > 0, 1.0, 1.0 / q)  # of x, given t
    np.fill_diagonal(bias, 1.0 / p)
    mass = (S > 0)[:, :, None] * S[None, :, :] * bias[:, None, :]
    total = mass.sum(axis=2, keepdims=True)
    return np.divide(mass, total, out=np.zeros((nodes, nodes, nodes)), where=total > 0)


def walk_scores(S, alpha=1.0, beta=0.0):
    """P3-alpha: (P^alpha)^3, P = D^-1 S, entrywise powers; RP3-beta divides columns by d^beta."""
    P = transition(np.asarray(S, np.float64)) ** alpha * (np.asarray(S) > 0)
    d = np.asarray(S, np.float64).sum(axis=0)
    return P @ P @ P / np.where(d > 0, d, 1.0) ** beta


def path_counts(S, steps, inner=None):
    """The number of paths of `steps` edges, weighted by the product of `inner` of inner nodes."""
    A = (np.asarray(S) > 0).astype(np.float64)
    W = np.diag(np.ones(len(A)) if inner is None else inner)
    return A @ W @ A if steps == 2 else A @ W @ A @ W @ A


def adamic_adar(S, steps, directed):
    """Paths weighted by 1 / log of the number of edges of their inner nodes."""
    A = np.asarray(S) > 0
    edges = A.sum(axis=1) + (A.sum(axis=0) if directed else 0)
    return path_counts(S, steps, 1 / np.log(np.maximum(2, edges)))


def common_neighbors(S, bipartite):
    """Common neighbors; in a bipartite graph, neighbors of v that share another one with u."""
    A = np.asarray(S) > 0
    n = len(A)

    def reached(u, w, v):
        return any(A[u, i] and A[i, w] for i in range(n) if i != v) if bipartite else A[u, w]

    def count(u, v):
        return sum(A[w, v] and reached(u, w, v) for w in range(n) if w not in (u, v))

    return np.array([[count(u, v) for v in range(n)] for u in range(n)])
