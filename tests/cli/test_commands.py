"""The commands estimate, info, neighbors, convert and export."""

import json

import numpy as np
import pyarrow as pa
import pytest

import hopvec
from hopvec import FastRP
from hopvec.cli import neighbors as neighbors_file
from hopvec.formats import read_preview
from hopvec.memory import PROGRAM_BYTES


class TestEstimate:
    def test_it_prints_time_memory_and_disk_space(self, run, edges, tmp_path):
        result = run("estimate", edges, "--dim", 512, "--passes", 1)
        assert result.exit_code == 0, result.stderr
        rows = dict(line.split(maxsplit=1) for line in result.stdout.splitlines() if line[0] != " ")
        assert {"input", "graph", "time", "memory", "disk", "plan"} == set(rows)
        assert rows["time"].endswith("to read, plus the time to write 12.4 kB")
        assert rows["disk"].startswith("about 12.4 kB for a .parquet file in float32")
        assert [path.name for path in tmp_path.iterdir()] == [edges]

    def test_its_json_is_the_estimate_of_the_library(self, run, edges, tmp_path):
        result = run("estimate", edges, "--dim", 512, "--json")
        answer = json.loads(result.stdout)
        graph = hopvec.read_graph(tmp_path / edges)
        expected = hopvec.estimate(graph, FastRP(dim=512)).bytes
        assert answer["memory_bytes"] == expected + PROGRAM_BYTES
        assert answer["graph"] == graph.describe()
        assert answer["parameters"]["dim"] == 512
        assert answer["seconds"] >= 0

    def test_a_run_with_the_memory_that_it_names_has_the_same_plan(self, run, edges):
        free = json.loads(run("estimate", edges, "--dim", 512, "--json").stdout)
        memory = ("--memory", free["memory_bytes"])
        limited = json.loads(run("estimate", edges, "--dim", 512, *memory, "--json").stdout)
        assert limited["plan"] == free["plan"]

    def test_text_files_take_more_disk_space_than_binary_files(self, run, edges):
        sizes = [
            json.loads(run("estimate", edges, "-o", name, "--passes", 1, "--json").stdout)
            for name in ("vectors.npy", "vectors.csv")
        ]
        assert sizes[1]["disk_bytes"] > 2 * sizes[0]["disk_bytes"]

    def test_the_fitted_state_of_several_passes_takes_disk_space(self, run, edges):
        one, three = (
            json.loads(run("estimate", edges, "--passes", passes, "--json").stdout)["disk_bytes"]
            for passes in (1, 3)
        )
        assert three - one > 3 * 4 * 256**2

    def test_an_unknown_suffix_is_rejected(self, run, edges):
        assert run("estimate", edges, "-o", "vectors.xyz").exit_code == 2


