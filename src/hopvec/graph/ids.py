"""Node ids: columns of integers or strings, their Arrow form, their numbers and their keys."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native
from hopvec.errors import GraphError

MAX_NODES = 2**31 - 1
CHUNK = 1 << 20


@dataclass
class NumberedEdges:
    """How the ids of an edge list become node numbers: table[id - offset], or id - offset."""

    ids: Callable[[], pa.Array]
    """Makes the ids, or gives those that are there: integers need not be kept meanwhile."""
    nodes: int
    source: NDArray[Any]
    target: NDArray[Any]
    offset: int = 0
    table: NDArray[np.int32] | None = None

    def release(self) -> None:
        """Lets go of the edges, whoever still holds the numbering."""
        self.source = self.target = np.empty(0, dtype=np.int32)
        self.table = None


def as_ids(values: Any, name: str) -> NDArray[Any] | pa.Array:
    """The ids of a column: a numpy array of int32 or int64, or an Arrow array of large_string."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and not hasattr(values, "mask"):
        return _integers(values, name)
    array = _arrow(values, name)
    if array.null_count:
        first = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise GraphError(f"{_place(name, first)}: there is no id (null).")
    if pa.types.is_integer(array.type):
        return _integers(array.to_numpy(zero_copy_only=False), name)
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return array.cast(pa.large_string())
    raise GraphError(f"{name}: ids must be integers or strings, got {array.type}.")


def node_ids(values: Any) -> pa.Array:
    """All node ids as an Arrow array of int64 or large_string; refuses an id that comes twice."""
    if isinstance(values, int | np.integer):
        if not 0 < values <= MAX_NODES:
            raise GraphError(f"nodes must be between 1 and {MAX_NODES:,}, got {values:,}.")
        return arrow_view(np.arange(values, dtype=np.int64))
    ids = as_ids(values, "nodes")
    if isinstance(ids, np.ndarray):
        ids = arrow_view(ids.astype(np.int64, copy=True))  # not the caller's memory
    twice = first_duplicate(ids)
    if twice is not None:
        raise GraphError(f"nodes: the id {twice!r} comes more than once.")
    return ids


def number_nodes(source: Any, target: Any, nodes: Any) -> NumberedEdges:
    """The numbering of the ids of an edge list, over all `nodes` if they are given."""
    if isinstance(source, np.ndarray) != isinstance(target, np.ndarray):
        raise GraphError("source and target must both hold integers or both hold strings.")
    if isinstance(source, np.ndarray) and source.dtype != target.dtype:
        source, target = (ids.astype(np.int64, copy=False) for ids in (source, target))
    if nodes is None:
        if len(source) == 0:
            raise GraphError("The graph is empty: there are no edges, and no nodes were given.")
        if isinstance(source, np.ndarray):
            return _number_integers(source, target)
        return _look_up(source, target, _distinct(source, target))
    ids = node_ids(nodes)
    if len(ids) == 0:
        raise GraphError("The graph is empty: the list of nodes is empty.")
    if isinstance(source, np.ndarray) != pa.types.is_integer(ids.type) and len(source):
        kinds = (
            ("integers", "strings") if isinstance(source, np.ndarray) else ("strings", "integers")
        )
        raise GraphError(f"The edges hold {kinds[0]}, the nodes {kinds[1]}.")
    if isinstance(nodes, int | np.integer) and isinstance(source, np.ndarray):
        _check_range(source, target, int(nodes))
        return NumberedEdges(lambda: ids, len(ids), source, target)
    return _look_up(source, target, ids)


def keys(ids: pa.Array) -> NDArray[np.uint64]:
    """The keys of the ids: XXH64, seed 42, of their bytes; the values of Spark's xxhash64."""
    if pa.types.is_integer(ids.type):
        return _native.integer_keys(numpy_view(ids))
    return _native.string_keys(*string_buffers(ids))


