"""Vectors of new nodes, which were not in the graph of the run."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import oracle
from example_graphs import skewed_example
from hopvec import Embedding, FastRP, Graph, GraphError, MemoryLimitError, datasets
from hopvec.evaluate import HeldOut, predict_links
from one_pass import one_pass

CASE = skewed_example(600, 4000, weighted=True, seed=6)
FIRST_NEW = 560
OLD = (CASE.source < FIRST_NEW) & (CASE.target < FIRST_NEW)


def graph_of(edges, nodes=None):
    return Graph.from_edges(CASE.source[edges], CASE.target[edges], CASE.weight[edges], nodes=nodes)


GRAPH, NEW = graph_of(OLD, FIRST_NEW), graph_of(~OLD)
METHODS = {
    "defaults": one_pass(dim=32),
    "compressed": one_pass(dim=16, oversample=3),
    "plain sum": one_pass(dim=32, normalize="none", beta=-0.5, self_weight=0.3),
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def test_they_follow_the_formula_without_edges_back():
    method = one_pass(dim=24, normalize="none", beta=-0.5, sparsity=3, weights=(1, 0.5, 2))
    old = method.embed(GRAPH)
    new = method.embed_new(NEW, graph=GRAPH, like=old)
    matrix = np.array(CASE.S)
    matrix[:FIRST_NEW, FIRST_NEW:] = 0  # no edge leads from an old node to a new one
    alone = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none"}
    R = one_pass(dim=24, sparsity=3, **alone).embed(CASE.graph()).vectors  # noqa: N806
    expected = oracle.embed(matrix, R, 24, [1, 0.5, 2], beta=-0.5)
    expected *= (matrix[:FIRST_NEW].sum() / matrix.sum()) ** 0.5  # 2m is that of the old graph
    rows = new.ids.to_numpy()
    scale = np.abs(expected).max()
    np.testing.assert_allclose(new.vectors, expected[rows], rtol=0, atol=1e-5 * scale)


@every_method
def test_only_new_nodes_are_returned_with_the_shared_fitted_state(method):
    old = method.embed(GRAPH)
    before = old.vectors.copy()
    new = method.embed_new(NEW, graph=GRAPH, like=old)
    assert new.ids.to_pylist() == [id for id in NEW.ids.to_pylist() if id >= FIRST_NEW]
    assert new.vectors.shape == (len(new.ids), method.dim)
    assert new.fitted_state is old.fitted_state
    np.testing.assert_array_equal(old.vectors, before)


@every_method
def test_a_new_node_with_the_edges_of_an_old_one_is_its_neighbor(method):
    ends = {0: 600, **{node: node for node in range(1, 600)}}
    mine = OLD & ((CASE.source == 0) ^ (CASE.target == 0))
    source, target = (
        np.array([ends[int(node)] for node in side[mine]]) for side in (CASE.source, CASE.target)
    )
    copied = Graph.from_edges(source, target, CASE.weight[mine])
    old = method.embed(GRAPH)
    new = method.embed_new(copied, graph=GRAPH, like=old)
    lengths = np.linalg.norm(new.vectors[0]) * np.linalg.norm(old[0])
    assert new.vectors[0] @ old[0] / lengths > 0.9


def test_an_edge_between_old_nodes_is_rejected_by_name():
    method = one_pass(dim=8)
    with pytest.raises(
        GraphError, match="The new edge 1 - 2 joins two nodes that are already in the graph"
    ):
        method.embed_new(Graph.from_edges([1, 900], [2, 1]), graph=GRAPH, like=method.embed(GRAPH))


def test_new_edges_without_new_nodes_or_with_ids_of_another_type_are_rejected():
    method = one_pass(dim=8)
    old = method.embed(GRAPH)
    with pytest.raises(GraphError, match="All nodes of the new edges are already in the graph"):
        method.embed_new(Graph.from_edges([1], [2]), graph=GRAPH, like=old)
    with pytest.raises(GraphError, match="are strings, but those of the graph are integers"):
        method.embed_new(Graph.from_edges(["1"], ["x"]), graph=GRAPH, like=old)


class TestTransform:
    """`transform` is the counterpart of embed_new in scikit-learn."""

    @every_method
    def test_the_edges_of_new_nodes_give_their_vectors(self, method):
        expected = method.embed_new(NEW, graph=GRAPH, like=method.embed(GRAPH)).vectors
        np.testing.assert_array_equal(method.fit(GRAPH).transform(NEW), expected)

    def test_a_table_of_edges_is_accepted(self):
        method = one_pass(dim=8).fit(pa.table({"source": ["a", "a"], "target": ["b", "c"]}))
        assert method.transform(pa.table({"source": ["d"], "target": ["a"]})).shape == (1, 8)

    def test_the_fitted_graph_has_the_fitted_vectors(self):
        method = one_pass(dim=8)
        np.testing.assert_array_equal(method.fit_transform(GRAPH), method.transform(GRAPH))

    def test_edges_between_old_nodes_are_rejected(self):
        method = one_pass(dim=8).fit(Graph.from_edges(["a", "b"], ["b", "c"]))
        with pytest.raises(
            GraphError, match="'a' - 'c' joins two nodes that are already in the graph"
        ):
            method.transform(Graph.from_edges(["a", "d"], ["c", "a"]))


def test_links_of_new_packages_are_predicted_better_than_by_the_mean_of_neighbors():
    """Half of the edges of a tenth of Debian's packages are hidden and predicted."""
    whole, random, method = datasets.debian()[0], np.random.default_rng(0), one_pass(dim=64)
    later = random.random(whole.nodes) < 0.1
    entries = whole.to_scipy().tocoo()

    def pairs(chosen):
        return whole.ids.take(entries.row[chosen]), whole.ids.take(entries.col[chosen])

    between_old = ~later[entries.row] & ~later[entries.col] & (entries.row < entries.col)
    old = Graph.from_edges(*pairs(between_old), nodes=whole.ids.filter(pa.array(~later)))
    theirs = later[entries.row] & ~later[entries.col]
    shown = theirs & (random.random(len(theirs)) < 0.5)
    hidden = theirs & ~shown & np.isin(entries.row, entries.row[shown])
    first = method.embed(old)
    then = method.embed_new(Graph.from_edges(*pairs(shown)), graph=old, like=first)

    rows, columns = (
        pc.index_in(*both) for both in zip(pairs(shown), (then.ids, old.ids), strict=True)
    )
    sums = np.zeros_like(then.vectors)
    np.add.at(sums, rows.to_numpy(), first.vectors[columns.to_numpy()])
    means = sums / np.bincount(rows.to_numpy())[:, None]

    source, target = pairs(hidden)
    others = old.ids.take(random.integers(old.nodes, size=len(source)))
    ids = pa.concat_arrays([old.ids, then.ids])
    learned_from = Graph.from_edges(*pairs(between_old), nodes=ids)
    tables = (pa.table({"source": source, "target": ends}) for ends in (target, others))
    edges, negatives = tables
    links = HeldOut(learned_from, edges, {"given": negatives})
    by_embed_new, by_means = (
        predict_links(Embedding(np.concatenate([first.vectors, new]), ids), links).scores["given"]
        for new in (then.vectors, means)
    )
    assert by_embed_new["hadamard"].auc > 0.92
    assert by_embed_new["hadamard"].auc > by_means["hadamard"].auc
    assert by_embed_new["dot"].auc > by_means["dot"].auc + 0.005


