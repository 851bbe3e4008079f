"""Relations: edges of several types, merged into one graph by the formulas of the oracle."""

import logging

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from graph_arrays import arrays_of
from hopvec import Graph, GraphError, ParameterError, read_graph
from hopvec.formats.graphs import build
from hopvec.graph.build_plan import BuildPlan

BALANCES = ("none", "total", "node")
every_balance = pytest.mark.parametrize("balance", BALANCES)


@st.composite
def typed_edges(draw):
    """Edges with relations, their weights, and the direction of each relation."""
    nodes = draw(st.integers(2, 12))
    node, names = st.integers(0, nodes - 1), "ABC"[: draw(st.integers(1, 3))]
    rows = st.tuples(node, node, st.sampled_from(names))
    source, target, relation = zip(*draw(st.lists(rows, min_size=1, max_size=40)), strict=True)
    weight = None
    if draw(st.booleans()):
        numbers = st.floats(2.0**-10, 2.0**10, width=32)
        weight = draw(st.lists(numbers, min_size=len(source), max_size=len(source)))
    directions = {name: draw(st.sampled_from(["out", "in", "both"])) for name in names}
    weights = {name: draw(st.sampled_from([0.25, 1.0, 3.0])) for name in names}
    return nodes, (source, target, weight), relation, directions, weights


def matrix_of(nodes, source, target, weight, direction):
    """S_r of one relation, multi-edges summed; an undirected loop counts once."""
    matrix = np.zeros((nodes, nodes))
    np.add.at(matrix, (source, target), 1.0 if weight is None else weight)
    return oracle.oriented(matrix, direction)


def matrices_of(nodes, edges, relation, directions):
    source, target, weight = edges
    relation, matrices = np.array(relation), []
    for name in sorted(directions):
        rows = np.flatnonzero(relation == name)
        own = None if weight is None else np.array(weight)[rows]
        ends = np.array(source)[rows], np.array(target)[rows]
        matrices.append(matrix_of(nodes, *ends, own, directions[name]))
    return matrices


@every_balance
@given(typed_edges())
def test_the_merged_matrix_agrees_with_the_formula(balance, case):
    nodes, edges, relation, directions, weights = case
    graph = Graph.from_edges(
        *edges,
        relation=relation,
        relation_weights=weights,
        relation_balance=balance,
        relation_direction=directions,
        nodes=nodes,
    )
    matrices = matrices_of(nodes, edges, relation, directions)
    expected = oracle.merge_relations(
        matrices, [weights[name] for name in sorted(weights)], balance
    )
    np.testing.assert_allclose(graph.to_scipy().toarray(), expected, rtol=3e-7)
    assert graph.directed == any(directions[name] != "both" for name in set(relation))
    assert graph.symmetric == (not graph.directed and balance != "node")
    shares = [row["share"] for row in graph.relations.describe().values()]
    assert sum(shares) == pytest.approx(1)


@every_balance
@given(typed_edges(), st.randoms(use_true_random=False))
def test_the_arrays_do_not_depend_on_the_order_of_edges_threads_or_memory(balance, case, random):
    nodes, (source, target, weight), relation, directions, weights = case
    columns = {"s": source, "t": target, "r": relation}
    if weight is not None:
        columns["w"] = weight
    table = pa.table(columns)
    order = list(range(len(source)))
    random.shuffle(order)
    options = {
        "source": "s",
        "target": "t",
        "weight": None if weight is None else "w",
        "relation": "r",
        "relation_weights": weights,
        "relation_balance": balance,
        "relation_direction": directions,
    }
    one = Graph.from_arrow(table, **options, nodes=nodes, threads=1)
    other = Graph.from_arrow(table.take(order), **options, nodes=nodes, threads=3)
    assert arrays_of(one) == arrays_of(other)
    assert one.relations.describe() == other.relations.describe()


@pytest.fixture(scope="module")
def typed_file(tmp_path_factory):
    random = np.random.default_rng(5)
    source, target = (random.pareto(1, (2, 60_000)) * 40).astype(int) % 3000
    relation = random.choice(["KNOWS", "LIKES", "RATED"], 60_000, p=[0.7, 0.2, 0.1])
    path = tmp_path_factory.mktemp("typed") / "edges.csv"
    rows = zip(source, target, random.integers(1, 6, 60_000), relation, strict=True)
    path.write_text(
        "source,target,weight,type\n" + "".join(f"{s},{t},{w},{r}\n" for s, t, w, r in rows)
    )
    return path


