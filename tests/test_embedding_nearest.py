"""Nearest neighbors of an embedding, compared with plain numpy."""

import numpy as np
import pyarrow as pa
import pytest

import hopvec.embedding
import hopvec.engine.top_products
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
    rows = embedding.nearest_rows(range(100), 60).rows
    same, other = np.arange(0, 100, 2), np.arange(1, 100, 2)
    assert rows[0].tolist() == [*same[1:], *other[:11]]
    assert rows[99].tolist() == [*other[:-1], *same[:11]]


def test_a_k_that_is_too_large_gives_all_others():
    assert [id for id, _ in INTEGERS.nearest(10, 1000)] == [
        INTEGERS.ids[row].as_py() for row in brute_force(INTEGERS, 0, 2)[0]
    ]
    assert len(INTEGERS.nearest_all(1000)) == 3 * 2
    assert INTEGERS.nearest_rows([0, 1], 1000).rows.shape == (2, 2)


def test_a_single_node_has_no_neighbors():
    alone = embedding_of(["a"])
    assert alone.nearest("a") == []
    assert len(alone.nearest_all()) == len(alone.nearest(["a"])) == 0
    assert alone.nearest_rows([0]).rows.shape == (1, 0)


def test_nothing_is_near_a_zero_vector_and_it_is_similar_to_none():
    vectors = np.array([[0, 0], [1, 1], [-1, -1], [0, 0]], np.float32)
    embedding = Embedding(vectors, pa.array(["zero", "plus", "minus", "nought"]))
    assert embedding.nearest("zero") == []
    assert [id for id, _ in embedding.nearest("plus")] == ["zero", "nought", "minus"]
    assert set(embedding.nearest_all()["id"].to_pylist()) == {"plus", "minus"}


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
    table = embedding.nearest_all(4)
    assert table.equals(embedding.nearest(embedding.ids, 4))
    found = table.to_pylist()
    for row in range(nodes):
        own = [line for line in found if line["id"] == row]
        assert [line["rank"] for line in own] == [1, 2, 3, 4]
        near = [(line["neighbor"], line["similarity"]) for line in own]
        assert near == embedding.nearest(row, 4)


@pytest.mark.parametrize("threads", [2, 5, 64])
def test_nearest_are_the_same_bytes_for_every_number_of_threads(monkeypatch, threads):
    found = []
    for count in (1, threads):
        for module in (hopvec.embedding, hopvec.engine.top_products):
            monkeypatch.setattr(module, "cores", lambda count=count: count)
        embedding = embedding_of(list(range(1500)), dim=24)
        found.append((embedding.nearest(3, 20), embedding.nearest_all(7)))
    assert found[0][0] == found[1][0]
    assert found[0][1].equals(found[1][1])


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
def test_nearest_do_not_depend_on_the_size_of_blocks(monkeypatch, block):
    embedding = embedding_of(list(range(150)), dim=24)
    expected = [embedding.nearest_all(7, mutual=mutual) for mutual in (False, True)]
    monkeypatch.setattr("hopvec.engine.top_products.QUERY_ROWS", block)
    monkeypatch.setattr("hopvec.neighbors.BLOCK_ENTRIES", 49 * block)
    monkeypatch.setattr("hopvec.neighbors.BATCH_BYTES", 500 * block)
    for mutual in (False, True):
        assert embedding.nearest_all(7, mutual=mutual).equals(expected[mutual])


@pytest.mark.parametrize("part_rows", [1, 7, 64, 1000])
def test_memory_mapped_vectors_are_searched_in_parts_with_the_same_result(
    tmp_path, monkeypatch, part_rows
):
    vectors = np.round(np.random.default_rng(2).standard_normal((300, 2)), 1).astype(np.float32)
    vectors[::9] = 0
    np.save(tmp_path / "vectors.npy", vectors)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    in_memory, in_file = (Embedding(some, pa.array(range(300))) for some in (vectors, mapped))
    monkeypatch.setattr(hopvec.engine.top_products, "MAPPED_CANDIDATES_BYTES", part_rows * 8)
    released = []
    monkeypatch.setattr(hopvec.engine.top_products, "release_pages", released.append)
    wanted = [5, 250, 18, 299]
    for k, among in ((4, None), (400, None), (9, range(1, 300, 3)), (9, [0, 9, 299])):
        released.clear()
        found = in_file.nearest_rows(wanted, k, among=among)
        expected = in_memory.nearest_rows(wanted, k, among=among)
        assert np.array_equal(found.rows, expected.rows)
        assert found.similarity.tobytes() == expected.similarity.tobytes()
        if among is None and part_rows < 300:
            assert len([rows for rows in released if len(rows) <= part_rows]) >= 300 // part_rows


