"""The distribution of R, a very sparse random projection."""

import math

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import hopvec
import reference
from hopvec import _native
from one_pass import one_pass

NODES, DIM = 2000, 160
SPARSITIES = [1, 1.5, 3, math.sqrt(NODES), 1000]


def random_matrix(graph, *, dim=DIM, sparsity=3.0, seed=0, **options):
    method = one_pass(
        dim=dim,
        weights=[0],
        self_weight=1,
        beta=0,
        normalize="none",
        sparsity=sparsity,
        seed=seed,
        **options,
    )
    return method.embed(graph).vectors


def nodes(ids):
    """A graph of the given nodes with an edge between the first two."""
    return hopvec.Graph.from_edges([ids[0]], [ids[1]], nodes=ids)


@pytest.fixture(scope="module")
def graph():
    return nodes(list(range(NODES)))


def close_to_1(mean_square, pairs, length, sparsity):
    """Whether a mean square over pairs of rows is 1, within five standard deviations.

    Both the products of the pairs and the entries they share contribute to the variance.
    """
    of_products = (sparsity**2 / length + 2) / pairs
    of_entries = 4 * (sparsity - 1) / (NODES * DIM)
    return abs(mean_square - 1) < 5 * math.sqrt(of_products + of_entries)


@pytest.mark.parametrize("sparsity", SPARSITIES)
class TestDistribution:
    """Bounds are five standard deviations; with fixed seeds, a test passes always or never."""

    def test_entries_are_plus_or_minus_the_root_of_s_or_0(self, graph, sparsity):
        root = np.float32(math.sqrt(sparsity))
        R = random_matrix(graph, sparsity=sparsity)  # noqa: N806
        assert set(np.unique(R)) == (
            {-root, root} if sparsity == 1 else {-root, np.float32(0), root}
        )

    def test_one_in_s_entries_is_nonzero(self, graph, sparsity):
        share = np.count_nonzero(random_matrix(graph, sparsity=sparsity)) / (NODES * DIM)
        p = 1 / sparsity
        assert abs(share - p) <= 5 * math.sqrt(p * (1 - p) / (NODES * DIM))

    def test_all_columns_of_a_group_are_equally_often_nonzero(self, graph, sparsity):
        counts = np.count_nonzero(random_matrix(graph, sparsity=sparsity), axis=0)
        by_column = counts.reshape(-1, 16).sum(axis=0)
        draws, p = NODES * DIM // 16, 1 / sparsity
        assert np.abs(by_column - draws * p).max() <= 5 * math.sqrt(draws * p * (1 - p))

    def test_signs_are_equally_likely(self, graph, sparsity):
        R = random_matrix(graph, sparsity=sparsity)  # noqa: N806
        assert abs(np.sign(R).sum()) < 5 * math.sqrt(np.count_nonzero(R))

    def test_entries_have_mean_0_and_variance_1(self, graph, sparsity):
        R = random_matrix(graph, sparsity=sparsity).astype(np.float64)  # noqa: N806
        assert abs(R.mean()) < 5 / math.sqrt(R.size)
        # The variance of the square is s - 1.
        assert abs((R**2).mean() - 1) <= 5 * math.sqrt((sparsity - 1) / R.size) + 1e-6

    def test_columns_are_uncorrelated(self, graph, sparsity):
        R = random_matrix(graph, sparsity=sparsity).astype(np.float64)  # noqa: N806
        products = (R.T @ R)[np.triu_indices(DIM, 1)] / NODES
        assert abs(products.mean()) < 5 / math.sqrt(NODES * len(products))
        assert close_to_1(NODES * products.var(), len(products), NODES, sparsity)

    def test_nodes_are_uncorrelated(self, graph, sparsity):
        R = random_matrix(graph, sparsity=sparsity).astype(np.float64)  # noqa: N806
        products = (R @ R.T)[np.triu_indices(NODES, 1)] / DIM
        assert abs(products.mean()) < 5 / math.sqrt(DIM * len(products))
        assert close_to_1(DIM * products.var(), len(products), DIM, sparsity)

    def test_seeds_are_uncorrelated(self, graph, sparsity):
        first = random_matrix(graph, sparsity=sparsity, seed=1).astype(np.float64)
        for seed in (0, 2, 3, 2**32 + 1, 2**63 + 1, 2**64 - 1):
            other = random_matrix(graph, sparsity=sparsity, seed=seed)
            assert abs((first * other).mean()) < 5 / math.sqrt(first.size)


