"""FastRP as an estimator: scikit-learn's own checks, clone, Pipeline."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from example_graphs import example, skewed_example
from hopvec import FastRP, GraphError
from hopvec.methods import METHODS

PART = "X is one adjacency matrix: a part of its rows or columns is not square, so not a graph"
MESSAGE = "rejected with a message about the graph, not with that of scikit-learn"
CANNOT_APPLY = {
    "check_methods_sample_order_invariance": PART,
    "check_methods_subset_invariance": PART,
    "check_fit_idempotent": PART,
    "check_n_features_in_after_fitting": PART,
    "check_fit2d_predict1d": PART,
    "check_estimators_empty_data_messages": "no columns and twelve rows are not square: " + MESSAGE,
    "check_complex_data": "a complex column is not square: " + MESSAGE,
    "check_positive_only_tag_during_fit": MESSAGE,
    "check_estimators_nan_inf": MESSAGE,
    "check_dtype_object": "an adjacency matrix of Python objects has no weights to read",
}

WALKS = {"walks": 2, "length": 8, "window": 2}
QUICK = {"deepwalk": WALKS, "node2vec": WALKS, "line": {"samples": 1000}}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [method(dim=4, **QUICK.get(name, {})) for name, method in METHODS.items()],
    expected_failed_checks=lambda estimator: CANNOT_APPLY,
)
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)


def adjacency(nodes=60):
    return skewed_example(nodes, 4 * nodes).graph().to_scipy()


class TestInsteadOfTheChecksThatCannotApply:
    @pytest.mark.parametrize(
        ("matrix", "message"),
        [
            (np.array([[0, np.nan], [np.nan, 0]]), "the weight nan is not allowed"),
            (np.array([[0, np.inf], [np.inf, 0]]), "the weight inf is not allowed"),
            (np.array([[0, -1.0], [-1.0, 0]]), "the weight -1.0 is not allowed"),
            (np.array([[0, 1j], [1j, 0]]), "complex"),
            (np.ones((3, 2)), "square"),
            (np.ones((12, 0)), "square"),
            (np.ones(4), "square"),
        ],
    )
    def test_an_invalid_adjacency_matrix_is_rejected(self, matrix, message):
        with pytest.raises(GraphError, match=message):
            FastRP(dim=4).fit(matrix)

    @pytest.mark.parametrize("wrong", ["text", None, {}])
    def test_a_matrix_of_objects_is_rejected(self, wrong):
        with pytest.raises(GraphError):
            FastRP(dim=4).fit(np.array([[0, wrong], [wrong, 0]], dtype=object))

    def test_transforming_a_graph_of_another_size_is_rejected(self):
        method = FastRP(dim=4).fit(adjacency(60))
        with pytest.raises(ValueError, match="X has 61 features, but FastRP is expecting 60"):
            method.transform(adjacency(61))

    def test_fitting_twice_equals_fitting_once(self):
        method, X = FastRP(dim=8), adjacency()  # noqa: N806
        first = method.fit(X).transform(X)
        np.testing.assert_array_equal(method.fit(X).transform(X), first)


class TestEstimator:
    def test_a_clone_has_the_parameters_and_nothing_else(self):
        method = FastRP(dim=8, weights=[0, 1], seed=3, memory="1GB").fit(adjacency())
        copy = clone(method)
        assert copy.get_params() == method.get_params()
        assert not hasattr(copy, "embedding_")

    def test_fit_transform_equals_fit_then_transform_equals_embed(self):
        method, X = FastRP(dim=8, seed=3), adjacency()  # noqa: N806
        expected = method.embed(X).vectors
        np.testing.assert_array_equal(clone(method).fit_transform(X), expected)
        np.testing.assert_array_equal(clone(method).fit(X).transform(X), expected)

    def test_fit_stores_the_embedding(self):
        method = FastRP(dim=8).fit(adjacency(60))
        assert len(method.embedding_) == 60
        assert method.n_features_in_ == 60

    def test_transform_before_fit_is_rejected(self):
        with pytest.raises(NotFittedError, match="call fit first"):
            FastRP(dim=8).transform(adjacency())

    def test_a_pipeline_learns_communities(self):
        random = np.random.default_rng(0)
        labels = np.repeat([0, 1, 2], 60)
        same = labels[:, None] == labels
        upper = np.triu(random.random(same.shape) < np.where(same, 0.15, 0.01), 1)
        X = (upper | upper.T).astype(float)  # noqa: N806
        pipeline = make_pipeline(FastRP(dim=32), StandardScaler(), LogisticRegression())
        training = random.random(180) < 0.5
        vectors = pipeline[:-1].fit_transform(X)
        held_out = LogisticRegression().fit(vectors[training], labels[training])
        assert held_out.score(vectors[~training], labels[~training]) > 0.9
        assert pipeline.fit(X, labels).score(X, labels) > 0.9

    def test_parameters_of_a_step_are_set_through_the_pipeline(self):
        pipeline = make_pipeline(FastRP(dim=32), StandardScaler())
        pipeline.set_params(fastrp__dim=5)
        assert pipeline.fit_transform(adjacency(60)).shape == (60, 5)

    def test_importing_hopvec_does_not_import_scikit_learn(self):
        import subprocess
        import sys

        code = "import sys, hopvec; hopvec.FastRP(dim=4).embed(hopvec.Graph.from_edges([0], [1]));"
        code += "sys.exit('sklearn' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code]).returncode == 0

    def test_isolated_rows_of_a_matrix_stay_in_place(self):
        vectors = FastRP(dim=16).fit_transform(example([(0, 2), (2, 3), (0, 4)], 5).S)
        assert not vectors[1].any()
        assert vectors.shape == (5, 16)


def test_rows_removed_by_cross_validation_are_rejected_with_advice():
    with pytest.raises(
        GraphError, match=r"Cross-validation in scikit-learn removes rows; .* hopvec\.tune"
    ):
        FastRP(dim=8).fit(np.ones((3, 5)))
