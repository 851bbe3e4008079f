"""IdEncoder: integer codes for ids that arrive in batches."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native
from hopvec.errors import GraphError
from hopvec.graph.ids import arrow_view, numpy_view, string_buffers
from hopvec.graph.size import id_bytes

MAX_SHARDS = 16
SORTING_BYTES = 28  # per id, besides the ids before and after: values to sort, and their order
MAX_SPAN = 3  # integers in a range of so many values per id are sorted without comparing them


class IdEncoder:
    """Assigns codes to ids in the order of their arrival; `sorted_ids` then sorts them."""

    def __init__(self, threads: int = 1) -> None:
        self._shards = min(threads, MAX_SHARDS)
        self.whole_floats: bool = False
        self._dictionary: _native.StringDictionary | _native.IntegerDictionary | None = None

    def __len__(self) -> int:
        return 0 if self._dictionary is None else len(self._dictionary)

    @property
    def integers(self) -> bool | None:
        """Whether the ids are integers; None before the first id."""
        if self._dictionary is None:
            return None
        return isinstance(self._dictionary, _native.IntegerDictionary)

    @property
    def nbytes(self) -> int:
        """The memory used, in bytes."""
        return 0 if self._dictionary is None else self._dictionary.nbytes

    @property
    def id_bytes(self) -> int:
        """The memory of the sorted ids."""
        return id_bytes(len(self), 0 if self._dictionary is None else self._dictionary.text_bytes)

    @property
    def sorting_bytes(self) -> int:
        """The memory of `sorted_ids` at its peak."""
        return self.nbytes + self.id_bytes + SORTING_BYTES * len(self)

    def encode(self, ids: pa.Array) -> NDArray[np.int32]:
        """Return the codes of ids, which are int64 or large_string without nulls."""
        if not len(ids):
            return np.empty(0, dtype=np.int32)
        integers = bool(pa.types.is_integer(ids.type))
        if self._dictionary is None:
            kind = _native.IntegerDictionary if integers else _native.StringDictionary
            self._dictionary = kind(self._shards)
        if integers != self.integers:
            raise GraphError("Some ids are integers and others are strings; use one type.")
        try:
            if isinstance(self._dictionary, _native.IntegerDictionary):
                return self._dictionary.encode(numpy_view(ids.cast(pa.int64())))
            return self._dictionary.encode(*string_buffers(ids))
        except ValueError as error:  # too many nodes, or an id that is too long
            raise GraphError(str(error)) from error

    def sorted_ids(
        self, *, untyped: bool, decimal: str = "."
    ) -> tuple[pa.Array, NDArray[np.int32]]:
        """Return the ids in ascending order, and the position of each code; empty the encoder.

        If `untyped`, strings become integers if all of them are integers in canonical form, or
        whole numbers such as 1.0 (`whole_floats` is then True), also with another decimal mark.
        """
        dictionary = _native.StringDictionary(1) if self._dictionary is None else self._dictionary
        sizes = dictionary.sizes
        values: NDArray[np.int64] | None
        if isinstance(dictionary, _native.IntegerDictionary):
            values = dictionary.merge()
        else:
            offsets, text = dictionary.merge()
            values = _native.parse_integers(offsets, text) if untyped else None
            if untyped and values is None:
                values = _parse_whole_floats(offsets, text, decimal)
                self.whole_floats = values is not None
        if values is not None:
            numbers, position = _sorted_integers(values)
            return arrow_view(numbers), _by_code(position, sizes)
        # Arrow's take would do, but its first use loads 40 MB of functions.
        order = _native.sort_strings(offsets, text)
        buffers = _native.take_strings(offsets, text, order)
        ids = pa.LargeStringArray.from_buffers(len(order), *map(pa.py_buffer, buffers))
        return ids, _by_code(_positions(order), sizes)


def _sorted_integers(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Sort distinct integers: the sorted ones, and the position of each."""
    low = int(values.min()) if len(values) else 0
    span = int(values.max()) - low + 1 if len(values) else 0
    if span > MAX_SPAN * len(values):
        order = np.argsort(values).astype(np.int32)
        return values[order], _positions(order)
    offsets = values - low
    present = np.zeros(span, dtype=bool)
    present[offsets] = True
    before = np.cumsum(present, dtype=np.int32)
    before -= 1
    numbers = np.flatnonzero(present)
    numbers += low
    return numbers, before[offsets]


def _positions(order: NDArray[np.int32]) -> NDArray[np.int32]:
    """The inverse of a permutation."""
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    return position


def _by_code(position: NDArray[np.int32], sizes: list[int]) -> NDArray[np.int32]:
    """Reorders positions, given shard after shard, by code; some codes are unused."""
    if len(sizes) == 1:
        return position
    by_code = np.zeros(len(sizes) * max(sizes), dtype=np.int32)
    for shard, some in enumerate(np.split(position, np.cumsum(sizes)[:-1])):
        by_code[shard :: len(sizes)][: len(some)] = some
    return by_code


def parse_integer_ids(ids: pa.Array, *, whole_floats: bool = False) -> pa.Array:
    """Parse strings as integers if all of them are integers in canonical form.

    If `whole_floats`, numbers such as 1.0 count as well: pandas writes integers in this way if some
    are missing.
    """
    if pa.types.is_integer(ids.type) or len(ids) == 0:
        return ids
    buffers = string_buffers(ids.cast(pa.large_string()))
    values = _native.parse_integers(*buffers)
    if values is None and whole_floats:
        values = _parse_whole_floats(*buffers)
    return ids if values is None else arrow_view(values)


def _parse_whole_floats(
    offsets: NDArray[np.int64], text: NDArray[np.uint8], decimal: str = "."
) -> NDArray[np.int64] | None:
    """The integers of strings such as 1 and 1.0; None if others occur, or two are equal."""
    first = bytes(text[offsets[0] : offsets[1]]) if len(offsets) > 1 else b""
    mark = next((mark for mark in {".", decimal} if first.endswith(f"{mark}0".encode())), None)
    if mark is None:
        return None
    import pyarrow.compute as pc

    ids = pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(text)
    )
    stripped = pc.replace_substring_regex(ids, rf"[{mark}]0+$", "")
    values = _native.parse_integers(*string_buffers(stripped))
    distinct = values is not None and len(np.unique(values)) == len(values)
    return values if distinct else None
