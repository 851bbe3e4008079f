"""Where vectors lie in the plane: t-SNE fed with exact neighbours, or the first two components."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.engine.slab import Progress
from hopvec.errors import MissingExtraError, ParameterError

NEIGHBORS = 15  # each pulls with the same force
EARLY, LATE = 250, 500  # iterations of t-SNE, with exaggeration and without
EARLY_EXAGGERATION = 12.0
TOLD_EVERY = 10  # iterations
FFT_FROM = 10_000  # nodes from which interpolation beats a tree


def layout(
    embedding: Embedding,
    *,
    kind: Literal["tsne", "pca"] = "tsne",
    seed: int = 0,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Positions in the plane, float32[n, 2]; zero vectors have none, which is nan.

    "tsne" starts at the first two principal components of the unit rows and pulls each node to its
    15 nearest by cosine, exact ones, with equal force (openTSNE); "pca" stays at the start. The
    same bytes for the same seed: t-SNE runs on one thread. `progress` is told the iterations.
    """
    if kind not in ("tsne", "pca"):
        raise ParameterError(f"layout: kind must be 'tsne' or 'pca', got {kind!r}.")
    placed = np.flatnonzero(embedding.vectors.any(axis=1))
    positions = np.full((len(embedding), 2), np.nan, dtype=np.float32)
    if len(placed):
        some = Embedding(embedding.vectors[placed], embedding.ids.take(placed))
        start = principal_components(some.vectors)
        few = len(placed) <= NEIGHBORS
        positions[placed] = start if kind == "pca" or few else _tsne(some, start, seed, progress)
    return positions


def principal_components(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The first two principal components of the unit rows, largest entries positive."""
    rows = vectors.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows -= rows.mean(axis=0)
    _, directions = np.linalg.eigh(rows.T @ rows)  # the largest last
    components = np.zeros((len(rows), 2))
    components[:, : rows.shape[1]] = rows @ directions[:, ::-1][:, :2]
    largest = np.abs(components).argmax(axis=0)
    return components * np.where(components[largest, [0, 1]] < 0, -1.0, 1.0)


def _tsne(
    embedding: Embedding, start: NDArray[np.float64], seed: int, progress: Progress | None
) -> NDArray[np.float64]:
    try:
        import openTSNE
        from openTSNE.affinity import PrecomputedAffinities
    except ImportError as error:
        raise MissingExtraError(
            "t-SNE needs the view extra: pip install 'hopvec[view]'. "
            'The layout "pca" does without.'
        ) from error
    nodes = len(embedding)
    neighbors = embedding.nearest_all(NEIGHBORS).rows
    source = np.repeat(np.arange(nodes), NEIGHBORS)
    pulls = sp.csr_matrix((np.ones(neighbors.size), (source, neighbors.ravel())), (nodes, nodes))
    before = 0

    def tell(iteration: int, error: float, positions: object) -> None:
        if progress:
            progress(before + iteration, EARLY + LATE)

    plane = openTSNE.TSNEEmbedding(
        start / start[:, 0].std() * 1e-4,
        PrecomputedAffinities((pulls + pulls.T) / 2),
        negative_gradient_method="fft" if nodes > FFT_FROM else "bh",
        n_jobs=1,
        random_state=seed,
        callbacks=[tell],
        callbacks_every_iters=TOLD_EVERY,
    )
    for iterations, exaggeration in ((EARLY, EARLY_EXAGGERATION), (LATE, None)):
        plane.optimize(iterations, exaggeration=exaggeration, inplace=True)
        before += iterations
    return np.asarray(plane)
