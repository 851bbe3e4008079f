"""Edge weights at the limits on Spark: finite vectors, or a refusal with the reason."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hopvec import FastRP, FormatError, Graph, GraphError
from hopvec.spark import embed
from hopvec.spark.vectors import vector_table

FAULT = Path(__file__).parents[1] / "faults/files/nan-weights.csv"
SCHEMA = "source bigint, target bigint, weight double"


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("strategy", ["columns", "blocks"])
def test_weights_from_1e_minus_30_to_1e30_give_finite_vectors(spark, strategy, passes):
    with FAULT.open() as file:
        rows = [
            (int(row["source"]), int(row["target"]), float(row["weight"]))
            for row in csv.DictReader(file)
        ]
    method = FastRP(dim=32, passes=passes, self_weight=1, weights=(0, 1, 1))
    edges = spark.createDataFrame(rows, SCHEMA)
    vectors = embed(edges, method=method, strategy=strategy, directed=True).toPandas()
    assert np.isfinite(np.stack(vectors["embedding"])).all()


def test_a_degree_whose_hop_would_overflow_is_refused(spark):
    edges = spark.range(1, 20_001).selectExpr("0L source", "id target", "1e30D weight")
    with pytest.raises(GraphError, match=r"The largest degree is 2e\+34"):
        embed(edges, method=FastRP(dim=16, passes=1))


@pytest.mark.parametrize("strategy", ["columns", "blocks"])
def test_a_sum_too_large_for_its_principal_components_is_refused(spark, strategy):
    edges = spark.range(30).selectExpr("id source", "id + 1 target", "1e30D weight")
    method = FastRP(
        dim=16, beta=-1, normalize="none", passes=1, oversample=2, self_weight=1, weights=(0, 1, 1)
    )
    with pytest.raises(GraphError, match="covariance of the columns overflows float32"):
        embed(edges, method=method, strategy=strategy, directed=True)


def test_no_vector_that_is_not_finite_is_written():
    rows = np.array([[1, 2], [3, np.nan]], np.float32)
    with pytest.raises(FormatError, match=r"The vector of 'b' contains nan"):
        vector_table(pa.array([["a", "b"]]), rows)


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("strategy", ["columns", "blocks"])
def test_zero_vectors_of_nodes_with_edges_are_warned_of(spark, caplog, strategy, passes):
    source, target = np.random.default_rng(1).integers(0, 500, (2, 900))
    weight = np.where(source < 250, 1e30, 1e-30)
    method = FastRP(dim=32, passes=passes, beta=1.0, weights=(0, 1, 1))
    expected = method.embed(Graph.from_edges(source, target, weight))
    (warned,) = [record.getMessage() for record in caplog.records]
    assert "although they have edges" in warned
    caplog.clear()
    rows = zip(source.tolist(), target.tolist(), weight.tolist(), strict=True)
    edges = spark.createDataFrame(list(rows), SCHEMA)
    vectors = embed(edges, method=method, strategy=strategy).toPandas()
    found = np.stack(vectors.sort_values("id")["embedding"])
    assert (found.any(axis=1) == expected.vectors.any(axis=1)).all()
    assert warned in [record.getMessage() for record in caplog.records]
