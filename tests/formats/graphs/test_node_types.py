"""Types of nodes: from a column of the nodes, the headers of Neo4j, and prefixes."""

import logging
from pathlib import Path

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hopvec import FormatError, GraphError, ParameterError, ReadOptions, read_graph
from neo4j_export import APOC, write_apoc_file, write_import_files


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a file in the current directory, which is a temporary one."""
    monkeypatch.chdir(tmp_path)
    return lambda name, text: Path(name).write_text(text)


def types_of(graph):
    types = [None] * graph.nodes if graph.node_types is None else graph.node_types.to_pylist()
    return dict(zip(graph.ids.to_pylist(), types, strict=True))


class TestAColumnOfTheNodes:
    @pytest.fixture(autouse=True)
    def edges(self, write):
        write("edges.csv", "source,target\na,b\nb,c\n")

    def test_types_are_matched_by_id_and_nodes_that_are_not_listed_have_none(self, write):
        write("nodes.csv", "id,kind\nb,city\na,river\nd,city\nc,\n")
        graph = read_graph("edges.csv", nodes="nodes.csv", node_type="kind")
        assert types_of(graph) == {"a": "river", "b": "city", "c": None, "d": "city"}
        assert graph.describe()["types"] == {"city": 2, "river": 1}
        assert graph.describe()["without_type"] == 1

    def test_without_a_column_there_are_no_types(self, write):
        write("nodes.csv", "id,kind\na,river\n")
        graph = read_graph("edges.csv", nodes="nodes.csv")
        assert graph.node_types is None
        assert "types" not in graph.describe()

    @pytest.mark.parametrize("column", ["kind", 2, "2"])
    def test_a_column_is_chosen_by_name_or_number(self, write, column):
        write("nodes.csv", "id,kind\na,x\nb,x\n")
        graph = read_graph("edges.csv", nodes="nodes.csv", node_type=column)
        assert types_of(graph) == {"a": "x", "b": "x", "c": None}

    def test_without_a_usual_name_the_first_column_has_the_ids(self, write):
        write("nodes.csv", "key,kind\na,x\nb,x\n")
        graph = read_graph("edges.csv", nodes="nodes.csv", node_type="kind")
        assert types_of(graph) == {"a": "x", "b": "x", "c": None}

    def test_files_of_columns_and_tables_have_types(self):
        table = pa.table({"kind": ["x", "y"], "id": ["a", "b"], "size": [1, 2]})
        pq.write_table(table, "nodes.parquet")
        expected = {"a": "x", "b": "y", "c": None}
        for nodes in ("nodes.parquet", table, table.to_pandas()):
            assert types_of(read_graph("edges.csv", nodes=nodes, node_type="kind")) == expected
        categories = table.to_pandas().astype({"kind": "category"})
        assert types_of(read_graph("edges.csv", nodes=categories, node_type="kind")) == expected

    def test_several_files_each_have_a_type(self, write):
        write("rivers.txt", "a\nd\n")
        write("cities.csv", "id,size\nb,10\n")
        nodes = {"river": "rivers.txt", "city": "cities.csv"}
        expected = {"a": "river", "b": "city", "c": None, "d": "river"}
        assert types_of(read_graph("edges.csv", nodes=nodes)) == expected
        listed = {"river": ["a", "d"], "city": ["b"]}
        assert types_of(read_graph("edges.csv", nodes=listed)) == expected

    def test_integer_ids_are_matched(self, write):
        write("edges.csv", "source,target\n1,2\n")
        write("nodes.csv", "id,kind\n2,x\n3,y\n")
        graph = read_graph("edges.csv", nodes="nodes.csv", node_type="kind")
        assert types_of(graph) == {1: None, 2: "x", 3: "y"}

    def test_an_id_of_two_types_is_refused_with_a_hint_at_prefixes(self, write):
        write("nodes.csv", "id,kind\na,river\nb,city\na,city\n")
        with pytest.raises(GraphError, match="'a' is listed as 'river' and as 'city'") as raised:
            read_graph("edges.csv", nodes="nodes.csv", node_type="kind")
        assert "prefixes=" in str(raised.value)

    def test_an_id_that_is_listed_twice_with_one_type_is_one_node(self, write):
        write("nodes.csv", "id,kind\na,river\na,river\na,\n")
        graph = read_graph("edges.csv", nodes="nodes.csv", node_type="kind")
        assert types_of(graph)["a"] == "river"

    def test_mistakes_are_explained(self, write):
        write("nodes.csv", "id,kind\na,river\n")
        with pytest.raises(FormatError, match=r"no column 'type' for node_type=; .* id, kind"):
            read_graph("edges.csv", nodes="nodes.csv", node_type="type")
        with pytest.raises(ParameterError, match="give nodes= as well"):
            ReadOptions(node_type="kind")
        with pytest.raises(ParameterError, match="a column of a file or a table"):
            read_graph("edges.csv", nodes=["a"], node_type="kind")
        with pytest.raises(ParameterError, match="keys of nodes= are the types already"):
            read_graph("edges.csv", nodes={"river": ["a"]}, node_type="kind")


class TestFilesForNeo4jAdmin:
    @pytest.fixture(autouse=True)
    def files(self, write):
        write_import_files(".")

    def test_the_same_id_in_two_id_spaces_is_two_nodes(self):
        graph = read_graph("roles.csv")
        types = types_of(graph)
        assert types["Actor-ID:1"] == "Actor-ID"
        assert types["Movie-ID:1"] == "Movie-ID"
        assert graph.nodes == 8
        assert graph.origin["prefixes"] == ["Actor-ID:", "Movie-ID:"]

    def test_labels_are_types_and_nodes_without_relationships_are_kept(self, caplog):
        nodes = [Path("movies.csv"), Path("actors.csv")]
        with caplog.at_level(logging.WARNING, "hopvec"):
            graph = read_graph("roles.csv", nodes=nodes)
        types = types_of(graph)
        assert len(types) == 9
        assert types["Actor-ID:5"] == "Actor"
        assert types["Movie-ID:2"] == "Movie"
        assert "2 nodes, such as Movie;Sequel" in caplog.text

    def test_nodes_that_no_file_lists_have_the_type_of_their_id_space(self):
        assert types_of(read_graph("roles.csv", nodes="movies.csv"))["Actor-ID:1"] == "Actor-ID"

    def test_several_files_of_relationships_share_id_spaces(self):
        files = {"ACTED_IN": "roles.csv", "KNOWS": "knows.csv"}
        graph = read_graph(files, nodes=[Path("movies.csv"), Path("actors.csv")])
        assert graph.nodes == 9
        assert graph.edges == 11
        assert graph.describe()["types"] == {"Actor": 5, "Movie": 4}
        assert set(graph.describe()["relations"]) == {"ACTED_IN", "KNOWS"}
        table = graph.to_arrow()
        ends = zip(table["source"].to_pylist(), table["target"].to_pylist(), strict=True)
        assert {frozenset(pair) for pair in ends} >= {frozenset(("Actor-ID:1", "Actor-ID:4"))}

    def test_ids_of_a_single_id_space_stay_as_they_are(self):
        graph = read_graph("knows.csv", nodes="actors.csv")
        assert graph.ids.to_pylist() == [1, 2, 3, 4, 5]
        assert set(types_of(graph).values()) == {"Actor"}
        assert read_graph("knows.csv").node_types is None

    def test_one_kind_ignores_id_spaces(self):
        graph = read_graph("roles.csv", one_kind=True)
        assert graph.ids.to_pylist() == [1, 2, 3, 4]
        assert graph.node_types is None

    def test_missing_ids_are_found_before_prefixes_hide_them(self, write):
        write("roles.csv", ":START_ID(Actor-ID),:END_ID(Movie-ID)\n1,1\n,2\n")
        with pytest.raises(GraphError, match=r"roles.csv, line 3: the source is empty"):
            read_graph("roles.csv")


class TestAFileOfApoc:
    def test_rows_of_nodes_are_nodes_and_their_first_labels_are_types(self, write):
        write_apoc_file(".")
        graph = read_graph("graph.csv", relation="_type")
        assert types_of(graph) == dict.fromkeys([1, 2, 3, 9], "Person") | {0: "Movie"}
        assert graph.edges == 3
        assert graph.isolated == 1
        assert graph.degrees.tolist() == [3, 2, 2, 1, 0]  # by the column weight
        assert set(graph.describe()["relations"]) == {"ACTED_IN", "KNOWS"}
        assert "skipped rows" not in graph.origin

    def test_properties_of_nodes_are_not_taken_for_weights(self, write, caplog):
        write("graph.csv", APOC.replace('"weight"', '"since"'))
        with caplog.at_level(logging.WARNING, "hopvec"):
            read_graph("graph.csv")
        assert "born" not in caplog.text
        assert "'since'" in caplog.text

    def test_errors_name_the_line(self, write):
        write("graph.csv", APOC.replace('"[""Trinity""]","1"', '"","much"'))
        with pytest.raises(FormatError, match=r"graph.csv, line 8: the weight 'much'"):
            read_graph("graph.csv")
        write("graph.csv", APOC.replace('"3","2"', '"3",'))
        with pytest.raises(GraphError, match=r"graph.csv, line 9: the target is empty"):
            read_graph("graph.csv")

    def test_bad_rows_can_be_skipped_and_are_counted_without_the_nodes(self, write):
        write("graph.csv", APOC.replace('"3","2"', '"3",'))
        graph = read_graph("graph.csv", bad_rows="skip")
        assert graph.edges == 2
        assert graph.nodes == 5
        skipped = graph.origin["skipped rows"]["the target is empty"]
        assert skipped == {"rows": 1, "first": "line 9"}

    def test_several_files_keep_their_nodes_and_types(self, write):
        write("graph.csv", APOC)
        write("likes.csv", APOC.replace('"9",":Person"', '"8",":Person"'))
        graph = read_graph({"A": "graph.csv", "B": "likes.csv"})
        assert graph.ids.to_pylist() == [0, 1, 2, 3, 8, 9]
        assert graph.describe()["types"] == {"Movie": 1, "Person": 5}

    def test_a_large_file_is_read_in_blocks(self, write):
        count = 60_000
        nodes = "".join(f'"{at}",":{"AB"[at % 2]}",,,\n' for at in range(count))
        edges = "".join(f',,"{at}","{at + 1}","NEXT"\n' for at in range(count - 1))
        write("graph.csv", '"_id","_labels","_start","_end","_type"\n' + nodes + edges)
        graph = read_graph("graph.csv")
        assert graph.nodes == count
        assert graph.edges == count - 1
        assert graph.node_types.to_pylist() == ["A", "B"] * (count // 2)
        write(
            "graph.csv", '"_id","_labels","_start","_end","_type"\n' + nodes + edges + ',,"7",,\n'
        )
        with pytest.raises(GraphError, match=f"line {2 * count + 1:,}: the target is empty"):
            read_graph("graph.csv")


class TestPrefixes:
    @pytest.fixture(autouse=True)
    def ratings(self, write):
        write("ratings.csv", "user,item\n1,1\n1,2\n2,2\n")

    def read(self, **options):
        return read_graph("ratings.csv", bipartite=True, prefixes=("user:", "item:"), **options)

    def test_prefixes_without_punctuation_are_types(self):
        types = {"item:1": "item", "item:2": "item", "user:1": "user", "user:2": "user"}
        assert types_of(self.read()) == types

    def test_an_empty_prefix_is_no_type(self):
        graph = read_graph("ratings.csv", bipartite=True, prefixes=("", "item "))
        assert types_of(graph) == {"1": None, "2": None, "item 1": "item", "item 2": "item"}

    def test_rows_of_the_nodes_get_the_prefix_of_their_type(self, write):
        write("nodes.csv", "id,kind\n1,user\n7,item\n7,user\n")
        graph = self.read(nodes="nodes.csv", node_type="kind")
        types = types_of(graph)
        assert types["item:7"] == "item"
        assert types["user:7"] == "user"
        assert graph.nodes == 6
        assert "item:7" in graph.targets.to_pylist()
        assert "user:7" in graph.sources.to_pylist()

    def test_nodes_of_formats_that_list_them_get_prefixes_by_their_edges(self, write):
        write("ratings.adjlist", "1 1 2\n2 2\n")
        graph = read_graph("ratings.adjlist", bipartite=True, prefixes=("user:", "item:"))
        assert graph.ids.to_pylist() == ["item:1", "item:2", "user:1", "user:2"]

    def test_a_type_without_a_prefix_is_refused(self, write):
        write("nodes.csv", "id,kind\n1,user\n7,shop\n")
        with pytest.raises(GraphError, match="the type of '7' is 'shop', but the types of the"):
            self.read(nodes="nodes.csv", node_type="kind")
        with pytest.raises(GraphError, match="these have no types"):
            self.read(nodes="nodes.csv")
        with pytest.raises(ParameterError, match="or give prefixes="):
            read_graph("ratings.csv", bipartite=True, nodes="nodes.csv", node_type="kind")


def test_memory_limit_and_threads_do_not_change_types(write):
    rows = "".join(f"{at},{at + 1}\n" for at in range(50_000))
    write("edges.csv", "source,target\n" + rows)
    kinds = pandas.DataFrame({"id": range(50_001), "kind": ["x", "y", ""] * 16_667})
    kinds.sample(frac=1, random_state=0).to_csv("nodes.csv", index=False)
    read = [
        read_graph("edges.csv", nodes="nodes.csv", node_type="kind", **options)
        for options in ({}, {"threads": 1}, {"memory": "12MB", "threads": 2})
    ]
    assert all(graph.node_types.equals(read[0].node_types) for graph in read)
