"""A few quick tests of an installed wheel, for every platform: they need pytest and hypothesis."""

import subprocess
import sys

import numpy as np

import hopvec
from hopvec import FastRP, Graph

SOURCE, TARGET = ["ann", "ann", "bob", "cem", "dan"], ["bob", "cem", "cem", "dan", "eve"]


def test_a_small_graph_has_the_same_vectors_for_any_number_of_threads():
    graph = Graph.from_edges(SOURCE, TARGET)
    one = FastRP(dim=24, seed=7, threads=1).embed(graph)
    two = FastRP(dim=24, seed=7, threads=2).embed(graph)
    assert one.vectors.shape == (5, 24)
    np.testing.assert_allclose(np.linalg.norm(one.vectors, axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(one.vectors, two.vectors)


def test_the_command_line_writes_the_vectors_of_the_library(tmp_path):
    lines = ["source,target", *map(",".join, zip(SOURCE, TARGET, strict=True))]
    (tmp_path / "edges.csv").write_text("\n".join(lines) + "\n")
    run("embed", "edges.csv", "-o", "vectors.parquet", "--dim", "24", "--seed", "7", cwd=tmp_path)
    written = hopvec.load(tmp_path / "vectors.parquet")
    expected = FastRP(dim=24, seed=7).embed(Graph.from_edges(SOURCE, TARGET))
    for name in SOURCE:
        np.testing.assert_array_equal(written[name], expected[name])
    assert "bob" in run("neighbors", "vectors.parquet", "ann", cwd=tmp_path)


def run(*arguments, cwd):
    command = [sys.executable, "-m", "hopvec", *arguments]
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout
