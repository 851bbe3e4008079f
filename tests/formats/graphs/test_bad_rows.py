"""bad_rows="skip" drops exactly the rows that would raise, and counts them by reason."""

import logging

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopvec
from hopvec import GraphError, ParameterError, read_graph

GOOD = ("a,b,1", "b,c,2.5", "c,d,0.5")
BAD = {
    "a,,1": "the target is empty",
    ",b,1": "the source is empty",
    "a,b,x": "the weight is not a number",
    "a,b,": "the weight is not a number",
    "a,b,nan": "the weight is not a number",
    "a,b,-1": "the weight is out of range",
    "a,b,inf": "the weight is out of range",
    "a,b": "there are not 3 columns",
    "a,b,1,9": "there are not 3 columns",
    '"a,b,1': "a quote is not closed",
    "\udcff,b,1": "the line is not UTF-8",
}


def write(path, lines):
    text = "\n".join(["source,target,weight", *lines]) + "\n"
    path.write_bytes(text.encode(errors="surrogateescape"))
    return path


def reference(tmp_path):
    return read_graph(write(tmp_path / "good.csv", GOOD))


def skipped(graph):
    return {
        reason: (found["rows"], found["first"])
        for reason, found in graph.origin["skipped rows"].items()
    }


@pytest.mark.parametrize("line", BAD)
def test_a_bad_row_is_refused_by_default_and_can_be_skipped(tmp_path, line, caplog):
    path = write(tmp_path / "edges.csv", [*GOOD[:2], line, GOOD[2]])
    with pytest.raises(hopvec.HopvecError):
        read_graph(path)
    with caplog.at_level(logging.WARNING, "hopvec"):
        graph = read_graph(path, bad_rows="skip")
    assert skipped(graph) == {BAD[line]: (1, "line 4")}
    assert (graph.to_scipy() != reference(tmp_path).to_scipy()).nnz == 0
    assert f"1 row was skipped: {BAD[line]} (1, first at line 4)" in caplog.text


@given(rows=st.lists(st.sampled_from([*GOOD, *BAD]), min_size=1, max_size=30))
def test_the_rest_is_the_graph_of_the_good_rows(tmp_path_factory, rows):
    directory = tmp_path_factory.mktemp("rows")
    path = write(directory / "edges.csv", rows)
    good = [row for row in rows if row in GOOD]
    if not good:
        with pytest.raises((GraphError, hopvec.FormatError)):
            read_graph(path, bad_rows="skip")
        return
    graph = read_graph(path, bad_rows="skip")
    expected = read_graph(write(directory / "good.csv", good))
    assert graph.ids.to_pylist() == expected.ids.to_pylist()
    assert (graph.to_scipy() != expected.to_scipy()).nnz == 0
    counts = {}
    for row in rows:
        if row in BAD:
            counts[BAD[row]] = counts.get(BAD[row], 0) + 1
    found = graph.origin.get("skipped rows", {})
    assert {reason: each["rows"] for reason, each in found.items()} == counts


def test_lines_are_numbered_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("hopvec.formats.graphs.lines.BLOCK_BYTES", 64)
    lines = ["a,b,1"] * 40 + ["a,b"] + ["b,c,1"] * 40 + ["a,,1"]
    graph = read_graph(write(tmp_path / "edges.csv", lines), bad_rows="skip")
    assert skipped(graph) == {
        "there are not 3 columns": (1, "line 42"),
        "the target is empty": (1, "line 83"),
    }


@pytest.mark.parametrize("line", [line for line in BAD if "UTF-8" not in BAD[line]])
def test_the_error_of_a_bad_row_says_that_it_can_be_skipped(tmp_path, line):
    with pytest.raises(hopvec.HopvecError, match=r"[Uu]se bad_rows='skip' to skip such rows"):
        read_graph(write(tmp_path / "edges.csv", [*GOOD[:2], line, GOOD[2]]))


def test_without_a_header_most_rows_decide_the_number_of_columns(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("junk,line,with,more\n" + "a,b,1\nb,c,2\n" * 20)
    graph = read_graph(path, bad_rows="skip")
    assert skipped(graph) == {"there are not 3 columns": (1, "line 1")}


def test_nulls_in_parquet_are_skipped(tmp_path):
    table = pa.table(
        {"source": ["a", None, "b"], "target": ["b", "c", "c"], "weight": [1, 2, None]}
    )
    pq.write_table(table, tmp_path / "edges.parquet")
    graph = read_graph(tmp_path / "edges.parquet", bad_rows="skip")
    assert graph.edges == 1
    assert skipped(graph) == {
        "the source is empty": (1, "row 2"),
        "the weight is not a number": (1, "row 3"),
    }


def test_if_all_rows_are_bad_there_is_no_graph(tmp_path):
    path = write(tmp_path / "edges.csv", ["a,,1", ",b,1"])
    with pytest.raises(
        GraphError,
        match=r"all 2 rows were skipped: the target is empty \(1, first at line 2\), the source",
    ):
        read_graph(path, bad_rows="skip")


def test_other_values_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="bad_rows must be one of 'error', 'skip'"):
        read_graph(tmp_path / "edges.csv", bad_rows="drop")
