"""Control characters in ids: escaped wherever a person reads them, kept in JSON and in files."""

import csv
import io
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hopvec
from hopvec.cli.terminal import Terminal
from hopvec.escape import CONTROL, tab_separated, visible
from pseudo_terminal import raw_run_on_terminal

FAULTS = Path(__file__).parents[1] / "faults/files"
unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
TITLE, CLEAR, BELL, REVERSE = "\x1b]0;", "\x1b[2J", "\x07", "\u202e"


@pytest.fixture(autouse=True)
def files(tmp_path):
    for name in ("escape-ids.csv", "escape-ids.parquet", "tsv-forge.parquet"):
        shutil.copy(FAULTS / name, tmp_path)


def is_harmless(text):
    return not any(sequence in text for sequence in (TITLE, CLEAR, BELL, REVERSE, "\x9b"))


@unix
@pytest.mark.parametrize(
    "arguments",
    [
        ["info", "escape-ids.csv"],
        ["info", "escape-ids.parquet"],
        ["embed", "escape-ids.csv", "-o", "v.parquet"],
        ["embed", "escape-ids.csv", "-o", "v.parquet", "--report", "-"],
        ["neighbors", "escape-ids.parquet", "d[bold]x[/bold]"],
        ["neighbors", "escape-ids.parquet", "--ids", "ids.txt"],
        ["neighbors", "escape-ids.parquet", f"absent{TITLE}{BELL}"],
        ["diff", "escape-ids.parquet", "escape-ids.parquet"],
        ["embed", f"absent{TITLE}{BELL}.csv", "-o", "v.parquet"],
        [f"absent{TITLE}{BELL}"],
        ["embed", "bad.csv", "-o", "v.parquet"],
        ["embed", "bad.csv", "-o", "v.parquet", "--debug"],
    ],
    ids=lambda arguments: visible(" ".join(arguments)),
)
def test_a_terminal_gets_no_control_characters_of_ids(tmp_path, arguments):
    ids = hopvec.load(FAULTS / "escape-ids.parquet").ids.to_pylist()
    (tmp_path / "ids.txt").write_text("\n".join(id_ for id_ in ids if "\n" not in id_))
    (tmp_path / "bad.csv").write_text(f"source,target,weight\na{TITLE}{BELL}{REVERSE},b,-1\n")
    _, written = raw_run_on_terminal(arguments, tmp_path)
    assert is_harmless(written)


def test_ids_are_shown_with_escapes(run):
    assert r"b\x1b[2J, c\r\nfake line" in run("info", "escape-ids.parquet").stdout


def test_json_has_the_ids_unchanged(run, tmp_path):
    ids = ["a\x9b31m", "b\x1b[2J", "c\u202e\nd"]
    hopvec.Embedding(np.eye(3, dtype=np.float32), pa.array(ids)).save(tmp_path / "v.parquet")
    printed = run("info", "v.parquet", "--json").stdout
    assert is_harmless(printed)
    assert json.loads(printed)["first_ids"] == ids


def test_files_have_the_ids_unchanged(run, tmp_path):
    assert run("neighbors", "tsv-forge.parquet", "--all", "-o", "near.csv").exit_code == 0
    with (tmp_path / "near.csv").open(newline="") as file:
        written = {row["id"] for row in csv.DictReader(file)}
    assert written == set(hopvec.load(FAULTS / "tsv-forge.parquet").ids.to_pylist())


def test_an_id_cannot_forge_a_line_of_a_piped_table(run):
    result = run("neighbors", "tsv-forge.parquet", "a", "red")
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert all(len(row) == 3 for row in rows)
    assert {row[0] for row in rows} == {"a", "red"}
    assert [row[1] for row in rows if "FORGED" in row[1]][:1] == [r"x\na\tFORGED\t0.999999"]


def test_escaped_cells_can_be_unescaped():
    cells = ["plain", "tab\tand\nline", r"a\tb", "\\", "\x1b[0m", "\u2028\u202e", "naïve 日本 👩‍🚀"]
    line = tab_separated(cells)
    assert line.count("\t") == len(cells) - 1
    assert not CONTROL.search(line.replace("\t", ""))
    plain = [cell.encode("latin-1", "backslashreplace").decode("unicode_escape")
             for cell in line.split("\t")]  # fmt: skip
    assert plain == cells


def test_ids_of_a_message_about_them_are_escaped(run, tmp_path):
    vectors = np.array([[0, 0], [1, 0], [0, 1]], np.float32)
    id_ = f"zero{TITLE}\nvectors"
    hopvec.Embedding(vectors, pa.array([id_, "b", "c"])).save(tmp_path / "v.parquet")
    result = run("neighbors", "v.parquet", id_)
    assert r"zero\x1b]0;\nvectors: its vector is zero" in result.stderr


def test_progress_is_shown_without_control_characters(capsys, monkeypatch):
    monkeypatch.setattr("hopvec.cli.terminal.LINE_SECONDS", 0.0)
    with Terminal().progress(f"reading {TITLE}{BELL}", "rows") as progress:
        progress(1, 2)
    assert capsys.readouterr().err.startswith(r"reading \x1b]0;\x07: ")


def test_a_row_of_scores_is_one_line(capsys):
    Terminal().print_cells(["a\nb", "0.5"])
    assert io.StringIO(capsys.readouterr().out).readlines() == ["a\\nb\t0.5\n"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["map", "v.parquet", "labels.parquet", "--classes", "zz"],
        ["neighbors", "v.parquet", "a", "--type", "zz"],
        ["embed", "edges.parquet", "-o", "out.parquet", "--relation", "nosuch"],
    ],
    ids=" ".join,
)
def test_names_in_an_error_cannot_forge_a_line(run, tmp_path, arguments):
    name = "x\nFORGED\tline"
    ids = pa.array(["a", "b"])
    types = pa.array([name, "plain"]).dictionary_encode()
    hopvec.Embedding(np.eye(2, dtype=np.float32), ids, types=types).save(tmp_path / "v.parquet")
    pq.write_table(pa.table({"id": ids, "label": [name, "plain"]}), tmp_path / "labels.parquet")
    columns = {"source": ["a"], "target": ["b"], name: ["c"]}
    pq.write_table(pa.table(columns), tmp_path / "edges.parquet")
    result = run(*arguments)
    assert result.exit_code == 2
    assert r"x\nFORGED" in result.stderr
    assert not any(line.startswith("FORGED") for line in result.stderr.splitlines())
    assert "\t" not in result.stderr


@unix
def test_a_file_name_in_a_report_cannot_forge_a_line(run, edges, tmp_path):
    result = run("embed", edges, "-o", "v\nFORGED.csv", "--dim", "4")
    assert (tmp_path / "v\nFORGED.csv").exists()
    assert result.stderr.splitlines()[-1].startswith(r"v\nFORGED.csv: 6 vectors")


def test_the_choices_of_a_missing_argument_are_on_one_line(run):
    assert run("completion").stderr == (
        "Missing argument 'SHELL'. Choose from: bash, zsh, fish. See hopvec completion --help.\n"
    )
