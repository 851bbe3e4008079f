"""Sampling of edges and negative samples for LINE, and training on them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import reference
import reference_sampling
from example_graphs import example, random_example, skewed_example
from hopvec import _native
from hopvec.engine import line
from hopvec.progress import no_progress

STOP = _native.Stop()
SMALL = skewed_example(12, 40, weighted=True, seed=1)
PLAIN = skewed_example(12, 40, seed=2)
DIRECTED = skewed_example(12, 40, weighted=True, directed=True, seed=3)
MIN_P_VALUE = 1e-3

every_graph = pytest.mark.parametrize(
    "case", [SMALL, PLAIN, DIRECTED], ids=["weighted", "unweighted", "directed"]
)


def order_of(number=1, *, seed=5, samples=1000, negatives=5, rate=0.025, both_directions=False):
    return _native.LineOrder(
        seed=seed,
        number=number,
        samples=samples,
        negatives=negatives,
        rate=rate,
        both_directions=both_directions,
    )


def drawn(graph, order, first=0, count=1000, negatives=5):
    sampler = line.EdgeSampler(graph, threads=1)
    return sampler.native.draw(order, first, count).reshape(count, 2 + negatives)


def internal_matrix(case, graph):
    """S of an example in the graph's internal order."""
    return case.S[np.ix_(graph.rows, graph.rows)]


def alias_tables(graph):
    """The alias tables of the sources, of each row and of the noise."""
    rows = [
        graph.weights[begin:end].astype(np.float64) if graph.weights is not None else None
        for begin, end in itertools.pairwise(graph.indptr)
    ]
    return (
        _native.alias_table(graph._node_degrees),
        [_native.alias_table(row) if row is not None and len(row) else None for row in rows],
        _native.alias_table(line.EdgeSampler(graph, threads=1).noise),
    )


def reference_sample(graph, seed, order, sample, negatives, both_directions):
    """The nodes of a sample, computed with Python integers."""
    sources, rows, noise = alias_tables(graph)
    stream = reference.salt_of(seed, order)
    counter = sample * (2 + negatives)
    bits = [
        reference.mix((stream + reference.GOLDEN * (counter + number + 1)) & reference.MASK)
        for number in range(2 + negatives)
    ]
    source = reference_sampling.alias_draw(*sources, bits[0])
    length = int(graph.indptr[source + 1] - graph.indptr[source])
    entry = (
        bits[1] * length >> 64
        if rows[source] is None
        else reference_sampling.alias_draw(*rows[source], bits[1])
    )
    target = int(graph.indices[graph.indptr[source] + entry])
    ends = [target, source] if both_directions and bits[1] & 1 else [source, target]
    return ends + [reference_sampling.alias_draw(*noise, b) for b in bits[2:]]


class TestAliasTable:
    @given(
        st.lists(st.one_of(st.just(0.0), st.floats(1e-30, 1e30)), min_size=1, max_size=60).filter(
            any
        )
    )
    def test_probabilities_are_proportional_to_the_weights(self, weights):
        weights = np.array(weights)
        probabilities = reference_sampling.alias_probabilities(*_native.alias_table(weights))
        assert np.abs(probabilities - weights / weights.sum()).max() < 2.0**-31
        assert (probabilities[weights == 0] == 0).all()

    def test_slots_of_equal_weights_yield_themselves(self):
        threshold, alias = _native.alias_table(np.full(7, 3.0))
        assert (alias == np.arange(7)).all()
        assert (threshold == 2**32 - 1).all()

    def test_probabilities_are_accurate_for_many_weights(self):
        weights = np.random.default_rng(0).lognormal(0, 3, 200_000)
        probabilities = reference_sampling.alias_probabilities(*_native.alias_table(weights))
        assert np.abs(probabilities - weights / weights.sum()).sum() < 1e-9


def assert_edges_follow(weights, samples):
    seen = np.zeros(weights.shape)
    np.add.at(seen, (samples[:, 0], samples[:, 1]), 1)
    assert (seen[weights == 0] == 0).all()
    expected = weights[weights > 0] / weights.sum() * len(samples)
    assert chisquare(seen[weights > 0], expected).pvalue > MIN_P_VALUE


