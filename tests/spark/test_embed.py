"""On two executors: the vectors of one machine, whatever happens; and what a run shuffles."""

import contextlib
import os
import signal
import time
from pathlib import Path
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
from hopvec.spark.estimate import Size
from hopvec.spark.tables import Tables
from reference import sparse_rows
from spark_stages import last_stage, stages

WEIGHTED = FastRP(dim=40, seed=7, beta=-0.5, weights=(1, 0, 2), normalize="none")
NORMALIZED = FastRP(dim=24, seed=3, self_weight=0.5, sparsity=3)
FEATURED = FastRP(dim=20, seed=5, weights=(0, 1), self_weight=0.5, feature_weight=3)


def words(nodes=1500, edges=6000):
    """Edges of a skewed graph with texts as ids: some repeated, some loops; and isolated nodes."""
    rng = np.random.default_rng(1)
    ends = (nodes * rng.random((2, edges)) ** [[2], [1]]).astype(int)
    ends[1, :20] = ends[0, :20]
    ends[:, 20:60] = ends[:, 60:100]
    ids = np.array([f"héllo-{number}" for number in range(nodes)])
    table = pa.table({"src": ids[ends[0]], "dst": ids[ends[1]]})
    return table, [f"alone-{number}" for number in range(50)]


def numbers(nodes=5000, edges=30000):
    """Weighted edges with integers as ids; weights of a pair differ by 20 orders of magnitude."""
    rng = np.random.default_rng(2)
    ends = (nodes * rng.random((2, edges)) ** [[1], [3]]).astype(np.int32) - 100
    weight = np.exp(46 * (rng.random(edges) - 0.5))
    weight[::50] = 0.0
    return pa.table({"from": ends[0], "to": ends[1], "weight": weight})


def known(ids):
    """What is known of nine in ten ids: all kinds of columns, with gaps; and a row of no node."""
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
    """Ids and vectors of a DataFrame or a table, in ascending order of the ids."""
    table = (frame if isinstance(frame, pa.Table) else frame.toArrow()).sort_by("id")
    assert table.schema.field("embedding").type.value_type == pa.float32()
    rows = table["embedding"].combine_chunks().flatten().to_numpy()
    return table["id"].to_pylist(), rows.reshape(len(table), -1)


def alone(graph, method):
    """Ids and vectors of one machine, in ascending order of the ids."""
    made = method.embed(graph)
    order = np.argsort(np.array(made.ids.to_pylist()))
    return [made.ids[int(at)].as_py() for at in order], made.vectors[order]


def furthest(found, wanted):
    """The largest distance of a row from where it should be, by its length."""
    length = np.linalg.norm(wanted, axis=1)
    return np.max(np.linalg.norm(found - wanted, axis=1) / np.where(length > 0, length, 1))


@pytest.fixture(scope="module")
def word_graph(spark):
    table, isolated = words()
    nodes = sorted(set(table["src"].to_pylist()) | set(table["dst"].to_pylist())) + isolated
    alone_frame = spark.createDataFrame(pa.table({"id": isolated}))
    graph = Graph.from_arrow(table, nodes=nodes)
    return spark.createDataFrame(table), alone_frame, alone(graph, NORMALIZED)


@pytest.fixture(scope="module")
def number_graph(spark):
    graph = Graph.from_arrow(numbers(), directed=True)
    return spark.createDataFrame(numbers()), graph, alone(graph, WEIGHTED)


@pytest.mark.parametrize(("strategy", "stage"), [("columns", 8), ("blocks", 11)])
def test_texts_have_the_vectors_of_one_machine_though_an_executor_is_killed(
    spark, word_graph, strategy, stage
):
    edges, isolated, (ids, wanted) = word_graph
    killer, killed = None, []

    def progress(done, of):
        nonlocal killer
        if done == stage and killer is None:  # before the norms of "columns", or hop 3 of "blocks"
            killer = Thread(target=kill_an_executor, args=(spark.sparkContext, killed))
            killer.start()

    bound = {"memory": None if strategy == "columns" else 100_000}
    method = FastRP(**NORMALIZED.get_params() | bound)
    found_ids, found = vectors(embed(edges, nodes=isolated, method=method, progress=progress))
    killer.join()
    assert len(killed) == 1
    assert found_ids == ids
    assert len(ids) == 1550
    if strategy == "columns":
        assert np.array_equal(found, wanted)
    else:
        assert furthest(found, wanted) < 1e-5
    assert furthest(found, judged(ids)) < 1e-4


def judged(ids):
    """The vectors of the words by the oracle."""
    graph = Graph.from_arrow(words()[0], nodes=ids)
    keys = np.empty(graph.nodes, np.uint64)
    keys[graph.rows] = graph.keys
    R = np.sqrt(3) * sparse_rows(3, 3.0, keys, 24)  # noqa: N806
    S = graph.to_scipy().toarray()  # noqa: N806
    weights = NORMALIZED.weights
    return oracle.embed(S, R, 24, weights, beta=0.25, self_weight=0.5, normalize="full")


