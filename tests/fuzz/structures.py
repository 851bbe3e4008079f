"""Damage to the structure of a file: it is taken apart, changed, and put together again."""

from __future__ import annotations

import ast
import io
import json
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.mutations import BOUNDARY_INTEGERS, OF_BYTES, OF_TEXT, SAME_LENGTH, Mutation, Random
from graph_files import COMPRESS

PLAIN_NUMBERS = (0, 1, -1, 1.5, 1e308, float("nan"), float("inf"), 2**31, 2**63, -(2**63), 10**30)
VALUES = (*PLAIN_NUMBERS, None, True, "", "x", "é\0", [], {}, [1], [None], [[]], {"a": 1}, "AAAA")
DTYPES = ("<i8", "<i4", "|i1", "<u8", "<f8", "<f4", "<f2", "<U3", "|S4", "|b1", "|O", "<c16",
          "<M8[s]", "<m8[D]", ">i8", ">f4", "<U0", "|V3", "<f16", "xyz",
          "[('a', '<i4')]")  # fmt: skip


def json_value(value: Any, random: Random) -> Any:
    """Change one value of a JSON document."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        key = list(value)[random.integers(len(value))]
        if random.random() < 0.1:
            return {other: part for other, part in value.items() if other != key}
        return value | {key: json_value(value[key], random)}
    if isinstance(value, list) and value and random.random() < 0.8:
        at = int(random.integers(len(value)))
        if random.random() < 0.2:
            return value[:at] + value[at + 1 :]
        return [*value[:at], json_value(value[at], random), *value[at + 1 :]]
    if isinstance(value, str) and len(value) > 8 and random.random() < 0.5:
        return change_base64(value, random)
    return VALUES[random.integers(len(VALUES))]


def change_base64(text: str, random: Random) -> str:
    """Change numbers that are encoded as base64."""
    import base64

    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        return text[: random.integers(len(text))]
    numbers = (0.0, -1.0, float("nan"), float("inf"), 1e308, 5e-324)
    special = struct.pack("<d", numbers[random.integers(len(numbers))])
    at = int(random.integers(len(raw) // 8 + 1)) * 8
    changed = (raw[:at] + special + raw[at + 8 :], raw[8:], raw + special, OF_BYTES[0](raw, random))
    return base64.b64encode(changed[random.integers(4)]).decode()


def change_json(data: bytes, random: Random) -> bytes:
    return json.dumps(json_value(json.loads(data), random)).encode()


def change_npy(data: bytes, random: Random) -> bytes:
    """Change the header of an array, or its numbers."""
    version = np.lib.format.read_magic(io.BytesIO(data))
    start = 10 if version < (2, 0) else 12
    length = int.from_bytes(data[8:start], "little")
    header = ast.literal_eval(data[start : start + length].decode("latin-1"))
    body = data[start + length :]
    kind = random.integers(6)
    shape = list(header["shape"])
    if kind == 0 and shape:
        number = int(random.choice(BOUNDARY_INTEGERS)) * int(random.choice((1, 1, -1)))
        shape[random.integers(len(shape))] = number
    elif kind == 1:
        shape = (
            [*shape, int(random.choice((0, 1, 2, 2**40)))] if random.random() < 0.5 else shape[1:]
        )
    elif kind == 2:
        header["descr"] = DTYPES[random.integers(len(DTYPES))]
    elif kind == 3:
        header["fortran_order"] = random.choice((True, None))
    elif kind == 4:
        body = OF_BYTES[random.integers(len(OF_BYTES))](body, random)
    else:
        header.pop(list(header)[random.integers(len(header))])
    if "shape" in header:
        header["shape"] = tuple(shape)
    text = repr(header).encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


def change_zip(data: bytes, random: Random) -> bytes:
    """Change, drop, rename or repeat a member of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = list(members)[random.integers(len(members))]
    kind = random.integers(6)
    if kind == 0:
        del members[name]
    elif kind == 1:
        names = ("src.npy", "ids.npy", "x", "", "vectors.npy", "data.npy", "format.npy")
        members[names[random.integers(len(names))]] = members.pop(name)
    elif kind == 2:
        other = list(members)[random.integers(len(members))]
        members[other] = members[name]
    else:
        change = change_npy if kind < 5 else OF_BYTES[random.integers(len(OF_BYTES))]
        members[name] = change(members[name], random)
    result = io.BytesIO()
    method = int(random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
    with warnings.catch_warnings(), zipfile.ZipFile(result, "w", method) as archive:
        warnings.simplefilter("ignore")  # names that are repeated
        for member, content in members.items():
            archive.writestr(member, content)
            if kind == 2 and random.random() < 0.2:
                archive.writestr(member, content)
    return result.getvalue()


def change_parquet_footer(data: bytes, random: Random) -> bytes:
    """Change the bytes of the metadata, whose length stays right."""
    length = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - length], data[-8 - length : -8]
    changed = OF_BYTES[random.integers(len(OF_BYTES))](footer, random)
    return body + changed + struct.pack("<I", len(changed)) + data[-4:]