class TestSampling:
    @every_graph
    def test_edges_are_drawn_in_proportion_to_their_weights(self, case):
        graph = case.graph()
        weights = internal_matrix(case, graph)
        assert_edges_follow(weights, drawn(graph, order_of(), count=200_000))

    @every_graph
    def test_negative_samples_are_drawn_in_proportion_to_a_power_of_the_degrees(self, case):
        graph = case.graph()
        weights = internal_matrix(case, graph)
        degrees = weights.sum(axis=1) + (weights.sum(axis=0) if case.directed else 0)
        expected = degrees**0.75
        samples = drawn(graph, order_of(), count=50_000)
        for column in range(2, 7):
            seen = np.bincount(samples[:, column], minlength=len(weights))
            counts = expected / expected.sum() * len(samples)
            assert chisquare(seen, counts).pvalue > MIN_P_VALUE

    def test_negative_samples_do_not_depend_on_the_edge(self):
        graph = PLAIN.graph()
        samples = drawn(graph, order_of(), count=100_000)
        for column in range(3):
            joint = np.zeros((12, 12))
            np.add.at(joint, (samples[:, column], samples[:, column + 3]), 1)
            marginals = joint.sum(axis=1), joint.sum(axis=0)
            expected = np.outer(*marginals) / len(samples)
            assert chisquare(joint.ravel(), expected.ravel(), ddof=22).pvalue > MIN_P_VALUE

    def test_both_directions_are_equally_likely(self):
        graph = DIRECTED.graph()
        weights = internal_matrix(DIRECTED, graph)
        samples = drawn(graph, order_of(both_directions=True), count=200_000)
        assert_edges_follow(weights + weights.T, samples)

    @every_graph
    @pytest.mark.parametrize("both_directions", [False, True])
    def test_samples_match_the_reference(self, case, both_directions):
        graph, seed = case.graph(), 2**64 - 3
        order = order_of(2, seed=seed, negatives=3, both_directions=both_directions)
        for sample in (0, 1, 77, 10**12 - 1):
            native = drawn(graph, order, first=sample, count=1, negatives=3)[0].tolist()
            assert native == reference_sample(graph, seed, 2, sample, 3, both_directions)

    def test_a_sample_does_not_depend_on_the_first_sample_drawn(self):
        graph = SMALL.graph()
        assert (drawn(graph, order_of(), 300, 50) == drawn(graph, order_of(), 0, 350)[300:]).all()

    def test_each_seed_and_each_order_has_its_own_samples(self):
        graph = SMALL.graph()
        first, second, other = (
            drawn(graph, order) for order in (order_of(1), order_of(2), order_of(1, seed=6))
        )
        assert (first[:, 0] != second[:, 0]).any()
        assert (first[:, 0] != other[:, 0]).any()

    def test_nodes_without_edges_are_never_drawn(self):
        case = random_example(60, 100, isolated=20, seed=1)
        graph = case.graph()
        seen = np.unique(drawn(graph, order_of(), count=20_000))
        assert set(seen.tolist()) == set(range(graph._connected))

    def test_tables_are_the_same_on_any_number_of_threads(self):
        graph = skewed_example(3000, 60_000, weighted=True, seed=4).graph()
        one, five = (
            line.EdgeSampler(graph, threads).native.draw(order_of(), 0, 5000) for threads in (1, 5)
        )
        assert (one == five).all()


