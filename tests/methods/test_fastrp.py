"""FastRP against the formulas."""

import logging
import math

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hopvec
import oracle
import reference
import rounding_bounds
from example_graphs import (
    SHAPES,
    complete,
    example,
    examples,
    path,
    random_example,
    skewed_example,
    star,
)
from hopvec import FastRP, Graph, GraphError

NORMALIZE = ("none", "authors", "full")
ORDINARY = random_example(2000, 8000, weighted=True, isolated=20)


def random_matrix(graph, dim, *, sparsity="sqrt", seed=0):
    """R as FastRP gives it away: order 0 alone, with L = 1."""
    alone = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none"}
    return FastRP(dim=dim, sparsity=sparsity, seed=seed, **alone).embed(graph).vectors


def run(case, *, precision="float32", sparsity="sqrt", seed=0, **formula):
    """The vectors of a graph, and the oracle's."""
    graph = case.graph()
    method = FastRP(precision=precision, sparsity=sparsity, seed=seed, **formula)
    R = random_matrix(graph, formula["dim"], sparsity=sparsity, seed=seed)  # noqa: N806
    return method.embed(graph).vectors, oracle.embed(case.S, R, **formula)


def agrees_within_rounding(case, *, sparsity, seed=0, **formula):
    """Whether every row is as near to the oracle's as float32 rounding leaves it."""
    got, expected = run(case, sparsity=sparsity, seed=seed, **formula)
    R = random_matrix(case.graph(), formula["dim"], sparsity=sparsity, seed=seed)  # noqa: N806
    return (
        np.linalg.norm(got - expected, axis=1) <= rounding_bounds.bound(case.S, R, **formula)
    ).all()


@st.composite
def formulas(draw):
    order_weights = st.lists(
        st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0]), min_size=1, max_size=5
    )
    self_weight = draw(st.sampled_from([0.0, 0.0, 1.0, -0.5]))
    return {
        "dim": draw(st.sampled_from([1, 3, 15, 16, 17, 33, 48])),
        "weights": draw(order_weights.filter(lambda weights: self_weight or any(weights))),
        "beta": draw(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]) | st.floats(-1, 1)),
        "self_weight": self_weight,
        "normalize": draw(st.sampled_from(NORMALIZE)),
    }


sparsities = st.sampled_from(["sqrt", 1, 1.5, 3, 40, 150])  # from 32 on, hop 1 is a scatter


