"""Graphs from real databases: PostgreSQL, DuckDB and SQLite, each with the same tests."""

import re
import sqlite3
import subprocess
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hopvec
from graph_arrays import arrays_of, entries_of
from hopvec import (
    FormatError,
    GraphError,
    MemoryLimitError,
    MissingExtraError,
    ParameterError,
    read_graph,
    read_sql,
)
from hopvec.address import parse_address, shown_address
from postgres_server import PASSWORD

pytest.importorskip("adbc_driver_postgresql")
pytest.importorskip("adbc_driver_sqlite")

PEAK = r"""
import pathlib, re, sys
import hopvec
from hopvec.machine import return_freed_memory

def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024

return_freed_memory()  # as the command line does
hopvec.read_sql("SELECT 1 AS source, 2 AS target", sys.argv[2])  # loads the driver
before = peak()
graph = hopvec.read_sql(sys.argv[1], sys.argv[2], memory="30MB")
print(graph.nodes, before, peak())
"""
KINDS = ["postgresql", "duckdb", "sqlite"]
MANY = 1_000_000


class Database:
    """A database with its address and a way to run statements."""

    def __init__(self, kind, address, run):
        self.kind, self.address, self.run = kind, address, run

    @property
    def shown(self):
        return shown_address(self.address)

    def create(self, names, *rows):
        """Create the table edges; rows are SQL."""
        others = (f"SELECT {row}" for row in rows[1:])
        values = [value.strip() for value in rows[0].split(",")]
        named = ", ".join(f"{v} AS {n}" for v, n in zip(values, names.split(), strict=True))
        self.run(f"CREATE TABLE edges AS {' UNION ALL '.join([f'SELECT {named}', *others])}")
        return self

    def read(self, query="SELECT * FROM edges", **keywords):
        return read_sql(query, self.address, **keywords)

    def refusal(self, query="SELECT * FROM edges", error=FormatError, **keywords):
        """The message, after the address."""
        with pytest.raises(error) as raised:
            self.read(query, **keywords)
        message = str(raised.value)
        assert PASSWORD not in message
        assert message.startswith(self.shown)
        return message.removeprefix(self.shown)


@pytest.fixture(params=KINDS)
def database(request, tmp_path):
    path = tmp_path / "graph.db"
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        schema = request.getfixturevalue("schema")
        address = server.uri(schema=schema)
        return Database("postgresql", address, lambda sql: server.run(sql, schema=schema))

    def run(sql):
        connect = duckdb.connect if request.param == "duckdb" else sqlite3.connect
        connection = connect(path)
        connection.execute(sql)
        connection.commit()
        connection.close()

    run("CREATE TABLE unused (source integer, target integer)")
    return Database(request.param, f"{request.param}:{path}", run)


def test_columns_are_detected_by_name_and_type(database):
    database.create("weight target at source", "2.5, 'b', 'x', 'a'", "0.5, 'c', 'x', 'b'")
    graph = database.read()
    assert entries_of(graph) == {("a", "b"): 2.5, ("b", "a"): 2.5, ("b", "c"): 0.5, ("c", "b"): 0.5}
    assert graph.origin["columns"] == {"source": "source", "target": "target", "weight": "weight"}
    assert graph.origin["ignored"] == ["at"]
    assert graph.origin["file"] == database.shown
    assert graph.origin["query"] == "SELECT * FROM edges"


def test_columns_can_be_chosen_and_weights_ignored(database):
    database.create("a b c w", "1, 2, 3, 7", "2, 3, 1, 7")
    graph = database.read(source="b", target=3, unweighted=True, directed=True)
    assert entries_of(graph) == {(2, 3): 1, (3, 1): 1}
    assert entries_of(database.read(source="a", target="b", weight="w"))[1, 2] == 7


@pytest.mark.parametrize("end", [";", " ; \n", " -- a comment", "\n-- a comment;\n"])
def test_a_query_may_end_with_a_semicolon_or_a_comment(database, end):
    database.create("source target", "1, 2")
    assert database.read(f"SELECT source, target FROM edges{end}").edges == 1


