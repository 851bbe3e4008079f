"""`hopvec evaluate --links`: link prediction."""

import csv
import json

import numpy as np
import pytest

import hopvec
from hopvec.cli import scores as scores_file
from hopvec.evaluate import HeldOut, hold_out, predict_links, read_links


@pytest.fixture
def files(tmp_path):
    """Two files of vectors, the first of the training graph; links and both graphs."""
    random = np.random.default_rng(0)
    ends = random.integers(0, 12, (2, 600)) + 12 * random.integers(0, 5, 600)
    names = [f"node{number}" for number in range(60)]
    graph = hopvec.Graph.from_edges(*([names[at] for at in end] for end in ends), loops="drop")
    held_out = hold_out(graph)
    held_out.save(tmp_path / "links.csv", tmp_path / "training.csv")
    HeldOut(None, held_out.edges, {}).save(tmp_path / "edges.csv")
    embedding = hopvec.FastRP(dim=16).embed(held_out.training)
    embedding.save(tmp_path / "clear.npz")
    noise = random.standard_normal(embedding.vectors.shape).astype(np.float32)
    hopvec.Embedding(noise, embedding.ids).save(tmp_path / "noise.npz")
    return "clear.npz", "noise.npz"


def expected(tmp_path, vectors, **more):
    graph = hopvec.read_graph(tmp_path / "training.csv")
    return predict_links(
        hopvec.load(tmp_path / vectors), read_links(tmp_path / "links.csv", graph=graph), **more
    )


def test_piped_output_is_separated_by_tabs(run, files, tmp_path):
    arguments = ("--links", "links.csv", "--graph", "training.csv", "--seed", 3)
    result = run("evaluate", *files, *arguments)
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(result.stdout.splitlines(), delimiter="\t"))
    operators = [
        *((operator, vectors) for operator in ("dot", "cosine", "hadamard") for vectors in files),
        ("degree alone", ""),
    ]
    assert [(row["negatives"], row["operator"], row["vectors"]) for row in rows] == [
        (sampling, *operator) for sampling in ("uniform", "degree") for operator in operators
    ]
    for row in rows:
        result = expected(tmp_path, row["vectors"] or files[1], seed=3)
        found = result.scores[row["negatives"]][row["operator"]]
        assert float(row["auc"]) == pytest.approx(found.auc, rel=1e-5)
        assert float(row["average_precision"]) == pytest.approx(found.average_precision, rel=1e-5)
        assert float(row["hits@10"]) == pytest.approx(found.hits[10], rel=1e-5)


def test_its_json_is_the_result_of_the_library(run, files, tmp_path):
    arguments = ("--links", "links.csv", "--graph", "training.csv", "--json", "-o", "scores.json")
    result = run("evaluate", files[0], *arguments)
    answer = json.loads(result.stdout)
    assert answer == json.loads((tmp_path / "scores.json").read_text())
    plain = json.loads(json.dumps(expected(tmp_path, files[0]).to_dict()))
    assert answer == {files[0]: plain}


def test_the_training_of_hadamard_is_reported(run, files, tmp_path):
    printed = run("evaluate", files[0], "--links", "links.csv", "--graph", "training.csv").stderr
    assert "links.csv: 53 edges, negative pairs: 53 uniform + 53 degree" in printed
    found = expected(tmp_path, files[0]).regression
    chosen = ", ".join(f"C {found[how].C:g} ({how})" for how in ("uniform", "degree"))
    assert f"clear.npz: 213 training edges, as many negative pairs, {chosen}" in printed
    assert run("evaluate", files[0], "--links", "links.csv", "--quiet").stderr == ""


def test_without_a_graph_hadamard_is_not_trained(run, files):
    result = run("evaluate", files[0], "--links", "links.csv")
    assert result.exit_code == 0
    assert "hadamard" not in result.stdout
    assert "degree alone" not in result.stdout
    assert "no scores for hadamard and degree alone, which need" in result.stderr


def test_negatives_are_sampled_if_a_file_has_edges_only(run, files):
    result = run("evaluate", files[0], "--links", "edges.csv", "--graph", "training.csv")
    assert result.exit_code == 0, result.stderr
    assert "edges.csv: 53 edges, negative pairs: 53 uniform + 53 degree" in result.stderr


@pytest.mark.parametrize("links", ["links.csv", "edges.csv"])
def test_one_kind_of_negatives_can_be_selected(run, files, links):
    arguments = ("--links", links, "--graph", "training.csv", "--sampling", "degree")
    result = run("evaluate", files[0], *arguments)
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(result.stdout.splitlines(), delimiter="\t"))
    assert {row["negatives"] for row in rows} == {"degree"}
    assert f"{links}: 53 edges, negative pairs: 53 degree\n" in result.stderr


def test_on_a_terminal_the_best_of_several_files_is_bold(run, files, monkeypatch):
    shown = {}
    monkeypatch.setattr(scores_file, "is_terminal", lambda: True)
    monkeypatch.setattr(
        scores_file.Terminal,
        "print_table",
        lambda self, title, names, rows, **more: shown.update(more, rows=rows, names=names),
    )
    clear, noise = files
    arguments = ("--links", "links.csv", "--graph", "training.csv")
    assert run("evaluate", noise, clear, *arguments).exit_code == 0
    of_one_kind = [
        ["dot", noise],
        ["", clear],
        ["cosine", noise],
        ["", clear],
        ["hadamard", noise],
        ["", clear],
        ["degree alone", ""],
    ]
    assert [row[1:3] for row in shown["rows"]] == of_one_kind * 2
    assert [row[0] for row in shown["rows"]] == ["uniform", *[""] * 6, "degree", *[""] * 6]
    assert {(1, 3), (1, 4), (3, 3), (3, 4), (8, 3)} <= shown["bold"]
    assert not shown["bold"] & {(6, 3), (13, 3)}
    assert shown["ends"] == [6, 13]
    assert shown["names"][3:5] == ["AUC", "average precision"]


def test_a_directed_split_is_scored_as_such(run, files, tmp_path):
    source, target = np.random.default_rng(1).integers(0, 40, (2, 500))
    lines = [f"n{u},n{v}" for u, v in zip(source, target, strict=True) if u != v]
    (tmp_path / "arcs.csv").write_text("\n".join(["source,target", *lines]))
    split = ("-o", "training.csv", "--links", "links.csv", "--duplicates", "first", "--directed")
    assert run("split", "arcs.csv", *split).exit_code == 0
    assert run("embed", "training.csv", "-o", "arcs.npz", "--directed", "--dim", 8).exit_code == 0
    arguments = ("--links", "links.csv", "--graph", "training.csv", "--directed")
    result = run("evaluate", "arcs.npz", *arguments)
    assert result.exit_code == 0, result.stderr
    assert "hadamard" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("clear.npz", "--links", "edges.csv"), "all pairs are edges. Add pairs with the label 0"),
        (("clear.npz", "--links", "absent.csv"), "absent.csv: there is no such file"),
        (
            ("clear.npz", "--links", "links.csv", "--shares", "0.5"),
            "--shares applies to labels, not to links.",
        ),
        (
            ("clear.npz", "--links", "links.csv", "--label-column", "x"),
            "--label-column applies to labels, not to links.",
        ),
        (
            ("clear.npz", "--links", "links.csv", "--directed"),
            "--directed needs --graph",
        ),
        (
            ("clear.npz", "--links", "links.csv", "-o", "links.csv"),
            "links.csv: this is an input file",
        ),
        (("links.csv", "--links", "links.csv"), "links.csv"),
    ],
)
def test_user_errors_are_one_sentence(run, files, arguments, message):
    result = run("evaluate", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
