"""Exports to PostgreSQL: types, index, privileges, and the messages that users see."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hopvec import Embedding, FormatError, MissingExtraError, ParameterError
from hopvec.address import shown_address
from hopvec.stores import postgresql
from postgres_server import PASSWORD
from saved_embeddings import INTEGERS, random_embedding

pytest.importorskip("psycopg")

DEBIAN_NODES, DIM = 63_436, 128
NEAREST = """
    SELECT other.id, 1 - (other.embedding <=> this.embedding) AS similarity
    FROM vectors AS this, vectors AS other
    WHERE this.id = %s AND other.id <> this.id
    ORDER BY other.embedding <=> this.embedding LIMIT 10
"""


@pytest.fixture
def run(postgres, schema):
    """Runs statements in an empty schema."""
    return lambda *statements: postgres.run(*statements, schema=schema)


@pytest.fixture
def target(postgres, schema):
    return postgres.uri(schema=schema)


def refusal(embedding, target, error=FormatError, **options):
    """The message, which is one line without credentials."""
    with pytest.raises(error) as raised:
        embedding.export(target, **options)
    message = str(raised.value)
    assert PASSWORD not in message
    assert "\n" not in message
    return message.removeprefix(f"{shown_address(target)}: ")


def test_a_large_table_has_the_exact_neighbors(target):
    import psycopg

    numbers = np.random.default_rng(0).standard_normal((DEBIAN_NODES, DIM), np.float32)
    ids = pa.array([f"package {row}" for row in range(DEBIAN_NODES)], pa.large_string())
    embedding = Embedding(numbers, ids)
    assert embedding.export(target) == DEBIAN_NODES
    with psycopg.connect(target) as connection:
        assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (DEBIAN_NODES,)
        for row in (0, 7, DEBIAN_NODES - 1):
            found = connection.execute(NEAREST, [f"package {row}"]).fetchall()
            expected = embedding.nearest(f"package {row}", 10)
            assert [id for id, _ in found] == [id for id, _ in expected]
            assert [score for _, score in found] == pytest.approx(
                [score for _, score in expected], abs=1e-5
            )


@pytest.mark.parametrize("ids", [pa.array([5, -3, 2**62]), pa.array(["b", "", "é 日本 🙂"])])
def test_the_table_has_a_primary_key_and_the_metadata_as_comment(target, run, ids):
    embedding = random_embedding(ids)
    embedding.export(target, table="nodes")
    assert run("SELECT id FROM nodes") == [(id,) for id in ids.to_pylist()]
    columns = run(
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute"
        " WHERE attrelid = 'nodes'::regclass AND attnum > 0 ORDER BY attnum"
    )
    kind = "bigint" if pa.types.is_integer(ids.type) else "text"
    assert columns == [(kind,), ("vector(5)",)]
    ((comment,),) = run("SELECT obj_description('nodes'::regclass)")
    assert json.loads(comment)["parameters"] == embedding.parameters
    assert run("SELECT indexname FROM pg_indexes WHERE tablename = 'nodes'") == [("nodes_pkey",)]


@pytest.mark.parametrize(
    ("dim", "kind"), [(8, "vector"), (2000, "vector"), (2001, "halfvec"), (4000, "halfvec")]
)
def test_the_index_is_hnsw_by_cosine_and_long_vectors_are_halfvec(target, run, dim, kind):
    embedding = random_embedding(pa.array(np.arange(30)), dim=dim)
    embedding.export(target, index=True)
    embedding.export(target, index=True)  # the names are free again
    definitions = dict(run("SELECT indexname, indexdef FROM pg_indexes WHERE tablename='vectors'"))
    assert sorted(definitions) == ["vectors_hnsw", "vectors_pkey"]
    assert f"USING hnsw (embedding {kind}_cosine_ops)" in definitions["vectors_hnsw"]
    ((numbers,),) = run("SELECT embedding::vector::real[] FROM vectors WHERE id = 7")
    dtype = np.float32 if kind == "vector" else np.float16
    assert np.array_equal(np.array(numbers, dtype), embedding.vectors[7].astype(dtype))


def test_vectors_that_are_too_long_are_refused(target):
    long = random_embedding(pa.array([1, 2]), dim=4001)
    assert long.export(target) == 2
    assert refusal(long, target, ParameterError, index=True) == (
        "export: an index of pgvector takes up to 4,000 dimensions; these vectors have 4,001. "
        "Leave out index=True."
    )
    longer = random_embedding(pa.array([1, 2]), dim=16_001)
    assert "up to 16,000 dimensions; these have 16,001" in refusal(longer, target, ParameterError)


def test_an_old_pgvector_has_no_halfvec(target, monkeypatch):
    monkeypatch.setattr(postgresql, "_extension", lambda *given: ("public", (0, 6)))
    long = random_embedding(pa.array([1, 2]), dim=2001)
    assert refusal(long, target) == (
        "vectors of dimension 2,001 need the type halfvec of pgvector 0.7; update the extension."
    )


def test_granted_privileges_are_kept(target, run, schema):
    run(f"CREATE ROLE app_{schema}")
    try:
        random_embedding(INTEGERS).export(target)
        run(f"GRANT SELECT, UPDATE ON vectors TO app_{schema}", "GRANT SELECT ON vectors TO PUBLIC")
        random_embedding(INTEGERS, seed=2).export(target)
        granted = run(
            "SELECT grantee, privilege_type FROM information_schema.role_table_grants"
            " WHERE table_name = 'vectors' AND grantee <> 'postgres' ORDER BY 1, 2"
        )
    finally:
        run(f"DROP OWNED BY app_{schema}", f"DROP ROLE app_{schema}")
    assert granted == [
        ("PUBLIC", "SELECT"),
        (f"app_{schema}", "SELECT"),
        (f"app_{schema}", "UPDATE"),
    ]


def test_a_table_of_another_schema_is_unchanged(target, postgres):
    postgres.run("CREATE TABLE vectors AS SELECT 1 AS id")
    try:
        random_embedding(INTEGERS).export(target)
        assert postgres.run("SELECT id FROM public.vectors") == [(1,)]
    finally:
        postgres.run("DROP TABLE public.vectors")


KILLED = """
import sys, time
import numpy as np
import pyarrow as pa
import hopvec
from hopvec.formats import blocks

