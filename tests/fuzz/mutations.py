"""Random damage to the bytes of a file, and to its text."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

Random = np.random.Generator
Mutation = Callable[[bytes, Random], bytes]

BOUNDARY_INTEGERS = (
    0, 1, 2, 127, 128, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62,
)  # fmt: skip
BYTES = (0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x22, 0x2C)
TOKENS = (
    b"", b"0", b"-1", b"1.5", b"1e400", b"-1e-400", b"nan", b"inf", b"-inf", b"1e15", b"00", b"+7",
    b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"9" * 40,
    b"-9223372036854775809", b"1,5", b"0x10", b"1_000", b"null", b"NA", b"true", b"'", b'"', b'""',
    b"\0", b"\xff", b"\xe9", b"\xef\xbb\xbf", b"\xed\xa0\x80", "é".encode(), "日本".encode(),
    b"\r", b"\n", b"\t", b",", b";", b"|", b" ", b"#", b"%", b"//", b"\\", b"[", b"]", b"{", b"}",
    b"(", b")", b"<", b">", b"&lt;", b"&", b"id", b"source", b"weight", b"label", b"a" * 70_000,
    "\u2028".encode(), "\u00a0".encode(), b"\x1a", b"\x1b[2J", b"1970-01-01", b"9999-12-31 23:59",
)  # fmt: skip
TOKEN = re.compile(rb"[^\s,;|\"'<>=\[\]{}:]+")
MAX_SIZE = 1 << 20  # bytes of a file that grows


def _at(data: bytes, random: Random) -> int:
    return int(random.integers(len(data) + 1))


def _part(data: bytes, random: Random) -> tuple[int, int]:
    """A random range, which is short more often than not."""
    begin = _at(data, random)
    length = int(len(data) ** random.random()) if data else 0
    return begin, min(len(data), begin + length)


def flip_bit(data: bytes, random: Random) -> bytes:
    return _replace_bytes(data, random, lambda byte: byte ^ 1 << random.integers(8))


def set_byte(data: bytes, random: Random) -> bytes:
    return _replace_bytes(data, random, lambda byte: random.choice(BYTES))


def _replace_bytes(data: bytes, random: Random, change: Callable[[int], int]) -> bytes:
    changed = bytearray(data)
    for at in random.integers(0, len(data), random.integers(1, 4)) if data else ():
        changed[at] = int(change(changed[at]))
    return bytes(changed)


def set_number(data: bytes, random: Random) -> bytes:
    """Write an integer of 4 or 8 bytes, at an offset divisible by 4 more often than not."""
    size, order = int(random.choice((4, 8))), str(random.choice(("little", "big")))
    at = _at(data, random)
    at = at // 4 * 4 if random.random() < 0.75 else at
    number = int(random.choice(BOUNDARY_INTEGERS)) * int(random.choice((1, -1)))
    raw = (number & (1 << 8 * size) - 1).to_bytes(size, order)  # type: ignore[arg-type]
    return data[:at] + raw + data[at + size :]


def truncate(data: bytes, random: Random) -> bytes:
    return data[: _at(data, random)]


def remove_part(data: bytes, random: Random) -> bytes:
    begin, end = _part(data, random)
    return data[:begin] + data[end:]


def repeat_part(data: bytes, random: Random) -> bytes:
    begin, end = _part(data, random)
    times = int(random.choice((1, 1, 1, 30)))
    return data[:end] + data[begin:end] * times + data[end:]


def move_part(data: bytes, random: Random) -> bytes:
    begin, end = _part(data, random)
    rest = data[:begin] + data[end:]
    at = _at(rest, random)
    return rest[:at] + data[begin:end] + rest[at:]


def insert_bytes(data: bytes, random: Random) -> bytes:
    at = _at(data, random)
    return data[:at] + random.bytes(int(random.integers(1, 20))) + data[at:]


def zero_part(data: bytes, random: Random) -> bytes:
    begin, end = _part(data, random)
    return data[:begin] + bytes(end - begin) + data[end:]


SAME_LENGTH: tuple[Mutation, ...] = (flip_bit, set_byte, set_byte, set_number, set_number)
"""Mutations that keep the length, but for a number at the end."""
OF_BYTES: tuple[Mutation, ...] = (
    *SAME_LENGTH, truncate, remove_part, repeat_part, move_part, insert_bytes, zero_part,
)  # fmt: skip


def replace_token(data: bytes, random: Random) -> bytes:
    """Replace a word or a number."""
    found = list(TOKEN.finditer(data))
    if not found:
        return data + _token(random)
    token = found[random.integers(len(found))]
    return data[: token.start()] + _token(random) + data[token.end() :]


def copy_token(data: bytes, random: Random) -> bytes:
    """Replace a word or a number by another one of the file."""
    found = list(TOKEN.finditer(data))
    if not found:
        return data
    one, other = (found[at] for at in random.integers(0, len(found), 2))
    return data[: one.start()] + other.group() + data[one.end() :]


def insert_token(data: bytes, random: Random) -> bytes:
    at = _at(data, random)
    return data[:at] + _token(random) + data[at:]


def _token(random: Random) -> bytes:
    return TOKENS[random.integers(len(TOKENS))]


def _on_lines(change: Callable[[list[bytes], Random], list[bytes]]) -> Mutation:
    def mutation(data: bytes, random: Random) -> bytes:
        return b"".join(change(data.splitlines(keepends=True), random))

    mutation.__name__ = change.__name__
    return mutation


@_on_lines
def remove_line(lines: list[bytes], random: Random) -> list[bytes]:
    at = int(random.integers(len(lines) + 1))
    return lines[:at] + lines[at + 1 :]


@_on_lines
def repeat_line(lines: list[bytes], random: Random) -> list[bytes]:
    at, times = int(random.integers(len(lines) + 1)), int(random.choice((1, 2, 3000)))
    return lines[:at] + lines[at : at + 1] * times + lines[at:]


@_on_lines
def shuffle_lines(lines: list[bytes], random: Random) -> list[bytes]:
    return [lines[at] for at in random.permutation(len(lines))]


@_on_lines
def change_field(lines: list[bytes], random: Random) -> list[bytes]:
    """Add, remove or replace a field of one line or of all lines."""
    if not lines:
        return lines
    mark = max((b",", b"\t", b";", b" ", b"|"), key=lines[0].count)
    kind, token = random.integers(4), _token(random)
    chosen = range(len(lines)) if random.random() < 0.3 else [int(random.integers(len(lines)))]
    for at in chosen:
        cells = lines[at].rstrip(b"\r\n").split(mark)
        place = int(random.integers(len(cells)))
        if kind == 0:
            cells.insert(place, token)
        elif kind == 1:
            del cells[place]
        elif kind == 2:
            cells[place] = token
        else:
            cells[place] = b'"' + cells[place] + token + b'"'
        lines[at] = mark.join(cells) + b"\n"
    return lines


def change_separator(data: bytes, random: Random) -> bytes:
    marks = (b",", b"\t", b";", b" ", b"|", b"  ", b"\n", b"\r\n", b"\r", b'"', b".")
    return data.replace(marks[random.integers(len(marks))], marks[random.integers(len(marks))])


def change_encoding(data: bytes, random: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    encodings = ("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "utf-7", "cp1252")
    return text.encode(encodings[random.integers(len(encodings))], "replace")


OF_TEXT: tuple[Mutation, ...] = (
    replace_token, replace_token, replace_token, copy_token, copy_token, insert_token, remove_line,
    repeat_line, shuffle_lines, change_field, change_field, change_field, change_separator,
    change_encoding,
)  # fmt: skip
