"""`hopvec embed`: the vectors are those of the library, and the report is complete."""

import json

import numpy as np
import pytest

import hopvec
from hopvec import FastRP, Node2Vec
from hopvec.formats import EMBEDDING_FORMATS


def same(path, graph_path, method):
    expected = method.embed(hopvec.read_graph(graph_path))
    return np.array_equal(hopvec.load(path).vectors, expected.vectors)


def test_the_vectors_are_those_of_the_library(run, edges, tmp_path):
    arguments = ["--dim", 16, "--weights", "0,1,2", "--beta", -0.5, "--sparsity", 2, "--seed", 7]
    result = run("embed", edges, "-o", "vectors.parquet", *arguments)
    assert result.exit_code == 0, result.stderr
    method = FastRP(dim=16, weights=[0, 1, 2], beta=-0.5, sparsity=2, seed=7)
    assert same(tmp_path / "vectors.parquet", tmp_path / edges, method)


def test_another_method_is_chosen_by_name(run, edges, tmp_path):
    pytest.importorskip("gensim")
    arguments = [
        "--dim",
        8,
        "--walks",
        3,
        "--loss",
        "hierarchical-softmax",
        "--p",
        0.5,
        "--q",
        2,
    ]
    result = run("embed", edges, "-o", "vectors.parquet", "--method", "node2vec", *arguments)
    assert result.exit_code == 0, result.stderr
    method = Node2Vec(dim=8, walks=3, loss="hierarchical-softmax", p=0.5, q=2)
    assert same(tmp_path / "vectors.parquet", tmp_path / edges, method)


@pytest.mark.parametrize("suffix", EMBEDDING_FORMATS)
def test_every_format_can_be_written(run, edges, tmp_path, suffix):
    assert run("embed", edges, "-o", f"vectors{suffix}", "--dim", 8).exit_code == 0
    assert same(tmp_path / f"vectors{suffix}", tmp_path / edges, FastRP(dim=8))


def test_edges_come_from_standard_input(run, edges, tmp_path):
    with (tmp_path / edges).open("rb") as file:
        result = run("embed", "-", "-o", "vectors.npz", input=file.read())
    assert result.exit_code == 0, result.stderr
    assert "standard input" in result.stderr
    assert same(tmp_path / "vectors.npz", tmp_path / edges, FastRP())


def test_the_input_options_are_passed_to_the_reader(run, tmp_path):
    (tmp_path / "links.txt").write_text("a;b\na;c\nb;c\n")
    (tmp_path / "more.txt").write_text("x\ny\n")
    arguments = ["--separator", "semicolon", "--no-header", "--directed", "--nodes", "more.txt"]
    result = run("embed", "links.txt", "-o", "vectors.npz", *arguments)
    assert result.exit_code == 0, result.stderr
    assert sorted(hopvec.load(tmp_path / "vectors.npz")) == ["a", "b", "c", "x", "y"]
    assert "5 nodes, 3 edges, directed" in result.stderr


def test_the_report_is_complete(run, edges, tmp_path):
    result = run("embed", edges, "-o", "vectors.npz", "--dim", 8, "--report", "run.json")
    assert result.exit_code == 0
    report = json.loads((tmp_path / "run.json").read_text())
    assert report["version"] == hopvec.__version__
    expected = {"method": "FastRP", **FastRP(dim=8)._plain_params()}
    del expected["spill_dir"]  # a path of this machine
    assert report["parameters"] == expected
    assert report["graph"] == hopvec.read_graph(tmp_path / edges).describe()
    assert report["graph"]["largest_component"] == 6
    assert report["input"]["file"] == edges
    assert [stage["name"] for stage in report["stages"]] == ["read", "build", "embed", "write"]
    assert all(stage["seconds"] > 0 for stage in report["stages"])
    assert report["output"]["bytes"] == (tmp_path / "vectors.npz").stat().st_size
    for text in ("6 nodes, 7 edges, undirected, unweighted", "largest component 6 nodes (100 %)"):
        assert text in result.stderr
    assert "vectors.npz: 6 vectors of dimension 8" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ([], "1 duplicate edge (summed), 1 loop (kept)"),
        (["--duplicates", "first"], "1 duplicate edge (first kept), 1 loop (kept)"),
        (["--loops", "drop"], "1 duplicate edge (summed), 1 loop (dropped)"),
    ],
)
def test_the_report_has_the_policies_for_duplicates_and_loops(run, tmp_path, arguments, printed):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,a\nc,c\nb,c\n")
    result = run("embed", "edges.csv", "-o", "vectors.npz", *arguments)
    assert printed in result.stderr


def test_weights_that_only_count_duplicates_are_reported_as_such(run, tmp_path):
    (tmp_path / "twice.csv").write_text("source,target\na,b\nb,a\nb,c\n")
    assert "undirected, weighted (by duplicate edges)\n" in run("info", "twice.csv").stdout
    (tmp_path / "weights.csv").write_text("source,target,weight\na,b,2\nb,a,3\n")
    assert "undirected, weighted\n" in run("info", "weights.csv").stdout