class TestAgainstTheOracle:
    @settings(max_examples=250)
    @given(examples(), formulas(), sparsities, st.integers(0, 2**64 - 1))
    def test_every_small_graph_and_option_agrees_within_rounding(
        self, case, formula, sparsity, seed
    ):
        assert agrees_within_rounding(case, sparsity=sparsity, seed=seed, **formula)

    @given(examples(), formulas(), sparsities)
    def test_float16_agrees_within_its_own_rounding(self, case, formula, sparsity):
        formula["normalize"] = "none"
        graph = case.graph()
        got = FastRP(precision="float16", sparsity=sparsity, **formula).embed(graph).vectors
        R = random_matrix(graph, formula["dim"], sparsity=sparsity)  # noqa: N806
        bound = rounding_bounds.bound(case.S, R, **formula, epsilon=2e-3)
        # Below 2^-14 float16 has a fixed spacing; the scale puts the largest L near 2^15.
        largest = oracle.degree_power(case.S, formula["beta"], order_0=True).max() * np.abs(R).max()
        weights = sum(map(abs, [formula["self_weight"], *formula["weights"]]))
        floor = 2.0**-36 * largest * weights * math.sqrt(formula["dim"])
        error = np.linalg.norm(got - oracle.embed(case.S, R, **formula), axis=1)
        assert (error <= bound + floor).all()

    @pytest.mark.parametrize("normalize", NORMALIZE)
    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("nodes", [30, 300, 1100])
    @pytest.mark.parametrize("beta", [-0.9, 0.25])
    def test_rows_agree_to_1e_5_on_ordinary_graphs(
        self, nodes, weighted, directed, normalize, beta
    ):
        case = skewed_example(nodes, 4 * nodes, weighted=weighted, directed=directed, seed=nodes)
        got, expected = run(
            case, dim=90, weights=[0, 0, 1, 1, 1, 1], beta=beta, normalize=normalize, seed=3
        )
        assert oracle.relative_errors(got, expected).max() < 1e-5

    @pytest.mark.parametrize("normalize", NORMALIZE)
    @pytest.mark.parametrize(
        "option",
        [
            {"beta": -1},
            {"beta": -0.5},
            {"beta": 0},
            {"beta": 0.5},
            {"beta": 1},
            {"self_weight": 0.5},
            {"self_weight": -1},
            {"sparsity": 1},
            {"sparsity": 1.5},
            {"sparsity": 3},
            {"sparsity": 100},
            {"weights": [1]},
            {"weights": [0, 1]},
            {"weights": [0.5, 0, -2, 0]},
            {"weights": [1, 1, 1, 1, 1]},
            {"dim": 31},
            {"dim": 256},
        ],
        ids=lambda option: " ".join(f"{name}={value}" for name, value in option.items()),
    )
    def test_every_option_agrees_to_1e_5_on_2000_nodes(self, option, normalize):
        case = ORDINARY
        formula = {"dim": 80, "weights": [0, 1, 2, 1], "beta": -0.3, "normalize": normalize}
        got, expected = run(case, **formula | option)
        assert oracle.relative_errors(got, expected).max() < 1e-5

    @pytest.mark.parametrize("normalize", NORMALIZE)
    @pytest.mark.parametrize("beta", [-1, -0.25, 0, 0.25, 1])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_float16_rows_agree_to_2e_3_with_float32_on_ordinary_graphs(
        self, beta, weighted, normalize
    ):
        graph = random_example(2000, 5000, weighted=weighted).graph()
        options = {"dim": 80, "beta": beta, "normalize": normalize, "sparsity": 3}
        half = FastRP(precision="float16", **options).embed(graph).vectors
        single = FastRP(precision="float32", **options).embed(graph).vectors
        error = oracle.relative_errors(half, single.astype(np.float64)).max()
        assert 1e-6 < error < 2e-3

    @pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
    @pytest.mark.parametrize("nodes", [2, 3, 40])
    def test_shapes_with_many_ties_agree_within_rounding(self, shape, nodes):
        case = example(shape(nodes), nodes + 1)
        for normalize in NORMALIZE:
            formula = {"dim": 40, "weights": [1, 0.5, 2], "beta": -0.5, "normalize": normalize}
            assert agrees_within_rounding(case, sparsity=2, **formula)

    def test_a_hub_of_70_000_neighbors_has_the_mean_of_their_rows(self):
        graph = example(star(70_001), 70_001).graph()
        R = random_matrix(graph, 16, sparsity=2).astype(np.float64)  # noqa: N806
        options = {"dim": 16, "sparsity": 2, "beta": 0, "normalize": "none"}
        got = FastRP(weights=[1], **options).embed(graph).vectors
        mean, size = R[1:].mean(axis=0), np.abs(R[1:]).mean(axis=0)
        assert (np.abs(got[0] - mean) < 1e-6 * size).all()
        np.testing.assert_allclose(got[1:], np.broadcast_to(R[0], got[1:].shape), rtol=1e-6)

    @pytest.mark.parametrize("weights", [(1, 1, 1), (0, 1, 0, 2, 3, 4), (0, 0, 5)])
    @pytest.mark.parametrize("precision", ["float32", "float16"])
    def test_a_sum_that_no_cache_holds_has_the_bytes_of_a_narrow_one(self, weights, precision):
        ends = np.random.default_rng(4).integers(0, 70_000, (2, 200_000))
        graph = Graph.from_edges(*ends, nodes=70_000)
        setting = {"weights": weights, "normalize": "none", "sparsity": 3, "precision": precision}
        wide = FastRP(dim=64, threads=2, **setting).embed(graph).vectors
        narrow = FastRP(dim=16, threads=1, **setting).embed(graph).vectors
        assert narrow.nbytes < 1 << 23 < wide.nbytes  # the lines of one are stored past the caches
        np.testing.assert_array_equal(wide[:, :16], narrow)

    def test_the_published_blogcatalog_graph_agrees_with_scipy_in_float64(self, data_folder):
        network = scipy.io.loadmat(data_folder / "blogcatalog" / "blogcatalog.mat")["network"]
        graph = hopvec.Graph.from_scipy(network)
        method = FastRP(dim=32, weights=[0, 0, 1, 4], beta=-0.75, normalize="none")
        S = sp.csr_array(network).astype(np.float64)  # noqa: N806
        degrees = S.sum(axis=1)
        block = (degrees / degrees.sum())[:, None] ** -0.75 * random_matrix(graph, 32)
        orders = [block := (S @ block) / degrees[:, None] for _ in range(4)]
        error = oracle.relative_errors(method.embed(graph).vectors, orders[2] + 4 * orders[3])
        assert error.max() < 1e-5


