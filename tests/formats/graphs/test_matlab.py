""".mat files."""

import gzip
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.io import savemat

from graph_formats import graph_of, open_edges, reason
from hopvec import FormatError
from hopvec.formats.graphs import matlab

PATH = sp.csc_matrix(np.array([[0, 2.0, 0], [2, 0, 3], [0, 3, 0]]))
GROUP = sp.csc_matrix(np.ones((3, 2)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph.mat"


def test_network_is_the_default(path):
    savemat(path, {"a": PATH * 2, "network": PATH, "group": GROUP})
    assert reason(matlab, path) == "it begins with MATLAB 5.0"
    result = open_edges(matlab, path)
    assert (result.matrix != PATH).nnz == 0
    assert result.metadata == {"variable": "network", "ignored": ["a", "group"]}
    assert result.symmetric is None


def test_the_only_sparse_square_matrix_is_the_default(path):
    savemat(path, {"whatever": PATH, "group": GROUP, "x": np.eye(3), "text": "hello"})
    assert open_edges(matlab, path).metadata["variable"] == "whatever"


def test_variable_names_a_sparse_or_dense_matrix(path):
    savemat(path, {"network": PATH, "dense": np.ones((2, 2))})
    assert open_edges(matlab, path, variable="dense").matrix.toarray().tolist() == [[1, 1], [1, 1]]


def test_unweighted_ignores_the_weights(path):
    savemat(path, {"network": PATH})
    assert open_edges(matlab, path, unweighted=True).matrix.sum() == 4


@pytest.mark.parametrize("compress", [False, True])
def test_compressed_variables_and_compressed_files_are_read(path, tmp_path, compress):
    savemat(path, {"network": PATH}, do_compression=compress)
    assert graph_of(open_edges(matlab, path)).volume == 10
    zipped = tmp_path / "graph.mat.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert graph_of(open_edges(matlab, zipped)).volume == 10


@pytest.mark.parametrize(
    ("variables", "options", "message"),
    [
        ({"a": PATH, "b": PATH}, {}, r"several sparse square matrices; .*holds a \(sparse, 3 x 3"),
        ({"group": GROUP}, {}, r"no sparse square matrix; the file holds group \(sparse, 3 x 2\)"),
        ({"x": np.eye(3)}, {}, r"no sparse square matrix; .*Name a square matrix with variable="),
        ({"network": PATH}, {"variable": "net"}, r"no variable 'net'; the file holds network"),
        ({"group": GROUP}, {"variable": "group"}, r"'group' must be a square .* is sparse, 3 x 2"),
        ({"network": PATH * 1j}, {}, r"variable network: .*real numbers, but these are complex"),
        ({"t": "x"}, {"variable": "t"}, r"'t' must be a square matrix, but is char, 1"),
        ({}, {}, r"no sparse square matrix; the file holds nothing"),
    ],
)
def test_a_file_without_the_matrix_is_refused(path, variables, options, message):
    savemat(path, variables)
    with pytest.raises(FormatError, match=rf"graph\.mat.*{message}"):
        open_edges(matlab, path, **options)


@given(
    st.integers(1, 6).flatmap(
        lambda n: arrays(st.sampled_from(["f8", "u1", "i2", "?"]), (n, n), elements=st.just(1))
    ),
    st.booleans(),
)
def test_a_graph_written_by_scipy_round_trips(tmp_path_factory, matrix, compress):
    matrix[::2, 1:] = 0
    path = tmp_path_factory.mktemp("any") / "graph.mat"
    contents = {"sparse": sp.csc_matrix(matrix), "dense": matrix, "cells": {"a": [1, "b"]}}
    savemat(path, contents, do_compression=compress)
    for variable in ("sparse", "dense"):
        found = open_edges(matlab, path, variable=variable).matrix.toarray()
        assert (found == matrix).all()


@pytest.mark.parametrize("start", [b"MATLAB 7.3 MAT-file", b"\x89HDF\r\n\x1a\n"])
def test_version_7_3_is_refused_with_a_remedy(path, start):
    path.write_bytes(start + bytes(600))
    assert reason(matlab, path)
    with pytest.raises(FormatError, match=r"graph\.mat: .*version 7\.3 \(HDF5\).* '-v7'\)"):
        open_edges(matlab, path)


@pytest.mark.parametrize("compress", [False, True])
def test_damaged_files_raise_format_errors(path, tmp_path, compress):
    random = np.random.default_rng(0)
    matrix = sp.random_array((50, 50), density=0.2, random_state=1)
    savemat(path, {"network": sp.csc_matrix(matrix)}, do_compression=compress)
    whole = path.read_bytes()
    broken = tmp_path / "broken.mat"
    contents = [whole[:size] for size in (0, 10, 130, 160, len(whole) // 2, len(whole) - 40)]
    contents += [whole[:at] + random.bytes(8) + whole[at + 8 :] for at in range(126, 300, 8)]
    refused = 0
    for content in contents:
        broken.write_bytes(content)
        try:
            open_edges(matlab, broken)
        except FormatError as error:
            refused += 1
            assert str(error).startswith(str(broken))  # noqa: PT017
    assert refused > 6


def test_a_wrong_byte_that_crashes_scipy_is_refused(path):
    savemat(path, {"network": sp.csc_array([[0.0, 1.0], [1.0, 0.0]])})
    content = bytearray(path.read_bytes())
    type_of_row_indices = 128 + 56
    assert content[type_of_row_indices] == 5  # int32
    content[type_of_row_indices] = 0
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"graph\.mat, variable network: damaged MATLAB file"):
        open_edges(matlab, path)
    load = "import sys; from scipy.io import loadmat; loadmat(sys.argv[1])"
    result = subprocess.run([sys.executable, "-c", load, path], capture_output=True, check=False)
    survived = result.returncode in (0, 1)  # 1: an exception
    assert not survived, "scipy.io.loadmat may be safe by now: then matlab5.py can go"


@pytest.mark.parametrize(
    ("name", "nodes", "edges"),
    [("blogcatalog/blogcatalog", 10312, 333983), ("ppi/Homo_sapiens", 3890, 37845 + 894)],
)
def test_published_graphs_are_read(data_dir, name, nodes, edges):
    graph = graph_of(open_edges(matlab, data_dir / f"{name}.mat"))
    assert (graph.nodes, graph.edges) == (nodes, edges)
