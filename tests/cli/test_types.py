"""Types of nodes on the command line: read, shown, and used to limit commands."""

import json

import pyarrow.parquet as pq
import pytest

import hopvec
from neo4j_export import write_apoc_file, write_import_files

USERS = ["ann", "bob", "cem", "dan", "eve", "fay"]
ITEMS = ["tea", "jam", "rum", "oil", "nut"]


@pytest.fixture
def run(run, tmp_path):
    """Runs a command in a directory with bought.csv, nodes.csv and vectors.parquet."""
    bought = [
        f"{user},{item}"
        for at, user in enumerate(USERS)
        for to, item in enumerate(ITEMS)
        if (2 * at + to) % 5 < 3
    ]
    friends = ["ann,bob", "cem,dan", "eve,fay"]
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *bought, *friends, ""]))
    rows = [*(f"{user},user" for user in USERS), *(f"{item},item" for item in ITEMS), "ice,item"]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,kind", *rows, ""]))
    arguments = ("--nodes", "nodes.csv", "--node-type", "kind", "--dim", "8")
    result = run("embed", "edges.csv", *arguments, "-o", "vectors.parquet")
    assert "types   item (6 nodes), user (6 nodes)" in result.stderr
    return run


def test_vectors_have_a_column_of_types(run, tmp_path):
    assert pq.read_table(tmp_path / "vectors.parquet").column_names == ["id", "type", "embedding"]
    run("convert", "vectors.parquet", "vectors.csv")
    assert hopvec.load(tmp_path / "vectors.csv").types.to_pylist().count("user") == 6


def test_info_lists_types_of_graphs_and_of_vectors(run):
    graph = run("info", "edges.csv", "--nodes", "nodes.csv", "--node-type", "kind")
    assert "types  item (6 nodes), user (6 nodes)" in graph.stdout
    assert "types      item (6 nodes), user (6 nodes)" in run("info", "vectors.parquet").stdout
    run("convert", "vectors.parquet", "vectors.csv")
    assert "item (6 nodes), user (6 nodes)" in run("info", "vectors.csv").stdout
    about = json.loads(run("info", "vectors.parquet", "--json").stdout)
    assert about["graph"]["types"] == {"item": 6, "user": 6}


def test_info_counts_nodes_without_a_type(run, tmp_path):
    (tmp_path / "some.csv").write_text("id,kind\nann,user\n")
    result = run("info", "edges.csv", "--nodes", "some.csv", "--node-type", "kind")
    assert "types  user (1 node), 10 nodes without a type" in result.stdout


def test_several_files_of_nodes_have_their_types(run, tmp_path):
    (tmp_path / "users.txt").write_text("\n".join(USERS) + "\n")
    (tmp_path / "items.txt").write_text("\n".join(ITEMS) + "\n")
    result = run("info", "edges.csv", "--nodes", "user=users.txt,item=items.txt")
    assert "types  user (6 nodes), item (5 nodes)" in result.stdout
    assert "types" not in run("info", "edges.csv", "--nodes", "users.txt,items.txt").stdout
    result = run("info", "edges.csv", "--nodes", "user=users.txt,items.txt")
    assert result.exit_code == 2
    assert "the types of all files, or of none" in result.stderr
    result = run("info", "edges.csv", "--nodes", "user=users.txt,item=none.txt")
    assert "none.txt: there is no such file" in result.stderr


class TestNeighbors:
    def found(self, run, *arguments):
        lines = run("neighbors", "vectors.parquet", *arguments).stdout.splitlines()
        return [line.split("\t")[1] for line in lines]

    def test_only_nodes_of_the_type_are_neighbors(self, run):
        assert set(self.found(run, "ann", "--type", "item")) == {*ITEMS, "ice"}
        assert set(self.found(run, "ann", "--type", "user")) == {*USERS} - {"ann"}
        assert len(self.found(run, "ann", "--type", "user", "--type", "item", "-k", 20)) == 11

    def test_a_file_of_all_neighbors_is_limited(self, run, tmp_path):
        run("neighbors", "vectors.parquet", "--all", "--type", "item", "-o", "knn.parquet")
        neighbors = pq.read_table(tmp_path / "knn.parquet")["neighbor"].to_pylist()
        assert set(neighbors) == {*ITEMS, "ice"}

    def test_an_unknown_type_is_an_error_that_lists_the_types(self, run):
        result = run("neighbors", "vectors.parquet", "ann", "--type", "shop")
        assert result.exit_code == 2
        assert result.stderr == "There is no type 'shop'; the types are item, user.\n"

    def test_vectors_without_types_are_an_error_that_tells_where_they_come_from(self, run):
        run("embed", "edges.csv", "-o", "plain.parquet", "--dim", 8)
        result = run("neighbors", "plain.parquet", "ann", "--type", "item")
        assert "--type needs types of nodes" in result.stderr
        assert "hopvec embed --node-type" in result.stderr

    @pytest.mark.parametrize("option", ["--mutual", "--approximate"])
    def test_options_that_search_all_nodes_are_refused(self, run, option):
        result = run(
            "neighbors", "vectors.parquet", "--all", "--type=item", option, "-o", "knn.csv"
        )
        assert result.exit_code == 2
        assert "--type" in result.stderr


