"""Pairs of nodes: codes, hashed random numbers and sampled non-edges."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import reference
from example_graphs import complete, example, examples, random_example, skewed_example
from hopvec import Graph, ParameterError, UnknownNodeError
from hopvec.evaluate import pairs as pairs_module
from hopvec.evaluate.hashing import hash_uint64, uniform_integers
from hopvec.evaluate.pairs import SAMPLINGS, Pairs, contains


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


@given(examples(), st.integers(0, 2**64 - 1), st.floats(0, 1), st.sampled_from(SAMPLINGS))
def test_non_edges_are_distinct_and_neither_taken_nor_loops(example, key, share, sampling):
    pairs = Pairs(example.graph())
    count = int(share * pairs.count_free(pairs.edges, sampling))
    others = pairs.sample_non_edges(count, pairs.edges, key, sampling)
    assert len(np.unique(others)) == len(others) == count
    assert not np.isin(others, pairs.edges).any()
    first, second = pairs.decode(others)
    assert (first != second).all()
    assert pairs.has_edge[first].all()
    assert pairs.has_edge[second].all()
    if not example.directed:
        assert (first < second).all()
    elif sampling == "degree":
        assert (pairs.degrees[0][first] > 0).all()
        assert (pairs.degrees[1][second] > 0).all()


@given(examples(), st.sampled_from(SAMPLINGS))
def test_every_pair_that_can_be_drawn_is_counted(example, sampling):
    pairs = Pairs(example.graph())
    every = pairs.sample_non_edges(
        pairs.count_free(pairs.edges, sampling), pairs.edges, 0, sampling
    )
    nodes = range(pairs.graph.nodes)
    out, into = pairs.degrees if sampling == "degree" else (pairs.has_edge, pairs.has_edge)
    possible = {
        u * len(nodes) + v
        for u in nodes
        for v in nodes
        if u != v and out[u] and into[v] and (example.directed or u < v)
    }
    assert set(every.tolist()) == possible - set(pairs.edges.tolist())
    assert pairs.count(sampling) == len(possible)


@given(examples())
def test_degrees_are_numbers_of_edges_without_loops_and_weights(example):
    graph = example.graph()
    pairs = Pairs(graph)
    joined = (example.S != 0) & ~np.eye(example.nodes, dtype=bool)
    rows = graph.rows
    np.testing.assert_array_equal(pairs.degrees[0], joined.sum(axis=1)[rows])
    np.testing.assert_array_equal(pairs.degrees[1], joined.sum(axis=0)[rows])


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


@pytest.mark.parametrize("kind", ["undirected", "directed", "bipartite"])
@pytest.mark.parametrize("listed", [False, True])  # by rejection, and from a list of all pairs
def test_pairs_are_drawn_in_proportion_to_the_product_of_their_degrees(monkeypatch, kind, listed):
    monkeypatch.setattr(pairs_module, "DENSE", 1000 if listed else 0)
    made = skewed_example(12, 30, directed=kind == "directed", weighted=True)
    graph = made.graph()
    if kind == "bipartite":
        graph = Graph.from_bipartite(made.source, made.target, prefixes=("user ", "item "))
    pairs = Pairs(graph)
    free = pairs.count_free(pairs.edges, "degree")
    every = np.sort(pairs.sample_non_edges(free, pairs.edges, 0, "degree"))
    first, second = pairs.decode(every)
    weights = pairs.degrees[0][first] * pairs.degrees[1][second]
    draws = [pairs.sample_non_edges(1, pairs.edges, key, "degree")[0] for key in range(4000)]
    counts = np.bincount(np.searchsorted(every, draws), minlength=free)
    assert len(np.unique(weights)) > 3
    assert stats.chisquare(counts, 4000 * weights / weights.sum()).pvalue > 1e-4


def test_a_list_of_all_pairs_and_rejection_sample_alike(monkeypatch):
    pairs = Pairs(skewed_example(30, 60).graph())
    often = {}
    for dense in (0, 1000):
        monkeypatch.setattr(pairs_module, "DENSE", dense)
        samples = [pairs.sample_non_edges(100, pairs.edges, key, "degree") for key in range(300)]
        codes, counts = np.unique(np.concatenate(samples), return_counts=True)
        often[dense] = dict(zip(codes.tolist(), counts.tolist(), strict=True))
    both = np.array([[found.get(code, 0) for code in often[0]] for found in often.values()])
    assert stats.chi2_contingency(both[:, both.sum(axis=0) > 10]).pvalue > 1e-4


def test_draws_by_degree_end_with_an_error_if_the_hubs_are_a_clique(monkeypatch):
    monkeypatch.setattr(pairs_module, "DENSE", 0)
    monkeypatch.setattr(pairs_module, "MIN_DRAWS", 1000)
    monkeypatch.setattr(pairs_module, "MAX_DRAWS", 1)
    pairs = Pairs(example([*complete(40), (40, 41), (42, 43)], 44).graph())
    with pytest.raises(ParameterError) as error:
        pairs.sample_non_edges(160, pairs.edges, 0, "degree")
    assert "draws in proportion to degree gave only" in str(error.value)
    assert "or draw them uniformly: sampling='uniform'." in str(error.value)


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
