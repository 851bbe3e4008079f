"""IdEncoder: ids of any number of batches become node numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native
from hopvec.errors import GraphError
from hopvec.graph.ids import arrow_view, numpy_view, string_buffers

MOST_SHARDS = 16


class IdEncoder:
    """Ids get codes as they come, by so many threads; `sorted_ids` then puts them in order."""

    def __init__(self, threads: int = 1) -> None:
        self._shards = min(threads, MOST_SHARDS)
        self._known: _native.StringDictionary | _native.IntegerDictionary | None = None

    def __len__(self) -> int:
        return 0 if self._known is None else len(self._known)

    @property
    def integers(self) -> bool | None:
        """What kind of ids it holds; None before the first."""
        if self._known is None:
            return None
        return isinstance(self._known, _native.IntegerDictionary)

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        return 0 if self._known is None else self._known.nbytes

    def encode(self, ids: pa.Array) -> NDArray[np.int32]:
        """The codes of ids, int64 or large_string without nulls."""
        if not len(ids):
            return np.empty(0, dtype=np.int32)
        integers = bool(pa.types.is_integer(ids.type))
        if self._known is None:
            kind = _native.IntegerDictionary if integers else _native.StringDictionary
            self._known = kind(self._shards)
        if integers != self.integers:
            raise GraphError("Some ids are integers and others are texts; make them all the same.")
        try:
            if isinstance(self._known, _native.IntegerDictionary):
                return self._known.encode(numpy_view(ids.cast(pa.int64())))
            return self._known.encode(*string_buffers(ids))
        except ValueError as error:  # too many nodes, or an id that is too long
            raise GraphError(str(error)) from error

    def sorted_ids(self, *, untyped: bool) -> tuple[pa.Array, NDArray[np.int32]]:
        """The ids in ascending order, and the place of each code among them; uses it up.

        `untyped` texts become integers if every one is an integer as it is usually written.
        """
        known = _native.StringDictionary(1) if self._known is None else self._known
        sizes = known.sizes
        values: NDArray[np.int64] | None
        if isinstance(known, _native.IntegerDictionary):
            values = known.merge()
        else:
            offsets, text = known.merge()
            values = _native.parse_integers(offsets, text) if untyped else None
        if values is not None:
            order = np.argsort(values, kind="stable").astype(np.int32)
            ids = arrow_view(values[order])
        else:
            # Arrow's own take would do, but its first use loads 40 MB of functions.
            order = _native.sort_strings(offsets, text)
            buffers = _native.take_strings(offsets, text, order)
            ids = pa.LargeStringArray.from_buffers(len(order), *map(pa.py_buffer, buffers))
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return ids, _by_code(place, sizes)


def _by_code(place: NDArray[np.int32], sizes: list[int]) -> NDArray[np.int32]:
    """What belongs to the ids of one shard after the other, by their codes; some codes are free."""
    if len(sizes) == 1:
        return place
    by_code = np.zeros(len(sizes) * max(sizes), dtype=np.int32)
    for shard, some in enumerate(np.split(place, np.cumsum(sizes)[:-1])):
        by_code[shard :: len(sizes)][: len(some)] = some
    return by_code


def parse_integer_ids(ids: pa.Array) -> pa.Array:
    """Texts as integers if every one is an integer as it is usually written; else the ids."""
    if pa.types.is_integer(ids.type) or len(ids) == 0:
        return ids
    values = _native.parse_integers(*string_buffers(ids.cast(pa.large_string())))
    return ids if values is None else arrow_view(values)
