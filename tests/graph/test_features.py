"""Graph.with_features: features of nodes in tables, dicts and arrays."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from hopvec import Graph, GraphError

GRAPH = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
NUMBERED = Graph.from_edges([1, 2, 3], [2, 3, 4])
TABLE = {"id": ["a", "b", "d", "x"], "age": [30, 40, None, 7], "city": ["Bonn", "Ulm", "Ulm", None]}


def test_rows_are_matched_by_id_and_gaps_are_counted():
    features = GRAPH.with_features(TABLE).features
    assert features.describe() == {
        "numbers": ["age"],
        "categories": ["city"],
        "missing": 1,
        "nodes_without_row": 1,
        "rows_without_node": 1,
    }
    np.testing.assert_array_equal(features.numbers[:, 0], [-1, 1, np.nan, np.nan])
    assert (features.categories[:, 0] == 0).tolist() == [False, False, True, False]
    assert features.categories[1, 0] == features.categories[3, 0] != features.categories[0, 0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_all_kinds_of_tables_give_the_same_features(make):
    expected = GRAPH.with_features(TABLE).features
    got = GRAPH.with_features(make(TABLE)).features
    np.testing.assert_array_equal(got.numbers, expected.numbers)
    np.testing.assert_array_equal(got.categories, expected.categories)
    assert got.describe() == expected.describe()


def test_the_graph_itself_is_unchanged():
    assert GRAPH.with_features(TABLE).indptr is GRAPH.indptr
    assert GRAPH.features is None
    assert "features" not in GRAPH.describe()
    assert GRAPH.with_features(TABLE).describe()["features"]["missing"] == 1


def test_arrays_have_one_row_per_node_and_numbered_columns():
    values = np.arange(8).reshape(4, 2)
    for array in (values, values.astype(np.float32), sp.csr_array(values), values.tolist()):
        features = GRAPH.with_features(array).features
        assert features.columns.numbers == ("0", "1")
        np.testing.assert_allclose(features.numbers.mean(axis=0), 0, atol=1e-7)
        np.testing.assert_allclose(features.numbers.std(axis=0), 1, rtol=1e-6)


def test_a_table_without_ids_is_in_the_order_of_the_nodes():
    features = GRAPH.with_features({"size": [1, 2, 3, 4]}).features
    assert features.numbers[0, 0] < features.numbers[3, 0]


def test_ids_may_be_integers_or_decimal_strings():
    table = {"node": ["4", "3"], "size": [1.0, 2.0]}
    assert NUMBERED.with_features(table).features.without_row == 2
    strings = Graph.from_edges(["1", "2"], ["2", "x"])
    assert strings.with_features({"id": [1, 2], "size": [1, 2]}).features.without_row == 1


def test_another_id_column_can_be_chosen():
    table = {"id": [9, 9, 9, 9], "who": ["d", "c", "b", "a"]}
    assert GRAPH.with_features(table, id_column="who").features.columns.numbers == ("id",)


def test_an_unnamed_pandas_index_is_not_a_feature():
    frame = pd.DataFrame({"id": ["a", "b", "c", "d"], "size": [1.0, 2.0, 4.0, 8.0]})
    expected = GRAPH.with_features(frame).features
    shuffled = frame.sample(frac=1, random_state=1)
    several = shuffled.set_index(pd.MultiIndex.from_arrays([[4, 3, 2, 1], [1, 1, 2, 2]]))
    for other in (shuffled, several, frame.reset_index(names="Unnamed: 0")):
        features = GRAPH.with_features(other).features
        assert features.columns.names == ["size"]
        np.testing.assert_array_equal(features.numbers, expected.numbers)


def test_a_column_that_holds_ids_of_the_graph_is_used_as_the_id_column_with_a_log_message(caplog):
    table = {"customer": ["d", "b", "a", "c"], "plan": ["x", "y", "x", "x"], "age": [4, 2, 1, 3]}
    features = GRAPH.with_features(pd.DataFrame(table)).features
    assert features.columns.names == ["age", "plan"]
    assert features.numbers[:, 0].tolist() == sorted(features.numbers[:, 0])
    assert "rows are matched by 'customer', which holds ids of the graph" in caplog.text


def test_an_unnamed_pandas_index_that_holds_ids_matches_rows():
    frame = pd.DataFrame({"size": [4.0, 1.0, 2.0]}, index=["d", "a", "b"])
    features = GRAPH.with_features(frame).features
    assert features.without_row == 1
    assert features.numbers[3, 0] > features.numbers[1, 0] > features.numbers[0, 0]


def test_codes_that_are_small_integers_are_not_ids(caplog):
    ring = Graph.from_edges(range(20), [(node + 1) % 20 for node in range(20)])
    features = ring.with_features({"group": [node % 5 for node in range(20)]}).features
    assert features.columns.names == ["group"]
    assert "the rows are assumed to be in the order of graph.ids" in caplog.text


def test_two_columns_that_hold_ids_are_refused_unless_one_is_chosen():
    table = {"who": ["d", "b", "a", "c"], "friend": ["a", "b", "c", "b"], "age": [4, 2, 1, 3]}
    with pytest.raises(GraphError, match="the columns 'who' and 'friend' all hold ids"):
        GRAPH.with_features(table)
    assert GRAPH.with_features(table, id_column="who").features.columns.categories == ("friend",)


def test_an_id_column_with_a_repeated_id_is_refused():
    with pytest.raises(GraphError, match="the id 'a' has more than one row"):
        GRAPH.with_features({"customer": ["a", "b", "c", "a"], "age": [4, 2, 1, 3]})


def test_lists_become_several_columns_of_numbers():
    lists = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(8.0)), 2)
    features = GRAPH.with_features(pa.table({"vector": lists})).features
    assert features.columns.numbers == ("vector.0", "vector.1")


def test_categories_booleans_and_strings_are_hashed_by_column_and_value():
    table = pa.table(
        {
            "kind": pa.array(["x", "y", "x", "x"]).dictionary_encode(),
            "text": ["x", "y", "x", "x"],
            "flag": [True, False, None, True],
        }
    )
    features = GRAPH.with_features(table).features
    assert features.columns.categories == ("flag", "kind", "text")
    flag, kind, text = features.categories.T
    assert flag[0] == flag[3] != flag[1]
    assert flag[2] == 0
    assert (kind != text).all()  # the same values in another column


def test_a_constant_column_becomes_0():
    table = {"year": [1e9, 1e9, 1e9, 1e9], "time": [1.7e9, 1.7e9 + 1, 1.7e9 + 2, 1.7e9 + 3]}
    features = GRAPH.with_features(table).features
    assert features.columns.numbers == ("time", "year")
    assert features.numbers[:, 0].std() == pytest.approx(1)
    assert not features.numbers[:, 1].any()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((3, 2)), "there are 3 rows, but the graph has 4 nodes"),
        ({"size": [1, 2]}, "there are 2 rows, but the graph has 4 nodes"),
        (
            np.array([[1, 2], [3, np.nan], [1, 1], [1, 1]]),
            "features, row 2 \\('b'\\), column '1': the number nan is not allowed. Numbers must be "
            "finite and at most 1e\\+30 in absolute value; an array cannot mark a missing value: "
            "use a DataFrame, whose NaN counts as missing, or fill the value in.",
        ),
        (
            pa.table({"id": ["c", "b"], "w": pa.array([1.0, np.inf])}),
            "row 2 \\('b'\\), column 'w': the number inf",
        ),
        (np.ones(4), "an array must have one row of numbers per node"),
        (np.array([["x"]] * 4), "For strings and categories, use a table"),
        ({"id": ["a", "a"], "w": [1, 2]}, "the id 'a' has more than one row"),
        ({"id": ["a", None], "w": [1, 2]}, "row 2: the id in 'id' is empty"),
        ({"id": ["y", "z"], "w": [1, 2]}, "no id in the column 'id' is a node of the graph"),
        ({"id": ["a", "b"]}, "there is no column besides the ids"),
        ({"id": [1.5, 2.5], "w": [1, 2]}, "the column 'id' has the type double; ids are"),
        ({"id": ["a"], "at": pa.array([0], pa.timestamp("s"))}, "'at' has the type timestamp"),
        ({"id": ["a", "b"], "l": [[1.0], [1.0, 2.0]]}, "lists of the column 'l' differ"),
        ({"id": ["a"], "w": [1, 2]}, "columns of equal length"),
        ("nodes.csv", "Read the file first"),
    ],
)
def test_invalid_features_are_refused(table, message):
    with pytest.raises(GraphError, match=message):
        GRAPH.with_features(table)


def test_a_missing_id_column_is_refused():
    with pytest.raises(GraphError, match="no column 'who' for the ids; the columns are id, age"):
        GRAPH.with_features(TABLE, id_column="who")
    with pytest.raises(GraphError, match="an array has no id column"):
        GRAPH.with_features(np.ones((4, 1)), id_column="who")


def test_a_masked_array_is_refused():
    with pytest.raises(GraphError, match="The features have a mask"):
        GRAPH.with_features(np.ma.masked_array(np.ones((4, 2)), True))
