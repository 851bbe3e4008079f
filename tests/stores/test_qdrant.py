"""Exports to Qdrant's local mode, beyond the contract of all stores."""

import json
import os
import signal
import subprocess
import sys
import uuid

import numpy as np
import pyarrow as pa
import pytest
import qdrant_client

from hopvec import Embedding, FormatError
from saved_embeddings import random_embedding

NUMBERS = pa.array(np.arange(300) * 3)
WORDS = pa.array([f"näme '{number}" for number in range(300)], pa.large_string())
NEGATIVE = pa.array(np.arange(300) - 100)


@pytest.fixture
def opened(tmp_path):
    clients = []

    def connect():
        clients.append(qdrant_client.QdrantClient(path=str(tmp_path / "store")))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


@pytest.mark.parametrize("ids", [NUMBERS, WORDS, NEGATIVE], ids=["numbers", "words", "negative"])
def test_qdrant_finds_the_same_neighbors(tmp_path, opened, ids):
    embedding = random_embedding(ids, dim=24)
    embedding.export(f"qdrant:{tmp_path / 'store'}")
    client = opened()
    for id in list(embedding)[:5]:
        key = id if ids is NUMBERS else str(uuid.uuid5(uuid.NAMESPACE_URL, str(id)))
        found = client.query_points("vectors", query=key, limit=20).points  # leaves out the point
        expected = embedding.nearest(id, 20)
        assert [point.payload["id"] for point in found] == [other for other, _ in expected]
        scores = [point.score for point in found]
        assert scores == pytest.approx([score for _, score in expected], abs=1e-5)


def test_the_collection_has_the_metadata_and_a_zero_vector_is_kept(tmp_path, opened):
    vectors = random_embedding(NUMBERS, dim=5).vectors.copy()
    vectors[7] = 0
    embedding = Embedding(vectors, NUMBERS, {"method": "FastRP"})
    embedding.export(f"qdrant:{tmp_path / 'store'}")
    client = opened()
    info = client.get_collection("vectors")
    assert json.loads(info.config.metadata["hopvec"])["parameters"] == {"method": "FastRP"}
    assert info.config.params.vectors.distance == qdrant_client.models.Distance.COSINE
    assert client.retrieve("vectors", [21], with_vectors=True)[0].vector == [0.0] * 5


def test_the_old_collection_is_deleted_after_the_alias_is_moved(tmp_path, opened):
    for seed in range(3):
        random_embedding(NUMBERS, seed=seed).export(f"qdrant:{tmp_path / 'store'}")
    client = opened()
    (collection,) = client.get_collections().collections
    (alias,) = client.get_aliases().aliases
    assert (alias.alias_name, alias.collection_name) == ("vectors", collection.name)
    assert os.listdir(tmp_path / "store" / "collection") == [collection.name]  # noqa: PTH208


KILLED = """
import os, signal, sys
import numpy as np
import pyarrow as pa
import hopvec
from qdrant_client.local.qdrant_local import QdrantLocal

save, saved = QdrantLocal._save, []
def dying(self, *given, **how):
    save(self, *given, **how)
    saved.append(self)
    if len(saved) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
QdrantLocal._save = dying
hopvec.Embedding(np.ones((9, 5), np.float32), pa.array(range(9))).export(sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_process_killed_at_any_step_leaves_one_whole_collection(tmp_path):
    target, outcomes = f"qdrant:{tmp_path / 'store'}", []
    for step in range(1, 12):
        random_embedding(NUMBERS).export(target)
        command = [sys.executable, "-c", KILLED, target, str(step)]
        finished = subprocess.run(command, check=False, timeout=60)
        client = qdrant_client.QdrantClient(path=str(tmp_path / "store"))
        outcomes.append(client.count("vectors").count)
        client.close()
        if finished.returncode == 0:
            break
        assert finished.returncode == -signal.SIGKILL
    assert step > 3
    assert outcomes == sorted(outcomes, reverse=True)
    assert set(outcomes) == {300, 9}


def test_points_are_not_synced_one_by_one(tmp_path, monkeypatch):
    """It took 16 ms per point."""
    seen = []

    def upsert(self, name, points):
        database = self._client.collections[name].storage.storage
        seen.append(database.execute("PRAGMA synchronous").fetchone())

    monkeypatch.setattr(qdrant_client.QdrantClient, "upsert", upsert)
    random_embedding(NUMBERS).export(f"qdrant:{tmp_path / 'store'}")
    assert seen == [(0,)]


def test_a_directory_that_is_open_elsewhere_or_damaged_is_an_error(tmp_path, opened):
    path = tmp_path / "store"
    client = opened()
    with pytest.raises(FormatError, match=r"cannot be written by Qdrant \(Storage folder .* is "):
        random_embedding(NUMBERS).export(f"qdrant:{path}")
    client.close()
    (path / "meta.json").write_text("{")
    with pytest.raises(FormatError, match="cannot be written by Qdrant"):
        random_embedding(NUMBERS).export(f"qdrant:{path}")
    assert (path / "meta.json").read_text() == "{"
