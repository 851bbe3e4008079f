"""Random graphs with held-out edges, and their edges as plain Python objects."""

from hypothesis import assume
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from example_graphs import examples
from hopvec.evaluate import hold_out
from hopvec.evaluate.pairs import SAMPLINGS, Pairs


def ends(table):
    return list(zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True))


def edges_of(graph):
    """All edges except loops, with their weights; undirected edges are frozensets."""
    matrix = graph.to_scipy().tocoo()
    ids = graph.ids.to_pylist()
    every = zip(*(part.tolist() for part in (*matrix.coords, matrix.data)), strict=True)
    return {
        (ids[u], ids[v]) if graph.directed else frozenset((ids[u], ids[v])): weight
        for u, v, weight in every
        if u != v
    }


def as_keys(graph, table):
    return [pair if graph.directed else frozenset(pair) for pair in ends(table)]


def components(graph):
    return connected_components(graph.to_scipy(), directed=True, connection="weak")[1].tolist()


def max_held_out(graph):
    """The number of edges, without loops, that a spanning forest does not need."""
    return len(edges_of(graph)) - (graph.nodes - max(components(graph)) - 1)


@st.composite
def edge_splits(draw):
    """A graph, and some of its edges held out without splitting a component."""
    graph = draw(examples()).graph()
    limit = max_held_out(graph)
    assume(limit > 0)
    count = draw(st.integers(1, limit))
    pairs = Pairs(graph)
    possible = [how for how in SAMPLINGS if count <= pairs.count_free(pairs.edges, how)]
    sampling = "both" if len(possible) == 2 else (possible or ["uniform"])[0]
    held_out = hold_out(
        graph,
        count=count,
        negatives=1 if possible else 0,
        sampling=sampling,
        seed=draw(st.integers(0, 9)),
    )
    return graph, held_out
