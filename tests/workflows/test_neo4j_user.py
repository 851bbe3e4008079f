"""A Neo4j user: from an export to a script that loads the vectors back."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

import hopvec
from community_edges import community_edges

PEOPLE, CITIES, HERMITS = 180, ("Bonn", "Kiel", "Trier"), (181, 182)
KNOWS = [(one, other, 0.5 + (one + other) % 4) for one, other in community_edges(PEOPLE, 3, 1800)]


def city(person):
    return CITIES[person % 3]


@pytest.fixture
def run(tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "hopvec", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def import_files(tmp_path):
    """The files of neo4j-admin database import: nodes and relationships."""
    with (tmp_path / "people.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["personId:ID(Person)", "name", "city", ":LABEL"])
        rows.writerows(
            [person, f"Person, {person}", city(person), "Person"]
            for person in (*range(1, PEOPLE + 1), *HERMITS)
        )
    with (tmp_path / "knows.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            [":START_ID(Person)", "since:int", ":END_ID(Person)", ":TYPE", "weight:double"]
        )
        rows.writerows(
            [one, 1990 + one % 30, other, "KNOWS", weight] for one, other, weight in KNOWS
        )


@pytest.fixture
def apoc_file(tmp_path):
    """What apoc.export.csv.all writes: nodes, then relationships, in one table, all quoted."""
    with (tmp_path / "graph.csv").open("w", newline="") as file:
        rows = csv.writer(file, quoting=csv.QUOTE_ALL)
        rows.writerow(["_id", "_labels", "city", "name", "_start", "_end", "_type", "weight"])
        for person in (*range(1, PEOPLE + 1), *HERMITS):
            rows.writerow([person, ":Person", city(person), f"Person, {person}", "", "", "", ""])
        for one, other, weight in KNOWS:
            rows.writerow(["", "", "", "", one, other, "KNOWS", weight])


def loaded(path):
    """What LOAD CSV WITH HEADERS and split(row.vector, ';') see: vectors by toInteger(row.id)."""
    with path.open(newline="") as file:
        return {
            int(row["id"]): np.array([float(number) for number in row["vector"].split(";")])
            for row in csv.DictReader(file)
        }


def test_from_the_files_of_an_import_to_vectors_in_the_database(run, import_files, tmp_path):
    run("embed", "knows.csv", "--nodes", "people.csv", "-o", "vectors.parquet", "--dim", "32",
        "--report", "run.json")  # fmt: skip
    report = json.loads((tmp_path / "run.json").read_text())
    assert report["input"]["columns"] == {
        "source": ":START_ID(Person)",
        "target": ":END_ID(Person)",
        "weight": "weight:double",
    }
    (note,) = report["notes"]
    assert note.startswith("Zero vectors: 2 of 182 nodes, all without edges")
    graph = report["graph"]
    assert (graph["nodes"], graph["isolated"]) == (PEOPLE + len(HERMITS), len(HERMITS))
    assert graph["volume"] == pytest.approx(2 * sum(weight for *_, weight in KNOWS))

    assert graph["types"] == {"Person": PEOPLE + len(HERMITS)}
    run("export", "vectors.parquet", "neo4j:import?personId", "--index")
    script = (tmp_path / "import" / "load.cypher").read_text()
    assert "MATCH (n:`Person`) WHERE n.`personId` IN [row.id, toInteger(row.id)]" in script
    found = loaded(tmp_path / "import" / "vectors.csv")
    assert sorted(found) == list(range(1, PEOPLE + 1))

    # The vector index of the database would answer like this, and hopvec agrees.
    ids, matrix = np.array(list(found)), np.array(list(found.values()))
    cosines = matrix @ matrix.T
    np.fill_diagonal(cosines, -2)
    nearest = ids[np.argsort(-cosines, axis=1)[:, :10]]
    cities = np.array([city(person) for person in range(PEOPLE + 1)])
    assert (cities[nearest] == cities[ids][:, None]).mean() > 0.8
    answer = run("neighbors", "vectors.parquet", "7", "-k", "10").splitlines()
    assert [int(line.split("\t")[1]) for line in answer] == nearest[6].tolist()


def test_an_apoc_export_gives_the_same_vectors(run, import_files, apoc_file, tmp_path):
    run("embed", "knows.csv", "--nodes", "people.csv", "-o", "import.csv", "--dim", "32")
    run("embed", "graph.csv", "-o", "apoc.csv", "--dim", "32", "--report", "run.json")
    assert (tmp_path / "apoc.csv").read_bytes() == (tmp_path / "import.csv").read_bytes()
    read = json.loads((tmp_path / "run.json").read_text())["input"]
    assert read["columns"] == {"source": "_start", "target": "_end", "weight": "weight"}
    assert "skipped rows" not in read


def test_the_parameters_of_neo4j_are_a_preset_and_directions_are_kept(run, import_files, tmp_path):
    run(
        "embed",
        "knows.csv",
        "-o",
        "natural.parquet",
        "--preset",
        "neo4j",
        "--dim",
        "32",
        "--directed",
    )
    run("embed", "knows.csv", "-o", "reverse.parquet", "--preset", "neo4j", "--dim", "32",
        "--directed", "--direction", "in")  # fmt: skip
    edges = tmp_path / "turned.csv"
    lines = [f"{other},{one},{weight}" for one, other, weight in KNOWS]
    edges.write_text("\n".join([":START_ID,:END_ID,weight:float", *lines, ""]))
    run(
        "embed",
        "turned.csv",
        "-o",
        "turned.parquet",
        "--preset",
        "neo4j",
        "--dim",
        "32",
        "--directed",
    )
    natural, reverse, turned = (
        hopvec.load(tmp_path / f"{name}.parquet").vectors
        for name in ("natural", "reverse", "turned")
    )
    assert np.allclose(reverse, turned, atol=1e-5)
    assert not np.allclose(natural, reverse, atol=0.1)


def test_people_and_places_with_the_same_numbers_stay_apart(run, import_files, tmp_path):
    """Numbers are unique in their id space only: person 1 is not place 1."""
    lines = [f"{person},{person % 3 + 1},LIVES_IN" for person in range(1, PEOPLE + 1)]
    header = ":START_ID(Person),:END_ID(Place),:TYPE"
    (tmp_path / "lives.csv").write_text("\n".join([header, *lines, ""]))
    run("embed", "lives.csv", "-o", "lives.parquet", "--dim", "8")
    vectors = hopvec.load(tmp_path / "lives.parquet")
    assert len(vectors) == PEOPLE + 3
    answer = run("neighbors", "lives.parquet", "Person:6", "-k", "20", "--type", "Person")
    nearest = [line.split("\t")[1] for line in answer.splitlines()]
    assert {int(id.removeprefix("Person:")) % 3 for id in nearest} == {0}
