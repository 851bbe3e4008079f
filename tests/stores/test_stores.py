"""Exports to real stores, whose searches return the exact neighbors of hopvec."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import duckdb
import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import qdrant_client

from hopvec import FormatError, MissingExtraError, ParameterError
from hopvec.address import shown_address
from hopvec.formats import blocks
from hopvec.stores import STORES
from hopvec.stores import lancedb as lancedb_store
from saved_embeddings import random_embedding

FILES = [("duckdb", "DuckDB"), ("lancedb", "LanceDB"), ("qdrant", "Qdrant")]
NUMBERS = pa.array(np.arange(1000) * 3)
WORDS = pa.array([f"näme '{number}" for number in range(1000)], pa.large_string())


@pytest.fixture(params=[NUMBERS, WORDS], ids=["integers", "strings"])
def embedding(request):
    return random_embedding(request.param, dim=24)


@pytest.fixture(params=[name for name, store in STORES.items() if store.TABLES])
def target(request, tmp_path):
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        return server.uri(schema=request.getfixturevalue("schema"))
    return f"{request.param}:{tmp_path / 'store'}"


def in_postgres(target, *statements):
    """Run statements, and return the rows of the last one as a table, if it has any."""
    import psycopg

    with psycopg.connect(target) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()] if names else []


@contextmanager
def in_qdrant(path):
    client = qdrant_client.QdrantClient(path=path)
    yield client
    client.close()


def stored(target, table="vectors"):
    """The ids and vectors of a table, or None if it does not exist."""
    kind, _, path = target.partition(":")
    if kind == "qdrant":
        with in_qdrant(path) as client:
            if not client.collection_exists(table):
                return None
            points, _ = client.scroll(table, limit=10_000, with_vectors=True)
        points.sort(key=lambda point: int(re.sub(r"\D", "", str(point.payload["id"]))))
        ids = [point.payload["id"] for point in points]
        return ids, np.array([point.vector for point in points], np.float32)
    if kind == "lancedb":
        if table not in lancedb.connect(path).list_tables().tables:
            return None
        columns = lancedb.connect(path).open_table(table).to_arrow()
    elif kind == "postgresql":
        if not in_postgres(target, f"SELECT 1 FROM pg_tables WHERE tablename = '{table}'"):
            return None
        columns = pa.Table.from_pylist(
            in_postgres(target, f'SELECT id, embedding::real[] FROM "{table}"')
        )
    else:
        with duckdb.connect(path) as connection:
            if (table,) not in connection.sql("SHOW TABLES").fetchall():
                return None
            columns = connection.sql(f'SELECT * FROM "{table}"').to_arrow_table()
    return columns["id"].to_pylist(), np.array(columns["embedding"].to_pylist(), np.float32)


def holds(target, embedding, table="vectors"):
    ids, vectors = stored(target, table)
    return ids == list(embedding) and vectors.tobytes() == embedding.vectors.tobytes()


def test_the_table_holds_ids_and_vectors(target, embedding):
    assert embedding.export(target) == 1000
    assert holds(target, embedding)


def stored_types(target):
    """The types of the table, in the order of the ids."""
    kind, _, path = target.partition(":")
    if kind == "qdrant":
        with in_qdrant(path) as client:
            points, _ = client.scroll("vectors", limit=10_000)
        points.sort(key=lambda point: int(re.sub(r"\D", "", str(point.payload["id"]))))
        return [point.payload["type"] for point in points]
    if kind == "lancedb":
        return lancedb.connect(path).open_table("vectors").to_arrow()["type"].to_pylist()
    if kind == "postgresql":
        return [row["type"] for row in in_postgres(target, "SELECT type FROM vectors")]
    with duckdb.connect(path) as connection:
        return [name for (name,) in connection.sql("SELECT type FROM vectors").fetchall()]


def test_types_of_nodes_are_a_column(target, embedding, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 24 * 4 * 300)
    types = ["é 'x'", "y", None, "x"] * 250
    typed = replace(embedding, types=types)
    typed.export(target)
    assert holds(target, typed)
    assert stored_types(target) == types
    embedding.export(target)  # hopvec made the table, so it is replaced
    typed.export(target)
    assert stored_types(target) == types


def test_many_blocks_are_written_to_one_table(target, embedding, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 24 * 4 * 300)
    assert embedding.export(target, table="select") == 1000
    assert holds(target, embedding, "select")


def test_a_table_of_that_name_is_replaced_and_others_are_unchanged(target):
    random_embedding(WORDS).export(target)
    random_embedding(NUMBERS, seed=1).export(target, table="other")
    random_embedding(NUMBERS, seed=2, dim=9).export(target)
    assert holds(target, random_embedding(NUMBERS, seed=2, dim=9))
    assert holds(target, random_embedding(NUMBERS, seed=1), "other")


FOREIGN = pa.table(
    {"id": [1, 2], "embedding": [[0.5], [0.25]]},
    pa.schema([("id", pa.int64()), ("embedding", pa.list_(pa.float32(), 1))]),
)


def create_foreign(target, table, columns=FOREIGN):
    """Creates a table with the API of the store."""
    kind, _, path = target.partition(":")
    if kind == "lancedb":
        lancedb.connect(path).create_table(table, columns)
    elif kind == "qdrant":
        models = qdrant_client.models
        rows = columns.to_pylist()
        points = [
            models.PointStruct(id=row["id"], vector=row.pop("embedding"), payload=row)
            for row in rows
        ]
        with in_qdrant(path) as client:
            config = models.VectorParams(size=1, distance=models.Distance.EUCLID)
            client.create_collection(table, config)
            client.upsert(table, points)
    elif kind == "postgresql":
        names = ", ".join(columns.column_names)
        rows = [f"({row['id']}, '{row['embedding']}'::vector, 1)" for row in columns.to_pylist()]
        values = f"(VALUES {', '.join(rows)}) AS given (id, embedding, price)"
        in_postgres(target, f'CREATE TABLE "{table}" AS SELECT {names} FROM {values}')
    else:
        with duckdb.connect(path) as connection:
            connection.register("given", columns)
            connection.execute(f'CREATE TABLE "{table}" AS SELECT * FROM given')


def test_a_table_that_hopvec_did_not_create_is_refused_and_unchanged(target):
    create_foreign(target, "vectors")
    with pytest.raises(ParameterError) as error:
        random_embedding(NUMBERS).export(target)
    assert str(error.value) == (
        f"export: {shown_address(target)} has a table vectors that hopvec did not create. Choose "
        "another name with table=, or replace it with replace=True."
    )
    assert stored(target)[0] == [1, 2]
    random_embedding(NUMBERS).export(target, table="others")
    assert holds(target, random_embedding(NUMBERS), "others")
    assert stored(target)[0] == [1, 2]


def test_replace_replaces_any_table(target):
    create_foreign(target, "vectors", FOREIGN.append_column("price", pa.array([1, 2])))
    random_embedding(NUMBERS).export(target, replace=True)
    assert holds(target, random_embedding(NUMBERS))
    random_embedding(NUMBERS, seed=2).export(target)
    assert holds(target, random_embedding(NUMBERS, seed=2))


def test_a_table_with_an_added_column_is_not_replaced(target):
    random_embedding(NUMBERS).export(target)
    kind, _, path = target.partition(":")
    if kind == "lancedb":
        lancedb.connect(path).open_table("vectors").add_columns({"price": "id * 2"})
    elif kind == "qdrant":
        with in_qdrant(path) as client:
            client.set_payload("vectors", {"price": 3}, points=[3])
    elif kind == "postgresql":
        in_postgres(target, "ALTER TABLE vectors ADD COLUMN price integer")
    else:
        with duckdb.connect(path) as connection:
            connection.execute("ALTER TABLE vectors ADD COLUMN price INTEGER")
    with pytest.raises(ParameterError, match="a table vectors that hopvec did not create"):
        random_embedding(NUMBERS, seed=2).export(target)
    assert holds(target, random_embedding(NUMBERS))


def test_duckdb_ignores_the_case_of_names(tmp_path):
    create_foreign(f"duckdb:{tmp_path / 'store'}", "Vectors")
    with pytest.raises(ParameterError, match="a table vectors that hopvec did not create"):
        random_embedding(NUMBERS).export(f"duckdb:{tmp_path / 'store'}")


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("before", [True, False])
def test_an_export_that_fails_midway_leaves_the_old_table_or_none(
    target, monkeypatch, error, before
):
    if before:
        random_embedding(NUMBERS).export(target)

    def fail(block):
        raise error

    monkeypatch.setattr(blocks, "BLOCK_BYTES", 4000)
    monkeypatch.setattr(blocks, "release_pages", fail)
    with pytest.raises(error):
        random_embedding(NUMBERS, seed=2).export(target)
    assert holds(target, random_embedding(NUMBERS)) if before else stored(target) is None


KILLED = """
import os, signal, sys
import numpy as np
import pyarrow as pa
import hopvec
from hopvec.formats import blocks