class TestR:
    @pytest.mark.parametrize("sparsity", [1, 1.5, 3, 8, 1000])
    def test_order_0_alone_is_r_to_the_last_bit(self, sparsity):
        got = random_matrix(example(path(90), 100).graph(), 50, sparsity=sparsity, seed=11)
        keys = [reference.xxh64(node.to_bytes(8, "little")) for node in range(100)]
        signs = reference.sparse_rows(11, sparsity, keys, 50)
        np.testing.assert_array_equal(got, signs * np.float32(math.sqrt(sparsity)))

    def test_sqrt_is_the_square_root_of_the_number_of_nodes(self):
        graph = example(path(500), 625).graph()
        np.testing.assert_array_equal(
            random_matrix(graph, 40), random_matrix(graph, 40, sparsity=25)
        )
        assert np.unique(random_matrix(graph, 40)).tolist() == [-5, 0, 5]

    def test_the_random_row_of_a_string_id_comes_from_its_utf_8_bytes(self):
        graph = hopvec.Graph.from_edges(["ä", "node b"], ["node b", "c" * 40])
        keys = [reference.xxh64(name.encode()) for name in graph.ids.to_pylist()]
        signs = reference.sparse_rows(0, 1.5, keys, 64)
        got = random_matrix(graph, 64, sparsity=1.5)
        np.testing.assert_array_equal(got, signs * np.float32(math.sqrt(1.5)))


