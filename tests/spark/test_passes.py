"""Several passes, oversampling and degrees on two executors: the vectors equal one machine's."""

import json

import numpy as np
import pyarrow as pa
import pytest

from hopvec import FastRP, Graph, load
from hopvec.engine import principal, row_sum
from hopvec.formats.metadata import to_json
from hopvec.spark import Cluster, embed
from hopvec.spark.estimate import RunSize
from hopvec.spark.node_blocks import CHUNK_NODES
from spark_executors import Killer
from spark_stages import last_stage, shuffled_bytes

DENSE = {"self_weight": 0.5, "sparsity": 3}
TWO_HOPS = {"weights": (1, 1), "refine_weights": (0, 1)}
NODES, ISOLATED = 2 * CHUNK_NODES + 700, 30


def edges():
    """Weighted edges of a skewed graph; its nodes take three chunks."""
    random = np.random.default_rng(5)
    ends = (NODES * random.random((2, 24000)) ** [[2], [1]]).astype(int)
    ends[0, :NODES] = np.arange(NODES)
    return pa.table({"src": ends[0], "dst": ends[1], "weight": np.exp(4 * random.random(24000))})


@pytest.fixture(scope="module")
def graph(spark):
    """The edges and more nodes as DataFrames, and the graph on one machine."""
    isolated = list(range(NODES, NODES + ISOLATED))
    nodes = sorted({*edges()["src"].to_pylist(), *edges()["dst"].to_pylist(), *isolated})
    frames = spark.createDataFrame(edges()), spark.createDataFrame(pa.table({"id": isolated}))
    return *frames, Graph.from_arrow(edges(), nodes=nodes)


@pytest.fixture
def several_parts(monkeypatch):
    """Products are summed over three parts of the rows, as in a graph of 200,000 nodes."""
    monkeypatch.setattr(principal, "PART_ROWS", CHUNK_NODES)
    monkeypatch.setattr(row_sum, "MEMORY_BLOCK_ROWS", CHUNK_NODES)


def rows_of(frame):
    """The vectors of a DataFrame in ascending order of the ids."""
    table = frame.toArrow().sort_by("id")
    return table["embedding"].combine_chunks().flatten().to_numpy().reshape(len(table), -1)


@pytest.mark.parametrize(
    "method",
    [
        FastRP(dim=40, seed=3),
        FastRP(dim=24, passes=2, oversample=2, spectrum=0.5, degree_weight=2,
               precision="float16", **DENSE),
        FastRP(dim=16, passes=1, oversample=3, normalize="none", **DENSE),
        FastRP(dim=16, passes=1, oversample=2, spectrum=0.3),
        FastRP(dim=16, passes=1, degree_weight=0.5),
    ],
    ids=["three passes", "all", "plain sum", "oversample", "degrees"],
)  # fmt: skip
def test_columns_give_the_bytes_and_the_fitted_state_of_one_machine(
    spark, graph, several_parts, method, tmp_path
):
    frame, nodes, local = graph
    expected, before = method.embed(local), last_stage(spark)
    output = str(tmp_path / "vectors")
    found = embed(frame, nodes=nodes, method=method, strategy="columns", output=output)
    size = RunSize(local.nodes, local.entries, True, method, Cluster(2, 1, 10**9))
    for stage in stages_with_products(method):
        products = size.products_shuffle(parts=3)
        assert products <= shuffled_bytes(spark, before, stage) <= 1.01 * products + 1000
    assert rows_of(found).tobytes() == expected.vectors.tobytes()
    loaded = load(output)
    assert fitted(loaded) == fitted(expected)
    assert loaded.graph.items() <= expected.graph.items()


@pytest.mark.parametrize(
    "method",
    [
        FastRP(dim=40, seed=3, **TWO_HOPS),
        FastRP(dim=24, passes=2, oversample=2, degree_weight=2, **TWO_HOPS, **DENSE),
    ],
    ids=["three passes", "all"],
)
def test_blocks_give_the_vectors_of_one_machine_up_to_rounding_and_shuffle_as_estimated(
    spark, graph, method
):
    frame, nodes, local = graph
    before = last_stage(spark)
    found = rows_of(embed(frame, nodes=nodes, method=method, strategy="blocks"))
    expected = method.embed(local).vectors
    assert np.linalg.norm(found - expected, axis=1).max() < 1e-4
    size = RunSize(local.nodes, local.entries, True, method, Cluster(2, 1, 10**9))
    stages = stages_with_products(method)
    stages += [f"hop {order}" for order in (1, 2)] + ["sum orders"]
    for number in range(1, method.passes):
        stages += [f"hop {order} of pass {number}" for order in (1, 2)]
        stages += [f"sum orders of pass {number}"]
    shuffled = sum(shuffled_bytes(spark, before, stage) for stage in stages)
    assert 0.7 * size.blocks_shuffle(2) <= shuffled <= 1.05 * size.blocks_shuffle(2)


@pytest.mark.parametrize(("strategy", "passes"), [("columns", 1), ("columns", 2), ("blocks", 2)])
def test_vectors_like_those_of_an_earlier_graph_are_those_of_one_machine(
    graph, tmp_path, strategy, passes
):
    frame, nodes, local = graph
    method = FastRP(dim=16, seed=3, passes=passes, weights=(1, 1))
    earlier = method.embed(Graph.from_arrow(edges()[: NODES + 5000]))
    output = str(tmp_path / "vectors")
    found = rows_of(
        embed(frame, nodes=nodes, method=method, like=earlier, strategy=strategy, output=output)
    )
    expected = method.embed(local, like=earlier)
    assert fitted(load(output)) == fitted(earlier)
    if strategy == "columns":
        assert found.tobytes() == expected.vectors.tobytes()
    else:
        assert np.linalg.norm(found - expected.vectors, axis=1).max() < 1e-4


@pytest.mark.parametrize(("strategy", "stages"), [("columns", (4, 6)), ("blocks", (7, 9))])
def test_executors_that_are_killed_within_and_between_passes_do_not_change_the_vectors(
    spark, graph, strategy, stages
):
    # tasks of row norms and of whitening are lost, or of hop 3 and of whitening
    frame, nodes, local = graph
    method = FastRP(dim=16, seed=3, passes=2, weights=(1, 1))
    killer = Killer(spark.sparkContext, stages)
    found = rows_of(embed(frame, nodes=nodes, method=method, strategy=strategy, progress=killer))
    killer.join()
    assert len({*killer.killed}) == 2
    expected = method.embed(local).vectors
    if strategy == "columns":
        assert found.tobytes() == expected.tobytes()
    else:
        assert np.linalg.norm(found - expected, axis=1).max() < 1e-4


def stages_with_products(method):
    """The stages in which Gram matrices are summed."""
    earlier = [f"whiten pass {number}" for number in range(1, method.passes)]
    return [*earlier, "principal components"]


def fitted(embedding):
    """The parameters and the fitted state, as stored with the vectors."""
    stored = json.loads(to_json(embedding))
    return stored["parameters"], stored["fitted_state"]