def test_new_nodes_without_a_path_to_old_ones_cause_a_warning_and_have_zero_vectors(caplog):
    method = one_pass(dim=16, sparsity=400)
    old = method.embed(GRAPH)
    got = method.embed_new(Graph.from_edges([1001], [1002]), graph=GRAPH, like=old)
    assert not got.vectors.any()
    assert "Zero vectors: 2 of 2 nodes, although they have outgoing edges" in caplog.text


def test_a_memory_limit_is_checked_before_the_graph_is_extended(monkeypatch):
    source, target = np.random.default_rng(0).integers(0, 3000, (2, 30_000))
    graph, method = Graph.from_edges(source, target), FastRP(dim=16, passes=1)
    like, new = method.embed(graph), Graph.from_edges([3000, 3000], [0, 1])
    enough = method.set_params(memory="20MB").embed_new(new, graph=graph, like=like)
    assert enough.ids.to_pylist() == [3000]
    monkeypatch.setattr("hopvec.methods.new_nodes.append_new_nodes", None)
    with pytest.raises(MemoryLimitError, match=r"needs at least .* for adding them to the graph"):
        method.set_params(memory="2MB").embed_new(new, graph=graph, like=like)


def test_the_plan_counts_the_graph_without_the_new_nodes(monkeypatch):
    graph, new = Graph.from_edges(range(99), range(1, 100)), Graph.from_edges([100], [0])
    method, plans = FastRP(dim=16), []
    like, compute = method.embed(graph), FastRP._compute_along

    def recorded(self, hops, plan, *arguments, **options):
        plans.append(plan)
        return compute(self, hops, plan, *arguments, **options)

    monkeypatch.setattr(FastRP, "_compute_along", recorded)
    method.embed_new(new, graph=graph, like=like)
    assert plans[0].bytes.working["graph without new nodes"] > graph.nbytes