def test_options_are_those_of_files(database, tmp_path):
    database.create("source target", "'u', 'i'", "'u', 'i'", "'u', 'j'", "'v', 'j'")
    assert entries_of(database.read(directed=True))["u", "i"] == 2
    assert entries_of(database.read(duplicates="first"))["u", "i"] == 1
    assert database.read(nodes=["z"]).nodes == 5
    assert database.read(bipartite=True, prefixes=("a:", "b:")).describe()["sides"] == {
        "sources": 2,
        "targets": 2,
    }
    assert "'u'" in database.refusal(error=GraphError, duplicates="error")
    assert database.read(memory="1GB", spill_dir=tmp_path, threads=1).edges == 3


def test_a_memory_limit_that_is_too_small_is_an_error(database):
    database.create("source target", "1, 2")
    numbers = {
        "postgresql": "SELECT i AS source, i + 1 AS target FROM generate_series(1, 300000) AS g(i)",
        "duckdb": "SELECT range AS source, range + 1 AS target FROM range(300000)",
        "sqlite": "WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 300000)"
        " SELECT i AS source, i + 1 AS target FROM g",
    }
    text = database.refusal(numbers[database.kind], MemoryLimitError, memory="12MB")
    assert "the memory limit is 12 MB" in text


def test_bad_rows_can_be_skipped(database):
    database.create("source target", "1, 2", "2, NULL", "3, 1")
    graph = database.read(bad_rows="skip")
    assert entries_of(graph) == {(1, 2): 1, (2, 1): 1, (1, 3): 1, (3, 1): 1}
    assert "row 2" in str(graph.origin)


def test_progress_counts_rows(database):
    database.create("source target", "1, 2", "2, 3")
    calls = []
    database.read(progress=lambda *call: calls.append(call))
    assert calls == [(2, 0)]


REFUSALS = {
    "no such table": ("SELECT * FROM nowhere", r": the query failed \(.*nowhere.*\)\."),
    "no SQL": ("CHOOSE 1", r": the query failed \(.*syntax error.*\)\."),
    "one column": (
        "SELECT source FROM edges",
        r": an edge needs two columns, found 1 \(source\)\.",
    ),
    "writes": ("DELETE FROM edges", r": (the query failed|an edge needs two columns).*"),
    "no weights": (
        "SELECT source, target, 'heavy' AS weight FROM edges",
        r".*the column 'weight' holds \w+, but weights are numbers\. .*",
    ),
    "fractions": (
        "SELECT source / 2.0 AS source, target FROM edges",
        r", row 1: the id 0\.5 is a fraction; ids are integers or strings\.",
    ),
    "unknown column": (
        "SELECT source, target FROM edges",
        r".*there is no column 'to'.*",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_not_a_graph_is_refused_in_one_line(database, name):
    database.create("source target", "1, 2", "2, 3")
    query, expected = REFUSALS[name]
    more = {"target": "to"} if name == "unknown column" else {}
    if name == "fractions" and database.kind == "duckdb":
        query = query.replace("2.0", "2.0::double")
    text = database.refusal(query, **more)
    assert re.fullmatch(expected, text), text
    assert database.read().edges == 2  # nothing was deleted


def test_an_empty_result_is_an_empty_graph(database):
    database.create("source target", "1, 2")
    text = database.refusal("SELECT * FROM edges WHERE source > 5", GraphError)
    assert text == ": the graph is empty: there are no edges in it."


def test_missing_ids_and_invalid_weights_are_found_by_row(database):
    database.create("source target", "1, 2", "2, NULL", "3, 1")
    assert database.refusal(error=GraphError).startswith(", row 2: the target is empty.")
    query = "SELECT source, 9 AS target, CASE source WHEN 2 THEN -1.5 ELSE 1.5 END AS weight FROM "
    text = database.refusal(f"{query} edges ORDER BY source", GraphError)
    assert text.startswith(", row 2 (2 - 9): ")


@pytest.mark.parametrize("query", ["", " ;\n", None, 7])
def test_a_query_is_a_string(query):
    with pytest.raises(ParameterError, match="read_sql: query must be SQL, such as"):
        read_sql(query, "sqlite:graph.db")


def test_options_of_text_do_not_apply(database):
    with pytest.raises(TypeError, match=r"read_sql\(\) has no argument 'header'"):
        database.read(header=True)
    options = hopvec.ReadOptions(separator=",")
    assert "separator= does not apply to the format SQL" in database.refusal(options=options)
    options = hopvec.ReadOptions(format="csv")
    assert "format= does not apply to a database" in database.refusal(options=options)


def test_read_graph_names_read_sql(database):
    with pytest.raises(FormatError, match=r"this is a database\. Read it with read_sql") as error:
        read_graph(database.address)
    assert PASSWORD not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "module", "extra"),
    [
        ("postgresql://host/db", "adbc_driver_postgresql.dbapi", "postgres"),
        ("sqlite:", "adbc_driver_sqlite.dbapi", "sqlite"),
        ("duckdb:", "duckdb", "duckdb"),
    ],
)
def test_a_missing_driver_is_reported(tmp_path, monkeypatch, kind, module, extra):
    (tmp_path / "graph.db").touch()
    monkeypatch.setitem(sys.modules, module, None)
    address = f"{kind}{tmp_path / 'graph.db'}" if kind.endswith(":") else kind
    with pytest.raises(MissingExtraError, match=f"needs the {extra} extra: pip install"):
        read_sql("SELECT 1", address)


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_file_must_exist_and_be_a_database(tmp_path, kind):
    with pytest.raises(FormatError, match="there is no such file"):
        read_sql("SELECT 1", f"{kind}:{tmp_path / 'no.db'}")
    (tmp_path / "notes.txt").write_text("dear diary, " * 1000)
    with pytest.raises(FormatError, match=re.escape(f"{kind}:{tmp_path / 'notes.txt'}: the query")):
        read_sql("SELECT a, b FROM c", f"{kind}:{tmp_path / 'notes.txt'}")


