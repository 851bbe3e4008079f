"""The peers: what each is, the environment it lives in, and the function that runs it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """A tool that hopvec is compared with."""

    title: str
    environment: str
    """Its file of requirements in benchmarks/environments."""
    way: str
    """What is run, in a sentence of docs/benchmarks.md."""
    same_law: bool = False
    """Whether it computes what hopvec computes, so that only time and memory are left."""
    walks: bool = False
    """Whether it trains on random walks, which takes minutes where others take seconds."""


PEERS = {
    "fastrp": Peer(
        "PyPI fastrp",
        "hopvec",
        "Rust, all threads; it has no beta and a fixed s = 3. It takes one weight more, for the "
        "random matrix itself, which is 0 here",
        same_law=True,
    ),
    "authors": Peer(
        "authors' way",
        "hopvec",
        "as the authors' code computes it: scikit-learn's SparseRandomProjection, then "
        "sparse x sparse products of scipy in float64, one thread",
        same_law=True,
    ),
    "scipy": Peer(
        "scipy",
        "hopvec",
        "CSR @ dense in float32, hop by hop, on a dense random block; one thread",
        same_law=True,
    ),
    "mkl": Peer(
        "MKL", "hopvec", "the same with Intel's product, through sparse-dot-mkl", same_law=True
    ),
    "torch": Peer(
        "PyTorch", "torch", "the same with the product of sparse CSR tensors", same_law=True
    ),
    "authors-code": Peer(
        "authors' FastRP",
        "hopvec",
        "the authors' way with the normalization of their code: unit rows for each order, columns "
        "standardized; weights 0, 0, 1, 4, beta -0.75",
    ),
    "pycleora": Peer(
        "pycleora",
        "pycleora",
        "Cleora with its defaults: 40 iterations on hashed vectors, columns made independent after "
        "each",
    ),
    "pycleora-4": Peer(
        "pycleora, 4 hops",
        "pycleora",
        "Cleora by its fast path: 4 iterations, rows of norm 1 after each",
    ),
    "scikit-network": Peer(
        "scikit-network",
        "scikit-network",
        "RandomProjection with its defaults: three iterations of the adjacency matrix on "
        "orthogonal Gaussian columns, in float64",
    ),
    "prone": Peer(
        "nodevectors ProNE",
        "nodevectors",
        "ProNE with its defaults: a truncated SVD, then Chebyshev filters",
    ),
    "grape": Peer(
        "GRAPE",
        "grape",
        "DeepWalk by skip-gram, in Rust, with as many walks as the others and one epoch (its "
        "default is 30)",
        walks=True,
    ),
    "pecanpy": Peer(
        "PecanPy",
        "pecanpy",
        "node2vec, p = q = 1, by its mode for that, 10 walks of 80 nodes a node, window 10, one "
        "epoch",
        walks=True,
    ),
    "fastnode2vec": Peer(
        "fastnode2vec",
        "fastnode2vec",
        "node2vec, p = q = 1, 10 epochs of walks of 80 nodes, window 10",
        walks=True,
    ),
    "deepwalk": Peer(
        "gensim DeepWalk",
        "gensim",
        "10 walks of 80 nodes a node by numpy, then gensim's Word2Vec: skip-gram, window 10, five "
        "negative samples, one epoch",
        walks=True,
    ),
}
HOPVEC = {
    "hopvec": "hopvec",
    "hopvec-fast": "hopvec, `fast`",
    "hopvec-best": "hopvec, `best`",
    "hopvec-float32": "hopvec",
    "hopvec-float16": "hopvec, float16",
}
"""hopvec's own sides: three presets with all their defaults, and the law of the peers above."""


def environment_of(tool: str) -> str:
    """The environment that a tool runs in."""
    return PEERS[tool].environment if tool in PEERS else "hopvec"


def title_of(tool: str) -> str:
    """A tool as tables and pictures call it."""
    return PEERS[tool].title if tool in PEERS else HOPVEC[tool]
