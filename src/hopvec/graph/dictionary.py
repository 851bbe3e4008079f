"""Dictionary: ids of any number of batches become node numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native
from hopvec.errors import GraphError
from hopvec.graph.ids import number_array, number_buffer, text_buffers


class Dictionary:
    """Ids get codes in the order they come; `numbered` then puts them in ascending order."""

    def __init__(self) -> None:
        self._native = _native.Dictionary()
        self.integers: bool | None = None
        """What kind of ids it holds; None before the first."""

    def __len__(self) -> int:
        return len(self._native)

    @property
    def nbytes(self) -> int:
        """The memory it holds."""
        return self._native.nbytes

    def encode(self, ids: pa.Array) -> NDArray[np.int32]:
        """The codes of ids, int64 or large_string without nulls; new ones get the next codes."""
        integers = bool(pa.types.is_integer(ids.type))
        if len(ids) and self.integers is None:
            self.integers = integers
        if len(ids) and integers != self.integers:
            raise GraphError("Some ids are integers and others are texts; make them all the same.")
        if integers:
            return self._native.encode_integers(number_buffer(ids.cast(pa.int64())))
        return self._native.encode(*text_buffers(ids))

    def numbered(self, *, untyped: bool) -> tuple[pa.Array, NDArray[np.int32]]:
        """The ids in ascending order, and the place of each code among them.

        `untyped` texts become integers if every one is an integer as it is usually written.
        """
        self._native.forget_slots()
        offsets, text = self._native.texts()
        values: NDArray[np.int64] | None = None
        if self.integers:
            values = np.ascontiguousarray(text).view(np.int64)
        elif untyped:
            values = _native.integers_of_texts(offsets, text)
        if values is not None:
            order = np.argsort(values, kind="stable").astype(np.int32)
            ids = number_array(values[order])
        else:
            # Arrow's own take would do, but its first use loads 40 MB of functions.
            order = _native.sort_texts(offsets, text)
            buffers = _native.take_texts(offsets, text, order)
            ids = pa.LargeStringArray.from_buffers(len(self), *map(pa.py_buffer, buffers))
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return ids, place


def integers_if_all(ids: pa.Array) -> pa.Array:
    """Texts as integers if every one is an integer as it is usually written; else the ids."""
    if pa.types.is_integer(ids.type) or len(ids) == 0:
        return ids
    values = _native.integers_of_texts(*text_buffers(ids.cast(pa.large_string())))
    return ids if values is None else number_array(values)
