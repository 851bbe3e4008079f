"""Output of the methods as scikit-learn configures it: names of columns, data frames, tags."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import estimator_checks, get_tags

from example_graphs import skewed_example
from hopvec import FastRP, Graph, MissingExtraError, ParameterError, RandNE
from hopvec.methods import METHODS
from method_variants import QUICK, every_method

IDS = ["ann", "bob", "cem", "dan"]
GRAPH = Graph.from_edges(["ann", "ann", "bob", "cem"], ["bob", "cem", "cem", "dan"])
MATRIX = GRAPH.to_scipy().toarray()
FRAME = pd.DataFrame(MATRIX, pd.Index(IDS, name="person"), IDS)


def quick(name):
    return METHODS[name](**QUICK[name] | {"dim": 4})


@every_method
class TestEveryMethod:
    @pytest.mark.parametrize(
        "check",
        [
            estimator_checks.check_get_feature_names_out_error,
            estimator_checks.check_transformer_get_feature_names_out,
            estimator_checks.check_set_output_transform,
        ],
    )
    @pytest.mark.filterwarnings("ignore")
    def test_passes_the_checks_of_scikit_learn(self, name, check):
        check(name, quick(name))

    def test_names_its_columns_after_itself(self, name):
        names = quick(name).fit(MATRIX).get_feature_names_out()
        assert names.tolist() == [f"{name}{column}" for column in range(4)]
        assert names.dtype == object

    def test_returns_a_frame_of_pandas_with_ids_as_index(self, name):
        method = quick(name).set_output(transform="pandas")
        frame = method.fit_transform(GRAPH)
        assert frame.index.to_list() == IDS
        assert frame.columns.to_list() == method.get_feature_names_out().tolist()
        np.testing.assert_array_equal(frame.to_numpy(), quick(name).fit_transform(GRAPH))
        pd.testing.assert_frame_equal(method.transform(GRAPH), frame)

    def test_returns_a_frame_of_polars(self, name):
        method = quick(name).set_output(transform="polars")
        frame = method.fit_transform(GRAPH)
        assert isinstance(frame, pl.DataFrame)
        assert frame.columns == method.get_feature_names_out().tolist()
        np.testing.assert_array_equal(frame.to_numpy(), quick(name).fit_transform(GRAPH))
        assert method.transform(GRAPH).equals(frame)

    def test_follows_the_configuration_of_scikit_learn(self, name):
        with sklearn.config_context(transform_output="pandas"):
            assert isinstance(quick(name).fit_transform(MATRIX), pd.DataFrame)
            own = quick(name).set_output(transform="default")
            assert isinstance(own.fit_transform(MATRIX), np.ndarray)
            assert isinstance(quick(name).embed(MATRIX).vectors, np.ndarray)
        assert isinstance(quick(name).fit_transform(MATRIX), np.ndarray)

    def test_has_tags_that_describe_it(self, name):
        tags = get_tags(quick(name))
        assert (tags.estimator_type, tags.requires_fit, tags.no_validation) == (None, True, False)
        assert not tags.non_deterministic
        assert not tags.target_tags.required
        assert tags.transformer_tags.preserves_dtype == []  # float32, whatever the weights are
        accepted = tags.input_tags
        assert (accepted.sparse, accepted.pairwise, accepted.positive_only) == (True, True, True)
        assert not any((accepted.allow_nan, accepted.categorical, accepted.string))


class TestNames:
    def test_they_are_those_of_the_fitted_embedding(self):
        method = FastRP(dim=2).fit(MATRIX).set_params(dim=8)
        assert len(method.get_feature_names_out()) == 2

    def test_they_need_a_fitted_method(self):
        with pytest.raises(NotFittedError, match="FastRP is not fitted yet"):
            FastRP().get_feature_names_out()

    def test_string_ids_are_the_names_of_the_input(self):
        method = FastRP(dim=2).fit(FRAME)
        assert method.feature_names_in_.tolist() == IDS
        assert len(method.get_feature_names_out(IDS)) == 2
        with pytest.raises(ParameterError, match="not equal to feature_names_in_"):
            method.get_feature_names_out(IDS[::-1])

    def test_a_matrix_has_no_names(self):
        method = FastRP(dim=2)
        assert not hasattr(method, "feature_names_in_")
        assert not hasattr(method.fit(MATRIX), "feature_names_in_")
        assert not hasattr(method.fit(FRAME).fit(MATRIX), "feature_names_in_")


class TestSetOutput:
    def test_an_unknown_output_is_rejected(self):
        with pytest.raises(ParameterError, match="must be 'default' or 'pandas' or 'polars', got"):
            FastRP().set_output(transform="arrow")
        with (
            sklearn.config_context(transform_output="arrow"),
            pytest.raises(ParameterError, match="transform_output must be 'default' or"),
        ):
            FastRP(dim=2).fit_transform(MATRIX)

    def test_none_changes_nothing(self):
        method = FastRP(dim=2).set_output(transform="pandas").set_output(transform=None)
        assert isinstance(method.fit_transform(MATRIX), pd.DataFrame)
        assert isinstance(method.set_output(transform="default").fit_transform(MATRIX), np.ndarray)

    def test_a_clone_keeps_it(self):
        copy = clone(FastRP(dim=2).set_output(transform="polars"))
        assert isinstance(copy.fit_transform(MATRIX), pl.DataFrame)

    def test_a_matrix_without_ids_has_the_default_index(self):
        frame = FastRP(dim=2).set_output(transform="pandas").fit_transform(MATRIX)
        pd.testing.assert_index_equal(frame.index, pd.RangeIndex(4), exact=True)

    def test_the_index_of_a_frame_is_kept(self):
        method = FastRP(dim=2).set_output(transform="pandas")
        for frame in (method.fit_transform(FRAME), method.transform(FRAME)):
            pd.testing.assert_index_equal(frame.index, FRAME.index, exact=True)

    def test_new_nodes_are_named_by_their_ids(self):
        method = FastRP(dim=2).set_output(transform="pandas").fit(GRAPH)
        frame = method.transform(Graph.from_edges(["eve", "eve"], ["ann", "bob"]))
        assert frame.index.to_list() == ["eve"]

    def test_a_missing_library_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "polars", None)
        with pytest.raises(MissingExtraError, match="pip install polars"):
            FastRP(dim=2).set_output(transform="polars").fit_transform(MATRIX)

    def test_it_works_without_scikit_learn(self):
        code = (
            "import sys; sys.modules['sklearn'] = None\n"
            "from hopvec import FastRP\n"
            "method = FastRP(dim=2).set_output(transform='pandas')\n"
            "frame = method.fit_transform([[0, 1, 1], [1, 0, 1], [1, 1, 0]])\n"
            "print(list(frame.columns), method.set_output(transform='default').fit_transform("
            "[[0, 1], [1, 0]]).shape, FastRP(dim=2).fit_transform([[0, 1], [1, 0]]).shape)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout == "['fastrp0', 'fastrp1'] (2, 2) (2, 2)\n", done.stderr


class TestInOtherEstimators:
    def test_a_pipeline_names_the_columns_and_rows(self):
        pipeline = make_pipeline(FastRP(dim=2), StandardScaler()).set_output(transform="pandas")
        frame = pipeline.fit_transform(GRAPH)
        assert frame.columns.to_list() == ["fastrp0", "fastrp1"]
        assert frame.index.to_list() == IDS
        assert pipeline.get_feature_names_out().tolist() == ["fastrp0", "fastrp1"]
        assert "FastRP" in pipeline._repr_html_()

    def test_a_pipeline_works_with_metadata_routing(self):
        with sklearn.config_context(enable_metadata_routing=True):
            assert make_pipeline(FastRP(dim=2), StandardScaler()).fit_transform(MATRIX).shape

    def test_a_step_may_prepare_the_matrix(self):
        strong = FunctionTransformer(lambda matrix: np.where(matrix > 1, matrix, 0))
        weighted = MATRIX * np.array([[1, 5, 1, 5]] * 4)
        weighted = np.maximum(weighted, weighted.T)
        pipeline = make_pipeline(strong, FastRP(dim=2)).set_output(transform="default")
        expected = FastRP(dim=2).fit_transform(np.where(weighted > 1, weighted, 0))
        np.testing.assert_array_equal(pipeline.fit_transform(weighted), expected)

    @pytest.mark.parametrize("output", ["default", "pandas", "polars"])
    def test_columns_of_a_graph_stand_next_to_other_columns(self, output):
        table = FRAME.assign(age=[30.0, 41.0, 52.0, 63.0])
        columns = ColumnTransformer(
            [("graph", FastRP(dim=2), IDS), ("own", "passthrough", ["age"])]
        )
        joined = columns.set_output(transform=output).fit_transform(table)
        names = ["graph__fastrp0", "graph__fastrp1", "own__age"]
        assert columns.get_feature_names_out().tolist() == names
        np.testing.assert_array_equal(np.asarray(joined)[:, 2], table["age"])
        np.testing.assert_allclose(np.asarray(joined)[:, :2], FastRP(dim=2).fit_transform(FRAME))
        if output == "pandas":
            assert joined.index.to_list() == IDS
            pd.testing.assert_frame_equal(columns.transform(table), joined)

    def test_columns_of_a_graph_are_chosen_by_number(self):
        matrix = skewed_example(60, 240).graph().to_scipy().toarray()
        both = np.hstack([matrix, np.ones((60, 1))])
        columns = ColumnTransformer([("graph", FastRP(dim=2), slice(0, 60))], remainder="drop")
        expected = FastRP(dim=2).fit_transform(matrix)
        np.testing.assert_array_equal(columns.fit_transform(both), expected)

    def test_two_methods_are_joined(self):
        union = make_union(FastRP(dim=2), RandNE(dim=3)).set_output(transform="pandas")
        frame = union.fit_transform(GRAPH)
        assert frame.shape == (4, 5)
        assert frame.columns.to_list() == union.get_feature_names_out().tolist()
        assert frame.columns[0] == "fastrp__fastrp0"
        assert frame.index.to_list() == IDS
