"""Whether a file holds an embedding, by its first bytes."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from hopvec import FastRP, Graph
from hopvec.formats import EMBEDDING_FORMATS
from hopvec.formats.recognize import holds_embedding

GRAPH = Graph.from_edges([1, 2, 3], [2, 3, 1])


@pytest.mark.parametrize("suffix", EMBEDDING_FORMATS)
def test_an_embedding_is_recognized_in_every_format(tmp_path, suffix):
    FastRP(dim=5).embed(GRAPH).save(tmp_path / f"vectors{suffix}")
    assert holds_embedding(tmp_path / f"vectors{suffix}")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("edges.csv", "source,target,weight\n1,2,0.5\n"),
        ("edges.csv", "id,to\n1,2\n"),
        ("edges.tsv", "1\t2\n"),
        ("edges.txt", "1 2\n2 3\n"),
        ("edges.txt", "3 2\n1 2 3 4\n"),
        ("edges.txt", ""),
        ("broken.parquet", "PAR1"),
        ("broken.npz", "PK"),
        ("edges.xyz", "1 2\n"),
    ],
)
def test_edges_and_damaged_files_are_not_embeddings(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert not holds_embedding(tmp_path / name)


def test_tables_and_matrices_of_graphs_are_not_embeddings(tmp_path):
    edges = pa.table({"source": [1, 2], "target": [2, 3], "weight": [0.5, 1.0]})
    pq.write_table(edges, tmp_path / "edges.parquet")
    with pa.ipc.new_file(str(tmp_path / "edges.arrow"), edges.schema) as writer:
        writer.write_table(edges)
    sp.save_npz(tmp_path / "edges.npz", sp.csr_array(np.eye(3)))
    np.save(tmp_path / "edges.npy", np.eye(3))
    for suffix in (".parquet", ".arrow", ".npz", ".npy"):
        assert not holds_embedding(tmp_path / f"edges{suffix}")


def test_a_missing_file_is_not_an_embedding(tmp_path):
    assert not holds_embedding(tmp_path / "absent.parquet")
