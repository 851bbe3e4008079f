"""The largest component, compared with that of scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from hopvec import Graph


def largest_by_scipy(graph):
    _, component = connected_components(graph.to_scipy(), directed=graph.directed)
    return np.bincount(component).max()


@given(
    nodes=st.integers(1, 40),
    edges=st.integers(0, 40),
    seed=st.integers(0, 99),
    directed=st.booleans(),
)
def test_the_largest_component_matches_scipy(nodes, edges, seed, directed):
    source, target = np.random.default_rng(seed).integers(0, nodes, (2, edges))
    graph = Graph.from_edges(source, target, nodes=nodes, directed=directed)
    assert graph.largest_component == largest_by_scipy(graph)


@pytest.mark.parametrize("seed", range(3))
def test_a_long_path_is_one_component(seed):
    order = np.random.default_rng(seed).permutation(20_000)
    graph = Graph.from_edges(order[:-1], order[1:])
    assert graph.largest_component == 20_000


def test_components_ignore_the_direction_of_edges():
    assert Graph.from_edges([0, 2], [1, 1], directed=True).largest_component == 3


def test_a_graph_without_edges_has_components_of_one_node():
    assert Graph.from_edges([], [], nodes=["a", "b"]).largest_component == 1
