"""Reads the matrices of a MATLAB file of version 5 to 7, and checks every length before using it.

scipy.io.loadmat is not used: one wrong byte can crash the process (see test_matlab.py).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

HEADER_BYTES = 128
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
CLASSES = OTHERS + NUMERIC  # in the order of their codes, which start at 1
COMPLEX = 0x0800


class DamageError(ValueError):
    """The file does not follow the format; the message is the cause."""


@dataclass(frozen=True)
class Variable:
    """A variable of the file, without its content."""

    name: str
    shape: tuple[int, ...]
    kind: str
    """sparse, double, struct, ..."""
    is_complex: bool
    at: int
    """Its offset in the file, in bytes."""

    @property
    def is_square(self) -> bool:
        """Whether it can be an adjacency matrix."""
        is_numeric = self.kind == "sparse" or self.kind in NUMERIC
        return is_numeric and len(self.shape) == 2 and self.shape[0] == self.shape[1] > 0


class MatlabFile:
    """The variables of a file, each read when it is needed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._size = file, file.seek(0, 2)
        byte_order = {b"IM": "<", b"MI": ">"}.get(self._read(HEADER_BYTES - 2, 2))
        if byte_order is None:
            raise DamageError("the header is not that of version 5")
        self._byte_order = byte_order

    def variables(self) -> Iterator[Variable]:
        """Iterate over the variables in the order of the file."""
        at = HEADER_BYTES
        while at < self._size:
            kind, size = self._tag(self._read(at, 8))
            if kind not in (MATRIX, COMPRESSED) or at + 8 + size > self._size:
                raise DamageError(f"the variable at byte {at:,} is incomplete")
            yield self._variable(self._matrix(at, 4096), at)
            at += 8 + size

    def read(self, variable: Variable) -> Any:
        """Read the matrix of a variable, sparse (scipy) or dense (numpy)."""
        import scipy.sparse as sp

        elements = self._elements(self._matrix(variable.at, None))
        for _ in range(3):  # flags, dimensions, name
            next(elements)
        if variable.kind != "sparse":
            values = self._numbers(next(elements, None))
            if len(values) != np.prod(variable.shape):
                raise DamageError(f"the number of values, {len(values):,}, does not fit the size")
            return values.reshape(variable.shape, order="F")
        indices, indptr, values = (self._numbers(next(elements, None)) for _ in range(3))
        if indices.dtype.kind == "f" or indptr.dtype.kind == "f":
            raise DamageError("rows and columns are not integers")
        if len(indptr) != variable.shape[1] + 1 or indptr[0] != 0 or np.any(np.diff(indptr) < 0):
            raise DamageError("the columns are out of order")
        count = int(indptr[-1])
        indices, values = indices[:count], values[:count]
        if len(indices) < count or len(values) < count:
            found = min(len(indices), len(values))
            raise DamageError(f"there are only {found:,} of {count:,} entries")
        if count and not 0 <= indices.min() <= indices.max() < variable.shape[0]:
            raise DamageError("an entry is outside the rows of the matrix")
        return sp.csc_array((values, indices, indptr), shape=variable.shape)

    def _matrix(self, at: int, max_bytes: int | None) -> bytes:
        """The content of the variable at an offset, or its first `max_bytes`."""
        kind, size = self._tag(self._read(at, 8))
        if kind == MATRIX and max_bytes is not None:
            return self._read(at + 8, min(size, max_bytes))
        content = self._read(at + 8, size)
        if len(content) < size:
            raise DamageError("the file ends too early")
        if kind == MATRIX:
            return content
        try:
            content = zlib.decompressobj().decompress(content, max_bytes or 0)
        except zlib.error as error:
            raise DamageError(f"the variable at byte {at:,} cannot be decompressed") from error
        kind, size = self._tag(content)
        if kind != MATRIX or (max_bytes is None and len(content) < 8 + size):
            raise DamageError(f"the variable at byte {at:,} is incomplete")
        return content[8 : 8 + size]

    def _read(self, at: int, size: int) -> bytes:
        """The bytes from an offset on; fewer at the end of the file."""
        self._file.seek(at)
        return self._file.read(size)

    def _variable(self, content: bytes, at: int) -> Variable:
        elements = self._elements(content)
        flags, dimensions = (self._numbers(next(elements, None)) for _ in range(2))
        _, name = next(elements, (0, None))
        if name is None:
            raise DamageError(f"the variable at byte {at:,} has no name")
        code = int(flags[0]) & 0xFF if len(flags) else 0
        if not 1 <= code <= len(CLASSES) or dimensions.dtype.kind != "i" or (dimensions < 0).any():
            raise DamageError(f"the variable at byte {at:,} has an unknown type")
        return Variable(
            name.decode("latin-1"),
            tuple(int(length) for length in dimensions),
            CLASSES[code - 1],
            bool(int(flags[0]) & COMPLEX),
            at,
        )

    def _elements(self, content: bytes) -> Iterator[tuple[int, bytes]]:
        """Iterate over the data elements of a variable: the type and the bytes of each."""
        at = 0
        while at + 8 <= len(content):
            kind, size = self._tag(content[at : at + 8])
            if kind >> 16:  # up to four bytes are stored in the tag itself
                kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
                if size > 4:
                    raise DamageError("a data element is too long")
                at += 8
            else:
                start = at + 8
                at = start + -(-size // 8) * 8
            yield kind, content[start : start + size]

    def _numbers(self, element: tuple[int, bytes] | None) -> NDArray[Any]:
        kind, content = element or (0, b"")
        if kind not in NUMBERS or len(content) % int(NUMBERS[kind][1]):
            raise DamageError("a data element does not hold numbers")
        return np.frombuffer(content, self._byte_order + NUMBERS[kind])

    def _tag(self, data: bytes) -> tuple[int, int]:
        if len(data) < 8:
            raise DamageError("the file ends too early")
        kind, size = struct.unpack(f"{self._byte_order}II", data[:8])
        return kind, size