class TestMistakesOthersShip:
    """Each of these formulas is in some published implementation, and none of them is FastRP."""

    formula = {"dim": 24, "weights": [1], "beta": 0, "normalize": "none", "sparsity": 2}  # noqa: RUF012

    def test_weighted_rows_are_divided_by_the_sum_of_their_weights(self):
        graph = example([(0, 1), (0, 2)], 3, weight=[3, 1]).graph()
        R = random_matrix(graph, 24, sparsity=2)  # noqa: N806
        got = FastRP(**self.formula).embed(graph)[0]
        np.testing.assert_allclose(got, 0.75 * R[1] + 0.25 * R[2], rtol=1e-6)

    def test_degrees_in_l_are_sums_of_weights_not_counts_of_edges(self):
        graph = example([(0, 1), (2, 3)], 4, weight=[1, 9]).graph()
        R = random_matrix(graph, 24, sparsity=2)  # noqa: N806
        got = FastRP(**self.formula | {"beta": -1}).embed(graph).vectors
        np.testing.assert_allclose(got[0], 20 / 1 * R[1], rtol=1e-6)
        np.testing.assert_allclose(got[2], 20 / 9 * R[3], rtol=1e-6)

    def test_beta_scales_each_neighbor_by_its_share_of_the_volume(self):
        graph = example(star(5), 5).graph()
        R = random_matrix(graph, 24, sparsity=2)  # noqa: N806
        got = FastRP(**self.formula | {"beta": -0.5}).embed(graph).vectors
        np.testing.assert_allclose(got[1], (4 / 8) ** -0.5 * R[0], rtol=1e-6)
        expected = (1 / 8) ** -0.5 * R[1:].mean(axis=0)
        np.testing.assert_allclose(got[0], expected, rtol=1e-5, atol=1e-6)

    def test_the_first_weight_belongs_to_the_first_hop_and_not_to_r(self):
        graph = example([(0, 1)], 2).graph()
        R = random_matrix(graph, 24, sparsity=2)  # noqa: N806
        got = FastRP(**self.formula).embed(graph).vectors
        np.testing.assert_array_equal(got, R[::-1])
        assert not np.array_equal(got, R)

    def test_the_number_of_weights_is_the_number_of_hops(self):
        case = example(path(4), 4)
        reached = FastRP(**self.formula | {"sparsity": 1, "weights": [0, 0, 1]}).embed(case.graph())
        R = random_matrix(case.graph(), 24, sparsity=1)  # noqa: N806
        expected = np.linalg.matrix_power(oracle.transition(case.S), 3) @ R
        np.testing.assert_allclose(reached.vectors, expected, atol=1e-6)

    def test_a_symmetric_matrix_is_not_symmetrized_again(self):
        case = example([(0, 0), (0, 1), (1, 2)], 3, weight=[2, 3, 5])
        method = FastRP(**self.formula | {"weights": [1, 1], "beta": -0.5})
        from_matrix = method.embed(case.S).vectors
        # Doubling the entries off the diagonal would change the share of the loop.
        np.testing.assert_array_equal(from_matrix, method.embed(case.graph()).vectors)
        R = random_matrix(case.graph(), 24, sparsity=2)  # noqa: N806
        expected = oracle.embed(case.S, R, 24, [1, 1], -0.5)
        assert oracle.relative_errors(from_matrix, expected).max() < 1e-5

    def test_the_running_sum_is_not_propagated(self):
        graph = example([(0, 1)], 2).graph()
        R = random_matrix(graph, 24, sparsity=2)  # noqa: N806
        got = FastRP(**self.formula | {"weights": [1, 1, 1]}).embed(graph).vectors
        # Hops swap the two rows: N_1 + N_2 + N_3 = 2 R[::-1] + R.
        np.testing.assert_allclose(got, 2 * R[::-1] + R, rtol=1e-6)

    def test_zero_rows_are_told_of(self, caplog):
        with caplog.at_level(logging.WARNING, logger="hopvec"):
            got = FastRP(dim=8, sparsity=1).embed(example(path(1997), 2000).graph()).vectors
        assert "Zero vectors: 3 of 2,000 nodes, all without edges;" in caplog.text
        assert (~got.any(axis=1)).sum() == 3

    def test_zero_rows_of_a_directed_graph_are_those_without_outgoing_edges(self, caplog):
        with caplog.at_level(logging.WARNING, logger="hopvec"):
            FastRP(dim=8).embed(example(star(4), 4, directed=True).graph())
        assert "Zero vectors: 3 of 4 nodes, all without outgoing edges;" in caplog.text

    def test_nothing_is_told_where_order_0_gives_every_node_a_vector(self, caplog):
        with caplog.at_level(logging.WARNING, logger="hopvec"):
            got = FastRP(dim=8, self_weight=1, sparsity=1).embed(example(path(3), 5).graph())
        assert caplog.messages == []
        assert got.vectors.any(axis=1).all()

    def test_nodes_whose_row_of_r_is_empty_are_told_of_as_well(self, caplog):
        with caplog.at_level(logging.WARNING, logger="hopvec"):
            method = FastRP(dim=16, self_weight=1, sparsity=100, normalize="none")
            got = method.embed(example(path(3), 50).graph())
        assert not got.vectors.any(axis=1).all()
        assert len(caplog.messages) == 2
        assert "nodes, all without edges;" in caplog.text
        assert "of 50 nodes, although they have edges" in caplog.text

    @pytest.mark.parametrize("oversample", [1, 2])
    def test_nodes_whose_sum_is_zero_have_no_vector_in_common(self, oversample, caplog):
        graph = example(path(1997), 2000).graph()
        options = {"dim": 64 // oversample, "oversample": oversample, "sparsity": 1000}
        zero = ~FastRP(dim=64, sparsity=1000, normalize="orders").embed(graph).vectors.any(axis=1)
        assert zero.sum() > 100
        expected = FastRP(**options).embed(graph).vectors
        assert f"Zero vectors: {zero.sum() - 3} of 2,000 nodes, although they have" in caplog.text
        np.testing.assert_array_equal(expected.any(axis=1), ~zero)
        least = FastRP(**options).working_bytes(graph.nodes) + graph.nbytes + 120_000
        bounded = FastRP(memory=least, **options)
        assert bounded.plan(graph).output == "file"
        assert bounded.embed(graph).vectors.tobytes() == expected.tobytes()

    def test_orders_that_float16_cannot_hold_are_told_and_shared_by_none(self, caplog):
        weights = [1e7] * 3 + [1e-6] * 3
        graph = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3], weights)
        method = FastRP(dim=32, beta=-1, sparsity=1, weights=(1, 1, 1), precision="float16")
        with caplog.at_level(logging.WARNING, logger="hopvec"):
            vectors = method.embed(graph).vectors
        assert vectors.any(axis=1).tolist() == [False] * 3 + [True] * 3
        assert "Zero vectors: 3 of 6 nodes, although they have edges" in caplog.text

    def test_vectors_that_do_not_vary_are_told_with_what_helps(self, caplog):
        graph = example(star(7), 7).graph()
        assert not FastRP(dim=64).embed(graph).vectors.any()
        assert "7 of 7 nodes, although they have edges" in caplog.text
        assert "or self_weight gives them one" in caplog.text
        assert FastRP(dim=64, self_weight=1).embed(graph).vectors.any(axis=1).all()

    def test_a_nan_weight_is_refused_with_its_edge(self):
        matrix = np.array([[0, 1.0, 0], [1.0, 0, math.nan], [0, math.nan, 0]])
        with pytest.raises(GraphError, match=r"edge 3 \(1 - 2\): the weight nan is not allowed"):
            FastRP(dim=8).embed(matrix)


