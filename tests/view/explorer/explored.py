"""Explorations for the tests: three clouds of nodes, their labels and a graph."""

import numpy as np
import pyarrow as pa

from hopvec import Embedding, Graph, Labels

HOSTILE = [
    "<script>document.title = 'broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "\u202eevil\u202c \u200frtl",
    "x" * 10_000,
    "two\nlines",
    'say "hi", = 1',
]
NODES = 300
CLASSES = ["red", "green", "blue"]


def names():
    """Ids of all nodes, the hostile ones first."""
    return pa.array(HOSTILE + [f"node-{at}" for at in range(len(HOSTILE), NODES)])


def embedding(seed=0, noise=0.4, dim=8):
    """Three clouds: node i is in cloud i % 3; the last node has a zero vector."""
    random = np.random.default_rng(seed)
    centers = np.random.default_rng(7).standard_normal((3, dim))
    vectors = centers[np.arange(NODES) % 3] + noise * random.standard_normal((NODES, dim))
    vectors[-1] = 0
    return Embedding(vectors.astype(np.float32), names(), {"method": "Planted"})


def labels():
    """A class for each cloud; the last node has none, and node 0 is in two."""
    ids = [*names().to_pylist()[:-1], names()[0].as_py()]
    return Labels.from_pairs(ids, [*(CLASSES[at % 3] for at in range(NODES - 1)), "blue"])


def graph():
    """Node i has edges to i + 3 and i + 6, in its cloud, and to i + 1; the last has none."""
    edges = [(at, at + step) for at in range(NODES - 1) for step in (1, 3, 6)]
    ids = names().to_pylist()
    source, target = zip(*((one, two) for one, two in edges if two < NODES - 1), strict=True)
    return Graph.from_edges([ids[at] for at in source], [ids[at] for at in target], nodes=ids)


def directed_graph():
    """The edges of `graph`, from the smaller to the larger number."""
    ids = names().to_pylist()
    edges = [(ids[at], ids[at + step]) for at in range(NODES - 7) for step in (1, 3, 6)]
    return Graph.from_edges(*zip(*edges, strict=True), directed=True)


def bipartite_graph():
    """Even nodes have edges to the next odd ones; the first 20 nodes are not in the graph."""
    ids = names().to_pylist()
    edges = [(ids[at], ids[at + step]) for at in range(20, NODES - 10, 2) for step in (1, 3, 7)]
    return Graph.from_bipartite(*zip(*edges, strict=True))