def string_buffers(ids: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Offsets and bytes of an Arrow array of texts."""
    ids = ids if pa.types.is_large_string(ids.type) else ids.cast(pa.large_string())
    _, offsets, data = ids.buffers()
    positions = np.frombuffer(offsets, np.int64)[ids.offset : ids.offset + len(ids) + 1]
    text = np.frombuffer(data, np.uint8) if data and data.size else np.zeros(1, np.uint8)
    return positions, text


def numpy_view(array: pa.Array) -> NDArray[Any]:
    """The numbers of an Arrow array as they lie in memory; nulls are NaN, in a copy.

    Arrow's own to_numpy loads pandas where there is one, which takes a third of a second.
    """
    if array.null_count or not len(array):
        copy: NDArray[Any] = array.to_numpy(zero_copy_only=False)
        return copy
    numbers = np.frombuffer(array.buffers()[1], array.type.to_pandas_dtype())
    return numbers[array.offset : array.offset + len(array)]


def arrow_view(numbers: NDArray[Any]) -> pa.Array:
    """An Arrow array that looks at numbers; pa.array would load pandas as to_numpy does."""
    data = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, data])


def first_missing(ids: pa.Array) -> int | None:
    """The first of some ids that is null or an empty text."""
    if ids.null_count:
        return int(np.argmax(ids.is_null().to_numpy(zero_copy_only=False)))
    if pa.types.is_integer(ids.type):
        return None
    offsets, _ = string_buffers(ids)
    empty = offsets[1:] == offsets[:-1]
    return int(np.argmax(empty)) if empty.any() else None


def first_duplicate(ids: pa.Array) -> Any | None:
    """The first of some ids that comes again; None if all differ.

    Their keys are put in order: 8 bytes an id, and a fifth of the time that a table of them takes.
    """
    if pa.types.is_integer(ids.type):
        ids = ids.cast(pa.int64(), safe=False)
    in_order = keys(ids)
    in_order.sort()
    shared = in_order[1:][in_order[1:] == in_order[:-1]]
    if not len(shared):
        return None
    alike = ids.take(arrow_view(np.flatnonzero(np.isin(keys(ids), shared))))
    found = alike.value_counts()  # two ids may share a key and differ
    again = np.flatnonzero(found.field("counts").to_numpy() > 1)
    return found.field("values")[int(again[0])].as_py() if len(again) else None


def check_collisions(ids: pa.Array) -> None:
    """Raises GraphError naming both ids where two share a key."""
    in_order = keys(ids)
    in_order.sort()
    same = np.flatnonzero(in_order[1:] == in_order[:-1])
    if len(same):
        first, second = np.flatnonzero(keys(ids) == in_order[same[0]])[:2]
        raise GraphError(
            f"The ids {ids[int(first)].as_py()!r} and {ids[int(second)].as_py()!r} have the same "
            "64-bit key, so their random vectors could not be told apart. Rename one of them."
        )


def _arrow(values: Any, name: str) -> pa.Array:
    if isinstance(values, str | bytes | dict):
        raise GraphError(f"{name} must be a column of ids, got {values!r}.")
    if isinstance(values, np.ndarray) and values.dtype.kind == "U":
        values = values.tolist()  # Arrow would cut these at their first null character
    try:
        if hasattr(values, "__arrow_c_stream__") and not isinstance(values, pa.Array):
            array = pa.chunked_array(values)
        else:
            array = pa.array(values)
    except (pa.ArrowException, TypeError, OverflowError, UnicodeError) as error:
        raise GraphError(f"{name}: ids must be all integers or all strings ({error}).") from error
    if isinstance(array, pa.ChunkedArray):
        if pa.types.is_string(array.type):  # which holds at most 2 GiB in one piece
            array = array.cast(pa.large_string())
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        words = array.dictionary  # a dictionary of string views cannot be decoded
        words = words.cast(pa.large_string()) if str(words.type) == "string_view" else words
        array = pa.DictionaryArray.from_arrays(array.indices, words).dictionary_decode()
    if len(array) == 0 and pa.types.is_null(array.type):
        array = array.cast(pa.int64())
    return array.cast(pa.large_string()) if str(array.type) == "string_view" else array


def _place(name: str, index: int) -> str:
    return f"{name}, {'edge' if name in ('source', 'target') else 'entry'} {index + 1}"


def _integers(values: NDArray[Any], name: str) -> NDArray[Any]:
    if values.ndim != 1:
        raise GraphError(f"{name} must have one dimension, got the shape {values.shape}.")
    if values.dtype in (np.int32, np.int64):
        return np.ascontiguousarray(values)
    if values.dtype.kind == "u" and len(values) and values.max() > np.iinfo(np.int64).max:
        first = int(np.argmax(values > np.iinfo(np.int64).max))
        raise GraphError(
            f"{_place(name, first)}: the id {values[first]} is out of range; "
            "integer ids must fit 64 bits with a sign."
        )
    return np.ascontiguousarray(values, dtype=np.int64 if values.itemsize >= 4 else np.int32)


def _number_integers(source: NDArray[Any], target: NDArray[Any]) -> NumberedEdges:
    """Numbers by a table over the range of ids where that is small, else by looking each one up."""
    low = int(min(source.min(), target.min()))
    span = int(max(source.max(), target.max())) - low + 1
    if span > max(2 * len(source), 1 << 16):  # more than the edges can fill, at 5 bytes an id
        return _look_up(source, target, _distinct(source, target))
    present = np.zeros(span, dtype=bool)
    for ids in (source, target):
        for start in range(0, len(ids), CHUNK):
            present[np.subtract(ids[start : start + CHUNK], low, dtype=np.int64)] = True
    _refuse_too_many(int(np.count_nonzero(present)))
    if present.all():
        return NumberedEdges(lambda: arrow_view(np.arange(span) + low), span, source, target, low)
    table = np.cumsum(present, dtype=np.int32)
    table -= 1
    nodes = int(table[-1]) + 1
    return NumberedEdges(partial(_present_ids, present, low), nodes, source, target, low, table)


def _refuse_too_many(nodes: int) -> None:
    if nodes > MAX_NODES:
        raise GraphError(f"A graph has at most {MAX_NODES:,} nodes, got {nodes:,}.")


def _present_ids(present: NDArray[np.bool_], low: int) -> pa.Array:
    ids = np.flatnonzero(present)
    ids += low
    return arrow_view(ids)


def _array(values: NDArray[Any] | pa.Array) -> pa.Array:
    return arrow_view(values) if isinstance(values, np.ndarray) else values


def _distinct(source: Any, target: Any) -> pa.Array:
    import pyarrow.compute as pc

    both = pa.chunked_array([_array(source), _array(target)]).unique()
    both = both.cast(pa.int64()) if pa.types.is_integer(both.type) else both
    return both.take(pc.sort_indices(both))


def _look_up(source: Any, target: Any, ids: pa.Array) -> NumberedEdges:
    import pyarrow.compute as pc

    _refuse_too_many(len(ids))
    numbers = []
    for name, values in (("source", source), ("target", target)):
        found = pc.index_in(_array(values).cast(ids.type), value_set=ids)
        if found.null_count:
            first = int(np.argmax(found.is_null().to_numpy(zero_copy_only=False)))
            wrong = values[first : first + 1].tolist()[0]
            raise GraphError(f"{name}, edge {first + 1}: the id {wrong!r} is not among the nodes.")
        numbers.append(numpy_view(found))
    return NumberedEdges(lambda: ids, len(ids), numbers[0], numbers[1])


def _check_range(source: NDArray[Any], target: NDArray[Any], nodes: int) -> None:
    for name, values in (("source", source), ("target", target)):
        if len(values) and (values.min() < 0 or values.max() >= nodes):
            first = int(np.argmax((values < 0) | (values >= nodes)))
            raise GraphError(
                f"{name}, edge {first + 1}: the id {values[first]} is out of range; "
                f"with nodes={nodes} ids are 0 to {nodes - 1}."
            )