blocks.BLOCK_BYTES = 4000
def slowly(done, total):
    print(done, flush=True)
    time.sleep(0.05)
vectors = hopvec.Embedding(np.ones((5000, 5), np.float32), pa.array(range(5000)))
vectors.export(sys.argv[1], progress=slowly)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_the_old_table_is_readable_during_an_export_and_remains_if_it_is_killed(target, run):
    random_embedding(pa.array([1, 2, 3])).export(target)
    process = subprocess.Popen([sys.executable, "-c", KILLED, target], stdout=subprocess.PIPE)
    assert process.stdout.readline()
    assert run("SELECT id FROM vectors") == [(1,), (2,), (3,)]
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    assert run("SELECT id FROM vectors") == [(1,), (2,), (3,)]
    for _ in range(50):  # the server notices after a moment, and rolls back
        left = run("SELECT relname FROM pg_class WHERE relname LIKE 'hopvec_%'")
        if not left:
            break
        time.sleep(0.1)
    assert left == []


def test_readers_see_either_table(target, run):
    """No reader fails or sees a part while the table is replaced again and again."""
    random_embedding(pa.array([1, 2, 3])).export(target)
    counts, stop = set(), threading.Event()

    def read():
        import psycopg

        with psycopg.connect(target, autocommit=True) as connection:
            while not stop.is_set():
                counts.add(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(10):
            random_embedding(pa.array(range(3 + number % 2))).export(target)
    finally:
        stop.set()
        reader.join()
    assert counts <= {3, 4}
    assert counts


class TestRefusals:
    def test_a_database_without_pgvector(self, postgres):
        postgres.run("CREATE DATABASE plain")
        try:
            text = refusal(random_embedding(INTEGERS), postgres.uri(database="plain"))
        finally:
            postgres.run("DROP DATABASE plain")
        assert text == (
            "the database has no extension pgvector. Enable it with CREATE EXTENSION vector."
        )

    def test_no_permission(self, postgres, schema, run):
        run(f"CREATE ROLE guest_{schema} LOGIN PASSWORD 'his-secret'")
        run(f"GRANT USAGE ON SCHEMA {schema} TO guest_{schema}")
        target = postgres.uri(user=f"guest_{schema}", password="his-secret", schema=schema)
        try:
            text = refusal(random_embedding(INTEGERS), target)
        finally:
            run(f"DROP OWNED BY guest_{schema}", f"DROP ROLE guest_{schema}")
        assert text == (
            "you do not have permission to create or replace this table (permission denied for "
            f"schema {schema})."
        )

    def test_views_on_the_old_table(self, target, run):
        random_embedding(INTEGERS).export(target)
        run("CREATE VIEW mine AS SELECT id FROM vectors")
        text = refusal(random_embedding(INTEGERS, seed=2), target)
        assert text.startswith("the old table cannot be replaced, since views depend on it (")
        assert text.endswith("Export to another table, or drop them first.")

    def test_duplicate_ids(self, target):
        twice = random_embedding(pa.array(["a", "b", "a"], pa.large_string()))
        assert (
            refusal(twice, target) == "two vectors have the same id, but ids are the primary key."
        )

    def test_values_that_are_not_finite(self, target):
        vectors = np.array([[1, np.nan]], np.float32)
        assert "vector of 1 contains nan" in refusal(Embedding(vectors, pa.array([1])), target)

    def test_ids_that_postgresql_cannot_store(self, target):
        null_byte = random_embedding(pa.array(["a\0b"], pa.large_string()))
        assert "0x00" in refusal(null_byte, target)

    @pytest.mark.parametrize(
        ("address", "reason"),
        [
            ("postgresql://me:{}@127.0.0.1:1/db", "Connection refused"),
            ("postgres://me:{}@nowhere.invalid/db", "nowhere.invalid"),
            ("postgresql://me:{}@127.0.0.1:1/db?bogus=1", "bogus"),
        ],
    )
    def test_an_unreachable_server(self, address, reason):
        address = address.format(PASSWORD)
        text = refusal(random_embedding(INTEGERS), address)
        assert text.startswith("cannot connect to PostgreSQL (")
        assert reason in text

    def test_a_wrong_password(self, postgres):
        text = refusal(random_embedding(INTEGERS), postgres.uri(user="anna", password="wrong"))
        assert "password authentication failed for this user" in text
        assert "anna" not in text

    def test_a_missing_driver(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "psycopg", None)
        assert refusal(random_embedding(INTEGERS), "postgresql://host/db", MissingExtraError) == (
            "export to PostgreSQL needs the postgres extra: pip install 'hopvec[postgres]'."
        )


def test_the_queries_of_the_page_find_the_nearest_nodes(target, run):
    page = Path(__file__).parents[2] / "docs" / "how-to" / "sql.md"
    queries = re.findall(r"```sql\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names = ["ann", *(f"node {number}" for number in range(50))]
    embedding = random_embedding(pa.array(names, pa.large_string()), dim=16)
    embedding.export(target, table="nodes_vectors")
    run("CREATE TABLE people AS SELECT id, id AS name, 'FR' AS country FROM nodes_vectors")
    nearest, joined = (run(query) for query in queries)
    expected = [id for id, _ in embedding.nearest("ann", 10)]
    assert [id for id, _ in nearest] == expected
    assert [name for (name,) in joined] == ["ann", *expected[:9]]


def test_an_unknown_target_is_shown_without_credentials():
    message = refusal(random_embedding(INTEGERS), f"mysql://me:{PASSWORD}@host/db", ParameterError)
    assert message.endswith("got 'mysql://host/db'.")
