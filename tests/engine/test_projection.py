"""Gram matrices and products of rows that are normalized as they are read."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from hopvec import _native
from hopvec.engine.principal import PART_ROWS, sum_products
from hopvec.engine.row_sum import PANEL_ROWS

STOP = _native.Stop()

row_counts = st.integers(0, 300)
sizes = st.integers(1, 70)
threads = st.integers(1, 3)
seeds = st.integers(0, 2**32)


def random_rows(rows, columns, seed):
    """Rows, some of them zero, and statistics to normalize them."""
    random = np.random.default_rng(seed)
    matrix = random.normal(1.0, size=(rows, columns)).astype(np.float32)
    matrix[random.random(rows) < 0.1] = 0
    mean = random.normal(1.0, 0.1, size=columns)
    factor = random.choice([0.0, 1.0, 0.5], size=columns, p=[0.1, 0.5, 0.4])
    return matrix, mean, factor


def gram_of(rows, mean, factor, threads=1):
    total, gram = np.zeros(len(mean)), np.zeros((len(mean), len(mean)))
    _native.add_normalized_gram(rows, mean, factor, total, gram, threads, STOP)
    return total, gram


class TestGram:
    @given(row_counts, sizes, threads, seeds)
    def test_it_matches_the_reference(self, rows, columns, threads, seed):
        matrix, mean, factor = random_rows(rows, columns, seed)
        total, gram = gram_of(matrix, mean, factor, threads)
        unit = reference.normalize_rows(matrix, mean, factor)
        np.testing.assert_allclose(total, unit.sum(axis=0), rtol=0, atol=1e-7 * (1 + rows))
        expected = np.triu(unit.T @ unit)
        np.testing.assert_allclose(np.triu(gram), expected, rtol=0, atol=2e-7 * (1 + rows))

    @pytest.mark.parametrize("columns", [16, 33, 128])
    def test_the_same_bytes_on_one_thread_and_on_five_and_in_several_calls(self, columns):
        matrix, mean, factor = random_rows(5 * PANEL_ROWS + 100, columns, 0)
        results = {b"".join(map(bytes, gram_of(matrix, mean, factor, n))) for n in (1, 2, 5)}
        total, gram = np.zeros(columns), np.zeros((columns, columns))
        for first in range(0, len(matrix), 2 * PANEL_ROWS):
            some = matrix[first : first + 2 * PANEL_ROWS]
            _native.add_normalized_gram(some, mean, factor, total, gram, 2, STOP)
        assert results == {bytes(total) + bytes(gram)}

    def test_columns_of_a_wider_matrix_work(self):
        matrix, mean, factor = random_rows(200, 50, 0)
        some, own = matrix[:, 7:27], np.ascontiguousarray(matrix[:, 7:27])
        statistics = (mean[7:27], factor[7:27])
        for got, expected in zip(
            gram_of(some, *statistics), gram_of(own, *statistics), strict=True
        ):
            np.testing.assert_array_equal(got, expected)


class TestProjection:
    @given(row_counts, sizes, sizes, st.booleans(), threads, seeds)
    def test_it_matches_the_reference(self, rows, columns, dim, unit, threads, seed):
        matrix, mean, factor = random_rows(rows, columns, seed)
        random = np.random.default_rng(seed)
        unit_factor = random.uniform(0.5, 2, size=dim) if unit else None
        basis = random.normal(size=(columns, dim)).astype(np.float32)
        offset = random.normal(size=dim).astype(np.float32)
        targets = random.permutation(rows).astype(np.int32)
        out = np.full((rows, dim + 3), 7, dtype=np.float32)
        _native.project_rows(
            matrix, mean, factor, basis, offset, unit_factor, out, targets, threads, STOP
        )
        expected = reference.project_rows(matrix, mean, factor, basis, offset, unit_factor)
        np.testing.assert_allclose(out[targets, :dim], expected, rtol=0, atol=2e-5)
        assert (out[:, dim:] == 7).all()

    def test_in_place_and_on_any_number_of_threads_the_bytes_are_the_same(self):
        matrix, mean, factor = random_rows(3 * PANEL_ROWS + 5, 40, 0)
        basis = np.random.default_rng(1).normal(size=(40, 40)).astype(np.float32)
        offset, apart = np.ones(40, np.float32), np.empty_like(matrix)
        _native.project_rows(matrix, mean, factor, basis, offset, None, apart, None, 1, STOP)
        _native.project_rows(matrix, mean, factor, basis, offset, None, matrix, None, 5, STOP)
        np.testing.assert_array_equal(matrix, apart)


@given(row_counts, sizes, seeds)
def test_a_centered_gram_matrix_is_that_of_centered_rows(rows, columns, seed):
    matrix = np.random.default_rng(seed).normal(1.0, size=(rows + 1, columns))
    mean, gram = matrix.mean(axis=0), np.triu(matrix.T @ matrix)
    _native.center_gram(gram, mean, len(matrix))
    expected = (matrix - mean).T @ (matrix - mean)
    np.testing.assert_allclose(gram, expected, rtol=0, atol=1e-12 * len(matrix))
    np.testing.assert_array_equal(gram, gram.T)


@given(sizes, threads, seeds)
def test_a_spectral_matrix_matches_the_reference(size, threads, seed):
    random = np.random.default_rng(seed)
    vectors, factor = random.normal(size=(size, size)), random.normal(size=size)
    got = _native.spectral_matrix(vectors, factor, threads, STOP)
    expected = reference.spectral_matrix(vectors, factor)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * size)


@given(st.lists(st.floats(1e-300, 1e300), max_size=30))
def test_logarithms_match_numpy(values):
    numbers = np.array(values)
    np.testing.assert_allclose(_native.logarithm(numbers), np.log(numbers), rtol=1e-14, atol=1e-15)


ROUNDING = """
import hashlib
import numpy as np
from hopvec import _native
# Short mantissas and wide exponents: many sums lie halfway between two floats, or are subnormal.
random = np.random.default_rng(0)
rows = random.integers(-7, 8, size=(4000, 64)) * 2.0 ** random.integers(-13, 14, size=(4000, 64))
basis = random.integers(-7, 8, size=(64, 64)) * 2.0 ** random.integers(-13, 14, size=(64, 64))
digest = hashlib.sha256()
for scale in (1.0, 2.0**-130):
    out = np.empty((4000, 64), np.float32)
    arguments = ((basis * scale).astype(np.float32), np.zeros(64, np.float32), None, out, None)
    _native.project_rows(
        rows.astype(np.float32), np.zeros(64), np.ones(64), *arguments, 2, _native.Stop()
    )
    digest.update(out.tobytes())
