"""Random embeddings to save, and a comparison with what is loaded."""

import numpy as np
import pyarrow as pa

from hopvec import Embedding
from hopvec.formats import EMBEDDING_FORMATS

SUFFIXES = list(EMBEDDING_FORMATS)
UNTYPED_FORMATS = {".csv", ".tsv", ".csv.gz", ".tsv.gz", ".txt", ".vec", ".bin"}
"""Formats without types and metadata: ids load as integers if all are, parameters are lost."""
WHITESPACE_FORMATS = {".txt", ".vec", ".bin"}
"""Formats whose ids cannot contain whitespace."""

STRINGS = pa.array(
    ["b", "", "é", "日本", "a\nb", "a\0b", "🙂", "x" * 300, 'say "hi"', "a,b\tc\r", " d "],
    pa.large_string(),
)
WORDS = pa.array(
    ["b", "007", "é", "日本", "a\0b", "🙂", "x" * 300, '"hi"', "a,b;c"], pa.large_string()
)
INTEGERS = pa.array([5, -3, 0, 2**63 - 1, -(2**63), 7, 8, 9])


def string_ids(suffix):
    return WORDS if suffix in WHITESPACE_FORMATS else STRINGS


def random_embedding(ids=WORDS, seed=0, dim=5):
    vectors = np.random.default_rng(seed).standard_normal((len(ids), dim)).astype(np.float32)
    parameters = {
        "method": "FastRP",
        "weights": [0.0, 1.5],
        "memory": None,
        "seed": seed,
        "é": "日",
    }
    return Embedding(
        vectors, ids, parameters, {"nodes": len(ids), "volume": 2.5, "directed": False}
    )


def suffix_of(path):
    return "".join(path.suffixes[-2:] if path.suffix == ".gz" else path.suffixes[-1:])


def same_embedding(loaded, embedding, path):
    plain = suffix_of(path) in UNTYPED_FORMATS
    return (
        loaded.vectors.tobytes() == embedding.vectors.tobytes()
        and loaded.vectors.shape == embedding.vectors.shape
        and loaded.ids.equals(embedding.ids)
        and loaded.parameters == ({} if plain else embedding.parameters)
        and loaded.graph == ({} if plain else embedding.graph)
    )


def directory_contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}
