"""Graph.from_edges, compared with a dictionary of entries."""

import json
from collections import Counter

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from graph_arrays import arrays_of, entries_of
from hopvec import FastRP, Graph, GraphError


def expected(source, target, weight, *, directed=False, duplicates="sum", loops="keep"):
    """The entries, and the counts of duplicates, loops and zero weights: a simple reference."""
    edges, counts = {}, Counter()
    for u, v, w in zip(source, target, weight or [1.0] * len(source), strict=True):
        counts["loops"] += u == v
        counts["zero_weights"] += w == 0
        if w == 0 or (loops == "drop" and u == v):
            continue
        pair = (u, v) if directed or u <= v else (v, u)
        counts["duplicates"] += pair in edges
        if duplicates == "first":
            edges.setdefault(pair, w)
        else:
            edges[pair] = edges.get(pair, 0.0) + w
    if not directed:
        edges |= {(v, u): w for (u, v), w in edges.items()}
    return edges, counts


def key(id):
    data = id.encode() if isinstance(id, str) else int(id).to_bytes(8, "little", signed=True)
    return xxhash.xxh64_intdigest(data, seed=42)


NAMES = {
    "dense": list(range(12)),
    "offset": list(range(2**31 - 6, 2**31 + 6)),
    "negative": list(range(-6, 6)),
    "gaps": [3 * number for number in range(12)],
    "sparse": [number**17 - 2**40 for number in range(12)],
    "extreme": [-(2**63), -1, 0, 1, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1],
    "text": ["", "a", "b", "B", "ab", "é", "日本", "a\0", "a\0b", "a\n", "🙂", "z" * 70],
}
quarters = st.integers(0, 32).map(lambda number: number / 4)  # their sums are exact in float32


@st.composite
def edge_lists(draw):
    names = NAMES[draw(st.sampled_from(sorted(NAMES)))]
    name = st.sampled_from(names)
    pairs = draw(st.lists(st.tuples(name, name), min_size=1, max_size=30))
    source, target = map(list, zip(*pairs, strict=True))
    weighted = draw(st.booleans())
    weight = draw(st.lists(quarters, min_size=len(pairs), max_size=len(pairs)))
    return names, source, target, weight if weighted else None


rules = st.fixed_dictionaries(
    {
        "directed": st.booleans(),
        "duplicates": st.sampled_from(["sum", "first"]),
        "loops": st.sampled_from(["keep", "drop"]),
    }
)


@given(edge_lists(), rules)
def test_the_entries_match_the_reference(edges, rules):
    _, source, target, weight = edges
    graph = Graph.from_edges(source, target, weight, **rules)
    assert entries_of(graph) == expected(source, target, weight, **rules)[0]


@given(edge_lists(), rules)
def test_duplicates_loops_and_zero_weights_are_counted(edges, rules):
    _, source, target, weight = edges
    graph = Graph.from_edges(source, target, weight, **rules)
    counts = expected(source, target, weight, **rules)[1]
    found = graph.duplicates, graph.loops, graph.zero_weights
    assert found == (counts["duplicates"], counts["loops"], counts["zero_weights"])


@given(edge_lists(), rules)
def test_the_arrays_are_valid_csr(edges, rules):
    _, source, target, weight = edges
    graph = Graph.from_edges(source, target, weight, **rules)
    assert (graph.indptr.dtype, graph.indices.dtype) == (np.int64, np.int32)
    assert graph.indptr[0] == 0
    assert graph.indptr[-1] == len(graph.indices)
    assert (np.diff(graph.indptr) >= 0).all()
    assert ((graph.indices >= 0) & (graph.indices < graph.nodes)).all()
    for begin, end in zip(graph.indptr[:-1], graph.indptr[1:], strict=True):
        assert (np.diff(graph.indices[begin:end]) > 0).all()
    if graph.weights is not None:
        assert graph.weights.dtype == np.float32
        assert graph.weights.shape == graph.indices.shape
        assert (graph.weights > 0).all()


@given(edge_lists(), rules)
def test_the_internal_order_is_by_entries_then_by_key_with_empty_rows_last(edges, rules):
    names, source, target, weight = edges
    graph = Graph.from_edges(source, target, weight, nodes=names, **rules)
    entries = entries_of(graph)
    row = Counter(u for u, _ in entries)
    size = row + Counter(v for _, v in entries)
    order = sorted(names, key=lambda id: (row[id] == 0, -size[id], key(id)))
    assert [names[index] for index in graph.rows] == order


@given(edge_lists(), rules)
def test_degrees_volume_edges_and_isolated_follow_from_the_entries(edges, rules):
    names, source, target, weight = edges
    graph = Graph.from_edges(source, target, weight, nodes=names, **rules)
    entries = entries_of(graph)
    degrees = Counter()
    for (u, _), w in entries.items():
        degrees[u] += w
    assert graph.degrees.tolist() == [degrees[id] for id in names]
    assert graph.volume == sum(degrees.values())
    assert graph.isolated == sum(degrees[id] == 0 for id in names)
    pairs = entries if rules["directed"] else {frozenset(pair) for pair in entries}
    assert graph.edges == len(pairs)


