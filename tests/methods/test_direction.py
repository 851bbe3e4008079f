"""Direction: which edges of a directed graph the hops follow."""

import logging
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import rounding_bounds
from example_graphs import examples, on_disk, skewed_example
from hopvec import FastRP, Graph, GraphError, MemoryLimitError, ParameterError, estimate, tune
from hopvec.graph.transpose import transposed_csr
from hopvec.methods import direction as directions
from one_pass import one_pass

CASE = skewed_example(700, 4000, weighted=True, directed=True, seed=5)
PLAIN = skewed_example(700, 4000, directed=True, seed=6)
DIRECTIONS = ("out", "in", "both", "concat")
every_direction = pytest.mark.parametrize("direction", DIRECTIONS)


def random_matrix(graph, dim, sparsity):
    alone = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none"}
    return one_pass(dim=dim, sparsity=sparsity, **alone).embed(graph).vectors


def expected_vectors(case, sparsity, formula):
    return oracle.embed(case.S, random_matrix(case.graph(), formula["dim"], sparsity), **formula)


@st.composite
def formulas(draw):
    return {
        "dim": draw(st.sampled_from([32, 64])),
        "weights": draw(st.sampled_from([[1], [0, 1, -0.5], [0, 0, 1, 4]])),
        "beta": draw(st.sampled_from([-1.0, -0.3, 0.0, 0.5])),
        "self_weight": draw(st.sampled_from([0.0, 0.5])),
        "normalize": draw(st.sampled_from(["none", "authors", "full"])),
        "direction": draw(st.sampled_from(DIRECTIONS)),
    }


@given(examples(directed=True), formulas(), st.sampled_from([1, 3, 40]))
def test_every_small_graph_agrees_with_the_formula(case, formula, sparsity):
    got = one_pass(sparsity=sparsity, **formula).embed(case.graph()).vectors
    expected = expected_vectors(case, sparsity, formula)
    R = random_matrix(case.graph(), formula["dim"], sparsity)  # noqa: N806
    bound = rounding_bounds.bound(case.S, R, **formula)
    assert (np.linalg.norm(got - expected, axis=1) <= bound).all()


@every_direction
@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("case", [CASE, PLAIN], ids=["weighted", "plain"])
def test_ordinary_graphs_agree_with_the_formula(case, precision, direction):
    formula = {"dim": 64, "weights": [0, 1, 2, 1], "beta": -0.3, "normalize": "full"}
    formula["direction"] = direction
    got = one_pass(precision=precision, sparsity=40, **formula).embed(case.graph()).vectors
    error = np.abs(got - expected_vectors(case, 40, formula)).max()
    assert error < (1e-5 if precision == "float32" else 5e-3)


@every_direction
def test_the_bytes_are_the_same_for_any_threads_memory_limit_and_mapping(direction):
    graph = CASE.graph()
    options = {"dim": 64, "direction": direction, "oversample": 2}
    expected = one_pass(threads=1, **options).embed(graph).vectors.tobytes()
    assert one_pass(threads=3, **options).embed(graph).vectors.tobytes() == expected
    minimum = one_pass(**options).working_bytes(graph.nodes, graph.nbytes) + 250_000
    limited = one_pass(memory=minimum, **options)
    assert limited.plan(graph).output == "file"
    assert limited.embed(graph).vectors.tobytes() == expected
    mapped = replace(graph, **{part: on_disk(graph, part) for part in ("indices", "weights")})
    assert one_pass(**options).embed(mapped).vectors.tobytes() == expected


def test_reversing_the_edges_swaps_out_and_in():
    reversed_graph = Graph.from_edges(
        CASE.target, CASE.source, CASE.weight, nodes=CASE.nodes, directed=True
    )
    for this, other in (("out", "in"), ("in", "out")):
        got = one_pass(dim=32, direction=this).embed(CASE.graph()).vectors
        expected = one_pass(dim=32, direction=other).embed(reversed_graph).vectors
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5)


def test_both_equals_the_embedding_of_the_undirected_graph():
    undirected = Graph.from_edges(CASE.source, CASE.target, CASE.weight, nodes=CASE.nodes)
    expected = one_pass(dim=32).embed(undirected)
    got = one_pass(dim=32, direction="both").embed(CASE.graph())
    np.testing.assert_allclose(got.vectors, expected.vectors, rtol=0, atol=1e-5)
    assert got.fitted_state.volume == pytest.approx(expected.fitted_state.volume)