def change_arrow_metadata(data: bytes, random: Random) -> bytes:
    """Change bytes of the footer, or near a marker, where a message of Arrow begins."""
    starts = [match.start() for match in re.finditer(b"\xff\xff\xff\xff", data)]
    starts.append(max(0, len(data) - 300))
    begin = starts[random.integers(len(starts))]
    part = data[begin : begin + 300]
    changed = SAME_LENGTH[random.integers(len(SAME_LENGTH))](part, random)
    return data[:begin] + changed[: len(part)] + data[begin + 300 :]


def read_table(data: bytes) -> pa.Table:
    if data.startswith(b"PAR1"):
        return pq.read_table(io.BytesIO(data))
    open_ = pa.ipc.open_file if data.startswith(b"ARROW1") else pa.ipc.open_stream
    return open_(data).read_all()


def write_table(table: pa.Table, like: bytes, random: Random) -> bytes:
    """Write a table in the format of other bytes."""
    file = io.BytesIO()
    if like.startswith(b"PAR1"):
        codecs = ("none", "snappy", "zstd", "gzip", "lz4", "brotli")
        codec = codecs[random.integers(len(codecs))]
        size = int(random.choice((1, 3, 1000)))
        pq.write_table(table, file, compression=codec, row_group_size=size)
        return file.getvalue()
    new = pa.ipc.new_file if like.startswith(b"ARROW1") else pa.ipc.new_stream
    codec = (None, "lz4", "zstd")[random.integers(3)]
    with new(file, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(table, max_chunksize=int(random.choice((1, 3, 1000))))
    return file.getvalue()


def change_table(data: bytes, random: Random) -> bytes:
    """Write a valid table with columns, types or rows that are unusual here."""
    table = read_table(data)
    kind = random.integers(9)
    at = int(random.integers(table.num_columns)) if table.num_columns else 0
    name = table.column_names[at] if table.num_columns else "x"
    if kind < 4 and table.num_columns:
        column = odd_column(table.column(at), random)
        table = table.set_column(at, name, column)
    elif kind == 4:
        table = table.remove_column(at) if table.num_columns else table
    elif kind == 5:
        others = ("id", "embedding", "type", "x", "", "source", "weight", "é\n")
        name = others[random.integers(len(others))]
        table = table.append_column(name, odd_column(table.column(at), random))
    elif kind == 6:
        table = table.slice(int(random.integers(len(table) + 1)), int(random.integers(4)))
    elif kind == 7:
        metadata = dict(table.schema.metadata or {})
        if b"hopvec" in metadata:
            metadata[b"hopvec"] = change_json(metadata[b"hopvec"], random)
        else:
            metadata = {b"hopvec": json.dumps(VALUES[random.integers(len(VALUES))]).encode()}
        table = table.replace_schema_metadata(metadata)
    else:
        table = pa.concat_tables([table, table])
    return write_table(table, data, random)


def odd_column(column: pa.ChunkedArray, random: Random) -> pa.ChunkedArray:
    """A column of the same length with another type, with nulls, or with other values."""
    rows, values = len(column), column.to_pylist()
    kind = random.integers(3)
    if kind == 0:  # a null
        for at in random.integers(0, rows, 2) if rows else ():
            values[at] = None
        return pa.chunked_array([pa.array(values, column.type)])
    if kind == 1:
        return pa.chunked_array([pa.array(_odd_values(rows, random))])
    types = (
        pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.int8(), pa.uint64(),
        pa.float16(), pa.float64(), pa.decimal128(20, 3), pa.bool_(),
        pa.dictionary(pa.int8(), pa.string()),
    )  # fmt: skip
    try:
        return column.cast(types[random.integers(len(types))])
    except (pa.ArrowException, NotImplementedError):
        return pa.chunked_array([pa.nulls(rows)])


def _odd_values(rows: int, random: Random) -> pa.Array:
    """An array of an unusual type."""
    small = np.arange(rows)
    makers: tuple[Callable[[], Any], ...] = (
        lambda: pa.nulls(rows),
        lambda: pa.array([[int(k)] * (k % 3) for k in small], pa.list_(pa.int32())),
        lambda: pa.array([[float("nan"), float("inf")] for _ in small], pa.list_(pa.float64(), 2)),
        lambda: pa.array([[] for _ in small], pa.list_(pa.float32(), 0)),
        lambda: pa.array([{"a": int(k)} for k in small], pa.struct([("a", pa.int64())])),
        lambda: pa.array([[("a", 1)] for _ in small], pa.map_(pa.string(), pa.int8())),
        lambda: pa.array(small.astype("M8[us]")),
        lambda: pa.array([f"{k}" for k in small], pa.string_view()),
        lambda: pa.array([b"\xff\xfe"] * rows, pa.binary()).view(pa.string()),
        lambda: pa.array([2**64 - 1] * rows, pa.uint64()),
        lambda: pa.array([1e308, -1e308] * rows)[:rows],
        lambda: pa.array([float("nan")] * rows),
        lambda: pa.array([b"ab"] * rows, pa.binary(2)),
        lambda: pa.array([bytes(16)] * rows, pa.uuid()),
        lambda: pa.array([k % 2 == 0 for k in small]),
        lambda: pa.array(["a"] * rows).dictionary_encode(),
        lambda: pa.array([None] * rows, pa.dictionary(pa.int8(), pa.string())),
        lambda: pa.array([1] * rows, pa.duration("s")),
        lambda: pa.array([1] * rows, pa.date32()),
        lambda: pa.array([1] * rows, pa.time32("s")),
        lambda: pa.array([k // 2 for k in small], pa.decimal128(30, 2)),
        lambda: pa.array([""] * rows),
        lambda: pa.array(["x" * 300_000] * rows),
    )  # fmt: skip
    made = makers[random.integers(len(makers))]()
    return made.storage if isinstance(made, pa.ExtensionArray) and random.random() < 0.5 else made


def change_matlab(data: bytes, random: Random) -> bytes:
    """Change tags, of 8 bytes, in a variable, which is decompressed and compressed for that."""
    order = "<" if data[126:128] == b"IM" else ">"
    at, variables = 128, []
    while at + 8 <= len(data):
        kind, size = struct.unpack(f"{order}II", data[at : at + 8])
        variables.append((kind, data[at + 8 : at + 8 + size]))
        at += 8 + size
    chosen = int(random.integers(len(variables)))
    kind, content = variables[chosen]
    is_compressed = kind == 15
    content = zlib.decompress(content) if is_compressed else content
    place = int(random.integers(max(1, len(content) // 8))) * 8
    numbers = (*BOUNDARY_INTEGERS[:9], 14, 15, 5, 9, 6)
    field = struct.pack(f"{order}I", numbers[random.integers(len(numbers))] & 0xFFFFFFFF)
    place += int(random.choice((0, 4)))
    content = content[:place] + field + content[place + 4 :]
    variables[chosen] = (kind, zlib.compress(content) if is_compressed else content)
    parts = (struct.pack(f"{order}II", kind, len(part)) + part for kind, part in variables)
    return data[:128] + b"".join(parts)


ELEMENT = re.compile(
    rb"<(\w+)[^<>]*?/>|<(\w+)[^<>]*>[^<>]*</\2>|\b(?:node|edge|graphics)\s*\[[^\[\]]*\]"
)


def change_element(data: bytes, random: Random) -> bytes:
    """Remove, repeat, nest or swap elements of GraphML or blocks of GML."""
    found = list(ELEMENT.finditer(data))
    if len(found) < 2:
        return OF_TEXT[0](data, random)
    one, other = (found[at] for at in random.integers(0, len(found), 2))
    kind = random.integers(5)
    if kind == 0:
        return data[: one.start()] + data[one.end() :]
    if kind == 1:
        return data[: one.end()] + one.group() * int(random.choice((1, 500))) + data[one.end() :]
    if kind == 2:
        return data[: one.start()] + other.group() + data[one.end() :]
    if kind == 3:  # one inside the other
        inside = other.start() + int(random.integers(len(other.group())))
        return data[:inside] + one.group() + data[inside:]
    depth = int(random.choice((1, 50, 5000)))
    begin, end = ((b"<graph>", b"</graph>"), (b"graph [", b"]"))[b"[" in one.group()[:12]]
    return data[: one.start()] + begin * depth + one.group() + end * depth + data[one.end() :]


def change_compressed(data: bytes, random: Random) -> bytes:
    """Decompress, change the content, and compress it again."""
    for suffix, codec in ((".gz", "gzip"), (".bz2", "bz2"), (".zst", "zstd")):
        if data.startswith(
            {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".zst": b"\x28\xb5\x2f\xfd"}[suffix]
        ):
            with pa.CompressedInputStream(pa.BufferReader(data), codec) as stream:
                inner = stream.read()
            changed = mutate(inner, "", random)
            return bytes(COMPRESS[suffix](changed))
    return data


def _mutations(data: bytes, name: str) -> tuple[tuple[Mutation, ...], ...]:
    """The groups of mutations for a file by its content, from which one is drawn."""
    columnar = (change_table, change_table)
    by_magic: tuple[tuple[bytes, tuple[tuple[Mutation, ...], ...]], ...] = (
        (b"PAR1", (columnar, (change_parquet_footer,), OF_BYTES)),
        (b"ARROW1", (columnar, (change_arrow_metadata,), OF_BYTES)),
        (b"\xff\xff\xff\xff", (columnar, (change_arrow_metadata,), OF_BYTES)),
        (b"PK", ((change_zip,), (change_zip,), OF_BYTES)),
        (b"\x93NUMPY", ((change_npy,), OF_BYTES)),
        (b"MATLAB", ((change_matlab,), (change_matlab,), OF_BYTES)),
        (b"\x1f\x8b", ((change_compressed,), (change_compressed,), OF_BYTES)),
        (b"BZh", ((change_compressed,), (change_compressed,), OF_BYTES)),
        (b"\x28\xb5\x2f\xfd", ((change_compressed,), (change_compressed,), OF_BYTES)),
    )
    for magic, groups in by_magic:
        if data.startswith(magic):
            return groups
    if name.endswith(".json"):
        return (change_json,), OF_TEXT, OF_BYTES
    if name.endswith(".bin"):
        return OF_BYTES, OF_TEXT
    if data.lstrip().startswith((b"<", b"graph")):
        return (change_element,), OF_TEXT, OF_TEXT, OF_BYTES
    return OF_TEXT, OF_TEXT, OF_BYTES


def mutate(data: bytes, name: str, random: Random) -> bytes:
    """Damage a file in one to four places.

    Arrow reads undamaged files only: others might end this process.
    """
    for number in range(int(random.choice((1, 1, 1, 2, 2, 3, 4)))):
        groups = _mutations(data, name)
        if number:
            groups = tuple(group for group in groups if change_table not in group)
        group = groups[random.integers(len(groups))]
        mutation = group[random.integers(len(group))]
        try:
            changed = mutation(data, random)
        except Exception:  # what was damaged before cannot be taken apart
            changed = OF_BYTES[random.integers(len(OF_BYTES))](data, random)
        if len(changed) <= 1 << 20:
            data = changed
    return data
