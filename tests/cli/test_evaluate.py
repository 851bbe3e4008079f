import csv
import json

import numpy as np
import pyarrow as pa
import pytest

import hopvec
from hopvec.cli import scores as scores_file

FEW = ("--shares", "0.3,0.6", "--shuffles", 2)


@pytest.fixture
def files(tmp_path):
    """Two files of vectors and one of labels; the first vectors predict them better."""
    random = np.random.default_rng(0)
    label = random.integers(0, 3, 60)
    clear = np.eye(3)[label] + 0.5 * random.standard_normal((60, 3))
    ids = pa.array([f"node{number}" for number in range(60)])
    for name, vectors in (("clear", clear), ("noise", random.standard_normal((60, 3)))):
        hopvec.Embedding(vectors.astype(np.float32), ids).save(tmp_path / f"{name}.npz")
    rows = [f"{id_},{'abc'[one]}" for id_, one in zip(ids.to_pylist(), label, strict=True)]
    (tmp_path / "labels.csv").write_text("\n".join(["node,label", *rows]))
    return "clear.npz", "noise.npz", "labels.csv"


def expected(tmp_path, name, **more):
    return hopvec.evaluate.classify(
        hopvec.load(tmp_path / name),
        hopvec.read_labels(tmp_path / "labels.csv"),
        shares=(0.3, 0.6),
        shuffles=2,
        **more,
    )


def test_piped_output_is_separated_by_tabs(run, files, tmp_path):
    clear, _, labels = files
    result = run("evaluate", clear, labels, *FEW, "--C", 0.5, "--scale", "standardize", "--seed", 3)
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(result.stdout.splitlines(), delimiter="\t"))
    found = expected(tmp_path, clear, C=0.5, scale="standardize", seed=3)
    for row, scores in zip(rows, found.shares, strict=True):
        assert row["vectors"] == clear
        for name in ("share", "macro_f1", "macro_deviation", "micro_f1", "micro_deviation", "C"):
            assert float(row[name]) == pytest.approx(getattr(scores, name), rel=1e-5)


def test_the_protocol_is_reported(run, files):
    clear, _, labels = files
    printed = run("evaluate", clear, labels, *FEW).stderr
    assert "columns: id 'node', label 'label'" in printed
    assert "60 labeled nodes, 3 classes, one label each (micro F1 is the accuracy)" in printed
    assert "2 shuffles (seed 0), scale rms, C cross-validated" in printed
    assert run("evaluate", clear, labels, *FEW, "--quiet").stderr == ""


def test_on_a_terminal_the_best_score_is_bold(run, files, monkeypatch):
    shown = {}
    monkeypatch.setattr(scores_file, "is_terminal", lambda: True)
    monkeypatch.setattr(
        scores_file.Terminal,
        "print_table",
        lambda self, title, names, rows, **more: shown.update(more, title=title, rows=rows),
    )
    clear, noise, labels = files
    assert run("evaluate", noise, clear, labels, *FEW).exit_code == 0
    assert [row[:2] for row in shown["rows"]] == [
        ["30 %", noise],
        ["", clear],
        ["60 %", noise],
        ["", clear],
    ]
    assert shown["bold"] == {(1, 2), (1, 3), (3, 2), (3, 3)}
    assert list(shown["ends"]) == [1, 3]
    assert "2 shuffles" in shown["title"]


def test_on_a_terminal_it_prints_a_table(run, files, monkeypatch):
    monkeypatch.setattr(scores_file, "is_terminal", lambda: True)
    clear, _, labels = files
    table = run("evaluate", clear, labels, *FEW).stdout
    assert "macro F1" in table
    assert "30 %" in table


def test_its_json_has_every_shuffle_of_every_file(run, files, tmp_path):
    clear, noise, labels = files
    result = run("evaluate", clear, noise, labels, *FEW, "--json", "-o", "scores.json")
    answer = json.loads(result.stdout)
    assert answer == json.loads((tmp_path / "scores.json").read_text())
    assert answer == {name: expected(tmp_path, name).to_dict() for name in (clear, noise)}


