"""Columns that are claimed twice, two kinds of nodes, ids such as 1.0, and headers of Neo4j."""

import logging

import pandas as pd
import polars as pl
import pytest

from hopvec import FormatError, Graph, GraphError, ParameterError, read_graph
from hopvec.graph.columns import differ_in_kind


def write(tmp_path, text):
    path = tmp_path / "edges.csv"
    path.write_text(text)
    return path


class TestWeight:
    def test_a_number_is_refused_if_columns_have_names(self, tmp_path):
        path = write(tmp_path, "source,target,weight\na,b,1\nb,c,2\n")
        with pytest.raises(FormatError, match=r"weight=1 is the number of a column.*weight='sourc"):
            read_graph(path, weight=1)
        with pytest.raises(FormatError, match=r"\(the columns are source, target, weight\)\.$"):
            Graph.from_arrow(pd.read_csv(path), weight=1)  # it has no header=

    def test_a_weight_does_not_become_an_end_because_of_another_one(self, tmp_path):
        path = write(tmp_path, "follower,followed,weight\n1,2,5\n2,3,7\n")
        with pytest.raises(FormatError, match=r"with weight='follower', the column 'weight' would"):
            read_graph(path, weight="follower")
        ends = {"source": "followed", "target": "weight"}
        assert read_graph(path, weight="follower", **ends).nodes == 4
        assert read_graph(path, weight="weight").weights is not None

    def test_a_number_works_without_a_header(self, tmp_path):
        path = write(tmp_path, "2,a,b\n3,b,c\n")
        graph = read_graph(path, weight=1, header=False)
        assert sorted(graph.ids.to_pylist()) == ["a", "b", "c"]
        assert read_graph(path, weight=1, source=2, target=3).nodes == 3

    def test_a_number_alone_is_refused_without_a_header(self, tmp_path):
        path = write(tmp_path, "1,2,5\n2,3,7\n")
        with pytest.raises(FormatError, match=r"weight=1 is the number of .* with header=False"):
            read_graph(path, weight=1)

    def test_an_end_cannot_be_the_weight(self, tmp_path):
        path = write(tmp_path, "source,target,weight\n1,2,1\n2,3,2\n")
        with pytest.raises(FormatError, match="its name is that of the source"):
            read_graph(path, weight="source")
        graph = read_graph(path, weight="source", source="target", target="weight")
        assert graph.weights is not None


class TestKinds:
    TEXT = "user_id,item_id\n1,2\n2,3\n3,1\n"

    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            ("user_id", "item_id", True),
            ("UserID", "MovieID", True),
            ("customers", "products", True),
            ("paper", "author", True),
            ("user", "site", True),
            ("s", "t", False),
            (":START_ID(Person)", ":END_ID(Movie)", True),
            (":START_ID(Person)", ":END_ID(Person)", False),
            (":START_ID", ":END_ID", False),
            ("user_id", "friend_id", False),
            ("source", "target", False),
            ("follower", "followed", False),
            ("item_a", "item_b", False),
            ("id", "name", False),
            ("1", "2", False),
        ],
    )
    def test_names_of_two_kinds_are_recognized(self, one, other, expected):
        assert differ_in_kind(one, other) is expected

    def test_shared_ids_are_refused(self, tmp_path):
        path = write(tmp_path, self.TEXT)
        with pytest.raises(GraphError, match=r"share ids, such as 1\. Pass bipartite=True"):
            read_graph(path)
        with pytest.raises(GraphError, match="share ids"):
            Graph.from_arrow(pd.read_csv(path))

    def test_one_kind_and_bipartite_say_what_is_meant(self, tmp_path):
        path = write(tmp_path, self.TEXT)
        assert read_graph(path, one_kind=True).nodes == 3
        assert Graph.from_arrow(pd.read_csv(path), one_kind=True).nodes == 3
        assert read_graph(path, bipartite=True, prefixes=("u", "i")).nodes == 6
        with pytest.raises(ParameterError, match="contradict"):
            read_graph(path, one_kind=True, bipartite=True)

    def test_distinct_ids_need_no_flag(self, tmp_path):
        assert read_graph(write(tmp_path, "user,item\nann,tea\nbob,jam\n")).nodes == 4


