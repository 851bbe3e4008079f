"""GML files."""

import igraph
import networkx as nx
import pytest
from hypothesis import given

from example_graphs import examples
from graph_formats import edges_of, graph_of, open_edges, read, reason
from hopvec import FormatError
from hopvec.formats.graphs import gml

EXAMPLE = """Creator "someone"
# a comment with "one quote
graph
[
  directed 1
  comment "two
lines [ with brackets ]"
  node [ id 1 label "a &quot;b&quot;" graphics [ x 1.5 y [ z 2 ] ] ]
  node [ id 2 label "c" ]
  node [ id 7 label "isolated" ]
  edge [ source 1 target 2 value 2.5 ]
  edge
  [
    target 1
    source 2
  ]
]
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph.gml"


def test_labels_are_the_ids_and_values_the_weights(path):
    path.write_text(EXAMPLE)
    assert reason(gml, path) == "it contains 'graph [' and 'node ['"
    stream = open_edges(gml, path)
    assert stream.metadata == {"ids": "label", "weight": "value"}
    assert (stream.directed, stream.untyped) == (True, True)
    assert edges_of(stream) == [('a "b"', "c", 2.5), ("c", 'a "b"', 1.0)]
    assert stream.nodes.to_pylist() == ['a "b"', "c", "isolated"]
    assert [stream.locate(edge) for edge in (0, 1)] == ["line 11", "line 12"]


@pytest.mark.parametrize("labels", [("x", "x"), ("x", None), (None, None), ("x", "")])
def test_node_ids_are_used_unless_all_nodes_have_distinct_labels(path, labels):
    nodes = (
        f"node [ id {id} {'' if label is None else f'label {chr(34)}{label}{chr(34)}'} ]"
        for id, label in zip((3, 4), labels, strict=True)
    )
    path.write_text(f"graph [ {' '.join(nodes)} edge [ source 4 target 3 ] ]")
    stream = open_edges(gml, path)
    assert stream.metadata["ids"] == "id, since not every node has a unique label"
    assert (edges_of(stream), stream.directed) == ([("4", "3")], False)


def test_weight_names_another_attribute(path):
    path.write_text("graph [ node [ id 1 ] edge [ source 1 target 1 km 3 weight 4 ] ]")
    assert read(gml, path) == [("1", "1", 4)]
    assert read(gml, path, weight="km") == [("1", "1", 3)]
    assert read(gml, path, unweighted=True) == [("1", "1")]
    with pytest.raises(
        FormatError, match=r"no attribute 'x' for the weight; their attributes are: km, weight"
    ):
        open_edges(gml, path, weight="x")


def test_a_file_written_by_igraph_is_read(path):
    original = igraph.Graph(3, [(0, 1), (2, 1)], directed=True)
    original.vs["label"] = ["x", "y", "z"]
    original.es["weight"] = [1.5, 2]
    original.write_gml(str(path))
    assert read(gml, path) == [("x", "y", 1.5), ("z", "y", 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"graph\.gml: 'graph \[' is missing"),
        ("node [ id 1 ]", r"graph\.gml: 'graph \[' is missing"),
        ("graph [\n node [ id 1 ]", r"line 2: the list 'graph' is not closed"),
        ("graph [\n node [\n id 1", r"line 3: the list 'node' is not closed"),
        ("graph [ x [\n y [ ]", r"line 2: the list 'x' is not closed"),
        ("graph [ ]\n]", r"line 2: unmatched '\]'"),
        ("graph [ ]\ngraph [ ]", r"line 2: this is a second graph"),
        ("graph [\n node [ label ]", r"line 2: the key 'label' has no value"),
        ("graph [\n 17 4 ]", r"line 2: a key must begin with a letter, found '17'"),
        ('graph [\n node [ label "x ] ]', r"line 2: the closing quote is missing"),
        ("graph [\n node [ label 1 ] ]", r"line 2: the node has no id"),
        ("graph [\n node [ id 1 ]\n node [ id 1 ] ]", r"line 3: the node id 1 is repeated"),
        ("graph [\n edge [ source 1 ] ]", r"line 2: the edge has no target"),
        ("graph [ node [ id 1 ]\nedge [ source 1 target 2 ] ]", r"line 2: there is no node with t"),
        (
            "graph [ node [ id 1 ]\nedge [ source 1 target 1 weight x ] ]",
            r"line 2: the weight .*'x'",
        ),
        ("graph [ directed 2 ]", r"line 1: directed must be 0 or 1, found '2'"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(path, text, message):
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read(gml, path)


def test_bytes_that_are_not_text_are_refused_with_their_line(path):
    path.write_bytes(b"graph [\n\xff\xfe ]")
    with pytest.raises(FormatError, match=r"line 2: this is not UTF-8 text \(byte 1 of the line\)"):
        read(gml, path)


@given(examples())
def test_a_graph_written_by_networkx_round_trips(tmp_path_factory, example):
    path = tmp_path_factory.mktemp("any") / "graph.gml"
    graph = example.graph()
    nx.write_gml(graph.to_networkx(), path)
    if not graph.edges:
        assert read(gml, path) == []
        return
    again = graph_of(open_edges(gml, path))
    assert again.ids.to_pylist() == [str(id) for id in graph.ids.to_pylist()]
    assert again.directed == graph.directed
    assert (again.to_scipy() != graph.to_scipy()).nnz == 0
