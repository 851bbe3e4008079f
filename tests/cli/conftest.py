"""Fixtures for the command line: ways to run it, a file of edges, a file of vectors."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

import hopvec
from hopvec.cli.program import hopvec as program

EDGES = "source,target\nann,bob\nann,cem\nbob,cem\ncem,dan\ndan,eve\neve,fay\nfay,ann\n"
NAMES = ["ann", "bob", "cem", "dan", "eve", "fay"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command line in this process, in a temporary directory."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments, **more: CliRunner().invoke(
        program, [str(w) for w in arguments], **more
    )


@pytest.fixture
def process(tmp_path):
    """Starts a command line as a process, in a temporary directory."""
    started = []

    def start(*arguments, program=("-m", "hopvec"), **more):
        command = [sys.executable, *program, *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        started.append(subprocess.Popen(command, text=True, **{"cwd": tmp_path} | pipes | more))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.wait()


@pytest.fixture
def edges(tmp_path):
    """The name of a file of edges in the temporary directory."""
    (tmp_path / "edges.csv").write_text(EDGES)
    return "edges.csv"


@pytest.fixture
def vectors(tmp_path):
    """The name of a file of vectors in the temporary directory."""
    table = [line.split(",") for line in EDGES.split()[1:]]
    graph = hopvec.Graph.from_edges(*zip(*table, strict=True))
    hopvec.FastRP(dim=8, seed=7, sparsity=2).embed(graph).save(tmp_path / "vectors.parquet")
    return "vectors.parquet"
