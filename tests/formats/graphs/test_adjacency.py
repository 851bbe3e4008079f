"""Adjacency lists."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_formats import edges_of, graph_of, open_edges, read, reason
from hopvec import FormatError, read_graph
from hopvec.formats.graphs import adjacency


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph.txt"


def test_each_line_is_a_node_and_its_neighbors(path):
    path.write_text("# a comment\na b c d\n\nb\td\nlonely\n  c b  \r\n")
    stream = open_edges(adjacency, path)
    assert (stream.directed, stream.untyped, stream.duplicates) == (None, True, "first")
    assert stream.metadata == {"separator": "whitespace"}
    assert edges_of(stream) == [("a", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("c", "b")]
    assert stream.nodes.to_pylist() == ["a", "b", "lonely", "c", "d"]
    assert [stream.locate(edge) for edge in range(5)] == [*["line 2"] * 3, "line 4", "line 6"]


def test_a_separator_allows_spaces_in_names(path):
    path.write_text("New York, Rome\nRome, New York ,\n")
    assert read(adjacency, path, separator=",") == [
        ("New York", "Rome"),
        ("Rome", "New York"),
        ("Rome", ""),  # refused with its line by the reader of graphs
    ]


def test_a_colon_after_the_node_is_not_part_of_it(path):
    path.write_text("0: 1 2\n1: 0\n2:\n")
    assert read(adjacency, path) == [("0", "1"), ("0", "2"), ("1", "0")]
    path.write_text("0: 1 2\n1 0\n")
    with pytest.raises(FormatError, match=r"line 2: there is no colon after the node '1'"):
        read(adjacency, path)


def test_an_edge_listed_at_both_ends_is_one_edge(path):
    path.write_text("0 1 2\n1 0 2\n2 0 1\n")
    stream = open_edges(adjacency, path)
    graph = graph_of(stream, duplicates=stream.duplicates)
    assert (graph.edges, graph.weights, graph.volume) == (3, None, 6)


@pytest.mark.parametrize(
    ("text", "recognized"),
    [
        ("a b c d\nb a\nc a d\nd a\n", True),
        ("# 4 nodes\n0 1 2 3\n1 2\n2\n3 2\n", True),
        ("a b\nb c\nc d\n", False),
        ("a b 1\nb c 2\nc d 3\n", False),
        ("a b 1 red\nb c 2\nc a 3\n", False),
        ("a b c\nb a\nc\n", False),
        ("a b c d\na b\na c d\n", False),
        ("the cat sat on a mat\nand looked\nat me\nwith large eyes\n", False),
        ("", False),
        ("\0a b c d\nb a\nc a d\n", False),
    ],
)
def test_it_is_recognized_by_lines_of_clearly_varying_length(path, text, recognized):
    path.write_text(text)
    assert (reason(adjacency, path) is not None) == recognized


def test_the_reason_includes_the_number_of_fields(path):
    path.write_text("a b c d\nb a\nc a d\nd a\n")
    assert reason(adjacency, path) == "its lines have 2 to 4 fields, each for a different node"


def test_an_incomplete_line_at_the_end_of_the_head_is_ignored(path):
    path.write_text("\n".join(f"{n} {n + 1}" for n in range(20_000)))
    assert reason(adjacency, path) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a b\n\xff\xfe c\n", r"line 2: this is not UTF-8 text"),
        (b"a b\nc\0d e\n", "line 2: a null byte; this is not text"),
    ],
)
def test_binary_data_is_refused_with_its_line(path, content, message):
    path.write_bytes(content)
    with pytest.raises(FormatError, match=rf"graph\.txt, {message}"):
        read(adjacency, path)


def test_a_file_without_lines_has_no_edges_and_no_nodes(path):
    path.write_text("# nothing\n")
    stream = open_edges(adjacency, path)
    assert (edges_of(stream), len(stream.nodes)) == ([], 0)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30),
    st.booleans(),
    st.sampled_from([1, 3, 1 << 17]),
)
def test_files_written_by_networkx_are_read(tmp_path_factory, pairs, directed, rows):
    path = tmp_path_factory.mktemp("any") / "graph.adjlist"
    original = (nx.DiGraph if directed else nx.Graph)(pairs)
    original.add_node(77)
    nx.write_adjlist(original, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adjacency, "BATCH_EDGES", rows)
        stream = open_edges(adjacency, path)
        edges = edges_of(stream)
    assert sorted(map(int, stream.nodes.to_pylist())) == sorted(original)
    again = type(original)()
    again.add_edges_from((int(u), int(v)) for u, v in edges)
    again.add_node(77)
    assert nx.utils.graphs_equal(again, original)


def test_edges_listed_at_both_ends_are_not_reported_as_summed(path):
    path.write_text("a b c\nb a c\nc a b\n")
    graph = read_graph(path, format="adjacency")
    assert graph.origin["duplicates"] == "first"
    assert (graph.edges, graph.weights) == (3, None)