def test_the_scores_are_written_as_csv(run, files, tmp_path):
    clear, noise, labels = files
    run("evaluate", clear, noise, labels, *FEW, "-o", "scores.csv")
    with (tmp_path / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["vectors"], row["share"]) for row in rows] == [
        (clear, "0.3"),
        (noise, "0.3"),
        (clear, "0.6"),
        (noise, "0.6"),
    ]
    assert float(rows[0]["macro_f1"]) == expected(tmp_path, clear).shares[0].macro_f1


def test_the_options_for_labels_are_used(run, files, tmp_path):
    clear, _, labels = files
    lines = (tmp_path / labels).read_text().splitlines()[1:]
    pairs = [line.split(",") for line in lines]
    (tmp_path / "table.txt").write_text("".join(f"x/{one}+z/{id_}\n" for id_, one in pairs))
    arguments = ("--id-column", 3, "--label-column", 2, "--separator", "/", "--no-header")
    result = run(
        "evaluate", clear, "table.txt", *FEW, *arguments, "--label-separator", "+", "--json"
    )
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)[clear]["classes"] == 4


def test_the_error_names_the_file_and_the_ids_if_hardly_any_match(run, files, tmp_path):
    clear, noise, _ = files
    rows = [f"other{number},a" for number in range(300)]
    (tmp_path / "others.csv").write_text("\n".join(["node,label", "node0,b", *rows]))
    result = run("evaluate", noise, clear, "others.csv", *FEW)
    assert result.exit_code == 2
    assert result.stderr.startswith("A share of 0.6 of 1 labeled nodes trains on 1 and leaves 0")
    assert (
        "noise.npz: Only 1 of the 301 labeled nodes has a vector. Their ids are 'other0'"
        in result.stderr
    )


def test_nodes_without_a_vector_are_reported(run, files, tmp_path):
    clear, _, labels = files
    with (tmp_path / labels).open("a") as file:
        file.write("\nabsent,a\n")
    result = run("evaluate", clear, labels, *FEW)
    assert result.exit_code == 0
    assert "clear.npz: Ignoring 1 of 61 labeled nodes, which have no vector" in result.stderr


def test_a_share_that_is_too_small_is_dropped_with_a_note(run, files):
    clear, noise, labels = files
    arguments = ("--shares", "0.01,0.5", "--shuffles", 2)
    result = run("evaluate", clear, noise, labels, *arguments)
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(result.stdout.splitlines(), delimiter="\t"))
    assert [(row["vectors"], row["share"]) for row in rows] == [(clear, "0.5"), (noise, "0.5")]
    assert "A share of 0.01 of 60 labeled nodes trains on 1, in shuffle 1 of one" in result.stderr


def test_files_are_compared_on_the_nodes_that_all_of_them_have(run, files, tmp_path):
    clear, noise, labels = files
    some = hopvec.load(tmp_path / noise)
    hopvec.Embedding(some.vectors[:40], some.ids[:40]).save(tmp_path / "some.npz")
    result = run("evaluate", clear, "some.npz", labels, *FEW, "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert [answer[name]["nodes"] for name in (clear, "some.npz")] == [40, 40]
    assert "Comparing on the 40 labeled nodes that have a vector in every" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("clear.npz",), "Name a file of vectors and, last, a file of labels; got only 'clear"),
        (("clear.npz", "labels.csv", "--shuffles", "0"), "--shuffles must be an integer"),
        (("clear.npz", "labels.csv", "--shares", "2"), "(entry 1 is beyond 0.9999)"),
        (("clear.npz", "labels.csv", "--c", "much"), "C must be a number"),
        (("clear.npz", "labels.csv", "-o", "scores.txt"), "written as .json or .csv"),
        (("clear.npz", "labels.csv", "-o", "labels.csv"), "labels.csv: this is an input file"),
        (
            ("clear.npz", "labels.csv", "--label-column", "color"),
            "no column 'color' for the label",
        ),
        (("clear.npz", "absent.csv"), "absent.csv: there is no such file"),
        (
            ("labels.csv", "clear.npz"),
            "clear.npz contains vectors; the last file must contain labels",
        ),
        (("clear.npz", "labels.csv", "--directed"), "--directed needs --links or --recommend."),
    ],
)
def test_user_errors_are_one_sentence(run, files, arguments, message):
    result = run("evaluate", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
