"""purity: whether nodes of a class lie close together on a map."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.labels import Labels


class Purity(NamedTuple):
    """The mean share, from 0 to 1, of nearest nodes on a map that share a class with a node.

    Attributes
    ----------
    nodes : float
        The mean over all labeled nodes.
    classes : float
        The mean over classes of the mean over their nodes: all classes have the same weight.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, Labels, view
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> embedding = FastRP(dim=8).embed(graph)
    >>> labels = Labels.from_pairs(range(6), "aaabbb")
    >>> positions = view.layout(embedding, kind="pca")
    >>> view.purity(positions, embedding, labels, k=2).classes
    1.0
    """

    nodes: float
    classes: float


def purity(
    positions: NDArray[np.float32], embedding: Embedding, labels: Labels, *, k: int = 10
) -> Purity:
    """Measure the share of the k nearest labeled nodes on a map that share a class with a node.

    Nodes without a position or a label are ignored. Ties between nodes at the same position are
    broken arbitrarily.

    Parameters
    ----------
    positions : array of float32, shape (n, 2)
        The position of each row of the embedding.
    embedding : Embedding
        The embedding that the positions belong to.
    labels : Labels
        The classes of nodes.
    k : int, default=10
        Number of nearest nodes.

    Returns
    -------
    Purity
        The mean over nodes and the mean over classes.

    Raises
    ------
    ParameterError
        If there are not more than k labeled nodes with a position.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, Labels, view
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> embedding = FastRP(dim=8).embed(graph)
    >>> labels = Labels.from_pairs(range(6), "aaabbb")
    >>> positions = view.layout(embedding, kind="pca")
    >>> view.purity(positions, embedding, labels, k=2)
    Purity(nodes=1.0, classes=1.0)
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
    # k + 1 nodes, since each node is its own nearest
    near = cKDTree(plane, leafsize=64, balanced_tree=False).query(plane, k + 1)[1]
    own = near == np.arange(len(plane))[:, None]
    own[:, -1] |= ~own.any(axis=1)
    others = near[~own].reshape(len(plane), k)
    same = np.mean([(members[other] & members).any(axis=1) for other in others.T], axis=0)
    sizes = members.sum(axis=0)
    by_class = (members * same[:, None]).sum(axis=0)[sizes > 0] / sizes[sizes > 0]
    return Purity(float(same.mean()), float(by_class.mean()))
