"""Thrift's compact protocol, the encoding of the footer and page headers of a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

TRUE, FALSE, BYTE, I16, I32, I64 = range(1, 7)
BINARY, LIST, STRUCT = 8, 9, 12
INTEGERS = (BYTE, I16, I32, I64)


class Typed(NamedTuple):
    """A value and its type, which cannot be derived from the value."""

    kind: int
    value: Any
    """An integer, bytes, Items, a Struct; None for TRUE and FALSE."""


class Items(NamedTuple):
    """A list and the type of its values."""

    kind: int
    values: list[Any]


Struct = dict[int, Typed]
"""The fields of a struct by field number, ascending."""


def serialize(struct: Struct) -> bytes:
    """Encode a struct."""
    return b"".join(_struct(struct))


def parse(data: bytes) -> Struct:
    """Decode the struct at the start of `data`."""
    return _Reader(data).struct()


def varint(value: int) -> bytes:
    """A nonnegative integer in groups of 7 bits, lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _struct(struct: Struct) -> Iterator[bytes]:
    previous = 0
    for number, (kind, value) in struct.items():
        step = number - previous
        yield bytes([step << 4 | kind]) if step < 16 else bytes([kind]) + _integer(number)
        yield from _value(kind, value)
        previous = number
    yield b"\0"


def _value(kind: int, value: Any) -> Iterator[bytes]:
    if kind in INTEGERS:
        yield _integer(value)
    elif kind == BINARY:
        yield varint(len(value)) + value
    elif kind == LIST:
        count = len(value.values)
        yield bytes([min(count, 15) << 4 | value.kind]) + (varint(count) if count > 14 else b"")
        for item in value.values:
            yield from _value(value.kind, item)
    elif kind == STRUCT:
        yield from _struct(value)


def _integer(value: int) -> bytes:
    return varint(2 * value if value >= 0 else -2 * value - 1)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while head := self._take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = Typed(head & 15, self._value(head & 15))
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return None
        if kind in INTEGERS:
            return self._integer()
        if kind == BINARY:
            return self._take(self._varint())
        if kind == LIST:
            head = self._take(1)[0]
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return Items(head & 15, [self._value(head & 15) for _ in range(count)])
        if kind == STRUCT:
            return self.struct()
        raise NotImplementedError(f"a value of type {kind} in a Parquet footer")

    def _take(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._take(1)[0]) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
        return value | byte << shift

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 if value % 2 == 0 else -(value + 1) >> 1
