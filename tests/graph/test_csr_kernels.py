"""The steps of CSRBuilder, compared with lists of entries."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from hopvec import _native
from hopvec.graph import csr_builder
from hopvec.graph.csr_builder import CSRBuilder, EdgeList

STOP = _native.Stop()


@dataclass
class Case:
    """Random edges, and how they are built."""

    nodes: int
    count: int
    seed: int
    weighted: bool
    directed: bool
    drop_loops: bool
    duplicates: str
    threads: int
    memory_limit: int | None

    def __post_init__(self):
        random = np.random.default_rng(self.seed)
        hubs = random.integers(1, self.nodes + 1, (2, self.count))
        self.source, self.target = random.integers(0, hubs).astype(np.int32)
        weights = random.choice(np.array([0, 0.1, 0.3, 1, 1e7], np.float32), self.count)
        self.weight = weights if self.weighted else None
        self.keys = random.permutation(self.nodes).astype(np.uint64)

    @property
    def builder(self):
        return CSRBuilder(
            **{name: getattr(self, name) for name in ("nodes", "directed", "duplicates")},
            **{name: getattr(self, name) for name in ("drop_loops", "threads", "memory_limit")},
        )

    @property
    def edges(self):
        return EdgeList(self.source, self.target, self.weight)

    @property
    def rows(self):
        weight = np.ones(self.count, np.float32) if self.weight is None else self.weight
        edges = list(zip(self.source.tolist(), self.target.tolist(), weight.tolist(), strict=True))
        options = {"directed": self.directed, "drop_loops": self.drop_loops}
        return reference.rows_of_edges(edges, self.nodes, **options)


cases = st.builds(
    Case,
    nodes=st.sampled_from([2, 5, 70, 300]),
    count=st.integers(1, 300),
    seed=st.integers(0, 99),
    weighted=st.booleans(),
    directed=st.booleans(),
    drop_loops=st.booleans(),
    duplicates=st.sampled_from(["sum", "first"]),
    threads=st.integers(1, 3),
    memory_limit=st.sampled_from([None, 1, 1000]),
)


def rows_of(indptr, indices, weights):
    """The rows of CSR arrays, as the reference has them."""
    weights = np.ones(len(indices), np.float32) if weights is None else weights
    entries = list(zip(indices.tolist(), weights.tolist(), strict=True))
    bounds = indptr.tolist()
    return [entries[first:end] for first, end in pairwise(bounds)]


@given(cases)
def test_entries_are_placed_in_the_order_of_the_edges(case):
    found = case.builder.place_edges(case.edges, STOP)
    assert rows_of(found.indptr, found.indices, found.weights) == case.rows


@given(cases)
def test_distinct_entries_and_repeated_edges_are_counted(case):
    found = case.builder.place_edges(case.edges, STOP)
    neighbors = [{neighbor for neighbor, _ in row} for row in case.rows]
    assert found.row_counts.tolist() == [len(row) for row in neighbors]
    if case.directed:
        columns = np.bincount([node for row in neighbors for node in row], minlength=case.nodes)
        assert found.column_counts.tolist() == columns.tolist()
    upper = [
        [to for to, _ in row if case.directed or to >= node] for node, row in enumerate(case.rows)
    ]
    assert found.duplicates == sum(len(row) - len(set(row)) for row in upper)
    assert found.loops == (case.source == case.target).sum()
    assert found.zero_weights == (0 if case.weight is None else (case.weight == 0).sum())


@given(cases)
def test_rows_are_sorted_by_neighbor_then_by_weight(case):
    found = case.builder.sort_edges(case.edges, STOP)
    assert rows_of(*found) == [sorted(row) for row in case.rows]


@given(cases)
def test_merged_rows_are_in_the_internal_order(case):
    builder = case.builder
    found = builder.merge(builder.place_edges(case.edges, STOP), lambda: case.keys, STOP)
    order = reference.internal_order(case.rows, case.keys.tolist(), directed=case.directed)
    merged = reference.merged_rows(case.rows, order, add=case.duplicates == "sum")
    rounded = [[(to, float(np.float32(weight))) for to, weight in row] for row in merged]
    assert found.order.tolist() == order
    assert rows_of(found.indptr, found.indices, found.weights) == rounded


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_edges_are_grouped_by_several_threads_and_in_several_chunks(
    monkeypatch, threads, weighted
):
    monkeypatch.setattr(csr_builder, "MAX_EDGES", 60_000)
    case = Case(
        **{"nodes": 140_000, "count": 500_000, "seed": 1, "weighted": weighted, "directed": True},
        **{"drop_loops": False, "duplicates": "first", "threads": threads, "memory_limit": None},
    )
    kept = np.ones(case.count, bool) if case.weight is None else case.weight != 0
    source, target = case.source[kept], case.target[kept]
    order = np.argsort(source, kind="stable")
    found = case.builder.place_edges(case.edges, STOP)
    assert np.array_equal(np.diff(found.indptr), np.bincount(source, minlength=case.nodes))
    assert np.array_equal(found.indices, target[order])
    if weighted:
        assert np.array_equal(found.weights, case.weight[kept][order])


def test_a_long_row_is_sorted_without_comparisons_whatever_its_numbers():
    nodes, count = 600_000, 20_000
    builder = CSRBuilder(nodes, True, "first", False, 1, None)
    target = np.random.default_rng(0).integers(1, nodes, count).astype(np.int32)
    target[:3] = 1, nodes - 1, nodes - 1
    edges = EdgeList(np.zeros(count, np.int32), target, None)
    found = builder.merge(
        builder.place_edges(edges, STOP), lambda: np.arange(nodes, dtype="u8"), STOP
    )
    assert np.array_equal(found.order[found.indices], np.unique(target))


def test_nodes_are_ordered_by_any_number_of_threads():
    random = np.random.default_rng(0)
    distinct = random.integers(0, 9, 600_000).astype(np.int32)  # more than two slices
    keys = random.permutation(len(distinct)).astype(np.uint64)
    order = np.lexsort((keys, -distinct))
    for threads in (1, 3):
        assert np.array_equal(_native.order_nodes(distinct, None, keys, threads, STOP), order)
