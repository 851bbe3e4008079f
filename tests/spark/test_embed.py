"""Runs on two executors: the vectors equal those of one machine, even if an executor dies."""

import contextlib
import json
import os
import signal
import time
from threading import Thread

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import oracle
from hopvec import FastRP, Graph
from hopvec.cli.program import hopvec
from hopvec.spark import Cluster, embed, estimate
from hopvec.spark.estimate import RunSize
from hopvec.spark.session import cores_of_executor
from hopvec.spark.tables import Tables
from one_pass import one_pass
from reference import sparse_rows
from spark_executors import executors, kill_an_executor
from spark_stages import last_stage, shuffled_bytes

WEIGHTED = one_pass(dim=40, seed=7, beta=-0.5, weights=(1, 0, 2), normalize="none")
NORMALIZED = one_pass(dim=24, seed=3, weights=(0, 1, 1), self_weight=0.5, sparsity=3)
FEATURED = one_pass(dim=20, seed=5, weights=(0, 1), self_weight=0.5, feature_weight=3)


def string_edges(nodes=1500, edges=6000):
    """Edges of a skewed graph with strings as ids, with duplicates and loops; isolated nodes."""
    rng = np.random.default_rng(1)
    ends = (nodes * rng.random((2, edges)) ** [[2], [1]]).astype(int)
    ends[1, :20] = ends[0, :20]
    ends[:, 20:60] = ends[:, 60:100]
    ids = np.array([f"héllo-{number}" for number in range(nodes)])
    table = pa.table({"src": ids[ends[0]], "dst": ids[ends[1]]})
    return table, [f"alone-{number}" for number in range(50)]


def integer_edges(nodes=5000, edges=30000):
    """Weighted edges with integers as ids; duplicates differ by 20 orders of magnitude."""
    rng = np.random.default_rng(2)
    ends = (nodes * rng.random((2, edges)) ** [[1], [3]]).astype(np.int32) - 100
    weight = np.exp(46 * (rng.random(edges) - 0.5))
    weight[::50] = 0.0
    return pa.table({"from": ends[0], "to": ends[1], "weight": weight})


def feature_rows(ids):
    """Features of nine in ten ids: all kinds of columns, with gaps; and one row of no node."""
    rng, ids = np.random.default_rng(3), [*(some for at, some in enumerate(ids) if at % 10), -777]
    ids = [str(ids[at]) for at in rng.permutation(len(ids))]

    def gaps(values):
        return pa.array(values, mask=rng.random(len(ids)) < 0.2)

    return pa.table(
        {
            "node": ids,
            "a.size": gaps(np.exp(9 * rng.random(len(ids)))),
            "flag": gaps(rng.random(len(ids)) < 0.3),
            "vector": gaps(list(rng.normal(1000, 1, (len(ids), 2)).astype(np.float32))),
            "city": gaps(np.array(["Köln", "Ulm", ""])[rng.integers(0, 3, len(ids))]),
            "year": rng.integers(1950, 2020, len(ids)),
        }
    )


def vectors(frame):
    """Ids and vectors of a DataFrame or a table, sorted by id."""
    table = (frame if isinstance(frame, pa.Table) else frame.toArrow()).sort_by("id")
    assert table.schema.field("embedding").type.value_type == pa.float32()
    rows = table["embedding"].combine_chunks().flatten().to_numpy()
    return table["id"].to_pylist(), rows.reshape(len(table), -1)


def one_machine(graph, method):
    """Ids and vectors of one machine, sorted by id."""
    made = method.embed(graph)
    order = np.argsort(np.array(made.ids.to_pylist()))
    return [made.ids[int(at)].as_py() for at in order], made.vectors[order]


def max_relative_error(found, expected):
    """The largest distance of a row from the expected one, relative to its length."""
    length = np.linalg.norm(expected, axis=1)
    return np.max(np.linalg.norm(found - expected, axis=1) / np.where(length > 0, length, 1))


@pytest.fixture(scope="module")
def string_graph(spark):
    table, isolated = string_edges()
    nodes = sorted(set(table["src"].to_pylist()) | set(table["dst"].to_pylist())) + isolated
    isolated_frame = spark.createDataFrame(pa.table({"id": isolated}))
    graph = Graph.from_arrow(table, nodes=nodes)
    return spark.createDataFrame(table), isolated_frame, one_machine(graph, NORMALIZED)


@pytest.fixture(scope="module")
def integer_graph(spark):
    graph = Graph.from_arrow(integer_edges(), directed=True)
    return spark.createDataFrame(integer_edges()), graph, one_machine(graph, WEIGHTED)


