"""Commands that read a graph from a database and write vectors to one."""

import json
import sqlite3

import numpy as np
import pytest

import hopvec
from postgres_server import PASSWORD

pytest.importorskip("adbc_driver_sqlite")

QUERY = "SELECT * FROM edges"
PAIRS = [("ann", "bob"), ("ann", "cem"), ("bob", "cem"), ("cem", "dan"), ("dan", "ann")]
EMBED = ("--dim", "8", "-o", "vectors.parquet", "--report", "run.json")


@pytest.fixture
def sqlite(tmp_path):
    """The address of a SQLite database."""
    connection = sqlite3.connect(tmp_path / "graph.db")
    connection.execute("CREATE TABLE edges (source text, target text)")
    connection.executemany("INSERT INTO edges VALUES (?, ?)", PAIRS)
    connection.commit()
    connection.close()
    return "sqlite:graph.db"


@pytest.fixture
def server(postgres, schema):
    """The address of a PostgreSQL database, with its password."""
    rows = ", ".join(f"('{source}', '{target}')" for source, target in PAIRS)
    values = f"(VALUES {rows}) AS given (source, target)"
    postgres.run(f"CREATE TABLE edges AS SELECT * FROM {values}", schema=schema)
    return postgres.uri(schema=schema)


def test_vectors_from_a_database_are_those_from_a_file(run, sqlite, server, tmp_path):
    lines = ["source,target", *(f"{source},{target}" for source, target in PAIRS)]
    (tmp_path / "edges.csv").write_text("\n".join(lines))
    expected = hopvec.FastRP(dim=8).embed(hopvec.read_graph(tmp_path / "edges.csv"))
    for address in (sqlite, server):
        done = run("embed", address, "--query", QUERY, *EMBED)
        assert done.exit_code == 0, done.output
        found = hopvec.load(tmp_path / "vectors.parquet")
        assert list(found) == list(expected)
        assert np.array_equal(found.vectors, expected.vectors)


def test_credentials_are_nowhere(run, server, tmp_path):
    done = run("embed", server, "--query", QUERY, *EMBED, "--verbose")
    assert done.exit_code == 0
    report = json.loads((tmp_path / "run.json").read_text())
    assert report["input"]["query"] == QUERY
    assert report["input"]["file"].startswith("postgresql:///postgres?host=")
    exported = run("export", "vectors.parquet", server, "--table", "nodes", "--index")
    assert exported.exit_code == 0
    assert "4 rows in the table nodes, with an HNSW index" in exported.output
    outputs = [
        done.output,
        exported.output,
        (tmp_path / "run.json").read_text(),
        run("info", "vectors.parquet", "--json").output,
        run("info", server, "--query", QUERY, "--json").output,
        run("info", server, "--query", "SELECT nothing", "--debug").output,
        run("info", server).output,
        run("info", server, "--query", QUERY, "--header").output,
        run("info", "edges.csv", server).output,
        run("neighbors", server, "ann").output,
        run("embed", server, "-o", "v.parquet", "--bogus").output,
        run("export", "vectors.parquet", server, "--table", "edges").output,
    ]
    assert all(outputs)
    for text in outputs:
        assert PASSWORD not in text
        assert "postgres:" not in text
    assert PASSWORD.encode() not in (tmp_path / "vectors.parquet").read_bytes()


@pytest.mark.parametrize("command", ["info", "estimate", "split", "recommend"])
def test_other_commands_read_databases(run, sqlite, command):
    more = {
        "split": ("-o", "training.csv", "--links", "links.csv", "--count", "1"),
        "recommend": ("--score", "common-neighbors", "ann"),
    }
    given = ("--graph", sqlite) if command == "recommend" else (sqlite,)
    done = run(command, *given, "--query", QUERY, *more.get(command, ()))
    assert done.exit_code == 0, done.output


def test_new_nodes_may_come_from_a_database(run, sqlite, tmp_path):
    run("embed", sqlite, "--query", QUERY, *EMBED)
    (tmp_path / "edges.csv").write_text("\n".join(",".join(pair) for pair in PAIRS))
    new = "SELECT 'eve' AS source, 'ann' AS target"
    arguments = ("vectors.parquet", sqlite, "--base", "edges.csv", "-o", "new.parquet")
    done = run("transform", *arguments, "--query", new)
    assert done.exit_code == 0, done.output
    assert list(hopvec.load(tmp_path / "new.parquet")) == ["eve"]


def refused(done):
    assert done.exit_code == 2, done.output
    assert done.output.count("\n") == 1
    return done.output


def test_a_database_needs_a_query_and_a_file_has_none(run, sqlite, edges):
    assert refused(run("info", sqlite)) == (
        "sqlite:graph.db: this is a database. Choose its edges with --query 'select source, target "
        "from edges'.\n"
    )
    assert "--query is for databases" in refused(run("info", edges, "--query", QUERY))
    text = refused(run("embed", sqlite, "--query", QUERY, "--separator", ",", *EMBED))
    assert "--separator does not apply to the format SQL; leave it out." in text


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("postgresql://me:secret@127.0.0.1:1/db", "cannot connect to PostgreSQL ("),
        ("sqlite:no.db", "there is no such file"),
        ("sqlite:graph.db", "the query failed (no such table: nowhere)"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_and_exit_code_2(run, sqlite, address, reason):
    assert reason in refused(run("info", address, "--query", "SELECT * FROM nowhere"))


def test_what_cannot_be_written_is_one_sentence_and_exit_code_2(run, vectors):
    text = refused(run("export", vectors, "postgresql://me:secret@127.0.0.1:1/db"))
    assert text.startswith("postgresql://127.0.0.1:1/db: cannot connect to PostgreSQL (")
    text = refused(run("export", vectors, "duckdb:graph.db", "--index"))
    assert "--index is for PostgreSQL, FAISS and Neo4j, and the target is duckdb:graph.db" in text
