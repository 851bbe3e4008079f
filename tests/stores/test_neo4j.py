"""Vectors for Neo4j: a CSV file and a Cypher script. Their effect is checked without a server."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hopvec import Embedding, FastRP, FormatError, ParameterError, read_graph
from neo4j_export import ACTORS, MOVIES, write_apoc_file, write_import_files

LOAD = re.compile(
    r"LOAD CSV WITH HEADERS FROM 'file:///vectors.csv' AS row\n"
    r"WITH row WHERE row.label = '(?P<label>.*)'\n"
    r"CALL \(row\) \{\n"
    r"  MATCH \(n:`(?P<node>[^`]*)`(?P<match>.*)\n"
    r"  CALL db.create.setNodeVectorProperty\(n, 'embedding', "
    r"\[x IN split\(row.vector, ';'\) \| toFloat\(x\)\]\)\n"
    r"\} IN TRANSACTIONS OF 10000 ROWS;"
)
INDEX = (
    "CREATE VECTOR INDEX `{0}_embedding` IF NOT EXISTS\nFOR (n:`{0}`) ON (n.embedding)\n"
    "OPTIONS {{indexConfig: {{`vector.dimensions`: {1}, `vector.similarity_function`: 'cosine'}}}};"
)


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def stored(directory="import"):
    """The vectors of the CSV file by label and id, as LOAD CSV would read them."""
    with Path(directory, "vectors.csv").open(newline="") as file:
        return {
            (row["label"], row["id"]): np.float32(row["vector"].split(";"))
            for row in csv.DictReader(file)
        }


def statements(directory="import"):
    """The statements of the script, without its comments."""
    text = Path(directory, "load.cypher").read_text()
    return [part for part in text.split("\n\n") if not part.startswith("//")]


def test_files_of_neo4j_admin_come_back_with_their_own_ids():
    write_import_files(".")
    files = {"ACTED_IN": "roles.csv", "KNOWS": "knows.csv"}
    graph = read_graph(files, nodes=[Path("actors.csv"), Path("movies.csv")])
    embedding = FastRP(dim=8).embed(graph)
    target = "neo4j:import?Actor=personId&Movie=movieId"
    assert embedding.export(target, index=True) == 9
    found = stored()
    for label, space, text in (("Actor", "Actor-ID", ACTORS), ("Movie", "Movie-ID", MOVIES)):
        for row in csv.reader(io.StringIO(text)):
            vector = embedding[f"{space}:{row[0]}"] if row[0].isdigit() else np.zeros(8)
            if vector.any():
                assert np.array_equal(found.pop((label, row[0])), vector)
    assert not found  # nothing else: a node without edges has no direction
    actors, movies, *indexes = statements()
    loads = [LOAD.fullmatch(text) for text in (actors, movies)]
    assert [load["label"] for load in loads] == [load["node"] for load in loads]
    assert [load["match"] for load in loads] == [
        ") WHERE n.`personId` IN [row.id, toInteger(row.id)]",
        ") WHERE n.`movieId` IN [row.id, toInteger(row.id)]",
    ]
    assert [text.rstrip() for text in indexes] == [INDEX.format(x, 8) for x in ("Actor", "Movie")]


def test_the_internal_ids_of_apoc_are_matched():
    write_apoc_file(".")
    embedding = FastRP(dim=8).embed(read_graph("graph.csv", relation="_type"))
    embedding.export("neo4j:import?_id")
    assert set(stored()) == {("Movie", "0"), *(("Person", at) for at in "123")}
    loads = [LOAD.fullmatch(text.rstrip()) for text in statements()]
    assert {load["match"] for load in loads} == {") WHERE id(n) = toInteger(row.id)"}


def test_without_types_a_label_is_named():
    ids = pa.array(["ann", "bob, jr", "zero"])
    embedding = Embedding(np.float32([[1, 2], [0.1, 1e-20], [0, 0]]), ids)
    with pytest.raises(ParameterError, match=r"neo4j:directory\?Person=id"):
        embedding.export("neo4j:import")
    embedding.export("neo4j:new/import?Person=id")
    found = stored("new/import")
    assert list(found) == [("Person", "ann"), ("Person", "bob, jr")]
    assert np.array_equal(found["Person", "bob, jr"], np.float32([0.1, 1e-20]))
    (load,) = statements("new/import")
    assert LOAD.fullmatch(load.rstrip())["match"] == " {`id`: row.id})"


def test_the_property_id_is_the_default_and_nodes_without_a_type_are_left_out():
    embedding = Embedding(np.eye(3, dtype="f4"), pa.array([1, 2, 3]), types=["A", None, "B"])
    embedding.export("neo4j:import?B=key")
    assert set(stored()) == {("A", "1"), ("B", "3")}
    matches = [LOAD.fullmatch(text.rstrip())["match"] for text in statements()]
    assert matches == [f") WHERE n.`{key}` IN [row.id, toInteger(row.id)]" for key in ("id", "key")]


def test_names_are_quoted():
    types = ["it's `x`", "it's `x`"]
    Embedding(np.eye(2, dtype="f4"), pa.array(["a", "b"]), types=types).export("neo4j:import?k`")
    (load,) = statements()
    assert "row.label = 'it\\'s `x`'" in load
    assert "(n:`it's ``x``` {`k```: row.id})" in load


def test_mistakes_are_refused():
    embedding = Embedding(np.eye(2, dtype="f4"), pa.array(["a", "b"]), types=["A", "B"])
    with pytest.raises(ParameterError, match="no type 'C'; the types are A, B"):
        embedding.export("neo4j:import?C=id")
    Path("file").write_text("")
    with pytest.raises(FormatError, match="Name a directory"):
        embedding.export("neo4j:file")
    with pytest.raises(ParameterError, match="has no tables"):
        embedding.export("neo4j:import", table="pages")


def test_only_files_of_hopvec_are_replaced():
    embedding = Embedding(np.eye(2, dtype="f4"), pa.array(["a", "b"]), types=["A", "B"])
    Path("import").mkdir()
    Path("import", "load.cypher").write_text("MATCH (n) RETURN n")
    with pytest.raises(ParameterError, match="hopvec did not create"):
        embedding.export("neo4j:import")
    embedding.export("neo4j:import", replace=True)
    embedding.export("neo4j:import")


def test_an_export_that_was_killed_between_two_files_can_be_repeated():
    embedding = Embedding(np.eye(2, dtype=np.float32), pa.array([1, 2]))
    embedding.export("neo4j:import?Node=id")
    script = Path("import", "load.cypher")
    script.rename(script.with_name(".load.cypher.0123abcd.old"))  # as a killed process leaves it
    embedding.export("neo4j:import?Node=id")
    assert list(stored()) == [("Node", "1"), ("Node", "2")]
    assert sorted(path.name for path in Path("import").iterdir()) == ["load.cypher", "vectors.csv"]
