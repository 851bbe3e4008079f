"""Several passes, oversampling and degrees on two executors: the vectors equal one machine's."""

import numpy as np
import pyarrow as pa
import pytest

from hopvec import FastRP, Graph
from hopvec.engine import principal, row_sum
from hopvec.spark import embed
from hopvec.spark.graph import CHUNK_NODES

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
        FastRP(dim=24, passes=2, oversample=2, spectrum=0.5, degree_weight=2, self_weight=0.5,
               sparsity=3, precision="float16"),
        FastRP(dim=16, passes=1, oversample=3, self_weight=1, sparsity=3, normalize="none"),
        FastRP(dim=16, passes=1, oversample=2, spectrum=0.3),
        FastRP(dim=16, passes=1, degree_weight=0.5),
    ],
    ids=["three passes", "all", "plain sum", "oversample", "degrees"],
)  # fmt: skip
def test_columns_give_the_bytes_of_one_machine(graph, several_parts, method):
    frame, nodes, local = graph
    found = rows_of(embed(frame, nodes=nodes, method=method, strategy="columns"))
    assert found.tobytes() == method.embed(local).vectors.tobytes()