class TestNormalize:
    def test_full_rows_have_length_1(self):
        vectors = FastRP(dim=40).embed(skewed_example(300, 1200).graph()).vectors
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)

    def test_authors_columns_have_mean_0_and_variance_1_over_the_nodes_with_edges(self):
        case = random_example(300, 1200, isolated=30)
        vectors = FastRP(dim=40, normalize="authors").embed(case.graph()).vectors.astype(np.float64)
        present = case.S.any(axis=1)
        np.testing.assert_allclose(vectors[present].mean(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(vectors[present].std(axis=0), 1, rtol=1e-6)
        assert not vectors[~present].any()

    def test_authors_statistics_count_every_node_where_order_0_does(self):
        case = random_example(300, 1200, isolated=30)
        method = FastRP(dim=40, normalize="authors", self_weight=1, sparsity=2)
        vectors = method.embed(case.graph()).vectors.astype(np.float64)
        np.testing.assert_allclose(vectors.mean(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(vectors.std(axis=0), 1, rtol=1e-6)

    def test_each_order_counts_by_its_weight_whatever_the_size_of_its_entries(self):
        # Mixing shrinks higher orders; unit rows give them back their say.
        case = skewed_example(400, 4000)
        R = random_matrix(case.graph(), 32)  # noqa: N806
        got = FastRP(dim=32, weights=[1, 0, 1], beta=0, normalize="authors").embed(case.graph())
        plain = oracle.standardize(oracle.embed(case.S, R, 32, [1, 0, 1]))
        unit = oracle.embed(case.S, R, 32, [1, 0, 1], normalize="authors")
        assert oracle.relative_errors(got.vectors, unit).max() < 1e-5
        assert oracle.relative_errors(got.vectors, plain).min() > 1e-3

    @pytest.mark.parametrize("precision", ["float32", "float16"])
    @pytest.mark.parametrize("dim", [1, 15, 17, 40])
    def test_row_lengths_count_the_columns_of_the_embedding_and_no_others(self, dim, precision):
        # The last slab is wider than what is left of dim; its other columns must not be felt.
        case = random_example(100, 400, weighted=True)
        got, expected = run(
            case,
            dim=dim,
            weights=[1, 2],
            beta=0.5,
            sparsity=1,
            normalize="authors",
            precision=precision,
        )
        assert oracle.relative_errors(got, expected).max() < (
            1e-5 if precision == "float32" else 2e-2
        )

    def test_a_column_without_spread_becomes_0_and_never_nan(self):
        with_loops = complete(20) + [(node, node) for node in range(20)]
        for pairs, nodes in (([(0, 0)], 1), (with_loops, 20)):
            for normalize in ("authors", "full"):
                graph = example(pairs, nodes).graph()
                vectors = FastRP(dim=20, normalize=normalize, sparsity=1).embed(graph).vectors
                assert not vectors.any()

    def test_a_spread_that_is_rounding_error_counts_as_none(self):
        # S = w w^T: every row of A is w / sum(w), but for the rounding of its entries.
        w = np.random.default_rng(0).lognormal(size=40)
        pairs = [(u, v) for u in range(40) for v in range(u + 1)]
        graph = example(pairs, 40, [w[u] * w[v] for u, v in pairs]).graph()
        options = {"dim": 20, "sparsity": 1, "beta": 0.3}
        plain = FastRP(normalize="none", **options).embed(graph).vectors
        assert np.ptp(plain, axis=0).all()
        for normalize in ("authors", "full"):
            assert not FastRP(normalize=normalize, **options).embed(graph).vectors.any()

    def test_column_statistics_are_of_the_population(self):
        method = FastRP(dim=40, weights=[1], normalize="authors", sparsity=1)
        vectors = method.embed(example(path(2), 2).graph()).vectors
        assert np.unique(np.abs(vectors)).tolist() == [0.0, 1.0]


class TestDegreeZero:
    def test_nothing_flows_from_a_node_of_degree_0_for_any_beta_but_0(self):
        # Directed 0 -> 1: node 1 has no row, so its degree is 0.
        graph = example([(0, 1)], 2, directed=True).graph()
        R = random_matrix(graph, 24, sparsity=1)  # noqa: N806
        options = {"dim": 24, "weights": [1], "sparsity": 1, "normalize": "none"}
        for beta in (-1, -0.5, 0.5, 1):
            assert not FastRP(beta=beta, **options).embed(graph).vectors.any()
        np.testing.assert_array_equal(FastRP(beta=0, **options).embed(graph)[0], R[1])

    def test_order_0_counts_a_node_of_degree_0_as_degree_1(self):
        graph = example([(0, 1)], 3, weight=[8]).graph()
        R = random_matrix(graph, 24, sparsity=1)  # noqa: N806
        method = FastRP(dim=24, weights=[0], self_weight=2, beta=-0.5, sparsity=1, normalize="none")
        got = method.embed(graph).vectors
        np.testing.assert_allclose(got[0], 2 * (8 / 16) ** -0.5 * R[0], rtol=1e-6)
        np.testing.assert_allclose(got[2], 2 * (1 / 16) ** -0.5 * R[2], rtol=1e-6)

    def test_a_graph_without_edges_has_zero_vectors_or_order_0(self):
        graph = example([], 5).graph()
        for normalize in NORMALIZE:
            assert not FastRP(dim=8, normalize=normalize).embed(graph).vectors.any()
        alone = FastRP(dim=8, self_weight=1, beta=-1, sparsity=1, normalize="none").embed(graph)
        np.testing.assert_array_equal(np.abs(alone.vectors), 1)


class TestPaper:
    def test_it_is_the_setting_of_the_paper(self):
        method = FastRP.paper()
        assert method.dim == 512
        assert method.weights == (0, 0, 1, 4)
        assert (method.normalize, method.sparsity, method.self_weight) == ("none", "sqrt", 0)
        assert -1 <= method.beta <= 0

    def test_its_tuned_numbers_can_be_given(self):
        method = FastRP.paper(alpha_4=0.5, beta=-0.25, seed=9)
        assert (method.weights, method.beta, method.seed) == ((0, 0, 1, 0.5), -0.25, 9)

    def test_its_vectors_are_the_plain_formula(self):
        case = skewed_example(100, 400)
        R = random_matrix(case.graph(), 512)  # noqa: N806
        expected = oracle.embed(case.S, R, 512, [0, 0, 1, 4], beta=-0.75)
        got = FastRP.paper(alpha_4=4, beta=-0.75).embed(case.graph()).vectors
        assert oracle.relative_errors(got, expected).max() < 1e-5
