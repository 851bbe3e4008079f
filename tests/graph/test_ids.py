"""Ids: their keys are XXH64 with seed 42; their order is ascending or as given."""

import struct
import subprocess
import sys

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from hopvec import Graph, GraphError, _native
from hopvec.graph.ids import _arrow

TEXT = st.text(st.characters(codec="utf-8"), max_size=100)
INT64 = st.integers(-(2**63), 2**63 - 1)


def keys_by_id(graph):
    return {
        graph.ids[int(row)].as_py(): int(key)
        for row, key in zip(graph.rows, graph.keys, strict=True)
    }


def xxh64(data, seed=42):
    return xxhash.xxh64_intdigest(data, seed=seed)


@pytest.mark.parametrize("letter", ["a", "é", "日", "🙂", "\0"])
def test_keys_of_strings_of_every_length_are_xxh64_with_seed_42(letter):
    words = [letter * length for length in range(101)]
    keys = keys_by_id(Graph.from_edges([], [], nodes=words))
    assert keys == {word: xxh64(word.encode()) for word in words}


@given(st.lists(TEXT, min_size=1, unique=True))
def test_keys_of_any_strings_are_xxh64_of_their_utf8_bytes(words):
    keys = keys_by_id(Graph.from_edges([], [], nodes=words))
    assert keys == {word: xxh64(word.encode()) for word in words}


@given(st.lists(INT64, min_size=1, unique=True))
def test_keys_of_integers_are_xxh64_of_their_eight_little_endian_bytes(numbers):
    keys = keys_by_id(Graph.from_edges([], [], nodes=numbers))
    assert keys == {number: xxh64(struct.pack("<q", number)) for number in numbers}


def test_keys_of_a_sliced_arrow_array_are_those_of_its_ids():
    words = pa.array(["x", "yy", "a", "bb", "ccc"], pa.large_string())[2:]
    keys = keys_by_id(Graph.from_edges([], [], nodes=words))
    assert keys == {word: xxh64(word.encode()) for word in ("a", "bb", "ccc")}


@pytest.mark.parametrize("ids", [np.array([3, -1], np.int32), np.array([3, -1], np.int8), [3, -1]])
def test_keys_of_narrow_integers_equal_those_of_64_bit_integers(ids):
    keys = keys_by_id(Graph.from_edges(ids, ids))
    assert keys == {number: xxh64(struct.pack("<q", number)) for number in (3, -1)}


def test_the_key_of_a_string_equals_xxhash64_of_spark():
    # Spark documents xxhash64('Spark', array(123), 2) as 5602566077635097486: the hash of each
    # column seeds that of the next, and integers there are hashed by their 4 bytes.
    key = keys_by_id(Graph.from_edges(["Spark"], ["Spark"]))["Spark"]
    for number in (123, 2):
        key = xxh64(struct.pack("<i", number), seed=key)
    assert key == 5602566077635097486


@pytest.mark.parametrize(
    ("function", "ids"),
    [("integer_keys", [7, 8, 9]), ("string_keys", ["x", "y", "z"])],
)
def test_two_ids_with_the_same_key_are_refused_by_name(monkeypatch, function, ids):
    monkeypatch.setattr(_native, function, lambda *columns: np.array([5, 9, 5], np.uint64))
    with pytest.raises(GraphError) as error:
        Graph.from_edges(ids[:2], ids[1:])
    assert str(error.value) == (
        f"The ids {ids[0]!r} and {ids[2]!r} have the same 64-bit key, so their random vectors "
        "would be the same. Rename one of them."
    )


@pytest.mark.parametrize(
    ("ids", "in_order"),
    [
        ([10, -3, 2, 2**40], [-3, 2, 10, 2**40]),
        ([10, -3, 2, 4], [-3, 2, 4, 10]),
        (["b", "B", "é", "日", "a"], ["B", "a", "b", "é", "日"]),
    ],
)
def test_ids_of_edges_are_in_ascending_order(ids, in_order):
    assert Graph.from_edges(ids, ids[::-1]).ids.to_pylist() == in_order


@pytest.mark.parametrize("ids", [[10, -3, 2], ["b", "a", "c"], [2, 1, 0]])
def test_given_ids_keep_their_order(ids):
    assert Graph.from_edges(ids[:1], ids[1:2], nodes=ids).ids.to_pylist() == ids
    assert Graph.from_scipy(np.eye(3), ids=ids).ids.to_pylist() == ids
    assert Graph.from_networkx(nx.path_graph(ids)).ids.to_pylist() == ids


def test_ids_of_a_matrix_are_its_row_numbers():
    assert Graph.from_scipy(np.eye(3)).ids.to_pylist() == [0, 1, 2]


@pytest.mark.parametrize("ids", [[1, 2], np.array([1, 2], np.uint8), pa.array([1, 2], pa.int16())])
def test_integer_ids_are_stored_as_int64(ids):
    assert Graph.from_edges(ids, ids).ids.type == pa.int64()
    assert Graph.from_edges(ids, ids, nodes=ids).ids.type == pa.int64()


def test_string_ids_are_stored_as_large_strings():
    assert Graph.from_edges(["a"], ["b"]).ids.type == pa.large_string()
    assert Graph.from_edges(["a"], ["b"], nodes=pa.array(["b", "a"])).ids.type == pa.large_string()


def test_the_internal_order_does_not_depend_on_the_order_of_the_ids():
    ids = ["d", "a", "c", "b"]
    graphs = [Graph.from_edges(["a", "b"], ["b", "c"], nodes=nodes) for nodes in (ids, sorted(ids))]
    first, second = ([graph.ids[int(row)].as_py() for row in graph.rows] for graph in graphs)
    assert first == second
    assert (graphs[0].indices == graphs[1].indices).all()


@pytest.mark.parametrize(
    "made",
    [
        "Graph.from_edges(ends, ends + 1)",
        "Graph.from_edges(10**12 * ends, 10**12 * ends + 1)",
        "Graph.from_edges(ends, ends + 1, nodes=6)",
        "Graph.from_edges(ends, ends + 1, nodes=np.arange(6))",
    ],
)
def test_embedding_a_graph_with_integer_ids_does_not_import_pandas(made):
    pytest.importorskip("pandas")
    code = (
        "import sys\nimport numpy as np\nfrom hopvec import FastRP, Graph\nends = np.arange(5)\n"
        f"FastRP(dim=16).embed({made}).vectors\n"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_chunks_of_strings_become_large_strings():
    chunks = pa.chunked_array([["a"], ["b"]])
    assert _arrow(chunks, "source").type == pa.large_string()
    assert _arrow(pa.table({"id": chunks})["id"], "source").to_pylist() == ["a", "b"]
