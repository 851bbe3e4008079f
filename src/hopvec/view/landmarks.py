"""Landmarks: a sample of nodes is laid out; other nodes are placed near their landmarks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.progress import Progress

NEAREST = 5  # landmarks per node


def choose_landmarks(
    rows: NDArray[np.int64], labeled: NDArray[np.int64], count: int, seed: int
) -> NDArray[np.int64]:
    """Draw `count` of the rows at random, labeled rows first; return them in ascending order."""
    order = np.random.default_rng(seed).permutation(rows)
    later = ~np.isin(order, labeled)
    return np.sort(order[np.argsort(later, kind="stable")][:count])


def place_by_landmarks(
    embedding: Embedding,
    rows: NDArray[np.int64],
    landmarks: NDArray[np.int64],
    positions: NDArray[np.float64],
    progress: Progress,
) -> NDArray[np.float64]:
    """[rows, 2]: the median of the positions of the 5 most similar landmarks of each row.

    The mean would place nodes between two clusters in the empty space there.
    """
    nearest = embedding.nearest_rows(rows, NEAREST, among=landmarks, progress=progress).rows
    median: NDArray[np.float64] = np.median(positions[np.searchsorted(landmarks, nearest)], axis=1)
    return median
