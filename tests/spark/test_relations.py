"""Relations and directions on two executors: the vectors equal those of one machine."""

import numpy as np
import pyarrow as pa
import pytest

from hopvec import FastRP, Graph, GraphError, ParameterError, load
from hopvec.spark import Cluster, embed, estimate
from one_pass import one_pass

METHOD = one_pass(dim=24, seed=3, beta=-0.5, weights=(0, 1, 1))


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


@pytest.mark.parametrize("strategy", ["columns", "blocks"])
@pytest.mark.parametrize(
    ("parameters", "options"),
    [
        (
            {"relations": "concat", "passes": 2, "dim": 64},
            # SEEN has columns although no edge has it
            {
                "relation_weights": "KNOWS=1,LIKES=3,RATED=1,SEEN=1",
                "relation_direction": "LIKES=in",
            },
        ),
        (
            {"relations": "concat", "direction": "concat", "dim": 96, "degree_weight": 0.5},
            {"relation_balance": "node", "relation_direction": "LIKES=in,RATED=out"},
        ),
    ],
    ids=["relations", "directions"],
)
def test_each_relation_has_its_own_columns_as_on_one_machine(
    spark, tmp_path, strategy, parameters, options
):
    table = typed_edges(weighted=True)
    method = FastRP(**{"passes": 1, "seed": 3, "weights": (1, 1), **parameters})
    options = {"relation": "kind", **options}
    output = str(tmp_path / "vectors")
    embed(spark.createDataFrame(table), method=method, strategy=strategy, output=output, **options)
    found = load(output)
    expected = method.embed(Graph.from_arrow(table, **options))
    assert_like_one_machine(found, expected, strategy)
    again = method.embed(Graph.from_arrow(table, **options), like=found)
    assert np.linalg.norm(again.vectors - expected.vectors, axis=1).max() < 1e-4


@pytest.mark.parametrize("strategy", ["columns", "blocks"])
@pytest.mark.parametrize("direction", ["in", "both", "concat"])
def test_every_direction_gives_the_vectors_of_one_machine(
    spark, tmp_path, caplog, strategy, direction
):
    table = typed_edges(weighted=True).drop_columns(["kind"])
    method = FastRP(
        dim=32, seed=3, passes=1, weights=(1, 1), direction=direction, degree_weight=0.5,
        self_weight=0.5, sparsity=3,
    )  # fmt: skip
    output = str(tmp_path / "vectors")
    frame = spark.createDataFrame(table)
    embed(frame, directed=True, method=method, strategy=strategy, output=output)
    expected = method.embed(Graph.from_arrow(table, directed=True))
    assert_like_one_machine(load(output), expected, strategy)


def test_a_direction_of_an_undirected_graph_is_refused_or_has_no_effect(spark, caplog):
    table = typed_edges(weighted=False).drop_columns(["kind"])
    frame = spark.createDataFrame(table)
    with pytest.raises(GraphError, match="this graph is undirected: both halves"):
        embed(frame, method=one_pass(dim=32, direction="concat"))
    found = embed(frame, method=one_pass(dim=16, direction="in"), strategy="columns")
    expected = one_pass(dim=16).embed(Graph.from_arrow(table))
    assert vectors(found.toArrow())[1].tobytes() == expected.vectors.tobytes()
    assert "direction='in' has no effect" in caplog.text


def assert_like_one_machine(found, expected, strategy):
    order = [found.ids.to_pylist().index(node) for node in expected.ids.to_pylist()]
    rows = found.vectors[order]
    if strategy == "columns":
        assert rows.tobytes() == expected.vectors.tobytes()
    else:
        assert np.linalg.norm(rows - expected.vectors, axis=1).max() < 1e-4
    relations = expected.graph.get("relations", {})
    assert list(found.graph.get("relations", {})) == list(relations)
    for name, own in found.graph.get("relations", {}).items():
        assert own.items() <= relations[name].items()


def test_invalid_relations_are_refused(spark):
    frame = spark.createDataFrame(
        [("a", "b", "K"), ("b", "c", "")], "src string, dst string, kind string"
    )
    with pytest.raises(GraphError, match="The relation of the edge 'b' - 'c' is empty"):
        embed(frame, relation="kind", method=METHOD)
    with pytest.raises(ParameterError, match="relation_balance= needs relation="):
        embed(frame, relation_balance="node", method=METHOD)
    other = spark.createDataFrame([("a", "b", "K")], "src string, dst string, kind string")
    for action in (embed, estimate):
        with pytest.raises(GraphError, match="this graph has no relations"):
            action(frame, method=one_pass(relations="concat"))
    with pytest.raises(ParameterError, match="a multiple of 16 for the 1 relation of"):
        embed(other, relation="kind", method=one_pass(relations="concat", dim=8))
    with pytest.raises(GraphError, match="the relation 'K' has no weight"):
        embed(other, relation="kind", relation_weights="L=1", method=METHOD)


def test_an_estimate_counts_the_matrices_of_relations_that_have_columns_of_their_own(spark):
    frame = spark.createDataFrame(
        [("a", "b", "K", 1), ("b", "c", "L", 2), ("c", "d", "L", 3)],
        "src string, dst string, kind string, at int",
    )
    options = {"relation": "kind", "relation_direction": "K=out", "time": "at"}
    options["cluster"] = Cluster(workers=1, cores=1, memory="1GB")
    merged = estimate(frame, method=one_pass(dim=32), **options)
    concat = estimate(frame, method=one_pass(dim=32, relations="concat"), **options)
    assert merged.entries == concat.entries == 1 + 2 * 2
    assert concat.worker_bytes - merged.worker_bytes == 2 * (4 * 5 // 2 + 24 * merged.nodes)
    aged = estimate(frame, method=one_pass(dim=32), half_life="30d", **options)
    assert aged.worker_bytes - merged.worker_bytes == 4 * merged.entries
