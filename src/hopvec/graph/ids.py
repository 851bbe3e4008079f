"""Node ids: columns of integers or strings, their Arrow arrays, node numbers and hash keys."""

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
CHUNK_IDS = 1 << 20
FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""Arrow's names of numbers that numpy calls differently."""


@dataclass
class NumberedEdges:
    """Edges and how their ids map to node numbers: table[id - offset], or id - offset."""

    ids: Callable[[], pa.Array]
    """Returns the ids. Integer ids are computed when needed, so that they take no memory."""
    nodes: int
    source: NDArray[Any]
    target: NDArray[Any]
    offset: int = 0
    table: NDArray[np.int32] | None = None
    describe: Callable[[int, int], str] | None = None
    """Describes the edge between two nodes, given by their numbers, for error messages."""

    def numbers(self, ids: NDArray[Any]) -> NDArray[Any]:
        """The numbers of the nodes with these ids, which are those of some edges."""
        index = ids.astype(np.int64) - self.offset
        return index if self.table is None else self.table[index]

    def release(self) -> None:
        """Frees the edges, no matter who else holds a reference to this object."""
        self.source = self.target = np.empty(0, dtype=np.int32)
        self.table = None


def as_ids(values: Any, name: str) -> NDArray[Any] | pa.Array:
    """Convert ids to a numpy array of int32 or int64, or an Arrow array of large_string."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and not hasattr(values, "mask"):
        return _integers(values, name)
    array = _arrow(values, name)
    if array.null_count:
        first = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise GraphError(f"{_location(name, first)}: there is no id (null).")
    if pa.types.is_integer(array.type):
        return _integers(array.to_numpy(zero_copy_only=False), name)
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return array.cast(pa.large_string())
    if pa.types.is_floating(array.type):
        numbers = array.to_numpy(zero_copy_only=False)
        if (row := first_fraction(numbers)) is not None:
            raise GraphError(
                f"{_location(name, row)}: the id {numbers[row]:g} is not an integer or a string."
            )
        return _integers(numbers.astype(np.int64), name)
    raise GraphError(f"{name}: ids must be integers or strings, got {array.type}.")


def first_fraction(numbers: NDArray[Any]) -> int | None:
    """The position of the first floating-point id that is not a whole number; None if all are."""
    whole = (numbers == np.rint(numbers)) & (np.abs(numbers) < np.float64(2**53))
    return None if whole.all() else int(np.argmin(whole))


def node_ids(values: Any) -> pa.Array:
    """All node ids as an Arrow array of int64 or large_string; raises GraphError for duplicates."""
    if isinstance(values, int | np.integer):
        if not 0 < values <= MAX_NODES:
            raise GraphError(f"nodes must be between 1 and {MAX_NODES:,}, got {values:,}.")
        return arrow_view(np.arange(values, dtype=np.int64))
    ids = as_ids(values, "nodes")
    if isinstance(ids, np.ndarray):
        ids = arrow_view(ids.astype(np.int64, copy=True))  # does not share the caller's memory
    duplicate = first_duplicate(ids)
    if duplicate is not None:
        raise GraphError(f"nodes: the id {duplicate!r} occurs more than once.")
    return ids


def number_nodes(source: Any, target: Any, nodes: Any) -> NumberedEdges:
    """Numbers the ids of an edge list in the order of `nodes`, or ascending if it is None."""
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
    """Keys of the ids: XXH64 of their bytes with seed 42, the same values as Spark's xxhash64."""
    if pa.types.is_integer(ids.type):
        return _native.integer_keys(numpy_view(ids))
    return _native.string_keys(*string_buffers(ids))


