"""The matrices of a MATLAB file of version 5 to 7, every length checked before it is believed.

scipy reads these files too, but damaged ones can bring down the process.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER = 128
MATRIX, COMPRESSED = 14, 15
NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
OTHERS = ("cell", "struct", "object", "char", "sparse")
NUMERIC = (
    "double",
    "single",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
)
CLASSES = OTHERS + NUMERIC  # by their numbers, from 1 on
COMPLEX = 0x0800


class DamageError(ValueError):
    """What does not follow the format, in words."""


@dataclass(frozen=True)
class Variable:
    """A variable of the file."""

    name: str
    shape: tuple[int, ...]
    kind: str
    """sparse, double, struct, ..."""
    is_complex: bool
    at: int
    """The byte of the file where it begins."""

    @property
    def is_square(self) -> bool:
        """Whether it could be an adjacency matrix."""
        numbers = self.kind == "sparse" or self.kind in NUMERIC
        return numbers and len(self.shape) == 2 and self.shape[0] == self.shape[1] > 0


class MatlabFile:
    """The variables of a file, which is mapped into memory."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        self._data = data
        ends = {b"IM": "<", b"MI": ">"}.get(bytes(data[HEADER - 2 : HEADER]))
        if ends is None:
            raise DamageError("its header is not that of version 5")
        self._ends = ends

    def variables(self) -> Iterator[Variable]:
        """The variables in the order of the file."""
        at = HEADER
        while at < len(self._data):
            kind, size = self._tag(self._data[at : at + 8])
            if kind not in (MATRIX, COMPRESSED) or at + 8 + size > len(self._data):
                raise DamageError(f"there is no whole variable at byte {at:,}")
            yield self._variable(self._matrix(at, 4096), at)
            at += 8 + size

    def read(self, variable: Variable) -> Any:
        """The matrix of a variable, sparse (scipy) or dense (numpy)."""
        import scipy.sparse as sp

        elements = self._elements(self._matrix(variable.at, None))
        for _ in range(3):  # flags, dimensions, name
            next(elements)
        if variable.kind != "sparse":
            values = self._numbers(next(elements, None))
            if len(values) != np.prod(variable.shape):
                raise DamageError(f"it has {len(values):,} numbers")
            return values.reshape(variable.shape, order="F")
        rows, starts, values = (self._numbers(next(elements, None)) for _ in range(3))
        if rows.dtype.kind == "f" or starts.dtype.kind == "f":
            raise DamageError("its rows and columns are no integers")
        if len(starts) != variable.shape[1] + 1 or starts[0] != 0 or np.any(np.diff(starts) < 0):
            raise DamageError("its columns are out of order")
        count = int(starts[-1])
        rows, values = rows[:count], values[:count]
        if len(rows) < count or len(values) < count:
            raise DamageError(f"it has {min(len(rows), len(values)):,} of {count:,} entries")
        if count and not 0 <= rows.min() <= rows.max() < variable.shape[0]:
            raise DamageError("it has entries outside its rows")
        return sp.csc_array((values, rows, starts), shape=variable.shape)

    def _matrix(self, at: int, most: int | None) -> bytes:
        """The content of the variable at a byte of the file, or its beginning."""
        kind, size = self._tag(self._data[at : at + 8])
        content = self._data[at + 8 : at + 8 + size]
        if kind == MATRIX:
            return content if most is None else content[:most]
        try:
            content = zlib.decompressobj().decompress(content, most or 0)
        except zlib.error as error:
            raise DamageError(f"the variable at byte {at:,} cannot be decompressed") from error
        kind, size = self._tag(content)
        if kind != MATRIX or (most is None and len(content) < 8 + size):
            raise DamageError(f"the variable at byte {at:,} is not whole")
        return content[8 : 8 + size]

    def _variable(self, content: bytes, at: int) -> Variable:
        elements = self._elements(content)
        flags, dimensions = (self._numbers(next(elements, None)) for _ in range(2))
        name = next(elements, (0, b""))[1]
        number = int(flags[0]) & 0xFF if len(flags) else 0
        if (
            not 1 <= number <= len(CLASSES)
            or dimensions.dtype.kind != "i"
            or (dimensions < 0).any()
        ):
            raise DamageError(f"the variable at byte {at:,} has no known type")
        return Variable(
            name.decode("latin-1"),
            tuple(int(length) for length in dimensions),
            CLASSES[number - 1],
            bool(int(flags[0]) & COMPLEX),
            at,
        )

    def _elements(self, content: bytes) -> Iterator[tuple[int, bytes]]:
        """The parts of a variable: the type of each, and its bytes."""
        at = 0
        while at + 8 <= len(content):
            kind, size = self._tag(content[at : at + 8])
            if kind >> 16:  # up to four bytes stand in the tag itself
                kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
                if size > 4:
                    raise DamageError("a part of it is too long")
                at += 8
            else:
                start = at + 8
                at = start + -(-size // 8) * 8
            yield kind, content[start : start + size]

    def _numbers(self, element: tuple[int, bytes] | None) -> NDArray[Any]:
        kind, content = element or (0, b"")
        if kind not in NUMBERS or len(content) % int(NUMBERS[kind][1]):
            raise DamageError("a part of it holds no numbers")
        return np.frombuffer(content, self._ends + NUMBERS[kind])

    def _tag(self, data: bytes) -> tuple[int, int]:
        if len(data) < 8:
            raise DamageError("it ends too early")
        kind, size = struct.unpack(f"{self._ends}II", data[:8])
        return kind, size
