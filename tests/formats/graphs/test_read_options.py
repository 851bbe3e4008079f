"""The options of read_graph."""

from dataclasses import fields
from typing import get_type_hints

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from hopvec import GraphError, ParameterError, ReadOptions, read_graph
from hopvec.formats.graphs.options import ReadKeywords


def test_the_keywords_are_the_fields_of_the_record():
    names = {field.name for field in fields(ReadOptions)} - {"_pairs", "_query", "_run_memory"}
    record, keywords = get_type_hints(ReadOptions), get_type_hints(ReadKeywords)
    assert {name: record[name] for name in names} == keywords


def test_options_are_given_as_keywords_or_as_a_record(written):
    path, options = written("edges.csv"), ReadOptions(directed=True, unweighted=True)
    graph = read_graph(path, options=options)
    assert graph.directed
    assert graph.weights is None
    graph = read_graph(path, options=options, directed=False)
    assert not graph.directed
    assert graph.weights is None
    assert read_graph(path, directed=True, unweighted=True).directed


@pytest.mark.parametrize(
    ("keyword", "hint"), [("sorce", "did you mean source="), ("x", "choose from format, source")]
)
def test_an_unknown_keyword_is_refused_with_a_hint(tmp_path, keyword, hint):
    with pytest.raises(TypeError, match=f"no argument '{keyword}'; {hint}"):
        read_graph(tmp_path / "edges.csv", **{keyword: 1})


@pytest.mark.parametrize(
    "options",
    [{"duplicates": "add"}, {"loops": "no"}, {"threads": 0}, {"directed": "yes"}, {"memory": "x"}],
)
def test_an_invalid_option_is_refused_before_the_file_is_opened(tmp_path, options):
    with pytest.raises(ParameterError):
        read_graph(tmp_path / "nothing.csv", **options)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("names", [("name", "id"), ("id", "name")])
def test_the_column_id_takes_precedence_over_name(tmp_path, suffix, names):
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    columns = {"id": ["a", "z"], "name": ["Ann", "Zoe"]}
    table = pa.table({name: columns[name] for name in names})
    path = tmp_path / f"nodes{suffix}"
    (pq.write_table if suffix == ".parquet" else pyarrow.csv.write_csv)(table, path)
    graph = read_graph(tmp_path / "edges.csv", nodes=path)
    assert graph.ids.to_pylist() == ["a", "b", "z"]


def test_ids_in_a_text_of_nodes_have_the_type_of_the_edges(written, tmp_path):
    (tmp_path / "nodes.txt").write_text("7\n3\n")
    graph = read_graph(written("edges.parquet"), nodes=tmp_path / "nodes.txt")
    assert graph.ids.to_pylist() == [0, 1, 2, 3, 4, 5, 7]
    with pytest.raises(GraphError, match="integers and others are strings"):
        read_graph(written("edges.parquet"), nodes=["x"])