@pytest.mark.parametrize(("strategy", "stage"), [("columns", 4), ("blocks", 7)])
def test_string_ids_give_the_vectors_of_one_machine_even_if_an_executor_is_killed(
    spark, string_graph, strategy, stage
):
    edges, isolated, (ids, expected) = string_graph
    killer, killed = None, []

    def progress(done, total):
        nonlocal killer
        if done == stage and killer is None:  # before the norms of "columns", or hop 3 of "blocks"
            killer = Thread(target=kill_an_executor, args=(spark.sparkContext, killed))
            killer.start()

    limit = {"memory": None if strategy == "columns" else 100_000}
    method = one_pass(**NORMALIZED.get_params() | limit)
    found_ids, found = vectors(embed(edges, nodes=isolated, method=method, progress=progress))
    killer.join()
    assert len(killed) == 1
    assert found_ids == ids
    assert len(ids) == 1550
    if strategy == "columns":
        assert np.array_equal(found, expected)
    else:
        assert max_relative_error(found, expected) < 1e-5
    assert max_relative_error(found, oracle_vectors(ids)) < 1e-4


def test_an_executor_has_the_same_cores_while_another_one_is_being_replaced(spark):
    # its parallelism is 2 even then, and tasks of two cores would wait forever
    os.kill(executors(spark.sparkContext)[0], signal.SIGKILL)
    status, deadline = spark.sparkContext._jsc.sc(), time.monotonic() + 60
    while status.getExecutorMemoryStatus().size() > 2 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert Cluster.from_session(spark, memory=10**9).cores == 1


@pytest.mark.parametrize(
    ("master", "configured", "cores"),
    [
        ("yarn", None, 1),
        ("yarn", "4", 4),
        ("k8s://https://host", None, 1),
        ("local-cluster[2,3,1024]", None, 3),
        ("spark://host:7077", None, 8),
    ],
)
def test_a_client_knows_the_cores_of_an_executor(master, configured, cores):
    assert cores_of_executor(master, configured, 8) == cores


def oracle_vectors(ids):
    """The vectors of the string graph by the oracle."""
    graph = Graph.from_arrow(string_edges()[0], nodes=ids)
    keys = np.empty(graph.nodes, np.uint64)
    keys[graph.rows] = graph.keys
    R = np.sqrt(3) * sparse_rows(3, 3.0, keys, 24)  # noqa: N806
    S = graph.to_scipy().toarray()  # noqa: N806
    return oracle.embed(S, R, 24, (0, 1, 1), beta=0.25, self_weight=0.5, normalize="full")


def test_the_command_line_gives_the_bytes_of_one_machine_and_reads_and_writes_as_estimated(
    spark, integer_graph, tmp_path, local_dirs, monkeypatch
):
    edges, graph, (ids, expected) = integer_graph
    edges.write.parquet(str(tmp_path / "edges"))
    before = last_stage(spark)
    monkeypatch.setattr(Tables, "drop", lambda tables, *names: None)
    command = ["embed", str(tmp_path / "edges"), "-o", str(tmp_path / "vectors"), "--directed"]
    command += ["--spark", "local-cluster[2,1,1024]", "--spill-dir", str(tmp_path)]
    command += ["--dim", "40", "--seed", "7", "--passes", "1"]
    command += ["--beta", "-0.5", "--weights", "1,0,2", "--normalize", "none"]
    done = CliRunner().invoke(hopvec, command)
    assert done.exit_code == 0, done.output
    assert "4,999 vectors of dimension 40" in done.stderr
    assert "Parquet, read by Spark on local-cluster[2,1,1024]" in done.stderr
    assert "columns: source 'from', target 'to', weight 'weight'" in done.stderr
    found_ids, found = vectors(pq.read_table(tmp_path / "vectors"))
    assert found_ids == ids
    assert np.array_equal(found, expected)

    size = RunSize(graph.nodes, graph.entries, True, WEIGHTED, Cluster(2, 1, 10**9))
    assert size.graph_bytes == 8 * graph.entries + 12 * graph.nodes
    assert size.columns_shuffle() == 2 * size.graph_bytes + 4 * graph.nodes * 48  # whole slabs
    copies = sorted(local_dirs.rglob("hopvec-copy-*/graph"), key=lambda copy: copy.stat().st_mtime)
    copies = [copy for copy in copies if copy.parent.name == copies[-1].parent.name]
    assert 1 <= len(copies) <= 2  # an executor that had no task fetched nothing
    for copy in copies:
        assert sum(file.stat().st_size for file in copy.iterdir()) == size.graph_bytes
    assert sum(file.stat().st_size for file in tmp_path.glob("*/sums/?-*")) == size.vector_bytes
    assert shuffled_bytes(spark, before, "write vectors") <= 16 * graph.nodes  # ids alone

    again = CliRunner().invoke(hopvec, command)
    assert again.exit_code == 2
    assert "exists already" in again.stderr

    command = [*command[:2], "-o", str(tmp_path / "again"), *command[4:9]]
    done = CliRunner().invoke(hopvec, [*command, "--like", str(tmp_path / "vectors")])
    assert done.exit_code == 0, done.output
    assert np.array_equal(vectors(pq.read_table(tmp_path / "again"))[1], expected)


