"""R with normally distributed entries: its distribution and the reference implementation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import hopvec
import reference
from hopvec import ParameterError, _native
from one_pass import one_pass

NODES, DIM = 2000, 160
GRAPH = hopvec.Graph.from_edges([0], [1], nodes=NODES)


def random_matrix(*, dim=DIM, seed=0, **options):
    """R, obtained from FastRP as order 0 with L = 1."""
    alone = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none"}
    method = one_pass(dim=dim, seed=seed, projection="gaussian", **alone, **options)
    return method.embed(GRAPH).vectors.astype(np.float64)


@pytest.fixture(scope="module")
def R():  # noqa: N802
    return random_matrix()


def uncorrelated(products, length):
    """Whether the means of `length` products look like those of independent entries."""
    scaled = products * math.sqrt(length)
    count = len(products)
    return abs(scaled.mean()) < 5 / math.sqrt(count) and abs(scaled.var() - 1) < 10 / math.sqrt(
        count
    )


class TestDistribution:
    """Bounds are five standard deviations; with fixed seeds, a test passes always or never."""

    def test_the_moments_are_those_of_the_normal_distribution(self, R):  # noqa: N803
        # The variance of the k-th power is m_2k - m_k^2: 1, 2, 15, 96.
        for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
            assert abs((R**power).mean() - mean) < 5 * math.sqrt(variance / R.size)

    def test_the_distribution_passes_a_kolmogorov_smirnov_test(self, R):  # noqa: N803
        assert stats.kstest(R.ravel(), "norm").pvalue > 1e-4

    def test_it_is_normal_in_every_column_and_in_both_tails(self, R):  # noqa: N803
        assert stats.kstest([stats.kstest(c, "norm").pvalue for c in R.T], "uniform").pvalue > 1e-4
        for edge in (2.0, 3.0, 4.0):
            expected = R.size * stats.norm.sf(edge)
            for count in (np.count_nonzero(edge < R), np.count_nonzero(-edge > R)):
                assert abs(count - expected) < 5 * math.sqrt(expected)

    @pytest.mark.parametrize("power", [1, 2])
    def test_columns_are_uncorrelated_and_so_are_their_squares(self, R, power):  # noqa: N803
        values = stats.zscore(R**power, axis=None)
        products = (values.T @ values)[np.triu_indices(DIM, 1)] / NODES
        assert uncorrelated(products, NODES)

    @pytest.mark.parametrize("power", [1, 2])
    def test_nodes_are_uncorrelated_and_so_are_their_squares(self, R, power):  # noqa: N803
        values = stats.zscore(R[:400] ** power, axis=None)
        products = (values @ values.T)[np.triu_indices(400, 1)] / DIM
        assert uncorrelated(products, DIM)

    @pytest.mark.parametrize("apart", [1, 2, 15, 16])
    def test_columns_at_a_distance_are_independent(self, R, apart):  # noqa: N803
        first, second = (
            np.digitize(part.ravel(), [-1, 0, 1]) for part in (R[:, :-apart], R[:, apart:])
        )
        table = stats.contingency.crosstab(first, second).count
        assert stats.chi2_contingency(table).pvalue > 1e-4

    def test_the_two_entries_of_one_hash_have_a_uniform_angle(self, R):  # noqa: N803
        angles = np.arctan2(R[:, 1::2], R[:, ::2]) / (2 * math.pi) % 1
        assert stats.kstest(angles.ravel(), "uniform").pvalue > 1e-4

    @pytest.mark.parametrize("seed", [1, 2, 2**32 + 1, 2**63, 2**64 - 1])
    def test_seeds_are_uncorrelated(self, R, seed):  # noqa: N803
        assert abs((R * random_matrix(seed=seed)).mean()) < 5 / math.sqrt(R.size)


class TestAnEntryIsAFunctionOfSeedNodeAndColumn:
    @pytest.mark.parametrize("dim", [1, 15, 16, 17, 33])
    def test_fewer_columns_are_the_first_columns_of_more(self, R, dim):  # noqa: N803
        np.testing.assert_array_equal(random_matrix(dim=dim), R[:, :dim])

    def test_float16_storage_rounds_it_and_can_hold_the_largest_entries(self, R):  # noqa: N803
        np.testing.assert_allclose(random_matrix(precision="float16"), R, rtol=2**-11, atol=1e-7)

    @given(
        st.integers(0, 2**64 - 1),
        st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8),
        st.integers(0, 3),
    )
    def test_native_draws_match_the_reference_up_to_float32_rounding(self, seed, keys, slab):
        block = _native.allocate(64 * len(keys))
        _native.draw(
            _native.GaussianRows(seed=seed),
            np.array(keys, np.uint64),
            np.full(len(keys), 8, np.float32),
            slab,
            False,
            _native.Sink(next=block),
            2,
            _native.Stop(),
        )
        got = block.view(np.float32).reshape(len(keys), 16)
        expected = reference.gaussian_rows(seed, keys, 16 * (slab + 1))[:, -16:]
        np.testing.assert_allclose(got, expected, rtol=6.1e-8, atol=1e-14)


def test_a_gaussian_projection_with_a_sparsity_is_rejected():
    with pytest.raises(
        ParameterError, match="projection='sparse' only, but projection is 'gaussian'"
    ):
        one_pass(dim=8, projection="gaussian", sparsity=3).embed(GRAPH)
