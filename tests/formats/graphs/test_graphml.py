"""GraphML files."""

import tracemalloc

import igraph
import networkx as nx
import pytest
from hypothesis import given

from example_graphs import examples
from graph_formats import edges_of, graph_of, open_edges, read, reason
from hopvec import FormatError
from hopvec.formats.graphs import graphml

HEAD = '<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
KEY = '<key id="d0" for="edge" attr.name="weight" attr.type="double"/>\n'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph.graphml"


def write(path, inside, *, keys="", direction="undirected"):
    path.write_text(
        f'{HEAD}{keys}<graph edgedefault="{direction}">\n{inside}\n</graph>\n</graphml>\n'
    )


def test_nodes_edges_weights_and_direction_are_in_the_file(path):
    original = nx.DiGraph()
    original.add_nodes_from(["a", "b", "isolated & <odd>"])
    original.add_edge("a", "b", weight=2.5, color="red")
    original.add_edge("b", "a", color="blue")
    nx.write_graphml(original, path)
    assert reason(graphml, path) == "it contains the element <graphml>"
    stream = open_edges(graphml, path)
    assert (stream.directed, stream.untyped) == (True, True)
    assert stream.metadata == {"weight": "weight"}
    assert edges_of(stream) == [("a", "b", 2.5), ("b", "a", 1.0)]
    assert stream.nodes.to_pylist() == ["a", "b", "isolated & <odd>"]


def test_a_file_written_by_igraph_is_read(path):
    original = igraph.Graph(3, [(0, 1), (1, 1)])
    original.es["weight"] = [1.5, 2.0]
    original.vs["weight"] = [7, 8, 9]
    original.write_graphml(str(path))
    stream = open_edges(graphml, path)
    assert edges_of(stream) == [("n0", "n1", 1.5), ("n1", "n1", 2.0)]
    assert (stream.directed, len(stream.nodes)) == (False, 3)


def test_weight_names_another_attribute_with_its_default(path):
    keys = (
        '<key id="d0" for="edge" attr.name="km"><default> 7 </default></key>'
        '<key id="d1" for="node" attr.name="weight"><default>x</default></key>'
    )
    inside = (
        '<node id="1"><data key="d1">3</data></node>'
        '<edge source="1" target="1"><data key="d0">2</data></edge><edge source="1" target="1"/>'
    )
    write(path, inside, keys=keys)
    assert read(graphml, path) == [("1", "1"), ("1", "1")]
    assert read(graphml, path, weight="km") == [("1", "1", 2), ("1", "1", 7)]
    with pytest.raises(FormatError, match=r"line \d: edges have no attribute 'x' .* are: km"):
        open_edges(graphml, path, weight="x")


def test_unweighted_ignores_the_weights(path):
    write(path, '<node id="1"/><edge source="1" target="1"/>', keys=KEY)
    assert read(graphml, path, unweighted=True) == [("1", "1")]


def test_an_edge_is_located_by_its_line(path):
    write(path, '<node id="1"/>\n<edge source="1" target="1"/>\n\n<edge source="1" target="1"/>')
    stream = open_edges(graphml, path)
    list(stream.batches)
    assert [stream.locate(edge) for edge in (0, 1)] == ["line 5", "line 7"]


def test_blocks_of_any_size_give_the_same_edges(path, monkeypatch):
    original = nx.path_graph(40)
    nx.set_edge_attributes(original, {edge: sum(edge) / 2 for edge in original.edges}, "weight")
    nx.write_graphml(original, path)
    whole = read(graphml, path)
    for size in (1, 7, 100):
        monkeypatch.setattr(graphml, "BLOCK_BYTES", size)
        stream = open_edges(graphml, path)
        assert edges_of(stream) == whole
        assert len(stream.nodes) == 40


def test_memory_does_not_grow_with_what_was_read(path, monkeypatch):
    monkeypatch.setattr(graphml, "BLOCK_BYTES", 1 << 14)
    write(path, '<node id="1"/>' + '<edge source="1" target="1"/>\n' * 30_000)
    stream = open_edges(graphml, path)
    tracemalloc.start()
    for _ in stream.batches:
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000  # 8 bytes per edge for its line, and one block


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("<node/>", r"line 5: a <node> needs the attribute 'id'"),
        ('<edge source="1"/>', r"line 5: a <edge> needs the attribute 'target'"),
        ('\n<edge source="1" target="1"><data key="d0">x</data></edge>', r"line 6: a weight .*'x'"),
        ('<edge source="1" target="1"><data key="d0"/></edge>', r"line 5: a weight .*''"),
        ('<edge source="1" target="1" directed="true"/>', r"line 5: the graph is undirected, but"),
        ("<hyperedge/>", r"line 5: hyperedges are not supported"),
        ('<node id="1"><graph edgedefault="directed"/></node>', r"line 5: this is a second <gr"),
        ('<node id="1">', r"line 6, column 3: this is not well-formed XML \(mismatched tag\)"),
        ('<node id="&nothing;"/>', r"line 5, column \d+: this is not well-formed XML"),
        ("\x01", r"line 5, column 1: this is not well-formed XML"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(path, inside, message):
    write(path, inside, keys=KEY)
    with pytest.raises(FormatError, match=rf"graph\.graphml, {message}"):
        read(graphml, path)


def test_a_graph_without_a_known_direction_is_refused(path):
    write(path, "", direction="both")
    with pytest.raises(
        FormatError, match=r"line 3: edgedefault must be directed or undirected, found"
    ):
        open_edges(graphml, path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"line 1, column 1: .*no element found"),
        (b"\0\1\2\3", r"line 1, column 1: this is not well-formed XML"),
        (HEAD.encode() + b"</graphml>", r"the <graph> element is missing"),
        (HEAD.encode() + b"<graph", r"not well-formed XML"),
        (
            HEAD.encode() + b'<graph edgedefault="directed"><node id="\xff"/>',
            r"not well-formed XML",
        ),
    ],
)
def test_a_file_that_is_not_graphml_is_refused(path, content, message):
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        read(graphml, path)


def test_entity_expansion_is_refused(path):
    path.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE graphml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n'
        '<graphml><graph edgedefault="directed"><node id="&b;"/></graph></graphml>'
    )
    with pytest.raises(FormatError, match=r"line 2: document type declarations .* are refused"):
        read(graphml, path)


@given(examples())
def test_a_graph_written_by_networkx_round_trips(tmp_path_factory, example):
    path = tmp_path_factory.mktemp("any") / "graph.graphml"
    graph = example.graph()
    nx.write_graphml(graph.to_networkx(), path)
    if not graph.edges:
        assert read(graphml, path) == []
        return
    again = graph_of(open_edges(graphml, path))
    assert again.ids.to_pylist() == [str(id) for id in graph.ids.to_pylist()]
    assert again.directed == graph.directed
    assert (again.to_scipy() != graph.to_scipy()).nnz == 0