def test_blocks_of_directed_weights_give_the_vectors_of_one_machine_and_shuffle_as_estimated(
    spark, integer_graph
):
    edges, graph, (ids, expected) = integer_graph
    before = last_stage(spark)
    method = one_pass(**WEIGHTED.get_params() | {"memory": 300_000})
    found_ids, found = vectors(embed(edges, directed=True, method=method))
    assert found_ids == ids
    assert max_relative_error(found, expected) < 1e-5
    size = RunSize(graph.nodes, graph.entries, True, WEIGHTED, Cluster(2, 1, 300_000))
    blocks = size.estimate_blocks("").blocks
    assert blocks > 2
    shuffled = shuffled_bytes(spark, before, "hop 2")
    assert blocks * size.vector_bytes <= shuffled <= 1.05 * size.hop_shuffle(blocks)
    assert size.hop_shuffle(blocks) <= (blocks + 3) * size.vector_bytes


def test_the_command_line_with_features_gives_the_bytes_of_one_machine(integer_graph, tmp_path):
    ids = [*integer_graph[1].ids.to_pylist(), 10**6]
    tables = {
        "edges": integer_edges(),
        "nodes": pa.table({"id": [10**6]}),
        "features": feature_rows(ids),
    }
    for name, table in tables.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    graph = Graph.from_arrow(integer_edges(), directed=True, nodes=ids).with_features(
        feature_rows(ids)
    )
    method = FastRP(**FEATURED.get_params() | {"passes": 2, "spectrum": 0.75})
    expected_ids, expected = one_machine(graph, method)
    command = ["embed", "edges.parquet", "-o", "vectors", "--spark", "local-cluster[2,1,1024]"]
    command += ["--passes", "2", "--report", "run.json"]
    command += ["--directed", "--nodes", "nodes.parquet", "--features", "features.parquet"]
    command += ["--dim", "20", "--seed", "5", "--weights", "0,1", "--self-weight", "0.5"]
    with contextlib.chdir(tmp_path):
        done = CliRunner().invoke(hopvec, [*command, "--feature-weight", "3", "--verbose"])
    assert done.exit_code == 0, done.output
    found_ids, found = vectors(pq.read_table(tmp_path / "vectors"))
    assert found_ids == expected_ids
    assert np.linalg.norm(found[-1]) > 0  # the node without an edge
    assert np.array_equal(found, expected)
    logged = "missing values {:,}, nodes without a row {:,}, rows of no node 1"
    logged = logged.format(graph.features.missing, graph.features.without_row)
    assert logged in " ".join(done.stderr.split())
    report = json.loads((tmp_path / "run.json").read_text())
    assert report["graph"].items() <= graph.describe().items()
    assert report["parameters"]["passes"] == 2
    assert report["input"]["columns"] == {"source": "from", "target": "to", "weight": "weight"}
    assert report["output"] == {"file": "vectors", "vectors": len(ids), "dim": 20}
    assert "a worker can hold the graph" in report["plan"]
    named = [stage["name"] for stage in report["stages"]]
    assert named[-6:] == [
        *("sum orders of pass 1", "whiten pass 1", "row norms", "sum orders"),
        *("principal components", "write vectors"),
    ]


def test_blocks_with_features_give_the_vectors_of_one_machine(spark, string_graph):
    edges, isolated, (ids, _) = string_graph
    method = one_pass(**FEATURED.get_params() | {"normalize": "none"})
    graph = Graph.from_arrow(string_edges()[0], nodes=ids).with_features(feature_rows(ids))
    features = spark.createDataFrame(feature_rows(ids).rename_columns({"node": "who"}))
    columns = {"features": features, "features_id": "who"}
    found_ids, found = vectors(
        embed(edges, nodes=isolated, method=method, **columns, strategy="blocks")
    )
    assert found_ids == ids
    assert max_relative_error(found, one_machine(graph, method)[1]) < 1e-5


def test_an_estimate_counts_nodes_and_entries_of_a_frame(integer_graph):
    edges, graph, _ = integer_graph
    found = estimate(edges, directed=True, method=WEIGHTED)
    assert abs(found.nodes - graph.nodes) < 0.05 * graph.nodes
    assert found.entries == 30000
    assert found.strategy == "columns"
    assert found.cluster.workers == 2
    assert "a worker can hold the graph" in str(found)
