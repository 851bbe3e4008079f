"""Graph.from_edges: the supported types of id and weight columns."""

import numpy as np
import pyarrow as pa
import pytest

from graph_arrays import arrays_of, entries_of
from hopvec import Graph
from hopvec.graph.ids import numpy_view

INT64 = np.arange(6, dtype=np.int64)


@pytest.mark.parametrize(
    "ids",
    [
        INT64.tolist(),
        range(6),
        iter(range(6)),
        INT64,
        INT64.astype(">i8"),
        INT64.astype(">i4"),
        INT64.astype(">u8"),
        INT64.astype(object),
        np.repeat(INT64, 2)[::2],
        np.stack([INT64, INT64]).T[:, 0],
        INT64[::-1].copy()[::-1],
        np.lib.stride_tricks.as_strided(INT64, writeable=False),
        pa.array(INT64),
        pa.array(np.arange(-3, 6))[3:],
        pa.array(INT64, pa.int8()),
        pa.array(INT64, pa.uint64()),
        pa.chunked_array([INT64[:2], INT64[2:2], INT64[2:]]),
        pa.array(INT64).dictionary_encode(),
        pa.chunked_array([pa.array(part).dictionary_encode() for part in (INT64[:3], INT64[3:])]),
        *(INT64.astype(dtype) for dtype in "bBhHiIlLqQ"),
    ],
    ids=lambda ids: f"{type(ids).__name__}-{getattr(ids, 'dtype', getattr(ids, 'type', ''))}",
)
def test_integer_ids_of_any_column_type(ids):
    graph = Graph.from_edges(ids, INT64 + 1)
    assert graph.ids.type == pa.int64()
    assert arrays_of(graph) == arrays_of(Graph.from_edges(INT64, INT64 + 1))


WORDS = ["b", "a\0c", "日本", "a\0c", "a longer word than a view holds inline"]


@pytest.mark.parametrize(
    "ids",
    [
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, object),
        pa.array(WORDS),
        pa.array(["x", *WORDS])[1:],
        pa.array(WORDS, pa.large_string()),
        pa.array(WORDS, pa.string_view()),
        pa.chunked_array([WORDS[:2], WORDS[2:]]),
        pa.chunked_array([WORDS[:2], WORDS[2:]], pa.string_view()),
        pa.array(WORDS).dictionary_encode(),
        pa.chunked_array([pa.array(part).dictionary_encode() for part in (WORDS[:2], WORDS[2:])]),
        pa.DictionaryArray.from_arrays(
            [0, 1, 2, 1, 3], pa.array([*WORDS[:3], WORDS[4]], "string_view")
        ),
    ],
    ids=lambda ids: f"{type(ids).__name__}-{getattr(ids, 'dtype', getattr(ids, 'type', ''))}",
)
def test_string_ids_of_any_column_type(ids):
    target = list("vwxyz")
    graph = Graph.from_edges(ids, target)
    assert graph.ids.type == pa.large_string()
    assert arrays_of(graph) == arrays_of(Graph.from_edges(WORDS, target))


@pytest.mark.parametrize("dtype", ["int64", "Int64", "str", "category", "object", "string"])
def test_ids_and_weights_of_pandas(dtype):
    pd = pytest.importorskip("pandas")
    values = [3, 1, 2] if "int" in dtype.lower() else ["c", "a", "b"]
    source = pd.Series(values, index=[7, 8, 9], dtype=dtype)
    graph = Graph.from_edges(source, pd.Index(values[::-1]), pd.Series([1, 2, 3], index=[2, 1, 0]))
    assert arrays_of(graph) == arrays_of(Graph.from_edges(values, values[::-1], [1, 2, 3]))


@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "String", "Categorical", "Enum"])
def test_ids_and_weights_of_polars(dtype):
    pl = pytest.importorskip("polars")
    values = [3, 1, 2] if "Int" in dtype else ["c", "a", "b"]
    kind = pl.Enum(values) if dtype == "Enum" else getattr(pl, dtype)
    source = pl.concat(
        [pl.Series(part, dtype=kind) for part in (values[:1], values[1:])], rechunk=False
    )
    graph = Graph.from_edges(source, pl.Series(values[::-1], dtype=kind), pl.Series([1, 2, 3]))
    assert arrays_of(graph) == arrays_of(Graph.from_edges(values, values[::-1], [1, 2, 3]))


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [([2**31 - 1], [2**31]), ([-(2**31)], [-(2**31) - 2]), ([0, 1], [1, 2]), ([5, 5], [2**40, 6])],
)
def test_columns_of_different_widths_hold_the_same_ids(narrow, wide):
    short, long = np.array(narrow, np.int32), np.array(wide, np.int64)
    graph = arrays_of(Graph.from_edges(narrow, wide))
    assert arrays_of(Graph.from_edges(short, long)) == graph
    assert arrays_of(Graph.from_edges(long, short)) == graph


@pytest.mark.parametrize("id", [2**63 - 1, -(2**63)])
def test_the_extreme_integers_are_valid_ids(id):
    assert Graph.from_edges([id], [id]).ids.to_pylist() == [id]


@pytest.mark.parametrize(
    "weight",
    [
        (2, 3),
        np.array([2, 3], np.int8),
        np.array([2, 3], np.uint64),
        np.array([2, 3], np.float16),
        np.array([2, 3], np.longdouble),
        np.array([2, 3], ">f4"),
        np.array([2, 9, 3, 9], np.float64)[::2],
        np.array([2, 3], object),
        pa.array([2, 3]),
        pa.chunked_array([[2.0], [3.0]]),
    ],
    ids=lambda weight: f"{type(weight).__name__}-{getattr(weight, 'dtype', '')}",
)
def test_weights_of_any_numeric_type(weight):
    assert entries_of(Graph.from_edges([0, 1], [1, 2], weight, directed=True)) == {
        (0, 1): 2.0,
        (1, 2): 3.0,
    }


@pytest.mark.parametrize(
    "type_", ["int8", "uint16", "int32", "uint64", "int64", "float16", "float32", "float64"]
)
def test_an_arrow_array_of_numbers_is_viewed_without_a_copy(type_):
    numbers = np.arange(5).astype(type_)
    view = numpy_view(pa.array(numbers)[1:])
    assert view.dtype == numbers.dtype
    assert not view.flags.owndata
    assert view.tolist() == [1, 2, 3, 4]