blocks.BLOCK_BYTES = 4000
blocks.release_pages = lambda block: os.kill(os.getpid(), signal.SIGKILL)
hopvec.Embedding(np.ones((1000, 5), np.float32), pa.array(range(1000))).export(sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.parametrize("before", [True, False])
def test_a_process_killed_while_exporting_leaves_the_old_table_or_none(target, before):
    if before:
        random_embedding(NUMBERS).export(target)
    finished = subprocess.run([sys.executable, "-c", KILLED, target], check=False)
    assert finished.returncode == -signal.SIGKILL
    assert holds(target, random_embedding(NUMBERS)) if before else stored(target) is None
    random_embedding(NUMBERS, seed=2).export(target)
    assert holds(target, random_embedding(NUMBERS, seed=2))
    left = {"lancedb": ["vectors.lance"], "qdrant": [".lock", "collection", "meta.json"]}
    kind, _, path = target.partition(":")
    assert kind not in left or sorted(os.listdir(path)) == left[kind]  # noqa: PTH208


@pytest.mark.parametrize(
    "table", ["", "a b", "1a", 'x"; DROP TABLE other; --', "main.vectors", "é", "../a", None, "a\n"]
)
def test_a_name_that_is_not_an_identifier_is_refused(target, table):
    with pytest.raises(ParameterError, match=r"export: table must consist of ASCII letters"):
        random_embedding().export(target, table=table)
    if not target.startswith("postgresql:"):
        assert not os.path.exists(target.partition(":")[2])  # noqa: PTH110


@pytest.mark.parametrize("target", ["", "graph.db", "duckdb:", "sqlite:graph.db", ":"])
def test_an_unknown_store_is_refused_with_the_known_ones(target):
    with pytest.raises(ParameterError) as error:
        random_embedding().export(target)
    assert str(error.value) == (
        "export: target must be postgresql://<host>/<database>, duckdb:<path>, lancedb:<path>, "
        f"qdrant:<path>, faiss:<path> or neo4j:<directory>, got {target!r}."
    )


@pytest.mark.parametrize(("store", "name"), FILES)
def test_a_missing_extra_is_reported(tmp_path, monkeypatch, store, name):
    monkeypatch.setitem(sys.modules, "qdrant_client" if store == "qdrant" else store, None)
    with pytest.raises(MissingExtraError) as error:
        random_embedding().export(f"{store}:{tmp_path / 'store'}")
    assert str(error.value) == (
        f"export to {name} needs the {store} extra: pip install 'hopvec[{store}]'."
    )


@pytest.mark.parametrize("store", [store for store, _ in FILES])
def test_index_is_refused_where_there_is_none(tmp_path, store):
    with pytest.raises(ParameterError, match="index=True is for PostgreSQL, FAISS and Neo4j"):
        random_embedding().export(f"{store}:{tmp_path / 'store'}", index=True)


@pytest.mark.parametrize("store", [store for store, _ in FILES])
def test_a_file_that_is_not_a_store_is_refused_and_unchanged(tmp_path, store):
    path = tmp_path / "notes.txt"
    path.write_text("dear diary, " * 1000)
    with pytest.raises(FormatError) as error:
        random_embedding().export(f"{store}:{path}")
    assert str(error.value).startswith(f"{path}: ")
    assert path.read_text() == "dear diary, " * 1000


@pytest.mark.parametrize("name", ["edges.csv", "edges.json", "edges.parquet", "empty.db"])
def test_a_file_that_duckdb_opens_as_a_view_is_refused_and_unchanged(tmp_path, name):
    path = tmp_path / name
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"source": ["a"], "target": ["b"]}), path)
    else:
        path.write_text(
            {".csv": "source,target\na,b\n", ".json": '{"source": "a"}'}.get(path.suffix, "")
        )
    before = path.read_bytes()
    with pytest.raises(FormatError) as error:
        random_embedding().export(f"duckdb:{path}", replace=True)
    assert str(error.value) == (f"{path}: this file is not a DuckDB database. Choose another name.")
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", [":memory:", ":memory:named"])
def test_a_duckdb_database_in_memory_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match=r"^:memory:.* Name a file, such as duckdb:graph\.db\.$"):
        random_embedding().export(f"duckdb:{name}")
    assert not list(tmp_path.iterdir())


