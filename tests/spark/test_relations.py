"""Relations on two executors: the vectors equal those of one machine."""

import numpy as np
import pyarrow as pa
import pytest

from hopvec import Graph, GraphError, ParameterError
from hopvec.spark import embed
from one_pass import one_pass

METHOD = one_pass(dim=24, seed=3, beta=-0.5)


def typed_edges(weighted):
    random = np.random.default_rng(4)
    ends = (400 * random.random((2, 3000)) ** [[2], [1]]).astype(int)
    ends[1, :20] = ends[0, :20]  # loops
    ends[:, 20:60] = ends[:, 60:100]  # duplicates
    relation = random.choice(["KNOWS", "LIKES", "RATED"], 3000, p=[0.7, 0.2, 0.1])
    columns = {"src": ends[0], "dst": ends[1], "kind": relation}
    if weighted:
        columns["weight"] = np.exp(8 * random.random(3000))
    return pa.table(columns)


def vectors(table):
    table = table.sort_by("id")
    rows = table["embedding"].combine_chunks().flatten().to_numpy()
    return table["id"].to_pylist(), rows.reshape(len(table), -1)


@pytest.mark.parametrize(
    ("weighted", "options"),
    [
        (True, {"relation_weights": "KNOWS=1,LIKES=0.3,*=0"}),
        (True, {"relation_balance": "total", "relation_direction": "LIKES=out"}),
        (True, {"relation_balance": "node", "relation_weights": "KNOWS=1,LIKES=3,RATED=0.7"}),
        (False, {"relation_balance": "node", "relation_direction": "LIKES=in,RATED=out"}),
    ],
    ids=["weights", "total", "node", "directions"],
)
def test_the_vectors_have_the_bytes_of_one_machine(spark, tmp_path, weighted, options):
    table = typed_edges(weighted)
    frame = spark.createDataFrame(table)
    got = embed(
        frame,
        relation="kind",
        method=METHOD,
        strategy="columns",
        spill_dir=str(tmp_path),
        **options,
    )
    expected = METHOD.embed(Graph.from_arrow(table, relation="kind", **options))
    ids, rows = vectors(got.toArrow())
    assert ids == expected.ids.to_pylist()
    assert rows.tobytes() == expected.vectors.tobytes()


def test_blocks_give_the_same_vectors_up_to_rounding(spark, tmp_path):
    table, options = typed_edges(weighted=True), {"relation": "kind", "relation_balance": "node"}
    got = embed(
        spark.createDataFrame(table),
        method=METHOD,
        strategy="blocks",
        spill_dir=str(tmp_path),
        **options,
    )
    expected = METHOD.embed(Graph.from_arrow(table, **options))
    np.testing.assert_allclose(vectors(got.toArrow())[1], expected.vectors, rtol=0, atol=1e-5)


def test_invalid_relations_are_refused(spark):
    frame = spark.createDataFrame(
        [("a", "b", "K"), ("b", "c", "")], "src string, dst string, kind string"
    )
    with pytest.raises(GraphError, match="The relation of the edge 'b' - 'c' is empty"):
        embed(frame, relation="kind", method=METHOD)
    with pytest.raises(ParameterError, match="relation_balance= needs relation="):
        embed(frame, relation_balance="node", method=METHOD)
    with pytest.raises(ParameterError, match="relations='concat' is not supported on Spark"):
        embed(frame, relation="kind", method=one_pass(relations="concat"))
    other = spark.createDataFrame([("a", "b", "K")], "src string, dst string, kind string")
    with pytest.raises(GraphError, match="the relation 'K' has no weight"):
        embed(other, relation="kind", relation_weights="L=1", method=METHOD)