@every_balance
@pytest.mark.parametrize("direction", [None, {"LIKES": "out", "RATED": "in"}])
def test_files_give_the_same_arrays_in_memory_and_within_a_limit(
    typed_file, balance, direction, monkeypatch
):
    options = {
        "relation": "type",
        "relation_weights": "KNOWS=1,LIKES=0.5,RATED=2",
        "relation_balance": balance,
        "relation_direction": direction,
    }
    whole = read_graph(typed_file, threads=2, **options)
    monkeypatch.setattr(build, "plan_memory", lambda *_, **__: BuildPlan(200_000, True, True))
    limited = read_graph(typed_file, threads=1, memory="10MB", **options)
    assert limited._mapped
    assert all(part.graph._mapped for part in limited.relations.parts)
    assert arrays_of(limited) == arrays_of(whole)
    table = pa.csv.read_csv(typed_file)
    options["relation_weights"] = {"KNOWS": 1, "LIKES": 0.5, "RATED": 2}
    assert arrays_of(Graph.from_arrow(table, **options)) == arrays_of(whole)
    assert whole.origin["columns"]["relation"] == "type"
    assert list(whole.describe()["relations"]) == ["KNOWS", "LIKES", "RATED"]


class TestDuplicates:
    EDGES = ["a", "a", "b", "a"], ["b", "b", "a", "b"], [2, 3, 5, 7]
    RELATION = "K", "K", "K", "L"

    def test_they_are_those_of_the_same_relation(self):
        graph = Graph.from_edges(*self.EDGES, relation=self.RELATION)
        assert graph.to_scipy().toarray().tolist() == [[0, 17], [17, 0]]
        assert graph.duplicates == 2
        assert graph.relations.edges == (1, 1)

    def test_the_first_of_each_relation_is_kept(self):
        graph = Graph.from_edges(*self.EDGES, relation=self.RELATION, duplicates="first")
        assert graph.to_scipy().toarray().tolist() == [[0, 9], [9, 0]]

    def test_an_error_names_the_edge_and_its_relation(self):
        with pytest.raises(GraphError, match=r"^the edge 'a' - 'b' of the relation 'K' repeats"):
            Graph.from_edges(*self.EDGES, relation=self.RELATION, duplicates="error")
        parallel = Graph.from_edges(["a", "a"], ["b", "b"], relation=["K", "L"], duplicates="error")
        assert parallel.duplicates == 0


class TestWeights:
    EDGES = ["a", "b", "c"], ["b", "c", "d"]
    RELATION = "K", "L", "M"

    def test_a_relation_without_a_weight_is_refused_with_its_location(self):
        with pytest.raises(
            GraphError, match=r"^edge 3: the relation 'M' has no weight; .* 'K', 'L'"
        ):
            Graph.from_edges(*self.EDGES, relation=self.RELATION, relation_weights={"K": 1, "L": 2})

    def test_a_star_stands_for_all_others_and_0_drops_edges_but_not_nodes(self):
        graph = Graph.from_edges(*self.EDGES, relation=self.RELATION, relation_weights="K=2,*=0")
        assert (graph.nodes, graph.edges, graph.isolated) == (4, 1, 2)
        assert graph.relations.names == ["K"]

    def test_relations_that_the_weights_name_are_there_without_edges(self, caplog):
        with caplog.at_level(logging.WARNING, "hopvec"):
            graph = Graph.from_edges(
                *self.EDGES, relation=self.RELATION, relation_weights="K=1,N=1,*=1"
            )
        assert graph.relations.names == ["K", "L", "M", "N"]
        assert graph.relations.edges == (1, 1, 1, 0)
        assert "No edge has the relation 'N'; the relations are 'K', 'L', 'M'." in caplog.text

    def test_all_of_weight_0_are_refused(self):
        with pytest.raises(GraphError, match="All relations have the weight 0"):
            Graph.from_edges(*self.EDGES, relation=self.RELATION, relation_weights="*=0")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"relation_weights": "K=-1"}, "weight of the relation 'K' must be 0 or between"),
            ({"relation_weights": "K"}, "must be a dict, or text such as 'KNOWS=1,LIKES=0.5'"),
            ({"relation_weights": "K=1,K=2"}, "names each relation once"),
            ({"relation_weights": {"K": "x"}}, "weight of the relation 'K'"),
            ({"relation_weights": 3}, "must be a dict"),
            ({"relation_balance": "nodes"}, "relation_balance must be one of 'none', 'total'"),
            ({"relation_direction": "K=up"}, "direction of the relation 'K' must be one of 'out'"),
        ],
    )
    def test_invalid_options_are_refused(self, options, message):
        with pytest.raises(ParameterError, match=message):
            Graph.from_edges(*self.EDGES, relation=self.RELATION, **options)

    @pytest.mark.parametrize(
        "option",
        [{"relation_weights": "K=1"}, {"relation_balance": "node"}, {"relation_direction": "K=in"}],
    )
    def test_options_without_relations_are_refused(self, option, tmp_path):
        (name,) = option
        with pytest.raises(ParameterError, match=f"{name}= needs relation="):
            Graph.from_edges(*self.EDGES, **option)
        (tmp_path / "edges.csv").write_text("source,target\na,b\n")
        with pytest.raises(ParameterError, match=f"{name}= needs relation="):
            read_graph(tmp_path / "edges.csv", **option)


