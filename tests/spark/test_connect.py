"""Spark Connect: a client without a SparkContext, in a process of its own, on two executors."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hopvec import FastRP, Graph, load

CLIENT = """
import sys
from pyspark.sql import SparkSession
from hopvec import FastRP, ParameterError
from hopvec.spark import embed, estimate

url, directory, strategy = sys.argv[1:]
session = SparkSession.builder.remote(url).getOrCreate()
edges = session.read.parquet(f"{directory}/edges")
method = FastRP(dim=16, seed=3, passes=2, weights=(1, 1), refine_weights=(0, 1))
print(estimate(edges, method=method).cluster.workers, "workers")
try:
    embed(edges, method=method, spill_dir=f"{directory}/spill")
except ParameterError as error:
    print(error)
output = f"{directory}/{strategy}"
vectors = embed(
    edges, method=method, spill_dir=f"{directory}/spill", strategy=strategy, output=output
)
print(vectors.count(), "vectors", flush=True)
"""


@pytest.mark.parametrize("strategy", ["columns", "blocks"])
def test_a_client_of_spark_connect_gets_the_vectors_of_one_machine(spark, tmp_path, strategy):
    random = np.random.default_rng(6)
    table = pa.table({"src": random.integers(0, 300, 900), "dst": random.integers(0, 300, 900)})
    (tmp_path / "edges").mkdir()
    pq.write_table(table, tmp_path / "edges" / "part.parquet")
    port = spark.conf.get("spark.connect.grpc.binding.port")
    command = [sys.executable, "-W", "ignore", "-c", CLIENT, f"sc://localhost:{port}"]
    done = subprocess.run(
        [*command, str(tmp_path), strategy], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    expected = FastRP(dim=16, seed=3, passes=2, weights=(1, 1), refine_weights=(0, 1)).embed(
        Graph.from_arrow(table)
    )
    assert "2 workers" in done.stdout
    assert "Set output=" in done.stdout
    assert f"{len(expected)} vectors" in done.stdout
    found = load(tmp_path / strategy)
    order = [found.ids.to_pylist().index(node) for node in expected.ids.to_pylist()]
    if strategy == "columns":
        assert found.vectors[order].tobytes() == expected.vectors.tobytes()
    else:
        assert np.linalg.norm(found.vectors[order] - expected.vectors, axis=1).max() < 1e-4
    assert list((tmp_path / "spill").iterdir()) == []  # nothing is left behind


TIMED_CLIENT = """
import sys
from pyspark.sql import SparkSession
from hopvec import FastRP
from hopvec.spark import embed

url, directory, strategy = sys.argv[1:]
session = SparkSession.builder.remote(url).getOrCreate()
embed(
    session.read.parquet(f"{directory}/edges"),
    time="when",
    half_life="20d",
    nodes=session.createDataFrame([("7", "hub")], "id string, kind string"),
    node_type="kind",
    method=FastRP(dim=16, seed=3, passes=1, beta=1.0, weights=(0, 1, 1)),
    spill_dir=f"{directory}/spill",
    strategy=strategy,
    output=f"{directory}/{strategy}",
)
"""


@pytest.mark.parametrize("strategy", ["columns", "blocks"])
def test_a_client_can_use_times_and_types_and_is_warned_of_zero_vectors(
    spark, tmp_path, strategy, caplog
):
    source, target = np.random.default_rng(1).integers(0, 500, (2, 900))
    columns = {"src": pa.array(source).cast(pa.string()), "dst": pa.array(target).cast(pa.string())}
    when = pa.array(np.datetime64("2024-01-01") + np.arange(900) // 90)
    weight = np.where(source < 250, 1e30, 1e-30)
    table = pa.table({**columns, "weight": weight, "when": when})
    (tmp_path / "edges").mkdir()
    pq.write_table(table, tmp_path / "edges" / "part.parquet")
    port = spark.conf.get("spark.connect.grpc.binding.port")
    command = [sys.executable, "-W", "ignore", "-c", TIMED_CLIENT, f"sc://localhost:{port}"]
    done = subprocess.run(
        [*command, str(tmp_path), strategy], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    graph = Graph.from_arrow(table, time="when", half_life="20d")
    expected = FastRP(dim=16, seed=3, passes=1, beta=1.0, weights=(0, 1, 1)).embed(graph)
    isolated, connected = [record.getMessage() for record in caplog.records]
    assert "although they have edges" in connected
    assert isolated in done.stderr
    assert connected in done.stderr
    found = load(tmp_path / strategy)
    assert dict(zip(found, found.types.to_pylist(), strict=True))["7"] == "hub"
    np.testing.assert_allclose(found[expected.ids], expected.vectors, atol=1e-4)
