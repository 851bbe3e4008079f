"""RandNE against the formula."""

import logging
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopvec
import oracle
from example_graphs import example, examples, path, random_example, skewed_example, star
from hopvec import GraphError, ParameterError, RandNE
from hopvec.engine.orthogonal import mixing_bytes
from one_pass import one_pass

MATRICES = ("transition", "adjacency")


def gaussian_matrix(graph, dim, *, seed=0):
    """G before it is orthogonalized, obtained from FastRP as order 0 with L = 1."""
    alone = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none"}
    method = one_pass(dim=dim, projection="gaussian", seed=seed, **alone)
    return method.embed(graph).vectors.astype(np.float64)


def relative_errors(case, *, dim, weights, matrix="transition", seed=0):
    """|difference| of each row, relative to the sum of the absolute values of its terms."""
    graph = case.graph()
    G = gaussian_matrix(graph, dim, seed=seed)  # noqa: N806
    R = oracle.gram_schmidt(G)  # noqa: N806
    got = RandNE(dim=dim, weights=weights, matrix=matrix, seed=seed).embed(graph).vectors
    expected = oracle.randne(case.S, R, weights, matrix)
    T = np.linalg.lstsq(G, R, rcond=None)[0]  # noqa: N806
    terms = oracle.randne(case.S, np.abs(G), np.abs(weights), matrix) @ np.abs(T)
    error, size = np.linalg.norm(got - expected, axis=1), np.linalg.norm(terms, axis=1)
    return np.divide(error, size, out=np.where(error > 0, np.inf, 0.0), where=size > 0)


_order_weights = st.lists(
    st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0]), min_size=1, max_size=5
).filter(any)


class TestAgainstTheOracle:
    @given(
        examples(), st.sampled_from([1, 3, 15, 17, 33]), _order_weights, st.sampled_from(MATRICES)
    )
    def test_every_small_graph_agrees_within_rounding(self, case, dim, weights, matrix):
        assert relative_errors(case, dim=dim, weights=weights, matrix=matrix).max() < 1e-5

    @pytest.mark.parametrize("matrix", MATRICES)
    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_rows_agree_to_1e_6_on_ordinary_graphs(self, weighted, directed, matrix):
        case = skewed_example(600, 2500, weighted=weighted, directed=directed, seed=7)
        errors = relative_errors(case, dim=90, weights=[1, 1e2, 1e4, 1e5], matrix=matrix, seed=3)
        assert errors.max() < 1e-6

    def test_the_default_is_order_3_of_the_transition_matrix(self):
        case = random_example(400, 1600, isolated=3)
        R = oracle.gram_schmidt(gaussian_matrix(case.graph(), 128))  # noqa: N806
        expected = oracle.randne(case.S, R, [1, 1e2, 1e4, 1e5], "transition")
        got = RandNE().embed(case.graph()).vectors
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())

    def test_float16_storage_agrees_to_2e_3_on_ordinary_graphs(self):
        graph = random_example(2000, 5000, weighted=True).graph()
        for matrix in MATRICES:
            options = {"dim": 80, "weights": [0, 1, 2, 1], "matrix": matrix}
            half, single = (
                RandNE(precision=precision, **options).embed(graph).vectors
                for precision in ("float16", "float32")
            )
            error, size = (np.linalg.norm(part, axis=1) for part in (half - single, single))
            connected = size > 0
            assert 1e-6 < (error[connected] / size[connected]).max() < 5e-3


class TestR:
    def test_order_0_alone_has_orthonormal_columns(self):
        graph = random_example(500, 900, isolated=7).graph()
        R = RandNE(dim=100, weights=[1]).embed(graph).vectors.astype(np.float64)  # noqa: N806
        np.testing.assert_allclose(R.T @ R, np.eye(100), rtol=0, atol=1e-6)

    def test_its_columns_are_those_of_gram_schmidt(self):
        graph = random_example(500, 900, isolated=7).graph()
        R = RandNE(dim=100, weights=[1], seed=5).embed(graph).vectors  # noqa: N806
        expected = oracle.gram_schmidt(gaussian_matrix(graph, 100, seed=5))
        np.testing.assert_allclose(R, expected, rtol=0, atol=1e-6)

    def test_fewer_columns_are_the_first_columns_of_more(self):
        graph = random_example(500, 900).graph()
        more, fewer = (RandNE(dim=dim).embed(graph).vectors for dim in (100, 37))
        np.testing.assert_array_equal(fewer, more[:, :37])

    @pytest.mark.parametrize("nodes", [1, 2, 20])
    def test_beyond_the_number_of_nodes_columns_are_zero(self, nodes):
        graph = example(path(nodes) or [(0, 0)], nodes).graph()
        R = RandNE(dim=40, weights=[1]).embed(graph).vectors.astype(np.float64)  # noqa: N806
        np.testing.assert_allclose(R @ R.T, np.eye(nodes), rtol=0, atol=1e-5)
        assert not R[:, nodes:].any()