def test_duckdb_finds_the_same_neighbors(tmp_path, embedding):
    embedding.export(f"duckdb:{tmp_path / 'graph.db'}")
    query = """
        SELECT other.id, array_cosine_similarity(other.embedding, this.embedding) AS similarity
        FROM vectors AS this, vectors AS other
        WHERE this.id = ? AND other.id <> this.id ORDER BY similarity DESC LIMIT 20
    """
    with duckdb.connect(tmp_path / "graph.db", read_only=True) as connection:
        for id in list(embedding)[:5]:
            found = connection.execute(query, [id]).fetchall()
            expected = embedding.nearest(id, 20)
            assert [row[0] for row in found] == [row[0] for row in expected]
            assert [row[1] for row in found] == pytest.approx(
                [row[1] for row in expected], abs=1e-5
            )


def test_the_duckdb_table_has_simple_types_and_the_metadata_as_comment(tmp_path, embedding):
    embedding.export(f"duckdb:{tmp_path / 'graph.db'}")
    with duckdb.connect(tmp_path / "graph.db", read_only=True) as connection:
        (comment,) = connection.sql("SELECT comment FROM duckdb_tables()").fetchall()[0]
        kinds = [str(kind) for kind in connection.table("vectors").types]
    assert kinds == ["BIGINT" if embedding.ids.type == "int64" else "VARCHAR", "FLOAT[24]"]
    assert json.loads(comment)["parameters"] == embedding.parameters


