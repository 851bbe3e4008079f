"""FastRP on graphs with relations: merged into one graph, or a part of the columns for each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopvec
import oracle
from hopvec import FastRP, Graph, GraphError, NetMF, ParameterError, evaluate
from one_pass import one_pass

NODES = 300


def typed_case(seed, weighted=True):
    """Source, target, weight and relation of random edges."""
    random = np.random.default_rng(seed)
    source, target = (NODES * random.random((2, 2400)) ** 2).astype(int)
    weight = random.lognormal(size=2400).astype(np.float32) if weighted else None
    return source, target, weight, random.choice(["A", "B", "C"], 2400, p=[0.6, 0.3, 0.1])


def graph_of(case, **options):
    source, target, weight, relation = case
    return Graph.from_edges(source, target, weight, relation=relation, nodes=NODES, **options)


def matrices_of(case, directed=False):
    source, target, weight, relation = case
    weight = np.ones(len(source)) if weight is None else weight
    matrices = []
    for name in "ABC":
        own, S_r = relation == name, np.zeros((NODES, NODES))  # noqa: N806
        np.add.at(S_r, (source[own], target[own]), weight[own])
        matrices.append(oracle.oriented(S_r, "out" if directed else "both"))
    return matrices


def random_matrix(graph, dim):
    alone = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none"}
    return one_pass(dim=dim, sparsity=3, **alone).embed(graph).vectors


FORMULA = {"weights": [0.5, 1, 2], "beta": -0.3, "self_weight": 0.25}


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("sparsity", [3, 100])  # 100: the first hop of a symmetric S is a scatter
def test_an_embedding_of_a_graph_balanced_by_node_agrees_with_the_formula(weighted, sparsity):
    case = typed_case(1, weighted)
    graph = graph_of(case, relation_balance="node", relation_weights="A=1,B=2,C=1")
    method = one_pass(dim=32, sparsity=sparsity, normalize="full", **FORMULA)
    alone = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none"}
    R = one_pass(dim=32, sparsity=sparsity, **alone).embed(graph).vectors  # noqa: N806
    S = oracle.merge_relations(matrices_of(case), [1, 2, 1], "node")  # noqa: N806
    expected = oracle.embed(S, R, dim=32, normalize="full", **FORMULA)
    np.testing.assert_allclose(method.embed(graph).vectors, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("direction", ["out", "in", "both"])
@pytest.mark.parametrize("directed", [True, False])
def test_concat_has_a_part_of_the_columns_for_each_relation(directed, direction):
    case = typed_case(2)
    graph = graph_of(case, directed=directed)
    options = {"direction": direction} if directed else {}
    method = one_pass(
        dim=96, sparsity=3, normalize="none", relations="concat", **FORMULA, **options
    )
    got = method.embed(graph).vectors
    volume = sum(S_r.sum() for S_r in matrices_of(case, directed))
    if directed and direction == "both":
        volume = sum(oracle.oriented(S_r, "both").sum() for S_r in matrices_of(case, directed))
    parts = []
    for S_r in matrices_of(case, directed):  # noqa: N806
        terms = oracle.orders(
            S_r, random_matrix(graph, 32), FORMULA["weights"], FORMULA["beta"],
            FORMULA["self_weight"], direction if directed else "out", volume=volume,
        )  # fmt: skip
        parts.append(sum(weight * N_i for weight, N_i in terms))
    expected = np.hstack(parts)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_concat_of_relations_and_directions_has_a_part_for_each_pair():
    graph = graph_of(typed_case(3), directed=True)
    whole = {"dim": 192, "sparsity": 3, "normalize": "none", **FORMULA}
    both = one_pass(relations="concat", direction="concat", **whole).embed(graph).vectors
    half = whole | {"dim": 96}
    for at, direction in enumerate(("out", "in")):
        alone = one_pass(relations="concat", direction=direction, **half).embed(graph).vectors
        for relation in range(3):
            part = slice(32 * (2 * relation + at), 32 * (2 * relation + at + 1))
            own = slice(32 * relation, 32 * (relation + 1))
            assert both[:, part].tobytes() == alone[:, own].tobytes()


@pytest.mark.parametrize("relations", ["merge", "concat"])
@pytest.mark.parametrize("passes", [1, 3])
def test_the_bytes_are_the_same_for_any_threads_memory_and_order_of_edges(relations, passes):
    source, target, weight, relation = typed_case(4)
    order = np.random.default_rng(0).permutation(len(source))
    options = {"dim": 96, "passes": passes, "relations": relations}
    graph = graph_of((source, target, weight, relation), relation_balance="node")
    expected = FastRP(threads=1, **options).embed(graph).vectors.tobytes()
    shuffled = graph_of(
        (source[order], target[order], weight[order], relation[order]), relation_balance="node"
    )
    assert FastRP(threads=3, **options).embed(shuffled).vectors.tobytes() == expected
    whole = FastRP(threads=1, **options).plan(graph).bytes
    limited = FastRP(threads=1, memory=whole.total - 1, **options)
    while limited.plan(graph).output == "memory":
        limited.set_params(memory=limited.plan(graph).bytes.total - 1)
    assert limited.embed(graph).vectors.tobytes() == expected


@pytest.mark.parametrize("relations", ["merge", "concat"])
def test_an_earlier_fitted_state_gives_the_same_bytes(relations):
    graph = graph_of(typed_case(5))
    method = FastRP(dim=96, relations=relations)
    expected = method.embed(graph)
    assert method.embed(graph, like=expected).vectors.tobytes() == expected.vectors.tobytes()


def test_concat_refuses_other_relations_than_those_of_the_fitted_state():
    case = typed_case(5)
    method = FastRP(dim=96, relations="concat")
    old = method.embed(graph_of(case))
    fewer = tuple(column[case[3] != "C"] for column in case)
    with pytest.raises(ParameterError, match="made with the relations A, B, C, but this graph"):
        FastRP(dim=96, relations="concat").embed(graph_of(fewer), like=old)
    named = graph_of(fewer, relation_weights="A=1,B=1,C=1")
    assert method.embed(named, like=old).dim == 96


def test_concat_needs_relations_and_whole_slabs():
    plain = Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(GraphError, match=r"relations='concat' .* this graph has no relations"):
        FastRP(relations="concat").embed(plain)
    graph = graph_of(typed_case(6))
    with pytest.raises(ParameterError, match="a multiple of 48 for the 3 relations"):
        FastRP(dim=64, relations="concat").embed(graph)
    with pytest.raises(ParameterError, match="embed_new does not support relations='concat'"):
        FastRP(dim=96, relations="concat").embed_new(plain, graph=graph, like=None)


def test_methods_that_need_a_symmetric_matrix_refuse_a_graph_balanced_by_node():
    graph = graph_of(typed_case(7), relation_balance="node")
    with pytest.raises(GraphError, match="not, because of relation_balance='node'"):
        NetMF(dim=8).embed(graph)
    assert NetMF(dim=8).embed(graph_of(typed_case(7), relation_balance="total")).dim == 8


@pytest.mark.parametrize("balance", ["none", "total", "node"])
def test_held_out_edges_are_left_out_of_every_relation(balance):
    source, target, weight, relation = typed_case(8)
    graph = graph_of((source, target, weight, relation), relation_balance=balance)
    split = evaluate.hold_out(graph, share=0.2, seed=3)
    out = {frozenset(pair) for pair in zip(*split.edges.to_pydict().values(), strict=True)}
    kept = np.array([{u, v} not in out for u, v in zip(source, target, strict=True)])
    fewer = (source[kept], target[kept], weight[kept], relation[kept])
    expected = graph_of(fewer, relation_balance=balance, relation_weights="A=1,B=1,C=1")
    np.testing.assert_array_equal(
        split.training.to_scipy().toarray(), expected.to_scipy().toarray()
    )
    assert split.training.relations.edges == expected.relations.edges


class TestQuality:
    """One informative relation among ten times as many edges of noise."""

    @pytest.fixture
    def planted(self):
        random = np.random.default_rng(9)
        nodes, classes = 1500, 4
        label = random.integers(0, classes, nodes)
        members = [np.flatnonzero(label == one) for one in range(classes)]
        source = random.integers(0, nodes, 6000)
        inside = np.array([random.choice(members[label[node]]) for node in source])
        target = np.where(random.random(6000) < 0.9, inside, random.integers(0, nodes, 6000))
        noise = random.integers(0, nodes, (2, 60_000))
        ends = np.hstack([[source, target], noise])
        relation = np.repeat(["SAME_TEAM", "MAILED"], [6000, 60_000])
        return ends, relation, hopvec.Labels.from_pairs(np.arange(nodes), label.astype(str))

    def f1(self, planted, **options):
        (source, target), relation, labels = planted
        relation = relation if options else None
        graph = Graph.from_edges(source, target, relation=relation, **options)
        embedding = FastRP(dim=64).embed(graph)
        return evaluate.classify(embedding, labels, shares=[0.1], shuffles=3).shares[0].macro_f1

    def test_weights_and_balance_recover_the_classes_that_noise_hides(self, planted):
        assert self.f1(planted) < 35  # 25 is chance
        assert self.f1(planted, relation_weights="SAME_TEAM=1,MAILED=0.01") > 90
        assert self.f1(planted, relation_balance="total") > 90
        assert self.f1(planted, relation_balance="node") > 90


@given(st.integers(0, 1000))
def test_one_relation_gives_the_bytes_of_the_graph_without_relations(seed):
    random = np.random.default_rng(seed)
    source, target = random.integers(0, 20, (2, 40))
    plain = Graph.from_edges(source, target)
    typed = Graph.from_edges(source, target, relation=["K"] * 40)
    method = FastRP(dim=16)
    assert method.embed(typed).vectors.tobytes() == method.embed(plain).vectors.tobytes()
