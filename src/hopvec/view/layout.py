"""Where vectors lie in the plane: t-SNE fed with exact neighbors, or the first two components."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.progress import Progress, no_progress
from hopvec.view.components import principal_components
from hopvec.view.landmarks import choose_landmarks, place_by_landmarks
from hopvec.view.tsne import require_extra, tsne

Kind = Literal["tsne", "pca"]

NEIGHBORS = 15  # that a node is pulled to
LANDMARKS_FROM = 50_000  # nodes from which only some are laid out by t-SNE
LANDMARKS = 20_000
PARTS = 1000  # that progress is told in
SEARCHED, DESCENDED = 350, 750  # parts that are done after the search for neighbors, and t-SNE


def layout(
    embedding: Embedding,
    *,
    kind: Kind = "tsne",
    seed: int = 0,
    labeled: NDArray[np.int64] | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Positions in the plane, float32[n, 2]; zero vectors have none, which is nan.

    "tsne" starts at the first two principal components of the unit rows and pulls each node to its
    15 nearest by cosine, exact ones, with equal force (openTSNE). Above 50,000 nodes this is done
    for 20,000 landmarks, drawn by the seed, of the rows that are `labeled` first; every other node
    comes to the median of its 5 nearest landmarks. "pca" stays at the start, and needs no extra.

    The same bytes for the same seed, whatever the number of threads. `progress` is called with the
    parts of the work that are done and their number.
    """
    if kind not in get_args(Kind):
        raise ParameterError(f"layout: kind must be 'tsne' or 'pca', got {kind!r}.")
    tell = progress or no_progress
    rows = np.flatnonzero(embedding.inverse_norms)
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
    near = embedding.nearest_rows(
        landmarks, NEIGHBORS, among=landmarks, progress=_between(tell, 0, SEARCHED)
    )
    plane = tsne(
        np.searchsorted(landmarks, near.rows),
        principal_components(embedding, landmarks),
        seed=seed,
        progress=_between(tell, SEARCHED, DESCENDED if len(others) else PARTS),
    )
    positions[landmarks] = plane
    if len(others):
        last = _between(tell, DESCENDED, PARTS)
        positions[others] = place_by_landmarks(embedding, others, landmarks, plane, last)
    return positions


def _between(progress: Progress, begin: int, end: int) -> Progress:
    """The progress of a stage, as parts of the whole."""

    def tell(done: int, of: int) -> None:
        progress(begin + (end - begin) * done // max(1, of), PARTS)

    return tell
