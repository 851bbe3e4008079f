"""Conversion from and to scipy matrices and networkx graphs."""

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hopvec import Graph, GraphError, ParameterError

SYMMETRIC = np.array([[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 3, 0], [0, 0, 0, 0]], np.float32)
DIRECTED = np.array([[0, 2, 0], [0.5, 0, 0], [1, 0, 4]], np.float32)
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")

matrices = st.integers(1, 6).flatmap(
    lambda nodes: arrays.arrays(np.float32, (nodes, nodes), elements=st.sampled_from([0, 1, 2.5]))
)


@given(matrices)
def test_a_directed_matrix_round_trips(matrix):
    graph = Graph.from_scipy(sp.csr_array(matrix), directed=True)
    assert graph.directed
    assert (graph.to_scipy().toarray() == matrix).all()


@given(matrices)
def test_a_symmetric_matrix_round_trips(matrix):
    matrix = np.maximum(matrix, matrix.T)
    graph = Graph.from_scipy(sp.csr_array(matrix))
    assert not graph.directed
    assert (graph.to_scipy().toarray() == matrix).all()


@given(matrices, st.permutations(list("fedcba")))
def test_a_matrix_with_ids_round_trips_through_networkx(matrix, ids):
    graph = Graph.from_scipy(matrix, directed=True, ids=ids[: len(matrix)])
    again = Graph.from_networkx(graph.to_networkx())
    assert again.ids.equals(graph.ids)
    assert (again.to_scipy().toarray() == matrix).all()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", [sp.coo_array, sp.coo_matrix])
@pytest.mark.parametrize("directed", [False, True])
def test_every_sparse_format_is_read(name, kind, directed):
    matrix = DIRECTED if directed else SYMMETRIC
    graph = Graph.from_scipy(kind(matrix).asformat(name), directed=directed)
    assert (graph.to_scipy().toarray() == matrix).all()


@pytest.mark.parametrize("dtype", [bool, "i1", "u8", "i4", "f4", "f8", np.longdouble])
def test_every_real_dtype_is_read(dtype):
    matrix = SYMMETRIC.astype(dtype)
    graph = Graph.from_scipy(matrix)
    assert (graph.to_scipy().toarray() == matrix.astype(np.float32)).all()


def test_a_symmetric_matrix_is_not_symmetrized_again():
    for symmetrize in (False, True):
        graph = Graph.from_scipy(SYMMETRIC, symmetrize=symmetrize)
        assert graph.volume == SYMMETRIC.sum()
        assert (graph.to_scipy().toarray() == SYMMETRIC).all()


def test_a_matrix_of_ones_is_unweighted():
    assert Graph.from_scipy(np.array([[0, 1], [1, 0]])).weights is None