class TestIndependence:
    """Chi-square tests of the joint distribution for s = 2: -, 0, 0, + are equally likely."""

    @staticmethod
    def p_value(first, second):
        table = stats.contingency.crosstab(np.sign(first).ravel(), np.sign(second).ravel()).count
        assert table.shape == (3, 3)
        return stats.chi2_contingency(table).pvalue

    @pytest.mark.parametrize("apart", [1, 2, 7, 15, 16, 32])
    def test_columns_at_a_distance(self, graph, apart):
        R = random_matrix(graph, sparsity=2)  # noqa: N806
        assert self.p_value(R[:, :-apart], R[:, apart:]) > 1e-4

    @pytest.mark.parametrize("apart", [1, 2, 64])
    def test_nodes_with_nearby_ids(self, graph, apart):
        R = random_matrix(graph, sparsity=2)  # noqa: N806
        assert self.p_value(R[:-apart], R[apart:]) > 1e-4

    @pytest.mark.parametrize("other", [1, 2, 2**63])
    def test_seeds(self, graph, other):
        first, second = (random_matrix(graph, sparsity=2, seed=seed) for seed in (0, other))
        assert self.p_value(first, second) > 1e-4

    def test_the_signs_of_neighboring_entries_of_a_dense_r(self, graph):
        R = random_matrix(graph, sparsity=1)  # noqa: N806
        runs = np.packbits(R.reshape(-1, 8) > 0)
        counts = np.bincount(runs, minlength=256)
        assert stats.chisquare(counts).pvalue > 1e-4

    def test_the_number_of_entries_in_a_group_is_binomial(self, graph):
        R = random_matrix(graph, sparsity=4)  # noqa: N806
        counts = np.count_nonzero(R.reshape(-1, 16), axis=1)
        observed = np.bincount(np.clip(counts, 0, 10), minlength=11)
        binomial = stats.binom(16, 0.25)
        expected = np.append(binomial.pmf(range(10)), binomial.sf(9)) * len(counts)
        assert stats.chisquare(observed, expected).pvalue > 1e-4


class TestAnEntryIsAFunctionOfSeedNodeAndColumn:
    @pytest.mark.parametrize("precision", ["float32", "float16"])
    @pytest.mark.parametrize("dim", [1, 15, 16, 17, 31, 32, 33, 100])
    def test_fewer_columns_are_the_first_columns_of_more(self, graph, dim, precision):
        more = random_matrix(graph, dim=160)
        fewer = random_matrix(graph, dim=dim, precision=precision)
        np.testing.assert_array_equal(fewer, more[:, :dim])

    def test_other_nodes_do_not_matter(self, graph):
        some = [1500, 3, 77, 2]
        alone = random_matrix(nodes(some))
        np.testing.assert_array_equal(alone, random_matrix(graph)[some])

    def test_edges_do_not_matter(self):
        random = np.random.default_rng(0)
        crowded = hopvec.Graph.from_edges(*random.integers(0, 300, (2, 2000)), nodes=300)
        empty = nodes(list(range(300)))
        np.testing.assert_array_equal(random_matrix(crowded), random_matrix(empty))

    def test_threads_do_not_matter(self, graph):
        results = [random_matrix(graph, threads=threads).tobytes() for threads in (1, 2, 5)]
        assert len(set(results)) == 1

    def test_another_seed_gives_another_matrix(self, graph):
        assert not np.array_equal(random_matrix(graph, seed=1), random_matrix(graph, seed=2))

    def test_an_integer_and_its_decimal_string_differ(self):
        integers = random_matrix(nodes([1, 2]))
        strings = random_matrix(nodes(["1", "2"]))
        assert not np.array_equal(integers, strings)


