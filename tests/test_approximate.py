"""Approximate nearest neighbors, compared with exact search."""

import json
import logging
import sys

import numpy as np
import pyarrow as pa
import pytest

import hopvec.approximate
from clustered_embedding import clustered_embedding
from hopvec import Embedding, MissingExtraError, ParameterError
from random_embedding import embedding_of

pytest.importorskip("usearch")


def metadata(table):
    return json.loads(table.schema.metadata[b"hopvec.neighbors"])


def with_duplicates(nodes=3000, distinct=300, dim=16):
    """Vectors that many nodes share, as nodes of a graph with the same neighbors do."""
    random = np.random.default_rng(0)
    vectors = random.standard_normal((distinct, dim), np.float32)
    chosen = np.sort(random.zipf(1.5, nodes) % distinct)
    return Embedding(random.permutation(vectors[chosen]), pa.array(np.arange(nodes)))


class TestNeighbors:
    def test_nearly_all_are_those_of_exact_search(self):
        embedding, _ = clustered_embedding(3000, classes=20, dim=24)
        found, exact = embedding.nearest_all(approximate=True), embedding.nearest_all()
        pairs, right = (
            set(zip(table["id"].to_pylist(), table["neighbor"].to_pylist(), strict=True))
            for table in (found, exact)
        )
        assert len(pairs & right) > 0.98 * len(right)
        assert found.column_names == exact.column_names
        assert found["id"].equals(exact["id"])

    def test_few_vectors_give_the_bytes_of_exact_search(self):
        embedding = embedding_of([f"n{row}" for row in range(50)], dim=5)
        found = embedding.nearest_all(7, approximate=True)
        assert found.equals(embedding.nearest_all(7))

    def test_equal_vectors_are_found_in_the_order_of_exact_search(self):
        embedding = with_duplicates()
        found, exact = embedding.nearest_all(approximate=True), embedding.nearest_all()
        assert metadata(found)["recall"] > 0.999
        assert metadata(found)["distinct_vectors"] <= 300
        same = np.equal(found["neighbor"].to_numpy(), exact["neighbor"].to_numpy())
        assert same.mean() > 0.99

    def test_a_node_is_never_its_own_neighbor(self):
        found = with_duplicates().nearest_all(20, approximate=True)
        assert not np.equal(found["id"].to_numpy(), found["neighbor"].to_numpy()).any()

    def test_all_vectors_may_be_equal(self):
        embedding = Embedding(np.ones((30, 4), np.float32), pa.array(np.arange(30)))
        assert embedding.nearest_all(3, approximate=True).equals(embedding.nearest_all(3))

    def test_zero_vectors_have_no_neighbors_and_are_nobodys(self):
        embedding, _ = clustered_embedding(200, isolated=40)
        found = embedding.nearest_all(300, approximate=True)
        connected = set(embedding.ids.to_pylist()[:160])
        assert set(found["id"].to_pylist()) == set(found["neighbor"].to_pylist()) == connected

    def test_all_vectors_may_be_zero(self):
        embedding = Embedding(np.zeros((3, 2), np.float32), pa.array([1, 2, 3]))
        assert len(embedding.nearest_all(approximate=True)) == 0

    @pytest.mark.parametrize("nodes", [0, 1, 2])
    def test_there_may_be_few_nodes(self, nodes):
        embedding = embedding_of(pa.array(range(nodes), pa.int64()))
        assert embedding.nearest_all(approximate=True).equals(embedding.nearest_all())

    def test_min_similarity_leaves_out_others(self):
        embedding, _ = clustered_embedding()
        found = embedding.nearest_all(approximate=True, min_similarity=0.95)
        assert 0 < len(found) < 10 * len(embedding)
        assert min(found["similarity"].to_pylist()) >= 0.95
        assert len(found) > 0.9 * len(embedding.nearest_all(min_similarity=0.95))

    def test_a_k_that_is_too_large_gives_all_others(self):
        embedding = embedding_of(list(range(40)))
        found = embedding.nearest_all(10**12, approximate=True)
        assert found.equals(embedding.nearest_all(10**12))

    def test_some_ids_or_one_have_the_same_neighbors_as_in_nearest_all(self):
        embedding = with_duplicates()
        every = embedding.nearest_all(5, approximate=True)
        some = embedding.nearest([7, 3, 7], 5, approximate=True)
        assert some["id"].to_pylist() == [7] * 5 + [3] * 5 + [7] * 5
        assert some["neighbor"][:5].equals(every.slice(35, 5)["neighbor"])
        one = embedding.nearest(3, 5, approximate=True)
        assert [id for id, _ in one] == every.slice(15, 5)["neighbor"].to_pylist()

    def test_small_blocks_change_nothing(self, monkeypatch):
        embedding = with_duplicates()
        expected = embedding.nearest_all(4, approximate=True)
        monkeypatch.setattr(hopvec.approximate, "BLOCK_ROWS", 7)
        monkeypatch.setattr(hopvec.approximate, "MAX_MATCHES", 600)
        assert embedding.nearest_all(4, approximate=True).equals(expected)

    def test_one_core_gives_the_same_neighbors_in_every_run(self, monkeypatch):
        monkeypatch.setattr(hopvec.approximate, "cores", lambda: 1)
        one, other = (
            clustered_embedding(2000, classes=20)[0].nearest_all(approximate=True) for _ in range(2)
        )
        assert one.equals(other, check_metadata=True)


