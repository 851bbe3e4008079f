"""Random walks: their distribution, the reference implementation, independence of threads."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import oracle
import reference_sampling
from example_graphs import example as example_of
from example_graphs import examples, hub, random_example, skewed_example
from hopvec import Graph, _native
from hopvec.engine.walks import Walks
from hopvec.spill import SpillFile


def distinct(case):
    """The same graph without duplicate edges."""
    pairs = np.column_stack([case.source, case.target])
    pairs = pairs if case.directed else np.sort(pairs, axis=1)
    return example_of(np.unique(pairs, axis=0), case.nodes, directed=case.directed)


BIASES = [(0.1, 10.0), (10.0, 0.1), (0.1, 0.1), (10.0, 10.0), (1.0, 0.25), (4.0, 1.0)]
GRAPHS = {
    "unweighted": distinct(random_example(9, 22, seed=1)),
    "weighted": random_example(9, 18, seed=2, weighted=True),
    "directed": distinct(random_example(9, 35, seed=3, directed=True)),
    "directed and weighted": random_example(9, 30, seed=4, directed=True, weighted=True),
    "a hub with very unequal weights": example_of(hub(9), 9, [10.0 ** (k % 3) for k in range(16)]),
}
every_graph = pytest.mark.parametrize("kind", GRAPHS)


def walks_of(graph, *, rounds=1, length=10, p=1.0, q=1.0, seed=0, threads=2):
    return Walks(graph, rounds, length, p, q, seed, threads)


def all_walks(graph, size=10**6, **options):
    """All walks as one array of node numbers."""
    walks = walks_of(graph, **options)
    return np.concatenate([np.empty((0, walks.length), np.int32), *walks.blocks(size)])


def dense(graph):
    """S in the graph's internal order."""
    matrix = graph.to_scipy().toarray().astype(np.float64)
    return matrix[np.ix_(graph.rows, graph.rows)]


def likelihood(counts, probabilities):
    """The p-value of a chi-square test of counts against the probabilities in each row."""
    expected = counts.sum(axis=-1, keepdims=True) * probabilities
    assert counts[expected == 0].sum() == 0  # no impossible step
    frequent = expected >= 5
    statistic = ((counts - expected)[frequent] ** 2 / expected[frequent]).sum()
    freedom = frequent.sum() - frequent.any(axis=-1).sum()
    assert freedom > 10
    return stats.chi2.sf(statistic, freedom)


def counts_of(walks, nodes, memory):
    """How often each node followed each sequence of `memory` nodes: [nodes] * (memory + 1)."""
    shape = (nodes,) * (memory + 1)
    parts = [walks[:, k : walks.shape[1] - memory + k] for k in range(memory + 1)]
    valid = parts[-1] >= 0
    sequences = np.ravel_multi_index([part[valid] for part in parts], shape)
    return np.bincount(sequences, minlength=np.prod(shape)).reshape(shape)


class TestDistribution:
    @every_graph
    def test_first_order_steps_are_proportional_to_the_weights(self, kind):
        graph = GRAPHS[kind].graph()
        walks = all_walks(graph, rounds=500, length=40, seed=1)
        counts = counts_of(walks, graph.nodes, 1)
        assert likelihood(counts, oracle.transition(dense(graph))) > 1e-4

    @every_graph
    @pytest.mark.parametrize(("p", "q"), BIASES)
    def test_biased_steps_follow_node2vec(self, kind, p, q):
        graph = GRAPHS[kind].graph()
        matrix = dense(graph)
        walks = all_walks(graph, rounds=700, length=40, p=p, q=q, seed=2)
        assert likelihood(counts_of(walks[:, :2], graph.nodes, 1), oracle.transition(matrix)) > 1e-4
        counts = counts_of(walks, graph.nodes, 2)
        assert likelihood(counts, oracle.second_order(matrix, p, q)) > 1e-4

    def test_a_slightly_different_bias_would_be_detected(self):
        graph = GRAPHS["weighted"].graph()
        counts = counts_of(all_walks(graph, rounds=1500, length=40, p=0.5, q=2), graph.nodes, 2)
        for p, q in ((0.55, 2), (0.5, 2.2), (2, 0.5)):
            assert likelihood(counts, oracle.second_order(dense(graph), p, q)) < 1e-9

    def test_a_bias_close_to_1_has_almost_no_effect(self):
        graph = GRAPHS["weighted"].graph()
        walks = all_walks(graph, rounds=500, length=40, p=1 + 1e-9, q=1 - 1e-9, seed=3)
        counts = counts_of(walks, graph.nodes, 1)
        assert likelihood(counts, oracle.transition(dense(graph))) > 1e-4

    def test_draws_from_large_rows_are_uniform(self):
        nodes = 5000
        graph = Graph.from_edges(np.zeros(nodes - 1, int), np.arange(1, nodes))
        walks = all_walks(graph, rounds=40, length=2, seed=4)
        from_leaves = walks[walks[:, 0] > 0]
        assert (from_leaves[:, 1] == 0).all()
        steps = all_walks(graph, rounds=10, length=21, seed=5)
        leaves = np.bincount(steps[steps > 0], minlength=nodes)[1:]
        assert stats.chisquare(leaves).pvalue > 1e-4

    def test_rounds_are_independent(self):
        graph = GRAPHS["unweighted"].graph()
        walks = all_walks(graph, rounds=2000, length=3, seed=6)
        rounds = walks[np.lexsort((np.repeat(range(2000), graph._connected), walks[:, 0]))]
        rounds = rounds.reshape(graph._connected, 1000, 2, 3)
        for node in range(graph._connected):
            pairs = np.zeros((graph.nodes, graph.nodes))
            np.add.at(pairs, (rounds[node, :, 0, 1], rounds[node, :, 1, 1]), 1)
            seen = pairs[pairs.any(axis=1)][:, pairs.any(axis=0)]
            if min(seen.shape) > 1:
                assert stats.chi2_contingency(seen).pvalue > 1e-4


