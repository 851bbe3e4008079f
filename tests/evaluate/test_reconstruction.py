"""Network reconstruction against brute force over all pairs, with ties and samples."""

import itertools
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from example_graphs import examples, random_example
from hopvec import Embedding, Graph, ParameterError, UnknownNodeError
from hopvec.evaluate import reconstruct, reconstruction
from one_pass import one_pass

SIGNS = np.array(list(itertools.product([-1, 1], repeat=4)), np.float32)


def brute_force(embedding, graph, similarity, ks):
    """Precision@k by sorting every pair; ties go to the lowest keys."""
    order = graph.rows[np.argsort(graph.keys)]
    rows = embedding.vectors[order].astype(np.float64)
    if similarity == "cosine":
        rows = oracle.unit_rows(rows)
    edges = graph.to_scipy().toarray()[np.ix_(order, order)] > 0
    edges |= edges.T
    similar = (rows @ rows.T).tolist()
    pairs = itertools.combinations(range(graph.nodes), 2)
    pairs = sorted(pairs, key=lambda pair: (-similar[pair[0]][pair[1]], pair))
    found = [edges[pair] for pair in pairs]
    return {k: np.mean(found[:k]) for k in ks}


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@given(example=examples(), data=st.data())
def test_precision_equals_brute_force_with_many_ties(similarity, example, data):
    graph = example.graph()
    if graph.nodes < 2:
        return
    which = data.draw(st.lists(st.integers(0, 15), min_size=graph.nodes, max_size=graph.nodes))
    embedding = Embedding(SIGNS[which], graph.ids)  # dot products and cosines are exact
    k = data.draw(st.integers(1, graph.nodes * (graph.nodes - 1) // 2))
    found = reconstruct(embedding, graph, similarity=similarity, k=[k])
    assert found.precision == pytest.approx(brute_force(embedding, graph, similarity, [k]))


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("directed", [False, True])
def test_precision_equals_brute_force_without_ties(similarity, directed, monkeypatch):
    monkeypatch.setattr(reconstruction, "STRIPE", 1)  # a block of rows at a time
    graph = random_example(300, 3000, directed=directed).graph()
    embedding = one_pass(dim=24, normalize="authors").embed(graph)
    ks = [1, 10, 100, 3000, 40_000]
    found = reconstruct(embedding, graph, similarity=similarity, k=ks).precision
    assert found == pytest.approx(brute_force(embedding, graph, similarity, ks), abs=1e-9)


def test_vectors_that_encode_the_cliques_find_all_edges():
    groups = np.repeat(np.arange(6), 9)
    pairs = [(u, v) for u, v in itertools.combinations(range(54), 2) if groups[u] == groups[v]]
    graph = Graph.from_edges(*zip(*pairs, strict=True), nodes=54)
    embedding = Embedding(np.eye(6, dtype=np.float32)[groups], graph.ids)
    found = reconstruct(embedding, graph, k=[1, 100, len(pairs), 2 * len(pairs)])
    assert found.precision == {1: 1.0, 100: 1.0, len(pairs): 1.0, 2 * len(pairs): 0.5}
    assert (found.edges, found.pairs, found.nodes, found.sampled) == (216, 1431, 54, False)


def test_default_values_of_k_are_powers_of_ten_up_to_the_number_of_edges():
    graph = random_example(300, 3000).graph()
    assert list(reconstruct(one_pass(dim=8).embed(graph), graph).precision) == [100, 1000]
    small = Graph.from_edges([0, 1, 2], [1, 2, 0])
    assert list(reconstruct(one_pass(dim=8).embed(small), small).precision) == [3]


@pytest.mark.parametrize("seed", [0, 1])
def test_a_sample_is_a_random_subgraph(seed):
    graph = random_example(200, 3000).graph()
    embedding = one_pass(dim=16, normalize="authors").embed(graph)
    found = reconstruct(embedding, graph, sample=60, k=[200], seed=seed)
    assert (found.nodes, found.pairs, found.sampled) == (60, 1770, True)
    assert found == reconstruct(embedding, graph, sample=60, k=[200], seed=seed)
    assert found != reconstruct(embedding, graph, sample=60, k=[200], seed=seed + 2)
    edges, pairs = graph.edges - graph.loops, 200 * 199 / 2
    deviation = np.sqrt(1770 * edges / pairs)
    assert abs(found.edges - 1770 * edges / pairs) < 6 * deviation


def test_larger_graphs_are_sampled_by_default(monkeypatch):
    monkeypatch.setattr(reconstruction, "MAX_NODES", 50)
    graph = random_example(200, 3000).graph()
    embedding = one_pass(dim=16).embed(graph)
    assert reconstruct(embedding, graph).nodes == 50
    assert "between a sample of 50 nodes" in str(reconstruct(embedding, graph))
    whole = reconstruct(embedding, graph, sample=200)
    assert (whole.nodes, whole.sampled) == (200, False)


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_the_order_of_nodes_and_vectors_does_not_matter(similarity):
    made = random_example(80, 400)
    order = np.random.default_rng(0).permutation(80)
    shuffled = Graph.from_edges(made.source[::-1], made.target[::-1], nodes=order)
    vectors = SIGNS[np.random.default_rng(1).integers(0, 16, 80)]
    plain = reconstruct(Embedding(vectors, made.graph().ids), made.graph(), similarity=similarity)
    other = reconstruct(Embedding(vectors[order], pa.array(order)), shuffled, similarity=similarity)
    assert plain == other


def test_large_vectors_do_not_overflow():
    graph = random_example(60, 300).graph()
    embedding = one_pass(dim=8, normalize="authors").embed(graph)
    large = Embedding(embedding.vectors * np.float32(2.0**90), embedding.ids)
    plain, other = (reconstruct(e, graph, similarity="dot") for e in (embedding, large))
    assert plain == other


def test_the_result_can_be_printed_and_written_as_json():
    graph = random_example(300, 3000).graph()
    found = reconstruct(one_pass(dim=8).embed(graph), graph)
    lines = str(found).splitlines()
    assert lines[0].startswith("cosine between all 300 nodes: ")
    assert lines[1] == f"precision@100    {found.precision[100]:.4f}"
    assert json.loads(json.dumps(found.to_dict()))["precision"]["100"] == found.precision[100]


def test_progress_reaches_the_total(monkeypatch):
    monkeypatch.setattr(reconstruction, "STRIPE", 1)
    reports = []
    graph = random_example(300, 3000).graph()
    reconstruct(one_pass(dim=8).embed(graph), graph, progress=lambda *state: reports.append(state))
    assert len(reports) == 3
    assert reports[-1] == (300 * 299 // 2, 300 * 299 // 2)
    assert reports == sorted(reports)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"k": [4]}, "reconstruct: k must be an integer from 1 to 3, got 4."),
        ({"sample": 1}, "reconstruct: sample must be an integer from 2 to 3, got 1."),
        (
            {"similarity": "l2"},
            "reconstruct: similarity must be 'cosine' or 'dot', got 'l2'.",
        ),
    ],
)
def test_invalid_parameters(options, sentence):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    with pytest.raises(ParameterError) as error:
        reconstruct(one_pass(dim=8).embed(graph), graph, **options)
    assert str(error.value) == sentence


def test_graphs_without_pairs_or_edges_are_refused():
    one, two = Graph.from_edges([0], [0]), Graph.from_edges([0], [0], nodes=2)
    with pytest.raises(ParameterError, match="a graph of one node has no pairs to compare"):
        reconstruct(Embedding(np.ones((1, 2), np.float32), one.ids), one)
    with pytest.raises(ParameterError, match="there are no edges between the compared nodes"):
        reconstruct(Embedding(np.ones((2, 2), np.float32), two.ids), two)


def test_a_node_without_a_vector_is_refused():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    with pytest.raises(UnknownNodeError, match="No node 2 among the 2 of this embedding"):
        reconstruct(Embedding(np.ones((2, 2), np.float32), graph.ids[:2]), graph)
