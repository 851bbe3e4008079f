"""Small example graphs, as edge lists and as the dense matrix S of the formulas."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from hypothesis import strategies as st

import hopvec
from hopvec.spill import SpillFile


@dataclass(frozen=True)
class Example:
    """Edges over the nodes 0 .. nodes-1. Multi-edges are summed, an undirected loop counts once."""

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray | None
    nodes: int
    directed: bool = False

    def graph(self, **options):
        return hopvec.Graph.from_edges(
            self.source,
            self.target,
            self.weight,
            nodes=self.nodes,
            directed=self.directed,
            **options,
        )

    @cached_property
    def S(self):  # noqa: N802
        matrix = np.zeros((self.nodes, self.nodes))
        weight = np.ones(len(self.source)) if self.weight is None else self.weight
        np.add.at(matrix, (self.source, self.target), weight)
        if not self.directed:
            other = self.source != self.target
            np.add.at(matrix, (self.target[other], self.source[other]), weight[other])
        return matrix


def on_disk(graph, part):
    """An array of a graph, memory-mapped as if it did not fit in memory."""
    array = getattr(graph, part)
    if array is None:
        return None
    file = SpillFile()
    file.append(array)
    return file.mapped(array.dtype)


def example(pairs, nodes, weight=None, directed=False):
    source, target = np.asarray(pairs, np.int64).reshape(-1, 2).T
    weight = None if weight is None else np.asarray(weight, np.float32)
    return Example(
        np.ascontiguousarray(source), np.ascontiguousarray(target), weight, nodes, directed
    )


def random_example(nodes, edges, *, seed=0, weighted=False, directed=False, isolated=0):
    """Edges between uniformly random nodes; the last `isolated` nodes have none."""
    random = np.random.default_rng(seed)
    pairs = random.integers(0, nodes - isolated, (edges, 2))
    weight = random.lognormal(size=edges) if weighted else None
    return example(pairs, nodes, weight, directed)


def skewed_example(nodes, edges, *, seed=0, weighted=False, directed=False):
    """A connected graph with power-law degrees: a random tree below a few hubs, and extra edges."""
    random = np.random.default_rng(seed)
    tree = [(node, int(node * random.random() ** 2)) for node in range(1, nodes)]
    ends = (nodes * random.random((edges - len(tree), 2)) ** 3).astype(np.int64)
    weight = random.lognormal(size=edges) if weighted else None
    return example(np.concatenate([tree, ends]), nodes, weight, directed)


def star(nodes):
    return [(0, leaf) for leaf in range(1, nodes)]


def path(nodes):
    return [(node, node + 1) for node in range(nodes - 1)]


def complete(nodes):
    return [(u, v) for u in range(nodes) for v in range(u)]


def two_components(nodes):
    half = nodes // 2
    return complete(half) + [(half + u, half + v) for u, v in path(nodes - half)]


def hub(nodes):
    return star(nodes) + path(nodes)


def loops(nodes):
    return path(nodes) + [(node, node) for node in range(0, nodes, 2)]


SHAPES = (star, path, complete, two_components, hub, loops)

weights = st.one_of(
    st.integers(1, 5).map(float),
    st.floats(2.0**-6, 2.0**6, width=32),
)


@st.composite
def examples(draw, directed=None):
    """Any small graph: directed or not, weighted or not, loops, multi-edges, isolated nodes."""
    nodes = draw(st.integers(1, 24))
    if draw(st.booleans()):
        pairs = draw(st.sampled_from(SHAPES))(nodes)
        nodes += draw(st.integers(0, 2))  # isolated nodes
    else:
        node = st.integers(0, nodes - 1)
        pairs = draw(st.lists(st.tuples(node, node), max_size=3 * nodes))
    weight = None
    if draw(st.booleans()):
        weight = draw(st.lists(weights, min_size=len(pairs), max_size=len(pairs)))
    return example(pairs, nodes, weight, draw(st.booleans()) if directed is None else directed)