def string_buffers(ids: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Offsets and bytes of an Arrow array of strings."""
    ids = ids if pa.types.is_large_string(ids.type) else ids.cast(pa.large_string())
    _, offsets, data = ids.buffers()
    positions = np.frombuffer(offsets, np.int64)[ids.offset : ids.offset + len(ids) + 1]
    text = np.frombuffer(data, np.uint8) if data and data.size else np.zeros(1, np.uint8)
    return positions, text


def numpy_view(array: pa.Array) -> NDArray[Any]:
    """A zero-copy view of an Arrow array of numbers; a copy with NaN if there are nulls.

    Arrow's to_numpy imports pandas if it is installed, which takes a third of a second, and
    to_pandas_dtype of pyarrow 24 fails without it.
    """
    if array.null_count or not len(array):
        copy: NDArray[Any] = array.to_numpy(zero_copy_only=False)
        return copy
    name = str(array.type)
    end = array.offset + len(array)  # the buffer may be longer, by any number of bytes
    numbers = np.frombuffer(array.buffers()[1], np.dtype(FLOATS.get(name, name)), end)
    return numbers[array.offset :]


def arrow_view(numbers: NDArray[Any]) -> pa.Array:
    """A zero-copy Arrow array of numbers; pa.array would import pandas, as to_numpy does."""
    data = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, data])


def first_missing(ids: pa.Array) -> int | None:
    """The position of the first id that is null or an empty string; None if there is none."""
    if not ids.null_count and pa.types.is_integer(ids.type):
        return None
    missing = missing_mask(ids)
    return int(np.argmax(missing)) if missing.any() else None


def missing_mask(ids: pa.Array) -> NDArray[np.bool_]:
    """A mask of the ids that are null or an empty string."""
    missing = np.zeros(len(ids), bool)
    if ids.null_count:  # Arrow's to_numpy imports pandas
        missing = ids.is_null().to_numpy(zero_copy_only=False)
    if not pa.types.is_integer(ids.type):
        offsets, _ = string_buffers(ids)
        missing = missing | (offsets[1:] == offsets[:-1])
    return missing


def first_duplicate(ids: pa.Array) -> Any | None:
    """An id that occurs more than once; None if all ids are distinct.

    Sorts the keys of the ids, which takes 8 bytes per id and a fifth of the time of a hash table.
    """
    if pa.types.is_integer(ids.type):
        ids = ids.cast(pa.int64(), safe=False)
    sorted_keys = keys(ids)
    sorted_keys.sort()
    shared = sorted_keys[1:][sorted_keys[1:] == sorted_keys[:-1]]
    if not len(shared):
        return None
    candidates = ids.take(arrow_view(np.flatnonzero(np.isin(keys(ids), shared))))
    found = candidates.value_counts()  # different ids may share a key
    repeated = np.flatnonzero(found.field("counts").to_numpy() > 1)
    return found.field("values")[int(repeated[0])].as_py() if len(repeated) else None


def check_collisions(ids: pa.Array) -> None:
    """Raise GraphError naming two ids that share a key."""
    sorted_keys = keys(ids)
    sorted_keys.sort()
    same = np.flatnonzero(sorted_keys[1:] == sorted_keys[:-1])
    if len(same):
        first, second = np.flatnonzero(keys(ids) == sorted_keys[same[0]])[:2]
        raise GraphError(
            f"The ids {ids[int(first)].as_py()!r} and {ids[int(second)].as_py()!r} have the same "
            "64-bit key, so their random vectors would be the same. Rename one of them."
        )


def _arrow(values: Any, name: str) -> pa.Array:
    if isinstance(values, str | bytes | dict):
        raise GraphError(f"{name} must be a column of ids, got {values!r}.")
    if isinstance(values, set | frozenset):
        raise GraphError(f"{name}: a set has no order. Use a list of ids.")
    if isinstance(values, np.ndarray) and values.dtype.kind == "U":
        values = values.tolist()  # Arrow would truncate these at the first null character
    try:
        if hasattr(values, "__arrow_c_stream__") and not isinstance(values, pa.Array):
            array = pa.chunked_array(values)
        else:
            array = pa.array(values)
    except (pa.ArrowException, TypeError, OverflowError, UnicodeError) as error:
        raise GraphError(f"{name}: ids must be all integers or all strings ({error}).") from error
    if isinstance(array, pa.ChunkedArray):
        if pa.types.is_string(array.type):  # at most 2 GiB per chunk
            array = array.cast(pa.large_string())
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        values = array.dictionary  # a dictionary of string views cannot be decoded
        values = values.cast(pa.large_string()) if str(values.type) == "string_view" else values
        array = pa.DictionaryArray.from_arrays(array.indices, values).dictionary_decode()
    if len(array) == 0 and pa.types.is_null(array.type):
        array = array.cast(pa.int64())
    try:
        array.validate(full=True)
    except pa.ArrowException as error:
        raise GraphError(f"{name}: the ids cannot be read ({error}).") from error
    return array.cast(pa.large_string()) if str(array.type) == "string_view" else array


def _location(name: str, index: int) -> str:
    return f"{name}, {'edge' if name in ('source', 'target') else 'entry'} {index + 1}"


def _integers(values: NDArray[Any], name: str) -> NDArray[Any]:
    if values.ndim != 1:
        raise GraphError(f"{name} must have one dimension, got the shape {values.shape}.")
    if values.dtype in (np.int32, np.int64):
        return np.ascontiguousarray(values)
    if values.dtype.kind == "u" and len(values) and values.max() > np.iinfo(np.int64).max:
        first = int(np.argmax(values > np.iinfo(np.int64).max))
        raise GraphError(
            f"{_location(name, first)}: the id {values[first]} is out of range; "
            "integer ids must fit in a signed 64-bit integer."
        )
    return np.ascontiguousarray(values, dtype=np.int64 if values.itemsize >= 4 else np.int32)


def _number_integers(source: NDArray[Any], target: NDArray[Any]) -> NumberedEdges:
    """Numbers ids with a table over their range if it is small, else with a hash table."""
    low = int(min(source.min(), target.min()))
    span = int(max(source.max(), target.max())) - low + 1
    if span > max(2 * len(source), 1 << 16):  # the table takes 5 bytes per id
        return _look_up(source, target, _distinct(source, target))
    present = np.zeros(span, dtype=bool)
    for ids in (source, target):
        for start in range(0, len(ids), CHUNK_IDS):
            present[np.subtract(ids[start : start + CHUNK_IDS], low, dtype=np.int64)] = True
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