def nearest_in_lance(table, embedding, id, k, **settings):
    query = table.search(embedding[id], vector_column_name="embedding").distance_type("cosine")
    query = query.nprobes(settings["nprobes"]) if settings else query.bypass_vector_index()
    found = query.limit(k + 1).to_arrow()
    pairs = zip(found["id"].to_pylist(), found["_distance"].to_pylist(), strict=True)
    return [(other, 1 - distance) for other, distance in pairs if other != id]


def test_lancedb_finds_the_same_neighbors(tmp_path, embedding):
    embedding.export(f"lancedb:{tmp_path}")
    table = lancedb.connect(tmp_path).open_table("vectors")
    assert table.list_indices() == []
    for id in list(embedding)[:5]:
        found, expected = nearest_in_lance(table, embedding, id, 20), embedding.nearest(id, 20)
        assert [row[0] for row in found] == [row[0] for row in expected]
        assert [row[1] for row in found] == pytest.approx([row[1] for row in expected], abs=1e-5)
    assert json.loads(table.schema.metadata[b"hopvec"])["parameters"] == embedding.parameters


def test_a_large_lancedb_table_has_an_index(tmp_path, monkeypatch):
    monkeypatch.setattr(lancedb_store, "MIN_INDEXED_ROWS", 20_000)
    embedding = random_embedding(pa.array(np.arange(20_000)), dim=24)
    embedding.export(f"lancedb:{tmp_path}")
    table = lancedb.connect(tmp_path).open_table("vectors")
    (index,) = table.list_indices()
    assert (index.index_type, index.columns) == ("IvfFlat", ["embedding"])
    assert table.index_stats(index.name).distance_type == "cosine"
    for id in range(5):
        found = nearest_in_lance(table, embedding, id, 10, nprobes=10_000)
        assert [row[0] for row in found] == [row[0] for row in embedding.nearest(id, 10)]
