"""NetMF against the formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopvec
import oracle
from example_graphs import example, examples, path, random_example, skewed_example
from hopvec import GraphError, MemoryLimitError, NetMF
from hopvec.machine import format_bytes

GRAPHS = {
    "weighted": skewed_example(200, 800, weighted=True, seed=1),
    "unweighted": random_example(200, 1000, seed=2, isolated=5),
    "loops and multiple edges": random_example(100, 1500, seed=3),
}


def agree(vectors, expected, tolerance=1e-5):
    """Whether columns are the same, each relative to the longest."""
    errors = np.linalg.norm(vectors - expected, axis=0)
    return errors.max() <= tolerance * np.linalg.norm(expected, axis=0).max()


class TestAgainstTheOracle:
    @pytest.mark.parametrize("options", [{}, {"window": 1}, {"window": 3, "negatives": 2}], ids=str)
    @pytest.mark.parametrize("graph", GRAPHS)
    def test_the_vectors_are_those_of_the_singular_value_decomposition(self, graph, options):
        case = GRAPHS[graph]
        expected = oracle.left_factor(oracle.netmf_matrix(case.S, **options), 40)
        for dim in (1, 16, 40):
            vectors = NetMF(dim=dim, **options).embed(case.graph()).vectors
            assert agree(vectors, expected[:, :dim])

    @pytest.mark.parametrize("rank", [10, 60])
    @pytest.mark.parametrize("graph", GRAPHS)
    def test_with_a_rank_the_powers_are_those_of_the_eigenpairs(self, graph, rank):
        case = GRAPHS[graph]
        expected = oracle.left_factor(oracle.netmf_matrix(case.S, rank=rank), 16)
        assert agree(NetMF(dim=16, rank=rank).embed(case.graph()).vectors, expected, 1e-4)

    @pytest.mark.parametrize("graph", GRAPHS)
    def test_the_full_rank_drops_only_negative_eigenvalues(self, graph):
        case = GRAPHS[graph]
        nodes = case.nodes
        expected = oracle.left_factor(oracle.netmf_matrix(case.S, rank=nodes), 16)
        assert agree(NetMF(dim=16, rank=nodes + 5).embed(case.graph()).vectors, expected, 1e-4)

    @settings(max_examples=30)
    @given(examples(), st.sampled_from([1, 5, 30]), st.sampled_from([1, 4]))
    def test_every_small_graph_has_the_same_inner_products(self, case, dim, window):
        if case.directed:
            return
        M = oracle.netmf_matrix(case.S, window=window)  # noqa: N806
        sigma = np.append(np.linalg.svd(M, compute_uv=False), np.zeros(dim))
        vectors = NetMF(dim=dim, window=window).embed(case.graph()).vectors.astype(np.float64)
        scale = max(1.0, sigma[0])
        np.testing.assert_allclose((vectors**2).sum(axis=0), sigma[:dim], rtol=0, atol=1e-5 * scale)
        if (
            sigma[dim - 1] > sigma[dim] + 1e-3 * scale or dim >= case.nodes
        ):  # there is a gap after the last one
            expected = oracle.left_factor(M, dim)
            np.testing.assert_allclose(
                vectors @ vectors.T, expected @ expected.T, rtol=0, atol=1e-3 * scale
            )

    def test_equal_components_have_multiple_singular_values(self):
        case = example([(2 * pair, 2 * pair + 1) for pair in range(40)], 80)
        vectors = NetMF(dim=50).embed(case.graph()).vectors.astype(np.float64)
        sigma = np.linalg.svd(oracle.netmf_matrix(case.S), compute_uv=False)
        np.testing.assert_allclose((vectors**2).sum(axis=0), sigma[:50], rtol=1e-5, atol=1e-9)


class TestSameBytes:
    def test_with_a_rank_for_1_2_and_5_threads_and_permuted_nodes(self):
        case = GRAPHS["weighted"]
        order = np.random.default_rng(0).permutation(case.nodes)
        permuted = hopvec.Graph.from_edges(
            case.source, case.target, case.weight, nodes=order.tolist()
        )
        results = {
            NetMF(dim=12, rank=20, threads=n).embed(case.graph()).vectors.tobytes()
            for n in (1, 2, 5)
        }
        results.add(NetMF(dim=12, rank=20).embed(permuted)[list(range(case.nodes))].tobytes())
        assert len(results) == 1


class TestLimits:
    def test_a_directed_graph_is_rejected(self):
        with pytest.raises(GraphError, match="NetMF is defined for undirected graphs"):
            NetMF(dim=4).embed(example(path(5), 5, directed=True).graph())

    def test_a_matrix_that_does_not_fit_is_rejected_with_the_memory_needed(self):
        graph = hopvec.Graph.from_edges([0], [1], nodes=20_000)
        with pytest.raises(MemoryLimitError) as error:
            NetMF(dim=16, memory="1GB").embed(graph)
        assert str(error.value).startswith("NetMF needs at least 1.6")
        assert f"{format_bytes(4 * 20_000**2)} for the matrix of all pairs of nodes" in str(
            error.value
        )
        assert "but the memory limit is 1 GB." in str(error.value)

    def test_time_is_estimated_and_progress_is_reported(self):
        graph = GRAPHS["unweighted"].graph()
        for method in (NetMF(dim=16), NetMF(dim=16, rank=20)):
            reported = []
            assert 0 < hopvec.estimate(graph, method).seconds < 60
            method.embed(
                graph, progress=lambda done, total, reported=reported: reported.append(done / total)
            )
            assert reported == sorted(reported)
            assert reported[-1] == 1
