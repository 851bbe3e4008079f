"""IdEncoder, compared with a Python dict and with the sort of Arrow."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopvec import GraphError
from hopvec.graph.id_encoder import IdEncoder, parse_integer_ids

strings = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.text(alphabet="ab\0é\U0001f600", max_size=20),
        st.integers(0, 30).map(lambda length: "a common beginning " + "x" * length),
    ),
    max_size=40,
)
integers = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), max_size=40)
id_arrays = st.one_of(
    strings.map(lambda ids: pa.array(ids, pa.large_string())),
    integers.map(lambda ids: pa.array(ids, pa.int64())),
)


def sorted_ids(ids, *, untyped=False):
    encoder = IdEncoder()
    encoder.encode(pa.array(ids, pa.large_string()) if isinstance(ids, list) else ids)
    return encoder.sorted_ids(untyped=untyped)[0]


def sorted_by_arrow(ids):
    return ids.take(pc.sort_indices(ids))


@given(id_arrays, st.integers(0, 40), st.integers(1, 5))
def test_every_id_has_its_own_code_for_any_batches(ids, cut, threads):
    encoder, code = IdEncoder(threads), {}
    found = [*encoder.encode(ids[:cut]), *encoder.encode(ids[cut:])]
    assert found == [code.setdefault(*pair) for pair in zip(ids.to_pylist(), found, strict=True)]
    assert len(encoder) == len(code) == len(set(found))


@pytest.mark.parametrize("last", [-1, 2**62, 400_000])
@pytest.mark.parametrize("threads", [1, 3])
def test_integers_keep_their_codes_as_more_and_larger_ones_arrive(threads, last):
    encoder, code = IdEncoder(threads), {}
    random = np.random.default_rng(3)
    for largest in (10, 70_000, 140_000, 150_000, 300_000):
        ids = np.append(random.integers(0, largest, 100_000), largest)
        found = encoder.encode(pa.array(ids))
        assert len(np.unique(ids)) == len(np.unique(found))
        assert all(code.setdefault(*pair) == pair[1] for pair in zip(ids, found, strict=True))
    encoder.encode(pa.array([last, 5]))
    known = np.array(sorted(code))
    assert encoder.encode(pa.array(known)).tolist() == [code[i] for i in known]


@given(id_arrays, st.integers(1, 5))
def test_ids_are_sorted_as_by_arrow_and_every_code_maps_to_its_id(ids, threads):
    encoder = IdEncoder(threads)
    codes = encoder.encode(ids)
    in_order, position = encoder.sorted_ids(untyped=False)
    assert in_order.to_pylist() == sorted_by_arrow(ids.unique()).to_pylist()
    assert in_order.take(pa.array(position[codes], pa.int32())).to_pylist() == ids.to_pylist()


@pytest.mark.parametrize(
    "ids",
    [
        ["a", "", "aa", "a\0", "a\0b", "b"],
        ["prefix", "prefix-of-another", "prefix-of", "prefix-"],
        ["z", "é", "ß", "中", "\U0001f600", "\uffff", "~"],
        ["same beginning, then 1", "same beginning, then 10", "same beginning, then 2"],
        [""],
        ["only one"],
    ],
)
def test_strings_are_sorted_by_their_bytes(ids):
    assert sorted_ids(ids).to_pylist() == sorted(ids, key=str.encode)


@pytest.mark.parametrize("ids", [["0", "-1", "10", "9"], [str(2**63 - 1), str(-(2**63))]])
def test_decimal_strings_become_integers_and_are_sorted_as_such(ids):
    assert sorted_ids(ids, untyped=True).to_pylist() == sorted(map(int, ids))
    assert sorted_ids(ids).to_pylist() == sorted(ids)


UNUSUAL = ("007", "00", "+1", "-0", "-01", "1e3", "1.0", " 1", "1 ", "", "-", "0x1", "1_0", "٣")
TOO_LARGE = (str(2**63), str(-(2**63) - 1), "9" * 19, "1" + "0" * 19, "-" + "9" * 19, "1" * 40)


@pytest.mark.parametrize("unusual", UNUSUAL + TOO_LARGE)
def test_all_ids_stay_strings_if_one_is_not_a_canonical_integer(unusual):
    ids = ["1", unusual, "2"]
    assert sorted_ids(ids, untyped=True).to_pylist() == sorted(ids, key=str.encode)
    assert parse_integer_ids(pa.array(ids)).to_pylist() == ids


def test_slices_and_small_strings_are_accepted():
    ids = pa.array(["x", "b", "a", "b", "y"])[1:4]
    encoder = IdEncoder()
    assert encoder.encode(ids).tolist() == [0, 1, 0]
    assert encoder.encode(pa.array(["a"], pa.large_string())).tolist() == [1]


def test_integers_and_strings_are_not_mixed():
    encoder = IdEncoder()
    encoder.encode(pa.array([], pa.large_string()))  # does not decide the type
    encoder.encode(pa.array([1, 2]))
    with pytest.raises(GraphError, match="integers and others are strings"):
        encoder.encode(pa.array(["a"]))


def test_an_empty_encoder_has_no_ids():
    ids, position = IdEncoder().sorted_ids(untyped=True)
    assert len(ids) == len(position) == 0


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["strings", "integers"])
def test_two_million_ids_take_a_few_seconds_and_keep_their_codes(kind, threads):
    numbers = pa.array(np.random.default_rng(1).permutation(2_000_000))
    ids = numbers.cast(pa.large_string()) if kind == "strings" else numbers
    encoder = IdEncoder(threads)
    before = time.process_time()
    first, again = encoder.encode(ids), encoder.encode(ids)
    in_order, position = encoder.sorted_ids(untyped=True)
    assert time.process_time() - before < 20
    assert np.array_equal(again, first)
    assert np.array_equal(in_order.to_numpy(), np.arange(2_000_000))
    assert np.array_equal(position[first], numbers.to_numpy())


def test_too_many_ids_raise_a_graph_error():
    class Full:
        def encode(self, *ids):
            raise ValueError("A graph has at most 2,147,483,647 nodes.")

    encoder = IdEncoder()
    encoder._dictionary = Full()
    with pytest.raises(GraphError, match="A graph has at most 2,147,483,647 nodes"):
        encoder.encode(pa.array(["a"], pa.large_string()))
