"""The memory limit holds for the whole run, as measured, and does not change the vectors."""

import json
import re
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hopvec
from hopvec.machine import memory_limit

LINUX = Path("/proc/self/clear_refs").exists()


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("memory")
    random = np.random.default_rng(0)
    ends = random.integers(0, 250_000, (600_000, 2)).tolist()
    (directory / "edges.csv").write_text("".join(f"n{u},n{v}\n" for u, v in ends))
    return directory


def embed(directory, edges, output, *options):
    command = [sys.executable, "-m", "hopvec", "embed", edges, "-o", output, "--quiet"]
    command += ["--dim", "128", "--report", f"{output}.json", *options]
    finished = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return json.loads((directory / f"{output}.json").read_text())


@pytest.mark.skipif(not LINUX, reason="peak memory is read from Linux's /proc")
def test_peak_memory_stays_within_the_limit_from_reading_to_writing(directory, tmp_path):
    free = embed(directory, "edges.csv", "free.npy")
    limited = embed(directory, "edges.csv", "limited.npy", "--memory", "320MB")
    spill = ("--memory", "270MB", "--spill-dir", str(tmp_path))
    tight = embed(directory, "edges.csv", "tight.npy", *spill)
    assert max(stage["peak_bytes"] for stage in free["stages"]) > 1.8 * 320e6
    for report, memory in ((limited, 320e6), (tight, 270e6)):
        assert "spill file" in report["plan"]
        for stage in report["stages"]:
            assert stage["peak_bytes"] <= memory, stage
    for name in ("limited.npy", "tight.npy"):
        assert (directory / name).read_bytes() == (directory / "free.npy").read_bytes()
    assert list(tmp_path.iterdir()) == []


def test_the_error_of_a_limit_below_the_minimum_explains_the_minimum(directory):
    command = [sys.executable, "-m", "hopvec", "embed", "edges.csv", "-o", "none.npy"]
    command += ["--dim", "128", "--memory", "40MB"]
    finished = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert finished.returncode == 2
    sentence = finished.stderr.strip().splitlines()[-1]
    assert "needs at least" in sentence
    assert "MB for the embedding" in sentence
    assert not (directory / "none.npy").exists()


def test_spill_files_are_in_the_spill_directory_from_reading_to_writing(run, tmp_path, monkeypatch):
    directories, temporary_file = [], tempfile.TemporaryFile

    def record(*arguments, **more):
        if more.get("prefix") == "hopvec-":
            directories.append(more.get("dir"))
        return temporary_file(*arguments, **more)

    monkeypatch.setattr(tempfile, "TemporaryFile", record)
    ends = np.random.default_rng(3).integers(0, 20_000, (300_000, 2))
    lines = "".join(f"{one},{other}\n" for one, other in ends.tolist())
    (tmp_path / "edges.csv").write_text(lines)
    (tmp_path / "spill").mkdir()
    for options, expected in (((), tmp_path), (("--spill-dir", "spill"), tmp_path / "spill")):
        arguments = (
            "-o",
            "vectors.npy",
            "--memory",
            "194MB",
            "--passes",
            "1",
            "--report",
            "run.json",
            *options,
        )
        result = run("embed", "edges.csv", "--dim", 256, *arguments)
        assert result.exit_code == 0, result.stderr
        assert "spill file" in json.loads((tmp_path / "run.json").read_text())["plan"]
        assert len(directories) > 3
        assert {Path(directory).resolve() for directory in directories} == {expected.resolve()}
        directories.clear()
    assert list((tmp_path / "spill").iterdir()) == []


PEAK = """
import pathlib, re, sys
from hopvec.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code
status = pathlib.Path("/proc/self/status").read_text()
print(re.search(r"VmHWM:\\s+(\\d+)", status)[1])
"""


