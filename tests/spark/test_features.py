"""Feature columns of all types, read as on one machine."""

from decimal import Decimal

import numpy as np
import pytest
from pyspark.sql import types as T  # noqa: N812

from hopvec import Graph
from hopvec.graph.feature_columns import standardize
from hopvec.spark.features import feature_table

SCHEMA = (
    "ID string, a string, A boolean, `b.c` decimal(9,2), `d``e` bigint, l array<float>, "
    "t array<string>, n void"
)
ROWS = [
    ("a", "x", True, Decimal("1.25"), 2**60 + 1, [1.0, 2.0], ["x", "y"], None),
    ("b", "", None, None, -5, [None, 0.5], None, None),
    ("c", None, False, Decimal("-3.10"), None, None, ["x", None], None),
]


@pytest.fixture(scope="module")
def table(spark):
    return spark.createDataFrame(ROWS, SCHEMA)


def test_columns_of_all_types_have_the_values_of_one_machine(table):
    graph = Graph.from_edges(["a", "b"], ["b", "c"]).with_features(table.toArrow())
    found = feature_table(table, None, "string")
    assert (found.numbers, found.categories) == (
        graph.features.columns.numbers,
        graph.features.columns.categories,
    )
    rows = sorted(found.frame.collect())
    keys = np.stack([np.frombuffer(row["categories"], np.uint64) for row in rows])
    np.testing.assert_array_equal(keys, graph.features.categories)
    numbers = np.stack([np.frombuffer(row["numbers"], np.float64) for row in rows])
    columns = graph.features.columns
    standard = standardize(numbers, columns.mean, columns.deviation)
    np.testing.assert_array_equal(standard, graph.features.numbers)


def test_ids_are_compared_as_integers_if_both_are_integers(spark):
    numbers = spark.createDataFrame([(1, 2)], "id int, x int")
    assert feature_table(numbers, None, "bigint").ids == "bigint"
    for frame, ids in ((numbers, "string"), (numbers.selectExpr("'1' id", "x"), "bigint")):
        found = feature_table(frame, None, ids)
        assert found.ids == "string"
        assert found.frame.schema["id"].dataType == T.StringType()


def test_an_unnamed_pandas_index_is_not_a_feature(spark):
    schema = "id string, x int, __index_level_0__ int"
    frame = spark.createDataFrame([("a", 2, 0), ("b", 3, 1)], schema)
    assert feature_table(frame, None, "string").numbers == ("x",)
