"""Embedding: vectors by id, and nearest neighbors against plain numpy."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopvec.embedding
import reference
from hopvec import Embedding, ParameterError, UnknownNodeError


def embedding_of(ids, *, dim=8, seed=0):
    vectors = np.random.default_rng(seed).standard_normal((len(ids), dim)).astype(np.float32)
    return Embedding(vectors, pa.array(ids))


def brute_force(embedding, row, k):
    """Rows and cosine similarities in float64: best first, ties by row."""
    vectors = embedding.vectors.astype(np.float64)
    norms = np.linalg.norm(vectors, axis=1)
    unit = np.divide(vectors, norms[:, None], out=np.zeros_like(vectors), where=norms[:, None] > 0)
    similarity = unit @ unit[row]
    others = [other for other in range(len(vectors)) if other != row]
    best = sorted(others, key=lambda other: (-similarity[other], other))[:k]
    return best, similarity[best]


IDS = {
    "sorted integers": [-5, 0, 3, 2**40],
    "unsorted integers": [3, 2**40, -5, 0],
    "sorted strings": ["", "B", "a", "é", "日本"],
    "unsorted strings": ["é", "a", "", "日本", "B", "a\0b"],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_an_id_gives_its_vector(ids):
    embedding = embedding_of(ids)
    for row, id in enumerate(ids):
        assert (embedding[id] == embedding.vectors[row]).all()
        assert embedding.row(id) == row
        assert id in embedding


@given(st.lists(st.text(st.characters(codec="utf-8")), unique=True, min_size=1))
def test_any_string_is_found_in_any_order(ids):
    embedding = embedding_of(ids, dim=1)
    assert [embedding.row(id) for id in ids] == list(range(len(ids)))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, min_size=1))
def test_any_integer_is_found_in_any_order(ids):
    embedding = embedding_of(ids, dim=1)
    assert [embedding.row(id) for id in ids] == list(range(len(ids)))


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.uint16(), pa.uint64()])
def test_ids_of_every_integer_type_are_found(kind):
    ids = [7, 3, 100]
    vectors = np.eye(3, dtype=np.float32)
    embedding = Embedding(vectors, pa.array(ids, kind))
    assert [embedding.row(id) for id in ids] == [0, 1, 2]
    assert (embedding[ids] == vectors).all()


@pytest.mark.parametrize("id", [np.int8(3), np.uint64(3)])
def test_integers_of_numpy_are_integers(id):
    embedding = embedding_of(IDS["unsorted integers"])
    assert (embedding[id] == embedding[3]).all()


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
@pytest.mark.parametrize(
    "column",
    [list, tuple, np.array, pa.array, lambda ids: pa.chunked_array([ids[:1], ids[1:]])],
    ids=["list", "tuple", "numpy", "arrow", "chunked"],
)
def test_a_list_of_ids_gives_a_row_each_in_its_order(ids, column):
    embedding = embedding_of(ids)
    wanted = [ids[-1], ids[0], ids[-1]]
    assert (embedding[column(wanted)] == embedding.vectors[[len(ids) - 1, 0, len(ids) - 1]]).all()


def test_columns_of_pandas_and_polars_give_a_row_each():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    embedding = embedding_of(["b", "a"])
    for dtype in ("str", "category"):
        assert (embedding[pd.Series(["a", "b"], dtype=dtype)] == embedding.vectors[::-1]).all()
    for kind in (pl.String, pl.Categorical):
        assert (embedding[pl.Series(["a", "b"], dtype=kind)] == embedding.vectors[::-1]).all()


def test_no_ids_give_no_rows():
    for ids in IDS.values():
        assert embedding_of(ids)[[]].shape == (0, 8)


STRINGS, INTEGERS = embedding_of(["b", "a", "10"]), embedding_of([10, 2, 1])


@pytest.mark.parametrize(
    ("embedding", "id", "message"),
    [
        (STRINGS, "zz", "No node 'zz' among the 3 of this embedding."),
        (STRINGS, "", "No node '' among the 3 of this embedding."),
        (STRINGS, "\ud800", "No node '\\ud800' among the 3 of this embedding."),
        (STRINGS, 10, "No node 10: the ids of this embedding are strings."),
        (STRINGS, None, "No node None: the ids of this embedding are strings."),
        (STRINGS, 1.5, "No node 1.5: the ids of this embedding are strings."),
        (INTEGERS, 7, "No node 7 among the 3 of this embedding."),
        (INTEGERS, 2**70, f"No node {2**70} among the 3 of this embedding."),
        (INTEGERS, "10", "No node '10': the ids of this embedding are integers."),
        (INTEGERS, True, "No node True: the ids of this embedding are integers."),
        (INTEGERS, 10.0, "No node 10.0: the ids of this embedding are integers."),
        (INTEGERS, None, "No node None: the ids of this embedding are integers."),
    ],
)
def test_an_unknown_id_is_refused_alone_in_a_list_and_by_in(embedding, id, message):
    assert id not in embedding
    for wanted in (id, [id], [embedding.ids[0].as_py(), id]):
        with pytest.raises(UnknownNodeError) as error:
            embedding[wanted]
        assert str(error.value) == message


def test_an_id_of_the_other_kind_is_never_converted():
    for wanted in (["10"], [10.0], [True], np.array(["10"])):
        with pytest.raises(UnknownNodeError, match="are integers"):
            INTEGERS[wanted]
    for wanted in ([10], np.array([10]), pa.array([10])):
        with pytest.raises(UnknownNodeError, match="are strings"):
            STRINGS[wanted]


@pytest.mark.parametrize(
    ("rows", "shown"),
    [(slice(0, 3), "0:3"), (slice(None, -1), ":-1"), (slice(None, None, 2), "::2")],
)
def test_a_slice_is_told_where_rows_are(rows, shown):
    with pytest.raises(UnknownNodeError) as error:
        STRINGS[rows]
    assert str(error.value) == (
        f"embedding[...] takes ids; rows by number are embedding.vectors[{shown}]."
    )


@pytest.mark.parametrize("ids", [["b", "a", "c", "a"], ["a", "a"], [3, 1, 3]], ids=str)
def test_an_id_that_comes_twice_is_refused_by_every_lookup(ids):
    twice = ids[-1]
    for look_up in (
        lambda embedding: embedding.row(twice),
        lambda embedding: embedding.find([twice]),
        lambda embedding: embedding[[ids[0]]],
        lambda embedding: twice in embedding,
    ):
        with pytest.raises(ParameterError) as error:
            look_up(embedding_of(ids))
        assert str(error.value) == (
            f"Embedding: the id {twice!r} occurs more than once, but ids must be unique."
        )


@pytest.mark.parametrize("wanted", [{"b": 1, "zz": 2}, [["b"]], np.array([["b"]])])
def test_what_is_no_id_and_no_list_of_ids_is_refused(wanted):
    with pytest.raises(UnknownNodeError):
        STRINGS[wanted]


def test_an_unknown_id_is_a_key_error_for_those_who_expect_one():
    with pytest.raises(KeyError):
        STRINGS["zz"]


def test_an_id_with_a_typing_error_is_answered_with_similar_ones():
    embedding = embedding_of(["libc6", "vim", "libc-dev", "perl"])
    with pytest.raises(UnknownNodeError) as error:
        embedding["libc"]
    assert str(error.value) == (
        "No node 'libc' among the 4 of this embedding. Did you mean 'libc6' or 'libc-dev'?"
    )


@pytest.mark.parametrize(
    ("ids", "id", "alike"),
    [
        (["Ann", "bob"], "ANN", "'Ann'"),
        (["The New York Times", "nyt"], "new york", "'The New York Times'"),
        (["User 12", "my user 1", "user"], "user 1", "'User 12' or 'my user 1'"),
        (["x9", "x10", "x8", "x7"], "X", "'x9' or 'x8' or 'x7'"),
        (["50", "5.0", "15", "51"], "5", "'5.0' or '50' or '51'"),
        (["5", "6"], "5.0", "'5'"),
        (["ann", "bob"], " ann", "'ann'"),
        (["Müller"], "MÜLLR", "'Müller'"),
    ],
)
def test_ids_alike_are_found_whatever_their_case(ids, id, alike):
    embedding = embedding_of(ids)
    with pytest.raises(UnknownNodeError) as error:
        embedding[id]
    assert str(error.value).endswith(f"embedding. Did you mean {alike}?")


def test_a_vector_is_no_id_and_is_not_printed_whole():
    for vector in (STRINGS.vectors[0], STRINGS.vectors[0].tolist()):
        with pytest.raises(UnknownNodeError, match="nearest takes the id of one node") as error:
            STRINGS.nearest(vector)
        assert len(str(error.value)) < 120


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


def test_more_neighbors_than_there_are_gives_all_others():
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


def test_vectors_of_other_sizes_are_not_looked_among():
    with pytest.raises(
        ParameterError, match="these vectors have 8 columns, but those of among= have 4"
    ):
        embedding_of([1]).nearest(1, among=embedding_of([1, 2], dim=4))


def test_nearest_to_an_unknown_id_is_refused():
    with pytest.raises(UnknownNodeError, match="No node 7 among"):
        INTEGERS.nearest(7)


def test_the_vectors_of_an_embedding_cannot_be_written():
    embedding = embedding_of(["a", "b"])
    for vector in (embedding.vectors, embedding["a"]):
        with pytest.raises(ValueError, match="read-only"):
            vector[...] = 0


def test_rows_of_a_list_of_ids_are_a_copy_of_ones_own():
    embedding = embedding_of(["a", "b"])
    before = embedding.vectors.copy()
    embedding[["a", "b"]][...] = 0
    assert (embedding.vectors == before).all()


@pytest.mark.parametrize("shape", [(2, 4), (4, 4), (3,), (3, 1, 1)])
def test_vectors_must_be_one_row_an_id(shape):
    with pytest.raises(
        ParameterError, match=r"vectors must have one row per id: 3 ids, got the shape"
    ):
        Embedding(np.zeros(shape, np.float32), pa.array([1, 2, 3]))


def test_an_embedding_shows_its_size_and_method():
    embedding = Embedding(
        np.zeros((1200, 4), np.float32), pa.array(range(1200)), {"method": "FastRP"}
    )
    assert repr(embedding) == "Embedding(1,200 nodes, dim 4, FastRP)"
    assert (len(embedding), embedding.dim) == (1200, 4)


def test_nearest_rows_among_some_are_those_of_the_twin():
    vectors = np.random.default_rng(0).standard_normal((90, 7)).astype(np.float32)
    embedding = Embedding(vectors, pa.array(np.arange(90)))
    among, told = np.arange(3, 90, 4), []
    found = embedding.nearest_rows(
        np.arange(90), 5, among=among, progress=lambda *so_far: told.append(so_far)
    )
    rows, similarity = reference.nearest(vectors, range(90), 5, among.tolist())
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_allclose(found.similarity, similarity, atol=1e-6)
    assert told == [(90, 90)]


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
def test_rows_that_are_not_there_are_not_looked_at(name, numbers, found):
    given = {"rows": [0], "among": np.array([0, 1])} | {name: numbers}
    with pytest.raises(ParameterError) as error:
        embedding_of([1, 2, 3]).nearest_rows(k=2, **given)
    assert str(error.value) == f"nearest_rows: {name} must be {found}."


def test_rows_that_are_not_among_those_to_choose_from_get_all_of_them():
    embedding = embedding_of(range(6))
    assert sorted(embedding.nearest_rows([0, 5], 9, among=[1, 2, 3]).rows[1]) == [1, 2, 3]
    assert embedding.nearest_rows([0], 9, among=[2]).rows.tolist() == [[2]]
    assert embedding.nearest_rows([0, 2], 9, among=[1, 2, 3]).rows.shape == (2, 2)
    assert embedding.nearest_rows([2], 9, among=[2]).rows.shape == (1, 0)
    assert embedding.nearest_rows([0], 9, among=[]).rows.shape == (1, 0)


def test_numpy_takes_an_embedding_as_its_vectors():
    embedding = embedding_of(["a", "b", "c"])
    assert np.shares_memory(np.asarray(embedding), embedding.vectors)
    np.testing.assert_array_equal(np.asarray(embedding, np.float64), embedding.vectors)
    assert not np.shares_memory(np.array(embedding), embedding.vectors)
