"""t-SNE with openTSNE, from exact neighbors with uniform affinities."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopvec.errors import MissingExtraError
from hopvec.progress import Progress

Floats = NDArray[np.float64]

EARLY, LATE = 150, 350  # iterations with and without exaggeration
EARLY_EXAGGERATION = 12.0
INITIAL_STD = 1e-4  # of the first coordinate
PROGRESS_EVERY = 10  # iterations
FFT_FROM = 5_000  # nodes above which interpolation is faster than a tree
CELL = 2.0  # interval of the interpolation: twice the default, in a quarter of the time


def require_extra() -> None:
    """Raise MissingExtraError unless openTSNE is installed."""
    try:
        import openTSNE  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "t-SNE needs the view extra: pip install 'hopvec[view]'. "
            'The layout "pca" works without it.'
        ) from error


def tsne(neighbors: NDArray[np.int64], start: Floats, *, seed: int, progress: Progress) -> Floats:
    """[nodes, 2]: positions by t-SNE, starting at `start`.

    Row i of `neighbors` holds the nearest neighbors of node i. It runs on one thread, since the
    rounding of openTSNE depends on the number of threads.
    """
    require_extra()
    import openTSNE
    from openTSNE.affinity import PrecomputedAffinities

    nodes, k = neighbors.shape
    source = np.repeat(np.arange(nodes), k)
    affinities = sp.csr_matrix((np.ones(nodes * k), (source, neighbors.ravel())), (nodes, nodes))
    before = 0

    def report(iteration: int, error: float, positions: object) -> None:
        progress(before + iteration, EARLY + LATE)

    plane = openTSNE.TSNEEmbedding(
        start / start[:, 0].std() * INITIAL_STD,
        PrecomputedAffinities((affinities + affinities.T) / 2),
        negative_gradient_method="fft" if nodes > FFT_FROM else "bh",
        n_jobs=1,
        random_state=seed,
        callbacks=[report],
        callbacks_every_iters=PROGRESS_EVERY,
    )
    for iterations, exaggeration in ((EARLY, EARLY_EXAGGERATION), (LATE, None)):
        plane.optimize(iterations, exaggeration=exaggeration, inplace=True, ints_in_interval=CELL)
        before += iterations
    return np.asarray(plane)