class TestJohnsonLindenstrauss:
    @staticmethod
    def distortion(sparsity, seed):
        """The standard deviation of |R^T x|^2 / dim over unit vectors x."""
        count, dim = 2500, 256
        graph = nodes(list(range(count)))
        R = random_matrix(graph, dim=dim, sparsity=sparsity, seed=seed)  # noqa: N806
        random = np.random.default_rng(seed)
        points = random.normal(size=(60, count))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        return (((points @ R) ** 2).sum(axis=1) / dim).std()

    def test_very_sparse_rows_preserve_lengths_as_well_as_dense_ones(self):
        def error(sparsity):
            return np.mean([self.distortion(sparsity, seed) for seed in range(4)])

        dense, sparse = error(1), error(math.sqrt(2500))
        # The variance of |R^T x|^2 / dim is 2 / dim for Gaussian rows.
        assert dense == pytest.approx(math.sqrt(2 / 256), rel=0.15)
        assert sparse == pytest.approx(dense, rel=0.15)


class TestKeys:
    @given(st.binary(max_size=100), st.integers(0, 2**64 - 1))
    def test_the_reference_xxh64_is_xxh64(self, data, seed):
        assert reference.xxh64(data, seed) == xxhash.xxh64_intdigest(data, seed)

    @given(st.lists(st.text(max_size=80).map(str.encode), min_size=1, max_size=20))
    def test_keys_of_strings_are_xxh64_of_their_bytes(self, names):
        offsets = np.cumsum([0, *map(len, names)])
        text = np.frombuffer(b"".join(names) or b"\0", np.uint8)
        keys = _native.string_keys(offsets, text)
        assert keys.tolist() == [reference.xxh64(name) for name in names]

    @given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
    def test_keys_of_integers_are_xxh64_of_their_eight_bytes(self, ids):
        keys = _native.integer_keys(np.array(ids, np.int64))
        assert keys.tolist() == [reference.xxh64(i.to_bytes(8, "little", signed=True)) for i in ids]

    def test_keys_equal_those_of_spark(self):
        # select xxhash64(cast(1 as bigint))
        assert np.uint64(_native.integer_keys(np.array([1]))[0]).astype(np.int64) == (
            -7001672635703045582
        )


class TestReference:
    @given(
        st.integers(0, 2**64 - 1),
        st.floats(1, 1e12) | st.sampled_from([1.0, 1.5, 3.0]),
        st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=8),
        st.booleans(),
        st.integers(0, 3),
    )
    def test_native_draws_have_the_reference_signs(self, seed, sparsity, keys, as_half, slab):
        columns = 32 if as_half else 16
        block = _native.allocate(64 * len(keys))
        _native.draw(
            _native.SparseRows(seed=seed, sparsity=sparsity),
            np.array(keys, np.uint64),
            np.full(len(keys), 3, np.float32),
            slab,
            as_half,
            _native.Sink(next=block),
            2,
            _native.Stop(),
        )
        got = block.view(np.float16 if as_half else np.float32).reshape(len(keys), columns)
        signs = reference.sparse_rows(seed, sparsity, keys, columns * (slab + 1))
        np.testing.assert_array_equal(got, 3 * signs[:, -columns:])

    def test_mix_is_the_finalizer_of_splitmix64(self):
        # The first outputs of splitmix64 from state 0, as published with xoshiro.
        states = [reference.GOLDEN * step % 2**64 for step in (1, 2, 3)]
        assert [reference.mix(state) for state in states] == [
            0xE220A8397B1DCDAF,
            0x6E789E6AA1B965F4,
            0x06C45D188009454F,
        ]
