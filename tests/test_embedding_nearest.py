"""Nearest neighbors of an embedding, compared with plain numpy."""

import numpy as np
import pyarrow as pa
import pytest

import hopvec.embedding
import reference
from hopvec import Embedding, ParameterError, UnknownNodeError
from random_embedding import embedding_of

INTEGERS = embedding_of([10, 2, 1])


def brute_force(embedding, row, k):
    """Rows and cosine similarities in float64: best first, ties by row."""
    vectors = embedding.vectors.astype(np.float64)
    norms = np.linalg.norm(vectors, axis=1)
    unit = np.divide(vectors, norms[:, None], out=np.zeros_like(vectors), where=norms[:, None] > 0)
    similarity = unit @ unit[row]
    others = [other for other in range(len(vectors)) if other != row]
    best = sorted(others, key=lambda other: (-similarity[other], other))[:k]
    return best, similarity[best]


@pytest.mark.parametrize("dim", [1, 3, 16, 37])
@pytest.mark.parametrize("nodes", [2, 17, 300])
def test_nearest_are_the_largest_cosines(dim, nodes):
    embedding = embedding_of([f"n{row}" for row in range(nodes)], dim=dim)
    for row in (0, nodes // 2, nodes - 1):
        found = embedding.nearest(f"n{row}", 5)
        _, similarity = brute_force(embedding, row, 5)
        assert np.allclose([value for _, value in found], similarity, atol=1e-6)
        exact = dict(zip(*brute_force(embedding, row, nodes), strict=True))
        assert np.allclose([exact[int(id[1:])] for id, _ in found], similarity, atol=1e-6)
        assert len({id for id, _ in found}) == len(found) == min(5, nodes - 1)


def test_nearest_are_the_same_ids_as_in_float64():
    embedding = embedding_of(list(range(500)), dim=32)
    for row in range(0, 500, 25):
        rows, similarity = brute_force(embedding, row, 10)
        assert [id for id, _ in embedding.nearest(row)] == rows
        assert np.allclose([value for _, value in embedding.nearest(row)], similarity, atol=1e-6)


def test_ties_are_broken_by_row():
    vectors = np.tile(np.array([[1, 2], [3, 1]], np.float32), (50, 1))
    embedding = Embedding(vectors, pa.array([f"n{99 - row}" for row in range(100)]))
    rows = embedding.nearest_all(60).rows
    same, other = np.arange(0, 100, 2), np.arange(1, 100, 2)
    assert rows[0].tolist() == [*same[1:], *other[:11]]
    assert rows[99].tolist() == [*other[:-1], *same[:11]]


def test_a_k_that_is_too_large_gives_all_others():
    assert [id for id, _ in INTEGERS.nearest(10, 1000)] == [
        INTEGERS.ids[row].as_py() for row in brute_force(INTEGERS, 0, 2)[0]
    ]
    assert INTEGERS.nearest_all(1000).rows.shape == (3, 2)


def test_a_single_node_has_no_neighbors():
    alone = embedding_of(["a"])
    assert alone.nearest("a") == []
    assert alone.nearest_all().rows.shape == (1, 0)


def test_nothing_is_near_a_zero_vector_and_it_is_similar_to_none():
    vectors = np.array([[0, 0], [1, 1], [-1, -1], [0, 0]], np.float32)
    embedding = Embedding(vectors, pa.array(["zero", "plus", "minus", "nought"]))
    assert embedding.nearest("zero") == []
    assert [id for id, _ in embedding.nearest("plus")] == ["zero", "nought", "minus"]


@pytest.mark.parametrize("scale", [1e-30, 1e-37, 1e30, 1e38])
def test_similarities_do_not_depend_on_the_length_of_vectors(scale):
    vectors = np.array([[1, 2, 3], [3, 2, 1], [-1, 0, 2]], np.float32)
    plain, scaled = (
        Embedding(v, pa.array([0, 1, 2])) for v in (vectors, vectors * np.float32(scale))
    )
    assert [id for id, _ in scaled.nearest(0)] == [id for id, _ in plain.nearest(0)]
    found, wanted = ([value for _, value in e.nearest(0)] for e in (scaled, plain))
    assert found == pytest.approx(wanted, rel=1e-5)


def test_vectors_too_short_to_be_scaled_count_as_zero():
    embedding = Embedding(np.full((3, 4), 1e-42, np.float32), pa.array([0, 1, 2]))
    assert embedding.nearest(0) == [(1, 0.0), (2, 0.0)]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nearest_names_a_vector_that_is_not_finite(value):
    vectors = np.ones((3, 2), np.float32)
    vectors[1, 1] = value
    with pytest.raises(ParameterError, match=r"The vector of 'b' contains a NaN or an infinity"):
        Embedding(vectors, pa.array(["a", "b", "c"])).nearest("a")


@pytest.mark.parametrize("nodes", [5, 40, 700])
def test_nearest_all_equals_nearest_for_each(nodes):
    embedding = embedding_of(list(range(nodes)), dim=20)
    rows, similarity = embedding.nearest_all(4)
    for row in range(nodes):
        assert embedding.nearest(row, 4) == list(
            zip(rows[row].tolist(), similarity[row].tolist(), strict=True)
        )


@pytest.mark.parametrize("threads", [2, 5, 64])
def test_nearest_are_the_same_bytes_for_every_number_of_threads(monkeypatch, threads):
    found = []
    for count in (1, threads):
        monkeypatch.setattr(hopvec.embedding, "cores", lambda count=count: count)
        embedding = embedding_of(list(range(1500)), dim=24)
        found.append(
            (embedding.nearest(3, 20), *(part.tobytes() for part in embedding.nearest_all(7)))
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("order", ["F", "float64", "strided", "read-only"])
def test_nearest_takes_vectors_in_any_layout(order):
    embedding = embedding_of(list(range(50)))
    vectors = {
        "F": np.asfortranarray(embedding.vectors),
        "float64": embedding.vectors.astype(np.float64),
        "strided": np.repeat(embedding.vectors, 2, axis=1)[:, ::2],
        "read-only": embedding.vectors,
    }[order]
    assert Embedding(vectors, embedding.ids).nearest(7) == embedding.nearest(7)


@pytest.mark.parametrize("k", [0, -1, 2.0, "5", None])
def test_k_must_be_a_positive_integer(k):
    for ask in (lambda: INTEGERS.nearest(10, k), lambda: INTEGERS.nearest_all(k)):
        with pytest.raises(ParameterError) as error:
            ask()
        assert str(error.value) == f"nearest: k must be an integer of at least 1, got {k!r}."


@pytest.mark.parametrize("block", [1, 7, 100])
def test_nearest_among_another_embedding_are_the_largest_cosines(monkeypatch, block):
    monkeypatch.setattr("hopvec.embedding.SEARCH_ROWS", block)
    both = embedding_of(list(range(40)))
    old = Embedding(both.vectors[:30], both.ids[:30])
    new = Embedding(both.vectors[30:], both.ids[30:])
    expected = [(id, cosine) for id, cosine in both.nearest(35, 39) if id < 30]
    assert new.nearest(35, 8, among=old) == expected[:8]
    assert new.nearest(35, 99, among=old) == expected
    assert both.nearest(3, 1, among=old) == [(3, pytest.approx(1.0, abs=1e-6))]


def test_ties_among_another_embedding_are_broken_by_row(monkeypatch):
    monkeypatch.setattr("hopvec.embedding.SEARCH_ROWS", 2)
    old = Embedding(np.ones((5, 2), np.float32), pa.array([4, 3, 2, 1, 0]))
    new = Embedding(np.ones((1, 2), np.float32), pa.array(["zoe"]))
    assert [id for id, _ in new.nearest("zoe", 3, among=old)] == [4, 3, 2]


def test_vectors_of_another_dim_are_rejected():
    with pytest.raises(
        ParameterError, match="these vectors have 8 columns, but those of among= have 4"
    ):
        embedding_of([1]).nearest(1, among=embedding_of([1, 2], dim=4))


def test_nearest_to_an_unknown_id_is_rejected():
    with pytest.raises(UnknownNodeError, match="No node 7 among"):
        INTEGERS.nearest(7)


def test_nearest_rows_among_some_are_those_of_the_reference():
    vectors = np.random.default_rng(0).standard_normal((90, 7)).astype(np.float32)
    embedding = Embedding(vectors, pa.array(np.arange(90)))
    among, reported = np.arange(3, 90, 4), []
    found = embedding.nearest_rows(
        np.arange(90), 5, among=among, progress=lambda *state: reported.append(state)
    )
    rows, similarity = reference.nearest(vectors, range(90), 5, among.tolist())
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_allclose(found.similarity, similarity, atol=1e-6)
    assert reported == [(90, 90)]


@pytest.mark.parametrize("name", ["rows", "among"])
@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ([0, 7], "among the 3 rows of this embedding, counted from 0, got 7"),
        ([-1], "among the 3 rows of this embedding, counted from 0, got -1"),
        ([1.5], "a list of row indices, got [1.5]"),
        ([[0, 1]], "a list of row indices, got [[0, 1]]"),
        (["b"], "a list of row indices, got ['b']"),
    ],
    ids=str,
)
def test_rows_that_do_not_exist_are_rejected(name, numbers, found):
    given = {"rows": [0], "among": np.array([0, 1])} | {name: numbers}
    with pytest.raises(ParameterError) as error:
        embedding_of([1, 2, 3]).nearest_rows(k=2, **given)
    assert str(error.value) == f"nearest_rows: {name} must be {found}."


def test_rows_outside_among_get_all_of_its_rows():
    embedding = embedding_of(range(6))
    assert sorted(embedding.nearest_rows([0, 5], 9, among=[1, 2, 3]).rows[1]) == [1, 2, 3]
    assert embedding.nearest_rows([0], 9, among=[2]).rows.tolist() == [[2]]
    assert embedding.nearest_rows([0, 2], 9, among=[1, 2, 3]).rows.shape == (2, 2)
    assert embedding.nearest_rows([2], 9, among=[2]).rows.shape == (1, 0)
    assert embedding.nearest_rows([0], 9, among=[]).rows.shape == (1, 0)