class TestRecommend:
    def found(self, run, *arguments):
        result = run("recommend", *arguments, "--graph", "edges.csv", "ann")
        return {line.split("\t")[1] for line in result.stdout.splitlines()}

    def test_only_nodes_of_the_type_are_recommended(self, run):
        items = {"oil", "nut"}  # ann has tea, jam and rum; ice has no vector
        assert self.found(run, "vectors.parquet", "--type", "item") <= {*items, "ice"}
        assert self.found(run, "vectors.parquet", "--type", "user") == {*USERS} - {"ann", "bob"}
        by_graph = ("vectors.parquet", "--score", "adamic-adar", "--type", "item")
        assert self.found(run, *by_graph) <= items

    def test_types_of_the_graph_need_no_vectors(self, run):
        nodes = ("--nodes", "nodes.csv", "--node-type", "kind")
        found = self.found(run, "--score", "adamic-adar", "--type", "user", *nodes)
        assert found <= {*USERS} - {"ann", "bob"}
        assert found

    def test_unknown_types_are_listed(self, run):
        result = run("recommend", "vectors.parquet", "--graph=edges.csv", "ann", "--type=shop")
        assert "There is no type 'shop'; the types are item, user." in result.stderr


class TestEvaluate:
    def test_labels_are_limited_to_nodes_of_the_type(self, run, tmp_path):
        labels = [f"{name},{'ab'[at % 2]}" for at, name in enumerate([*USERS, *ITEMS])]
        (tmp_path / "labels.csv").write_text("\n".join(["id,label", *labels, ""]))
        arguments = ("evaluate", "vectors.parquet", "labels.csv", "--shares=0.5", "--shuffles=2")
        assert "11 labeled nodes" in run(*arguments).stderr
        assert "6 labeled nodes" in run(*arguments, "--type", "user").stderr
        assert "There is no type 'x'" in run(*arguments, "--type", "x").stderr

    def test_links_are_limited_to_those_that_lead_to_the_type(self, run, tmp_path):
        pairs = ["ann,tea,1", "ann,bob,1", "bob,cem,0", "cem,jam,0", "tea,jam,0"]
        (tmp_path / "links.csv").write_text("\n".join(["source,target,label", *pairs, ""]))
        arguments = ("evaluate", "vectors.parquet", "--links", "links.csv")
        assert "2 edges, negative pairs: 3 given" in run(*arguments).stderr
        limited = run(*arguments, "--type", "item").stderr
        assert "1 edge, negative pairs: 2 given" in limited

    def test_only_nodes_of_the_type_are_recommended(self, run):
        run("split", "edges.csv", "--per-node", "-o", "training.csv", "--links", "out.csv")
        run("embed", "training.csv", "-o", "t.parquet", "--dim=8", "--nodes=nodes.csv",
            "--node-type=kind")  # fmt: skip
        arguments = ("evaluate", "t.parquet", "--recommend=out.csv", "--graph=training.csv")
        everything = json.loads(run(*arguments, "--json").stdout)
        limited = json.loads(run(*arguments, "--json", "--type", "item").stdout)
        assert limited["candidates"] == 5 < everything["candidates"]
        assert limited["edges"] < everything["edges"]


def test_a_map_shows_only_nodes_of_the_type(run):
    assert "map.png: 12 nodes" in run("map", "vectors.parquet", "--layout", "pca").stderr
    limited = run("map", "vectors.parquet", "--layout", "pca", "--type", "item")
    assert "map.png: 6 nodes" in limited.stderr
    assert "There is no type 'x'" in run("map", "vectors.parquet", "--type", "x").stderr


class TestNeo4j:
    def test_files_for_neo4j_admin_go_to_vectors_and_back(self, run, tmp_path):
        write_import_files(tmp_path)
        graph = "ACTED_IN=roles.csv,KNOWS=knows.csv"
        nodes = ("--nodes", "actors.csv,movies.csv")
        shown = run("info", graph, *nodes).stdout
        assert "Actor (5 nodes), Movie (4 nodes)" in shown
        assert "ACTED_IN 9 edges" in shown
        balance = ("--relation-balance", "node")
        run("embed", graph, *nodes, *balance, "-o", "movies.parquet", "--dim", 8)
        lines = run("neighbors", "movies.parquet", "Actor-ID:1", "--type", "Movie").stdout
        assert len(lines.splitlines()) == 4
        target = "neo4j:import?Actor=personId&Movie=movieId"
        assert "9 rows" in run("export", "movies.parquet", target, "--index").stderr
        assert (tmp_path / "import" / "vectors.csv").read_text().startswith("id,label,vector\n1,")
        script = (tmp_path / "import" / "load.cypher").read_text()
        assert script.count("CREATE VECTOR INDEX") == 2

    def test_a_file_of_apoc_goes_to_vectors_and_back(self, run, tmp_path):
        write_apoc_file(tmp_path)
        result = run("embed", "graph.csv", "--relation", "_type", "-o", "a.parquet", "--dim", 8)
        assert "Person (4 nodes), Movie (1 node)" in result.stderr
        assert "5 rows" in run("export", "a.parquet", "neo4j:import?_id", "--index").stderr
        script = (tmp_path / "import" / "load.cypher").read_text()
        assert "id(n) = toInteger(row.id)" in script
