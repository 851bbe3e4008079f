"""Edge weights at the limits on Spark: finite vectors, or a refusal with the reason."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hopvec import FastRP, FormatError, GraphError
from hopvec.spark import embed
from hopvec.spark.vectors import vector_table

FAULT = Path(__file__).parents[1] / "faults/out/nan-weights.csv"
SCHEMA = "source bigint, target bigint, weight double"


@pytest.mark.parametrize("strategy", ["columns", "blocks"])
def test_weights_from_1e_minus_30_to_1e30_give_finite_vectors(spark, strategy):
    with FAULT.open() as file:
        rows = [
            (int(row["source"]), int(row["target"]), float(row["weight"]))
            for row in csv.DictReader(file)
        ]
    method = FastRP(dim=32, passes=1, self_weight=1)
    edges = spark.createDataFrame(rows, SCHEMA)
    vectors = embed(edges, method=method, strategy=strategy, directed=True).toPandas()
    assert np.isfinite(np.stack(vectors["embedding"])).all()


def test_a_degree_whose_hop_would_overflow_is_refused(spark):
    edges = spark.range(1, 20_001).selectExpr("0L source", "id target", "1e30D weight")
    with pytest.raises(GraphError, match=r"The largest degree is 2e\+34"):
        embed(edges, method=FastRP(dim=16, passes=1))


def test_no_vector_that_is_not_finite_is_written():
    rows = np.array([[1, 2], [3, np.nan]], np.float32)
    with pytest.raises(FormatError, match=r"The vector of 'b' contains nan"):
        vector_table(pa.array([["a", "b"]]), rows)
