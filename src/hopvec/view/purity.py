"""Purity: whether nodes of a class lie together on a map."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.labels import Labels


class Purity(NamedTuple):
    """Mean shares, from 0 to 1, of the nearest nodes on a map that share a class with a node."""

    nodes: float
    """The mean over all labeled nodes."""
    classes: float
    """The mean over classes of the mean over their nodes: a small class counts as a large one."""


def purity(
    positions: NDArray[np.float32], embedding: Embedding, labels: Labels, *, k: int = 10
) -> Purity:
    """The mean share of the k nearest labeled nodes on a map that are in a class of a node.

    Row i of `positions` belongs to row i of the embedding. Nodes without a position or a label do
    not count. Of nodes at the same place, which no map tells apart, any may be the nearest.
    """
    from scipy.spatial import cKDTree

    found = labels.align(embedding)
    placed = np.isfinite(positions[found.rows]).all(axis=1)
    plane, members = positions[found.rows[placed]], found.members[placed]
    if len(plane) <= k:
        raise ParameterError(
            f"purity: k must be less than the number of labeled nodes with a position, "
            f"{len(plane):,}, got {k}."
        )
    # one node more than asked for, since a node is its own nearest
    near = cKDTree(plane, leafsize=64, balanced_tree=False).query(plane, k + 1)[1]
    own = near == np.arange(len(plane))[:, None]
    own[:, -1] |= ~own.any(axis=1)
    others = near[~own].reshape(len(plane), k)
    same = np.mean([(members[other] & members).any(axis=1) for other in others.T], axis=0)
    sizes = members.sum(axis=0)
    by_class = (members * same[:, None]).sum(axis=0)[sizes > 0] / sizes[sizes > 0]
    return Purity(float(same.mean()), float(by_class.mean()))