def test_the_halves_of_concat_predict_the_direction_of_edges():
    """The out half of u and the in half of v are similar if a path leads from u to v."""
    ring = np.arange(60)
    graph = Graph.from_edges(ring, (ring + 1) % 60, directed=True)
    vectors = one_pass(dim=512, direction="concat", weights=(1, 1)).embed(graph).vectors
    out, into = np.hsplit(vectors, 2)
    products = out @ into.T
    forward = products[ring, (ring + 3) % 60].mean()
    assert forward > 5 * abs(products[ring, (ring - 3) % 60].mean())


@every_direction
def test_cached_orders_and_an_earlier_fitted_state_give_the_same_bytes(direction):
    method = one_pass(dim=64, direction=direction)
    expected = method.embed(CASE.graph())
    again = method.orders(CASE.graph()).embed(method)
    assert again.vectors.tobytes() == expected.vectors.tobytes()
    aligned = method.embed(CASE.graph(), like=expected)
    assert aligned.vectors.tobytes() == expected.vectors.tobytes()
    assert aligned.fitted_state.volume == again.fitted_state.volume


@every_direction
def test_new_nodes_follow_the_formula_without_edges_back(direction):
    first_new = 640
    old = (CASE.source < first_new) & (CASE.target < first_new)

    def graph_of(edges, nodes=None):
        ends = CASE.source[edges], CASE.target[edges], CASE.weight[edges]
        return Graph.from_edges(*ends, nodes=nodes, directed=True)

    formula = {"dim": 64, "weights": [1, 0.5, 2], "beta": 0.0, "normalize": "none"}
    method = one_pass(sparsity=3, direction=direction, **formula)
    graph = graph_of(old, first_new)
    new = method.embed_new(graph_of(~old), graph=graph, like=method.embed(graph))
    R = random_matrix(CASE.graph(), 64, 3)  # noqa: N806
    directions = {"concat": ("out", "in")}.get(direction, (direction,))
    parts = []
    for one in directions:
        matrix = oracle.oriented(np.array(CASE.S, np.float64), one)
        matrix[:first_new, first_new:] = 0  # no edge leads from an old node to a new one
        formula["dim"] = 64 // len(directions)
        parts.append(oracle.embed(matrix, R, **formula))
    np.testing.assert_allclose(
        new.vectors, np.hstack(parts)[new.ids.to_numpy()], rtol=0, atol=1e-5 * np.abs(parts).max()
    )


@pytest.mark.parametrize("reciprocal", ["old", "new"])
def test_reciprocal_edges_count_twice_in_both(reciprocal):
    pairs = {"old": ([0, 1, 2], [1, 2, 3]), "new": ([4, 4], [0, 2])}
    parts = {}
    for name, (source, target) in pairs.items():
        ends = (source + target, target + source) if name == reciprocal else (source, target)
        parts[name] = Graph.from_edges(*ends, directed=True)
    method = one_pass(
        dim=16, weights=[1, 1], beta=-0.75, normalize="none", direction="both", sparsity=1
    )
    old = method.embed(parts["old"])
    new = method.embed_new(parts["new"], graph=parts["old"], like=old)
    degree, volume = np.zeros(5), parts["old"].volume * 2
    S = np.zeros((5, 5))  # noqa: N806
    for graph in parts.values():
        rows, ids = graph.to_scipy().toarray(), graph.ids.to_numpy()
        S[np.ix_(ids, ids)] += rows + rows.T
    S[:4, 4] = 0
    degree = S.sum(axis=1)
    R = random_matrix(Graph.from_edges([0], [1], nodes=5), 16, 1)  # noqa: N806
    first = S / degree[:, None] @ ((degree / volume)[:, None] ** -0.75 * R)
    expected = first + S / degree[:, None] @ first
    np.testing.assert_allclose(new.vectors[0], expected[4], rtol=1e-4)


def test_new_nodes_without_edges_to_follow_cause_a_warning(caplog):
    graph = Graph.from_edges([0, 1], [1, 2], directed=True)
    method = one_pass(dim=8)
    new = method.embed_new(
        Graph.from_edges([0], [7], directed=True), graph=graph, like=method.embed(graph)
    )
    assert not new.vectors.any()
    assert "Zero vectors: 1 of 1 nodes" in caplog.text


def test_undirected_new_edges_of_a_directed_graph_are_rejected():
    graph = Graph.from_edges([0, 1], [1, 2], directed=True)
    method = one_pass(dim=8)
    with pytest.raises(GraphError, match="The graph is directed, but the new edges are undirected"):
        method.embed_new(Graph.from_edges([2], [3]), graph=graph, like=method.embed(graph))