class TestInfo:
    def test_it_shows_how_a_graph_was_read(self, run, edges):
        result = run("info", edges)
        assert result.exit_code == 0
        assert "6 nodes, 7 edges, undirected, unweighted" in result.stdout

    @pytest.mark.parametrize("command", ["info", "estimate"])
    def test_it_shows_the_notes_of_a_run(self, run, tmp_path, command):
        (tmp_path / "small.csv").write_text("from_id,to_id,amount\na,b,3\n")
        assert (
            "No column is used as the weight, although 'amount'" in run(command, "small.csv").stdout
        )
        notes = json.loads(run(command, "small.csv", "--json").stdout)["notes"]
        assert len(notes) == 1

    def test_it_shows_how_an_embedding_was_made(self, run, vectors):
        result = run("info", vectors)
        assert result.exit_code == 0
        assert "6 vectors of dimension 8\n" in result.stdout
        assert "ids        ann, bob, cem, ... (strings)\n" in result.stdout
        assert "FastRP: " in result.stdout
        assert "seed 7" in result.stdout
        assert "6 nodes, 7 edges" in result.stdout

    def test_it_reads_a_directory_of_vectors_written_by_spark(self, run, vectors, tmp_path):
        (tmp_path / "directory").mkdir()
        (tmp_path / vectors).rename(tmp_path / "directory" / "part-00000.parquet")
        assert "6 vectors of dimension 8\n" in run("info", "directory").stdout
        assert run("neighbors", "directory", "ann", "-k", "2").exit_code == 0

    @pytest.mark.parametrize(
        ("suffix", "known"), [(".npy", True), (".npz", True), (".csv", False), (".txt", False)]
    )
    def test_it_reads_embeddings_of_every_format(self, run, vectors, suffix, known):
        run("convert", vectors, f"other{suffix}")
        facts = json.loads(run("info", f"other{suffix}", "--json").stdout)
        assert (facts["kind"], facts["nodes"], facts["dim"]) == ("embedding", 6, 8)
        assert bool(facts["parameters"]) == known
        assert facts["first_ids"] == ["ann", "bob", "cem"]

    @pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".npy"])
    def test_it_reads_the_first_vectors_only(self, run, vectors, tmp_path, suffix):
        run("convert", vectors, f"other{suffix}")
        start = read_preview(tmp_path / f"other{suffix}")
        assert start.rows == 6
        assert len(start.embedding) == 4
        whole = hopvec.load(tmp_path / f"other{suffix}")
        assert np.array_equal(start.embedding.vectors, whole.vectors[:4])
        assert start.embedding.parameters == whole.parameters
        assert start.embedding.ids.equals(whole.ids[:4])

    @pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".npy"])
    def test_it_reads_an_embedding_without_nodes(self, run, tmp_path, suffix):
        empty = hopvec.Embedding(np.zeros((0, 3), np.float32), pa.array([], pa.int64()))
        empty.save(tmp_path / f"empty{suffix}")
        result = run("info", f"empty{suffix}")
        assert "0 vectors of dimension 3" in result.stdout

    def test_the_json_of_a_graph_is_valid(self, run, edges, tmp_path):
        facts = json.loads(run("info", edges, "--json").stdout)
        assert facts["kind"] == "graph"
        assert facts["graph"] == hopvec.read_graph(tmp_path / edges).describe()

    def test_an_input_option_is_rejected_for_an_embedding(self, run, vectors):
        result = run("info", vectors, "--directed")
        assert result.exit_code == 2
        assert (
            "vectors.parquet is an embedding; --directed applies to graphs only." in result.stderr
        )

    def test_the_content_of_a_file_can_be_given(self, run, edges):
        assert "kind" not in run("info", edges, "--as", "graph").stdout
        assert run("info", edges, "--as", "embedding").exit_code == 2

    def test_a_missing_file_is_an_error_of_one_sentence(self, run):
        result = run("info", "absent.parquet")
        assert result.exit_code == 2
        assert result.stderr == "absent.parquet: there is no such file.\n"