class TestRecall:
    def test_it_is_in_the_metadata_with_the_parameters(self):
        embedding, _ = clustered_embedding(1500)
        found = metadata(embedding.nearest_all(approximate=True))
        assert found["recall"] > 0.98
        assert found["recall_sample"] == 1000
        assert found["distinct_vectors"] == 1500
        assert found["library"].startswith("usearch 2.")
        assert embedding.nearest_all().schema.metadata is None

    def test_it_is_logged_once(self, caplog):
        embedding, _ = clustered_embedding()
        with caplog.at_level(logging.INFO, "hopvec"):
            embedding.nearest_all(approximate=True)
            embedding.nearest(["node 1"], approximate=True)
        (record,) = caplog.records
        assert "of the 10 nearest neighbors, measured on 300 nodes" in record.message
        assert record.levelno == logging.INFO

    def test_a_low_recall_is_a_warning(self, caplog, monkeypatch):
        monkeypatch.setattr(hopvec.approximate, "CONNECTIVITY", 2)
        monkeypatch.setattr(hopvec.approximate, "EXPANSION_ADD", 2)
        monkeypatch.setattr(hopvec.approximate, "_expansion", lambda k: 2)
        embedding = embedding_of(list(range(5000)), dim=64)
        found = metadata(embedding.nearest_all(approximate=True))
        assert found["recall"] < 0.9
        (record,) = caplog.records
        assert record.levelno == logging.WARNING
        assert f"{found['recall']:.1%}" in record.message

    def test_neighbors_that_are_as_similar_count_as_found(self):
        vectors = np.tile(np.eye(4, dtype=np.float32), (500, 1))
        embedding = Embedding(vectors, pa.array(np.arange(2000)))
        assert metadata(embedding.nearest_all(approximate=True))["recall"] == 1


class TestSearch:
    def test_progress_increases_up_to_its_total(self):
        calls = []
        embedding, _ = clustered_embedding()
        embedding.nearest_all(
            approximate=True, progress=lambda done, total: calls.append(done / total)
        )
        assert calls == sorted(calls)
        assert calls[-1] == 1

    def test_batches_have_the_schema_of_the_search(self):
        embedding, _ = clustered_embedding()
        search = embedding._neighbor_search(3, approximate=True)
        search.prepare()
        batches = list(search.batches(np.arange(10)))
        assert sum(map(len, batches)) == 30
        assert batches[0].schema.equals(search.schema, check_metadata=True)

    def test_the_index_is_built_once(self):
        embedding, _ = clustered_embedding()
        embedding.nearest("node 1", approximate=True)
        index = embedding._approximate_index._index
        embedding.nearest_all(3, approximate=True)
        assert embedding._approximate_index._index is index


class TestRefusals:
    @pytest.mark.parametrize("among", [["node 1", "node 2"], clustered_embedding()[0]])
    def test_among_is_refused(self, among):
        embedding, _ = clustered_embedding()
        with pytest.raises(ParameterError, match="cannot be combined with among="):
            embedding.nearest("node 1", among=among, approximate=True)

    def test_mutual_is_refused(self):
        with pytest.raises(ParameterError, match="cannot be combined with mutual=True"):
            clustered_embedding()[0].nearest_all(mutual=True, approximate=True)

    def test_anything_but_true_and_false_is_refused(self):
        with pytest.raises(ParameterError, match="approximate"):
            clustered_embedding()[0].nearest_all(approximate="yes")

    def test_without_usearch_the_error_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "usearch", None)
        embedding, _ = clustered_embedding()
        with pytest.raises(MissingExtraError, match=r"pip install 'hopvec\[approximate\]'"):
            embedding.nearest_all(approximate=True)
        assert len(embedding.nearest_all(1)) == 300
