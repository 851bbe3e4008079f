"""Relations on the command line: options, several files, and the report."""

import json

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from hopvec import Embedding, load
from hopvec.cli.program import hopvec

EDGES = "source,target,type\na,b,KNOWS\nb,c,KNOWS\nc,a,LIKES\nc,d,LIKES\nb,d,SPAM\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(EDGES)
    for name in ("KNOWS", "LIKES"):
        rows = [line.rpartition(",")[0] for line in EDGES.splitlines() if line.endswith(name)]
        (tmp_path / f"{name.lower()}.csv").write_text("\n".join(["source,target", *rows]))
    return lambda *arguments: CliRunner().invoke(hopvec, arguments)


def embed(run, graph, *options):
    result = run("embed", graph, "-o", "vectors.parquet", "--dim", "16", *options)
    assert result.exit_code == 0, result.output
    return load("vectors.parquet").vectors.tobytes(), result.output


def test_several_files_give_the_vectors_of_one_file_with_a_column(run):
    column, report = embed(
        run, "edges.csv", "--relation", "type", "--relation-weights", "KNOWS=1,LIKES=0.5,*=0"
    )
    files, _ = embed(
        run, "KNOWS=knows.csv,LIKES=likes.csv", "--relation-weights", "KNOWS=1,LIKES=0.5"
    )
    assert files == column
    assert "relation 'type'" in report
    assert "KNOWS 2 edges (weight 1, 66.7 % of all weight)" in report


def test_a_reference_that_was_read_otherwise_causes_a_note(run):
    embed(run, "edges.csv", "--relation", "type", "--relation-balance", "node")
    result = run("embed", "edges.csv", "-o", "new.parquet", "--like", "vectors.parquet")
    assert result.exit_code == 0
    output = " ".join(result.output.split())
    assert "with relations (balance node) and not weighed by age, but this graph is" in output
    assert "this graph is without relations and not weighed by age" in output
    same = ("--relation", "type", "--relation-balance", "node", "--like", "vectors.parquet")
    assert "Read both" not in run("embed", "edges.csv", "-o", "new.parquet", *same).output
    other = (*same, "--relation-weights", "KNOWS=2,*=1")
    assert "(KNOWS=2, LIKES=1, SPAM=1, balance node)" in " ".join(
        run("embed", "edges.csv", "-o", "new.parquet", *other).output.split()
    )
    assert "balanced by node" in run("info", "vectors.parquet").output


def test_info_lists_relations(run):
    result = run("info", "edges.csv", "--relation", "type", "--relation-balance", "total", "--json")
    relations = json.loads(result.output)["graph"]["relations"]
    assert relations["SPAM"] == {
        "edges": 1,
        "weight": 1.0,
        "share": pytest.approx(1 / 3),
        "direction": "both",
    }


def test_info_finds_columns_of_relations_and_times_by_name(run, tmp_path):
    rows = [f"{line},2024-01-0{at}" for at, line in enumerate(EDGES.splitlines()[1:], start=1)]
    (tmp_path / "timed.csv").write_text("\n".join(["source,target,type,created_at", *rows]))
    found = json.loads(run("info", "timed.csv", "--json").output)
    assert list(found["graph"]["relations"]) == ["KNOWS", "LIKES", "SPAM"]
    assert found["input"]["time"]["newest"] == "2024-01-05"
    assert "other commands use it only with --relation type" in found["notes"][-2]
    assert "other commands use it only with --time created_at" in found["notes"][-1]


def test_info_ignores_a_column_that_only_has_the_name_of_times(run, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target,date\na,b,soon\nb,c,later\n")
    found = json.loads(run("info", "edges.csv", "--json").output)
    assert "time" not in found["input"]
    (note,) = found["notes"]
    assert note.startswith("The column 'date' is not the time, although its name suggests it: ")
    assert "the time 'soon' cannot be read" in note


def test_every_option_changes_the_vectors(run):
    typed = ("--relation", "type")
    seen = [embed(run, "edges.csv", *typed)[0]]
    for options in (
        ("--relation-weights", "KNOWS=1,LIKES=3,SPAM=1"),
        ("--relation-balance", "total"),
        ("--relation-balance", "node"),
        ("--relation-direction", "LIKES=out"),
        ("--relations", "concat", "--dim", "48"),
    ):
        seen.append(embed(run, "edges.csv", *typed, *options)[0])
    assert len({*seen}) == len(seen)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["edges.csv", "--relation", "type", "--relation-weights", "KNOWS=1"],
            "edges.csv, line 4: the relation 'LIKES' has no weight; --relation-weights names",
        ),
        (["edges.csv", "--relation-balance", "node"], "--relation-balance needs --relation"),
        (["edges.csv", "--relation", "kind"], "there is no column 'kind' for the relation"),
        (["edges.csv", "--relation", "2", "--target", "2"], "target and relation are the same"),
        (
            ["edges.csv", "--relation", "target"],
            "requested as the relation, but its name is that of the target",
        ),
        (["KNOWS=knows.csv,LIKES=none.csv"], "none.csv: there is no such file"),
        (["A=knows.csv,A=likes.csv"], "the relation 'A' occurs twice"),
        (["knows.csv,likes.csv"], "several files: KNOWS=knows.csv,LIKES=likes.csv"),
        (
            ["edges.csv", "--relation", "type", "--relation-weights", "Spam=0.1,*=1"],
            "No edge has the relation 'Spam'; did you mean 'SPAM'?",
        ),
        (["edges.csv", "--relations", "concat"], "this graph has no relations"),
        (["edges.csv", "--relations", "concat"], "with --relation, or leave --relations out"),
    ],
)
def test_mistakes_are_explained(run, arguments, message):
    result = run("embed", *arguments, "-o", "vectors.parquet")
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_relations_without_shares_as_spark_writes_them_are_shown(run, tmp_path):
    relations = {
        "KNOWS": {"edges": 1, "weight": 1.0, "direction": "both"},
        "LIKES": {"edges": 2, "weight": 0.5, "direction": "out"},
    }
    embedding = Embedding(
        np.ones((2, 4), np.float32), pa.array(["a", "b"]), {}, {"relations": relations}
    )
    embedding.save(tmp_path / "vectors.parquet")
    shown = run("info", "vectors.parquet").output
    assert "LIKES 2 edges (weight 0.5), KNOWS 1 edge (weight 1)" in shown
