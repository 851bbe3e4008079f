"""Types of nodes on Spark: a column of the nodes becomes a column of the vectors."""

import numpy as np
import pytest

from hopvec import FastRP, FormatError, Graph, GraphError, ParameterError, load
from hopvec.formats import read_embedding
from hopvec.spark import embed
from one_pass import one_pass

METHOD = one_pass(dim=8, seed=3, weights=(0, 1, 1))
EDGES = [("ann", "tea"), ("ann", "jam"), ("bob", "jam"), ("bob", "rum")]
NODES = [("ann", "user"), ("tea", "item"), ("jam", "item"), ("zoe", "user"), ("rum", None)]


@pytest.fixture(scope="module")
def edges(spark):
    return spark.createDataFrame(EDGES, "src string, dst string")


def test_vectors_have_the_types_of_the_nodes_and_the_bytes_of_one_machine(spark, edges, tmp_path):
    nodes = spark.createDataFrame(NODES, "id string, kind string")
    output = str(tmp_path / "vectors")
    frame = embed(edges, nodes=nodes, node_type="kind", method=METHOD, output=output)
    assert frame.columns == ["id", "type", "embedding"]
    found = read_embedding(output)
    types = dict(zip(found, found.types.to_pylist(), strict=True))
    assert types == dict(NODES) | {"bob": None}
    graph = Graph.from_edges(EDGES, nodes=sorted(types))
    expected = METHOD.embed(graph)
    assert (found[expected.ids] == expected.vectors).all()


@pytest.mark.parametrize("strategy", ["columns", "blocks"])
def test_vectors_with_types_are_the_reference_of_a_later_run(spark, edges, tmp_path, strategy):
    nodes = spark.createDataFrame(NODES, "id string, kind string")
    options = {"nodes": nodes, "node_type": "kind", "strategy": strategy}
    outputs = [tmp_path / "first", tmp_path / "second"]
    method = FastRP(dim=4, passes=2, weights=(0, 1), refine_weights=(0, 1))
    embed(edges, method=method, output=str(outputs[0]), **options)
    first = load(outputs[0])
    embed(edges, method=method, output=str(outputs[1]), like=first, **options)
    second = load(outputs[1])
    assert dict(zip(second, second.types.to_pylist(), strict=True))["tea"] == "item"
    np.testing.assert_allclose(second[first.ids], first.vectors, atol=1e-5)


def test_without_a_column_of_types_the_output_has_none(spark, edges):
    nodes = spark.createDataFrame([("zoe",)], "id string")
    assert embed(edges, nodes=nodes, method=METHOD).columns == ["id", "embedding"]


@pytest.mark.parametrize(
    ("rows", "node_type", "error", "message"),
    [
        ([("ann", "user"), ("ann", "item")], "kind", GraphError, "'ann' is listed as 'item' and"),
        (NODES, "type", FormatError, "no column 'type' for node_type=; the columns are id, kind"),
        (None, "kind", ParameterError, "give nodes= as well"),
    ],
)
def test_types_that_cannot_be_used_are_refused(spark, edges, rows, node_type, error, message):
    nodes = None if rows is None else spark.createDataFrame(rows, "id string, kind string")
    with pytest.raises(error, match=message):
        embed(edges, nodes=nodes, node_type=node_type, method=METHOD)
