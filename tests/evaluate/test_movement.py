"""How far nodes moved between two embeddings."""

import numpy as np
import pyarrow as pa
import pytest

from hopvec import Embedding, FastRP, Graph, ParameterError
from hopvec.evaluate import movement


def embedding(vectors, ids):
    return Embedding(np.array(vectors, np.float32), pa.array(ids))


def test_common_nodes_are_listed_by_the_cosine_of_their_vectors():
    old = embedding([[1, 0], [0, 2], [3, 0], [1, 0]], [1, 2, 3, 4])
    new = embedding([[0, 5], [0, 4], [9, 9], [2, 2]], [3, 2, 7, 4])
    found = movement(old, new)
    assert found.ids.to_pylist() == [3, 4, 2]
    np.testing.assert_allclose(found.cosines, [0, 0.5**0.5, 1], atol=1e-6)
    assert (found.removed, found.added) == (1, 1)


def test_a_zero_vector_has_moved_unless_both_are_zero():
    old, new = embedding([[0, 0], [0, 0]], ["a", "b"]), embedding([[0, 0], [1, 0]], ["a", "b"])
    assert movement(old, new).cosines.tolist() == [0, 1]


def test_the_repr_shows_the_nodes_that_moved_most():
    old = embedding([[1, 0], [1, 0], [1, 0]], ["ann", "bob", "cem"])
    new = embedding([[2, 0], [3, 4], [1, 0]], ["ann", "bob", "dan"])
    assert repr(movement(old, new)) == (
        "Movement(2 nodes in both, 1 removed, 1 added; lowest cosines: 'bob' 0.6000, 'ann' 1.0000)"
    )


def test_the_repr_is_truncated():
    same = embedding(np.ones((1000, 2)), range(1000))
    assert repr(movement(same, same)).endswith("2 1.0000, 3 1.0000, 4 1.0000, ...)")
    assert "none" in repr(movement(same, embedding([[1, 0]], [-1])))


def test_different_dimensions_are_refused():
    with pytest.raises(ParameterError, match=r"cannot be compared: 2 columns .* 3 columns"):
        movement(embedding([[1, 0]], [1]), embedding([[1, 0, 0]], [1]))


def test_different_parameters_and_features_are_refused():
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    old, new = (FastRP(dim=8, seed=seed).embed(graph) for seed in (0, 9))
    with pytest.raises(ParameterError, match="seed is 0 in the first and 9 in the second"):
        movement(old, new)
    with_features = FastRP(dim=8).embed(graph, features={"id": ["a", "b", "c"], "age": [1, 2, 4]})
    with pytest.raises(ParameterError, match="cannot be compared: their features differ"):
        movement(old, with_features)
    more_threads = FastRP(dim=8, threads=2).embed(graph, like=old)
    assert movement(old, more_threads).cosines.min() > 0.999