def test_duckdb_in_memory_reads_files(tmp_path):
    pq.write_table(pa.table({"source": [1, 2], "target": [2, 3]}), tmp_path / "edges.parquet")
    query = f"SELECT source, target FROM '{tmp_path / 'edges.parquet'}'"
    assert read_sql(query, "duckdb::memory:").edges == 2


class TestSqlite:
    """SQLite has no types of columns, so its driver infers them from the first rows."""

    ROWS = 200_000  # more than the first batch

    def database(self, tmp_path, last):
        connection = sqlite3.connect(tmp_path / "graph.db")
        connection.execute("CREATE TABLE edges (source, target, weight)")
        rows = ((i, i + 1, 1) for i in range(self.ROWS))
        connection.executemany("INSERT INTO edges VALUES (?, ?, ?)", rows)
        connection.execute("INSERT INTO edges VALUES (?, ?, ?)", last)
        connection.commit()
        connection.close()
        return f"sqlite:{tmp_path / 'graph.db'}"

    def test_weights_may_be_integers_first_and_fractions_later(self, tmp_path):
        graph = read_sql("SELECT * FROM edges", self.database(tmp_path, (0, 5, 0.5)))
        assert graph.edges == self.ROWS + 1
        assert graph.weights.min() == 0.5

    @pytest.mark.parametrize("last", [("x", 5, 1), (0, 5, "heavy")])
    def test_values_of_another_type_are_refused(self, tmp_path, last):
        with pytest.raises(FormatError, match=r"a column has values of several types after row 1"):
            read_sql("SELECT * FROM edges", self.database(tmp_path, last))


