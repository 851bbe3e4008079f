"""Long rows by tiles: the same bytes whether they are kept sorted or not."""

import numpy as np
import pytest

from blocks import (
    STOP,
    adjacency,
    as_bytes,
    as_rows,
    assert_rows_agree,
    both_precisions,
    random_block,
    rows_of,
    weighted_or_not,
)
from hopvec import FastRP, Graph, _native
from hopvec.engine import reference
from hopvec.engine.plan import SlabPlan

TILE = 64


def tiled(rows, *, tile=TILE, sort=0):
    """The native rows with small tiles, sorted by so many threads."""
    native = adjacency(*rows, tile=tile)
    if sort:
        native.sort_by_tile(sort, STOP)
    return native


def hop(native, block, precision, threads=1):
    target = _native.allocate(64 * len(block))
    sink = _native.Sink(next=target)
    _native.hop(native, as_bytes(block), precision == "float16", sink, threads, STOP)
    return as_rows(target, precision, len(block))


def dense_rows(nodes, *, weighted):
    """Rows of which the first have many entries in every tile, the last ones few."""
    random = np.random.default_rng(nodes)
    lengths = np.sort(random.integers(0, nodes, nodes))[::-1]
    lengths[0] = nodes
    indices = [np.sort(random.choice(nodes, length, replace=False)) for length in lengths]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    weights = random.lognormal(size=indptr[-1]).astype(np.float32) if weighted else None
    return indptr, np.concatenate(indices).astype(np.int32), weights


class TestHop:
    @both_precisions
    @weighted_or_not
    @pytest.mark.parametrize("nodes", [3 * TILE - 1, 3 * TILE, 3 * TILE + 1, 1300])
    def test_each_row_is_the_mean_of_its_neighbours(self, nodes, weighted, precision):
        rows, block = dense_rows(nodes, weighted=weighted), random_block(nodes, precision)
        native = tiled(rows, sort=2)
        assert 0 < native.tiled_rows < nodes
        size = reference.hop(*rows, np.abs(block))
        assert_rows_agree(
            hop(native, block, precision), reference.hop(*rows, block), size, precision
        )

    @both_precisions
    @weighted_or_not
    def test_the_same_bytes_sorted_or_not_for_any_number_of_threads(self, weighted, precision):
        rows, block = dense_rows(1500, weighted=weighted), random_block(1500, precision)
        results = {
            hop(tiled(rows, sort=sort), block, precision, threads).tobytes()
            for sort in (0, 1, 2, 5)
            for threads in (1, 3)
        }
        assert len(results) == 1

    @both_precisions
    @weighted_or_not
    def test_a_hub_has_many_stretches_in_a_tile(self, weighted, precision):
        nodes, tile = 70_000, 1 << 14
        indptr = np.full(nodes + 1, nodes, np.int64)
        indptr[0] = 0
        indices = np.arange(nodes, dtype=np.int32)
        weights = np.linspace(1, 3, nodes, dtype=np.float32) if weighted else None
        rows, block = (indptr, indices, weights), np.abs(random_block(nodes, precision))
        plain, kept = (hop(tiled(rows, tile=tile, sort=n), block, precision) for n in (0, 2))
        assert plain.tobytes() == kept.tobytes()
        expected = (np.ones(nodes) if weights is None else weights) @ block.astype(np.float64)
        expected /= nodes if weights is None else weights.sum(dtype=np.float64)
        tolerance = 1e-6 if precision == "float32" else 5e-4
        np.testing.assert_allclose(kept[0], expected, rtol=tolerance)


class TestWhichRows:
    def test_those_with_eight_entries_in_a_tile_on_the_average(self):
        indptr, indices, _ = dense_rows(10 * TILE, weighted=False)
        lengths = np.diff(indptr)
        assert tiled((indptr, indices, None)).tiled_rows == np.count_nonzero(lengths >= 80)

    def test_none_of_two_tiles_and_none_of_sparse_rows(self):
        assert tiled(dense_rows(2 * TILE, weighted=False)).tiled_rows == 0
        assert tiled(rows_of(5000, 20_000)).tiled_rows == 0

    def test_only_the_first_ones(self):
        nodes = 4 * TILE
        lengths = np.full(nodes, nodes)
        lengths[5] = 1
        indices = np.concatenate([np.arange(length) for length in lengths]).astype(np.int32)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        assert tiled((indptr, indices, None)).tiled_rows == 5


@pytest.fixture(scope="module")
def graph():
    random = np.random.default_rng(0)
    source, target = (50_000 * random.random((2, 900_000)) ** 1.5).astype(np.int64)
    return Graph.from_edges(source, target, nodes=np.arange(50_000))


class TestEmbedding:
    def test_long_rows_are_kept_by_tile_where_memory_allows_it(self, graph):
        plan = FastRP(dim=32).plan(graph)
        assert isinstance(plan, SlabPlan)
        assert plan.tiles
        assert "long rows sorted by tile" in str(plan)
        least = plan.bytes.total - plan.bytes.working["tiles"]
        assert not FastRP(dim=32, memory=least).plan(graph).tiles

    @pytest.mark.parametrize("normalize", ["none", "full"])
    def test_the_same_bytes_with_and_without(self, graph, normalize):
        method = FastRP(dim=32, normalize=normalize, threads=2)
        plan = method.plan(graph)
        least = plan.bytes.total - plan.bytes.working["tiles"]
        bounded = FastRP(dim=32, normalize=normalize, threads=1, memory=least).embed(graph)
        assert bounded.vectors.tobytes() == method.embed(graph).vectors.tobytes()
