"""Products of dense matrices, logarithms and eigenvectors, compared with the reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from hopvec import _native
from hopvec.engine.spectral import gram_schmidt

STOP = _native.Stop()
EPSILON = 2.0**-52

sizes = st.integers(1, 70)
seeds = st.integers(0, 2**32)


class TestProduct:
    @given(sizes, sizes, st.booleans(), st.integers(1, 3), seeds)
    def test_it_matches_the_reference(self, rows, columns, transposed, threads, seed):
        random = np.random.default_rng(seed)
        matrix = random.normal(size=(rows, columns)).astype(np.float32)
        block = random.normal(size=(rows if transposed else columns, 16))
        got = _native.product(matrix, block, transposed, threads, STOP)
        terms = reference.product(np.abs(matrix), np.abs(block), transposed=transposed)
        expected = reference.product(matrix, block, transposed=transposed)
        assert (np.abs(got - expected) <= 100 * EPSILON * terms).all()

    @pytest.mark.parametrize("transposed", [False, True])
    def test_a_slice_of_columns_of_a_wider_matrix_works(self, transposed):
        random = np.random.default_rng(0)
        matrix = random.normal(size=(30, 50)).astype(np.float32)[:, 7:27]
        block = random.normal(size=(30 if transposed else 20, 16))
        got = _native.product(matrix, block, transposed, 2, STOP)
        again = _native.product(np.ascontiguousarray(matrix), block, transposed, 2, STOP)
        np.testing.assert_array_equal(got, again)

    @pytest.mark.parametrize("transposed", [False, True])
    def test_the_same_bytes_on_one_thread_and_on_five(self, transposed):
        random = np.random.default_rng(0)
        matrix = random.normal(size=(1300, 1300)).astype(np.float32)
        block = random.normal(size=(1300, 16))
        results = {_native.product(matrix, block, transposed, n, STOP).tobytes() for n in (1, 2, 5)}
        assert len(results) == 1


class TestGram:
    @given(st.integers(0, 200), sizes, st.integers(1, 3), seeds)
    def test_it_matches_the_reference(self, rows, columns, threads, seed):
        random = np.random.default_rng(seed)
        matrix = random.normal(size=(rows, columns)).astype(np.float32)
        got, expected = (np.full((columns, columns), 7.0) for _ in range(2))
        _native.add_gram(matrix, got, threads, STOP)
        reference.add_gram(matrix, expected)
        np.testing.assert_allclose(got, expected, rtol=0, atol=3e-6 * (1 + rows))

    def test_the_same_bytes_on_one_thread_and_on_five(self):
        matrix = np.random.default_rng(0).normal(size=(300, 100)).astype(np.float32)
        results = set()
        for threads in (1, 2, 5):
            gram = np.zeros((100, 100))
            _native.add_gram(matrix, gram, threads, STOP)
            results.add(gram.tobytes())
        assert len(results) == 1


class TestBasis:
    @given(st.integers(1, 200), st.integers(1, 5), st.integers(1, 3), seeds)
    def test_blocks_form_one_matrix_side_by_side(self, rows, count, threads, seed):
        random = np.random.default_rng(seed)
        basis = [random.normal(size=(rows, 16)) for _ in range(count)]
        block = random.normal(size=(rows, 16))
        side_by_side = np.hstack(basis)
        products = _native.basis_products(basis, block, threads, STOP)
        np.testing.assert_allclose(products, side_by_side.T @ block, rtol=0, atol=1e-11)
        total = block.copy()
        _native.add_combination(basis, products, total, threads, STOP)
        expected = block + side_by_side @ (side_by_side.T @ block)
        np.testing.assert_allclose(total, expected, rtol=1e-11, atol=1e-9)

    def test_an_empty_basis_has_no_products_and_adds_nothing(self):
        block = np.ones((5, 16))
        products = _native.basis_products([], block, 2, STOP)
        assert products.shape == (0, 16)
        _native.add_combination([], products, block, 2, STOP)
        np.testing.assert_array_equal(block, 1.0)


class TestPositiveLogarithm:
    @given(sizes, sizes, st.integers(1, 3), seeds)
    def test_it_matches_the_reference_up_to_float32_rounding(self, rows, columns, threads, seed):
        random = np.random.default_rng(seed)
        matrix = random.lognormal(0, 5, size=(rows, columns)).astype(np.float32)
        factor = random.lognormal(0, 5, size=columns)
        expected = reference.positive_logarithm(matrix, factor)
        _native.positive_logarithm(matrix, factor, threads, STOP)
        np.testing.assert_allclose(matrix, expected, rtol=6e-8, atol=1e-12)

    def test_values_of_at_most_1_become_0(self):
        matrix = np.array([[0.0, 0.5, 1.0, 2.0]], np.float32)
        _native.positive_logarithm(matrix, np.array([9.0, 2.0, 1.0, 0.5]), 1, STOP)
        assert not matrix.any()


def symmetric(size, seed, *, rank=None, values=None):
    random = np.random.default_rng(seed)
    basis = np.linalg.qr(random.normal(size=(size, size)))[0]
    if values is None:
        values = random.normal(size=size) * 10.0 ** random.integers(-6, 6)
    values = np.array(values, np.float64)
    if rank is not None:
        values[rank:] = 0.0
    matrix = basis * values @ basis.T
    return (matrix + matrix.T) / 2


class TestEigen:
    @given(
        st.integers(1, 60), seeds, st.none() | st.integers(0, 60), st.integers(0, 60), st.booleans()
    )
    def test_it_matches_the_reference(self, size, seed, rank, count, by_magnitude):
        matrix, count = symmetric(size, seed, rank=rank), min(size, count)
        values, rows = _native.eigen(matrix, count, by_magnitude, 2, STOP)
        expected, expected_rows = reference.eigen(matrix, count, by_magnitude)
        error = 1e-13 * size * np.abs(matrix).max()
        assert rows.shape == expected_rows.shape
        np.testing.assert_allclose(np.sort(values), np.sort(expected), rtol=0, atol=error)
        ranked = np.abs(values) if by_magnitude else values
        assert (np.diff(ranked) <= 0).all()
        np.testing.assert_allclose(rows @ rows.T, np.eye(count), rtol=0, atol=1e-13 * size)
        np.testing.assert_allclose(rows @ matrix, values[:count, None] * rows, rtol=0, atol=error)

    @given(
        st.lists(
            st.tuples(st.sampled_from([0.0, 1.0, -1.0, 3.0]), st.sampled_from([0.0, 1e-12, 1e-5])),
            min_size=1,
            max_size=200,
        ),
        st.data(),
        seeds,
    )
    def test_vectors_are_orthonormal_even_for_close_eigenvalues(self, near, data, seed):
        matrix = symmetric(len(near), seed, values=[value + shift for value, shift in near])
        count = data.draw(st.integers(0, len(near)))
        values, rows = _native.eigen(matrix, count, False, 2, STOP)
        np.testing.assert_allclose(rows @ rows.T, np.eye(count), rtol=0, atol=1e-12)
        np.testing.assert_allclose(rows @ matrix, values[:count, None] * rows, rtol=0, atol=1e-12)

    @given(st.integers(1, 40), seeds, st.data())
    def test_the_first_vectors_do_not_depend_on_the_count(self, size, seed, data):
        matrix = symmetric(size, seed)
        count = data.draw(st.integers(0, size))
        np.testing.assert_array_equal(
            _native.eigen(matrix, count, False, 1, STOP)[1],
            _native.eigen(matrix, size, False, 1, STOP)[1][:count],
        )

    @pytest.mark.parametrize(
        "matrix",
        [
            np.zeros((9, 9)),
            np.eye(9),
            np.ones((9, 9)),
            np.diag(np.arange(9.0)),
            np.kron(np.eye(3), np.ones((3, 3))),
            np.fliplr(np.eye(8)),
            symmetric(40, 1, values=[1] * 15 + [-1] * 15 + [3] * 10),
            np.array([[-2.0]]),
            np.array([[1.0, 2.0], [2.0, 1.0]]),
            np.zeros((0, 0)),
        ],
        ids=["0", "1", "ones", "diagonal", "blocks", "pairs", "three", "1x1", "2x2", "empty"],
    )
    def test_multiple_eigenvalues_have_orthonormal_vectors(self, matrix):
        size = len(matrix)
        values, rows = _native.eigen(matrix, size, False, 2, STOP)
        np.testing.assert_allclose(rows @ rows.T, np.eye(size), rtol=0, atol=1e-13)
        np.testing.assert_allclose(rows.T * values @ rows, matrix, rtol=0, atol=1e-12)

    def test_the_same_bytes_on_one_thread_and_on_five(self):
        matrix = symmetric(600, 3)
        results = {
            b"".join(part.tobytes() for part in _native.eigen(matrix, 50, False, threads, STOP))
            for threads in (1, 5)
        }
        assert len(results) == 1

    def test_the_matrix_is_not_modified(self):
        matrix = symmetric(10, 0)
        before = matrix.copy()
        _native.eigen(matrix, 10, False, 2, STOP)
        np.testing.assert_array_equal(matrix, before)


class TestGramSchmidt:
    @given(st.integers(1, 30), st.integers(0, 40), seeds)
    def test_the_columns_become_orthonormal_in_their_order(self, columns, more, seed):
        X = np.random.default_rng(seed).normal(size=(2 * columns + more, columns))  # noqa: N806
        T = gram_schmidt(X.T @ X, 0.0)  # noqa: N806
        np.testing.assert_array_equal(T, np.triu(T))
        assert (T.diagonal() > 0).all()
        np.testing.assert_allclose((X @ T).T @ (X @ T), np.eye(columns), rtol=0, atol=1e-9)

    def test_a_linearly_dependent_column_becomes_zero(self):
        X = np.random.default_rng(0).normal(size=(50, 4))  # noqa: N806
        X[:, 2] = X[:, 0] - 2 * X[:, 1]
        gram = X.T @ X
        Q = X @ gram_schmidt(gram, 1e-10 * gram.diagonal())  # noqa: N806
        np.testing.assert_allclose(Q.T @ Q, np.diag([1, 1, 0, 1]), rtol=0, atol=1e-9)
