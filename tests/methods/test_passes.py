"""Several passes: FastRP again, with R replaced by the whitened result of the pass before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopvec
import oracle
from example_graphs import complete, example, examples, path, random_example, skewed_example
from fastrp_oracle import random_matrix
from hopvec import FastRP, Graph, MemoryLimitError, ParameterError, datasets
from hopvec.engine.refine import MIN_EIGENVALUE
from planted_partition import planted_partition

CASES = {
    "weighted": skewed_example(700, 4000, weighted=True, seed=1),
    "isolated nodes": random_example(700, 2500, seed=2, isolated=7),
    "directed": skewed_example(700, 4000, weighted=True, directed=True, seed=3),
    "dense": skewed_example(300, 4000, seed=4),
}
FORMULAS = {
    "two passes": {"passes": 2, "weights": (0, 0, 1, 1, 1), "beta": 0.25},
    "three passes": {"passes": 3, "weights": (0, 1, 1), "beta": 0.5},
    "refine weights": {
        "passes": 3,
        "weights": (1, 0, 1),
        "refine_weights": (0, 1, 0.5, -0.25),
        "beta": 0.25,
    },
    "spectrum": {"passes": 2, "weights": (0, 1, 2), "beta": 0.0, "spectrum": 0.5},
    "self weight": {"passes": 2, "weights": (1, 1), "self_weight": 0.5, "beta": -0.5},
    "degrees": {"passes": 2, "weights": (0, 1, 1), "beta": 0.0, "degree_weight": 2.0},
    "degrees, one pass": {"passes": 1, "weights": (0, 1, 1), "beta": 0.5, "degree_weight": 0.5},
}


def errors(got, expected):
    """Relative errors by row, after the rotation that aligns the vectors best."""
    U, _, V = np.linalg.svd(got.T.astype(np.float64) @ expected)  # noqa: N806
    return oracle.relative_errors(got @ (U @ V), expected)


def run(case, *, dim=24, oversample=1, precision="float32", **formula):
    """The vectors of a graph, and those of the oracle."""
    formula = {"spectrum": 1.0, **formula}
    graph = case.graph()
    method = FastRP(dim=dim, oversample=oversample, sparsity=3, precision=precision, **formula)
    R = random_matrix(graph, method._width, sparsity=3)  # noqa: N806
    return method.embed(graph).vectors, oracle.refine(case.S, R, dim, **formula)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("formula", FORMULAS)
def test_they_follow_the_formula(case, formula):
    got, expected = run(CASES[case], **FORMULAS[formula])
    assert errors(got, expected).max() < 1e-4


def test_oversampling_keeps_the_leading_components_of_all_columns():
    graph, _ = planted_partition(nodes=360, classes=6, degree=20, within=0.9)
    formula = {"passes": 2, "weights": (0, 0, 1, 1), "beta": 0.25, "spectrum": 0.75}
    got = FastRP(dim=5, oversample=8, sparsity=3, **formula).embed(graph).vectors
    R = random_matrix(graph, 40, sparsity=3)  # noqa: N806
    expected = oracle.refine(graph.to_scipy().toarray(), R, 5, **formula)
    assert errors(got, expected).max() < 1e-4


@pytest.mark.parametrize("direction", ["in", "both", "concat"])
def test_they_follow_the_formula_in_every_direction(direction):
    for name in ("two passes", "degrees"):
        formula = {**FORMULAS[name], "direction": direction, "dim": 32}
        got, expected = run(CASES["directed"], **formula)
        assert errors(got, expected).max() < 1e-4


def test_float16_orders_stay_near_the_formula():
    got, expected = run(CASES["weighted"], precision="float16", dim=32, **FORMULAS["two passes"])
    assert np.median(errors(got, expected)) < 3e-3


@pytest.mark.parametrize("name", ["email-eu-core", "polblogs"])
def test_they_follow_the_formula_on_real_graphs(name, data_dir):
    graph = datasets.load(name, data_dir).graph
    formula = {"passes": 2, "weights": (0, 0, 1, 1, 1, 1), "beta": 0.5, "spectrum": 0.75}
    got = FastRP(dim=128, **formula).embed(graph).vectors
    R = random_matrix(graph, 128)  # noqa: N806
    expected = oracle.refine(graph.to_scipy().toarray(), R, 128, **formula)
    assert errors(got, expected).max() < 1e-4


@given(examples(), st.integers(2, 3), st.floats(0.25, 1.5))
def test_any_graph_gives_finite_unit_rows(case, passes, spectrum):
    formula = {"passes": passes, "weights": (1, 0.5), "beta": 0.3, "spectrum": spectrum}
    got, expected = run(case, dim=16, oversample=1, **formula)
    assert np.isfinite(got).all()
    norms = np.linalg.norm(got, axis=1)
    assert np.all((np.abs(norms - 1) < 1e-4) | (norms == 0))
    assert got.shape == expected.shape


def test_later_passes_replace_r_by_uncorrelated_columns_of_variance_1():
    graph = CASES["weighted"].graph()
    method = FastRP(dim=16, passes=2, refine_weights=(0, 1, 1))
    (found,) = method.embed(graph).fitted_state.earlier_passes
    first = FastRP(dim=16, passes=1, weights=(0, 1, 1), normalize="orders").embed(graph).vectors
    Z = oracle.unit_rows((first - found.columns.mean) * found.columns.factor)  # noqa: N806
    X = Z @ found.components.basis - found.components.columns.mean  # noqa: N806
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(X.T @ X / len(X), np.eye(16), atol=1e-3)
    np.testing.assert_array_equal(found.components.basis, found.components.basis.T)


def test_small_eigenvalues_are_floored():
    """A rank-deficient sum, of fewer nodes than columns, is not divided by rounding errors."""
    graph = random_example(12, 30).graph()
    (found,) = FastRP(dim=32, passes=2).embed(graph).fitted_state.earlier_passes
    values = np.linalg.eigvalsh(found.components.basis.astype(np.float64))
    assert values.max() / values.min() == pytest.approx(MIN_EIGENVALUE**-0.5, rel=1e-3)


def test_features_enter_the_first_pass():
    graph = CASES["isolated nodes"].graph()
    kinds = np.arange(700) % 3
    features = {"id": np.arange(700), "kind": [f"kind {kind}" for kind in kinds]}
    plain = FastRP(dim=32, passes=2).embed(graph)
    known = FastRP(dim=32, passes=2).embed(graph, features=features)
    assert not np.array_equal(plain.vectors, known.vectors)
    assert known.parameters["features"] == ["kind"]
    order_0 = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none", "passes": 1}
    R = FastRP(dim=32, **order_0).embed(graph, features=features).vectors  # noqa: N806
    S = CASES["isolated nodes"].S  # noqa: N806
    expected = oracle.refine(S, R, 32, [1] * 6, beta=0.25, passes=2, spectrum=0.75)
    assert errors(known.vectors, expected).max() < 1e-4


@pytest.mark.parametrize("case", [example([], 4), example(path(2), 2), example(complete(6), 6)])
def test_graphs_whose_rows_do_not_differ_have_finite_vectors(case):
    vectors = FastRP(dim=12, passes=3, degree_weight=1.0).embed(case.graph()).vectors
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("passes", [2, 3])
def test_a_memory_limit_leads_to_a_spill_file_and_the_same_bytes(passes):
    graph = random_example(9001, 30000, isolated=9).graph()
    method = FastRP(dim=32, oversample=2, passes=passes, degree_weight=1.0, threads=2)
    expected = method.embed(graph).vectors.tobytes()
    seen = []
    while True:
        plan = method.plan(graph)
        seen.append((plan.orders, plan.output, plan.disk > 0))
        assert method.embed(graph).vectors.tobytes() == expected
        try:
            method.set_params(memory=plan.bytes.total - 1).plan(graph)
        except MemoryLimitError:
            break
    assert seen == [
        ("cached", "memory", False),
        ("recomputed", "memory", False),
        ("recomputed", "file", True),
    ]


def test_a_plan_knows_the_passes():
    graph = CASES["weighted"].graph()
    plan = FastRP(dim=32, passes=3, oversample=2, threads=1).plan(graph)
    assert (plan.passes, plan.width, plan.compresses) == (3, 64, True)
    assert plan.bytes.working["wide sum"] == plan.bytes.working["previous pass"] == 4 * 700 * 64
    assert str(plan).startswith("3 passes of 4 slabs of 16 columns")


def test_progress_reaches_the_total_once():
    graph = random_example(3000, 9000).graph()
    method = FastRP(dim=32, passes=3)
    for memory in (None, method.working_bytes(graph.nodes) + 2 * 10**6):
        reported = []
        method.set_params(memory=memory).embed(
            graph, progress=lambda done, total, reported=reported: reported.append((done, total))
        )
        assert reported[-1][0] == reported[-1][1]
        assert reported == sorted(set(reported))


class TestAuto:
    def test_one_pass_leaves_out_the_orders_1_and_2(self):
        graph = CASES["weighted"].graph()
        for passes, weights in ((1, (0, 0, 1, 1, 1, 1)), (2, (1, 1, 1, 1, 1, 1))):
            auto, given = (
                FastRP(dim=16, passes=passes, **options).embed(graph).vectors.tobytes()
                for options in ({}, {"weights": weights})
            )
            assert auto == given

    def test_earlier_passes_have_order_3_or_2_and_3_of_a_bipartite_graph(self):
        case = random_example(300, 900, seed=5)
        left, right = case.source % 150, 150 + case.target % 150
        for bipartite, weights in ((False, (0, 0, 1)), (True, (0, 1, 1))):
            graph = (Graph.from_bipartite if bipartite else Graph.from_edges)(left, right)
            auto = FastRP(dim=16).embed(graph)
            given = FastRP(dim=16, refine_weights=weights).embed(graph)
            assert auto.fitted_state.refine_weights == weights
            assert auto.vectors.tobytes() == given.vectors.tobytes()

    def test_new_nodes_of_a_bipartite_graph_use_the_weights_of_the_run(self, tmp_path):
        case = random_example(300, 900, seed=5)
        graph = Graph.from_bipartite(case.source % 150, 150 + case.target % 150)
        new = Graph.from_edges([900, 900], [150, 151])
        got = []
        for weights in ("auto", (0, 1, 1)):
            method = FastRP(dim=16, refine_weights=weights)
            method.embed(graph).save(tmp_path / "old.parquet")
            old = hopvec.load(tmp_path / "old.parquet")
            got.append(method.embed_new(new, graph=graph, like=old).vectors.tobytes())
        assert got[0] == got[1]


class TestFittedState:
    METHOD = FastRP(dim=32, passes=3, oversample=2, spectrum=0.75, degree_weight=2.0)

    def test_the_same_graph_gives_the_same_bytes_after_saving(self, tmp_path):
        graph = CASES["weighted"].graph()
        for name in ("old.parquet", "old.arrow", "old.npz"):
            self.METHOD.embed(graph).save(tmp_path / name)
            old = hopvec.load(tmp_path / name)
            assert len(old.fitted_state.earlier_passes) == 2
            again = self.METHOD.embed(graph, like=old)
            assert again.vectors.tobytes() == old.vectors.tobytes()

    def test_a_changed_graph_is_comparable(self):
        case = CASES["weighted"]
        old = self.METHOD.embed(case.graph())
        kept = np.random.default_rng(0).random(len(case.source)) >= 0.01
        changed = Graph.from_edges(
            case.source[kept], case.target[kept], case.weight[kept], nodes=case.nodes
        )
        aligned = self.METHOD.embed(changed, like=old).vectors[:, :31]
        cosines = (aligned * old.vectors[:, :31]).sum(axis=1)
        assert np.median(cosines) > 0.95

    def test_new_nodes_go_through_all_passes(self):
        case = CASES["weighted"]
        old_edges = (case.source < 650) & (case.target < 650)
        graph, new = (
            Graph.from_edges(case.source[some], case.target[some], case.weight[some], nodes=nodes)
            for some, nodes in ((old_edges, 650), (~old_edges, None))
        )
        method = FastRP(
            dim=24, passes=2, weights=(1, 1, 1), refine_weights=(0, 1), beta=0.5, sparsity=3
        )
        old = method.embed(graph)
        got = method.embed_new(new, graph=graph, like=old)
        expected = self.by_hand([(0, 1), (1, 1, 1)], method.beta, case, old)
        np.testing.assert_allclose(got.vectors, expected[got.ids.to_numpy()], rtol=0, atol=2e-4)

    def by_hand(self, _pass_weights, beta, case, old):
        """All passes on the graph in which no edge leads to a new node, with the old statistics."""
        S = np.array(case.S, np.float64)  # noqa: N806
        S[:650, 650:] = 0
        X = random_matrix(case.graph(), 24, sparsity=3).astype(np.float64)  # noqa: N806
        state = old.fitted_state
        passes = (*state.earlier_passes, state.statistics)
        for weights, statistics in zip(_pass_weights, passes, strict=True):
            terms = oracle.orders(S, X, weights, beta, 0.0)
            N = sum(weight * oracle.unit_rows(N_i) for weight, N_i in terms)  # noqa: N806
            Z = oracle.unit_rows((N - statistics.columns.mean) * statistics.columns.factor)  # noqa: N806
            scaler = statistics.components.columns
            X = (Z @ statistics.components.basis - scaler.mean) * scaler.factor  # noqa: N806
        return oracle.unit_rows(X)


class TestDegrees:
    def test_one_column_has_the_logarithm_of_the_degree(self):
        case = CASES["isolated nodes"]
        vectors = FastRP(dim=32, passes=2, degree_weight=2.0).embed(case.graph()).vectors
        degrees = case.S.sum(axis=1)
        ratio = vectors[degrees > 0, -1] / np.log1p(degrees[degrees > 0])
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
        assert not vectors[degrees == 0].any()
        connected = vectors[degrees > 0].astype(np.float64)
        rms = np.sqrt((connected**2).mean(axis=0))
        assert rms[-1] == pytest.approx(2.0 * np.sqrt((connected[:, :-1] ** 2).mean()), rel=1e-5)

    def test_the_other_columns_do_not_depend_on_the_weight(self):
        graph = CASES["weighted"].graph()
        some, more = (FastRP(dim=16, degree_weight=c).embed(graph).vectors for c in (1.0, 3.0))
        np.testing.assert_array_equal(some[:, :-1], more[:, :-1])
        np.testing.assert_allclose(3 * some[:, -1], more[:, -1], rtol=1e-6)

    def test_concat_has_a_column_for_each_direction(self):
        case = CASES["directed"]
        method = FastRP(dim=32, direction="concat", degree_weight=1.0)
        vectors = method.embed(case.graph()).vectors
        for column, degrees in ((-2, case.S.sum(axis=1)), (-1, case.S.sum(axis=0))):
            has = degrees > 0
            ratio = vectors[has, column] / np.log1p(degrees[has])
            np.testing.assert_allclose(ratio, ratio[0], rtol=1e-4)

    def test_new_nodes_have_their_own_degree(self):
        graph = CASES["isolated nodes"].graph()
        method = FastRP(dim=16, passes=2, degree_weight=1.0)
        old = method.embed(graph)
        new = Graph.from_edges([900, 900, 900], [0, 1, 2])
        vector = method.embed_new(new, graph=graph, like=old).vectors[0]
        degree = CASES["isolated nodes"].S[0].sum()
        assert vector[-1] / np.log(4) == pytest.approx(old[0][-1] / np.log1p(degree), rel=1e-5)


class TestOrders:
    def test_the_orders_of_the_last_pass_are_cached(self):
        graph = CASES["weighted"].graph()
        method = FastRP(dim=16, passes=2, weights=(0, 1, 1))
        orders = method.orders(graph)
        other = FastRP(dim=16, passes=2, weights=(0, 2, 1), spectrum=0.5, degree_weight=1.0)
        for one in (method, other):
            assert orders.embed(one).vectors.tobytes() == one.embed(graph).vectors.tobytes()

    def test_other_weights_of_earlier_passes_need_other_orders(self):
        orders = FastRP(dim=16, passes=2).orders(CASES["weighted"].graph())
        with pytest.raises(ParameterError, match="Only weights, spectrum, degree_weight may"):
            orders.embed(FastRP(dim=16, passes=2, refine_weights=(0, 1, 2)))

    def test_earlier_passes_may_have_orders_that_the_last_one_lacks(self):
        graph = CASES["weighted"].graph()
        method = FastRP(dim=16, passes=3, weights=(1,), refine_weights=(0, 1, 0, 1))
        expected = method.embed(graph).vectors.tobytes()
        limited = FastRP(**method.get_params() | {"memory": method.plan(graph).bytes.total - 1})
        assert limited.plan(graph).orders == "recomputed"
        assert limited.embed(graph).vectors.tobytes() == expected
        assert method.orders(graph).available == {1}

    def test_with_one_pass_orders_can_be_finished_with_degrees(self):
        graph = CASES["weighted"].graph()
        orders = FastRP(dim=16, passes=1).orders(graph)
        with_degrees = FastRP(dim=16, passes=1, degree_weight=1.0)
        expected = with_degrees.embed(graph).vectors
        assert orders.embed(with_degrees).vectors.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"passes": 2, "normalize": "none"},
            "FastRP: passes=2 needs normalize='full', got 'none'. Set passes=1, or "
            "normalize='full'.",
        ),
        (
            {"passes": 1, "degree_weight": 2, "normalize": "authors"},
            "FastRP: degree_weight=2 needs normalize='full', got 'authors'. Set degree_weight=0, "
            "or normalize='full'.",
        ),
        (
            {"dim": 1, "degree_weight": 1},
            "FastRP: degree_weight reserves 1 of 1 columns for degrees, so that none is left. "
            "Raise dim.",
        ),
        (
            {"dim": 9000, "passes": 2},
            "FastRP: oversample times dim must be at most 8,192, got 1 x 9,000 = 9,000. "
            "Reduce one of them.",
        ),
        (
            {"passes": 1, "refine_weights": (0, 1)},
            "FastRP: refine_weights=(0, 1) applies to the passes before the last, but passes is 1. "
            "Leave refine_weights out, or raise passes.",
        ),
        (
            {"passes": 2, "refine_weights": (0, 0)},
            "FastRP: refine_weights are all zero and so is self_weight: every vector would be "
            "zero. Give at least one order a weight.",
        ),
        (
            {"refine_weights": "odd"},
            "FastRP: refine_weights must be 'auto', or hold 1 to 32 finite numbers, got 'odd'.",
        ),
        ({"passes": 0}, "FastRP: passes must be an integer from 1 to 16, got 0."),
    ],
)
def test_parameters_that_do_not_fit_are_rejected(parameters, message):
    with pytest.raises(ParameterError) as error:
        FastRP(**parameters).embed(CASES["weighted"].graph())
    assert str(error.value) == message


def test_a_second_pass_predicts_labels_better(data_dir):
    from hopvec.evaluate import classify

    data = datasets.load("pubmed", data_dir)
    one, two = (
        classify(FastRP(dim=64, passes=passes).embed(data.graph), data.labels, shuffles=3)
        for passes in (1, 2)
    )
    assert two.shares[0].macro_f1 > one.shares[0].macro_f1 + 3