def test_the_command_line_gives_the_bytes_of_one_machine_and_fetches_and_writes_as_foretold(
    spark, number_graph, tmp_path, local_dirs, monkeypatch
):
    edges, graph, (ids, wanted) = number_graph
    edges.write.parquet(str(tmp_path / "edges"))
    before = last_stage(spark)
    monkeypatch.setattr(Tables, "drop", lambda tables, *names: None)
    command = ["embed", str(tmp_path / "edges"), "-o", str(tmp_path / "vectors"), "--directed"]
    command += ["--spark", "local-cluster[2,1,1024]", "--dim", "40", "--seed", "7"]
    command += ["--spill-dir", str(tmp_path)]
    command += ["--beta", "-0.5", "--weights", "1,0,2", "--normalize", "none"]
    done = CliRunner().invoke(hopvec, command)
    assert done.exit_code == 0, done.output
    assert "4,999 vectors of 40 columns" in done.stderr
    found_ids, found = vectors(pq.read_table(tmp_path / "vectors"))
    assert found_ids == ids
    assert np.array_equal(found, wanted)

    size = Size(graph.nodes, graph.entries, True, WEIGHTED, Cluster(2, 1, 10**9))
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
    assert "there is something already" in again.stderr


def test_blocks_of_directed_weights_have_the_vectors_of_one_machine_and_shuffle_as_foretold(
    spark, number_graph
):
    edges, graph, (ids, wanted) = number_graph
    before = last_stage(spark)
    method = FastRP(**WEIGHTED.get_params() | {"memory": 300_000})
    found_ids, found = vectors(embed(edges, directed=True, method=method))
    assert found_ids == ids
    assert furthest(found, wanted) < 1e-5
    size = Size(graph.nodes, graph.entries, True, WEIGHTED, Cluster(2, 1, 300_000))
    blocks = size.blocks("").blocks
    assert blocks > 2
    shuffled = shuffled_bytes(spark, before, "hop 2")
    assert blocks * size.vector_bytes <= shuffled <= 1.05 * size.hop_shuffle(blocks)
    assert size.hop_shuffle(blocks) <= (blocks + 3) * size.vector_bytes


def test_the_command_line_takes_features_and_gives_the_bytes_of_one_machine(number_graph, tmp_path):
    ids = [*number_graph[1].ids.to_pylist(), 10**6]
    tables = {"edges": numbers(), "nodes": pa.table({"id": [10**6]}), "known": known(ids)}
    for name, table in tables.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    graph = Graph.from_arrow(numbers(), directed=True, nodes=ids).with_features(known(ids))
    wanted_ids, wanted = alone(graph, FEATURED)
    command = ["embed", "edges.parquet", "-o", "vectors", "--spark", "local-cluster[2,1,1024]"]
    command += ["--directed", "--nodes", "nodes.parquet", "--features", "known.parquet"]
    command += ["--dim", "20", "--seed", "5", "--weights", "0,1", "--self-weight", "0.5"]
    with contextlib.chdir(tmp_path):
        done = CliRunner().invoke(hopvec, [*command, "--feature-weight", "3", "--verbose"])
    assert done.exit_code == 0, done.output
    found_ids, found = vectors(pq.read_table(tmp_path / "vectors"))
    assert found_ids == wanted_ids
    assert np.linalg.norm(found[-1]) > 0  # the node without an edge
    assert np.array_equal(found, wanted)
    told = "missing values {:,}, nodes without a row {:,}, rows of no node 1"
    told = told.format(graph.features.missing, graph.features.without_row)
    assert told in " ".join(done.stderr.split())


def test_blocks_take_features_and_have_the_vectors_of_one_machine(spark, word_graph):
    edges, isolated, (ids, _) = word_graph
    method = FastRP(**FEATURED.get_params() | {"normalize": "none"})
    graph = Graph.from_arrow(words()[0], nodes=ids).with_features(known(ids))
    features = spark.createDataFrame(known(ids).rename_columns({"node": "who"}))
    columns = {"features": features, "features_id": "who"}
    found_ids, found = vectors(
        embed(edges, nodes=isolated, method=method, **columns, strategy="blocks")
    )
    assert found_ids == ids
    assert furthest(found, alone(graph, method)[1]) < 1e-5


def kill_an_executor(context, killed):
    """Waits until tasks are running, then kills one of the application's executors."""
    tracker, deadline = context.statusTracker(), time.monotonic() + 60
    while time.monotonic() < deadline:
        stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
        if any(stage and stage.numActiveTasks for stage in stages):
            break
        time.sleep(0.01)
    process = executors(context)[0]
    os.kill(process, signal.SIGKILL)
    killed.append(process)


def executors(context):
    """The processes of the application's executors."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        wanted = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"
        if wanted in command and context.applicationId.encode() in command:
            found.append(int(folder.name))
    return sorted(found)


def shuffled_bytes(spark, after, doing):
    """What was written to shuffles under a description, by the stages after another."""
    time.sleep(1)  # the store hears of the end of a stage a moment later
    return sum(
        stage.shuffleWriteBytes()
        for stage in stages(spark)
        if stage.stageId() > after
        and stage.description().isDefined()
        and stage.description().get() == f"hopvec: {doing}"
    )


def test_an_estimate_counts_nodes_and_entries_of_a_frame(number_graph):
    edges, graph, _ = number_graph
    found = estimate(edges, directed=True, method=WEIGHTED)
    assert abs(found.nodes - graph.nodes) < 0.05 * graph.nodes
    assert found.entries == 30000
    assert found.strategy == "columns"
    assert found.cluster.workers == 2
    assert "a worker can hold the graph" in str(found)
