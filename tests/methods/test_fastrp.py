"""FastRP against the formulas."""

import math

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hopvec
import oracle
import reference
import rounding_bounds
from example_graphs import (
    SHAPES,
    example,
    examples,
    path,
    random_example,
    skewed_example,
    star,
)
from fastrp_oracle import random_matrix, run
from hopvec import FastRP, Graph, ParameterError
from one_pass import one_pass

NORMALIZE = ("none", "authors", "full")
ORDINARY = random_example(2000, 8000, weighted=True, isolated=20)


def agrees_within_rounding(case, *, sparsity, seed=0, **formula):
    """Whether every row equals the oracle's up to float32 rounding."""
    got, expected = run(case, sparsity=sparsity, seed=seed, **formula)
    R = random_matrix(case.graph(), formula["dim"], sparsity=sparsity, seed=seed)  # noqa: N806
    return (
        np.linalg.norm(got - expected, axis=1) <= rounding_bounds.bound(case.S, R, **formula)
    ).all()


@st.composite
def formulas(draw):
    _order_weights = st.lists(
        st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0]), min_size=1, max_size=5
    )
    self_weight = draw(st.sampled_from([0.0, 0.0, 1.0, -0.5]))
    return {
        "dim": draw(st.sampled_from([1, 3, 15, 16, 17, 33, 48])),
        "weights": draw(_order_weights.filter(lambda weights: self_weight or any(weights))),
        "beta": draw(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]) | st.floats(-1, 1)),
        "self_weight": self_weight,
        "normalize": draw(st.sampled_from(NORMALIZE)),
    }


sparsities = st.sampled_from(["sqrt", 1, 1.5, 3, 40, 150])  # from 32 on, hop 1 is a scatter


