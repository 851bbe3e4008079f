"""Edges are read or refused, never lost without a word."""

from pathlib import Path

import pytest

import hopvec
from hopvec import FormatError

FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hash-row.csv", r"line 2: is '#tag,a' a comment or an edge\?"),
        ("short-header.csv", r"line 2: 'a;b;1,5' has 3 columns, but the lines before it have 2"),
        ("nested-edge.graphml", r"line 1: <edge> must be an element of <graph>, found in <edge>"),
        ("encoding.graphml", r"line 1: the encoding of the file is not supported"),
    ],
)
def test_a_file_with_edges_in_doubt_is_refused_with_the_line(name, message):
    with pytest.raises(FormatError, match=rf"{name}, {message}"):
        hopvec.read_graph(FILES / name)


def test_a_row_below_a_header_is_an_edge_or_a_comment_as_the_caller_says():
    assert hopvec.read_graph(FILES / "hash-row.csv", comment="").edges == 2
    assert hopvec.read_graph(FILES / "hash-row.csv", comment="#").edges == 1


def test_a_comment_below_a_header_is_still_a_comment(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("# made by hand\nsource,target\n# a,b are people\n#--------\na,b\n")
    assert hopvec.read_graph(path).edges == 1


def test_an_unknown_encoding_is_refused(tmp_path):
    path = tmp_path / "graph.graphml"
    text = (FILES / "encoding.graphml").read_text().replace("shift_jis", "no-such-encoding")
    path.write_text(text)
    with pytest.raises(FormatError, match=r"graph\.graphml, line 1.*encoding"):
        hopvec.read_graph(path)