class TestWalks:
    @given(examples(), st.sampled_from([(1.0, 1.0), *BIASES]), st.integers(0, 2**64 - 1))
    def test_they_match_the_reference(self, case, bias, seed):
        graph, (p, q) = case.graph(), bias
        matrix = dense(graph).astype(np.float32)
        rows = [{int(x): float(row[x]) for x in np.flatnonzero(row)} for row in matrix]
        expected = [
            reference_sampling.random_walk(
                rows, node, graph.keys[node], seed=seed, round_=round_, length=7, p=p, q=q
            )
            for round_ in range(2)
            for node in reference_sampling.walk_order(graph.keys[: graph._connected], seed, round_)
        ]
        found = all_walks(graph, size=5, rounds=2, length=7, p=p, q=q, seed=seed)
        assert [[node for node in walk if node >= 0] for walk in found.tolist()] == expected

    @given(examples(), st.sampled_from([(1.0, 1.0), *BIASES]))
    def test_every_step_is_an_edge_and_walks_end_only_at_nodes_without_out_edges(self, case, bias):
        graph, (p, q) = case.graph(), bias
        matrix = dense(graph)
        walks = all_walks(graph, rounds=3, length=12, p=p, q=q)
        source, target = walks[:, :-1], walks[:, 1:]
        assert (matrix[source[target >= 0], target[target >= 0]] > 0).all()
        assert not matrix[source[(target < 0) & (source >= 0)]].any()
        assert (target[source < 0] < 0).all()

    def test_every_round_starts_once_from_every_node_with_out_edges_in_its_own_order(self):
        graph = random_example(300, 400, seed=5, isolated=20).graph()
        walks = walks_of(graph, rounds=3)
        assert 0 < walks.starts == graph._connected < graph.nodes - 19
        assert len(walks) == 3 * walks.starts
        first = all_walks(graph, rounds=3)[:, 0].reshape(3, -1)
        for order in first:
            assert sorted(order) == list(range(walks.starts))
        assert (first[0] != first[1]).mean() > 0.9
        assert stats.spearmanr(first[0], first[2]).pvalue > 1e-3

    def test_an_isolated_node_has_none(self):
        graph = random_example(50, 100, seed=5, isolated=10).graph()
        assert all_walks(graph).max() < graph._connected

    def test_a_graph_without_edges_has_none(self):
        assert len(walks_of(example_of([], 3).graph())) == 0
        assert all_walks(example_of([], 3).graph()).shape == (0, 10)

    def test_different_rounds_and_seeds_give_different_walks(self):
        graph = GRAPHS["unweighted"].graph()
        one, two = all_walks(graph, rounds=2, seed=1).reshape(2, graph._connected, -1)
        other = all_walks(graph, seed=2)
        by_first = [walks[np.argsort(walks[:, 0])] for walks in (one, two, other)]
        assert all((by_first[0] != walks).mean() > 0.3 for walks in by_first[1:])

    def test_a_longer_walk_begins_with_the_shorter_one(self):
        graph = GRAPHS["weighted"].graph()
        short, long = (all_walks(graph, length=length, p=0.3, q=3) for length in (5, 20))
        np.testing.assert_array_equal(long[:, :5], short)


class TestReproducibility:
    @pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.1, 10.0)])
    @pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
    def test_for_any_number_of_threads_and_any_size_of_blocks(self, p, q, weighted):
        graph = skewed_example(700, 3000, seed=1, weighted=weighted).graph()
        expected = all_walks(graph, size=10**6, rounds=2, p=p, q=q, threads=1)
        for threads, size in ((1, 64), (2, 999), (5, 123)):
            found = all_walks(graph, size=size, rounds=2, p=p, q=q, threads=threads)
            np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
    def test_for_permuted_nodes_and_edges(self, directed):
        case = skewed_example(300, 1000, seed=2, weighted=True, directed=directed)
        random = np.random.default_rng(0)
        edges, nodes = random.permutation(len(case.source)), random.permutation(case.nodes)
        shuffled = Graph.from_edges(
            case.source[edges],
            case.target[edges],
            case.weight[edges],
            nodes=nodes,
            directed=directed,
        )
        options = {"rounds": 2, "p": 0.5, "q": 2.0}
        found, expected = (all_walks(graph, **options) for graph in (shuffled, case.graph()))
        ids = [graph.ids.to_numpy()[graph.rows] for graph in (shuffled, case.graph())]
        np.testing.assert_array_equal(ids[0][found], ids[1][expected])

    def test_for_memory_mapped_graphs(self):
        graph = skewed_example(300, 1000, seed=3, weighted=True).graph()
        parts = {}
        for part in ("indices", "weights"):
            file = SpillFile()
            file.append(getattr(graph, part))
            parts[part] = file.mapped(getattr(graph, part).dtype)
        mapped = replace(graph, **parts)
        assert mapped._mapped
        np.testing.assert_array_equal(all_walks(mapped, p=0.5), all_walks(graph, p=0.5))


def test_cumulative_weights_restart_in_every_row():
    graph = skewed_example(700, 3000, seed=1, weighted=True).graph()
    rows = np.split(graph.weights.astype(np.float64), graph.indptr[1:-1])
    expected = list(chain.from_iterable(np.cumsum(row) for row in rows))
    for threads in (1, 3):
        found = _native.cumulative_weights(graph.indptr, graph.weights, threads, _native.Stop())
        np.testing.assert_array_equal(found, expected)
