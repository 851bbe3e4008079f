"""Outputs that cannot be written: full or closed streams, and a deleted working directory."""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hopvec

unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other streams")
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /dev/full")

COMMANDS = [
    ["presets"],
    ["--help"],
    ["info", "edges.csv"],
    ["info", "vectors.parquet", "--json"],
    ["embed", "edges.csv", "-o", "-", "--quiet"],
    ["neighbors", "vectors.parquet", "ann"],
    ["neighbors", "vectors.parquet", "--all", "-o", "-", "--quiet"],
]


def shell(redirection):
    """A program that runs hopvec with streams redirected by a shell."""
    return ["-c", f'import os,sys; os.execvp("sh", ["sh", "-c", \'"$@" {redirection}\', "sh", '
            'sys.executable, "-m", "hopvec", *sys.argv[1:]])']  # fmt: skip


@linux
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_full_disk_behind_standard_output_is_reported(process, edges, vectors, arguments):
    with Path("/dev/full").open("w") as full:
        run = process(*arguments, stdout=full)
        _, stderr = run.communicate(timeout=60)
    assert stderr == "Standard output cannot be written (No space left on device).\n"
    assert run.returncode == 2


@unix
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_closed_standard_output_is_reported(process, edges, vectors, arguments):
    run = process(*arguments, program=shell(">&-"))
    assert run.communicate(timeout=60)[1] == (
        "Standard output cannot be written (Bad file descriptor).\n"
    )
    assert run.returncode == 2


@unix
def test_vectors_are_written_to_a_file_even_if_all_streams_are_closed(process, edges, tmp_path):
    run = process("embed", edges, "-o", "v.parquet", program=shell("<&- >&- 2>&-"))
    assert run.communicate(timeout=60) == ("", "")
    assert run.returncode == 0
    assert (tmp_path / "v.parquet").read_bytes()[:4] == b"PAR1"


@unix
def test_a_deleted_working_directory_is_refused_before_the_work(process, edges, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    program = ["-c", "import os,sys; os.rmdir(os.getcwd()); os.execv(sys.executable, "
               '[sys.executable, "-m", "hopvec", *sys.argv[1:]])']  # fmt: skip
    run = process("embed", tmp_path / edges, "-o", "v.parquet", cwd=gone, program=program)
    assert run.communicate(timeout=60)[1] == "v.parquet: the directory . was deleted.\n"
    assert run.returncode == 2


def test_an_output_directory_deleted_during_the_work_is_reported(run, edges, tmp_path, monkeypatch):
    from hopvec.cli import embed

    out = tmp_path / "out"
    out.mkdir()
    read = embed.read

    def delete_meanwhile(*arguments, **more):
        shutil.rmtree(out)
        return read(*arguments, **more)

    monkeypatch.setattr(embed, "read", delete_meanwhile)
    result = run("embed", edges, "-o", "out/v.parquet")
    assert result.exit_code == 2
    assert "out/v.parquet: the directory out does not exist. Create it first." in result.stderr


@pytest.mark.parametrize("encoding", ["latin-1", "ascii:strict", "cp1252"])
@pytest.mark.parametrize("arguments", [[], ["--json"]], ids=["lines", "json"])
def test_characters_that_the_output_cannot_encode_are_escaped(
    process, tmp_path, encoding, arguments
):
    ids = ["a", "日本", "😀"]
    vectors = np.array([[1, 0], [1, 1], [0, 1]], np.float32)
    hopvec.Embedding(vectors, pa.array(ids)).save(tmp_path / "v.parquet")
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    run = process("neighbors", "v.parquet", "a", *arguments, env=environment, encoding="utf-8")
    stdout, stderr = run.communicate(timeout=60)
    assert (run.returncode, stderr) == (0, "")
    if arguments:
        found = [row["id"] for row in json.loads(stdout)[0]["neighbors"]]
    else:
        found = [line.split("\t")[1] for line in stdout.splitlines()]
    assert found in (ids[1:], [r"\u65e5\u672c", r"\U0001f600"])


def test_a_report_on_an_output_that_cannot_encode_it_is_json(process, tmp_path):
    (tmp_path / "日本😀.csv").write_text("a,b\nb,c\n")
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    arguments = ["-o", "v.parquet", "--dim", "4", "--report", "-", "--quiet"]
    stdout, _ = process("embed", "日本😀.csv", *arguments, env=environment).communicate(timeout=60)
    assert json.loads(stdout)["input"]["file"] == "日本😀.csv"


def test_an_error_on_a_name_that_the_stream_cannot_encode_is_printed(process):
    environment = os.environ | {"PYTHONIOENCODING": "latin-1:strict"}
    run = process("info", "日本.csv", env=environment)
    assert run.communicate(timeout=60)[1] == "\\u65e5\\u672c.csv: there is no such file.\n"
    assert run.returncode == 2


def test_a_file_on_standard_output_is_utf_8_in_any_encoding(process, tmp_path):
    hopvec.Embedding(np.eye(2, dtype=np.float32), pa.array(["日", "本"])).save(
        tmp_path / "v.parquet"
    )
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    run = process("neighbors", "v.parquet", "--all", "-o", "-", env=environment, encoding="utf-8")
    assert run.communicate(timeout=60)[0].splitlines()[1].startswith('"日","本",')