class TestNeighbors:
    def test_piped_output_is_separated_by_tabs(self, run, vectors, tmp_path):
        result = run("neighbors", vectors, "ann", "bob", "-k", 2)
        assert result.exit_code == 0
        rows = [line.split("\t") for line in result.stdout.splitlines()]
        assert [row[0] for row in rows] == ["ann", "ann", "bob", "bob"]
        expected = hopvec.load(tmp_path / vectors).nearest("ann", 2)
        assert [(row[1], pytest.approx(float(row[2]), abs=1e-6)) for row in rows[:2]] == expected

    def test_on_a_terminal_it_prints_a_table(self, run, vectors, monkeypatch):
        monkeypatch.setattr(neighbors_file, "is_terminal", lambda: True)
        result = run("neighbors", vectors, "ann", "-k", 2)
        assert "similarity" in result.stdout
        assert "\t" not in result.stdout

    def test_several_embeddings_are_shown_side_by_side(self, run, vectors, tmp_path, monkeypatch):
        first = hopvec.load(tmp_path / vectors)
        other = hopvec.Embedding(first.vectors[::-1].copy(), first.ids)
        other.save(tmp_path / "other.npz")
        arguments = ("neighbors", vectors, "ann", "-k", 2, "--compare", "other.npz")
        rows = [line.split("\t") for line in run(*arguments).stdout.splitlines()]
        assert [row[3] for row in rows] == [vectors, vectors, "other.npz", "other.npz"]
        assert [row[1] for row in rows[2:]] == [id_ for id_, _ in other.nearest("ann", 2)]
        (answer,) = json.loads(run(*arguments, "--json").stdout)
        assert [one["id"] for one in answer["neighbors"]["other.npz"]] == [r[1] for r in rows[2:]]
        monkeypatch.setattr(neighbors_file, "is_terminal", lambda: True)
        table = run(*arguments).stdout
        assert vectors in table
        assert "other.npz" in table

    def test_old_nodes_are_found_near_a_new_node(self, run, vectors, tmp_path):
        old = hopvec.load(tmp_path / vectors)
        new = hopvec.Embedding(old.vectors[:1] * 2, pa.array(["zoe"]))
        new.save(tmp_path / "new.npz")
        arguments = ("neighbors", "new.npz", "zoe", "-k", 3, "--among", vectors)
        rows = [line.split("\t") for line in run(*arguments).stdout.splitlines()]
        first = old.ids[0].as_py()
        assert [row[1] for row in rows] == [first, *(id_ for id_, _ in old.nearest(first, 2))]
        assert run(*arguments, "--compare", vectors).exit_code == 2

    def test_its_json_is_valid(self, run, vectors, tmp_path):
        answer = json.loads(run("neighbors", vectors, "ann", "-k", 2, "--json").stdout)
        assert [entry["id"] for entry in answer] == ["ann"]
        found = [(one["id"], one["similarity"]) for one in answer[0]["neighbors"]]
        assert found == hopvec.load(tmp_path / vectors).nearest("ann", 2)

    def test_ids_are_parsed_as_integers_if_the_embedding_has_integer_ids(self, run, tmp_path):
        graph = hopvec.Graph.from_edges([1, 2, 3], [2, 3, 1])
        FastRP(dim=4, sparsity=1).embed(graph).save(tmp_path / "numbers.npz")
        answer = json.loads(run("neighbors", "numbers.npz", "1", "--json").stdout)
        assert answer[0]["id"] == 1
        result = run("neighbors", "numbers.npz", "one")
        assert result.exit_code == 2
        assert result.stderr == "No node 'one': the ids of this embedding are integers.\n"

    def test_similar_names_are_suggested_for_an_unknown_node(self, run, vectors):
        result = run("neighbors", vectors, "ann", "bobb")
        assert result.exit_code == 2
        assert result.stdout == ""
        assert "Did you mean 'bob'?" in result.stderr

    def test_an_id_that_looks_like_an_option_follows_two_dashes(self, run, vectors):
        result = run("neighbors", vectors, "-1")
        assert result.exit_code == 2
        assert 'Put "--" before ids that begin with "-".' in result.stderr

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("edges.csv", "person,likes\nann,Widget 839\n"),
            ("edges.csv", "source;target\nann;bob\n"),
            ("edges.csv", "1,2\n2,3\n"),
            ("edges.txt", "ann bob\nbob cem\n"),
        ],
    )
    def test_a_file_of_edges_is_rejected_with_advice_to_embed_it(self, run, tmp_path, name, text):
        (tmp_path / name).write_text(text)
        result = run("neighbors", name, "ann")
        assert result.exit_code == 2
        assert result.stderr.endswith(
            ". If this is a graph, embed it first: hopvec embed FILE -o vectors.parquet.\n"
        )

    @pytest.mark.parametrize(
        "text",
        [
            "source,target\n1,2\n2,3\n",
            "source,target,weight\n1,2,0.5\n2,3,1\n",
            "user_id,item_id,rating\n1,10,3\n2,10,4\n",
            "user,product\nann,Widget 839\n",
            ":START_ID,:END_ID,weight:double\n1,2,3\n2,3,1\n",
        ],
    )
    def test_edges_of_numbers_are_a_graph_not_vectors(self, run, tmp_path, text):
        (tmp_path / "edges.csv").write_text(text)
        result = run("neighbors", "edges.csv", "1")
        assert result.exit_code == 2
        assert result.stdout == ""
        columns = text.splitlines()[0].replace(",", ", ")
        assert result.stderr == (
            f"edges.csv: this is a graph, not vectors; its columns are {columns}. Embed it first: "
            "hopvec embed FILE -o vectors.parquet.\n"
        )

    def test_an_invalid_line_is_not_taken_for_an_edge(self, run, tmp_path):
        (tmp_path / "vectors.csv").write_text("id,e0\nann,1\nbob,x\n")
        result = run("neighbors", "vectors.csv", "ann")
        assert result.stderr == "vectors.csv, line 3: 'x' in column e0 is not a number.\n"

    def test_k_is_checked(self, run, vectors):
        result = run("neighbors", vectors, "ann", "-k", 0)
        assert result.exit_code == 2
        assert result.stderr.startswith("-k must be an integer of at least 1")


