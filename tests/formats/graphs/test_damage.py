"""Damaged files give edges or an error that names the file, never another exception."""

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from graph_formats import edges_of, open_edges
from hopvec import FormatError
from hopvec.formats.graphs import adjacency, columnar, gml, graphml, matlab, matrix_market
from hopvec.formats.graphs import numpy_archive as npz
from hopvec.formats.graphs.edges import EdgeStream

GRAPH = nx.karate_club_graph()
MATRIX = nx.to_scipy_sparse_array(GRAPH, dtype=float)
TABLE = pa.table({"source": ["a", "b"] * 50, "target": ["x", "y"] * 50})


def write_ipc(path, new):
    with new(path, TABLE.schema) as writer:
        writer.write_table(TABLE)


WRITERS = {
    "adjacency": (adjacency, lambda path: nx.write_adjlist(GRAPH, path)),
    "gml": (gml, lambda path: nx.write_gml(GRAPH, path)),
    "graphml": (graphml, lambda path: nx.write_graphml(GRAPH, path)),
    "matlab": (matlab, lambda path: scipy.io.savemat(path, {"network": MATRIX})),
    "matrix market": (matrix_market, lambda path: scipy.io.mmwrite(path, MATRIX)),
    "sparse npz": (npz, lambda path: sp.save_npz(path, MATRIX, compressed=False)),
    "npz": (npz, lambda path: np.savez(path, src=np.arange(9), dst=np.arange(9), n=9)),
    "parquet": (columnar, lambda path: pq.write_table(TABLE, path)),
    "arrow file": (columnar, lambda path: write_ipc(path, pa.ipc.new_file)),
    "arrow stream": (columnar, lambda path: write_ipc(path, pa.ipc.new_stream)),
}


def damaged(whole, random):
    """The bytes truncated, some of them changed, or some replaced by more or fewer bytes."""
    at = int(random.integers(len(whole)))
    kind = random.integers(3)
    if kind == 0:
        return whole[:at]
    if kind == 1:
        return whole[:at] + random.bytes(1) + whole[at + 1 :]
    return whole[:at] + random.bytes(random.integers(20)) + whole[at + random.integers(20) :]


@pytest.mark.parametrize("name", WRITERS)
def test_a_damaged_file_gives_edges_or_an_error_that_names_it(tmp_path, name):
    module, write = WRITERS[name]
    write(tmp_path / f"whole{module.SUFFIXES[0]}")
    written = next(tmp_path.iterdir())
    random, path, refused = np.random.default_rng(3), tmp_path / "broken", 0
    for _ in range(60):
        path.write_bytes(damaged(written.read_bytes(), random))
        try:
            result = open_edges(module, path)
            if isinstance(result, EdgeStream):
                edges_of(result)
        except FormatError as error:
            assert str(error).startswith(str(path))  # noqa: PT017
            refused += 1
    assert refused > 10
