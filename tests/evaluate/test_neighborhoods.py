import numpy as np
import pyarrow as pa
import pytest

from hopvec import Embedding, ParameterError, UnknownNodeError
from hopvec.evaluate import neighbors

IDS = pa.array(["ann", "bob", "cem", "dan"])


@pytest.fixture
def embeddings():
    random = np.random.default_rng(0)
    return {
        name: Embedding(random.standard_normal((4, 3)).astype(np.float32), IDS)
        for name in ("first", "second")
    }


def test_neighbors_are_those_of_each_embedding(embeddings):
    found = neighbors(embeddings, ["ann", "dan"], k=2).found
    assert list(found) == ["ann", "dan"]
    for id_, columns in found.items():
        assert columns == {name: e.nearest(id_, 2) for name, e in embeddings.items()}


def test_the_table_shows_embeddings_side_by_side(embeddings):
    table = str(neighbors(embeddings, ["ann"], k=2)).splitlines()
    near = [embedding.nearest("ann", 2) for embedding in embeddings.values()]
    assert table[0] == "ann"
    assert table[1].split() == ["first", "second"]
    for rank, line in enumerate(table[2:]):
        expected = [part for n in near for part in (n[rank][0], f"{n[rank][1]:.4f}")]
        assert line.split() == expected


def test_an_embedding_with_fewer_nodes_has_a_shorter_column(embeddings):
    small = Embedding(embeddings["first"].vectors[:2], IDS[:2])
    rows = neighbors({"small": small, **embeddings}, "ann", k=3)._rows("ann")
    assert [row[0] for row in rows] == ["bob", "", ""]
    assert all(row[2] for row in rows)


def test_a_missing_node_is_reported_with_the_name_of_the_embedding(embeddings):
    small = Embedding(embeddings["first"].vectors[:2], IDS[:2])
    with pytest.raises(UnknownNodeError, match="small: No node 'dan'"):
        neighbors({**embeddings, "small": small}, ["ann", "dan"])


@pytest.mark.parametrize("wrong", [{}, None])
def test_embeddings_without_names_are_refused(wrong):
    with pytest.raises(ParameterError, match="embeddings must be a dict of names to embeddings"):
        neighbors(wrong, ["ann"])
