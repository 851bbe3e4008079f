""".npz files: sparse matrices, and arrays of edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import hopvec
from graph_formats import edges_of, graph_of, open_edges, read, reason
from hopvec import FormatError
from hopvec.formats.graphs import numpy_archive
from hopvec.formats.graphs.edges import Matrix

SRC, DST = np.array([0, 1, 2]), np.array([1, 2, 0])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "edges.npz"


@pytest.mark.parametrize(
    "names", [("src", "dst"), ("source", "target"), ("row", "col"), ("edge_index", "edge_index")]
)
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_pairs_of_arrays_are_edges(path, names, save):
    columns = dict(zip(names, (SRC, DST), strict=True))
    if names[0] == names[1]:
        columns = {"edge_index": np.array([SRC, DST])}
    save(path, **columns, weight=np.float32([1, 2, 4]), label=np.array([0]))
    stream = open_edges(numpy_archive, path)
    assert reason(numpy_archive, path) == "it is a zip archive of numpy arrays"
    assert stream.metadata["columns"] == {
        "source": names[0],
        "target": names[1],
        "weight": "weight",
    }
    assert stream.metadata["ignored"] == ["label"]
    assert edges_of(stream) == [(0, 1, 1), (1, 2, 2), (2, 0, 4)]
    assert stream.locate(1) == f"entry 2 of {' and '.join(dict.fromkeys(names))}"


def test_n_includes_nodes_without_edges(path):
    np.savez(path, n=np.int64(5), src=SRC, dst=DST)
    stream = open_edges(numpy_archive, path)
    assert stream.nodes == 5
    assert graph_of(stream).isolated == 2


def test_strings_are_ids(path):
    np.savez(path, src=np.array(["a", "é"]), dst=np.array(["bb", ""]))
    assert read(numpy_archive, path) == [("a", "bb"), ("é", "")]


def test_arrays_are_chosen_by_name(path):
    np.savez(path, a=SRC, b=DST, km=np.ones(3), weight=np.ones(3))
    assert read(numpy_archive, path, source="a", target="b", weight="km")[0] == (0, 1, 1)
    assert read(numpy_archive, path, source="a", target="b", unweighted=True)[0] == (0, 1)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
def test_a_sparse_matrix_is_read_and_unweighted_on_request(path, layout):
    matrix = sp.coo_array(([2.0, 2.0], ([0, 1], [1, 0])), shape=(3, 3)).asformat(layout)
    sp.save_npz(path, matrix)
    result = open_edges(numpy_archive, path)
    assert isinstance(result, Matrix)
    assert (result.matrix != matrix).nnz == 0
    assert result.metadata == {"matrix": f"scipy.sparse, {layout}"}
    assert graph_of(open_edges(numpy_archive, path, unweighted=True)).volume == 2


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"src": SRC}, r"neither a sparse matrix nor a pair of arrays.*; it holds src"),
        ({"vectors": SRC, "ids": SRC}, r"it holds vectors, ids. This looks like an embedding"),
        ({"src": SRC, "dst": DST[:2]}, r"'src' and 'dst' must have the same length, got 3 and 2"),
        (
            {"src": SRC / 2, "dst": DST},
            r"'src' must be a one-dimensional array of integers or strings, got float64",
        ),
        (
            {"src": SRC, "dst": np.eye(3)},
            r"'dst' must be a one-dimensional array of integers or strings, .*\[3, 3\]",
        ),
        ({"edge_index": np.ones((3, 2), int)}, r"must have the shape \[2, edges\], got \[3, 2\]"),
        ({"src": SRC, "dst": DST, "weight": [1]}, r"'weight' must hold one number per edge"),
        ({"src": SRC, "dst": DST, "weight": ["a"] * 3}, r"'weight' must hold one number per edge"),
        ({"src": SRC, "dst": DST, "n": 2}, r"entry 2: the edge 1 - 2 is out of range; with n = 2"),
        ({"src": SRC, "dst": DST - 1, "n": 3}, r"entry 3: the edge 2 - -1 is out of range"),
        ({"src": SRC, "dst": DST, "n": [3, 3]}, r"'n' is the number of nodes"),
        ({"src": SRC.astype(object), "dst": DST}, r"the array 'src' cannot be read \(Object"),
    ],
)
def test_arrays_that_are_not_edges_are_refused(path, arrays, message):
    np.savez(path, **{name: np.asarray(values) for name, values in arrays.items()})
    with pytest.raises(FormatError, match=rf"edges\.npz.*{message}"):
        open_edges(numpy_archive, path)


def test_a_missing_array_is_refused_with_a_list_of_arrays(path):
    np.savez(path, src=SRC, dst=DST)
    for role in ("source", "weight"):
        with pytest.raises(FormatError, match=r"there is no array 'x'; it holds src, dst"):
            open_edges(numpy_archive, path, **{role: "x"})


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (sp.coo_array((2, 3)), r"an adjacency matrix is square, but this one is 2 x 3"),
        (sp.eye_array(2) * 1j, r"it holds complex128, but weights are real numbers"),
    ],
)
def test_a_matrix_that_is_not_an_adjacency_matrix_is_refused(path, matrix, message):
    sp.save_npz(path, matrix.tocsr())
    with pytest.raises(FormatError, match=message):
        open_edges(numpy_archive, path)


@pytest.mark.parametrize(
    "change",
    [
        {"indptr": np.array([0, 9, 2])},
        {"indices": np.array([0, 77])},
        {"indices": np.array([0])},
        {"shape": np.array([2])},
        {"format": np.array("xyz")},
    ],
    ids=["pointers", "beyond the shape", "too few", "shape", "format"],
)
def test_a_damaged_sparse_matrix_is_refused(path, change):
    parts = {
        "format": np.array(b"csr"),
        "shape": np.array([2, 2]),
        "data": np.ones(2),
        "indices": np.array([1, 0]),
        "indptr": np.array([0, 1, 2]),
    }
    np.savez(path, **{**parts, **change})
    with pytest.raises(FormatError, match=r"edges\.npz: (damaged sparse|this is not an adj)"):
        open_edges(numpy_archive, path)


@pytest.mark.parametrize("compress", [False, True])
def test_a_truncated_or_changed_file_is_refused(path, tmp_path, compress):
    (np.savez_compressed if compress else np.savez)(path, src=np.arange(99), dst=np.arange(99))
    whole = path.read_bytes()
    broken = tmp_path / "broken"
    for content in (whole[:50], whole[: len(whole) // 2], whole[:300] + b"rubb" + whole[304:]):
        broken.write_bytes(content)
        with pytest.raises(FormatError, match=r"broken: (damaged|this is no|the array)"):
            read(numpy_archive, broken)


def test_random_bytes_are_refused(path):
    path.write_bytes(b"\0\1\2rubbish")
    with pytest.raises(FormatError, match=r"not an \.npz archive"):
        open_edges(numpy_archive, path)


def test_a_published_graph_keeps_its_isolated_nodes(data_dir):
    stream = open_edges(numpy_archive, data_dir / "polblogs" / "edges.npz")
    batches = list(stream.batches)
    graph = hopvec.Graph.from_edges(batches[0].source, batches[0].target, nodes=stream.nodes)
    assert (graph.nodes, graph.edges, graph.isolated) == (1490, 16715, 266)
    assert stream.metadata["ignored"] == ["label", "label_names"]


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9)), max_size=30))
def test_any_integers_round_trip(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("any") / "edges.npz"
    src, dst = np.array(pairs, np.int64).reshape(-1, 2).T
    np.savez(path, src=src, dst=dst)
    assert read(numpy_archive, path) == pairs