class TestWholeFloats:
    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_files_and_frames_agree(self, tmp_path, frame):
        path = write(tmp_path, "source,target\n1.0,2.0\n2.0,10.0\n")
        graphs = [read_graph(path)]
        graphs.append(Graph.from_arrow(frame({"source": [1.0, 2.0], "target": [2.0, 10.0]})))
        for graph in graphs:
            assert graph.ids.to_pylist() == [1, 2, 10]
            assert graph.origin["ids"] == "numbers such as 1.0, read as integers"

    def test_fractions_stay_strings_in_text_and_are_refused_in_frames(self, tmp_path):
        graph = read_graph(write(tmp_path, "source,target\n1.0,2.5\n"))
        assert graph.ids.to_pylist() == ["1.0", "2.5"]
        with pytest.raises(FormatError, match=r"row 1: the id 2\.5 is a fraction"):
            Graph.from_arrow(pd.DataFrame({"source": [1.0], "target": [2.5]}))

    def test_ids_that_would_coincide_stay_strings(self, tmp_path):
        assert read_graph(write(tmp_path, "source,target\n1.0,1\n2.0,1.0\n")).nodes == 3

    def test_a_missing_float_is_a_missing_id(self):
        with pytest.raises(GraphError, match="no id"):
            Graph.from_arrow(pl.DataFrame({"source": [1.0, float("nan")], "target": [2.0, 3.0]}))


class TestNeo4j:
    @pytest.mark.parametrize(
        "header",
        [
            ":START_ID,weight:double,:END_ID,:TYPE",
            ":START_ID(Person),weight:float,:END_ID(Person),:TYPE",
            "_start,weight,_end,_type",
        ],
    )
    def test_headers_are_recognized(self, tmp_path, header, caplog):
        path = write(tmp_path, f"{header}\na,1.5,b,KNOWS\nb,2,c,KNOWS\n")
        with caplog.at_level(logging.WARNING, "hopvec"):
            graph = read_graph(path)
        names = header.split(",")
        assert graph.origin["columns"] == {
            "source": names[0],
            "target": names[2],
            "weight": names[1],
        }
        assert caplog.text == ""


def test_an_id_is_not_proposed_as_the_weight(tmp_path, caplog):
    path = write(tmp_path, "source,target,Interaction ID\na,b,17\nb,c,18\n")
    with caplog.at_level(logging.WARNING, "hopvec"):
        read_graph(path)
    assert caplog.text == ""


class TestNodes:
    @pytest.mark.parametrize(
        "header",
        [
            "personId:ID,name",
            "personId:ID(Person),name",
            ":ID,name",
            "personId,age",
            "name,personId:ID",
        ],
    )
    def test_the_column_of_ids_is_found_by_neo4j_or_by_its_name(self, tmp_path, header):
        edges = write(tmp_path, "source,target\na,b\n")
        nodes = tmp_path / "nodes.csv"
        first = not header.startswith("name")
        rows = [("a", "1"), ("z", "2")]
        lines = [",".join(row if first else row[::-1]) for row in rows]
        nodes.write_text("\n".join([header, *lines]) + "\n")
        assert read_graph(edges, nodes=nodes).ids.to_pylist() == ["a", "b", "z"]

    def test_nodes_that_have_nothing_to_do_with_the_edges_are_reported(self, tmp_path, caplog):
        edges = write(tmp_path, "source,target\na,b\n")
        with caplog.at_level(logging.WARNING, "hopvec"):
            read_graph(edges, nodes=["Ann", "Bob"])
        assert "none of the 2 nodes of nodes= has an edge; their ids, such as 'Ann'" in caplog.text


def test_a_typed_column_is_chosen_by_its_plain_name(tmp_path):
    path = write(tmp_path, ":START_ID,:END_ID,since:int,weight:double\na,b,1,2.5\nb,c,2,1\n")
    graph = read_graph(path, weight="since")
    assert graph.origin["columns"]["weight"] == "since:int"


def test_a_bad_row_names_the_remedy(tmp_path):
    for line in ("a,,1", "a,b,x"):
        with pytest.raises((GraphError, FormatError), match="bad_rows='skip'"):
            read_graph(write(tmp_path, f"source,target,weight\na,b,1\n{line}\n"))


def test_the_remedy_for_frames_exists():
    frame = pd.DataFrame({"user_id": [1, 2], "item_id": [2, 3]})
    with pytest.raises(GraphError, match=r"Use Graph\.from_bipartite with prefixes="):
        Graph.from_arrow(frame)
    ends = frame["user_id"], frame["item_id"]
    assert Graph.from_bipartite(*ends, prefixes=("user:", "item:")).nodes == 4
