"""A named pipe that nobody writes to: each command says what it waits for, and Ctrl-C ends it."""

import os
import select
import signal
import subprocess
import sys
import time

import pytest

import hopvec
from hopvec import FormatError
from hopvec.formats.recognize import holds_embedding

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")

ARGUMENTS = [
    ["info", "pipe.csv"],
    ["info", "pipe.parquet"],
    ["embed", "pipe.csv", "-o", "x.npy"],
    ["embed", "edges.csv", "--nodes", "pipe.csv", "-o", "x.npy"],
    ["embed", "edges.csv", "--features", "pipe.csv", "-o", "x.npy"],
    ["embed", "edges.csv", "--params", "pipe.csv", "-o", "x.npy"],
    ["evaluate", "vectors.npy", "pipe.csv"],
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    graph = hopvec.read_graph(tmp_path / "edges.csv")
    hopvec.FastRP(dim=4).embed(graph).save(tmp_path / "vectors.npy")
    os.mkfifo(tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.parquet")
    return tmp_path


def start(arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "hopvec", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def first_line(run, seconds=60):
    """What a run prints to standard error first."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([run.stderr], [], [], 0.1)[0]:
            return run.stderr.readline().decode()
    run.kill()
    raise AssertionError("nothing was printed")


def test_each_command_says_which_pipe_it_waits_for_and_ctrl_c_ends_it(files):
    runs = [start(arguments) for arguments in ARGUMENTS]  # at once: they wait
    for run, arguments in zip(runs, ARGUMENTS, strict=True):
        pipe = next(name for name in arguments if name.startswith("pipe"))
        with run:
            line = first_line(run)
            run.send_signal(signal.SIGINT)
            _, errors = run.communicate(timeout=30)
        assert line == f"Waiting for a program to write to the named pipe {pipe} ...\n"
        assert errors.strip() == b"Stopped; nothing was written."
        assert run.returncode == 130
    assert not (files / "x.npy").exists()


def test_what_comes_late_is_read(files):
    with start(["info", "pipe.csv"]) as run:
        assert first_line(run).startswith("Waiting for a program")
        (files / "pipe.csv").write_text("source,target\na,b\nb,c\n")
        output, _ = run.communicate(timeout=30)
    assert run.returncode == 0
    assert b"3 nodes, 2 edges" in output


def test_waiting_for_standard_input_is_reported(files):
    run = subprocess.Popen(
        [sys.executable, "-m", "hopvec", "info", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with run:
        assert first_line(run) == "Waiting for data on standard input ...\n"
        output, _ = run.communicate(b"a,b\nb,c\n", timeout=30)
    assert b"3 nodes, 2 edges" in output


def test_vectors_are_not_read_from_a_pipe(files):
    with pytest.raises(FormatError, match=r"pipe\.parquet: vectors cannot be read from a pipe"):
        hopvec.load("pipe.parquet")
    assert not holds_embedding(files / "pipe.parquet")
