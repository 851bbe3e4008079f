"""One small graph in files of every format."""

import bz2
import gzip

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse as sp

SOURCE, TARGET = [0, 0, 0, 1, 2, 4, 5], [1, 2, 3, 2, 3, 3, 4]
WEIGHT = [0.5, 2.0, 1.0, 4.0, 8.0, 0.25, 3.0]
ONES = [1.0] * len(SOURCE)


def table(weight):
    return pa.table({"source": SOURCE, "target": TARGET, "weight": weight})


def matrix(weight):
    half = sp.coo_array((weight, (SOURCE, TARGET)), shape=(6, 6))
    return sp.csr_array(half + half.T)


def network(weight):
    graph = nx.Graph()
    graph.add_weighted_edges_from(zip(SOURCE, TARGET, weight, strict=True))
    return graph


def write_text(separator, header):
    def write(path, weight):
        rows = [header] if header else []
        rows += [
            separator.join(map(str, edge)) for edge in zip(SOURCE, TARGET, weight, strict=True)
        ]
        path.write_text("\n".join(rows))

    return write


def write_arrow(new):
    def write(path, weight):
        with new(path, table(weight).schema) as writer:
            writer.write_table(table(weight))

    return write


WRITERS = {
    ("text", "edges.csv"): write_text(",", "source,target,weight"),
    ("text", "edges.tsv"): write_text("\t", "# from to weight"),
    ("text", "edges.txt"): write_text("   ", None),
    ("columnar", "edges.parquet"): lambda path, weight: pq.write_table(table(weight), path),
    ("columnar", "edges.arrow"): write_arrow(pa.ipc.new_file),
    ("columnar", "edges.arrows"): write_arrow(pa.ipc.new_stream),
    ("npz", "matrix.npz"): lambda path, weight: sp.save_npz(path, matrix(weight)),
    ("npz", "edges.npz"): lambda path, weight: np.savez(
        path, src=SOURCE, dst=TARGET, weight=weight
    ),
    ("matlab", "matrix.mat"): lambda path, weight: scipy.io.savemat(
        path, {"network": matrix(weight)}
    ),
    ("matrix-market", "matrix.mtx"): lambda path, weight: scipy.io.mmwrite(path, matrix(weight)),
    ("graphml", "graph.graphml"): lambda path, weight: nx.write_graphml(network(weight), path),
    ("gml", "graph.gml"): lambda path, weight: nx.write_gml(network(weight), path),
    ("adjacency", "graph.adjlist"): lambda path, weight: nx.write_adjlist(network(weight), path),
}
NAMES = [name for _, name in WRITERS]
COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda whole: pa.Codec("zstd").compress(whole, asbytes=True),
}


def assert_same(graph, other):
    assert graph.ids.equals(other.ids)
    for one, two in zip(parts(graph), parts(other), strict=True):
        np.testing.assert_array_equal(one, two)


def parts(graph):
    weights = graph.weights if graph.weights is not None else np.ones(len(graph.indices))
    return graph.indptr, graph.indices, weights, graph.keys, graph.rows
