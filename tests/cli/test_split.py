"""`hopvec split`."""

import pytest

import hopvec
from hopvec.evaluate import hold_out, read_links

PARTS = ("-o", "training.csv", "--links", "links.csv")


@pytest.fixture
def dense(tmp_path):
    """A file of the edges of a dense graph."""
    pairs = [(u, v) for u in range(12) for v in range(u) if (u * v + u) % 3]
    lines = "".join(f"n{u} n{v}\n" for u, v in pairs)
    (tmp_path / "dense.txt").write_text(lines)
    return "dense.txt"


def test_both_parts_are_those_of_the_library(run, dense, tmp_path):
    result = run("split", dense, *PARTS, "--share", "0.25", "--negatives", 2, "--seed", 5)
    assert result.exit_code == 0, result.stderr
    graph = hopvec.read_graph(tmp_path / dense)
    expected = hold_out(graph, share=0.25, negatives=2, seed=5)
    links = read_links(tmp_path / "links.csv")
    assert links.edges.equals(expected.edges)
    assert list(links.negatives) == ["uniform", "degree"]
    for sampling, pairs in expected.negatives.items():
        assert links.negatives[sampling].equals(pairs)
    training = hopvec.read_graph(tmp_path / "training.csv")
    assert (training.to_scipy() != expected.training.to_scipy()).nnz == 0


def test_the_written_files_are_reported(run, dense):
    printed = run("split", dense, *PARTS, "--count", 3).stderr
    assert "training.csv: " in printed
    assert "training edges" in printed
    assert "links.csv: 3 held-out edges, negative pairs: 3 uniform + 3 degree" in printed
    assert run("split", dense, *PARTS, "--quiet").stderr == ""


@pytest.mark.parametrize("sampling", ["uniform", "degree"])
def test_one_kind_of_negatives_can_be_requested(run, dense, tmp_path, sampling):
    printed = run("split", dense, *PARTS, "--count", 3, "--sampling", sampling).stderr
    assert f"negative pairs: 3 {sampling}\n" in printed
    lines = (tmp_path / "links.csv").read_text().replace('"', "").splitlines()
    assert lines[0] == "source,target,label,sampling"
    assert [line.split(",")[2:] for line in lines[1:]] == [["1", ""]] * 3 + [["0", sampling]] * 3


def test_a_lack_of_pairs_names_the_option(run, tmp_path):
    (tmp_path / "star.csv").write_text("source,target\n" + "".join(f"a,b{n}\n" for n in range(9)))
    result = run("split", "star.csv", *PARTS, "--count", "1", "--any-edges", "--directed")
    assert result.exit_code == 2
    assert "or draw them uniformly: --sampling uniform." in result.stderr


def test_from_edges_to_scores(run, dense):
    assert run("split", dense, "-o", "training.parquet", "--links", "links.parquet").exit_code == 0
    assert run("embed", "training.parquet", "-o", "vectors.parquet", "--dim", 8).exit_code == 0
    arguments = ("--links", "links.parquet", "--graph", "training.parquet")
    result = run("evaluate", "vectors.parquet", *arguments)
    assert result.exit_code == 0, result.stderr
    assert "hadamard" in result.stdout


def test_the_report_of_a_directed_graph_says_how_to_embed_it(run, dense):
    printed = run("split", dense, *PARTS, "--directed").stderr
    assert "embed it with --directed" in printed


def test_the_sides_of_a_bipartite_graph_keep_their_columns(run, tmp_path):
    pairs = [(user, item) for user in range(9) for item in range(4) if item == 0 or user % item]
    lines = "".join(f"user{user},item{item}\n" for user, item in pairs)
    (tmp_path / "ratings.csv").write_text("user,item\n" + lines)
    result = run("split", "ratings.csv", *PARTS, "--bipartite", "--share", "0.2")
    assert result.exit_code == 0, result.stderr
    assert "embed it with --bipartite" in result.stderr
    training = hopvec.read_graph(tmp_path / "training.csv", bipartite=True)
    assert all(id.startswith("item") for id in training.targets.to_pylist())
    links = read_links(tmp_path / "links.csv")
    for pairs in (links.edges, *links.negatives.values()):
        assert all(id.startswith("user") for id in pairs.column("source").to_pylist())


def test_a_tree_can_only_be_split_with_any_edges(run, tmp_path):
    (tmp_path / "tree.csv").write_text("source,target\na,b\nb,c\nc,d\n")
    result = run("split", "tree.csv", *PARTS, "--count", "1")
    assert "--any-edges" in result.stderr
    result = run("split", "tree.csv", *PARTS, "--count", "1", "--any-edges")
    assert result.exit_code == 0, result.stderr
    assert "training.csv: 2 training edges" in result.stderr


def test_numbers_are_checked_before_the_graph_is_read(run):
    result = run("split", "absent.csv", *PARTS, "--share", "2")
    assert "share must be a number from 0 to 1" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Name both output files, such as -o training.parquet --links held-out.csv."),
        ((*PARTS, "--share", "0.2", "--count", "3"), "Give --share or --count, not both."),
        ((*PARTS, "--share", "2"), "--share must be a number from 0 to 1"),
        ((*PARTS, "--share", "0.99"), "are needed to keep the components connected. Hold out"),
        (
            ("-o", "training.txt", "--links", "a.csv"),
            "'.txt' is not a format for tables",
        ),
        (("-o", "a.csv", "--links", "a.csv"), "the output files must have different names"),
        (("-o", "dense.csv", "--links", "a.csv"), "this is an input file"),
    ],
)
def test_user_errors_are_reported_before_anything_is_written(
    run, dense, tmp_path, arguments, message
):
    (tmp_path / dense).rename(tmp_path / "dense.csv")
    result = run("split", "dense.csv", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["dense.csv"]
