"""Pairs of nodes: codes, hashed random numbers and sampled non-edges."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import reference
from example_graphs import examples, random_example
from hopvec import Graph, ParameterError, UnknownNodeError
from hopvec.evaluate.hashing import hash_uint64, uniform_integers
from hopvec.evaluate.pairs import Pairs, contains


def id_pairs(pairs, codes):
    """The ids of pairs; frozensets if the graph is undirected."""
    table = pairs.decode_ids(codes)
    both = zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True)
    return [pair if pairs.graph.directed else frozenset(pair) for pair in both]


@given(examples())
def test_edges_are_all_edges_except_loops(example):
    pairs = Pairs(example.graph())
    source, target = np.nonzero(example.S)
    joined = {(int(u), int(v)) for u, v in zip(source, target, strict=True) if u != v}
    found = id_pairs(pairs, pairs.edges)
    assert len(found) == len(set(found))
    assert set(found) == (joined if example.directed else {frozenset(pair) for pair in joined})
    assert (np.diff(pairs.edges) > 0).all()


@given(examples())
def test_ids_are_encoded_back(example):
    pairs = Pairs(example.graph())
    np.testing.assert_array_equal(pairs.encode_ids(pairs.decode_ids(pairs.edges)), pairs.edges)


@given(examples(), st.integers(0, 2**64 - 1), st.floats(0, 1))
def test_non_edges_are_distinct_and_neither_taken_nor_loops(example, key, share):
    pairs = Pairs(example.graph())
    count = int(share * pairs.count_free(pairs.edges))
    others = pairs.sample_non_edges(count, pairs.edges, key)
    assert len(np.unique(others)) == len(others) == count
    assert not np.isin(others, pairs.edges).any()
    first, second = pairs.decode(others)
    assert (first != second).all()
    assert pairs.has_edge[first].all()
    assert pairs.has_edge[second].all()
    if not example.directed:
        assert (first < second).all()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("edges", [30, 180])  # by rejection, and from a list of all pairs
def test_non_edges_are_uniform(edges, directed):
    pairs = Pairs(random_example(40, edges, directed=directed).graph())
    free = pairs.count_free(pairs.edges)
    drawn = np.concatenate(
        [pairs.sample_non_edges(free // 8, pairs.edges, key) for key in range(400)]
    )
    codes, counts = np.unique(drawn, return_counts=True)
    assert len(codes) == free
    assert stats.chisquare(counts).pvalue > 1e-4


def test_isolated_nodes_are_never_sampled():
    graph = Graph.from_edges([0, 1, 2, 9], [1, 2, 3, 9], nodes=[*range(10)])
    pairs = Pairs(graph)
    others = id_pairs(pairs, pairs.sample_non_edges(3, pairs.edges, 0))
    assert set(others) == {*map(frozenset, [(0, 2), (0, 3), (1, 3)])}


def test_a_smaller_sample_is_a_prefix_of_a_larger_one():
    pairs = Pairs(random_example(2000, 3000).graph())
    small, large = (pairs.sample_non_edges(count, pairs.edges, 7) for count in (50, 400))
    np.testing.assert_array_equal(large[:50], small)


def test_too_many_non_edges_are_refused():
    pairs = Pairs(Graph.from_edges([0, 0, 0], [1, 2, 3]))
    assert len(pairs.sample_non_edges(3, pairs.edges, 0)) == 3
    with pytest.raises(ParameterError) as error:
        pairs.sample_non_edges(4, pairs.edges, 0)
    assert str(error.value) == (
        "4 pairs that are not edges are needed, but only 3 of the 6 pairs of nodes are left. "
        "Hold out fewer edges or use fewer negatives."
    )


@pytest.mark.parametrize(
    ("ids", "asked"), [(["a", "b"], "c"), (["7", "8"], "07"), ([7, 8], "x"), ([7, 8], 9)]
)
def test_an_unknown_id_is_refused_and_named(ids, asked):
    graph = Graph.from_edges(ids[:1], ids[1:])
    with pytest.raises(UnknownNodeError, match=f"No node {asked!r} among the 2 of the graph"):
        Pairs(graph).find([asked])


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("asked", [pa.array(["30", "7"]), pa.array([30, 7]), [30, 7]])
def test_an_integer_and_its_string_are_the_same_node(kind, asked):
    graph = Graph.from_edges([kind(7), kind(8)], [kind(8), kind(30)])
    ids = graph.ids.to_pylist()
    found = [ids[graph.rows[node]] for node in Pairs(graph).find(asked)]
    assert found == [kind(30), kind(7)]


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=4))
def test_hashes_are_splitmix64_of_all_parts(parts):
    state = 0
    for part in parts:
        state = reference.mix(((state ^ part) + reference.GOLDEN) & reference.MASK)
    assert int(hash_uint64(*parts)[0]) == state
    assert hash_uint64(*parts[:-1], np.array([parts[-1]] * 3, np.uint64)).tolist() == [state] * 3


def test_random_bits_are_mapped_to_uniform_integers():
    numbers = uniform_integers(10, hash_uint64(3, np.arange(20_000, dtype=np.uint64)))
    counts = np.bincount(numbers, minlength=10)
    assert len(counts) == 10
    assert stats.chisquare(counts).pvalue > 1e-4
    assert uniform_integers(2**31, np.array([2**64 - 1], np.uint64))[0] == 2**31 - 1


@given(st.sets(st.integers(0, 50)), st.lists(st.integers(0, 50)))
def test_contains_is_the_mask_of_present_codes(codes, asked):
    found = contains(np.array(sorted(codes), np.int64), np.array(asked, np.int64))
    assert found.tolist() == [code in codes for code in asked]