def test_repeated_entries_are_summed():
    matrix = sp.coo_array(([1, 2, 0.5, 2.5], ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    assert Graph.from_scipy(matrix).to_scipy().toarray().tolist() == [[0, 3], [3, 0]]


@pytest.mark.parametrize("data", [[1, 1, 0], [True, True, False], [2.5, 2.5, -0.0]])
def test_stored_zeros_are_ignored(data):
    graph = Graph.from_scipy(sp.coo_array((data, ([0, 1, 0], [1, 0, 2])), shape=(3, 3)))
    assert (graph.entries, graph.edges, graph.isolated) == (2, 1, 1)


def test_64_bit_indices_are_read():
    columns, starts = np.array([1, 0], np.int64), np.array([0, 1, 2], np.int64)
    assert Graph.from_scipy(sp.csr_array((np.ones(2), columns, starts), shape=(2, 2))).edges == 1


@pytest.mark.parametrize(
    "matrix", [[[0, 1], [0, 0]], [[0, 1], [2, 0]], [[0, 1], [1 + 1e-6, 0]], DIRECTED.tolist()]
)
def test_a_matrix_that_is_not_symmetric_is_refused_with_two_remedies(matrix):
    with pytest.raises(GraphError) as error:
        Graph.from_scipy(np.array(matrix))
    assert str(error.value) == (
        "The adjacency matrix is not symmetric. Use Graph.from_scipy(matrix, directed=True) if the "
        "direction matters, or symmetrize=True to take every entry as an undirected edge."
    )


@given(matrices)
def test_symmetrize_takes_every_entry_as_an_undirected_edge(matrix):
    symmetric = (matrix == matrix.T).all()
    both_ways = matrix + matrix.T - np.diag(matrix.diagonal())
    graph = Graph.from_scipy(matrix, symmetrize=True)
    assert not graph.directed
    assert (graph.to_scipy().toarray() == (matrix if symmetric else both_ways)).all()


def test_directed_and_symmetrize_are_mutually_exclusive():
    with pytest.raises(GraphError, match="symmetrize=True are mutually exclusive"):
        Graph.from_scipy(SYMMETRIC, directed=True, symmetrize=True)


def test_ids_name_the_rows():
    graph = Graph.from_scipy(SYMMETRIC, ids=["d", "a", "c", "b"])
    assert dict(zip(graph.ids.to_pylist(), graph.degrees, strict=True)) == {
        "d": 2,
        "a": 3,
        "c": 4,
        "b": 0,
    }


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a"], r"ids must name all 4 rows, got 1 ids"),
        (range(5), r"ids must name all 4 rows, got 5 ids"),
        (["a", "b", "a", "c"], r"the id 'a' occurs more than once"),
        (["a", "b", None, "c"], r"entry 3: there is no id"),
        ([1.5, 2.5, 3.5, 4.5], r"the id 1\.5 is not an integer or a string"),
    ],
)
def test_invalid_ids_are_refused(ids, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_scipy(SYMMETRIC, ids=ids)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), r"An adjacency matrix must be square, got the shape \(2, 3\)"),
        (np.ones(3), r"An adjacency matrix must be square, got the shape \(3,\)"),
        (np.ones((2, 2, 2)), r"An adjacency matrix must be square, got the shape \(2, 2, 2\)"),
        (np.zeros((0, 0)), r"The graph is empty: the adjacency matrix has no rows"),
        (sp.csr_array((0, 0)), r"The graph is empty: the adjacency matrix has no rows"),
        (np.eye(2) * 1j, r"contains complex numbers; weights must be real"),
        (np.array([["a", "b"], ["c", "d"]]), r"The adjacency matrix cannot be read"),
        (np.array([[0, None], [None, 0]]), r"The adjacency matrix cannot be read"),
        ("edges.csv", r"The adjacency matrix cannot be read"),
        (None, r"The adjacency matrix cannot be read"),
        (np.array([[0, -1], [-1, 0]]), r"edge 1 \(0 - 1\): the weight -1.0 is not allowed"),
        (np.array([[1, 1], [np.nan, 0]]), r"edge 3 \(1 - 0\): the weight nan is not allowed"),
        (np.array([[1, 1], [np.inf, 0]]), r"edge 3 \(1 - 0\): the weight inf is not allowed"),
        (
            sp.coo_array(([3, -2], ([0, 0], [1, 1])), shape=(2, 2)),
            r"the weight -2.0 is not allowed",
        ),
    ],
)
def test_an_invalid_adjacency_matrix_is_refused(matrix, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_scipy(matrix)


def test_the_matrix_of_a_graph_is_float32_with_rows_in_the_order_of_the_ids():
    graph = Graph.from_edges(["b", "c"], ["a", "a"], [2, 3], directed=True, nodes=["c", "b", "a"])
    matrix = graph.to_scipy()
    assert isinstance(matrix, sp.csr_array)
    assert matrix.dtype == np.float32
    assert matrix.toarray().tolist() == [[0, 0, 3], [0, 0, 2], [0, 0, 0]]


def test_writing_to_the_matrix_does_not_change_the_graph():
    graph = Graph.from_edges([0, 1], [1, 2], [2, 3])
    matrix = graph.to_scipy()
    matrix.data[:] = 9
    matrix.indices[:] = 0
    assert graph.to_scipy().toarray().tolist() == [[0, 2, 0], [2, 0, 3], [0, 3, 0]]


def test_a_networkx_graph_round_trips_with_nodes_edges_and_weights():
    original = nx.Graph()
    original.add_nodes_from(["z", "lonely", "a"])
    original.add_weighted_edges_from([("a", "z", 2.5), ("z", "z", 4.0)])
    graph = Graph.from_networkx(original)
    assert graph.ids.to_pylist() == ["z", "lonely", "a"]
    assert nx.utils.graphs_equal(graph.to_networkx(), original)


def test_a_digraph_stays_directed():
    original = nx.DiGraph([(3, 1), (1, 2), (2, 2)])
    graph = Graph.from_networkx(original)
    assert graph.directed
    assert nx.utils.graphs_equal(graph.to_networkx(), original)


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_parallel_edges_of_a_multigraph_are_summed(kind):
    original = kind([(1, 2, {"weight": 2}), (1, 2, {"weight": 3}), (1, 2)])
    graph = Graph.from_networkx(original)
    assert graph.directed == original.is_directed()
    assert graph.to_networkx()[1][2] == {"weight": 6.0}


def test_an_edge_without_the_weight_attribute_has_weight_1():
    graph = Graph.from_networkx(nx.Graph([(1, 2), (2, 3, {"km": 4})]), weight="km")
    assert graph.degrees.tolist() == [1, 5, 4]


def test_a_requested_attribute_that_no_edge_has_is_refused():
    with pytest.raises(GraphError, match=r"has the attribute weight='kn'; they have 'color', 'km'"):
        Graph.from_networkx(nx.Graph([(1, 2, {"km": 4, "color": "red"})]), weight="kn")
    with pytest.raises(GraphError, match=r"has the attribute weight='km'; they have none"):
        Graph.from_igraph(igraph.Graph(2, [(0, 1)]), weight="km")


def test_a_networkx_graph_without_edges_is_accepted():
    assert Graph.from_networkx(nx.empty_graph(["a", "b"])).isolated == 2


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([], r"The graph is empty: it has no nodes"),
        ([((0, 1), (1, 1))], r"but ids are integers or strings"),
        ([(1, "a")], r"are 1 and 'a', but ids must be all integers or all strings: convert them"),
        ([("a", 1), ("b", 2)], r"are 'a' and 1, .* networkx\.relabel_nodes\(graph, str\)"),
        ([(True, False)], r"ids must be integers or strings, got bool"),
        ([(1.5, 2.5)], r"is 1\.5, but ids are integers or strings"),
        ([(1, 2, {"weight": None})], r"edge 1 \(1 - 2\): the weight nan is not allowed"),
        ([(1, 2), (2, 3, {"weight": -1})], r"edge 2 \(2 - 3\): the weight -1.0 is not allowed"),
        ([(1, 2, {"weight": "x"})], r"weight must contain numbers"),
        ([(1, 2), (2, 3, {"weight": [1, 2]})], r"weight must contain numbers"),
    ],
)
def test_an_invalid_networkx_graph_is_refused(edges, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_networkx(nx.Graph(edges))


@pytest.mark.parametrize("threads", [-1, 0, "4", 2.5])
def test_an_invalid_number_of_threads_is_refused(threads):
    with pytest.raises(ParameterError, match="threads must be an integer of at least 1"):
        Graph.from_scipy(sp.csr_array(SYMMETRIC), threads=threads)


def damaged(format_, **arrays):
    """A sparse matrix whose arrays do not fit together, which scipy does not notice."""
    matrix = sp.coo_array(SYMMETRIC).asformat(format_)
    for name, change in arrays.items():
        setattr(matrix, name, change(getattr(matrix, name).copy()))
    return matrix


@pytest.mark.parametrize("format_", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(
    "change",
    [
        lambda indptr: indptr[::-1].copy(),
        lambda indptr: indptr + 1,
        lambda indptr: indptr * 1000,
        lambda indptr: indptr[:-1],
        lambda indptr: np.append(0, np.append(1 << 20, indptr[2:])).astype(indptr.dtype),
    ],
    ids=["descending", "from 1", "beyond the entries", "too short", "a peak"],
)
def test_a_damaged_indptr_is_refused(format_, change):
    with pytest.raises(GraphError, match="its indptr is damaged"):
        Graph.from_scipy(damaged(format_, indptr=change))


@pytest.mark.parametrize("wrong", [-1, 1000])
@pytest.mark.parametrize("format_", ["csr", "coo"])
def test_an_index_outside_of_the_matrix_is_refused(format_, wrong):
    matrix = sp.coo_array(SYMMETRIC).asformat(format_)
    (matrix.coords[1] if format_ == "coo" else matrix.indices)[0] = wrong
    with pytest.raises(GraphError, match=r"The adjacency matrix .*(outside of its shape|index)"):
        Graph.from_scipy(matrix)


def test_a_masked_matrix_is_refused():
    with pytest.raises(GraphError, match="has a mask"):
        Graph.from_scipy(np.ma.masked_array(SYMMETRIC, SYMMETRIC > 1))
