"""t-SNE by openTSNE, fed with exact neighbors that all pull with the same force."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hopvec.errors import MissingExtraError
from hopvec.progress import Progress

Floats = NDArray[np.float64]

EARLY, LATE = 150, 350  # iterations, with exaggeration and without
EARLY_EXAGGERATION = 12.0
START = 1e-4  # standard deviation of the first coordinate that the descent starts from
TOLD_EVERY = 10  # iterations
FFT_FROM = 5_000  # nodes from which interpolation beats a tree
CELL = 2.0  # side of a cell of that interpolation: twice the usual, in a quarter of the time


def require_extra() -> None:
    """Raises MissingExtraError unless openTSNE is installed."""
    try:
        import openTSNE  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "t-SNE needs the view extra: pip install 'hopvec[view]'. "
            'The layout "pca" does without.'
        ) from error


def tsne(neighbors: NDArray[np.int64], start: Floats, *, seed: int, progress: Progress) -> Floats:
    """[nodes, 2]: where nodes come to rest that are pulled to their neighbors and pushed by all.

    Row i of `neighbors` holds the nodes that i is near to. It runs on one thread, since openTSNE
    adds in another order on several.
    """
    require_extra()
    import openTSNE
    from openTSNE.affinity import PrecomputedAffinities

    nodes, k = neighbors.shape
    source = np.repeat(np.arange(nodes), k)
    pulls = sp.csr_matrix((np.ones(nodes * k), (source, neighbors.ravel())), (nodes, nodes))
    before = 0

    def tell(iteration: int, error: float, positions: object) -> None:
        progress(before + iteration, EARLY + LATE)

    plane = openTSNE.TSNEEmbedding(
        start / start[:, 0].std() * START,
        PrecomputedAffinities((pulls + pulls.T) / 2),
        negative_gradient_method="fft" if nodes > FFT_FROM else "bh",
        n_jobs=1,
        random_state=seed,
        callbacks=[tell],
        callbacks_every_iters=TOLD_EVERY,
    )
    for iterations, exaggeration in ((EARLY, EARLY_EXAGGERATION), (LATE, None)):
        plane.optimize(iterations, exaggeration=exaggeration, inplace=True, ints_in_interval=CELL)
        before += iterations
    return np.asarray(plane)
