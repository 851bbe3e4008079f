"""Edges are read or refused, never lost without a word; and every reader takes linear time."""

from contextlib import suppress
from pathlib import Path
from time import process_time

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


def graphml(inside):
    return f'<graphml><graph edgedefault="undirected">{inside}</graph></graphml>'


CONTENT = {
    "lines.csv": lambda n: "source,target\n" + "a,b\n" * n,
    "comments.csv": lambda n: "source,target\n" + "# nothing\n" * n + "a,b\n",
    "spaces.txt": lambda n: "a" + " " * min(n, 1 << 19) + "b\n" + "a b\n" * n,
    "list.adjlist": lambda n: "a " + " ".join(f"b{k}" for k in range(n)) + "\n",
    "open-quote.gml": lambda n: 'graph [\n node [ id 0 label "' + "a\n" * n,
    "long-label.gml": lambda n: 'graph [\n node [ id 0 label "' + "a\n" * n + '" ]\n]\n',
    "deep.gml": lambda n: "graph [\n node [ id 0 " + "x [\n" * n + "]\n" * n + "] ]\n",
    "nodes.gml": lambda n: "graph [\n" + "".join(f"node [ id {k} ]\n" for k in range(n)) + "]\n",
    "text.graphml": lambda n: graphml(
        "<desc>" + "a\n" * n + '</desc><edge source="a" target="b"/>'
    ),
    "id.graphml": lambda n: graphml(f'<edge source="{"a" * n}" target="b"/>'),
    "edges.graphml": lambda n: graphml('<edge source="a" target="b"/>' * n),
    "deep.graphml": lambda n: graphml("<x>" * n + "</x>" * n),
    "entries.mtx": lambda n: (
        f"%%MatrixMarket matrix coordinate pattern general\n9 9 {n}\n" + "1 2\n" * n
    ),
    "comments.mtx": lambda n: (
        "%%MatrixMarket matrix coordinate pattern general\n" + "% a\n" * n + "9 9 1\n1 2\n"
    ),
}


@pytest.mark.parametrize("name", CONTENT)
def test_every_reader_takes_linear_time(name, tmp_path):
    def seconds(size):
        path = tmp_path / name
        path.write_text(CONTENT[name](size))
        begin = process_time()
        with suppress(hopvec.HopvecError):
            hopvec.read_graph(path, threads=1)
        return process_time() - begin

    seconds(1000)
    small = min(seconds(40_000) for _ in range(2))
    large = min(seconds(320_000) for _ in range(2))
    # Eight times as much: 8 if linear, 64 if quadratic.
    assert large < 24 * max(small, 0.005)