class TestUndirectedGraphs:
    GRAPH = Graph.from_edges([0, 1, 2], [1, 2, 3])

    @pytest.mark.parametrize("direction", ["in", "both"])
    def test_the_direction_has_no_effect_and_causes_a_warning(self, direction, caplog):
        expected = one_pass(dim=8).embed(self.GRAPH)
        with caplog.at_level(logging.WARNING, "hopvec"):
            got = one_pass(dim=8, direction=direction).embed(self.GRAPH)
        assert got.vectors.tobytes() == expected.vectors.tobytes()
        assert f"direction='{direction}' has no effect" in caplog.text

    def test_concat_is_rejected(self):
        with pytest.raises(GraphError, match="both halves would be the same"):
            one_pass(dim=32, direction="concat").embed(self.GRAPH)
        with pytest.raises(GraphError, match="both halves would be the same"):
            estimate(self.GRAPH, one_pass(dim=32, direction="concat"))


@pytest.mark.parametrize(
    ("options", "step"),
    [({"dim": 48}, 32), ({"dim": 96, "precision": "float16"}, 64)],
)
def test_halves_are_whole_slabs(options, step):
    with pytest.raises(ParameterError, match=f"a multiple of {step} in"):
        one_pass(direction="concat", **options).embed(CASE.graph())
    one_pass(direction="concat", **options | {"dim": step}).embed(CASE.graph())


@pytest.mark.parametrize(
    ("direction", "zero", "what"),
    [("out", [3, 4], "outgoing edges"), ("in", [0, 4], "incoming edges"), ("both", [4], "edges")],
)
def test_nodes_without_edges_in_the_direction_have_zero_vectors(direction, zero, what, caplog):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], directed=True, nodes=5)
    method = one_pass(dim=64, direction=direction, weights=(1,), sparsity=1, beta=0)
    with caplog.at_level(logging.WARNING, "hopvec"):
        vectors = method.embed(graph).vectors
    assert np.flatnonzero(~vectors.any(axis=1)).tolist() == zero
    assert f"Zero vectors: {len(zero)} of 5 nodes, all without {what};" in caplog.text


def test_the_transposed_rows_are_part_of_the_plan():
    graph = CASE.graph()
    plain = one_pass(dim=32).plan(graph).bytes.total
    assert one_pass(dim=32, direction="in").plan(graph).bytes.total > plain + graph.nbytes
    assert estimate(graph, one_pass(dim=64, direction="concat")).bytes > plain + graph.nbytes
    memory = one_pass(dim=32).working_bytes(graph.nodes) + graph.nbytes + 45_000
    one_pass(dim=32, memory=memory).embed(graph)
    with pytest.raises(MemoryLimitError):
        one_pass(dim=32, direction="both", memory=memory).embed(graph)


def test_the_direction_can_be_searched():
    tuning = tune(CASE.graph(), space={"direction": "out,in,both,concat"}, search="grid")
    assert [trial.parameters["direction"] for trial in tuning.trials] == list(DIRECTIONS)
    assert tuning.method.direction == tuning.best.parameters["direction"]


@pytest.mark.parametrize("direction", ["in", "both", "concat"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_plan_counts_all_arrays_of_the_transposed_rows(direction, weighted):
    ends = np.random.default_rng(0).integers(0, 5000, (2, 8000))
    graph = Graph.from_edges(*ends, np.ones(8000) / 3 if weighted else None, directed=True)
    method = FastRP(dim=64, direction=direction)
    hops = directions.transitions(graph, direction, 1)
    extra = [hop for hop in hops if hop.degrees is not graph._node_degrees]
    parts = [part for part in directions.DIRECTIONS[direction] if part != "out"]
    csrs = [transposed_csr(graph, part, 1) for part in parts]
    arrays = [array for csr in csrs for array in (csr.indptr, csr.indices, csr.weights)]
    held = sum(array.nbytes for array in arrays if array is not None)
    held += sum(hop.degrees.nbytes + 3 * 4 * graph.nodes for hop in extra)
    assert len(extra) == len(csrs) == 1
    assert method.plan(graph).bytes.working["transposed rows"] >= held
    beyond = FastRP(dim=64, direction="out").working_bytes(graph.nodes, graph.nbytes)
    assert method.working_bytes(graph.nodes, graph.nbytes) - beyond >= held
