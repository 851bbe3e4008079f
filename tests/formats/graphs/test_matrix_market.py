""".mtx files."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reading import graph_of, open_edges, reason
from scipy.io import mmwrite

from hopvec import FormatError
from hopvec.formats.graphs import matrix_market


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph.mtx"


def test_both_triangles_of_a_symmetric_matrix_are_given(path):
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 2.5\n3 3 4\n")
    assert reason(matrix_market, path) == "it begins with %%MatrixMarket"
    result = open_edges(matrix_market, path)
    assert result.symmetric is True
    assert result.facts["matrix"] == "real, symmetric"
    assert result.matrix.toarray().tolist() == [[0, 2.5, 0], [2.5, 0, 0], [0, 0, 4]]


@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_every_real_field_is_read(path, field):
    value = "" if field == "pattern" else " 1"
    path.write_text(f"%%MatrixMarket MATRIX Coordinate {field} general\n2 2 1\n1 2{value}\n")
    result = open_edges(matrix_market, path)
    assert result.symmetric is None
    assert result.matrix.toarray().tolist() == [[0, 1], [0, 0]]


def test_a_compressed_file_is_read_and_weights_are_left_alone_if_asked(tmp_path):
    path = tmp_path / "graph.mtx.gz"
    path.write_bytes(
        gzip.compress(b"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 5\n")
    )
    assert graph_of(open_edges(matrix_market, path)).volume == 10
    assert graph_of(open_edges(matrix_market, path, unweighted=True)).volume == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"line 1: a Matrix Market file begins with"),
        ("1 2\n2 3\n", r"line 1: a Matrix Market file begins with .* found '1 2'"),
        ("%%MatrixMarket matrix coordinate\n", r"line 1: a Matrix Market file begins with"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n1\n1\n1\n", r"'array'.*coordinate is"),
        ("%%MatrixMarket vector coordinate real general\n2 1\n1 1\n", r"line 1: a 'vector' Matrix"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 0\n", r"line 1: a 'complex' Mat"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 0\n", r"'skew-symmetric' Mat"),
        ("%%MatrixMarket matrix coordinate real hermitian\n2 2 0\n", r"a 'hermitian' Matrix"),
        ("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n", r"square, .* is 2 x 3"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", r"Truncated file"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 9 1\n", r"line 3: "),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 x\n", r"line 3: "),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2\n", r"line 3: "),
        ("%%MatrixMarket matrix coordinate real general\n2 x 1\n1 2 1\n", r"line 2: "),
        ("%%MatrixMarket matrix coordinate real general\n", r"Premature EOF"),
        ("%%MatrixMarket matrix coordinate real general\n\0\1\2\n", r"line 2: here stand"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(path, text, message):
    path.write_text(text)
    with pytest.raises(FormatError, match=rf"graph\.mtx.*{message}"):
        open_edges(matrix_market, path)


@given(
    st.integers(1, 6).flatmap(
        lambda n: arrays(np.float64, (n, n), elements=st.integers(0, 9).map(float))
    )
)
def test_what_scipy_writes_comes_back(tmp_path_factory, matrix):
    path = tmp_path_factory.mktemp("any") / "graph.mtx"
    mmwrite(path, sp.coo_array(matrix), symmetry="AUTO")
    assert (open_edges(matrix_market, path).matrix.toarray() == matrix).all()
