"""Edges out of PostgreSQL and vectors into it: python -m benchmarks.postgres.

All ways read the same edges into the same graph, and write the same vectors to a table with a
column of pgvector and a primary key. They alternate, in one process; the server runs beside it, on
a Unix socket. The results are compared before anything is measured.
"""

import argparse
import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import machine
from benchmarks.processes import ROOT, compare, log, results_dir, write
from hopvec import Embedding, Graph, read_sql

sys.path.insert(0, str(ROOT / "tests"))
from postgres_server import Server, started

PACKAGES = ("psycopg", "adbc-driver-postgresql", "pgvector", "sqlalchemy")
DIM = 128
QUERY = "SELECT source, target, weight FROM edges"
TYPES = ("int8", "int8", "float8")
Way = Callable[[], Any]


def main() -> int:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only postgres")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rows, one round")
    parser.add_argument("--repeats", type=int, help="rounds (default: 5, or 1 if quick)")
    parser.add_argument("--edges", type=int, default=1_000_000, help="rows to read")
    parser.add_argument("--vectors", type=int, default=63_436, help="rows to write")
    args = parser.parse_args()
    if args.quick:
        args.edges, args.vectors = args.edges // 20, args.vectors // 20
    args.repeats = args.repeats or (1 if args.quick else 5)
    described = machine.describe()
    described["packages"] |= {name: machine.version(name) for name in PACKAGES}
    with started() as server:
        server.run(
            "CREATE TABLE edges AS SELECT (i * 7919) % 100003 AS source, (i * 104729) % 99991 AS "
            "target, (i % 5 + 1)::float8 AS weight FROM "
            f"generate_series(1, {args.edges}::bigint) AS g(i)",
            "VACUUM ANALYZE edges",
        )
        ((version,),) = server.run("SHOW server_version")
        ((pgvector,),) = server.run("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        results = {
            "machine": described,
            "server": {"PostgreSQL": version, "pgvector": pgvector},
            "protocol": {"rounds": args.repeats, "dim": DIM},
            "read": measured(reading(server), args.edges, args.repeats),
            "write": measured(writing(server, args.vectors), args.vectors, args.repeats),
        }
    results["machine"]["load_after"] = os.getloadavg()[0]
    path = results_dir(args.quick) / "postgres.json"
    write(path, results)
    log(f"{path.relative_to(ROOT)}; python -m benchmarks.render writes the table of the page")
    return 0


def reading(server: Server) -> dict[str, Way]:
    """Ways to read the edges; all but the last one return the graph."""
    import adbc_driver_postgresql.dbapi
    import pandas as pd
    import psycopg
    import sqlalchemy

    uri = server.uri()
    engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(uri))

    def with_pandas() -> Graph:
        with engine.connect() as connection:
            return Graph.from_arrow(pd.read_sql(sqlalchemy.text(QUERY), connection))

    def with_psycopg_rows() -> Graph:
        command = f"COPY ({QUERY}) TO STDOUT (FORMAT binary)"
        with psycopg.connect(uri) as connection, connection.cursor().copy(command) as copy:
            copy.set_types(TYPES)
            columns = zip(*copy.rows(), strict=True)
            return Graph.from_edges(*(np.array(column) for column in columns))

    def with_psycopg_csv() -> Graph:
        from pyarrow import csv

        command, text = f"COPY ({QUERY}) TO STDOUT (FORMAT csv, HEADER)", io.BytesIO()
        with psycopg.connect(uri) as connection, connection.cursor().copy(command) as copy:
            for block in copy:
                text.write(block)
        text.seek(0)
        return Graph.from_arrow(csv.read_csv(text))

    def transfer_only() -> None:
        with (
            adbc_driver_postgresql.dbapi.connect(uri) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(QUERY)
            cursor.fetch_arrow_table()

    ways: dict[str, Way] = {
        "hopvec": lambda: read_sql(QUERY, uri),
        "psycopg COPY, CSV": with_psycopg_csv,
        "psycopg COPY, binary": with_psycopg_rows,
        "pandas read_sql": with_pandas,
    }
    expected = ways["hopvec"]()
    for name, way in ways.items():
        found = way()
        same = found.ids.equals(expected.ids) and np.array_equal(found.indices, expected.indices)
        if not same or not np.array_equal(found.weights, expected.weights):
            sys.exit(f"{name} reads another graph than hopvec")
    return ways | {"transfer only": transfer_only}


def writing(server: Server, rows: int) -> dict[str, Way]:
    """Ways to write the vectors to the table vectors."""
    import pandas as pd
    import psycopg
    import sqlalchemy
    from pgvector.psycopg import register_vector

    uri = server.uri()
    engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(uri))
    numbers = np.random.default_rng(0).standard_normal((rows, DIM), np.float32)
    embedding = Embedding(numbers, pa.array(np.arange(rows)))
    create = f"CREATE TABLE vectors (id bigint, embedding vector({DIM}))"

    def texts() -> list[str]:
        return [str(row) for row in numbers.tolist()]

    def with_psycopg(rows: Iterable[Any], options: str, types: Sequence[str]) -> None:
        with psycopg.connect(uri) as connection:
            register_vector(connection)
            connection.execute("DROP TABLE IF EXISTS vectors")
            connection.execute(create)
            with connection.cursor().copy(f"COPY vectors FROM STDIN {options}") as copy:
                if types:
                    copy.set_types(types)
                for row in enumerate(rows):
                    copy.write_row(row)
            connection.execute("ALTER TABLE vectors ADD PRIMARY KEY (id)")

    def with_pandas() -> None:
        frame = pd.DataFrame({"id": np.arange(rows), "embedding": texts()})
        with engine.begin() as connection:
            frame.to_sql("vectors", connection, if_exists="replace", index=False)
            connection.execute(
                sqlalchemy.text(
                    f"ALTER TABLE vectors ALTER embedding TYPE vector({DIM}) "
                    "USING embedding::vector, ADD PRIMARY KEY (id)"
                )
            )

    ways: dict[str, Way] = {
        "hopvec": lambda: embedding.export(uri, replace=True),
        "psycopg COPY, binary": lambda: with_psycopg(
            numbers, "(FORMAT binary)", ("int8", "vector")
        ),
        "psycopg COPY, text": lambda: with_psycopg(texts(), "", ()),
        "pandas to_sql": with_pandas,
    }
    for name, way in ways.items():
        way()
        found = server.run("SELECT embedding::real[] FROM vectors ORDER BY id LIMIT 1000")
        if not np.array_equal(np.array(found, np.float32)[:, 0], numbers[:1000]):
            sys.exit(f"{name} writes other vectors than hopvec")
    return ways


def measured(ways: dict[str, Way], rows: int, repeats: int) -> dict[str, Any]:
    """The times of every way, and their ratios to those of hopvec."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(repeats):
        for name in ways if number % 2 == 0 else reversed(ways):
            start = time.perf_counter()
            ways[name]()
            seconds[name].append(time.perf_counter() - start)
            log(f"{rows:,} rows, {name}: {seconds[name][-1]:.2f} s")
    ratios = {name: compare(own, seconds["hopvec"]) for name, own in seconds.items()}
    return {"rows": rows, "seconds": seconds, "ratios": ratios}


if __name__ == "__main__":
    sys.exit(main())
