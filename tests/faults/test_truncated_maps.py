"""Another program truncates a file during a run, which ends with a sentence, not with a signal."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse as sp

import hopvec
from hopvec.formats.arrow_data import SMALL_FILE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mapped files as on Linux")

# A command whose reader waits, with the file open, until another process has truncated the file.
RUN = """
import subprocess, sys
import hopvec.{module} as module

path, *arguments = sys.argv[1:]
original = module.{function}

def and_truncate(*given, **options):
    result = original(*given, **options)
    truncate = "import os, sys; os.truncate(sys.argv[1], 200)"
    subprocess.run([sys.executable, "-c", truncate, path], check=True)
    return result

module.{function} = and_truncate
from hopvec.cli.program import hopvec
hopvec.main(arguments)
"""


def run_truncated(path, module, function, *arguments):
    script = RUN.format(module=module, function=function)
    command = [sys.executable, "-c", script, str(path), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100)


def write_edges(path, count):
    nodes = np.arange(count)
    table = pa.table({"source": nodes % 1000, "target": nodes % 999})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def save_vectors(path, count):
    vectors = np.ones((count, 64), np.float32)
    hopvec.Embedding(vectors, pa.array(np.arange(count))).save(path)


def test_a_small_file_of_edges_is_not_mapped(tmp_path):
    write_edges(tmp_path / "edges.arrow", 10_000)
    opened = ("formats.graphs.columnar", "_open_arrow")
    run = run_truncated(tmp_path / "edges.arrow", *opened, "info", tmp_path / "edges.arrow")
    assert run.returncode == 0, run.stderr
    assert "1,000 nodes" in run.stdout


def test_a_large_file_of_edges_that_is_truncated_is_named(tmp_path):
    path = tmp_path / "edges.arrow"
    write_edges(path, SMALL_FILE // 12)
    assert path.stat().st_size > SMALL_FILE
    run = run_truncated(path, "formats.graphs.columnar", "_open_arrow", "info", path)
    assert (
        run.stderr
        == f"{path}: the file was truncated by another program while it was being read.\n"
    )
    assert run.returncode == 2


def test_small_vectors_are_not_mapped(tmp_path):
    path = tmp_path / "vectors.npy"
    save_vectors(path, 1000)
    run = run_truncated(path, "formats.npy", "_read_array", "neighbors", path, "7")
    assert run.returncode == 0, run.stderr


def test_large_vectors_that_are_truncated_are_named(tmp_path):
    path = tmp_path / "vectors.npy"
    save_vectors(path, SMALL_FILE // 200)
    assert path.stat().st_size > SMALL_FILE
    run = run_truncated(path, "formats.npy", "_read_array", "neighbors", path, "7")
    assert f"{path}: the file was truncated by another program while" in run.stderr
    assert run.returncode == 2


@pytest.mark.parametrize("compressed", [False, True])
def test_a_matrix_of_matlab_that_is_truncated_is_refused(tmp_path, compressed):
    path = tmp_path / "matrix.mat"
    matrix = sp.csc_array(sp.random_array((300, 300), density=0.2, rng=0))
    scipy.io.savemat(path, {"network": matrix + matrix.T}, do_compression=compressed)
    run = run_truncated(path, "formats.graphs.matlab", "_choose", "info", path)
    assert run.returncode == 2
    assert f"{path}, variable network: damaged MATLAB file" in run.stderr


def test_vectors_of_word2vec_that_are_truncated_are_refused(tmp_path):
    path = tmp_path / "vectors.bin"
    save_vectors(path, SMALL_FILE // 200)
    run = run_truncated(
        path, "formats.word2vec", "_check_size", "convert", path, tmp_path / "x.npy"
    )
    assert run.returncode == 2
    assert "vector 1 is truncated" in run.stderr
