"""`hopvec info` shows what the metadata of an embedding contain, whatever they lack."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from hopvec import Embedding, FastRP, Graph, GraphError
from hopvec.cli.program import hopvec

FILES = Path(__file__).parent / "files"


def info(path):
    result = CliRunner().invoke(hopvec, ["info", str(path)])
    assert result.exit_code == 0, result.output
    return result.output


def test_metadata_without_edges_are_shown():
    assert "graph      20 nodes\n" in info(FILES / "info-keyerror.parquet")


@pytest.mark.parametrize(
    "graph",
    [
        {"edges": 3},
        {"nodes": 0, "largest_component": 5},
        {"nodes": "x", "edges": None, "directed": 1},
        {"sides": {}, "features": {}},
        {"features": {"numbers": ["age"]}},
        {"nodes": [5], "largest_component": 5},
        {"types": 5},
        {"types": {"user": "many"}},
        {"relations": []},
        {"sides": 3, "features": 4, "isolated": None},
    ],
    ids=str,
)
def test_metadata_of_any_kind_are_shown(tmp_path, graph):
    path = tmp_path / "vectors.parquet"
    Embedding(np.eye(2, dtype=np.float32), pa.array([1, 2]), {}, graph).save(path)
    assert "2 vectors of dimension 2" in info(path)


def test_a_graph_that_metadata_describe_in_part_is_compared_with_what_is_there():
    graph, larger = (Graph.from_edges(range(n), range(1, n + 1)) for n in (20, 30))
    method = FastRP(dim=4)
    embedding = method.embed(graph)
    partial = Embedding(
        embedding.vectors,
        embedding.ids,
        embedding.parameters,
        {"nodes": 21},
        embedding.fitted_state,
    )
    with pytest.raises(GraphError, match="from a graph with 21 nodes, but this graph has 31 nodes"):
        method.embed_new([(0, 99)], graph=larger, like=partial)
