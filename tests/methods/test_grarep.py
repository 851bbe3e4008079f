"""GraRep against the formula."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopvec
import oracle
from example_graphs import examples, random_example, skewed_example
from hopvec import GraRep, MemoryLimitError, ParameterError
from hopvec.machine import format_bytes

GRAPHS = {
    "weighted": skewed_example(200, 800, weighted=True, seed=1),
    "unweighted": random_example(200, 1000, seed=2, isolated=5),
    "directed": skewed_example(200, 800, weighted=True, directed=True, seed=3),
}


@cache
def factor(graph, step):
    """The first 16 columns of one step."""
    return oracle.left_factor(oracle.grarep_matrix(GRAPHS[graph].S, step), 16)


class TestAgainstTheOracle:
    @pytest.mark.parametrize(("dim", "steps"), [(8, 1), (64, 4), (30, 3)])
    @pytest.mark.parametrize("graph", GRAPHS)
    def test_the_vectors_concatenate_the_factors_of_all_steps(self, graph, dim, steps):
        vectors = GraRep(dim=dim, steps=steps).embed(GRAPHS[graph].graph()).vectors
        for step, columns in enumerate(np.split(vectors, steps, axis=1), start=1):
            expected = factor(graph, step)[:, : dim // steps]
            errors = np.linalg.norm(columns - expected, axis=0)
            assert errors.max() <= 1e-5 * np.linalg.norm(expected, axis=0).max()

    @settings(max_examples=30)
    @given(examples(), st.sampled_from([2, 10, 60]))
    def test_every_small_graph_has_the_right_singular_values(self, case, dim):
        vectors = GraRep(dim=dim, steps=2).embed(case.graph()).vectors.astype(np.float64)
        for step, columns in enumerate(np.split(vectors, 2, axis=1), start=1):
            sigma = np.linalg.svd(oracle.grarep_matrix(case.S, step), compute_uv=False)
            expected = np.append(sigma, np.zeros(dim))[: dim // 2]
            np.testing.assert_allclose(
                (columns**2).sum(axis=0), expected, rtol=0, atol=1e-5 * max(1.0, sigma[0])
            )

    def test_fewer_steps_are_the_first_columns_of_more(self):
        graph = GRAPHS["weighted"].graph()
        fewer, more = (GraRep(dim=8 * n, steps=n).embed(graph).vectors for n in (2, 3))
        np.testing.assert_array_equal(more[:, :16], fewer)


class TestLimits:
    def test_a_dim_that_is_not_a_multiple_of_steps_is_rejected_with_the_nearest(self):
        with pytest.raises(
            ParameterError, match=r"dim 130 and steps 4. The nearest valid dim is 128."
        ):
            GraRep(dim=130).embed(GRAPHS["weighted"].graph())
        with pytest.raises(ParameterError, match=r"dim 1 and steps 4. The nearest valid dim is 4."):
            GraRep(dim=1).embed(GRAPHS["weighted"].graph())

    def test_a_matrix_that_does_not_fit_is_rejected_with_the_memory_needed(self):
        graph = hopvec.Graph.from_edges([0], [1], nodes=20_000)
        with pytest.raises(MemoryLimitError) as error:
            GraRep(dim=16, memory="1GB").embed(graph)
        assert str(error.value).startswith("GraRep needs at least 1.6")
        assert f"{format_bytes(4 * 20_000**2)} for the matrix of all pairs of nodes" in str(
            error.value
        )

    def test_time_is_estimated_and_progress_is_reported(self):
        graph, reported = GRAPHS["unweighted"].graph(), []
        method = GraRep(dim=16)
        assert 0 < hopvec.estimate(graph, method).seconds < 60
        method.embed(graph, progress=lambda done, total: reported.append(done / total))
        assert reported == sorted(reported)
        assert reported[-1] == 1
