"""The native kernels, compared with their reference implementations."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from hopvec import _native
from kernel_inputs import (
    STOP,
    STORAGE,
    adjacency,
    as_bytes,
    as_rows,
    assert_rows_agree,
    both_precisions,
    random_block,
    rows_of,
    threads_1_and_3,
    weighted_or_not,
)


@cache
def random_signs(nodes, sparsity, columns):
    """Keys of nodes, and the signs of the second slab of `columns` columns of R."""
    keys = np.random.default_rng(1).integers(0, 2**64, nodes, np.uint64)
    return keys, reference.sparse_rows(5, sparsity, keys.tolist(), 2 * columns)[:, columns:]


def native_hop(rows, block, precision, threads=1, /, **sink):
    nodes = len(block)
    target = _native.allocate(64 * nodes)
    sink = _native.Sink(next=target, **sink)
    half = precision == "float16"
    _native.hop(adjacency(*rows), as_bytes(block), half, sink, threads, STOP)
    return as_rows(target, precision, nodes)


class TestHop:
    @both_precisions
    @weighted_or_not
    @threads_1_and_3
    @pytest.mark.parametrize(
        ("nodes", "entries"),
        [(1, 0), (1, 1), (2, 3), (700, 5000), (1024, 40_000), (2**15, 99_000), (2**15 + 1, 99_000)],
    )
    def test_each_row_is_the_mean_of_its_neighbors(
        self, nodes, entries, threads, weighted, precision
    ):
        rows, block = rows_of(nodes, entries, weighted=weighted), random_block(nodes, precision)
        got = native_hop(rows, block, precision, threads)
        size = reference.hop(*rows, np.abs(block))
        assert_rows_agree(got, reference.hop(*rows, block), size, precision)

    @both_precisions
    @weighted_or_not
    @pytest.mark.parametrize("work", [2**15 - 1, 2**15, 2**15 + 1, 2**16])
    def test_no_row_is_lost_between_chunks(self, work, weighted, precision):
        # A chunk is 2^15 entries and rows: with 7 entries per row, rows end next to the boundary.
        nodes = work // 8
        indptr = np.minimum(7 * np.arange(nodes + 1), work - nodes)
        indptr[-1] = work - nodes
        indices = np.arange(work - nodes, dtype=np.int32) % nodes
        weights = np.linspace(1, 2, len(indices), dtype=np.float32) if weighted else None
        block = random_block(nodes, precision)
        rows = (indptr, indices, weights)
        expected = reference.hop(*rows, block)
        size = reference.hop(*rows, np.abs(block))
        for threads in (1, 2, 3):
            assert_rows_agree(
                native_hop(rows, block, precision, threads), expected, size, precision
            )

    @both_precisions
    @weighted_or_not
    @pytest.mark.parametrize("neighbors", [1023, 1024, 1025, 2047, 2048, 2049, 70_000])
    def test_long_rows_are_summed_accurately(self, neighbors, weighted, precision):
        nodes = neighbors + 1
        indptr = np.full(nodes + 1, neighbors, np.int64)
        indptr[0] = 0
        indices = np.arange(1, nodes, dtype=np.int32)
        weights = np.linspace(1, 3, neighbors, dtype=np.float32) if weighted else None
        block = np.abs(random_block(nodes, precision))
        got = native_hop((indptr, indices, weights), block, precision)
        expected = reference.hop(indptr, indices, weights, block)
        # A single float32 sum of 70,000 terms of one sign would be off by 1e-5.
        np.testing.assert_allclose(
            got[0], expected[0], rtol=1e-6 if precision == "float32" else 5e-4
        )
        assert not got[1:].any()

    @both_precisions
    @weighted_or_not
    @pytest.mark.parametrize("tail", [0, 1, 14, 29, 32, 33, 64, 81, 108, 128, 129, 256, 270])
    @pytest.mark.parametrize("nodes", [2**15 + 1, 2**17 + 1])  # prefetched 32 ahead, and 128
    def test_rows_near_the_end_do_not_read_beyond_the_last_entry(
        self, nodes, tail, weighted, precision
    ):
        indptr = np.zeros(nodes + 1, np.int64)
        indptr[-3:] = (5, 5 + tail, 5 + 2 * tail)
        indices = np.random.default_rng(tail).integers(0, nodes, indptr[-1], np.int32)
        weights = np.linspace(1, 2, len(indices), dtype=np.float32) if weighted else None
        rows, block = (indptr, indices, weights), random_block(nodes, precision)
        size = reference.hop(*rows, np.abs(block))
        got = native_hop(rows, block, precision)
        assert_rows_agree(got, reference.hop(*rows, block), size, precision)

    @both_precisions
    @weighted_or_not
    def test_the_same_bytes_for_any_number_of_threads(self, weighted, precision):
        rows, block = rows_of(5000, 200_000, weighted=weighted), random_block(5000, precision)
        results = {native_hop(rows, block, precision, n).tobytes() for n in (1, 2, 3, 7)}
        assert len(results) == 1

    @given(st.data())
    def test_random_small_rows(self, data):
        nodes = data.draw(st.integers(1, 12))
        lengths = data.draw(st.lists(st.integers(0, 9), min_size=nodes, max_size=nodes))
        indptr = np.cumsum([0, *lengths])
        node = st.integers(0, nodes - 1)
        drawn = data.draw(st.lists(node, min_size=sum(lengths), max_size=sum(lengths)))
        indices = np.array(drawn, np.int32)
        block = random_block(nodes, "float32")
        rows = (indptr, indices, None)
        size = reference.hop(*rows, np.abs(block))
        got = native_hop(rows, block, "float32", data.draw(st.integers(1, 3)))
        assert_rows_agree(got, reference.hop(*rows, block), size, "float32")

    def test_a_stopped_hop_does_nothing(self):
        rows, block = rows_of(100, 500), random_block(100, "float32")
        stop, target = _native.Stop(), _native.allocate(6400)
        stop.set()
        sink = _native.Sink(next=target)
        _native.hop(adjacency(*rows), as_bytes(block), False, sink, 1, stop)
        assert not target.any()


class TestFloat16:
    @pytest.mark.parametrize("chunk", range(4))
    def test_every_float16_survives_a_hop_to_itself(self, chunk):
        # One self-loop per node: the hop copies, via float32.
        every = np.arange(2**16, dtype=np.uint16).view(np.float16)
        every = every[np.isfinite(every)]
        block = np.resize(every, (-(-len(every) // 32), 32))[chunk::4].copy()
        nodes = len(block)
        rows = (np.arange(nodes + 1), np.arange(nodes, dtype=np.int32), None)
        got = native_hop(rows, block, "float16")
        np.testing.assert_array_equal(got, block)  # -0 may have become +0

    def test_results_are_rounded_to_nearest_float16_ties_to_even(self):
        random = np.random.default_rng(0)
        pairs = (2.0 ** random.uniform(-24, 15, (2, 4000 * 32))).astype(np.float16)
        block = pairs.reshape(2 * 4000, 32)
        # Row i has the neighbors i and i + 4000; half their sum is exact in float32.
        indices = np.arange(8000, dtype=np.int32).reshape(2, 4000).T.ravel().copy()
        indptr = np.minimum(np.arange(8001) * 2, 8000)
        got = native_hop((indptr, indices, None), block, "float16")[:4000]
        sums = block[:4000].astype(np.float32) + block[4000:].astype(np.float32)
        expected = (sums * np.float32(0.5)).astype(np.float16)
        np.testing.assert_array_equal(got, expected)


class TestFirstHop:
    @both_precisions
    @weighted_or_not
    @threads_1_and_3
    @pytest.mark.parametrize(
        ("nodes", "sparsity"), [(1, 1), (40, 1), (700, 3), (16_384, 130), (16_385, 130)]
    )
    def test_it_is_a_hop_of_the_scaled_random_rows(
        self, nodes, sparsity, threads, weighted, precision
    ):
        rows = rows_of(nodes, 4 * nodes, weighted=weighted, symmetric=True)
        keys, signs = random_signs(nodes, sparsity, 64 // STORAGE[precision]().itemsize)
        diagonal = np.random.default_rng(2).lognormal(size=nodes).astype(np.float32)
        got = first_hop(rows, 5, sparsity, keys, diagonal, 1, precision, threads)
        expected = reference.first_hop(*rows, diagonal, signs)
        size = reference.first_hop(*rows, diagonal, np.abs(signs))
        assert_rows_agree(got, expected, size, precision)

    @both_precisions
    @weighted_or_not
    def test_the_same_bytes_for_any_number_of_threads(self, weighted, precision):
        rows = rows_of(40_000, 100_000, weighted=weighted, symmetric=True)
        random = np.random.default_rng(1)
        keys = random.integers(0, 2**64, 40_000, np.uint64)
        diagonal = random.lognormal(size=40_000).astype(np.float32)
        results = {
            first_hop(rows, 5, 3, keys, diagonal, 0, precision, threads).tobytes()
            for threads in (1, 2, 3, 7)
        }
        assert len(results) == 1


def first_hop(rows, seed, sparsity, keys, diagonal, slab, precision, threads):
    target = _native.allocate(64 * len(keys))
    _native.first_hop(
        adjacency(*rows),
        _native.SparseRows(seed=seed, sparsity=sparsity),
        keys,
        diagonal,
        slab,
        precision == "float16",
        _native.Sink(next=target),
        threads,
        STOP,
    )
    return as_rows(target, precision, len(keys))


class TestDraw:
    @both_precisions
    @threads_1_and_3
    @pytest.mark.parametrize("nodes", [1, 1023, 1024, 1025, 2049])
    def test_rows_of_r_are_scaled_by_the_diagonal(self, nodes, threads, precision):
        keys = np.random.default_rng(0).integers(0, 2**64, nodes, np.uint64)
        diagonal = np.arange(1, nodes + 1).astype(STORAGE[precision]).astype(np.float32)
        target = _native.allocate(64 * nodes)
        _native.draw(
            _native.SparseRows(seed=7, sparsity=2.5),
            keys,
            diagonal,
            1,
            precision == "float16",
            _native.Sink(next=target),
            threads,
            STOP,
        )
        columns = 64 // STORAGE[precision]().itemsize
        signs = reference.sparse_rows(7, 2.5, keys.tolist(), 2 * columns)[:, columns:]
        got = as_rows(target, precision, nodes)
        np.testing.assert_array_equal(got, diagonal[:, None] * signs)


class TestSink:
    """Where a finished row is written, tested through a hop."""

    nodes = 50

    def rows_and_block(self, precision):
        return rows_of(self.nodes, 300), random_block(self.nodes, precision)

    @both_precisions
    @pytest.mark.parametrize("columns", [1, 15, 16, 17, 31, 32])
    def test_the_weighted_row_replaces_the_sum_or_is_added_to_it(self, columns, precision):
        rows, block = self.rows_and_block(precision)
        columns = min(columns, block.shape[1])
        order = np.random.default_rng(1).permutation(self.nodes).astype(np.int32)
        for add in (False, True):
            total = np.full((self.nodes, columns + 5), 7, np.float32)
            options = {"sum": total, "rows": order, "first_column": 3, "columns": columns}
            row = native_hop(rows, block, precision, weight=2.0, add=add, **options)
            expected = np.full((self.nodes, columns + 5), 7.0)
            scaled = 2.0 * row[:, :columns].astype(np.float64)
            expected[order, 3 : 3 + columns] = scaled + (7.0 if add else 0.0)
            np.testing.assert_allclose(total, expected, rtol=1e-6)

    @both_precisions
    @pytest.mark.parametrize("columns", [5, 16])
    def test_one_or_two_earlier_orders_can_be_fused_with_a_row(self, columns, precision):
        rows, block = self.rows_and_block(precision)
        order = np.arange(self.nodes, dtype=np.int32)
        scale, before = np.random.default_rng(2).random((2, self.nodes), np.float32)
        other = (-block).copy()
        fused = (as_bytes(other), None, 0.25), (as_bytes(block), before, 0.0)
        options = {"rows": order, "columns": columns, "scale": scale, "add": True}
        for count in (1, 2):
            total = np.full((self.nodes, columns), 7, np.float32)
            row = native_hop(rows, block, precision, sum=total, fused=fused[-count:], **options)
            stored, previous = (values[:, :columns].astype(np.float64) for values in (row, block))
            expected = 7 + before[:, None] * previous + scale[:, None] * stored
            expected -= 0.25 * previous * (count == 2)
            np.testing.assert_allclose(total, expected, rtol=1e-6, atol=1e-6)

    @both_precisions
    @pytest.mark.parametrize("columns", [1, 15, 16, 17, 32])
    def test_squares_are_summed_over_the_columns_in_use(self, columns, precision):
        rows, block = self.rows_and_block(precision)
        columns = min(columns, block.shape[1])
        squares = np.full(self.nodes, 5.0)
        row = native_hop(rows, block, precision, squares=squares, columns=columns)
        expected = 5 + (row[:, :columns].astype(np.float64) ** 2).sum(axis=1)
        np.testing.assert_allclose(squares, expected, rtol=1e-12)


class TestWeightedSum:
    @both_precisions
    @threads_1_and_3
    @pytest.mark.parametrize("unit", [False, True])
    @pytest.mark.parametrize("dim", [1, 16, 40, 64])
    @pytest.mark.parametrize("nodes", [1, 255, 256, 257])
    def test_orders_are_summed_over_the_columns_in_use_with_optional_unit_rows(
        self, nodes, dim, unit, threads, precision
    ):
        columns = 64 // STORAGE[precision]().itemsize
        slabs = -(-dim // columns)
        order = np.random.default_rng(0).permutation(nodes).astype(np.int32)
        cached, whole = [], []
        for seed in range(3):
            seeds = range(10 * seed, 10 * seed + slabs)
            blocks = [random_block(nodes, precision, seed).copy() for seed in seeds]
            blocks[0][: nodes // 3] = 0  # some rows are zero in the first slab,
            for block in blocks[1:]:
                block[: nodes // 4] = 0  # some of them in all slabs
            cached.append(np.concatenate([as_bytes(block) for block in blocks]))
            whole.append(np.concatenate(blocks, axis=1)[:, :dim])
        weights = [1.0, -0.5, 3.0]
        total = np.full((nodes, dim), 7, np.float32)
        half = precision == "float16"
        _native.weighted_sum(cached, weights, unit, slabs, half, total, order, threads, STOP)
        expected = reference.weighted_sum(whole, weights, unit=unit)
        np.testing.assert_allclose(total[order], expected, rtol=1e-5, atol=1e-6)


class TestStandardize:
    @threads_1_and_3
    @pytest.mark.parametrize("unit", [False, True])
    @pytest.mark.parametrize("nodes", [2, 1023, 1024, 1025, 4096, 4097])
    def test_moments_and_standardize_match_the_reference(self, nodes, unit, threads):
        total = np.random.default_rng(0).normal(3, 2, (nodes + 1, 19)).astype(np.float32)
        before = total.copy()
        rows = np.random.default_rng(1).permutation(nodes).astype(np.int32)  # excludes the last row
        mean = _native.moments(total, rows, None, threads, STOP) / nodes
        np.testing.assert_allclose(mean, before[:-1].mean(axis=0, dtype=np.float64), rtol=1e-12)
        squares = _native.moments(total, rows, mean, threads, STOP)
        variance = before[:-1].var(axis=0, dtype=np.float64)
        np.testing.assert_allclose(squares / nodes, variance, rtol=1e-12)
        factor = 1 / np.sqrt(squares / nodes)
        _native.standardize(total, rows, mean, factor, unit, threads, STOP)
        expected = reference.standardize(before[:-1], unit=unit)
        np.testing.assert_allclose(total[:-1], expected, rtol=1e-6, atol=1e-7)
        np.testing.assert_array_equal(total[-1], before[-1])

    def test_column_sums_are_the_same_bytes_for_any_number_of_threads(self):
        total = np.random.default_rng(0).normal(size=(20_000, 5)).astype(np.float32)
        rows = np.arange(20_000, dtype=np.int32)
        sums = {_native.moments(total, rows, None, n, STOP).tobytes() for n in (1, 2, 3, 7)}
        assert len(sums) == 1


class TestPower:
    @given(
        st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=20),
        st.floats(-1, 1) | st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]),
    )
    def test_it_equals_x_to_the_y_within_1e_12(self, x, y):
        x = np.array(x)
        np.testing.assert_allclose(_native.power(x, y), reference.power(x, y), rtol=1e-12)

    def test_integer_powers_and_square_roots_are_exact(self):
        x = np.array([0.25, 1.0, 3.0, 1e10])
        for y in (-1.0, 0.0, 1.0):
            np.testing.assert_array_equal(_native.power(x, y), x**y)
        np.testing.assert_array_equal(_native.power(x, 0.5), np.sqrt(x))


class TestDegrees:
    def test_degrees_are_sums_of_weights_in_float64(self):
        indptr, _, weights = rows_of(300, 2000, weighted=True)
        expected = np.add.reduceat(np.append(weights.astype(np.float64), 0), indptr[:-1])
        expected[np.diff(indptr) == 0] = 0
        np.testing.assert_allclose(_native.degrees(indptr, weights), expected, rtol=1e-14)

    def test_without_weights_they_count_the_entries(self):
        indptr, _, _ = rows_of(300, 2000)
        np.testing.assert_array_equal(_native.degrees(indptr, None), np.diff(indptr))


def test_allocated_memory_is_zero_and_starts_on_a_cache_line():
    for size in (0, 1, 64, 1000, (4 << 20) - 1, 4 << 20, (5 << 20) + 3):
        memory = _native.allocate(size)
        assert len(memory) == size
        assert memory.ctypes.data % 64 == 0
        assert not memory.any()
