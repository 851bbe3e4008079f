"""Node features: they are added to R and propagated with it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopvec
import oracle
import reference
import rounding_bounds
from example_graphs import examples, on_disk, skewed_example
from hopvec import Graph, GraphError, MemoryLimitError, ParameterError, RandNE, tune
from hopvec.evaluate import hold_out
from one_pass import one_pass

CASE = skewed_example(600, 3000, weighted=True, seed=8)
COLORS = ("red", "green", None)


def feature_table(nodes, seed=0):
    """A table of two numeric, a string and a Boolean column, with missing values."""
    random = np.random.default_rng(seed)
    age = random.normal(40, 12, nodes)
    return {
        "id": list(range(nodes)),
        "age": [None if random.random() < 0.2 else float(number) for number in age],
        "rank": random.integers(0, 1000, nodes).tolist(),
        "color": [COLORS[at] for at in random.integers(0, 3, nodes)],
        "big": (random.random(nodes) < 0.5).tolist(),
    }


def signs_of(seed, names, dim):
    return reference.feature_signs(seed, [reference.xxh64(name.encode()) for name in names], dim)


def category_signs(seed, name, values, dim):
    signs = np.zeros((len(values), dim))
    for row, value in enumerate(values):
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else value
            signs[row] = signs_of(seed, [f"{name}\0{text}"], dim)[0]
    return signs


def formula_of_features(table, dim, seed):
    """F of a table."""
    numbers = np.array([table["age"], table["rank"]], dtype=float).T
    categories = [category_signs(seed, name, table[name], dim) for name in ("color", "big")]
    return oracle.features(numbers, signs_of(seed, ["age", "rank"], dim), categories)


def random_matrix(graph, dim, sparsity, seed):
    alone = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none"}
    return one_pass(dim=dim, sparsity=sparsity, seed=seed, **alone).embed(graph).vectors


@st.composite
def formulas(draw):
    return {
        "dim": draw(st.sampled_from([1, 16, 17, 40])),
        "weights": draw(st.sampled_from([[1], [0, 1, -0.5], [0, 0, 1, 4]])),
        "beta": draw(st.sampled_from([-1.0, -0.3, 0.0, 0.5])),
        "self_weight": draw(st.sampled_from([0.0, 0.5])),
        "normalize": draw(st.sampled_from(["none", "authors", "full"])),
    }


class TestTheFormula:
    @given(
        examples(),
        formulas(),
        st.sampled_from([1, 3, 40]),
        st.sampled_from([0.25, 1.0, 8.0]),
        st.integers(0, 2**64 - 1),
    )
    def test_every_small_graph_agrees_within_rounding(self, case, formula, sparsity, weight, seed):
        table = feature_table(case.nodes, seed % 1000)
        method = one_pass(sparsity=sparsity, feature_weight=weight, seed=seed, **formula)
        got = method.embed(case.graph(), features=table).vectors
        R = random_matrix(case.graph(), formula["dim"], sparsity, seed)  # noqa: N806
        F = weight * formula_of_features(table, formula["dim"], seed)  # noqa: N806
        error = np.linalg.norm(got - oracle.embed(case.S, R + F, **formula), axis=1)
        size = np.abs(R) + np.abs(F)  # R and F may cancel
        bound = rounding_bounds.bound(case.S, R + F, **formula, epsilon=2e-6, size=size)
        assert (error <= bound).all()

    @pytest.mark.parametrize("normalize", ["none", "full"])
    @pytest.mark.parametrize("projection", ["sparse", "gaussian"])
    @pytest.mark.parametrize("precision", ["float32", "float16"])
    def test_ordinary_graphs_agree(self, precision, projection, normalize):
        table, dim = feature_table(CASE.nodes), 64
        formula = {"dim": dim, "weights": [0, 1, 2], "beta": 0.25, "normalize": normalize}
        options = {"projection": projection, "precision": precision, "feature_weight": 50.0}
        alone = {"weights": [0], "self_weight": 1, "beta": 0, "normalize": "none", "dim": dim}
        R = one_pass(projection=projection, **alone).embed(CASE.graph()).vectors  # noqa: N806
        expected = oracle.embed(CASE.S, R + 50 * formula_of_features(table, dim, 0), **formula)
        got = one_pass(**options, **formula).embed(CASE.graph(), features=table).vectors
        error = np.abs(got - expected).max() / np.abs(expected).max()
        assert error < (1e-5 if precision == "float32" else 5e-3)

    def test_entries_of_f_have_about_the_variance_of_those_of_r(self):
        features = formula_of_features(feature_table(1000), 128, 3)
        assert abs(features.mean()) < 0.1
        assert 0.6 < features.var() < 1.1  # missing values are zero

    def test_signs_are_even_and_independent_of_r(self):
        signs = signs_of(5, [f"column {number}" for number in range(300)], 64).astype(float)
        assert abs(signs.mean()) < 0.02
        assert np.abs(signs.T @ signs / 300 - np.eye(64)).max() < 0.3
        R = reference.sparse_rows(  # noqa: N806
            5, 1, [reference.xxh64(f"column {number}".encode()) for number in range(300)], 64
        )
        assert abs((signs * R).mean()) < 0.02  # even if a node has the name of a column


class TestSameBytes:
    FEATURES = feature_table(CASE.nodes)

    @pytest.mark.parametrize("precision", ["float32", "float16"])
    def test_for_any_threads_memory_limit_and_mapping(self, precision):
        options = {"dim": 64, "oversample": 2, "precision": precision, "self_weight": 0.5}
        graph = CASE.graph().with_features(self.FEATURES)
        expected = one_pass(threads=1, **options).embed(graph).vectors.tobytes()
        assert one_pass(threads=3, **options).embed(graph).vectors.tobytes() == expected
        minimum = one_pass(**options).working_bytes(graph.nodes) + graph.nbytes + 60_000
        limited = one_pass(memory=minimum, **options)
        assert limited.plan(graph).output == "file"
        assert limited.embed(graph).vectors.tobytes() == expected
        mapped = replace(graph, **{part: on_disk(graph, part) for part in ("indices", "weights")})
        assert one_pass(**options).embed(mapped).vectors.tobytes() == expected

    def test_for_any_order_of_columns_rows_and_nodes(self):
        expected = one_pass(dim=32).embed(CASE.graph(), features=self.FEATURES)
        reversed_table = {name: column[::-1] for name, column in reversed(self.FEATURES.items())}
        got = one_pass(dim=32).embed(CASE.graph(), features=reversed_table)
        assert got.vectors.tobytes() == expected.vectors.tobytes()
        nodes = np.random.default_rng(0).permutation(CASE.nodes)
        other = Graph.from_edges(CASE.source, CASE.target, CASE.weight, nodes=nodes)
        got = one_pass(dim=32).embed(other, features=self.FEATURES)
        assert got.vectors.tobytes() == expected.vectors[nodes].tobytes()

    def test_for_cached_orders_and_an_earlier_fitted_state(self, tmp_path):
        method, graph = (
            one_pass(dim=32, feature_weight=2),
            CASE.graph().with_features(self.FEATURES),
        )
        expected = method.embed(graph)
        assert method.orders(graph).embed(method).vectors.tobytes() == expected.vectors.tobytes()
        expected.save(tmp_path / "old.parquet")
        aligned = method.embed(graph, like=hopvec.load(tmp_path / "old.parquet"))
        assert aligned.vectors.tobytes() == expected.vectors.tobytes()
        assert aligned.parameters == expected.parameters

    def test_a_weight_of_zero_ignores_the_features(self):
        graph = CASE.graph()
        got = one_pass(dim=32, feature_weight=0).embed(graph, features=self.FEATURES).vectors
        np.testing.assert_allclose(got, one_pass(dim=32).embed(graph).vectors, rtol=0, atol=1e-6)


def test_features_predict_labels_that_edges_do_not():
    """A graph of the size of Cora: the labels depend on the words, but not on the edges."""
    random = np.random.default_rng(1)
    nodes, classes, words, topic = 2708, 7, 500, 70
    labels = random.integers(0, classes, nodes)
    likely = np.full((classes, words), 0.01)
    for label in range(classes):
        likely[label, topic * label : topic * (label + 1)] = 0.2
    bag = random.random((nodes, words)) < likely[labels]  # 18 words per node, as in Cora
    graph = Graph.from_edges(*random.integers(0, nodes, (2, 5278)), nodes=nodes)
    answers = hopvec.Labels.from_pairs(graph.ids, labels.astype(str))
    own = {"dim": 256, "self_weight": 1.0, "weights": (0.25,), "sparsity": 3}

    def macro_f1(embedding):
        scores = hopvec.evaluate.classify(embedding, answers, shares=[0.1], shuffles=3)
        return scores.shares[0].macro_f1 / 100

    assert macro_f1(one_pass(**own).embed(graph)) < 0.2  # chance is 1 / 7
    assert macro_f1(one_pass(feature_weight=4, **own).embed(graph, features=bag)) > 0.95


def test_a_node_without_edges_gets_a_vector_from_its_features():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0], nodes=5)
    table = {"id": [0, 1, 2, 3], "kind": ["a", "b", "a", "a"]}
    method = one_pass(
        dim=64, self_weight=1.0, weights=(0.1,), sparsity=1000, feature_weight=5, normalize="none"
    )
    vectors = method.embed(graph, features=table).vectors
    assert vectors[3].any()
    assert vectors[3] @ vectors[0] > vectors[3] @ vectors[1]  # both are of kind "a"
    assert not vectors[4].any()  # it has no features


class TestNewNodes:
    FIRST_NEW = 560
    OLD = (CASE.source < FIRST_NEW) & (CASE.target < FIRST_NEW)
    FEATURES = feature_table(CASE.nodes)

    def graphs(self):
        ends = [
            (CASE.source[edges], CASE.target[edges], CASE.weight[edges])
            for edges in (self.OLD, ~self.OLD)
        ]
        return Graph.from_edges(*ends[0], nodes=self.FIRST_NEW), Graph.from_edges(*ends[1])

    def test_their_features_are_standardized_as_in_the_earlier_run(self):
        graph, new = self.graphs()
        graph = graph.with_features(self.FEATURES)
        method = one_pass(dim=32, weights=(1, 0.5), beta=0.0, normalize="none", sparsity=3)
        made = method.embed_new(new, graph=graph, like=method.embed(graph), features=self.FEATURES)
        matrix = np.array(CASE.S)
        matrix[: self.FIRST_NEW, self.FIRST_NEW :] = 0
        numbers = np.array([self.FEATURES["age"], self.FEATURES["rank"]], dtype=float).T
        old = numbers[: self.FIRST_NEW]
        numbers = (numbers - np.nanmean(old, axis=0)) / np.nanstd(old, axis=0)
        categories = [category_signs(0, name, self.FEATURES[name], 32) for name in ("color", "big")]
        number_signs = signs_of(0, ["age", "rank"], 32)
        features = (np.nan_to_num(numbers) @ number_signs + sum(categories)) / 2
        R = random_matrix(CASE.graph(), 32, 3, 0) + features  # noqa: N806
        expected = oracle.embed(matrix, R, 32, [1, 0.5])[made.ids.to_numpy()]
        np.testing.assert_allclose(made.vectors, expected, rtol=0, atol=1e-4)

    def test_without_features_they_are_rejected(self):
        graph, new = self.graphs()
        graph = graph.with_features(self.FEATURES)
        method = one_pass(dim=8)
        with pytest.raises(
            GraphError, match="must have the same features; they have age \\(numbers\\), rank"
        ):
            method.embed_new(new, graph=graph, like=method.embed(graph))

    def test_transform_takes_the_features_of_the_graph(self):
        graph, new = (graph.with_features(self.FEATURES) for graph in self.graphs())
        model = one_pass(dim=8).fit(graph)
        expected = model.embed_new(new, graph=graph, like=model.embedding_).vectors
        np.testing.assert_array_equal(model.transform(new), expected)


class TestMessages:
    FEATURES = feature_table(CASE.nodes)

    def test_the_embedding_names_the_features(self):
        made = one_pass(dim=8).embed(CASE.graph(), features=self.FEATURES)
        assert made.parameters["features"] == ["age", "rank", "big", "color"]
        assert made.graph["features"]["numbers"] == ["age", "rank"]
        assert hopvec.methods.method_of(made.parameters)._plain_params() == (
            one_pass(dim=8)._plain_params()
        )

    def test_they_are_part_of_the_plan(self):
        graph = CASE.graph().with_features(np.ones((CASE.nodes, 200)))
        plain = one_pass(dim=8).plan(CASE.graph()).bytes.total
        assert one_pass(dim=8).plan(graph).bytes.total == plain + 4 * 200 * CASE.nodes
        with pytest.raises(MemoryLimitError):
            one_pass(dim=8, memory=plain + 100_000).embed(graph)

    def test_other_features_are_not_comparable(self):
        old = one_pass(dim=8).embed(CASE.graph(), features=self.FEATURES)
        for features, shown in (
            (None, "this graph has no features"),
            (
                {"id": self.FEATURES["id"], "age": self.FEATURES["age"]},
                "this graph has the features age",
            ),
        ):
            with pytest.raises(ParameterError, match=shown):
                one_pass(dim=8).embed(CASE.graph(), features=features, like=old)

    def test_a_feature_weight_without_features_is_rejected(self):
        with pytest.raises(ParameterError, match="feature_weight is 2, but the graph has no"):
            one_pass(feature_weight=2).embed(CASE.graph())

    def test_a_method_without_support_for_them_rejects_them(self):
        with pytest.raises(GraphError, match="RandNE does not support node features"):
            RandNE(dim=8).embed(CASE.graph().with_features(self.FEATURES))

    def test_hold_out_keeps_them_and_tune_uses_them(self):
        graph = CASE.graph().with_features(self.FEATURES)
        assert hold_out(graph).training.features is graph.features
        tuning = tune(graph, space={"feature_weight": "0,1"}, search="grid", search_dim=16)
        assert len({trial.score for trial in tuning.trials}) == 2

    def test_a_study_of_other_features_is_not_resumed(self, tmp_path):
        options = {"space": {"beta": "0,1"}, "search": "grid", "search_dim": 8}
        graph, study = CASE.graph(), tmp_path / "study.jsonl"
        tune(graph.with_features(feature_table(CASE.nodes, 1)), study=study, **options)
        with pytest.raises(hopvec.HopvecError, match="graph"):
            tune(graph.with_features(feature_table(CASE.nodes, 2)), study=study, **options)


def test_numbers_instead_of_categories_are_other_features():
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    ids, codes = ["a", "b", "c"], ["53111", "53113", "53111"]
    method = one_pass(dim=8)
    old = method.embed(graph, features={"id": ids, "zip": codes})
    numbers = {"id": ids, "zip": list(map(int, codes))}
    with pytest.raises(
        ParameterError, match=r"zip \(categories\), but this graph has .* zip \(numbers"
    ):
        method.embed(graph, features=numbers, like=old)
    new = Graph.from_edges(["d"], ["a"])
    with pytest.raises(GraphError, match=r"they have zip \(categories\) and zip \(numbers\)"):
        method.embed_new(
            new,
            graph=graph.with_features({"id": ids, "zip": codes}),
            like=old,
            features={"id": ["a", "d"], "zip": [1, 2]},
        )
