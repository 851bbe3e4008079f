"""Matrices that are refused are not parsed first."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from hopvec import FormatError, MemoryLimitError, read_graph

OPTIONS = {"bipartite": True, "duplicates": "first", "loops": "drop", "bad_rows": "skip",
           "nodes": ["a"]}  # fmt: skip


@pytest.fixture(params=[".mtx", ".mat", ".npz"])
def matrix(request, tmp_path):
    """A file with a matrix whose entries are damaged: reading them raises another error."""
    path = tmp_path / f"matrix{request.param}"
    whole = sp.coo_array(np.ones((40, 40)))
    if request.param == ".mtx":
        path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 2 x\n")
    elif request.param == ".mat":
        scipy.io.savemat(path, {"network": sp.csc_matrix(whole)})
        path.write_bytes(path.read_bytes()[:-500])
    else:
        sp.save_npz(path, whole, compressed=False)
        content = bytearray(path.read_bytes())
        at = content.index(b"\x3f\xf0" if content.find(b"\x3f\xf0") > 0 else b"\xf0\x3f", 200)
        content[at + 8 : at + 16] = b"\xff" * 8
        path.write_bytes(content)
    with pytest.raises(FormatError):
        read_graph(path)
    return path


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_for_lists_of_edges_is_refused_before_entries_are_read(matrix, name):
    with pytest.raises(FormatError, match=rf"{name}=.* (does not apply to|is for lists)"):
        read_graph(matrix, **{name: OPTIONS[name]})


def test_a_matrix_beyond_the_memory_limit_is_refused_by_its_header(tmp_path):
    path = tmp_path / "matrix.mtx"
    path.write_text(
        "%%MatrixMarket matrix coordinate real general\n1000 1000 10000\n1 2 x\n" + "1 2 1\n" * 9999
    )
    with pytest.raises(MemoryLimitError, match=r"10,000 entries, .* needs at least 372 kB"):
        read_graph(path, memory="100kB")
