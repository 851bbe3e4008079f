"""Fingerprints of vectors, to compare two versions of hopvec: python -m benchmarks.fingerprint.

Prints the SHA-256 of the ids and vectors of many settings, on the bundled graph and on random ones.
Run it with both versions and compare the output: a change that must not change vectors prints the
same lines. It uses public names only, so that older versions can run it.
"""

import hashlib
import logging
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from hopvec import LINE, DeepWalk, Embedding, FastRP, Graph, GraRep, NetMF, Node2Vec, RandNE
from hopvec.datasets import debian
from hopvec.methods.presets import PRESETS

NODES, EDGES = 3000, 20_000


def main() -> None:
    """Print one line per setting."""
    logging.getLogger("hopvec").setLevel(logging.ERROR)
    for name, embedding in embeddings():
        print(f"{name:34} {fingerprint(embedding)}", flush=True)


def fingerprint(embedding: Embedding) -> str:
    """Return the first half of the SHA-256 of ids and vectors, in hexadecimal."""
    digest = hashlib.sha256(np.ascontiguousarray(embedding.vectors).tobytes())
    digest.update(repr(embedding.ids.to_pylist()).encode())
    return digest.hexdigest()[:32]


def embeddings() -> Iterator[tuple[str, Embedding]]:
    """Yield embeddings of all kinds of graphs by all methods, with their names."""
    rng = np.random.default_rng(5)
    source, target = (rng.integers(0, NODES, EDGES) ** 2 // NODES for _ in range(2))
    weight = rng.uniform(0.1, 5, EDGES)
    plain = Graph.from_edges([f"n{i}" for i in source], [f"n{i}" for i in target])
    weighted = Graph.from_edges(source, target, weight)
    directed = Graph.from_edges(source, target, weight, directed=True)
    features = pa.table(
        {
            "id": plain.ids,
            "age": rng.uniform(0, 90, plain.nodes),
            "kind": rng.integers(0, 5, plain.nodes).astype(str),
        }
    )
    packages, _ = debian()
    for preset in PRESETS:
        yield f"preset {preset}", FastRP.preset(preset, dim=64, seed=7).embed(packages)
    for direction in ("out", "in", "both", "concat"):
        method = FastRP(dim=64, seed=3, direction=direction)
        yield f"direction {direction}", method.embed(directed)
    yield "features", FastRP(dim=48, seed=3, feature_weight=2.0).embed(plain, features=features)
    yield "bipartite", FastRP(dim=48, seed=3).embed(Graph.from_bipartite(source, target + 10**6))
    wide = FastRP(dim=48, seed=3, oversample=2)
    old = wide.embed(weighted)
    yield "oversample", old
    yield "like", wide.embed(Graph.from_edges(source[:-500], target[:-500]), like=old)
    new = Graph.from_edges([10**6, 10**6 + 1], [1, 2])
    yield "new nodes", wide.embed_new(new, graph=weighted, like=old)
    for method in (
        FastRP(dim=48, seed=3),
        FastRP(dim=48, seed=3, precision="float16"),
        FastRP(dim=256, seed=3, memory="24MB"),
        FastRP(dim=32, seed=3, oversample=4, spectrum=0.5),
        FastRP(dim=32, seed=3, projection="gaussian"),
        FastRP(dim=32, seed=3, self_weight=1.0, sparsity=3.0),
        RandNE(dim=32, seed=3),
        RandNE(dim=32, seed=3, matrix="adjacency"),
        LINE(dim=32, seed=3, samples=200_000),
        NetMF(dim=32, seed=3),
        NetMF(dim=32, seed=3, rank=64),
        GraRep(dim=32, seed=3),
        DeepWalk(dim=32, seed=3, walks=2),
        Node2Vec(dim=32, seed=3, walks=2, p=0.5),
    ):
        yield repr(method), method.embed(weighted)


if __name__ == "__main__":
    main()
