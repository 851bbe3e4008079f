"""`--features`: a table of node features."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import hopvec
from hopvec import FastRP

NODES = "id,age,city\na,3,Bonn\nb,4,Ulm\nc,,Ulm\nz,2,Ulm\n"
EDGES = "source,target\na,b\nb,c\nc,a\nd,a\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "links.csv").write_text(EDGES)
    (tmp_path / "nodes.csv").write_text(NODES)
    return tmp_path


def table():
    ages, cities = [3, 4, None, 2], ["Bonn", "Ulm", "Ulm", "Ulm"]
    return pa.table({"id": ["a", "b", "c", "z"], "age": ages, "city": cities})


def test_the_vectors_are_those_of_the_library_and_gaps_are_reported(run, files):
    arguments = [
        "--dim",
        16,
        "--features",
        "nodes.csv",
        "--feature-weight",
        2,
        "--report",
        "run.json",
    ]
    result = run("embed", "links.csv", "-o", "vectors.parquet", *arguments)
    assert result.exit_code == 0, result.stderr
    graph = hopvec.read_graph(files / "links.csv")
    expected = FastRP(dim=16, feature_weight=2).embed(graph, features=table())
    got = hopvec.load(files / "vectors.parquet")
    np.testing.assert_array_equal(got.vectors, expected.vectors)
    assert "numbers age; categories city; 1 missing value, " in result.stderr
    assert "1 missing value, 1 node without features, 1 row without a node" in result.stderr
    report = json.loads((files / "run.json").read_text())
    assert report["parameters"]["features"] == ["age", "city"]
    assert report["input"]["features"] == "nodes.csv"
    assert report["graph"]["features"]["rows_without_node"] == 1


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("nodes.parquet", lambda path: pq.write_table(table(), path)),
        ("nodes.arrow", lambda path: feather.write_feather(table(), path)),
        ("nodes.tsv", lambda path: path.write_text(NODES.replace(",", "\t"))),
        ("nodes.txt", lambda path: path.write_text(NODES.replace(",", ";"))),
    ],
)
def test_every_table_format_is_read(run, files, name, write):
    run("embed", "links.csv", "-o", "first.npz", "--features", "nodes.csv")
    write(files / name)
    result = run("embed", "links.csv", "-o", "second.npz", "--features", name)
    assert result.exit_code == 0, result.stderr
    first, second = (hopvec.load(files / f"{name}.npz").vectors for name in ("first", "second"))
    np.testing.assert_array_equal(first, second)


def test_like_needs_the_same_features(run, files):
    arguments = ["--features", "nodes.csv"]
    run("embed", "links.csv", "-o", "old.parquet", *arguments)
    result = run("embed", "links.csv", "-o", "new.parquet", "--like", "old.parquet", *arguments)
    assert result.exit_code == 0, result.stderr
    result = run("embed", "links.csv", "-o", "new.parquet", "--like", "old.parquet")
    assert result.exit_code == 2
    assert (
        "the features age (numbers), city (categories), but this graph has no features"
        in result.stderr
    )


def test_a_missing_file_is_reported_before_the_edges_are_read(run, files):
    result = run("embed", "absent.csv", "-o", "vectors.npz", "--features", "missing.csv")
    assert "missing.csv: there is no such file" in result.stderr
    result = run("embed", "absent.csv", "-o", "vectors.npz", "--nodes", "missing.csv")
    assert "missing.csv: there is no such file" in result.stderr


def test_na_is_a_name_and_not_a_missing_number(run, files):
    (files / "links.csv").write_text("source,target\nNA,b\nb,null\n")
    (files / "nodes.csv").write_text("id,land,age\nNA,NA,3\nb,,NA\nnull,Ulm,5\n")
    arguments = ["--features", "nodes.csv", "--report", "run.json"]
    result = run("embed", "links.csv", "-o", "vectors.npz", *arguments)
    assert result.exit_code == 0, result.stderr
    facts = json.loads((files / "run.json").read_text())["graph"]["features"]
    assert (facts["numbers"], facts["categories"]) == (["age"], ["land"])
    assert (facts["missing"], facts["nodes_without_row"]) == (2, 0)  # an empty cell, and NA of age


def test_the_features_of_new_nodes_are_in_the_same_file(run, files):
    (files / "new.csv").write_text("source,target\nz,a\n")
    arguments = ["--features", "nodes.csv"]
    run("embed", "links.csv", "-o", "old.parquet", "--dim", 8, *arguments)
    command = ["transform", "old.parquet", "new.csv", "--base", "links.csv", "-o", "new.npz"]
    result = run(*command, *arguments)
    assert result.exit_code == 0, result.stderr
    assert list(hopvec.load(files / "new.npz")) == ["z"]


def test_estimate_and_tune_take_features(run, files):
    assert run("estimate", "links.csv", "--features", "nodes.csv").exit_code == 0
    arguments = ["--features", "nodes.csv", "--space", "feature_weight=0.5,2", "--search", "grid"]
    result = run("tune", "links.csv", *arguments)
    assert result.exit_code == 0, result.stderr
    assert "--params tuned/best.json --features nodes.csv" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--features", "missing.csv"], "missing.csv: there is no such file"),
        (["--features", "nodes.csv", "--features-id", "who"], "no column 'who' for the ids"),
        (["--features-id", "who"], "--features-id needs --features"),
        (["--features", "nodes.csv", "--features-id", "age"], "row 3: the id in 'age' is empty"),
        (["--feature-weight", "2"], "the graph has no features"),
        (
            ["--features", "nodes.csv", "--method", "randne"],
            "RandNE does not support node features",
        ),
    ],
)
def test_user_errors_are_one_sentence(run, files, arguments, message):
    result = run("embed", "links.csv", "-o", "vectors.npz", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_id_column_is_found_by_its_values_and_a_pandas_index_is_ignored(run, files):
    run("embed", "links.csv", "-o", "first.npz", "--features", "nodes.csv")
    frame = table().to_pandas().rename(columns={"id": "customer"})[["age", "city", "customer"]]
    frame.sample(frac=1, random_state=3).to_parquet(files / "shuffled.parquet")
    frame.to_csv(files / "written.csv")
    first = hopvec.load(files / "first.npz").vectors
    for name in ("shuffled.parquet", "written.csv"):
        result = run("embed", "links.csv", "-o", "second.npz", "--features", name)
        assert result.exit_code == 0, result.stderr
        assert "rows are matched by 'customer', which holds ids of the graph" in result.stderr
        np.testing.assert_array_equal(hopvec.load(files / "second.npz").vectors, first)


def test_ids_in_an_unnamed_first_column_keep_leading_zeros(run, files):
    (files / "links.csv").write_text("source,target\n007,01\n01,2\n")
    (files / "nodes.csv").write_text("agent,age\n2,5\n01,3\n007,4\n")
    arguments = ["--features", "nodes.csv", "--report", "run.json"]
    result = run("embed", "links.csv", "-o", "vectors.npz", *arguments)
    assert result.exit_code == 0, result.stderr
    report = json.loads((files / "run.json").read_text())
    assert report["graph"]["features"]["nodes_without_row"] == 0