gram = np.zeros((64, 64))
_native.add_normalized_gram(
    rows.astype(np.float32), np.zeros(64), np.ones(64), np.zeros(64), gram, 2, _native.Stop()
)
digest.update(gram.tobytes())
print(digest.hexdigest())
"""


def test_sums_are_rounded_once_at_every_level():
    found = {}
    for level in ("plain", "v3", "v4"):
        run = subprocess.run(
            [sys.executable, "-c", ROUNDING],
            env=os.environ | {"HOPVEC_LEVEL": level},
            capture_output=True,
            text=True,
        )
        if "is not a level this machine can run" not in run.stderr:
            assert run.returncode == 0, run.stderr
            found[level] = run.stdout
    assert len(set(found.values())) == 1, found


def test_products_are_summed_by_parts_of_the_rows_which_are_added_in_order():
    def add(block, gram, total):
        gram += block**2
        total += block[0]

    half = PART_ROWS // 2
    values = {0: 2.0**53, PART_ROWS: 1.0, PART_ROWS + half: 1.0}  # 2**53 + 1 is rounded to 2**53
    blocks = [(first, np.full((1, 1), value)) for first, value in values.items()]
    _, total = sum_products(blocks, 1, add, lambda rows: None)
    assert total[0] == 2.0**53 + 2
    gram, _ = sum_products(blocks[1:], 1, add, lambda rows: None)
    assert gram[0, 0] == 2