def measured(directory, *arguments):
    """The peak of a command, and its messages."""
    command = [sys.executable, "-c", PEAK, *map(str, arguments), "--quiet"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    peak = int(done.stdout.split()[-1]) * 1024 if done.returncode == 0 else None
    return peak, done.stderr


def minimum(messages):
    """The minimum that a refusal names, as it is typed."""
    return re.search(r"needs at least ([\d.]+ [kMG]B)", messages)[1]


@pytest.mark.skipif(not LINUX, reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(
    ("output", "options"),
    [
        ("vectors.npy", "--dim 64 --passes 1 --directed --direction in"),
        ("vectors.parquet", "--dim 32 --directed --direction concat --passes 2"),
        ("vectors.csv", "--dim 16 --precision float16 --passes 1 --normalize none"),
    ],
)
def test_a_run_succeeds_within_the_minimum_that_a_refusal_names(
    directory, tmp_path, output, options
):
    command = ["embed", directory / "edges.csv", "-o", output, *options.split(), "--memory"]
    _, messages = measured(tmp_path, *command, "1MB")
    least = minimum(messages)
    peak, messages = measured(tmp_path, *command, least)
    assert peak is not None, messages
    assert peak <= memory_limit(least)
    vectors = (tmp_path / output).read_bytes()
    peak, messages = measured(tmp_path, *command, "600MB")
    assert peak <= 600e6, messages
    assert (tmp_path / output).read_bytes() == vectors


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """200 MB of vectors, a tenth of them with labels."""
    directory = tmp_path_factory.mktemp("vectors")
    rows = np.random.default_rng(0).standard_normal((400_000, 128), np.float32)
    hopvec.Embedding(rows, pa.array(np.arange(len(rows)))).save(directory / "vectors.parquet")
    lines = "".join(f"{node},{node % 3}\n" for node in range(0, 400_000, 20))
    (directory / "labels.csv").write_text(lines)
    lines = "".join(f"{node},{7 * node % 400_000}\n" for node in range(0, 400_000, 40))
    (directory / "edges.csv").write_text(f"{lines}7,399999\n")
    (directory / "held-out.csv").write_text("7,80\n80,399999\n")
    return directory


@pytest.mark.skipif(not LINUX, reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(
    "arguments",
    [
        "map vectors.parquet -o map.png --layout pca --dpi 500",
        "evaluate vectors.parquet labels.csv --shares 0.5 --shuffles 1 --C 1",
        "neighbors vectors.parquet 7 399999 --json",
        "recommend vectors.parquet --graph edges.csv 7 399999 --json",
        "recommend vectors.parquet --graph edges.csv 7 399999 --json --score learned",
        "evaluate vectors.parquet --recommend held-out.csv --graph edges.csv --scores cosine",
    ],
    ids=["map", "evaluate", "neighbors", "recommend", "learned", "recommendation"],
)
def test_commands_that_read_vectors_stay_within_the_minimum_that_a_refusal_names(
    vectors, arguments
):
    command = [*arguments.split(), "--memory"]
    _, messages = measured(vectors, *command, "1MB")
    least = minimum(messages)
    if arguments.startswith(("neighbors", "recommend")):
        assert "for blocks of vectors" in messages
    peak, messages = measured(vectors, *command, least)
    assert peak is not None, messages
    assert peak <= memory_limit(least)


@pytest.fixture(scope="module")
def long_ids(tmp_path_factory):
    """Vectors and edges of nodes with ids of 1,000 characters, and many results for each."""
    directory = tmp_path_factory.mktemp("long ids")
    ids = [f"{node:04}{'x' * 996}" for node in range(4000)]
    rows = np.random.default_rng(0).standard_normal((len(ids), 8), np.float32)
    hopvec.Embedding(rows, ids).save(directory / "vectors.parquet")
    lines = "".join(f"{a},{b}\n" for a, b in pairwise(ids))
    (directory / "edges.csv").write_text(f"source,target\n{lines}")
    return directory


@pytest.mark.skipif(not LINUX, reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize("output", ["found.parquet", "found.csv", "found.jsonl"])
@pytest.mark.parametrize("command", ["neighbors vectors.parquet", "recommend vectors.parquet"])
def test_results_do_not_exceed_the_limit_whatever_their_ids_and_number(long_ids, command, output):
    graph = ["--graph", "edges.csv"] if command.startswith("recommend") else []
    arguments = [*command.split(), *graph, *f"--all -k 40 -o {output} --memory".split()]
    _, messages = measured(long_ids, *arguments, "1MB")
    least = minimum(messages)
    peak, messages = measured(long_ids, *arguments, least)
    assert peak is not None, messages
    assert peak <= memory_limit(least)


@pytest.mark.skipif(not LINUX, reason="peak memory is read from Linux's /proc")
def test_neighbors_among_a_million_nodes_stay_within_500_mb(tmp_path):
    vectors = np.random.default_rng(0).standard_normal((1_000_000, 64), np.float32)
    hopvec.Embedding(vectors, pa.array(np.arange(len(vectors)))).save(tmp_path / "vectors.parquet")
    del vectors
    (tmp_path / "ids.txt").write_text("".join(f"{7 * row}\n" for row in range(500)))
    command = [sys.executable, "-c", PEAK, "neighbors"]
    command += ["vectors.parquet", "--ids", "ids.txt", "--memory", "500MB", "-o", "knn.parquet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) * 1024 <= 500e6
    assert pq.read_metadata(tmp_path / "knn.parquet").num_rows == 5000
