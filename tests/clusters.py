"""Embeddings of clusters with known classes, for the tests of layouts and maps."""

import numpy as np
import pyarrow as pa

from hopvec import Embedding, Labels


def clusters(nodes=300, classes=4, dim=16, *, isolated=0, seed=0):
    """Nodes around as many directions as there are classes; the last ones have zero vectors."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, nodes)
    vectors = rng.standard_normal((classes, dim))[codes] + 0.4 * rng.standard_normal((nodes, dim))
    vectors[nodes - isolated :] = 0
    ids = pa.array([f"node {number}" for number in range(nodes)], pa.large_string())
    labels = Labels.from_pairs(ids, [f"class {'abcdefghijklmnopqrst'[code]}" for code in codes])
    return Embedding(vectors.astype(np.float32), ids), labels
