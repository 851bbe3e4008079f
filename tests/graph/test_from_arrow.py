"""Graph.from_arrow: edge tables of other libraries."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hopvec import FastRP, FormatError, Graph, GraphError

COLUMNS = {"from": ["a", "b", "a"], "to": ["b", "c", "b"], "weight": [1.0, 2.0, 4.0]}


TABLES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=TABLES)
def make(request):
    return TABLES[request.param]


def test_columns_are_chosen_by_name(make):
    graph = Graph.from_arrow(make(COLUMNS))
    assert graph.ids.to_pylist() == ["a", "b", "c"]
    assert graph.to_scipy().toarray().tolist() == [[0, 5, 0], [5, 0, 2], [0, 2, 0]]


def test_a_duckdb_relation_is_a_table():
    with duckdb.connect() as connection:
        relation = connection.sql("select i as source, i + 1 as target from range(9) t(i)")
        assert Graph.from_arrow(relation).edges == 9
        assert FastRP(dim=4).embed(relation).vectors.shape == (10, 4)


def test_columns_can_be_requested_by_name_or_number(make):
    table = make({"x": [1.0, 2.0], "a": [1, 2], "b": [2, 3]})
    graph = Graph.from_arrow(table, source="a", target=3, weight="x", directed=True)
    assert graph.ids.to_pylist() == [1, 2, 3]
    assert graph.to_scipy().toarray().tolist() == [[0, 1, 0], [0, 0, 2], [0, 0, 0]]


def test_the_options_of_from_edges_apply(make):
    table = make({**COLUMNS, "from": ["a", "b", "b"], "to": ["b", "b", "a"]})
    graph = Graph.from_arrow(
        table, unweighted=True, duplicates="first", loops="drop", nodes=["b", "a", "z"], threads=1
    )
    assert graph.ids.to_pylist() == ["b", "a", "z"]
    assert (graph.edges, graph.weights, graph.isolated) == (1, None, 1)


def test_a_table_in_many_chunks_is_one_table():
    whole = pa.table({"source": np.arange(100), "target": np.arange(100)[::-1]})
    chunks = pa.Table.from_batches(whole.to_batches(max_chunksize=7))
    assert ((Graph.from_arrow(chunks).to_scipy() != Graph.from_arrow(whole).to_scipy()).nnz) == 0


def test_categories_are_ids():
    frame = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}).astype("category")
    assert Graph.from_arrow(frame).ids.to_pylist() == ["a", "b", "c"]
    assert Graph.from_arrow(pl.from_pandas(frame)).ids.to_pylist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": [1.5], "target": [2]}, r"row 1: the id 1\.5 is a fraction; ids are int"),
        ({"source": [[1]], "target": [2]}, r"holds (large_)?list.*; ids are integers or strings"),
        ({"source": [1], "target": [2], "weight": ["x"]}, r"'weight' holds .*weights are numbers"),
        ({"source": [1]}, r"an edge needs two columns, found 1 \(source\)"),
        ({"source": ["a", None], "target": ["b", "c"]}, r"source, edge 2: there is no id \(null\)"),
        ({"u": [1, 2], "v": [2, 3], "w": [1, None]}, r"edge 2 .*the weight nan is not allowed"),
        ({"source": ["a"], "target": [2]}, r"both hold integers or both hold strings"),
    ],
)
def test_invalid_columns_are_refused(columns, message):
    for make in (pa.table, pl.DataFrame):
        with pytest.raises((FormatError, GraphError), match=message):
            Graph.from_arrow(make(columns))


def test_a_missing_column_is_refused_with_a_list_of_columns(make):
    with pytest.raises(FormatError, match=r"no column 'km' for the weight; .* from, to, weight"):
        Graph.from_arrow(make(COLUMNS), weight="km")


@pytest.mark.parametrize("thing", [[("a", "b")], {"a": ["b"]}, pd.Series([1]), "edges.csv"])
def test_an_object_that_is_not_a_table_is_refused(thing):
    with pytest.raises(GraphError, match=r"(not|read as) a table of edges"):
        Graph.from_arrow(thing)


def test_a_method_embeds_a_table_with_named_columns(make):
    table = make(COLUMNS)
    expected = FastRP(dim=8, seed=1).embed(Graph.from_arrow(table)).vectors
    np.testing.assert_array_equal(FastRP(dim=8, seed=1).embed(table).vectors, expected)
