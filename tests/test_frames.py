"""Embeddings, graphs and results as tables of pyarrow, pandas, polars and DuckDB, and back."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hopvec
from hopvec import Embedding, FastRP, FormatError, Graph, Labels, MissingExtraError, evaluate
from hopvec.machine import format_bytes

GRAPH = Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3], [1, 2, 3, 4, 5, 6, 7])


@pytest.fixture(params=["strings", "integers"])
def embedding(request):
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    return FastRP(dim=4).embed(GRAPH if request.param == "integers" else graph)


def same(one, other):
    return one.ids.to_pylist() == other.ids.to_pylist() and np.array_equal(
        one.vectors, other.vectors
    )


class TestEmbedding:
    @pytest.mark.parametrize("as_list", [True, False])
    def test_arrow_and_back(self, embedding, as_list):
        table = embedding.to_arrow(as_list=as_list)
        back = Embedding.from_arrow(table)
        assert same(back, embedding)
        assert back.parameters == embedding.parameters

    def test_lists_are_a_view(self, embedding):
        column = embedding.to_arrow()["embedding"].chunk(0)
        address = column.flatten().buffers()[1].address
        assert address == embedding.vectors.__array_interface__["data"][0]

    @pytest.mark.parametrize("as_list", [True, False])
    @pytest.mark.parametrize("index", [True, False])
    def test_pandas_and_back(self, embedding, index, as_list):
        frame = embedding.to_pandas(index=index, as_list=as_list)
        assert len(frame) == len(embedding)
        assert (frame.index.name == "id") == index
        assert same(Embedding.from_pandas(frame), embedding)

    @pytest.mark.parametrize("as_list", [True, False])
    def test_polars_and_back(self, embedding, as_list):
        frame = embedding.to_polars(as_list=as_list)
        assert same(Embedding.from_arrow(frame), embedding)

    def test_it_joins_by_its_index(self, embedding):
        frame = pd.DataFrame({"age": range(len(embedding))}, index=list(embedding))
        assert frame.join(embedding.to_pandas()).shape == (len(embedding), 5)

    def test_libraries_read_it_directly(self, embedding):
        duckdb = pytest.importorskip("duckdb")
        assert same(Embedding.from_arrow(pl.DataFrame(embedding)), embedding)
        vectors = embedding  # noqa: F841  (DuckDB finds it by name)
        assert duckdb.sql("select count(*) from vectors").fetchall() == [(len(embedding),)]

    @pytest.mark.parametrize(
        ("table", "message"),
        [
            (pa.table({"id": [1, 2], "embedding": [[1.0], [1.0, 2.0]]}), "has 2 numbers"),
            (pa.table({"id": [1], "x": [None]}, pa.schema({"id": "int64", "x": "double"})), "null"),
            (pa.table({"source": ["a"], "target": ["b"]}), "must have a column 'id'"),
        ],
    )
    def test_other_tables_are_refused(self, table, message):
        with pytest.raises(FormatError, match=message):
            Embedding.from_arrow(table)

    def test_without_pandas_the_error_names_it(self, embedding, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "pandas", None)
        with pytest.raises(MissingExtraError, match="pip install pandas"):
            embedding.to_pandas()


class TestGraph:
    def test_its_edges_are_a_table(self):
        table = GRAPH.to_arrow()
        assert table.column_names == ["source", "target", "weight"]
        back = Graph.from_arrow(table)
        assert (back.to_scipy() != GRAPH.to_scipy()).nnz == 0

    def test_it_is_a_stream_of_edges(self):
        frame = pl.DataFrame(GRAPH)
        assert frame.height == GRAPH.edges
        assert (Graph.from_arrow(frame).to_scipy() != GRAPH.to_scipy()).nnz == 0


def results():
    embedding = FastRP(dim=4).embed(GRAPH)
    labels = Labels.from_pairs(range(6), "aaabbb")
    one = evaluate.classify(embedding, labels, shares=[0.5], shuffles=2, C=1.0)
    both = {"one": embedding, "two": embedding}
    edges = [(u, v) for u in range(30) for v in range(u) if u % 2 == v % 2]
    held_out = evaluate.hold_out(Graph.from_edges(edges), per_node=True)
    trained = FastRP(dim=4).embed(held_out.training)
    return {
        "classification": (one, 1),
        "comparison": (evaluate.classify(both, labels, shares=[0.5], shuffles=2, C=1.0), 2),
        "links": (evaluate.predict_links(trained, held_out, operators=["cosine"]), 4),
        "neighbors": (evaluate.neighbors(both, [0, 1], k=2), 8),
        "movement": (evaluate.movement(embedding, embedding), 6),
        "reconstruction": (evaluate.reconstruct(embedding, GRAPH, k=[1, 2]), 2),
        "recommendation": (evaluate.evaluate_recommendation(None, held_out, k=[1, 2]), None),
        "tuning": (hopvec.tune(GRAPH, space={"beta": [0.0, 0.5]}, search="grid"), 2),
    }


RESULTS = results()


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_a_table(name):
    result, rows = RESULTS[name]
    table = result.to_arrow()
    assert table.num_rows == rows if rows else table.num_rows > 1
    assert result.to_pandas().shape == table.shape
    assert result.to_polars().shape == table.shape
    assert pl.DataFrame(result).columns == table.column_names


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself(name):
    result, _ = RESULTS[name]
    assert "=" not in repr(result).splitlines()[0]  # as in the repr of a dataclass
    assert len(repr(result)) < 3_000
    html = result._repr_html_()
    assert f"<strong>{type(result).__name__}</strong>" in html
    assert all(f">{name}</th>" in html for name in result.to_arrow().column_names)
    assert html.count("<tr>") == min(result.to_arrow().num_rows, 20) + 1


def test_a_long_result_is_cut_in_notebooks():
    ids = pa.array([f"<{number}>" for number in range(1_000)], pa.large_string())
    moved = evaluate.Movement(ids, np.linspace(-1, 1, 1_000, dtype=np.float32), 1, 2)
    html = moved._repr_html_()
    assert "1,000 nodes in both, 1 removed, 2 added; 1,000 rows" in html
    assert html.count("<tr>") == 22
    assert '<td style="text-align: left">&lt;19&gt;</td><td>-0.9620</td>' in html
    assert "&lt;20&gt;" not in html


def test_an_estimate_shows_time_and_memory_in_notebooks():
    expected = hopvec.estimate(GRAPH, FastRP(dim=4, threads=1))
    html = expected._repr_html_()
    for name, value in (("memory", format_bytes(expected.bytes)), ("threads", "1")):
        assert f'{name}</th><td style="text-align: left">{value}</td>' in html


def test_a_method_shows_the_parameters_that_differ_from_defaults_first():
    shown, folded = FastRP.preset("links", dim=64)._repr_html_().split("<details>")
    assert [name in shown for name in (">dim<", ">beta<", ">degree_weight<")] == [True] * 3
    assert shown.count("<tr>") == 3
    assert ">seed<" in folded
    assert "random seed; the same seed gives the same bytes" in folded
    assert "<table>" not in FastRP()._repr_html_().split("<details>")[0]
    for name in ("DeepWalk", "LINE", "RandNE", "NetMF", "GraRep", "Node2Vec"):
        assert f"<strong>{name}</strong>" in getattr(hopvec, name)()._repr_html_()


def test_names_are_escaped_in_notebooks():
    graph = Graph.from_edges(["<b>"], ["&"])
    for shown in (graph, FastRP(dim=4).embed(graph)):
        html = shown._repr_html_()
        assert "<b>" not in html
        assert "&lt;b&gt;" in html
