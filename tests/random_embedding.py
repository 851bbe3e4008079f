"""Embeddings with random vectors."""

import numpy as np
import pyarrow as pa

from hopvec import Embedding


def embedding_of(ids, *, dim=8, seed=0):
    vectors = np.random.default_rng(seed).standard_normal((len(ids), dim)).astype(np.float32)
    return Embedding(vectors, pa.array(ids))