class TestAgainstTheOracle:
    @settings(max_examples=250)
    @given(examples(), formulas(), sparsities, st.integers(0, 2**64 - 1))
    def test_every_small_graph_and_option_agrees_within_rounding(
        self, case, formula, sparsity, seed
    ):
        assert agrees_within_rounding(case, sparsity=sparsity, seed=seed, **formula)

    @given(examples(), formulas(), sparsities)
    def test_float16_agrees_within_its_own_rounding(self, case, formula, sparsity):
        formula["normalize"] = "none"
        graph = case.graph()
        got = one_pass(precision="float16", sparsity=sparsity, **formula).embed(graph).vectors
        R = random_matrix(graph, formula["dim"], sparsity=sparsity)  # noqa: N806
        bound = rounding_bounds.bound(case.S, R, **formula, epsilon=2e-3)
        # Below 2^-14 float16 has a fixed spacing; the scale puts the largest L near 2^15.
        largest = oracle.degree_power(case.S, formula["beta"], order_0=True).max() * np.abs(R).max()
        weights = sum(map(abs, [formula["self_weight"], *formula["weights"]]))
        floor = 2.0**-36 * largest * weights * math.sqrt(formula["dim"])
        error = np.linalg.norm(got - oracle.embed(case.S, R, **formula), axis=1)
        assert (error <= bound + floor).all()

    @pytest.mark.parametrize("normalize", NORMALIZE)
    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("nodes", [30, 300, 1100])
    @pytest.mark.parametrize("beta", [-0.9, 0.25])
    def test_rows_agree_to_1e_5_on_ordinary_graphs(
        self, nodes, weighted, directed, normalize, beta
    ):
        case = skewed_example(nodes, 4 * nodes, weighted=weighted, directed=directed, seed=nodes)
        got, expected = run(
            case, dim=90, weights=[0, 0, 1, 1, 1, 1], beta=beta, normalize=normalize, seed=3
        )
        assert oracle.relative_errors(got, expected).max() < 1e-5

    @pytest.mark.parametrize("normalize", NORMALIZE)
    @pytest.mark.parametrize(
        "option",
        [
            {"beta": -1},
            {"beta": -0.5},
            {"beta": 0},
            {"beta": 0.5},
            {"beta": 1},
            {"self_weight": 0.5},
            {"self_weight": -1},
            {"sparsity": 1},
            {"sparsity": 1.5},
            {"sparsity": 3},
            {"sparsity": 100},
            {"weights": [1]},
            {"weights": [0, 1]},
            {"weights": [0.5, 0, -2, 0]},
            {"weights": [1, 1, 1, 1, 1]},
            {"dim": 31},
            {"dim": 256},
        ],
        ids=lambda option: " ".join(f"{name}={value}" for name, value in option.items()),
    )
    def test_every_option_agrees_to_1e_5_on_2000_nodes(self, option, normalize):
        case = ORDINARY
        formula = {"dim": 80, "weights": [0, 1, 2, 1], "beta": -0.3, "normalize": normalize}
        got, expected = run(case, **formula | option)
        assert oracle.relative_errors(got, expected).max() < 1e-5

    @pytest.mark.parametrize("normalize", NORMALIZE)
    @pytest.mark.parametrize("beta", [-1, -0.25, 0, 0.25, 1])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_float16_rows_agree_to_2e_3_with_float32_on_ordinary_graphs(
        self, beta, weighted, normalize
    ):
        graph = random_example(2000, 5000, weighted=weighted).graph()
        options = {"dim": 80, "beta": beta, "normalize": normalize, "sparsity": 3}
        half = one_pass(precision="float16", **options).embed(graph).vectors
        single = one_pass(precision="float32", **options).embed(graph).vectors
        error = oracle.relative_errors(half, single.astype(np.float64)).max()
        assert 1e-6 < error < 2e-3

    @pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
    @pytest.mark.parametrize("nodes", [2, 3, 40])
    def test_shapes_with_many_ties_agree_within_rounding(self, shape, nodes):
        case = example(shape(nodes), nodes + 1)
        for normalize in NORMALIZE:
            formula = {"dim": 40, "weights": [1, 0.5, 2], "beta": -0.5, "normalize": normalize}
            assert agrees_within_rounding(case, sparsity=2, **formula)

    def test_a_hub_of_70_000_neighbors_has_the_mean_of_their_rows(self):
        graph = example(star(70_001), 70_001).graph()
        R = random_matrix(graph, 16, sparsity=2).astype(np.float64)  # noqa: N806
        options = {"dim": 16, "sparsity": 2, "beta": 0, "normalize": "none"}
        got = one_pass(weights=[1], **options).embed(graph).vectors
        mean, size = R[1:].mean(axis=0), np.abs(R[1:]).mean(axis=0)
        assert (np.abs(got[0] - mean) < 1e-6 * size).all()
        np.testing.assert_allclose(got[1:], np.broadcast_to(R[0], got[1:].shape), rtol=1e-6)

    @pytest.mark.parametrize("weights", [(1, 1, 1), (0, 1, 0, 2, 3, 4), (0, 0, 5)])
    @pytest.mark.parametrize("precision", ["float32", "float16"])
    def test_a_sum_larger_than_the_caches_has_the_bytes_of_a_narrow_one(self, weights, precision):
        ends = np.random.default_rng(4).integers(0, 70_000, (2, 200_000))
        graph = Graph.from_edges(*ends, nodes=70_000)
        setting = {"weights": weights, "normalize": "none", "sparsity": 3, "precision": precision}
        wide = one_pass(dim=64, threads=2, **setting).embed(graph).vectors
        narrow = one_pass(dim=16, threads=1, **setting).embed(graph).vectors
        assert narrow.nbytes < 1 << 23 < wide.nbytes  # only the wide sum uses non-temporal stores
        np.testing.assert_array_equal(wide[:, :16], narrow)

    def test_the_published_blogcatalog_graph_agrees_with_scipy_in_float64(self, data_dir):
        network = scipy.io.loadmat(data_dir / "blogcatalog" / "blogcatalog.mat")["network"]
        graph = hopvec.Graph.from_scipy(network)
        method = one_pass(dim=32, weights=[0, 0, 1, 4], beta=-0.75, normalize="none")
        S = sp.csr_array(network).astype(np.float64)  # noqa: N806
        degrees = S.sum(axis=1)
        block = (degrees / degrees.sum())[:, None] ** -0.75 * random_matrix(graph, 32)
        orders = [block := (S @ block) / degrees[:, None] for _ in range(4)]
        error = oracle.relative_errors(method.embed(graph).vectors, orders[2] + 4 * orders[3])
        assert error.max() < 1e-5


