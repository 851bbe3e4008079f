"""Exports to an index file of FAISS."""

import json
import sys

import numpy as np
import pyarrow as pa
import pytest

from hopvec import Embedding, FormatError, MissingExtraError, ParameterError
from hopvec.formats import blocks
from saved_embeddings import INTEGERS, random_embedding

faiss = pytest.importorskip("faiss")

NUMBERS = pa.array(np.arange(500) * 3 - 100)
WORDS = pa.array([f"node {number}" for number in range(500)], pa.large_string())


def stored_ids(path):
    with pa.ipc.open_file(str(path.with_suffix(".ids.arrow"))) as file:
        return file.read_all()


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("ids", [NUMBERS, WORDS])
def test_the_index_finds_the_nearest_neighbors(tmp_path, monkeypatch, ids, index):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 24 * 4 * 90)
    vectors = random_embedding(ids, dim=24).vectors * 3
    vectors[5] = 0  # is no neighbor of any node
    embedding, path = Embedding(vectors, ids), tmp_path / "vectors.index"
    assert embedding.export(f"faiss:{path}", index=index) == 500
    found = faiss.read_index(str(path))
    assert found.ntotal == 499
    assert ("HNSW" in type(faiss.downcast_index(found.index)).__name__) == index
    similarities, numbers = found.search(embedding.vectors[:1] / np.linalg.norm(vectors[0]), 11)
    names = numbers[0].tolist()
    if ids is WORDS:
        names = stored_ids(path)["id"].take(pa.array(names)).to_pylist()
    expected = embedding.nearest(ids[0].as_py(), 10)
    assert names[0] == ids[0].as_py()
    if index:
        assert len(set(names[1:]) & {id for id, _ in expected}) >= 8
    else:
        assert names[1:] == [id for id, _ in expected]
        assert similarities[0, 1:] == pytest.approx([score for _, score in expected], abs=1e-5)


def test_the_metadata_is_beside_the_index(tmp_path):
    embedding = random_embedding(INTEGERS)
    embedding.export(f"faiss:{tmp_path / 'vectors.index'}")
    table = stored_ids(tmp_path / "vectors.index")
    assert table["id"].to_pylist() == INTEGERS.to_pylist()
    assert json.loads(table.schema.metadata[b"hopvec"])["parameters"] == embedding.parameters


def test_only_an_index_of_hopvec_is_replaced(tmp_path):
    path = tmp_path / "vectors.index"
    path.write_text("dear diary")
    with pytest.raises(ParameterError, match="is a file that hopvec did not create"):
        random_embedding(INTEGERS).export(f"faiss:{path}")
    assert path.read_text() == "dear diary"
    random_embedding(INTEGERS).export(f"faiss:{path}", replace=True)
    random_embedding(INTEGERS, seed=2).export(f"faiss:{path}")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "vectors.ids.arrow",
        "vectors.index",
    ]


def test_a_failed_export_leaves_the_old_files(tmp_path, monkeypatch):
    path = tmp_path / "vectors.index"
    random_embedding(INTEGERS).export(f"faiss:{path}")
    before = path.read_bytes()

    def fail(block):
        raise KeyboardInterrupt

    monkeypatch.setattr(blocks, "release_pages", fail)
    with pytest.raises(KeyboardInterrupt):
        random_embedding(INTEGERS, seed=2).export(f"faiss:{path}")
    assert path.read_bytes() == before


def test_what_does_not_apply_is_refused(tmp_path, monkeypatch):
    target = f"faiss:{tmp_path / 'vectors.index'}"
    with pytest.raises(ParameterError, match="has no tables; leave out table='nodes'"):
        random_embedding(INTEGERS).export(target, table="nodes")
    with pytest.raises(FormatError, match="this is a directory"):
        random_embedding(INTEGERS).export(f"faiss:{tmp_path}")
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match="needs the faiss extra: pip install"):
        random_embedding(INTEGERS).export(target)
