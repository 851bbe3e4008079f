"""layout: 2D positions by t-SNE from exact neighbors, or the first two principal components."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.progress import Progress, ProgressOption, callback, no_progress
from hopvec.view.components import principal_components
from hopvec.view.landmarks import choose_landmarks, copy_rows, place_by_landmarks
from hopvec.view.tsne import require_extra, tsne

Kind = Literal["tsne", "pca"]

NEIGHBORS = 15  # per node
LANDMARKS_FROM = 50_000  # nodes above which t-SNE runs on landmarks only
LANDMARKS = 20_000
STEPS = 1000  # of the progress
SEARCHED, DESCENDED = 350, 750  # steps done after the neighbor search, and after t-SNE


def layout(
    embedding: Embedding,
    *,
    kind: Kind = "tsne",
    seed: int = 0,
    labeled: NDArray[np.int64] | None = None,
    progress: ProgressOption = None,
) -> NDArray[np.float32]:
    """Compute 2D positions of the nodes of an embedding.

    The same seed gives the same bytes for any number of threads.

    Parameters
    ----------
    embedding : Embedding
        The vectors to lay out.
    kind : {"tsne", "pca"}, default="tsne"
        "pca" is the first two principal components of the unit vectors. "tsne" starts there and
        runs openTSNE with uniform affinities between each node and its 15 exact nearest neighbors
        by cosine similarity. Above 50,000 nodes, it runs on 20,000 landmarks, and every other node
        is placed at the median of its 5 nearest landmarks.
    seed : int, default=0
        Random seed.
    labeled : array of int64, optional
        Rows that are preferred as landmarks.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the number of steps done and
        their total.

    Returns
    -------
    array of float32, shape (n, 2)
        One position per row; nan for zero vectors.

    Raises
    ------
    MissingExtraError
        If openTSNE is needed and not installed.
    ParameterError
        If `kind` is invalid.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, view
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> embedding = FastRP(dim=8).embed(graph)
    >>> view.layout(embedding, kind="pca").shape
    (6, 2)
    """
    progress = callback(progress, "placing nodes")
    if kind not in get_args(Kind):
        raise ParameterError(f"layout: kind must be 'tsne' or 'pca', got {kind!r}.")
    report = progress or no_progress
    rows = np.flatnonzero(embedding._inverse_norms)
    positions = np.full((len(embedding), 2), np.nan, dtype=np.float32)
    if not len(rows):
        return positions
    if kind == "pca" or len(rows) <= NEIGHBORS:
        positions[rows] = principal_components(embedding, rows)
        return positions
    require_extra()
    landmarks, others = rows, rows[:0]
    if len(rows) > LANDMARKS_FROM:
        first = rows[:0] if labeled is None else labeled
        landmarks = choose_landmarks(rows, first, LANDMARKS, seed)
        others = np.setdiff1d(rows, landmarks, assume_unique=True)
    chosen = copy_rows(embedding, landmarks)
    every = np.arange(len(landmarks))
    near = chosen.nearest_rows(every, NEIGHBORS, progress=_between(report, 0, SEARCHED))
    plane = tsne(
        near.rows,
        principal_components(chosen, every),
        seed=seed,
        progress=_between(report, SEARCHED, DESCENDED if len(others) else STEPS),
    )
    positions[landmarks] = plane
    if len(others):
        last = _between(report, DESCENDED, STEPS)
        positions[others] = place_by_landmarks(embedding, others, chosen, plane, last)
    return positions


def _between(progress: Progress, begin: int, end: int) -> Progress:
    """Map the progress of one stage to a range of the steps."""

    def report(done: int, total: int) -> None:
        progress(begin + (end - begin) * done // max(1, total), STEPS)

    return report
