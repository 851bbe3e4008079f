"""An embedding whose vectors form one cluster per class."""

import numpy as np
import pyarrow as pa

from hopvec import Embedding, Labels


def clustered_embedding(nodes=300, classes=4, dim=16, *, isolated=0, seed=0):
    """Vectors around one direction per class; the last `isolated` nodes have zero vectors."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, classes, nodes)
    vectors = rng.standard_normal((classes, dim))[codes] + 0.4 * rng.standard_normal((nodes, dim))
    vectors[nodes - isolated :] = 0
    ids = pa.array([f"node {number}" for number in range(nodes)], pa.large_string())
    labels = Labels.from_pairs(ids, [f"class {'abcdefghijklmnopqrst'[code]}" for code in codes])
    return Embedding(vectors.astype(np.float32), ids), labels