class TestPostgres:
    def test_numbers_uuids_and_enums_are_read(self, postgres, schema):
        uuid = "00000000-0000-0000-0000-00000000000"
        postgres.run(
            "CREATE TABLE edges (source uuid, target uuid, weight numeric(8, 2), at timestamptz)",
            f"INSERT INTO edges VALUES ('{uuid}1', '{uuid}2', 1.25, now())",
            schema=schema,
        )
        graph = read_sql("SELECT * FROM edges", postgres.uri(schema=schema))
        assert entries_of(graph) == {
            (f"{uuid}1", f"{uuid}2"): 1.25,
            (f"{uuid}2", f"{uuid}1"): 1.25,
        }
        query = "SELECT 'a'::varchar(3) AS source, 'b'::name AS target, sum(3) AS weight"
        assert entries_of(read_sql(query, postgres.uri()))["a", "b"] == 3

    def test_a_million_edges_are_those_of_a_file(self, postgres, schema, tmp_path):
        columns = (
            "(i * 7919) % 100003 AS source, (i * 104729) % 99991 AS target, i % 5 + 1 AS weight"
        )
        numbers = np.arange(1, MANY + 1)
        query = f"SELECT {columns} FROM generate_series(1, {MANY}::bigint) AS g(i)"
        table = {
            "source": numbers * 7919 % 100003,
            "target": numbers * 104729 % 99991,
            "weight": numbers % 5 + 1,
        }
        pq.write_table(pa.table(table), tmp_path / "edges.parquet")
        options = {"directed": True, "loops": "drop", "memory": "64MB"}
        found = read_sql(query, postgres.uri(), **options)
        assert arrays_of(found) == arrays_of(read_graph(tmp_path / "edges.parquet", **options))

    @pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
    def test_a_result_larger_than_the_memory_limit_is_read_within_it(self, postgres):
        columns = "i % 1000 AS source, i * 7919 % 997 AS target, (i % 5 + 1)::float8 AS weight"
        query = f"SELECT {columns} FROM generate_series(1, 4000000::bigint) AS g(i)"  # 96 MB
        done = subprocess.run(
            [sys.executable, "-c", PEAK, query, postgres.uri()], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        nodes, before, peak = map(int, done.stdout.split())
        assert nodes == 1000
        assert peak - before <= 1.1 * 30e6 + 45e6, (before, peak)  # as for files

    def test_the_query_cannot_write(self, postgres, schema):
        postgres.run("CREATE TABLE edges AS SELECT 1 AS source, 2 AS target", schema=schema)
        postgres.run("CREATE SEQUENCE numbers", schema=schema)
        address, delete = postgres.uri(schema=schema), "DELETE FROM edges RETURNING source, target"
        for query in (delete, f"WITH gone AS ({delete}) SELECT * FROM gone"):
            with pytest.raises(FormatError, match="the query failed"):
                read_sql(query, address)
        with pytest.raises(FormatError, match=r"cannot execute nextval\(\) in a read-only"):
            read_sql("SELECT nextval('numbers') AS source, 2 AS target", address)
        assert read_sql("SELECT * FROM edges", address).edges == 1

    def test_a_failure_after_some_rows_is_reported(self, postgres):
        query = (
            "SELECT i AS source, 1 / (400000 - i) AS target FROM generate_series(1, 500000) g(i)"
        )
        with pytest.raises(FormatError, match=r"the query failed( after row [\d,]+)? \(.*by zero"):
            read_sql(query, postgres.uri())

    def test_a_table_without_permission_is_refused(self, postgres, schema):
        postgres.run(
            "CREATE TABLE edges AS SELECT 1 AS source, 2 AS target",
            f"CREATE ROLE reader_{schema} LOGIN PASSWORD 'his-secret'",
            f"GRANT USAGE ON SCHEMA {schema} TO reader_{schema}",
            schema=schema,
        )
        address = postgres.uri(user=f"reader_{schema}", password="his-secret", schema=schema)
        try:
            with pytest.raises(FormatError) as error:
                read_sql("SELECT * FROM edges", address)
        finally:
            postgres.run(f"DROP OWNED BY reader_{schema}", f"DROP ROLE reader_{schema}")
        assert str(error.value) == (
            f"{shown_address(address)}: you do not have permission to read this "
            "(permission denied for table edges)."
        )

    def test_credentials_come_from_the_environment(self, postgres, monkeypatch, tmp_path):
        query = "SELECT 1 AS source, 2 AS target"
        address = postgres.uri(user=None)
        monkeypatch.setenv("PGUSER", "postgres")
        monkeypatch.setenv("PGPASSWORD", PASSWORD)
        assert read_sql(query, address).edges == 1
        monkeypatch.delenv("PGPASSWORD")
        (tmp_path / "pgpass").write_text(f"*:*:*:postgres:{PASSWORD}\n")
        (tmp_path / "pgpass").chmod(0o600)
        monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
        assert read_sql(query, address).edges == 1
        (tmp_path / "services").write_text(f"[mine]\nhost={postgres.directory}\ndbname=postgres\n")
        monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
        graph = read_sql(query, "postgresql:///?service=mine")
        assert graph.origin["file"] == "postgresql:///?service=mine"

    @pytest.mark.parametrize(
        ("address", "reason"),
        [
            ("postgresql://me:{}@127.0.0.1:1/db", "Connection refused"),
            ("postgresql://me:{}@nowhere.invalid/db", "nowhere.invalid"),
            ("postgresql://me:{}@localhost/db?port=x", "port"),
            ("postgresql://localhost/db?user=me&password={}&port=1", "Connection refused"),
        ],
    )
    def test_a_server_that_cannot_be_reached_is_reported_in_one_line(self, address, reason):
        with pytest.raises(FormatError) as error:
            read_sql("SELECT 1", address.format(PASSWORD))
        message = str(error.value)
        assert re.fullmatch(r"postgresql://\S+: cannot connect to PostgreSQL \(.*\)\.", message)
        assert reason in message
        assert PASSWORD not in message
        assert error.value.__cause__ is None

    def test_a_wrong_password_is_not_shown(self, postgres):
        with pytest.raises(FormatError) as error:
            read_sql("SELECT 1", postgres.uri(user="anna", password="wrong/secret@"))
        assert "password authentication failed for this user" in str(error.value)
        assert not re.search("wrong|secret|anna", str(error.value).replace(str(postgres.uri()), ""))


class TestAddress:
    @pytest.mark.parametrize(
        ("address", "shown"),
        [
            ("postgresql://me:secret@host:5432/graph", "postgresql://host:5432/graph"),
            ("postgres://secret@host/graph", "postgresql://host/graph"),
            ("postgresql://a:secret@one:1,two:2/graph", "postgresql://one:1,two:2/graph"),
            ("postgresql:///g?password=secret&host=/run", "postgresql:///g?host=/run"),
            ("postgresql://h/g?sslpassword=secret", "postgresql://h/g"),
            ("POSTGRESQL://me:secret@host/graph", "postgresql://host/graph"),
            ("duckdb:graph.db", "duckdb:graph.db"),
        ],
    )
    def test_credentials_are_not_shown(self, address, shown):
        assert parse_address(address).shown == shown
        assert "secret" not in repr(parse_address(address))

    @pytest.mark.parametrize(
        "address",
        [
            "postgresql://me:sec/ret@host/graph",
            "postgresql://me:sec@ret@host/graph",
            "postgresql://me:sec?ret@host/graph",
            "postgresql://me:sec%zzret@host/graph",
            "postgresql:me:secret@host",
            "postgresql:host=a password=secret",
            "mysql://me:secret@host/graph",
            "",
        ],
    )
    def test_an_invalid_address_is_refused_without_repeating_it(self, address):
        with pytest.raises(FormatError) as error:
            read_sql("SELECT 1", address)
        assert "ret" not in str(error.value)
        assert "sec" not in str(error.value)

    @pytest.mark.parametrize(
        "use",
        [
            hopvec.load,
            hopvec.read_labels,
            hopvec.read_graph,
            hopvec.evaluate.read_links,
            hopvec.datasets.load,
            hopvec.FastRP(dim=4).embed,
            hopvec.tune,
            lambda address: hopvec.FastRP(dim=4).embed([(1, 2)]).save(address),
            lambda address: hopvec.FastRP(dim=4).embed([(1, 2)]).save(f"{address}.parquet"),
            lambda address: hopvec.FastRP(dim=4).embed([(1, 2)], features=address),
        ],
    )
    def test_an_address_in_place_of_a_file_is_refused_without_credentials(self, use):
        with pytest.raises(hopvec.HopvecError) as error:
            use("postgresql://anna:pass-phrase@host/graph")
        assert not re.search("anna|phrase", str(error.value) + repr(error.value))

    def test_a_database_is_not_a_file_of_vectors(self):
        with pytest.raises(FormatError, match="this is a database, not a file of vectors"):
            hopvec.load("postgresql://host/graph")

    def test_the_query_in_the_origin_has_no_passwords(self, tmp_path):
        query = "SELECT 1 AS source, 2 AS target, 'postgresql://me:secret@host/db' AS password"
        origin = read_sql(query, "duckdb::memory:").origin
        assert origin["query"] == (
            "SELECT 1 AS source, 2 AS target, 'postgresql://host/db' AS password"
        )
