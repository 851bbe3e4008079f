"""Nodes that come after a run."""

import numpy as np
import pytest

import oracle
from examples import skewed_example
from hopvec import FastRP, Graph, GraphError

CASE = skewed_example(600, 4000, weighted=True, seed=6)
FIRST_NEW = 560
OLD = (CASE.source < FIRST_NEW) & (CASE.target < FIRST_NEW)


def graph_of(edges, nodes=None):
    return Graph.from_edges(CASE.source[edges], CASE.target[edges], CASE.weight[edges], nodes=nodes)


GRAPH, NEW = graph_of(OLD, FIRST_NEW), graph_of(~OLD)
METHODS = {
    "defaults": FastRP(dim=32),
    "compressed": FastRP(dim=16, oversample=3),
    "plain sum": FastRP(dim=32, normalize="none", beta=-0.5, self_weight=0.3),
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def test_it_is_the_formula_with_rows_that_nothing_flows_back_from():
    method = FastRP(dim=24, normalize="none", beta=-0.5, sparsity=3, weights=(1, 0.5, 2))
    old = method.embed(GRAPH)
    new = method.embed_new(NEW, graph=GRAPH, like=old)
    matrix = np.array(CASE.S)
    matrix[:FIRST_NEW, FIRST_NEW:] = 0  # an old node does not see a new one
    alone = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none"}
    R = FastRP(dim=24, sparsity=3, **alone).embed(CASE.graph()).vectors  # noqa: N806
    expected = oracle.embed(matrix, R, 24, [1, 0.5, 2], beta=-0.5)
    expected *= (matrix[:FIRST_NEW].sum() / matrix.sum()) ** 0.5  # 2m is that of the old graph
    rows = new.ids.to_numpy()
    scale = np.abs(expected).max()
    np.testing.assert_allclose(new.vectors, expected[rows], rtol=0, atol=1e-5 * scale)


@every_method
def test_the_new_nodes_alone_have_vectors_and_the_frame_is_kept(method):
    old = method.embed(GRAPH)
    before = old.vectors.copy()
    new = method.embed_new(NEW, graph=GRAPH, like=old)
    assert new.ids.to_pylist() == [id for id in NEW.ids.to_pylist() if id >= FIRST_NEW]
    assert new.vectors.shape == (len(new.ids), method.dim)
    assert new.frame is old.frame
    np.testing.assert_array_equal(old.vectors, before)


@every_method
def test_a_new_node_with_the_edges_of_an_old_one_is_its_neighbour(method):
    ends = {0: 600, **{node: node for node in range(1, 600)}}
    mine = OLD & ((CASE.source == 0) ^ (CASE.target == 0))
    source, target = (
        np.array([ends[int(node)] for node in side[mine]]) for side in (CASE.source, CASE.target)
    )
    twin = Graph.from_edges(source, target, CASE.weight[mine])
    old = method.embed(GRAPH)
    new = method.embed_new(twin, graph=GRAPH, like=old)
    lengths = np.linalg.norm(new.vectors[0]) * np.linalg.norm(old[0])
    assert new.vectors[0] @ old[0] / lengths > 0.9


def test_an_edge_between_old_nodes_is_refused_by_name():
    method = FastRP(dim=8)
    with pytest.raises(GraphError, match="The new edge 1 - 2 joins two nodes that the graph has"):
        method.embed_new(Graph.from_edges([1, 900], [2, 1]), graph=GRAPH, like=method.embed(GRAPH))


def test_new_edges_without_a_new_node_and_ids_of_another_kind_are_refused():
    method = FastRP(dim=8)
    old = method.embed(GRAPH)
    with pytest.raises(GraphError, match="have no node that the graph has not"):
        method.embed_new(Graph.from_edges([1], [2]), graph=GRAPH, like=old)
    with pytest.raises(GraphError, match="are strings, and those of the graph are integers"):
        method.embed_new(Graph.from_edges(["1"], ["x"]), graph=GRAPH, like=old)
