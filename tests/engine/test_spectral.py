"""The largest eigenpairs of symmetric matrices satisfy their definition."""

import numpy as np
import pytest

from hopvec import _native
from hopvec.engine.spectral import BLOCK_COLUMNS, largest_eigenpairs, max_blocks, restart_blocks
from hopvec.progress import no_progress


def with_values(values, seed=0):
    """A symmetric matrix with the given eigenvalues."""
    values = np.asarray(values, np.float64)
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    return basis * values @ basis.T


def pairs_of(matrix, count, *, by="magnitude", tolerance=1e-9, threads=2):
    def draw(number, stop):
        return np.random.default_rng(number).normal(size=(len(matrix), BLOCK_COLUMNS))

    return largest_eigenpairs(
        lambda block, stop: matrix @ block,
        draw,
        count,
        by=by,
        tolerance=tolerance,
        threads=threads,
        progress=no_progress,
    )


SPECTRA = {
    "few nodes": np.arange(1, 12),
    "one node": [3.0],
    "slowly decreasing": np.linspace(1, 2, 180),
    "both signs": np.linspace(-1, 1, 180),
    "low rank": [5, -4, 3] + [0] * 180,
    "one multiple value": [2.0] * 120,
    "multiple values": [5.0] * 50 + [-3.0] * 50 + [1.0] * 80,
    "zero matrix": [0.0] * 100,
}


class TestEigenpairs:
    @pytest.mark.parametrize("by", ["magnitude", "value"])
    @pytest.mark.parametrize("count", [1, 16, 40])
    @pytest.mark.parametrize("spectrum", SPECTRA)
    def test_they_are_the_largest_and_orthonormal(self, spectrum, count, by):
        values = np.asarray(SPECTRA[spectrum], np.float64)
        matrix = with_values(values)
        pairs = pairs_of(matrix, count, by=by)
        size = np.abs(values) if by == "magnitude" else values
        expected = np.sort(size)[::-1][:count]
        here, scale = len(expected), max(1.0, np.abs(values).max())
        found = np.abs(pairs.values) if by == "magnitude" else pairs.values
        if by == "magnitude" or expected.min(initial=0) >= 0:  # padded with zeros
            np.testing.assert_allclose(found[:here], expected, rtol=0, atol=1e-8 * scale)
        assert not pairs.values[here:].any()
        assert not pairs.vectors[:, here:].any()
        nonzero = np.flatnonzero(np.abs(pairs.values) > 1e-6 * scale)
        vectors = pairs.vectors[:, nonzero]
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(nonzero)), rtol=0, atol=1e-9)
        np.testing.assert_allclose(
            matrix @ vectors, vectors * pairs.values[nonzero], rtol=0, atol=1e-8 * scale
        )

    def test_the_largest_entry_of_a_vector_is_positive(self):
        vectors = pairs_of(with_values(np.arange(200)), 20).vectors
        largest = np.abs(vectors).argmax(axis=0)
        assert (vectors[largest, np.arange(20)] > 0).all()

    def test_residuals_are_within_the_tolerance(self):
        matrix = with_values(np.linspace(1, 2, 500))
        for tolerance in (1e-2, 1e-5, 1e-9):
            pairs = pairs_of(matrix, 24, tolerance=tolerance)
            errors = matrix @ pairs.vectors - pairs.vectors * pairs.values
            assert np.linalg.norm(errors, axis=0).max() <= 1.01 * tolerance * 2

    def test_a_long_search_restarts_and_limits_the_basis(self):
        spectrum = np.linspace(1, 2, 500)
        matrix, blocks = with_values(spectrum), []
        calls = []
        pairs = largest_eigenpairs(
            lambda block, stop: (blocks.append(1), matrix @ block)[1],
            lambda number, stop: np.random.default_rng(number).normal(size=(500, BLOCK_COLUMNS)),
            16,
            by="magnitude",
            tolerance=1e-9,
            threads=2,
            progress=lambda done, total: calls.append((done, total)),
        )
        assert len(blocks) > max_blocks(16)
        np.testing.assert_allclose(pairs.values, spectrum[::-1][:16], rtol=1e-9)
        assert calls[-1] == (16, 16)
        assert {total for _, total in calls} == {16}
        assert restart_blocks(16) < max_blocks(16)

    def test_the_same_bytes_on_one_thread_and_on_five(self):
        matrix = with_values(np.linspace(-1, 2, 400))
        dense = matrix.astype(np.float32)

        def multiply(block, stop):
            return _native.product(dense, block, False, 1, stop)

        results = set()
        for threads in (1, 2, 5):
            pairs = largest_eigenpairs(
                multiply,
                lambda number, stop: np.random.default_rng(number).normal(
                    size=(400, BLOCK_COLUMNS)
                ),
                20,
                by="magnitude",
                tolerance=1e-7,
                threads=threads,
                progress=no_progress,
            )
            results.add((pairs.values.tobytes(), pairs.vectors.tobytes()))
        assert len(results) == 1

    def test_an_exception_in_the_product_ends_the_search(self):
        def multiply(block, stop):
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            largest_eigenpairs(
                multiply,
                lambda number, stop: np.ones((9, BLOCK_COLUMNS)),
                2,
                by="value",
                tolerance=1e-7,
                threads=2,
                progress=no_progress,
            )