class TestEmptyRelations:
    def test_they_are_refused_with_the_line(self, tmp_path):
        path = tmp_path / "edges.csv"
        path.write_text("source,target,type\na,b,K\nb,c,\nc,d,L\n")
        with pytest.raises(GraphError, match=r"edges.csv, line 3: the relation is empty"):
            read_graph(path, relation="type")
        graph = read_graph(path, relation="type", bad_rows="skip")
        assert graph.origin["skipped rows"] == {
            "the relation is empty": {"rows": 1, "first": "line 3"}
        }

    def test_they_are_refused_in_arrays(self):
        with pytest.raises(GraphError, match="edge 2: the relation is empty"):
            Graph.from_edges(["a", "b"], ["b", "c"], relation=["K", None])
        with pytest.raises(GraphError, match="one relation per edge: 2 edges, got 1"):
            Graph.from_edges(["a", "b"], ["b", "c"], relation=["K"])


class TestFilesByRelation:
    @pytest.fixture
    def files(self, tmp_path):
        (tmp_path / "knows.csv").write_text("source,target\na,b\nb,c\n")
        table = pa.table({"src": ["a", "b"], "dst": ["x", "y"], "weight": [2.0, 3.0]})
        pa.parquet.write_table(table, tmp_path / "likes.parquet")
        return {"KNOWS": tmp_path / "knows.csv", "LIKES": tmp_path / "likes.parquet"}

    def test_every_file_is_a_relation(self, files):
        text = ",".join(f"{name}={path}" for name, path in files.items())
        for path in (files, text):
            graph = read_graph(path, relation_weights={"KNOWS": 1, "LIKES": 0.5})
            assert graph.relations.names == ["KNOWS", "LIKES"]
            assert graph.degrees.tolist() == [2, 3.5, 1, 1, 1.5]
        assert graph.origin["files by relation"]["LIKES"]["columns"]["source"] == "src"

    def test_errors_name_the_file(self, files):
        files["KNOWS"].write_text("source,target\na,b\nb,\n")
        with pytest.raises(GraphError, match=r"^\S*knows.csv, line 3: the target is empty"):
            read_graph(files)
        with pytest.raises(ParameterError, match="every file is a relation; leave it out"):
            read_graph(files, relation="type")


def test_networkx_edges_have_relations_by_attribute_or_key():
    multi = nx.MultiGraph()
    multi.add_edge("a", "b", key="KNOWS", kind="x")
    multi.add_edge("a", "b", key="LIKES", kind="x", weight=3)
    multi.add_edge("b", "c", key="KNOWS", kind="y")
    graph = Graph.from_networkx(multi, relation="key", relation_weights="KNOWS=1,LIKES=2")
    assert graph.degrees.tolist() == [7, 8, 1]
    assert Graph.from_networkx(multi, relation="kind").relations.names == ["x", "y"]
    multi.add_edge("c", "d", key="KNOWS")
    with pytest.raises(GraphError, match=r"edge 'c' - 'd' .* has no attribute 'kind'"):
        Graph.from_networkx(multi, relation="kind")


def test_a_graph_balanced_by_node_is_listed_with_both_entries_of_an_edge():
    graph = Graph.from_edges(
        ["a", "a", "b"], ["b", "c", "c"], relation=["K", "L", "K"], relation_balance="node"
    )
    listed = graph.to_arrow()
    again = Graph.from_arrow(listed, directed=True)
    np.testing.assert_array_equal(again.to_scipy().toarray(), graph.to_scipy().toarray())
    assert graph.to_networkx().is_directed()


@pytest.mark.parametrize("weight", [1e20, 1e-20])
def test_weights_out_of_range_are_refused(weight):
    with pytest.raises(GraphError, match="weight of an edge smaller than 1e-30 or larger than"):
        Graph.from_edges(["a"], ["b"], [weight], relation=["K"], relation_weights={"K": weight})


def test_too_many_relations_are_refused():
    count = (1 << 16) + 1
    with pytest.raises(GraphError, match="more than 65,536 relations, such as '65536'"):
        Graph.from_edges(np.zeros(count, int), np.ones(count, int), relation=np.arange(count))
