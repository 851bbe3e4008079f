"""Normalization of FastRP, and nodes of degree 0."""

import numpy as np
import pytest

import oracle
from example_graphs import (
    complete,
    example,
    path,
    random_example,
    skewed_example,
)
from fastrp_oracle import random_matrix, run
from one_pass import one_pass

NORMALIZE = ("none", "authors", "full")


class TestNormalize:
    def test_full_rows_have_length_1(self):
        vectors = one_pass(dim=40).embed(skewed_example(300, 1200).graph()).vectors
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)

    def test_authors_columns_have_mean_0_and_variance_1_over_the_nodes_with_edges(self):
        case = random_example(300, 1200, isolated=30)
        vectors = (
            one_pass(dim=40, normalize="authors").embed(case.graph()).vectors.astype(np.float64)
        )
        present = case.S.any(axis=1)
        np.testing.assert_allclose(vectors[present].mean(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(vectors[present].std(axis=0), 1, rtol=1e-6)
        assert not vectors[~present].any()

    def test_authors_statistics_include_every_node_if_order_0_has_a_weight(self):
        case = random_example(300, 1200, isolated=30)
        method = one_pass(dim=40, normalize="authors", self_weight=1, sparsity=2)
        vectors = method.embed(case.graph()).vectors.astype(np.float64)
        np.testing.assert_allclose(vectors.mean(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(vectors.std(axis=0), 1, rtol=1e-6)

    def test_each_order_counts_by_its_weight_regardless_of_its_norm(self):
        # Higher orders have smaller entries, but with unit rows all orders count equally.
        case = skewed_example(400, 4000)
        R = random_matrix(case.graph(), 32)  # noqa: N806
        got = one_pass(dim=32, weights=[1, 0, 1], beta=0, normalize="authors").embed(case.graph())
        plain = oracle.standardize(oracle.embed(case.S, R, 32, [1, 0, 1]))
        unit = oracle.embed(case.S, R, 32, [1, 0, 1], normalize="authors")
        assert oracle.relative_errors(got.vectors, unit).max() < 1e-5
        assert oracle.relative_errors(got.vectors, plain).min() > 1e-3

    @pytest.mark.parametrize("precision", ["float32", "float16"])
    @pytest.mark.parametrize("dim", [1, 15, 17, 40])
    def test_row_norms_ignore_the_padding_of_the_last_slab(self, dim, precision):
        # The last slab has more columns than are left of dim; they must have no effect.
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

    def test_a_constant_column_becomes_0_and_not_nan(self):
        with_loops = complete(20) + [(node, node) for node in range(20)]
        for pairs, nodes in (([(0, 0)], 1), (with_loops, 20)):
            for normalize in ("authors", "full"):
                graph = example(pairs, nodes).graph()
                vectors = one_pass(dim=20, normalize=normalize, sparsity=1).embed(graph).vectors
                assert not vectors.any()

    def test_a_column_constant_up_to_rounding_error_becomes_0(self):
        # S = w w^T: every row of A is w / sum(w), but for the rounding of its entries.
        w = np.random.default_rng(0).lognormal(size=40)
        pairs = [(u, v) for u in range(40) for v in range(u + 1)]
        graph = example(pairs, 40, [w[u] * w[v] for u, v in pairs]).graph()
        options = {"dim": 20, "sparsity": 1, "beta": 0.3}
        plain = one_pass(normalize="none", **options).embed(graph).vectors
        assert np.ptp(plain, axis=0).all()
        for normalize in ("authors", "full"):
            assert not one_pass(normalize=normalize, **options).embed(graph).vectors.any()

    def test_variances_are_those_of_the_population(self):
        method = one_pass(dim=40, weights=[1], normalize="authors", sparsity=1)
        vectors = method.embed(example(path(2), 2).graph()).vectors
        assert np.unique(np.abs(vectors)).tolist() == [0.0, 1.0]


class TestDegreeZero:
    def test_nothing_flows_from_a_node_of_degree_0_for_any_beta_but_0(self):
        # Directed 0 -> 1: node 1 has no row, so its degree is 0.
        graph = example([(0, 1)], 2, directed=True).graph()
        R = random_matrix(graph, 24, sparsity=1)  # noqa: N806
        options = {"dim": 24, "weights": [1], "sparsity": 1, "normalize": "none"}
        for beta in (-1, -0.5, 0.5, 1):
            assert not one_pass(beta=beta, **options).embed(graph).vectors.any()
        np.testing.assert_array_equal(one_pass(beta=0, **options).embed(graph)[0], R[1])

    def test_order_0_counts_a_node_of_degree_0_as_degree_1(self):
        graph = example([(0, 1)], 3, weight=[8]).graph()
        R = random_matrix(graph, 24, sparsity=1)  # noqa: N806
        method = one_pass(
            dim=24, weights=[0], self_weight=2, beta=-0.5, sparsity=1, normalize="none"
        )
        got = method.embed(graph).vectors
        np.testing.assert_allclose(got[0], 2 * (8 / 16) ** -0.5 * R[0], rtol=1e-6)
        np.testing.assert_allclose(got[2], 2 * (1 / 16) ** -0.5 * R[2], rtol=1e-6)

    def test_a_graph_without_edges_has_zero_vectors_or_order_0(self):
        graph = example([], 5).graph()
        for normalize in NORMALIZE:
            assert not one_pass(dim=8, normalize=normalize).embed(graph).vectors.any()
        alone = one_pass(dim=8, self_weight=1, beta=-1, sparsity=1, normalize="none").embed(graph)
        np.testing.assert_array_equal(np.abs(alone.vectors), 1)
