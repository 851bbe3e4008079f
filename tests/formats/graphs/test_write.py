"""write_graph: the files are read back as the same graph."""

import numpy as np
import pytest

from example_graphs import example, skewed_example
from hopvec import FormatError, Graph, read_graph
from hopvec.formats.graphs.write import write_graph
from hopvec.formats.table_files import SUFFIXES
from hopvec.graph import edge_stream


def same(one, other):
    return (
        one.ids.equals(other.ids)
        and (one.to_scipy() != other.to_scipy()).nnz == 0
        and (one.weights is None) == (other.weights is None)
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_graph_round_trips(tmp_path, suffix, directed, weighted, monkeypatch):
    monkeypatch.setattr(edge_stream, "BATCH_ENTRIES", 50)  # a few nodes at a time
    graph = skewed_example(60, 300, directed=directed, weighted=weighted).graph()
    calls = []
    write_graph(graph, tmp_path / f"edges{suffix}", progress=lambda *state: calls.append(state))
    assert same(read_graph(tmp_path / f"edges{suffix}", directed=directed), graph)
    assert calls[-1] == (60, 60)
    assert len(calls) > 5


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_ids_round_trip(tmp_path, suffix):
    ids = ["é", 'say "hi"', "a,b\tc", "日本", "🙂", " d"]
    graph = Graph.from_edges(ids, ids[1:] + ids[:1])
    write_graph(graph, tmp_path / f"edges{suffix}")
    assert same(read_graph(tmp_path / f"edges{suffix}"), graph)


def test_every_edge_and_loop_is_one_line(tmp_path):
    graph = example([(0, 1), (1, 2), (2, 2)], 4, weight=[1, 2.5, 3]).graph()
    write_graph(graph, tmp_path / "edges.csv")
    lines = (tmp_path / "edges.csv").read_text().splitlines()
    assert lines[0] == "source,target,weight"
    assert len(lines) == 4


def test_weights_are_written_exactly(tmp_path):
    weight = np.array([0.1, 1 / 3, 1e-30, 1e30], np.float32)
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], weight)
    write_graph(graph, tmp_path / "edges.csv")
    assert same(read_graph(tmp_path / "edges.csv"), graph)


def test_an_invalid_path_is_refused_before_writing(tmp_path):
    graph = Graph.from_edges([0], [1])
    with pytest.raises(FormatError, match=r"the suffix '.txt' is not a format for tables; use one"):
        write_graph(graph, tmp_path / "edges.txt")
    with pytest.raises(FormatError, match=r"the directory .* does not exist"):
        write_graph(graph, tmp_path / "none" / "edges.csv")


@pytest.mark.parametrize("id_", ["a\0x", "a\nx", "a\rx"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_id_that_text_files_of_edges_cannot_hold_is_refused(tmp_path, suffix, id_):
    graph = Graph.from_edges([id_, "b"], ["b", "c"])
    path = tmp_path / f"edges{suffix}"
    if suffix in (".parquet", ".arrow"):
        write_graph(graph, path)
        assert same(read_graph(path), graph)
        return
    with pytest.raises(FormatError) as error:
        write_graph(graph, path)
    assert str(error.value) == (
        f"{path}: text files cannot hold the id {id_!r}, since ids of edges must not contain line "
        "breaks or null bytes. Save as .parquet, or rename the node."
    )
    assert not path.exists()