class TestConvert:
    def test_the_vectors_are_the_same(self, run, vectors, tmp_path):
        result = run("convert", vectors, "other.npy")
        assert result.exit_code == 0
        assert "other.npy and other.ids.arrow: 6 vectors of dimension 8" in result.stderr
        one, other = hopvec.load(tmp_path / vectors), hopvec.load(tmp_path / "other.npy")
        assert np.array_equal(one.vectors, other.vectors)
        assert one.parameters == other.parameters

    def test_float16_rounds_them(self, run, vectors, tmp_path):
        run("convert", vectors, "other.npy", "--dtype", "float16")
        assert np.load(tmp_path / "other.npy").dtype == np.float16

    def test_a_file_is_not_converted_to_itself(self, run, vectors):
        result = run("convert", vectors, vectors)
        assert result.exit_code == 2
        assert "this is an input file" in result.stderr

    @pytest.mark.parametrize(
        ("source", "target"), [("m.npy", "m.ids.arrow"), ("m.ids.arrow", "m.npy")]
    )
    def test_the_file_of_ids_of_an_input_or_output_is_not_replaced(
        self, run, vectors, tmp_path, source, target
    ):
        hopvec.load(tmp_path / vectors).save(tmp_path / "m.npy")
        ids = (tmp_path / "m.ids.arrow").read_bytes()
        result = run("convert", source, target)
        assert result.exit_code == 2
        assert result.stderr == (
            "m.ids.arrow: this is an input file. Choose another name for the output.\n"
        )
        assert (tmp_path / "m.ids.arrow").read_bytes() == ids

    def test_other_files_are_rejected(self, run, tmp_path):
        (tmp_path / "broken.parquet").write_bytes(b"PAR1 no more")
        result = run("convert", "broken.parquet", "other.npy")
        assert result.exit_code == 2
        assert result.stderr.startswith("broken.parquet: ")
        assert not (tmp_path / "other.npy").exists()


class TestExport:
    def test_it_writes_a_table(self, run, vectors, tmp_path):
        duckdb = pytest.importorskip("duckdb")
        result = run("export", vectors, "duckdb:graph.db", "--table", "pages")
        assert result.exit_code == 0, result.stderr
        assert result.stderr == "duckdb:graph.db: 6 rows in the table pages\n"
        with duckdb.connect(str(tmp_path / "graph.db")) as connection:
            assert connection.sql("select count(*) from pages").fetchall() == [(6,)]

    def test_it_reports_that_a_table_was_replaced(self, run, vectors):
        pytest.importorskip("duckdb")
        run("export", vectors, "duckdb:graph.db")
        result = run("export", vectors, "duckdb:graph.db")
        assert result.stderr == "duckdb:graph.db: 6 rows in the table vectors, replaced\n"

    def test_a_table_of_the_user_is_only_replaced_with_replace(self, run, vectors, tmp_path):
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(tmp_path / "graph.db")) as connection:
            connection.execute("create table vectors (price integer)")
        result = run("export", "absent.parquet", "duckdb:graph.db")
        assert result.exit_code == 2
        assert "has a table vectors that hopvec did not create" in result.stderr
        result = run("export", vectors, "duckdb:graph.db", "--replace")
        assert result.stderr == "duckdb:graph.db: 6 rows in the table vectors, replaced\n"

    @pytest.mark.parametrize(
        ("target", "sentence"),
        [
            (
                "duckdb:no/such/graph.db",
                "no/such/graph.db: the directory no/such does not exist. C",
            ),
            ("lancedb:vectors.parquet", "vectors.parquet: this is a file. Name a directory."),
        ],
    )
    def test_an_invalid_location_is_rejected_before_vectors_are_read(
        self, run, vectors, target, sentence
    ):
        result = run("export", "absent.parquet", target)
        assert result.exit_code == 2
        assert result.stderr.startswith(sentence)

    def test_an_unknown_database_is_rejected(self, run, vectors):
        result = run("export", vectors, "oracle:somewhere")
        assert result.exit_code == 2
        assert "target must be postgresql://<host>/<database>, duckdb:<path>" in result.stderr


def test_both_files_of_an_npy_are_reported(run, vectors):
    result = run("convert", vectors, "x.npy")
    assert result.stderr.startswith("x.npy and x.ids.arrow: 6 vectors of dimension 8")


def test_a_similar_preset_is_suggested(run, edges):
    result = run("embed", edges, "-o", "v.npy", "--preset", "bset")
    assert "Did you mean 'best'?" in result.stderr
