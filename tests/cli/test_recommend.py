"""hopvec recommend, hopvec evaluate --recommend, and hopvec neighbors with tables."""

import importlib
import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import hopvec
from hopvec.recommendation.recommend import METADATA

RATINGS = "user,item\n" + "".join(
    f"user{user},item{(user * step) % 7}\n" for user in range(12) for step in (1, 2, 3)
)


@pytest.fixture
def ratings(tmp_path, run):
    """A file of ratings and the vectors of its users and items."""
    (tmp_path / "ratings.csv").write_text(RATINGS)
    result = run("embed", "ratings.csv", "--bipartite", "--dim", 8, "-o", "vectors.parquet")
    assert result.exit_code == 0, result.output
    return "vectors.parquet", "--graph", "ratings.csv"


def items_of(user):
    return {line.split(",")[1] for line in RATINGS.splitlines() if line.startswith(f"{user},")}


def table_of(tmp_path, vectors, ids, k=10, **options):
    graph = hopvec.read_graph(tmp_path / "ratings.csv", bipartite=True)
    return hopvec.recommend(hopvec.load(tmp_path / vectors), graph, ids, k, **options)


class TestRecommend:
    def test_new_items_are_recommended_to_a_user(self, run, ratings, tmp_path):
        result = run("recommend", *ratings, "user3", "user5", "-k", 2)
        assert result.exit_code == 0
        lines = [line.split("\t") for line in result.stdout.splitlines()]
        assert [line[0] for line in lines] == ["user3", "user3", "user5", "user5"]
        assert not {line[1] for line in lines[:2]} & items_of("user3")
        expected = table_of(tmp_path, ratings[0], ["user3", "user5"], 2)
        assert [line[1] for line in lines] == expected["recommended"].to_pylist()
        assert [int(line[4]) for line in lines] == expected["common_neighbors"].to_pylist()

    def test_on_a_terminal_there_is_a_table_per_node(self, run, ratings, monkeypatch):
        module = importlib.import_module("hopvec.cli.recommend")
        monkeypatch.setattr(module, "is_terminal", lambda: True)
        stdout = run("recommend", *ratings, "user3").stdout
        assert "common neighbors" in stdout
        assert "\t" not in stdout

    def test_its_json_is_valid(self, run, ratings, tmp_path):
        (answer,) = json.loads(run("recommend", *ratings, "user3", "--json").stdout)
        found = [(one["id"], one["score"], one["rank"]) for one in answer["recommended"]]
        expected = table_of(tmp_path, ratings[0], "user3").to_pydict()
        columns = (expected[name] for name in ("recommended", "score", "rank"))
        assert found == list(zip(*columns, strict=True))

    @pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv", ".tsv", ".jsonl", ".csv.gz"])
    def test_all_recommendations_are_written_to_a_file(self, run, ratings, tmp_path, suffix):
        output = tmp_path / f"found{suffix}"
        result = run("recommend", *ratings, "--all", "-k", 3, "-o", output)
        assert "36 recommendations for 12 nodes" in result.stderr
        expected = table_of(tmp_path, ratings[0], None, 3)
        if suffix == ".parquet":
            table = pq.read_table(output)
            assert json.loads(table.schema.metadata[METADATA]) == {
                "score": "cosine",
                "popularity": 0.1,
            }
        elif suffix == ".arrow":
            table = pa.ipc.open_file(output).read_all()
        elif suffix == ".jsonl":
            table = pa.Table.from_pylist([*map(json.loads, output.read_text().splitlines())])
        else:
            tabs = pa.csv.ParseOptions(delimiter="\t" if suffix == ".tsv" else ",")
            table = pa.csv.read_csv(output, parse_options=tabs)
        assert table.to_pylist() == expected.to_pylist()

    def test_standard_output_is_csv_or_json_lines(self, run, ratings, tmp_path):
        expected = table_of(tmp_path, ratings[0], None, 2).to_pylist()
        lines = run("recommend", *ratings, "--all", "-k", 2, "-o", "-", "--json").stdout
        assert [*map(json.loads, lines.splitlines())] == expected
        header, *rows = run("recommend", *ratings, "--all", "-k", 2, "-o", "-").stdout.splitlines()
        assert header == "id,recommended,score,rank,common_neighbors"
        assert len(rows) == len(expected)

    def test_ids_come_from_a_file_or_standard_input(self, run, ratings, tmp_path):
        (tmp_path / "some.txt").write_text("user3\nuser5\n")
        direct = run("recommend", *ratings, "user3", "user5").stdout
        assert run("recommend", *ratings, "--ids", "some.txt").stdout == direct
        from_pipe = run("recommend", *ratings, "--ids", "-", input="user3\nuser5\n")
        assert from_pipe.stdout == direct

    def test_earlier_recommendations_can_be_excluded(self, run, ratings, tmp_path):
        run("recommend", *ratings, "--all", "-k", 2, "-o", "shown.parquet")
        run("recommend", *ratings, "--all", "-k", 2, "--exclude", "shown.parquet", "-o", "next.csv")
        shown, later = (
            {(row["id"], row["recommended"]) for row in table.to_pylist()}
            for table in (
                pq.read_table(tmp_path / "shown.parquet"),
                pa.csv.read_csv(tmp_path / "next.csv"),
            )
        )
        assert later
        assert not shown & later

    def test_ids_can_be_blocked_or_be_the_only_candidates(self, run, ratings, tmp_path):
        (tmp_path / "some.txt").write_text("item0\nitem2\n")
        for option, holds in (("--exclude", set.isdisjoint), ("--candidates", set.issuperset)):
            lines = run("recommend", *ratings, "user3", "user5", option, "some.txt").stdout
            found = {line.split("\t")[1] for line in lines.splitlines()}
            assert found
            assert holds({"item0", "item2"}, found)

    def test_pairs_are_scored_whether_they_are_edges_or_not(self, run, ratings, tmp_path):
        (tmp_path / "pairs.csv").write_text("id,other,weight\nuser3,item1,9\nuser3,item5,9\n")
        lines = run("recommend", *ratings, "--pairs", "pairs.csv").stdout.splitlines()
        graph = hopvec.read_graph(tmp_path / "ratings.csv", bipartite=True)
        embedding = hopvec.load(tmp_path / ratings[0])
        pairs = ["user3"] * 2, ["item1", "item5"]
        expected = hopvec.score_pairs(embedding, graph, pairs)["score"].to_pylist()
        assert [float(line.split("\t")[2]) for line in lines] == pytest.approx(expected, rel=1e-5)
        run("recommend", *ratings, "--pairs", "pairs.csv", "-o", "scored.parquet")
        assert pq.read_table(tmp_path / "scored.parquet")["score"].to_pylist() == expected
        assert json.loads(run("recommend", *ratings, "--pairs", "pairs.csv", "--json").stdout)

    @pytest.mark.parametrize("score", ["common-neighbors", "adamic-adar", "rp3beta"])
    def test_scores_of_the_graph_need_no_vectors(self, run, ratings, score):
        options = ("--graph", "ratings.csv", "--score", score)
        found = run("recommend", "user3", *options, "--bipartite")
        assert found.exit_code == 0
        assert found.stdout
        assert run("recommend", ratings[0], "user3", *options).stdout == found.stdout

    def test_users_and_items_with_the_same_ids_get_prefixes(self, run, tmp_path):
        pairs = {(user, user * step % 7) for user in range(9) for step in (1, 2, 3)}
        (tmp_path / "numbers.csv").write_text("".join(f"{u},{i}\n" for u, i in sorted(pairs)))
        prefixes = ("--prefixes", "user:,item:")
        run("embed", "numbers.csv", *prefixes, "--dim", 4, "-o", "numbers.parquet")
        found = run("recommend", "numbers.parquet", "--graph", "numbers.csv", *prefixes, "user:3")
        assert found.exit_code == 0
        assert all(line.split("\t")[1].startswith("item:") for line in found.stdout.splitlines())

    def test_a_directed_graph_is_read_as_it_was_embedded(self, run, tmp_path):
        (tmp_path / "edges.csv").write_text("a,b\nb,c\nc,d\nd,a\na,e\ne,c\n")
        run("embed", "edges.csv", "--directed", "--dim", 4, "-o", "directed.parquet")
        options = ("directed.parquet", "--graph", "edges.csv", "b", "--json")
        (found,) = json.loads(run("recommend", *options).stdout)
        assert "a" in {one["id"] for one in found["recommended"]}  # although a -> b exists

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("vectors.parquet", "user3"), "Give the edges that exist: --graph FILE."),
            (("vectors.parquet", "--graph", "ratings.csv"), "Name nodes: ID arguments, --ids"),
            (("--graph", "ratings.csv", "--all"), "Name a file of vectors first, which --score"),
            (
                ("ann", "--graph", "ratings.csv"),
                "ann: there is no such file. Name a file",
            ),
            (("vectors.parquet", "--graph", "no.csv", "a"), "no.csv: there is no such file."),
            (("vectors.parquet", "--graph", "ratings.csv", "user33"), "Did you mean 'user3'"),
            (("vectors.parquet", "--graph", "ratings.csv", "--all"), "--all needs an output"),
            (("vectors.parquet", "--graph", "ratings.csv", "a", "--all"), "in one way only"),
            (("vectors.parquet", "--graph", "ratings.csv", "a", "-k", "0"), "-k must be an integ"),
            (
                ("vectors.parquet", "--graph", "ratings.csv", "a", "--pairs", "ratings.csv"),
                "--pairs names the nodes already",
            ),
            (
                ("vectors.parquet", "--graph", "ratings.csv", "--pairs", "a", "--exclude", "b"),
                "leave out --candidates, --type and --exclude",
            ),
            (
                ("vectors.parquet", "--graph", "ratings.csv", "a", "--exclude", "-"),
                "so it must be a file",
            ),
            (
                ("vectors.parquet", "--graph", "ratings.csv", "--all", "-o", "ratings.csv"),
                "this is an input file",
            ),
            (
                ("vectors.parquet", "--graph", "ratings.csv", "--all", "-o", "a.xlsx"),
                "is not a format for tables",
            ),
            (
                ("vectors.parquet", "--graph", "ratings.csv", "a", "--json", "-o", "a.csv"),
                "name it .jsonl",
            ),
            (
                ("vectors.parquet", "--graph", "ratings.csv", "user3", "--memory", "1MB"),
                "a graph of 19 nodes needs at least",
            ),
            (
                ("vectors.parquet", "--graph", "ratings.csv", "--score=dot", "--popularity=1", "a"),
                "--popularity is a part of the score cosine",
            ),
        ],
    )
    def test_mistakes_are_explained(self, run, ratings, arguments, message):
        result = run("recommend", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stdout == ""


class TestEvaluate:
    @pytest.fixture
    def split(self, run, tmp_path, ratings):
        result = run(
            *("split", "ratings.csv", "--bipartite", "--per-node"),
            *("-o", "training.csv", "--links", "held-out.csv"),
        )
        assert "held-out edges" in result.stderr
        run("embed", "training.csv", "--bipartite", "--dim", 8, "-o", "trained.parquet")
        return "--recommend", "held-out.csv", "--graph", "training.csv"

    def test_vectors_and_baselines_are_in_one_table(self, run, split, tmp_path):
        lines = run("evaluate", "trained.parquet", *split, "--top", "2,3").stdout.splitlines()
        rows = [
            dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]
        ]
        assert len(rows) == 2 * 7
        training = hopvec.read_graph(tmp_path / "training.csv", bipartite=True)
        held_out = hopvec.evaluate.read_links(tmp_path / "held-out.csv", graph=training)
        found = hopvec.evaluate.evaluate_recommendation(
            hopvec.load(tmp_path / "trained.parquet"), held_out, k=[2, 3]
        )
        for row, (_, score, k, scores) in zip(rows, found.rows(), strict=True):
            assert (row["score"], int(row["k"])) == (score, k)
            assert float(row["recall"]) == pytest.approx(scores.recall, abs=1e-5)

    def test_the_whole_graph_can_be_given(self, run, split):
        whole = (*split[:3], "ratings.csv")
        one, other = (run("evaluate", "trained.parquet", *given) for given in (split, whole))
        assert one.stdout == other.stdout
        assert "held-out edges are in ratings.csv" in other.stderr
        assert "have seen the answers" not in one.stderr

    def test_scores_are_written(self, run, split, tmp_path):
        run("evaluate", "trained.parquet", *split, "-o", "scores.json")
        assert json.loads((tmp_path / "scores.json").read_text())["nodes"] > 8
        assert "hit rate" not in run("evaluate", "trained.parquet", *split, "--json").stdout

    def test_on_a_terminal_there_is_a_table_per_length(self, run, split, monkeypatch):
        module = importlib.import_module("hopvec.cli.scores")
        monkeypatch.setattr(module, "is_terminal", lambda: True)
        stdout = run("evaluate", "trained.parquet", *split).stdout
        assert stdout.count("Recommendation, the first") == 2

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--recommend", "held-out.csv"), "--recommend needs --graph"),
            (("--recommend", "a", "--links", "b"), "Give --links or --recommend, not both."),
            (("--links", "held-out.csv", "--top", "3"), "--top needs --recommend."),
            (("--recommend", "absent.csv", "--graph", "training.csv"), "no such file"),
        ],
    )
    def test_mistakes_are_explained(self, run, split, arguments, message):
        result = run("evaluate", "trained.parquet", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr


class TestNeighbors:
    def test_the_neighbors_of_all_nodes_are_written(self, run, vectors, tmp_path):
        result = run("neighbors", vectors, "--all", "-k", 2, "-o", "knn.parquet")
        assert result.exit_code == 0
        assert "12 neighbors of 6 nodes" in result.stderr
        found, embedding = pq.read_table(tmp_path / "knn.parquet"), hopvec.load(tmp_path / vectors)
        assert found.equals(embedding.nearest_all(2))

    def test_options_are_those_of_the_library(self, run, vectors, tmp_path):
        embedding = hopvec.load(tmp_path / vectors)
        (tmp_path / "some.txt").write_text("ann\nbob\ncem\n")
        some = ["ann", "bob", "cem"]
        for given, expected in (
            (("--all", "--mutual"), embedding.nearest_all(2, mutual=True)),
            (("--all", "--min-similarity", 0.5), embedding.nearest_all(2, min_similarity=0.5)),
            (("--ids", "some.txt"), embedding.nearest(some, 2)),
            (("--ids", "some.txt", "--among", "some.txt"), embedding.nearest(some, 2, among=some)),
            (("--all", "--memory", "500MB"), embedding.nearest_all(2)),
        ):
            run("neighbors", vectors, *given, "-k", 2, "-o", "found.arrow")
            assert pa.ipc.open_file(tmp_path / "found.arrow").read_all().equals(expected)

    def test_ids_from_a_file_are_printed(self, run, vectors):
        direct = run("neighbors", vectors, "ann", "bob").stdout
        assert run("neighbors", vectors, "--ids", "-", input="ann\nbob\n").stdout == direct

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((), "Name nodes: ID arguments, --ids FILE, or --all."),
            (("ann", "--all"), "in one way only"),
            (("--all",), "--all needs an output, such as -o knn.parquet or -o -."),
            (("ann", "--mutual", "--among", "some.txt"), "Give --among or --mutual, not both."),
            (("ann", "--compare", "vectors.parquet", "-o", "a.csv"), "--compare prints neighbors"),
            (("ann", "--min-similarity", "2"), "--min-similarity must be a number from -1 to 1"),
            (("--all", "-o", "a.csv", "--memory", "1kB"), "the memory limit is 1 kB"),
            (("ann", "-k", "0"), "-k must be an integer of at least 1"),
        ],
    )
    def test_mistakes_are_explained(self, run, vectors, arguments, message):
        result = run("neighbors", vectors, *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
