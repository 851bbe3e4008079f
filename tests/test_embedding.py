"""Embedding: lookup of vectors by id."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopvec import Embedding, ParameterError, UnknownNodeError
from random_embedding import embedding_of

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
def test_numpy_integers_are_accepted(id):
    embedding = embedding_of(IDS["unsorted integers"])
    assert (embedding[id] == embedding[3]).all()


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
@pytest.mark.parametrize(
    "column",
    [list, tuple, np.array, pa.array, lambda ids: pa.chunked_array([ids[:1], ids[1:]])],
    ids=["list", "tuple", "numpy", "arrow", "chunked"],
)
def test_a_list_of_ids_gives_one_row_per_id_in_order(ids, column):
    embedding = embedding_of(ids)
    wanted = [ids[-1], ids[0], ids[-1]]
    assert (embedding[column(wanted)] == embedding.vectors[[len(ids) - 1, 0, len(ids) - 1]]).all()


def test_columns_of_pandas_and_polars_give_one_row_per_id():
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
def test_an_unknown_id_is_rejected_alone_and_in_a_list(embedding, id, message):
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
def test_a_slice_is_rejected_with_the_way_to_get_rows(rows, shown):
    with pytest.raises(UnknownNodeError) as error:
        STRINGS[rows]
    assert str(error.value) == (
        f"embedding[...] takes ids; rows by number are embedding.vectors[{shown}]."
    )


@pytest.mark.parametrize("ids", [["b", "a", "c", "a"], ["a", "a"], [3, 1, 3]], ids=str)
def test_a_duplicate_id_is_rejected_by_every_lookup(ids):
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
def test_other_objects_than_ids_are_rejected(wanted):
    with pytest.raises(UnknownNodeError):
        STRINGS[wanted]


def test_an_unknown_id_raises_a_key_error():
    with pytest.raises(KeyError):
        STRINGS["zz"]


def test_a_misspelled_id_is_answered_with_similar_ones():
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
def test_similar_ids_are_found_whatever_their_case(ids, id, alike):
    embedding = embedding_of(ids)
    with pytest.raises(UnknownNodeError) as error:
        embedding[id]
    assert str(error.value).endswith(f"embedding. Did you mean {alike}?")


def test_a_vector_is_not_an_id_and_is_truncated_in_the_message():
    for vector in (STRINGS.vectors[0], STRINGS.vectors[0].tolist()):
        with pytest.raises(
            UnknownNodeError, match="the ids of this embedding are strings"
        ) as error:
            STRINGS.nearest(vector)
        assert len(str(error.value)) < 120


def test_the_vectors_of_an_embedding_cannot_be_written():
    embedding = embedding_of(["a", "b"])
    for vector in (embedding.vectors, embedding["a"]):
        with pytest.raises(ValueError, match="read-only"):
            vector[...] = 0


def test_a_list_of_ids_returns_a_copy():
    embedding = embedding_of(["a", "b"])
    before = embedding.vectors.copy()
    embedding[["a", "b"]][...] = 0
    assert (embedding.vectors == before).all()


@pytest.mark.parametrize("shape", [(2, 4), (4, 4), (3,), (3, 1, 1)])
def test_vectors_must_have_one_row_per_id(shape):
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


def test_numpy_converts_an_embedding_to_its_vectors():
    embedding = embedding_of(["a", "b", "c"])
    assert np.shares_memory(np.asarray(embedding), embedding.vectors)
    np.testing.assert_array_equal(np.asarray(embedding, np.float64), embedding.vectors)
    assert not np.shares_memory(np.array(embedding), embedding.vectors)


@pytest.mark.parametrize(
    "ids",
    [
        [1, 2, 3],
        np.array([1, 2, 3], np.uint16),
        pa.chunked_array([[1, 2], [3]]),
        pa.array([1, 2, 3], pa.int8()),
        ["a", "b", "c"],
        np.array(["a", "b", "c"]),
        pa.array(["a", "b", "c"], pa.string_view()),
        pa.array(["a", "b", "c"]).dictionary_encode(),
    ],
)
@pytest.mark.parametrize("dtype", ["f2", "f8", ">f4", "i1", "?"])
def test_columns_and_vectors_of_any_type_are_converted(ids, dtype, tmp_path):
    embedding = Embedding(np.asfortranarray(np.eye(3, 2, dtype=dtype)), ids)
    assert embedding.vectors.dtype == np.float32
    assert embedding.ids.type in (pa.int64(), pa.large_string())
    assert len(embedding.nearest(embedding.ids[0].as_py(), 1)) == 1
    assert embedding.to_arrow().num_rows == 3
    embedding.save(tmp_path / "vectors.parquet")


@pytest.mark.parametrize(
    ("vectors", "ids", "message"),
    [
        ([[1.0], [1.0, 2.0]], [1, 2], "vectors are not an array"),
        (np.ones((2, 2), complex), [1, 2], "must be real numbers, got complex128"),
        (np.array([["a"], ["b"]]), [1, 2], "must be real numbers"),
        (np.ma.masked_array(np.ones((2, 2)), True), [1, 2], "must not be a masked array"),
        (np.ones((2, 2)), None, "ids"),
        (np.ones((2, 2)), {1, 2}, "a set has no order"),
        (np.ones((2, 2)), [0.5, 1], "the id 0.5 is not an integer"),
    ],
)
def test_other_vectors_and_ids_are_rejected(vectors, ids, message):
    with pytest.raises(ParameterError, match=message):
        Embedding(vectors, ids)


def test_a_string_is_not_a_list_of_ids():
    embedding = Embedding(np.eye(3, dtype=np.float32), ["a", "b", "c"])
    with pytest.raises(ParameterError, match="expected a list of ids, got 'ab'"):
        embedding.find("ab")
    with pytest.raises(ParameterError, match="expected a list of ids, got 'ab'"):
        embedding.nearest("c", among="ab")


def test_a_fitted_state_must_be_that_of_a_run():
    with pytest.raises(ParameterError, match="fitted_state must be that of a run, got 5"):
        Embedding(np.ones((1, 1), np.float32), [1], fitted_state=5)