def test_nearest_among_another_embedding_are_the_largest_cosines():
    both = embedding_of(list(range(40)))
    old = Embedding(both.vectors[:30], both.ids[:30])
    new = Embedding(both.vectors[30:], both.ids[30:])
    expected = [(id, cosine) for id, cosine in both.nearest(35, 39) if id < 30]
    assert new.nearest(35, 8, among=old) == expected[:8]
    assert new.nearest(35, 99, among=old) == expected
    assert both.nearest(3, 29, among=old) == [pair for pair in both.nearest(3, 39) if pair[0] < 30]


def test_ties_among_another_embedding_are_broken_by_row():
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
    rows = embedding.nearest_rows([0, 2], 9, among=[1, 2, 3]).rows
    assert rows.shape == (2, 3)
    assert rows[1, 2] == -1
    assert embedding.nearest_rows([2], 9, among=[2]).rows.shape == (1, 0)
    assert embedding.nearest_rows([0], 9, among=[]).rows.shape == (1, 0)


def columns(*names):
    """The same ids as a list, as numpy, Arrow and pandas columns, and as a polars column."""
    import pandas as pd
    import polars as pl

    return (
        list(names),
        np.array(names),
        np.array(names, object),
        pa.array(names),
        pa.chunked_array([names[:1], names[1:]]),
        pd.Series(names),
        pd.Series(names, dtype="category"),
        pl.Series(names),
    )


@pytest.mark.parametrize("ids", columns("n3", "n1", "n3"), ids=lambda ids: type(ids).__name__)
def test_many_ids_can_be_any_column_and_give_a_table(ids):
    embedding = embedding_of([f"n{row}" for row in range(6)])
    table = embedding.nearest(ids, 2)
    assert table.column_names == ["id", "neighbor", "similarity", "rank"]
    assert table["id"].to_pylist() == ["n3", "n3", "n1", "n1", "n3", "n3"]
    expected = [id for name in ("n3", "n1", "n3") for id, _ in embedding.nearest(name, 2)]
    assert table["neighbor"].to_pylist() == expected


def test_the_table_can_be_read_by_pandas_and_polars():
    import polars as pl

    table = embedding_of(["a", "b", "c"]).nearest_all(1)
    assert table.to_pandas()["id"].tolist() == pl.DataFrame(table)["id"].to_list() == list("abc")


def test_no_ids_give_an_empty_table():
    assert embedding_of(["a", "b"]).nearest([]).num_rows == 0


def test_among_ids_are_the_only_neighbors():
    embedding = embedding_of(list(range(30)))
    among = [4, 8, 15, 4]
    assert {id for id, _ in embedding.nearest(8, 9, among=among)} == {4, 15}
    assert [id for id, _ in embedding.nearest(1, 9, among=among)] == [
        id for id, _ in embedding.nearest(1, 29) if id in among
    ]


@pytest.mark.parametrize("least", [-1, -0.25, 0, 0.5, 1])
def test_neighbors_below_min_similarity_are_left_out(least):
    embedding = embedding_of(list(range(60)), dim=4)
    expected = [
        line for line in embedding.nearest_all(9).to_pylist() if line["similarity"] >= least
    ]
    assert embedding.nearest_all(9, min_similarity=least).to_pylist() == expected


@pytest.mark.parametrize("k", [1, 3, 40])
def test_mutual_neighbors_are_among_each_others_nearest(k):
    embedding = embedding_of(list(range(40)), dim=3)
    near = {row: {id for id, _ in embedding.nearest(row, k)} for row in range(40)}
    table = embedding.nearest_all(k, mutual=True)
    pairs = set(zip(table["id"].to_pylist(), table["neighbor"].to_pylist(), strict=True))
    assert pairs == {(i, j) for i in near for j in near[i] if i in near[j]}
    some = [5, 17, 5]
    batches = embedding._neighbor_search(k, mutual=True).batches(np.array(some))
    found = [line for batch in batches for line in batch.to_pylist()]
    assert found == [line for id in some for line in table.to_pylist() if line["id"] == id]


def test_mutual_neighbors_among_others_are_rejected():
    with pytest.raises(ParameterError, match=r"mutual=True .* cannot be combined with among="):
        INTEGERS._neighbor_search(2, mutual=True, among=[1, 2])


@pytest.mark.parametrize("value", [-1.5, 2, "0.5", None])
def test_min_similarity_must_be_a_cosine(value):
    with pytest.raises(ParameterError, match="min_similarity must be a number from -1 to 1, got"):
        INTEGERS.nearest(10, min_similarity=value)


def test_an_unknown_id_of_many_is_named():
    with pytest.raises(UnknownNodeError, match="No node 7 among"):
        INTEGERS.nearest([1, 7])
