"""Labels: from columns to classes, and their alignment with embeddings."""

import logging

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hopvec import Embedding, GraphError, Labels, ParameterError


def embedding(ids):
    return Embedding(np.zeros((len(ids), 2), np.float32), pa.array(ids))


def members(labels):
    """The classes of every node, by its id."""
    names = np.array(labels.classes, object)
    rows = labels.matrix.toarray()
    return {id_: set(names[row]) for id_, row in zip(labels.ids.to_pylist(), rows, strict=True)}


def test_a_node_may_have_several_labels_and_the_same_one_twice():
    labels = Labels.from_pairs(["b", "a", "b", "b"], ["x", "x", "y", "y"])
    assert members(labels) == {"b": {"x", "y"}, "a": {"x"}}
    assert labels.matrix.nnz == 3


@pytest.mark.parametrize("missing", [None, ""])
def test_a_missing_label_is_not_a_label(missing):
    labels = Labels.from_pairs(["a", "b"], ["x", missing])
    assert members(labels) == {"a": {"x"}, "b": set()}
    assert labels.labeled == 1


def test_numeric_classes_are_in_numeric_order():
    assert Labels.from_pairs([1, 2, 3], [10, 9, 100]).classes == ("9", "10", "100")
    assert Labels.from_pairs([1, 2, 3], ["10", "9", "x"]).classes == ("10", "9", "x")


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([3, None, 5]),
        pd.Series(["3", None, "5"], dtype="category"),
        pl.Series([3, None, 5]),
        pa.chunked_array([[3], [None, 5]]),
        [3, None, 5],
    ],
    ids=["pandas floats", "categories", "polars", "chunks", "list"],
)
def test_labels_come_from_any_column(column):
    labels = Labels.from_pairs(["a", "b", "c"], column)
    assert members(labels) == {"a": {"3"}, "b": set(), "c": {"5"}}


def test_several_labels_come_in_lists_and_in_strings():
    expected = {"a": {"3"}, "b": set(), "c": {"5", "6"}}
    lists = Labels.from_pairs(["a", "b", "c"], [[3], [None], [5, 6]])
    strings = Labels.from_pairs(["a", "b", "c"], ["3", None, "5, 6,"], separator=",")
    assert members(lists) == members(strings) == expected


@pytest.mark.parametrize(
    ("ids", "names", "error", "message"),
    [
        (["a", "b"], ["x"], ParameterError, "2 ids and 1 labels"),
        (["a", "b"], [0.5, 1.0], ParameterError, "must be strings or integers"),
        (["a", "b"], [1, "x"], ParameterError, "all strings or all integers"),
        (["a", None], ["x", "y"], GraphError, "ids, entry 2: there is no id"),
        (["a", ""], ["x", "y"], GraphError, "ids, entry 2: the id is empty"),
        (
            ["a", "b"],
            [{"x": 1}, {"x": 2}],
            ParameterError,
            "must be strings or integers, got struct",
        ),
    ],
)
def test_invalid_labels_are_rejected(ids, names, error, message):
    with pytest.raises(error, match=message):
        Labels.from_pairs(ids, names)


def test_rows_are_aligned_in_the_order_of_ids():
    labels = Labels.from_pairs(["c", "a", "d", "b"], ["x", "y", None, "x"])
    found = labels.align(embedding(["b", "c", "d", "a"]))
    assert found.rows.tolist() == [3, 0, 1]
    assert found.classes == ("x", "y")
    assert found.members.tolist() == [[False, True], [True, False], [True, False]]


def test_labeled_nodes_without_a_vector_are_counted_and_ignored_with_a_warning(caplog):
    labels = Labels.from_pairs(["a", "b", "c", "d", "e"], ["x", "y", "x", "x", "z"])
    with caplog.at_level(logging.WARNING, "hopvec"):
        found = labels.align(embedding(["a", "q"]))
    assert (found.rows.tolist(), found.without_vector, found.classes) == ([0], 4, ("x",))
    assert "Ignoring 4 of 5 labeled nodes, which have no vector: 'b', 'c', 'd'" in caplog.text


def test_labels_of_other_nodes_are_rejected_with_examples_of_both_ids():
    with pytest.raises(ParameterError, match=r"None of the 1 labeled .* 'a', .* embedding 'q'"):
        Labels.from_pairs(["a"], ["x"]).align(embedding(["q"]))


def test_labels_without_any_label_are_rejected():
    with pytest.raises(ParameterError, match="no node has a label"):
        Labels.from_pairs(["a"], [None]).align(embedding(["a"]))


@pytest.mark.parametrize(("own", "others"), [([7, 10], ["7", "10"]), (["7", "10"], [7, 10])])
def test_an_integer_and_its_string_are_the_same_node(own, others):
    found = Labels.from_pairs(own, ["x", "y"]).align(embedding(others))
    assert sorted(found.rows.tolist()) == [0, 1]


def test_integer_ids_are_in_numeric_order():
    found = Labels.from_pairs([10, 9, 100], ["x", "y", "x"]).align(embedding([9, 10, 100]))
    assert found.rows.tolist() == [0, 1, 2]


def test_a_matrix_of_another_shape_is_rejected():
    labels = Labels.from_pairs(["a"], ["x"])
    with pytest.raises(ParameterError, match="1 x 2"):
        Labels(labels.ids, labels.matrix, ("x", "y"))


def test_ids_that_hardly_ever_match_are_reported_with_examples_of_both_sides(caplog):
    ids = [f"n{number}" for number in range(200)]
    labels = Labels.from_pairs([*ids, "q"], ["x"] * 201)
    assert "Only 1" in labels.align(embedding(["q", "r"])).mismatch
    assert "Only 1 of the 201 labeled nodes has a vector. Their ids are 'n0'" in caplog.text
    assert "those of the embedding 'q', 'r'" in caplog.text
