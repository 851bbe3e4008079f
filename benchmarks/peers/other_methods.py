"""Peers with other methods, at the same number of columns; both time and quality are compared.

A peer is a function (adjacency, *, dim) or (adjacency, *, dim, seed) that converts the input to the
tool's preferred format and returns the step to be timed, which gives rows in the order of the
matrix. OMP_NUM_THREADS sets the number of threads. Each function imports its own tool only, in its
own environment.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.peers.same_distribution import SEED, Embed, authors_orders, transition

WALKS, LENGTH, WINDOW = 10, 80, 10  # walks per node, nodes per walk, and window size of node2vec


def threads() -> int:
    """The number of threads that a tool may use."""
    return int(os.environ.get("OMP_NUM_THREADS", "1"))


def edges(adjacency: sp.csr_matrix) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The sources and targets of the edges, each edge once."""
    upper = sp.triu(adjacency).tocoo()
    return upper.row, upper.col


def in_rows(nodes: int, dim: int, ids: Sequence[Any], vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Vectors in the order of the matrix; 0 for isolated nodes, which some tools omit."""
    rows = np.zeros((nodes, dim), np.float32)
    rows[np.fromiter((int(id) for id in ids), np.int64, len(ids))] = vectors
    return rows


def authors_code(adjacency: sp.csr_matrix, *, dim: int, seed: int = SEED) -> Embed:
    """The authors' code with its normalization; weights and beta as in the preset of hopvec."""
    from sklearn.preprocessing import normalize, scale

    A, weights = transition(adjacency, np.float64), (0.0, 0.0, 1.0, 4.0)  # noqa: N806

    def embed() -> NDArray[Any]:
        orders = zip(weights, authors_orders(adjacency, A, dim, -0.75, seed), strict=False)
        total = sum(weight * normalize(N) for weight, N in orders if weight)
        return np.asarray(scale(total.toarray()))

    return embed


def pycleora(adjacency: sp.csr_matrix, *, dim: int) -> Embed:
    """Cleora with its defaults: 40 iterations, with whitening after each."""
    from pycleora import embed

    return cleora(adjacency, dim, lambda graph: embed(graph, dim, num_workers=threads()))


def pycleora_4(adjacency: sp.csr_matrix, *, dim: int) -> Embed:
    """The fast mode of Cleora: 4 iterations, with unit rows after each."""
    from pycleora import embed

    return cleora(
        adjacency,
        dim,
        lambda graph: embed(graph, dim, num_iterations=4, whiten=False, num_workers=threads()),
    )


def cleora(adjacency: sp.csr_matrix, dim: int, embed: Any) -> Embed:
    """The common part: a graph from lines of two ids, which determines its own order."""
    from pycleora import SparseMatrix

    lines = (f"{source} {target}" for source, target in zip(*edges(adjacency), strict=True))
    graph = SparseMatrix.from_iterator(lines, "complex::reflexive::node")
    ids, nodes = graph.entity_ids, adjacency.shape[0]
    return lambda: in_rows(nodes, dim, ids, embed(graph))


def scikit_network(adjacency: sp.csr_matrix, *, dim: int, seed: int = SEED) -> Embed:
    """RandomProjection with its defaults."""
    from sknetwork.embedding import RandomProjection

    method = RandomProjection(n_components=dim, random_state=seed)
    return lambda: np.asarray(method.fit_transform(adjacency))


def prone(adjacency: sp.csr_matrix, *, dim: int) -> Embed:
    """ProNE of nodevectors, with its defaults."""
    import csrgraph
    from nodevectors import ProNE

    graph = csrgraph.csrgraph(adjacency, nodenames=np.arange(adjacency.shape[0]))
    return lambda: np.asarray(ProNE(n_components=dim, verbose=False).fit_transform(graph))


def netmf(adjacency: sp.csr_matrix, *, dim: int, seed: int = SEED) -> Embed:
    """NetMF of hopvec, with its defaults: the exact factorization that DeepWalk approximates."""
    from hopvec import Graph, NetMF

    graph = Graph.from_scipy(adjacency)
    return lambda: np.asarray(NetMF(dim=dim, seed=seed, threads=threads()).embed(graph).vectors)


def grape(adjacency: sp.csr_matrix, *, dim: int) -> Embed:
    """DeepWalk with skip-gram of GRAPE, with one epoch like the others; its default is 30."""
    import pandas as pd
    from ensmallen import Graph
    from grape.embedders import DeepWalkSkipGramEnsmallen

    source, target = edges(adjacency)
    graph = Graph.from_pd(
        directed=False,
        edges_df=pd.DataFrame({"source": source.astype(str), "target": target.astype(str)}),
        node_name_column="name",
        nodes_df=pd.DataFrame({"name": np.arange(adjacency.shape[0]).astype(str)}),
        edge_src_column="source",
        edge_dst_column="target",
    )
    ids = graph.get_node_names()

    def embed() -> NDArray[Any]:
        method = DeepWalkSkipGramEnsmallen(
            embedding_size=dim,
            iterations=WALKS,
            walk_length=LENGTH,
            window_size=WINDOW,
            epochs=1,
            verbose=False,
        )
        found = method.fit_transform(graph, return_dataframe=False)
        vectors = found.get_all_node_embedding()[0]
        return in_rows(len(ids), dim, ids, np.asarray(vectors))

    return embed


def pecanpy(adjacency: sp.csr_matrix, *, dim: int, seed: int = SEED) -> Embed:
    """node2vec of PecanPy with p = q = 1, in its mode for that case."""
    from pecanpy.pecanpy import FirstOrderUnweighted

    graph = FirstOrderUnweighted(p=1, q=1, workers=threads(), random_state=seed)
    graph.indptr = adjacency.indptr.astype(np.uint32)
    graph.indices = adjacency.indices.astype(np.uint32)
    graph.data = adjacency.data.astype(np.float32)
    graph.set_node_ids(None, implicit_ids=True, num_nodes=adjacency.shape[0])
    sizes = {"num_walks": WALKS, "walk_length": LENGTH, "window_size": WINDOW}
    return lambda: np.asarray(graph.embed(dim=dim, **sizes))


def fastnode2vec(adjacency: sp.csr_matrix, *, dim: int, seed: int = SEED) -> Embed:
    """node2vec of fastnode2vec with p = q = 1."""
    from fastnode2vec import Graph, Node2Vec

    pairs = list(zip(*(end.tolist() for end in edges(adjacency)), strict=True))
    graph, nodes = Graph(pairs, directed=False, weighted=False, verbose=False), adjacency.shape[0]

    def embed() -> NDArray[Any]:
        model = Node2Vec(graph, dim, LENGTH, WINDOW, workers=threads(), seed=seed)
        model.train(WALKS, verbose=False)
        return in_rows(nodes, dim, model.wv.index_to_key, model.wv.vectors)

    return embed


def deepwalk(adjacency: sp.csr_matrix, *, dim: int, seed: int = SEED) -> Embed:
    """DeepWalk with walks in numpy, all nodes at once, then gensim."""
    from gensim.models import Word2Vec

    nodes = adjacency.shape[0]

    def embed() -> NDArray[Any]:
        sentences = [list(map(str, walk)) for walk in walks(adjacency, seed)]
        model = Word2Vec(
            sentences,
            vector_size=dim,
            window=WINDOW,
            sg=1,
            negative=5,
            min_count=0,
            epochs=1,
            workers=threads(),
            seed=seed,
        )
        return in_rows(nodes, dim, model.wv.index_to_key, model.wv.vectors)

    return embed


def walks(adjacency: sp.csr_matrix, seed: int) -> Iterator[list[int]]:
    """Uniform walks from every node with a neighbor, one round after the other."""
    rng, degree = np.random.default_rng(seed), np.diff(adjacency.indptr)
    connected = np.flatnonzero(degree)
    for _ in range(WALKS):
        steps = [rng.permutation(connected)]
        for _ in range(LENGTH - 1):
            offset = (rng.random(len(connected)) * degree[steps[-1]]).astype(np.int64)
            steps.append(adjacency.indices[adjacency.indptr[steps[-1]] + offset])
        yield from np.stack(steps, axis=1).tolist()