@given(edge_lists(), st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_the_edges_does_not_matter(edges, directed, random):
    _, source, target, weight = edges
    order = list(range(len(source)))
    random.shuffle(order)
    shuffled = [
        None if values is None else [values[position] for position in order]
        for values in (source, target, weight)
    ]
    graph = Graph.from_edges(source, target, weight, directed=directed)
    assert arrays_of(Graph.from_edges(*shuffled, directed=directed)) == arrays_of(graph)


@given(edge_lists())
def test_the_ends_of_an_undirected_edge_may_be_swapped(edges):
    _, source, target, weight = edges
    graph, swapped = (
        Graph.from_edges(*ends, weight) for ends in ((source, target), (target, source))
    )
    assert arrays_of(swapped) == arrays_of(graph)


@given(edge_lists(), st.booleans())
def test_repeated_edges_become_one_edge_with_the_sum_of_the_weights(edges, directed):
    _, source, target, weight = edges
    graph = Graph.from_edges(source, target, weight, directed=directed)
    summed = expected(source, target, weight, directed=directed)[0]
    pairs = [pair for pair in summed if directed or pair[0] <= pair[1]]
    once = Graph.from_edges(
        [u for u, _ in pairs] or source[:1],
        [v for _, v in pairs] or target[:1],
        [summed[pair] for pair in pairs] or [0],
        directed=directed,
        nodes=graph.ids,
    )
    assert arrays_of(once) == arrays_of(graph)


def random_edges(nodes, edges, seed=0):
    random = np.random.default_rng(seed)
    source, target = (nodes * random.random((2, edges)) ** 2).astype(np.int32)
    return source, target, random.lognormal(size=edges).astype(np.float32)


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("duplicates", ["sum", "first"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_bytes_for_any_number_of_threads(threads, duplicates, directed, weighted):
    source, target, weight = random_edges(3_000, 300_000)
    options = {"directed": directed, "duplicates": duplicates}
    weight = weight if weighted else None
    alone = Graph.from_edges(source, target, weight, threads=1, **options)
    assert alone.duplicates > 1_000
    assert arrays_of(Graph.from_edges(source, target, weight, threads=threads, **options)) == (
        arrays_of(alone)
    )


def test_the_same_bytes_for_many_weighted_duplicates_in_any_order():
    source, target, weight = random_edges(40, 100_000)
    order = np.random.default_rng(1).permutation(len(source))
    graph = Graph.from_edges(source, target, weight, threads=2)
    again = Graph.from_edges(target[order], source[order], weight[order], threads=5)
    assert arrays_of(again) == arrays_of(graph)


def test_many_small_weights_are_not_lost_to_rounding():
    weight = np.full(1 << 20, 0.1, np.float32)
    weight[0] = 2.0**20
    ends = np.zeros(len(weight), np.int32)
    graph = Graph.from_edges(ends, ends + 1, weight)
    assert graph.weights[0] == np.float32(weight.astype(np.float64).sum())


@pytest.mark.parametrize("weight", [1e-30, 1e30])
def test_the_smallest_and_the_largest_weight_are_accepted(weight):
    assert Graph.from_edges([0], [1], [weight]).weights.tolist() == [np.float32(weight)] * 2


def test_a_graph_with_all_weights_1_is_unweighted():
    assert Graph.from_edges([0, 1], [1, 2], [1.0, 1.0]).weights is None


def test_repeated_edges_make_an_unweighted_graph_weighted():
    assert Graph.from_edges([0, 1, 1], [1, 0, 2]).weights.tolist() == [2.0, 1.0, 2.0, 1.0]


def test_the_nodes_of_an_edge_of_weight_0_remain():
    graph = Graph.from_edges(["a", "b"], ["b", "c"], [2.0, -0.0])
    assert graph.ids.to_pylist() == ["a", "b", "c"]
    assert (graph.edges, graph.isolated, graph.zero_weights) == (1, 1, 1)


def test_a_loop_is_one_entry_and_one_edge():
    graph = Graph.from_edges([3], [3])
    assert (graph.nodes, graph.entries, graph.edges, graph.volume) == (1, 1, 1, 1.0)


def test_a_dropped_loop_leaves_its_node_isolated():
    graph = Graph.from_edges([3, 1], [3, 2], loops="drop")
    assert graph.ids.to_pylist() == [1, 2, 3]
    assert (graph.isolated, graph.loops, graph.edges) == (1, 1, 1)


def test_a_number_of_nodes_gives_ids_from_0():
    graph = Graph.from_edges([4], [1], nodes=6)
    assert graph.ids.to_pylist() == list(range(6))
    assert graph.isolated == 4


def test_a_graph_may_have_nodes_but_no_edges():
    graph = Graph.from_edges([], [], nodes=["b", "a"])
    assert graph.ids.to_pylist() == ["b", "a"]
    assert (graph.edges, graph.isolated, graph.volume) == (0, 2, 0.0)


def test_a_directed_node_without_outgoing_edges_counts_as_isolated():
    assert Graph.from_edges([0, 1], [2, 2], directed=True).isolated == 1


def test_the_description_is_valid_json():
    graph = Graph.from_edges([0, 0, 1, 2], [1, 1, 1, 3], [1, 2, 4, 0], nodes=np.arange(5))
    assert json.loads(json.dumps(graph.describe())) == {
        "nodes": 5,
        "edges": 2,
        "directed": False,
        "weighted": True,
        "volume": 10.0,
        "largest_degree": 7.0,
        "isolated": 3,
        "largest_component": 2,
        "duplicates": 1,
        "loops": 1,
        "zero_weights": 1,
        "bytes": 6 * 8 + 3 * 4 + 3 * 4,
    }


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (([0], [1]), "Graph(2 nodes, 1 edge, undirected, unweighted)"),
        (([0], [0], [3]), "Graph(1 node, 1 edge, undirected, weighted)"),
        ((range(1500), range(1, 1501)), "Graph(1,501 nodes, 1,500 edges, undirected, unweighted)"),
    ],
)
def test_the_repr_shows_size_and_kind(graph, expected):
    assert repr(Graph.from_edges(*graph)) == expected


@pytest.mark.parametrize(
    "name", ["indptr", "indices", "weights", "rows", "keys", "degrees", "_node_degrees"]
)
def test_the_arrays_of_a_graph_are_read_only(name):
    graph = Graph.from_edges([0, 1], [1, 2], [2, 3])
    with pytest.raises(ValueError, match="read-only"):
        getattr(graph, name)[0] = 7


def test_the_fields_of_a_graph_are_read_only():
    with pytest.raises(AttributeError):
        Graph.from_edges([0], [1]).directed = True


@pytest.mark.parametrize("ids", [np.array([5, 6, 7]), np.array([5, 6, 7], np.int32)])
def test_changing_the_input_arrays_does_not_change_the_graph(ids):
    weight = np.array([2, 3], np.float32)
    source, target = ids[:2].copy(), ids[1:].copy()
    graph = Graph.from_edges(source, target, weight, nodes=ids)
    before = arrays_of(graph)
    for column in (ids, source, target, weight):
        column[:] = 99
    assert arrays_of(graph) == before


def test_the_input_arrays_stay_writable():
    ends, weight = np.array([0, 1], np.int32), np.array([2, 3], np.float32)
    Graph.from_edges(ends, ends, weight)
    assert ends.flags.writeable
    assert weight.flags.writeable


def test_read_only_arrays_are_accepted():
    ends = np.array([0, 1], np.int32)
    ends.flags.writeable = False
    assert Graph.from_edges(ends, ends[::-1].copy()).edges == 1


class TestPairs:
    @pytest.mark.parametrize(
        "edges",
        [
            [("a", "b"), ("b", "c")],
            [["a", "b"], ["b", "c"]],
            (("a", "b"), ("b", "c")),
            np.array([["a", "b"], ["b", "c"]]),
        ],
    )
    def test_a_list_of_pairs_is_a_list_of_edges(self, edges):
        graph, expected = Graph.from_edges(edges), Graph.from_edges(["a", "b"], ["b", "c"])
        assert (graph.to_scipy() != expected.to_scipy()).nnz == 0
        assert graph.ids.to_pylist() == ["a", "b", "c"]

    def test_triples_have_weights(self):
        graph = Graph.from_edges([(1, 2, 0.5), (2, 3, 2)])
        assert graph.to_scipy().toarray()[0].tolist() == [0, 0.5, 0]

    @pytest.mark.parametrize("edges", [[(1, 2), (1, 2, 3)], ["ab", "bc"], [1, 2], [(1, 2, 3, 4)]])
    def test_anything_else_is_refused(self, edges):
        with pytest.raises(GraphError, match=r"edges are pairs \(source, target\) or triples"):
            Graph.from_edges(edges)

    def test_methods_take_pairs_unless_they_may_be_a_matrix(self):
        assert FastRP(dim=2).embed([("a", "b"), ("b", "c")]).ids.to_pylist() == ["a", "b", "c"]
        with pytest.raises(GraphError, match="may be edges or a matrix"):
            FastRP(dim=2).embed([(0, 1), (1, 0)])

    def test_ids_of_networkx_that_are_tuples_are_refused_with_a_remedy(self):
        networkx = pytest.importorskip("networkx")
        graph = networkx.grid_2d_graph(3, 3)
        with pytest.raises(GraphError, match=r"is \(0, 0\).*networkx\.relabel_nodes\(graph, str\)"):
            Graph.from_networkx(graph)
        assert Graph.from_networkx(networkx.relabel_nodes(graph, str)).nodes == 9