class TestR:
    @pytest.mark.parametrize("sparsity", [1, 1.5, 3, 8, 1000])
    def test_order_0_alone_is_r_to_the_last_bit(self, sparsity):
        got = random_matrix(example(path(90), 100).graph(), 50, sparsity=sparsity, seed=11)
        keys = [reference.xxh64(node.to_bytes(8, "little")) for node in range(100)]
        signs = reference.sparse_rows(11, sparsity, keys, 50)
        np.testing.assert_array_equal(got, signs * np.float32(math.sqrt(sparsity)))

    def test_sqrt_is_the_square_root_of_the_number_of_nodes(self):
        graph = example(path(500), 625).graph()
        np.testing.assert_array_equal(
            random_matrix(graph, 40), random_matrix(graph, 40, sparsity=25)
        )
        assert np.unique(random_matrix(graph, 40)).tolist() == [-5, 0, 5]

    def test_the_random_row_of_a_string_id_comes_from_its_utf_8_bytes(self):
        graph = hopvec.Graph.from_edges(["ä", "node b"], ["node b", "c" * 40])
        keys = [reference.xxh64(name.encode()) for name in graph.ids.to_pylist()]
        signs = reference.sparse_rows(0, 1.5, keys, 64)
        got = random_matrix(graph, 64, sparsity=1.5)
        np.testing.assert_array_equal(got, signs * np.float32(math.sqrt(1.5)))


class TestPaper:
    def test_it_is_the_setting_of_the_paper(self):
        method = FastRP.paper()
        assert method.dim == 512
        assert method.weights == (0, 0, 1, 4)
        assert (method.normalize, method.sparsity, method.self_weight) == ("none", "sqrt", 0)
        assert -1 <= method.beta <= 0

    def test_its_tuned_parameters_can_be_given(self):
        method = FastRP.paper(alpha_4=0.5, beta=-0.25, seed=9)
        assert (method.weights, method.beta, method.seed) == ((0, 0, 1, 0.5), -0.25, 9)

    def test_its_vectors_are_the_plain_formula(self):
        case = skewed_example(100, 400)
        R = random_matrix(case.graph(), 512)  # noqa: N806
        expected = oracle.embed(case.S, R, 512, [0, 0, 1, 4], beta=-0.75)
        got = FastRP.paper(alpha_4=4, beta=-0.75).embed(case.graph()).vectors
        assert oracle.relative_errors(got, expected).max() < 1e-5


def test_a_run_follows_the_plan_it_is_given(monkeypatch):
    graph = Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 2.0, 3.0, 4.0])
    method = one_pass(dim=32, seed=3)
    plan = method.plan(graph)
    monkeypatch.setattr(FastRP, "plan", lambda self, graph: pytest.fail("planned again"))
    planned = method.embed(graph, plan=plan)
    monkeypatch.undo()
    np.testing.assert_array_equal(planned.vectors, method.embed(graph).vectors)


@pytest.mark.parametrize(
    "other",
    [
        one_pass(dim=16, seed=3),
        one_pass(dim=32, seed=3, oversample=2),
        one_pass(dim=32, seed=3, precision="float16"),
    ],
    ids=repr,
)
def test_a_plan_made_with_other_parameters_is_rejected(other):
    graph = Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    with pytest.raises(ParameterError, match="plan= was made for another graph or with other"):
        one_pass(dim=32, seed=3).embed(graph, plan=other.plan(graph))


def test_a_plan_made_for_another_graph_is_rejected():
    method = one_pass(dim=32)
    plan = method.plan(Graph.from_edges([0, 1], [1, 2]))
    with pytest.raises(ParameterError, match="nodes is 3 there, not 2"):
        method.embed(Graph.from_edges([0], [1]), plan=plan)
