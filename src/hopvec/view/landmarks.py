"""Landmarks: a sample of nodes is laid out; other nodes are placed near their landmarks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.graph.ids import arrow_view
from hopvec.machine import take_rows
from hopvec.neighbors import NeighborSearch
from hopvec.progress import Progress

NEAREST = 5  # landmarks per node
BLOCK_ROWS = 1 << 15  # nodes that are placed at a time


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
    landmarks: Embedding,
    positions: NDArray[np.float64],
    progress: Progress,
) -> NDArray[np.float64]:
    """[rows, 2]: the median of the positions of the 5 most similar landmarks of each row.

    The mean would place nodes between two clusters in the empty space there.
    """
    search = NeighborSearch(embedding, NEAREST, among=landmarks)
    placed = np.empty((len(rows), 2))
    for first in range(0, len(rows), BLOCK_ROWS):
        some = slice(first, first + BLOCK_ROWS)
        nearest = search.arrays(rows[some]).rows
        placed[some] = np.median(positions[nearest], axis=1)
        progress(min(first + BLOCK_ROWS, len(rows)), len(rows))
    return placed


def copy_rows(embedding: Embedding, rows: NDArray[np.int64]) -> Embedding:
    """An embedding of some rows only."""
    return Embedding(take_rows(embedding.vectors, rows), embedding.ids.take(arrow_view(rows)))
