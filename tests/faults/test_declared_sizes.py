"""What a header declares is compared with the bytes that are there before memory is allocated."""

import io
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import hopvec
from hopvec import FormatError, GraphError, MemoryLimitError
from hopvec.formats.graphs import declared_nodes

FILES = Path(__file__).parent / "files"


@pytest.fixture(autouse=True)
def _little_memory():
    """Fails if more than 64 MB are allocated at a time."""
    tracemalloc.start()
    yield
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 << 20


@pytest.mark.parametrize("name", ["n-bomb.npz", "big.mtx"])
def test_isolated_nodes_by_declaration_alone_are_refused_with_their_number(name):
    message = rf"{name}: the file declares 100,000,000 nodes, but has 1 edge|but has 2 edges"
    with pytest.raises(GraphError, match=message) as error:
        hopvec.read_graph(FILES / name)
    assert "99,999,99" in str(error.value)
    assert "set memory= to allow them" in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "n-bomb.npz",
            "a graph of 100,000,000 nodes needs at least 12.1 GB, but the memory limit is",
        ),
        ("big.mtx", "a matrix of 2 entries, .* needs at least 5.21 GB .*, but the memory limit is"),
    ],
)
def test_isolated_nodes_by_declaration_alone_must_fit_in_the_memory_limit(name, message):
    with pytest.raises(MemoryLimitError, match=message):
        hopvec.read_graph(FILES / name, memory="2GB")


def test_the_minimum_for_declared_nodes_is_enough(tmp_path, monkeypatch):
    monkeypatch.setattr(declared_nodes, "MAX_WITHOUT_LIMIT", 10)
    np.savez(tmp_path / "graph.npz", src=[0, 1], dst=[1, 2], n=100_000)
    with pytest.raises(MemoryLimitError, match="a graph of 100,000 nodes") as error:
        hopvec.read_graph(tmp_path / "graph.npz", memory="1MB")
    minimum = error.value.shortage.needs.total
    with pytest.raises(MemoryLimitError):
        hopvec.read_graph(tmp_path / "graph.npz", memory=minimum - 1)
    assert hopvec.read_graph(tmp_path / "graph.npz", memory=minimum).nodes == 100_000


def test_more_nodes_than_a_graph_can_have_are_refused():
    with pytest.raises(FormatError, match="a graph has at most 2,147,483,647"):
        hopvec.read_graph(FILES / "n-2e62.npz", memory="2GB")


def test_declared_nodes_that_a_memory_limit_allows_are_reported(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(declared_nodes, "MAX_WITHOUT_LIMIT", 10)
    np.savez(tmp_path / "graph.npz", src=[0, 1], dst=[1, 2], n=100)
    with pytest.raises(GraphError, match="at least 96 nodes are isolated"):
        hopvec.read_graph(tmp_path / "graph.npz")
    graph = hopvec.read_graph(tmp_path / "graph.npz", memory="1GB")
    assert graph.nodes == 100
    assert "at least 96 nodes are isolated" in caplog.text


def test_a_word2vec_header_is_compared_with_the_size_of_the_file():
    with pytest.raises(FormatError, match="its 15 bytes are too few for 1 vectors of dim 99999999"):
        hopvec.load(FILES / "w2v-dim.txt")


def test_a_word2vec_file_without_vectors_may_have_any_dim(tmp_path):
    (tmp_path / "vectors.txt").write_text("0 999999999\n")
    assert hopvec.load(tmp_path / "vectors.txt").vectors.shape == (0, 999999999)


def test_classes_by_their_number_alone_are_refused(tmp_path):
    path = tmp_path / "labels.npz"
    np.savez(path, label=[0, 1, 1 << 40])
    with pytest.raises(FormatError, match=r"labels\.npz, array label: .* classes have no nodes"):
        hopvec.read_labels(path)
    np.savez(path, label=[0, 1, 50_000])
    assert len(hopvec.read_labels(path).classes) == 50_001


@pytest.mark.parametrize("shape", [(1 << 28, 3), (3, 1 << 20)], ids=str)
def test_the_size_of_a_matrix_of_labels_is_not_believed(tmp_path, shape):
    path = tmp_path / "labels.mat"
    group = sp.csc_array(([1.0, 1.0], ([0, 1], [1, 2])), shape=shape)
    scipy.io.savemat(path, {"group": group}, do_compression=True)
    with pytest.raises(FormatError, match=r"labels\.mat, variable group: .* have no"):
        hopvec.read_labels(path)


def forged(array, shape):
    """The bytes of an array whose header declares another shape."""
    file = io.BytesIO()
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + array.tobytes()


@pytest.mark.parametrize(
    ("arrays", "wrong"),
    [
        ({"vectors": np.ones((2, 3), np.float32), "ids": np.arange(2)}, "vectors"),
        ({"vectors": np.ones((2, 3), np.float32), "ids": np.arange(2)}, "ids"),
        ({"src": np.arange(2), "dst": np.arange(2)}, "src"),
        ({"matrix": sp.csr_array(np.eye(3))}, "indptr"),
    ],
)
def test_an_npz_array_that_declares_more_than_it_has_is_refused(tmp_path, arrays, wrong):
    path = tmp_path / "arrays.npz"
    if "matrix" in arrays:
        sp.save_npz(path, arrays["matrix"], compressed=False)
    else:
        np.savez(path, **arrays)
    with np.load(path) as stored:
        members = {f"{name}.npy": forged(stored[name], stored[name].shape) for name in stored}
        members[f"{wrong}.npy"] = forged(stored[wrong], (1 << 36, *stored[wrong].shape[1:]))
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    read = hopvec.load if "vectors" in arrays else hopvec.read_graph
    with pytest.raises(FormatError, match=f"{wrong} declares .* bytes, but has"):
        read(path)


@pytest.mark.parametrize("shape", [(-(1 << 62), 1 << 62), (-1,)], ids=str)
def test_an_npz_array_that_declares_a_negative_size_is_refused(tmp_path, shape):
    path = tmp_path / "labels.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("label.npy", forged(np.zeros(3, np.int8), shape))
    with pytest.raises(FormatError, match=r"labels\.npz.* declares the shape"):
        hopvec.read_labels(path)


def test_a_sparse_matrix_with_damaged_positions_is_refused(tmp_path):
    # scipy checks the positions of a matrix only if the last one is not 0, and writes out of bounds
    path = tmp_path / "matrix.npz"
    matrix = sp.csr_array(np.eye(3))
    matrix.indptr = np.array([0, 1 << 40, 1 << 50, 0])
    sp.save_npz(path, matrix)
    with pytest.raises(FormatError, match=r"matrix\.npz: .*its indptr is damaged"):
        hopvec.read_graph(path)


def test_a_parquet_page_that_declares_more_bytes_than_the_file_has_is_refused():
    program = """
import pyarrow, sys, hopvec
try:
    hopvec.read_labels(sys.argv[1])
except hopvec.FormatError as error:
    print(error)
assert pyarrow.default_memory_pool().max_memory() < 64 << 20  # Arrow's, in this process alone
"""
    command = [sys.executable, "-c", program, FILES / "page-size.parquet"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "page-size.parquet: damaged Parquet data" in printed
