"""Mistakes of other implementations of FastRP, and zero vectors."""

import logging
import math

import numpy as np
import pytest

import oracle
from example_graphs import (
    example,
    path,
    star,
)
from fastrp_oracle import random_matrix
from hopvec import Graph, GraphError
from one_pass import one_pass


class TestMistakesOthersShip:
    """Each of these formulas is in some published implementation, and none of them is FastRP."""

    formula = {"dim": 24, "weights": [1], "beta": 0, "normalize": "none", "sparsity": 2}  # noqa: RUF012

    def test_weighted_rows_are_divided_by_the_sum_of_their_weights(self):
        graph = example([(0, 1), (0, 2)], 3, weight=[3, 1]).graph()
        R = random_matrix(graph, 24, sparsity=2)  # noqa: N806
        got = one_pass(**self.formula).embed(graph)[0]
        np.testing.assert_allclose(got, 0.75 * R[1] + 0.25 * R[2], rtol=1e-6)

    def test_degrees_in_l_are_sums_of_weights_not_counts_of_edges(self):
        graph = example([(0, 1), (2, 3)], 4, weight=[1, 9]).graph()
        R = random_matrix(graph, 24, sparsity=2)  # noqa: N806
        got = one_pass(**self.formula | {"beta": -1}).embed(graph).vectors
        np.testing.assert_allclose(got[0], 20 / 1 * R[1], rtol=1e-6)
        np.testing.assert_allclose(got[2], 20 / 9 * R[3], rtol=1e-6)

    def test_beta_scales_each_neighbor_by_its_share_of_the_volume(self):
        graph = example(star(5), 5).graph()
        R = random_matrix(graph, 24, sparsity=2)  # noqa: N806
        got = one_pass(**self.formula | {"beta": -0.5}).embed(graph).vectors
        np.testing.assert_allclose(got[1], (4 / 8) ** -0.5 * R[0], rtol=1e-6)
        expected = (1 / 8) ** -0.5 * R[1:].mean(axis=0)
        np.testing.assert_allclose(got[0], expected, rtol=1e-5, atol=1e-6)

    def test_the_first_weight_belongs_to_the_first_hop_and_not_to_r(self):
        graph = example([(0, 1)], 2).graph()
        R = random_matrix(graph, 24, sparsity=2)  # noqa: N806
        got = one_pass(**self.formula).embed(graph).vectors
        np.testing.assert_array_equal(got, R[::-1])
        assert not np.array_equal(got, R)

    def test_the_number_of_weights_is_the_number_of_hops(self):
        case = example(path(4), 4)
        reached = one_pass(**self.formula | {"sparsity": 1, "weights": [0, 0, 1]}).embed(
            case.graph()
        )
        R = random_matrix(case.graph(), 24, sparsity=1)  # noqa: N806
        expected = np.linalg.matrix_power(oracle.transition(case.S), 3) @ R
        np.testing.assert_allclose(reached.vectors, expected, atol=1e-6)

    def test_a_symmetric_matrix_is_not_symmetrized_again(self):
        case = example([(0, 0), (0, 1), (1, 2)], 3, weight=[2, 3, 5])
        method = one_pass(**self.formula | {"weights": [1, 1], "beta": -0.5})
        from_matrix = method.embed(case.S).vectors
        # Doubling the entries off the diagonal would change the share of the loop.
        np.testing.assert_array_equal(from_matrix, method.embed(case.graph()).vectors)
        R = random_matrix(case.graph(), 24, sparsity=2)  # noqa: N806
        expected = oracle.embed(case.S, R, 24, [1, 1], -0.5)
        assert oracle.relative_errors(from_matrix, expected).max() < 1e-5

    def test_the_running_sum_is_not_propagated(self):
        graph = example([(0, 1)], 2).graph()
        R = random_matrix(graph, 24, sparsity=2)  # noqa: N806
        got = one_pass(**self.formula | {"weights": [1, 1, 1]}).embed(graph).vectors
        # Hops swap the two rows: N_1 + N_2 + N_3 = 2 R[::-1] + R.
        np.testing.assert_allclose(got, 2 * R[::-1] + R, rtol=1e-6)

    def test_zero_rows_cause_a_warning(self, caplog):
        with caplog.at_level(logging.WARNING, logger="hopvec"):
            got = one_pass(dim=8, sparsity=1).embed(example(path(1997), 2000).graph()).vectors
        assert "Zero vectors: 3 of 2,000 nodes, all without edges;" in caplog.text
        assert (~got.any(axis=1)).sum() == 3

    def test_zero_rows_of_a_directed_graph_are_those_without_outgoing_edges(self, caplog):
        with caplog.at_level(logging.WARNING, logger="hopvec"):
            one_pass(dim=8).embed(example(star(4), 4, directed=True).graph())
        assert "Zero vectors: 3 of 4 nodes, all without outgoing edges;" in caplog.text

    def test_there_is_no_warning_if_order_0_gives_every_node_a_vector(self, caplog):
        with caplog.at_level(logging.WARNING, logger="hopvec"):
            got = one_pass(dim=8, self_weight=1, sparsity=1).embed(example(path(3), 5).graph())
        assert caplog.messages == []
        assert got.vectors.any(axis=1).all()

    def test_empty_rows_of_r_cause_a_warning_as_well(self, caplog):
        with caplog.at_level(logging.WARNING, logger="hopvec"):
            method = one_pass(dim=16, self_weight=1, sparsity=100, normalize="none")
            got = method.embed(example(path(3), 50).graph())
        assert not got.vectors.any(axis=1).all()
        assert len(caplog.messages) == 2
        assert "nodes, all without edges;" in caplog.text
        assert "of 50 nodes, although they have edges" in caplog.text

    @pytest.mark.parametrize("oversample", [1, 2])
    def test_nodes_whose_sum_is_zero_keep_a_zero_vector(self, oversample, caplog):
        graph = example(path(1997), 2000).graph()
        options = {"dim": 64 // oversample, "oversample": oversample, "sparsity": 1000}
        zero = ~one_pass(dim=64, sparsity=1000, normalize="orders").embed(graph).vectors.any(axis=1)
        assert zero.sum() > 100
        expected = one_pass(**options).embed(graph).vectors
        assert f"Zero vectors: {zero.sum() - 3} of 2,000 nodes, although they have" in caplog.text
        np.testing.assert_array_equal(expected.any(axis=1), ~zero)
        minimum = one_pass(**options).working_bytes(graph.nodes) + graph.nbytes + 120_000
        limited = one_pass(memory=minimum, **options)
        assert limited.plan(graph).output == "file"
        assert limited.embed(graph).vectors.tobytes() == expected.tobytes()

    def test_orders_that_underflow_float16_cause_a_warning_and_stay_zero(self, caplog):
        weights = [1e7] * 3 + [1e-6] * 3
        graph = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3], weights)
        method = one_pass(dim=32, beta=-1, sparsity=1, weights=(1, 1, 1), precision="float16")
        with caplog.at_level(logging.WARNING, logger="hopvec"):
            vectors = method.embed(graph).vectors
        assert vectors.any(axis=1).tolist() == [False] * 3 + [True] * 3
        assert "Zero vectors: 3 of 6 nodes, although they have edges" in caplog.text

    def test_constant_vectors_cause_a_warning_with_advice(self, caplog):
        graph = example(star(7), 7).graph()
        assert not one_pass(dim=64).embed(graph).vectors.any()
        assert "7 of 7 nodes, although they have edges" in caplog.text
        assert "self_weight=1 and sparsity=3 give them nonzero vectors" in caplog.text
        assert one_pass(dim=64, self_weight=1).embed(graph).vectors.any(axis=1).all()

    def test_a_nan_weight_is_rejected_with_its_edge(self):
        matrix = np.array([[0, 1.0, 0], [1.0, 0, math.nan], [0, math.nan, 0]])
        with pytest.raises(GraphError, match=r"edge 3 \(1 - 2\): the weight nan is not allowed"):
            one_pass(dim=8).embed(matrix)
