"""Columns that nodes can be colored by."""

import explored
import numpy as np
import pyarrow as pa
import pytest

from hopvec.view.explorer.columns import LEVELS, NONE, NumberColumn, column_of, label_column


def made_labels():
    embedding = explored.embedding()
    return label_column(explored.labels().align(embedding), len(embedding))


def test_the_largest_class_comes_first_and_nodes_without_one_have_no_color():
    column = made_labels()
    assert column.legend() == {
        "kind": "label",
        "classes": ["blue", "green", "red"],
        "sizes": [100, 100, 100],
    }
    assert column.codes[explored.NODES - 1] == NONE
    assert column.text(explored.NODES - 1) is None


def test_a_node_in_two_classes_is_a_member_of_both():
    column = made_labels()
    assert column.text(0) == "blue, red"
    assert column.codes[0] == 0
    assert all(0 in column.members(code) for code in (0, 2))
    assert 0 not in column.members(1)
    assert column.members(1).tolist() == list(range(1, explored.NODES - 1, 3))


def test_numbers_keep_their_order_and_gaps_have_no_color():
    values = np.array([3.0, 1.0, np.nan, 2.0, np.inf])
    column = NumberColumn.from_values("age", values)
    assert column.codes.tolist() == [LEVELS - 1, 0, NONE, LEVELS // 2, NONE]
    assert (column.low, column.high, column.logarithmic) == (1.0, 3.0, False)
    assert (column.text(0), column.text(2)) == ("3", None)


def test_skewed_numbers_are_on_a_logarithmic_scale():
    column = NumberColumn.from_values("degree", np.array([0, 1, 1, 2, 3, 1_000]))
    assert column.logarithmic
    assert np.all(np.diff(column.codes.astype(int)) >= 0)
    assert column.codes[4] > LEVELS // 10
    assert column.text(5) == "1,000"


def test_a_logarithmic_scale_ends_at_the_99_9th_percentile():
    values = np.concatenate([np.arange(1, 10_000) % 50, [1_000_000]])
    column = NumberColumn.from_values("degree", values)
    legend = column.legend()
    assert (legend["low"], legend["high"], legend["above"]) == (0.0, 49.0, True)
    assert column.codes[-1] == LEVELS - 1
    assert not NumberColumn.from_values("age", np.arange(9.0)).legend()["above"]


def test_a_constant_has_one_color():
    assert set(NumberColumn.from_values("one", np.ones(3)).codes) == {0}


def test_columns_of_any_kind():
    few = column_of("cluster", pa.array([3, 3, None, 8]))
    assert few.legend() == {"kind": "label", "classes": ["3", "8"], "sizes": [2, 1]}
    assert few.codes.tolist() == [0, 0, NONE, 1]
    assert column_of("many", pa.array(range(100))).legend()["kind"] == "number"
    assert column_of("gap", pa.array([1.5, None])).codes.tolist() == [0, NONE]
    assert column_of("flag", pa.array([True, False, True])).legend()["classes"] == ["true", "false"]
    assert column_of("word", pa.array(["b", "a", "a"])).legend()["classes"] == ["a", "b"]
    assert column_of("list", pa.array([[1], [2]])) is None


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"a", b"\xff"], pa.binary_view()),
        pa.array([b"ab", b"\xff\xfe"], pa.binary(2)),
        pa.array([(1, 2, 3), (4, 5, 6)], pa.month_day_nano_interval()),
    ],
    ids=lambda values: str(values.type),
)
def test_a_column_that_is_neither_numbers_nor_text_is_left_out(values):
    assert column_of("column", values) is None
