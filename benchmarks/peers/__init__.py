"""The peers: their titles, environments and descriptions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """A tool that hopvec is compared with."""

    title: str
    environment: str
    """The name of its requirements file in benchmarks/environments."""
    description: str
    """What is run, for docs/reference/benchmarks.md."""
    same_distribution: bool = False
    """Whether it does the same computation as hopvec, so that quality need not be compared."""
    max_nodes: int | None = None
    """The largest graph that it is compared on: a limit of time, or of memory."""


MAX_WALK_NODES = 3_000  # training on random walks takes minutes instead of seconds
MAX_DENSE_NODES = 20_000  # 1.6 GB for a float32 matrix of all pairs

PEERS = {
    "fastrp": Peer(
        "PyPI fastrp",
        "hopvec",
        "Rust, all threads, without beta, s = 3 fixed. Its additional weight, for the random "
        "matrix itself, is 0",
        same_distribution=True,
    ),
    "authors": Peer(
        "authors' code",
        "hopvec",
        "as in the authors' repository: SparseRandomProjection of scikit-learn, then sparse x "
        "sparse products of scipy in float64; one thread",
        same_distribution=True,
    ),
    "scipy": Peer(
        "scipy",
        "hopvec",
        "CSR @ dense products in float32, starting with a dense random matrix; one thread",
        same_distribution=True,
    ),
    "mkl": Peer(
        "MKL",
        "hopvec",
        "the same with the product of Intel MKL, called by sparse-dot-mkl",
        same_distribution=True,
    ),
    "torch": Peer(
        "PyTorch",
        "torch",
        "the same with the product of sparse CSR tensors",
        same_distribution=True,
    ),
    "authors-code": Peer(
        "authors' FastRP",
        "hopvec",
        "the authors' code with its normalization: unit rows for each order, standardized "
        "columns; weights 0, 0, 1, 4, beta -0.75",
    ),
    "pycleora": Peer(
        "pycleora",
        "pycleora",
        "Cleora with its defaults: 40 iterations on hashed vectors, with whitening after each",
    ),
    "pycleora-4": Peer(
        "pycleora, 4 hops",
        "pycleora",
        "the fast mode of Cleora: 4 iterations, with unit rows after each",
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
    "netmf": Peer(
        "exact NetMF",
        "hopvec",
        "`hopvec.NetMF` with its defaults: the eigenvectors of the dense matrix of all pairs that "
        "DeepWalk approximates, window 10",
        max_nodes=MAX_DENSE_NODES,
    ),
    "grape": Peer(
        "GRAPE",
        "grape",
        "DeepWalk with skip-gram, in Rust, with as many walks as the others and one epoch (its "
        "default is 30)",
        max_nodes=MAX_WALK_NODES,
    ),
    "pecanpy": Peer(
        "PecanPy",
        "pecanpy",
        "node2vec with p = q = 1 in FirstOrderUnweighted mode, 10 walks of 80 nodes per node, "
        "window 10, one epoch",
        max_nodes=MAX_WALK_NODES,
    ),
    "fastnode2vec": Peer(
        "fastnode2vec",
        "fastnode2vec",
        "node2vec with p = q = 1, 10 epochs of walks of 80 nodes, window 10",
        max_nodes=MAX_WALK_NODES,
    ),
    "deepwalk": Peer(
        "gensim DeepWalk",
        "gensim",
        "10 walks of 80 nodes per node with numpy, then Word2Vec of gensim: skip-gram, window "
        "10, five negative samples, one epoch",
        max_nodes=MAX_WALK_NODES,
    ),
}
HOPVEC = {
    "hopvec": "hopvec",
    "hopvec-fast": "hopvec, `fast`",
    "hopvec-best": "hopvec, `best`",
    "hopvec-links": "hopvec, `links`",
    "hopvec-float32": "hopvec",
    "hopvec-float16": "hopvec, float16",
}
"""The variants of hopvec: presets, and the computation of the peers in two precisions."""


def environment_of(tool: str) -> str:
    """The environment of a tool."""
    return PEERS[tool].environment if tool in PEERS else "hopvec"


def title_of(tool: str) -> str:
    """The title of a tool in tables and figures."""
    return PEERS[tool].title if tool in PEERS else HOPVEC[tool]
