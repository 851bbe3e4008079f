"""Nearest rows and best pairs of rows, compared with the reference."""

import itertools

import numpy as np
import pytest

import reference
from hopvec import _native

STOP = _native.Stop()

threads_1_and_3 = pytest.mark.parametrize("threads", [1, 3])


class TestNearest:
    @staticmethod
    def native(vectors, queries, k, threads):
        norms = _native.inverse_norms(vectors, threads, STOP)
        queries = np.asarray(queries, np.int64)
        own = np.arange(len(queries) + 1), queries
        given = (vectors, norms, None, queries), (vectors, norms, None, None)
        rows, similarity = _native.top_products(*given, *own, k, -np.inf, threads, STOP)
        return rows.reshape(-1, k), similarity.reshape(-1, k)

    @threads_1_and_3
    @pytest.mark.parametrize(
        ("count", "dim", "k"), [(2, 1, 1), (15, 3, 4), (16, 16, 15), (17, 5, 10), (300, 20, 7)]
    )
    def test_cosines_and_rows_match_the_reference(self, count, dim, k, threads):
        vectors = np.random.default_rng(count).normal(size=(count, dim)).astype(np.float32)
        queries = list(range(count))
        rows, similarity = self.native(vectors, queries, k, threads)
        _, expected = reference.nearest(vectors, queries, k)
        np.testing.assert_allclose(similarity, expected, atol=1e-6)
        unit = reference.unit_rows(vectors.astype(np.float64))
        cosines = np.einsum("qkd,qd->qk", unit[rows], unit)
        np.testing.assert_allclose(similarity, cosines, atol=1e-6)
        assert all(len(set(row)) == k and query not in row for query, row in enumerate(rows))

    @threads_1_and_3
    @pytest.mark.parametrize("k", [1, 5, 100])
    def test_ties_are_broken_by_row(self, k, threads):
        # Four signs give vectors of length 2: cosines are multiples of 1/4, and most of them tie.
        corners = np.array(list(itertools.product([-1, 1], repeat=4)), np.float32)
        vectors = corners[np.random.default_rng(0).integers(0, 16, 200)]
        queries = [0, 199, 7, 7, 100]
        rows, similarity = self.native(vectors, queries, k, threads)
        expected_rows, expected = reference.nearest(vectors, queries, k)
        np.testing.assert_array_equal(rows, expected_rows)
        np.testing.assert_array_equal(similarity, expected)

    @pytest.mark.parametrize("count", [1, 7, 8, 9, 127, 128, 129, 600])
    def test_any_number_of_queries(self, count):
        vectors = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
        queries = np.random.default_rng(1).integers(0, 100, count)
        rows, _ = self.native(vectors, queries, 3, 2)
        expected, _ = reference.nearest(vectors, range(100), 3)
        np.testing.assert_array_equal(rows, expected[queries])

    def test_a_zero_row_has_similarity_0_to_all(self):
        vectors = np.array([[0, 0], [1, 0], [-1, 0], [0, 0]], np.float32)
        rows, similarity = self.native(vectors, [0, 1], 3, 1)
        assert rows.tolist() == [[1, 2, 3], [0, 3, 2]]
        assert similarity.tolist() == [[0, 0, 0], [0, 0, -1]]

    def test_inverse_norms_are_one_over_the_length_and_0_for_a_zero_row(self):
        vectors = np.random.default_rng(0).normal(size=(1025, 7)).astype(np.float32)
        vectors[3] = 0
        got = _native.inverse_norms(vectors, 2, STOP)
        norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
        expected = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
        np.testing.assert_allclose(got, expected, rtol=1e-7)


class TestBestPairs:
    @staticmethod
    def native(vectors, scale, first, last, k, threads, min_similarity=-np.inf):
        i, j, similarity = _native.best_pairs(
            vectors, scale, first, last, k, min_similarity, threads, STOP
        )
        return list(zip(similarity.tolist(), i.tolist(), j.tolist(), strict=True))

    @threads_1_and_3
    @pytest.mark.parametrize(
        ("count", "first", "last", "k"),
        [(2, 0, 2, 1), (2, 0, 2, 9), (17, 3, 9, 20), (129, 0, 129, 500), (300, 128, 300, 40)],
    )
    def test_pairs_match_the_reference_despite_many_ties(self, count, first, last, k, threads):
        corners = np.array(list(itertools.product([-1, 1], repeat=4)), np.float32)
        vectors = corners[np.random.default_rng(count).integers(0, 16, count)]
        scale = np.random.default_rng(1).choice(np.array([0.25, 0.5, 1.0], np.float32), count)
        expected = reference.best_pairs(vectors, scale, first, last, k)
        assert self.native(vectors, scale, first, last, k, threads) == expected

    @threads_1_and_3
    def test_similarities_match_the_reference(self, threads):
        vectors = np.random.default_rng(0).normal(size=(200, 20)).astype(np.float32)
        scale = _native.inverse_norms(vectors, 1, STOP)
        found = self.native(vectors, scale, 0, 200, 1000, threads)
        expected = reference.best_pairs(vectors, scale, 0, 200, 1000)
        np.testing.assert_allclose(np.array(found)[:, 0], np.array(expected)[:, 0], atol=1e-6)

    def test_pairs_below_min_similarity_are_left_out(self):
        vectors = np.array([[4], [2], [1], [-1]], np.float32)
        ones = np.ones(4, np.float32)
        found = self.native(vectors, ones, 0, 4, 6, 1, min_similarity=2.0)
        assert found == [(8.0, 0, 1), (4.0, 0, 2), (2.0, 1, 2)]