def matrices(nodes, dim, scale, seed=0):
    """Vectors and contexts, padded with zeros to a multiple of 16 columns."""
    random = np.random.default_rng(seed)
    rows = np.zeros((2, nodes, -(-dim // 16) * 16), np.float32)
    rows[:, :, :dim] = random.normal(scale=scale, size=(2, nodes, dim))
    return rows


class TestTraining:
    @pytest.mark.parametrize("number", [1, 2])
    @pytest.mark.parametrize(
        ("dim", "negatives"), [(1, 1), (7, 3), (16, 5), (33, 8), (100, 5), (64, 63)]
    )
    def test_it_matches_the_reference(self, number, dim, negatives):
        graph, samples, rate = SMALL.graph(), 3000 // negatives, 0.05
        order = order_of(number, samples=samples, negatives=negatives, rate=rate)
        sampler = line.EdgeSampler(graph, threads=1)
        native = matrices(graph.nodes, dim, 0.5)
        expected = native.astype(np.float64)
        contexts = 0 if number == 1 else 1
        _native.train_line(sampler.native, order, native[0], native[contexts], 0, samples, 1, STOP)
        rates = [rate * max(1 - sample / samples, 1e-4) for sample in range(samples)]
        reference_sampling.train_line(
            sampler.native.draw(order, 0, samples).reshape(samples, -1),
            rates,
            expected[0],
            expected[contexts],
        )
        assert np.abs(native - expected).max() < 2e-5
        assert not native[:, :, dim:].any()
        assert np.abs(native[0] - matrices(graph.nodes, dim, 0.5)[0]).max() > 0.01

    @pytest.mark.parametrize("product", [-100, -29, -7, -0.5, -1e-3, 0, 1e-3, 0.5, 7, 29, 100])
    def test_the_step_is_the_derivative_of_the_objective(self, product):
        graph = example([(0, 0)], 1).graph()
        sampler = line.EdgeSampler(graph, threads=1)
        vectors, contexts = np.zeros((2, 1, 16), np.float32)
        vectors[0, 0], contexts[0, 0] = 2, product / 2
        _native.train_line(
            sampler.native, order_of(2, rate=1, negatives=1), vectors, contexts, 0, 1, 1, STOP
        )
        gradient = 1 - 2 / (1 + np.exp(-float(product)))  # of the edge and of one negative sample
        assert contexts[0, 0] == pytest.approx(product / 2 + 2 * gradient, rel=1e-6, abs=1e-6)

    def test_training_in_parts_gives_the_same_bytes(self):
        graph = SMALL.graph()
        sampler, order = line.EdgeSampler(graph, threads=1), order_of(2, samples=10_000)
        results = set()
        for ends in ([10_000], [1, 2, 4097, 10_000], range(1000, 11_000, 1000)):
            rows = matrices(graph.nodes, 20, 0.1)
            for first, last in itertools.pairwise([0, *ends]):
                _native.train_line(sampler.native, order, *rows, first, last, 1, STOP)
            results.add(rows.tobytes())
        assert len(results) == 1

    def test_initial_vectors_are_uniform_and_depend_on_the_key(self):
        graph = random_example(300, 600, seed=1).graph()
        vectors = np.zeros((graph.nodes, 32), np.float32)
        _native.initialize_line(order_of(2, seed=9), graph.keys, 20, vectors)
        expected = reference_sampling.line_vectors(9, 2, graph.keys.tolist(), 20)
        assert np.abs(vectors[:, :20] - expected).max() < 1e-8
        assert not vectors[:, 20:].any()
        assert (
            chisquare(np.histogram(vectors[:, :20], 20, (-1 / 40, 1 / 40))[0]).pvalue > MIN_P_VALUE
        )

    @pytest.mark.parametrize("order", [1, 2])
    def test_the_objective_increases(self, order):
        graph = skewed_example(200, 800, seed=5).graph()
        sampler = line.EdgeSampler(graph, threads=1)
        settings = {"negatives": 5, "learning_rate": 0.1, "seed": 1, "workers": 1}
        proximity = line.Proximity(sampler, order, columns=16, samples=60_000, **settings)
        seen = [objective(sampler, proximity)]
        for until in (20_000, 60_000):
            line.train([proximity], until, max_workers=1, progress=no_progress)
            seen.append(objective(sampler, proximity))
        assert seen[0] == pytest.approx(6 * np.log(0.5), abs=0.01)
        assert min(np.diff(seen)) > 0.05

    def test_several_workers_reach_a_similar_objective(self):
        graph = skewed_example(200, 800, seed=5).graph()
        sampler = line.EdgeSampler(graph, threads=1)
        seen = []
        for workers in (1, 3):
            proximity = line.Proximity(
                sampler, 2, columns=16, samples=50_000, negatives=5, learning_rate=0.1, seed=1,
                workers=workers,
            )  # fmt: skip
            line.train([proximity], 50_000, max_workers=1, progress=no_progress)
            seen.append(objective(sampler, proximity))
        assert seen[1] == pytest.approx(seen[0], abs=0.1)

    def test_training_stops_immediately_when_asked(self):
        graph = SMALL.graph()
        stop = _native.Stop()
        stop.set()
        rows = matrices(graph.nodes, 20, 0.1)
        sampler = line.EdgeSampler(graph, threads=1)
        _native.train_line(sampler.native, order_of(samples=10**12), *rows, 0, 10**12, 1, stop)
        assert (rows == matrices(graph.nodes, 20, 0.1)).all()


def objective(sampler, proximity):
    """The mean of log s(u_i . v_j) + sum_k log s(-u_i . v_k) over fresh samples."""
    samples = sampler.native.draw(order_of(9), 0, 5000).reshape(5000, 7)
    u, v = proximity.vectors[samples[:, 0]], proximity.contexts[samples[:, 1:]]
    products = np.einsum("sc,stc->st", u.astype(np.float64), v.astype(np.float64))
    products[:, 1:] *= -1
    return -np.log1p(np.exp(-products)).sum(axis=1).mean()


def test_column_sums_are_those_of_the_matrix():
    for case in (DIRECTED, PLAIN):
        graph = case.graph()
        sums = _native.column_sums(graph.indptr, graph.indices, graph.weights)
        assert sums == pytest.approx(internal_matrix(case, graph).sum(axis=0), rel=1e-6)