def test_a_long_list_of_ignored_columns_is_shortened(run, tmp_path):
    names = ["source", "target", *(f"e{number}" for number in range(1, 256))]
    cells = ["x"] * 255
    lines = [names, ["a", "b", *cells], ["b", "c", *cells]]
    (tmp_path / "wide.csv").write_text("".join(",".join(line) + "\n" for line in lines))
    assert "ignored e1, e2, ... e255 (255 columns)" in run("info", "wide.csv").stdout


def test_zero_vectors_are_a_note_of_the_report(run, edges, tmp_path):
    (tmp_path / "more.txt").write_text("zoe\n")
    arguments = ["--nodes", "more.txt", "--report", "run.json"]
    result = run("embed", edges, "-o", "vectors.npz", *arguments)
    (note,) = json.loads((tmp_path / "run.json").read_text())["notes"]
    assert note.startswith("Zero vectors: 1 of 7 nodes")
    assert result.stderr.count("Zero vectors") == 1


def test_quiet_prints_nothing(run, edges):
    result = run("embed", edges, "-o", "vectors.npz", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_float16_halves_the_file(run, edges, tmp_path):
    for dtype in ("float32", "float16"):
        run("embed", edges, "-o", f"{dtype}.npy", "--dtype", dtype, "--dim", 1024)
    whole, half = ((tmp_path / f"{name}.npy").stat().st_size for name in ("float32", "float16"))
    assert half < 0.6 * whole


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name the output file, such as -o vectors.parquet. See hopvec embed --help."),
        (["-o", "vectors.xyz"], "vectors.xyz: '.xyz' is not the suffix of an embedding format; "),
        (
            ["-o", "no/vectors.npy"],
            "no/vectors.npy: the directory no does not exist. Create it first.",
        ),
        (["-o", "folder.npy"], "folder.npy: this is a directory. Name a file in it."),
        (["-o", "v.csv", "--dtype", "float16"], "v.csv: a .csv file cannot hold float16; "),
        (
            ["-o", "v.npy", "--report", "no/run.json"],
            "no/run.json: the directory no does not exist. ",
        ),
        (["-o", "absent.csv"], "absent.csv: there is no such file."),
        (
            ["-o", "v.npy", "--report", "v.npy"],
            "v.npy: vectors and report must go to different files.",
        ),
        (["-o", "v.npy", "--memory", "lots"], "--memory must be a positive size such as"),
    ],
)
def test_an_invalid_output_is_rejected_before_the_graph_is_read(run, tmp_path, arguments, sentence):
    (tmp_path / "folder.npy").mkdir()
    result = run("embed", "absent.csv", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(sentence)
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["folder.npy"]


def test_the_input_is_never_overwritten(run, edges, tmp_path):
    before = (tmp_path / edges).read_text()
    result = run("embed", edges, "-o", edges)
    assert result.exit_code == 2
    assert (
        result.stderr == "edges.csv: this is an input file. Choose another name for the output.\n"
    )
    assert (tmp_path / edges).read_text() == before


def test_a_full_disk_is_reported_before_the_work(run, edges, tmp_path, monkeypatch):
    import shutil

    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 7, 3))
    result = run("embed", edges, "-o", "vectors.npz")
    assert result.exit_code == 2
    assert "but its disk has only 3 B left." in result.stderr
    assert not (tmp_path / "vectors.npz").exists()


def test_a_memory_limit_that_is_too_low_is_a_user_error(run, edges):
    result = run("embed", edges, "-o", "vectors.npz", "--memory", "100")
    assert result.exit_code == 2
    assert "100 B" in result.stderr


def test_a_missing_graph_is_an_error_of_one_sentence(run):
    result = run("embed", "absent.csv", "-o", "vectors.npz")
    assert (result.exit_code, result.stderr) == (2, "absent.csv: there is no such file.\n")


class TestStandardOutput:
    def test_vectors_are_csv(self, run, tmp_path):
        path = tmp_path / "edges.csv"
        path.write_text("a,b\nb,c\nc,d\nd,a\na,c\n")
        result = run("embed", path, "-o", "-", "--dim", "4", "--quiet")
        run("embed", path, "-o", tmp_path / "vectors.csv", "--dim", "4")
        assert result.stdout == (tmp_path / "vectors.csv").read_text()
        assert run("convert", tmp_path / "vectors.csv", "-").stdout == result.stdout

    def test_the_report_is_json(self, run, tmp_path):
        path = tmp_path / "edges.csv"
        path.write_text("a,b\nb,c\nc,d\nd,a\na,c\n")
        result = run("embed", path, "-o", tmp_path / "vectors.csv", "--report", "-", "--quiet")
        assert json.loads(result.stdout)["output"]["vectors"] == 4
        assert not (tmp_path / "-").exists()

    def test_both_cannot_go_there(self, run, tmp_path):
        result = run("embed", "edges.csv", "-o", "-", "--report", "-")
        assert result.exit_code == 2
        assert "must go to different files" in result.stderr
