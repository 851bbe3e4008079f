""".mtx files."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.io import mmwrite

from graph_formats import graph_of, open_edges, reason
from hopvec import FormatError
from hopvec.formats.graphs import matrix_market

REAL = "%%MatrixMarket matrix coordinate real general\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph.mtx"


def test_both_triangles_of_a_symmetric_matrix_are_returned(path):
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 2.5\n3 3 4\n")
    assert reason(matrix_market, path) == "it begins with %%MatrixMarket"
    result = open_edges(matrix_market, path)
    assert result.symmetric is True
    assert result.metadata["matrix"] == "real, symmetric"
    assert result.matrix.toarray().tolist() == [[0, 2.5, 0], [2.5, 0, 0], [0, 0, 4]]


@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_every_real_field_is_read(path, field):
    value = "" if field == "pattern" else " 1"
    path.write_text(f"%%MatrixMarket MATRIX Coordinate {field} general\n2 2 1\n1 2{value}\n")
    result = open_edges(matrix_market, path)
    assert result.symmetric is None
    assert result.matrix.toarray().tolist() == [[0, 1], [0, 0]]


def test_comments_and_empty_lines_between_the_entries_are_skipped(path):
    path.write_text(f"{REAL}% c\n\n2 2 2\r\n\n  1\t2 3 \r\n%x y\n2 1 3")
    assert open_edges(matrix_market, path).matrix.toarray().tolist() == [[0, 3], [3, 0]]


def test_a_compressed_file_is_read_and_unweighted_ignores_the_weights(tmp_path):
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
        (
            "%%MatrixMarket matrix array real general\n2 2\n1\n1\n1\n1\n",
            r"type 'array'.*must be coordinate",
        ),
        ("%%MatrixMarket vector coordinate real general\n2 1\n1 1\n", r"line 1: .*type 'vector'"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 0\n", r"line 1: .*type 'complex'"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 0\n", r"type 'skew-symmetric'"),
        ("%%MatrixMarket matrix coordinate real hermitian\n2 2 0\n", r"type 'hermitian'"),
        (f"{REAL}2 3 1\n1 1 1\n", r"line 2: .* square, found '2 x 3'"),
        (f"{REAL}2 2 2\n1 1 1\n", r"it ends after 1 of 2 entries"),
        (f"{REAL}2 2 1\n1 9 1\n", r"line 3: .*integers from 1 to 2, found '1 9 1'"),
        (f"{REAL}2 2 1\n1 2 x\n", r"line 3: a weight must be a finite number, found '1 2 x'"),
        (f"{REAL}2 2 1\n1 2 3x\n", r"line 3: a weight must be a finite number, found '1 2 3x'"),
        (f"{REAL}2 2 1\n1 2\n", r"line 3: an entry must have 3 numbers, found"),
        (f"{REAL}2 x 1\n1 2 1\n", r"line 2: expected the numbers of rows"),
        (f"{REAL}2 2 1\n%\n\n1 2 1\n1 1 1\n", r"line 6: .*beyond the 1 announced in line 2"),
        (f"{REAL}2 2 2\n1 2\n1 1 1 1\n", r"line 3: an entry must have 3 numbers"),
        (f"{REAL}2 2 1\n1 1.5 1\n", r"line 3: rows and columns must be integers"),
        (f"{REAL}2 2 2\n1 1 1\n1 2 nan\n", r"line 4: a weight must be a finite number"),
        (f"{REAL}2 2 2\n1 1 1\n1 2 1e999\n", r"row 1 and column 2: the weight is too large"),
        (f"{REAL}2 2 999999999999999\n1 1 1\n", r"line 2: the file is too short for 999,999"),
        (f"{REAL}2 2 1\n0 1 1\n", r"line 3: .*integers from 1 to 2, found '0 1 1'"),
        (f"{REAL}2 2 1\n-1 1 1\n", r"line 3: .*integers from 1 to 2, found '-1 1 1'"),
        (REAL, r"it ends before the numbers of rows"),
        (f"{REAL}\0\1\2\n", r"line 2: expected the numbers of rows"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(path, text, message):
    path.write_text(text)
    with pytest.raises(FormatError, match=rf"graph\.mtx.*{message}"):
        open_edges(matrix_market, path)


def test_a_line_far_into_a_file_is_named_although_scipy_parses_in_parallel(path):
    lines = ["1 2 1"] * 300_000
    lines[100_000] = "% a comment"
    lines[200_000] = ""
    lines[299_000] = "1 3 1"
    path.write_text(f"{REAL}2 2 299998\n" + "\n".join(lines) + "\n")
    with pytest.raises(FormatError, match=r"line 299,003: .*from 1 to 2, found '1 3 1'"):
        open_edges(matrix_market, path)


def test_a_number_of_entries_that_no_memory_holds_is_refused(tmp_path):
    path = tmp_path / "graph.mtx.gz"
    path.write_bytes(gzip.compress(f"{REAL}2 2 999999999999999\n1 1 1\n".encode()))
    with pytest.raises(FormatError, match=r"line 2: .*not enough memory for 999,999,999,999,999"):
        open_edges(matrix_market, path)


@given(
    st.integers(1, 6).flatmap(
        lambda n: arrays(np.float64, (n, n), elements=st.integers(0, 9).map(float))
    ),
    st.sampled_from([1, 20, 1 << 22]),
)
def test_a_graph_written_by_scipy_round_trips(tmp_path_factory, matrix, block):
    path = tmp_path_factory.mktemp("any") / "graph.mtx"
    mmwrite(path, sp.coo_array(matrix), symmetry="AUTO")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrix_market, "BLOCK_BYTES", block)
        found = open_edges(matrix_market, path).matrix.toarray()
    assert (found == matrix).all()