class TestWeights:
    def test_the_first_weight_belongs_to_r_and_the_second_to_the_first_hop(self):
        graph = example([(0, 1), (1, 2)], 3, weight=[2, 5]).graph()
        R, hop = (  # noqa: N806
            RandNE(dim=3, weights=weights, matrix="adjacency").embed(graph).vectors
            for weights in ([1], [0, 1])
        )
        np.testing.assert_allclose(hop[0], 2 * R[1], rtol=1e-5)
        np.testing.assert_allclose(hop[1], 2 * R[0] + 5 * R[2], rtol=1e-5, atol=1e-6)

    def test_the_transition_matrix_divides_by_the_sum_of_weights(self):
        graph = example([(0, 1), (1, 2)], 3, weight=[2, 5]).graph()
        R, hop = (RandNE(dim=3, weights=w).embed(graph).vectors for w in ([1], [0, 1]))  # noqa: N806
        np.testing.assert_allclose(hop[1], (2 * R[0] + 5 * R[2]) / 7, rtol=1e-5, atol=1e-6)

    def test_weights_that_are_all_zero_are_rejected(self):
        with pytest.raises(ParameterError, match="RandNE: weights are all zero: every vector"):
            RandNE(weights=[0, 0]).embed(example(path(3), 3).graph())

    def test_an_isolated_node_has_its_row_of_r_times_the_first_weight(self, caplog):
        graph = example(path(3), 5).graph()
        with caplog.at_level(logging.WARNING, logger="hopvec"):
            some = RandNE(dim=3, weights=[2, 1]).embed(graph).vectors
            assert caplog.messages == []
            none = RandNE(dim=3, weights=[0, 1]).embed(graph).vectors
        assert "a nonzero first weight gives them one" in caplog.text
        assert some[3:].any(axis=1).all()
        assert not none[3:].any()


class TestAdjacencyPowers:
    def test_high_powers_of_heavy_edges_stay_exact(self):
        case = example(star(50), 50, weight=np.full(49, 1e5))
        assert (
            relative_errors(case, dim=8, weights=[0, 0, 0, 0, 1], matrix="adjacency").max() < 1e-6
        )

    def test_powers_that_overflow_float32_are_rejected_with_the_degree(self):
        graph = example(star(50), 50, weight=np.full(49, 1e20)).graph()
        with pytest.raises(GraphError, match=r"order 3 of this .* largest degree is 4.9e\+21"):
            RandNE(dim=8, matrix="adjacency").embed(graph)
        assert np.isfinite(RandNE(dim=8).embed(graph).vectors).all()


class TestPlanAndEstimate:
    def test_the_plan_includes_the_memory_of_orthogonalization(self):
        graph = random_example(3000, 9000).graph()
        plan = RandNE(dim=200).plan(graph)
        assert plan.bytes.working["orthogonal columns"] == mixing_bytes(200) > 8 * 200 * 200
        assert RandNE(dim=200).working_bytes(3000) > mixing_bytes(200)

    @pytest.mark.parametrize("weights", [[1], [1, 1e2, 1e4, 1e5]])
    def test_time_is_estimated_and_progress_is_reported(self, weights):
        graph, reported = random_example(3000, 9000).graph(), []
        method = RandNE(dim=50, weights=weights)
        assert 0 < hopvec.estimate(graph, method).seconds < 60
        method.embed(graph, progress=lambda done, total: reported.append(done / total))
        assert reported == sorted(reported)
        assert math.isclose(reported[-1], 1)
