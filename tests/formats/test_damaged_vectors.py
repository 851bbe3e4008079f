"""Damaged files and files of other kinds raise a FormatError that names the file."""

import gzip
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hopvec
from hopvec import FormatError
from hopvec.formats import npy as npy_format
from saved_embeddings import SUFFIXES, directory_contents, random_embedding, same_embedding

VECTORS = np.ones((2, 3), np.float32)


@pytest.fixture(params=SUFFIXES)
def path(request, tmp_path):
    return tmp_path / f"vectors{request.param}"


def refusal(path):
    """The error message for a file, without the path it begins with."""
    with pytest.raises(FormatError) as error:
        hopvec.load(path)
    message = str(error.value)
    assert message.startswith(str(path))
    assert message.endswith(".")
    assert "\n" not in message
    return message.removeprefix(str(path))


def damaged(data):
    """The file with single bytes changed, and the starts of other files."""
    for at in range(0, len(data), max(1, len(data) // 300)):
        yield data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
    yield b"rubbish"
    yield np.random.default_rng(0).bytes(5000)
    yield b"\x93NUMPY" + bytes(100)
    yield b"PK\x03\x04" + bytes(100)
    yield b"ARROW1\0\0" + bytes(100)
    yield b"PAR1" + bytes(100) + b"PAR1"
    yield b"\x1f\x8b" + bytes(100)


def test_a_damaged_file_raises_a_format_error_or_is_read_completely(path):
    embedding = random_embedding()
    embedding.save(path)
    refused = 0
    for file, data in directory_contents(path.parent).items():
        for wrong in damaged(data):
            (path.parent / file).write_bytes(wrong)
            try:
                loaded = hopvec.load(path)
            except FormatError as error:
                refused += 1
                assert str(error).startswith(str(path))  # noqa: PT017
            else:
                assert len(loaded) == len(loaded.vectors)
        (path.parent / file).write_bytes(data)
    assert refused > 60
    assert same_embedding(hopvec.load(path), embedding, path)


def test_every_truncated_file_is_refused(path):
    random_embedding().save(path)
    for file, data in directory_contents(path.parent).items():
        for cut in range(0, len(data), max(1, len(data) // 150)):
            (path.parent / file).write_bytes(data[:cut])
            if path.suffix in (".csv", ".tsv") and data[:cut].endswith(b"\n"):
                continue  # complete lines: nothing shows that there were more
            refusal(path)
        (path.parent / file).write_bytes(data)


def test_a_flipped_bit_in_the_vectors_of_a_parquet_file_is_detected(tmp_path):
    path = tmp_path / "vectors.parquet"
    random_embedding(pa.array(np.arange(1000)), dim=64).save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert "could not verify page integrity" in refusal(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "", ": the file is empty"),
        ("a.csv", "id\n1\n", r", line 1: expected a column of ids and at least one column of numb"),
        ("a.csv", "x,0.5,0.25\ny,1,2\n", r", line 1: expected a header .* found numbers"),
        ("a.csv", "id,e0,e1\nx,1,2\ny,1,two\n", r", line 3: 'two' in column e1 is not a number"),
        ("a.csv", 'id,e0,e1\n"x\nx",1,2\ny,,2\n', r", line 4: '' in column e0 is not a number"),
        ("a.csv", "id,e0,e1\nx,1,2\ny,1\n", r", line 3: expected 3 columns, found 2"),
        ("a.csv", "id,e0,e1\nx,1,2\ny,1,2,3\n", r", line 3: expected 3 columns, found 4"),
        ("a.csv", "id,e0,e1\nx,1,2\n\udcff,1,2\n", r", line 3: the id is not UTF-8 text"),
        ("a.csv", "\udcffid,e0,e1\nx,1,2\n", r", line 1: byte 0 is not UTF-8 text"),
        ("a.csv", "id,e0,e1\nx,1,2\ny,1,2", r": the last line has no line break, .* at byte 20\."),
        ("a.csv", 'id,e0\n"x,1\ny,2\n', r", line 2: expected 2 columns, found 1"),
        ("a.tsv", "id\te0\nx\t1\ny\tz\n", r", line 3: 'z' in column e0 is not a number"),
        ("a.tsv", "id,e0\nx,1\n", r", line 1: .* found \['id,e0'\]"),
        ("a.txt", "", r", line 1: expected the number of vectors and their dim"),
        ("a.txt", "x 1 2\n", r", line 1: .* found 'x 1 2'"),
        ("a.txt", "2 2\nx 1 2\n", r": the number of vectors is 1, but line 1 says 2"),
        ("a.txt", "1 2\nx 1 2\ny 1 2\n", r": the number of vectors is 2, but line 1 says 1"),
        ("a.txt", "2 2\nx 1 2\ny 1\n", r", line 3: expected 3 columns, found 2"),
        ("a.vec", "2 2\nx 1 2\ny 1 z\n", r", line 3: 'z' in column 2 is not a number"),
        ("a.vec", "1 2\nx 1 2", r": the last line has no line break"),
        ("a.bin", "1 2\nx 1234567", r", byte 4: vector 1 is truncated"),
        ("a.bin", "2 1\nx 1234y1234567890", r", byte 10: vector 2 is truncated"),
        ("a.bin", "1 1\n\udcff 1234", r", vector 1: the id b'\\xff' is not UTF-8 text"),
        ("a.bin", "1 1\nx 1234567", r", byte 10: unexpected data after the last vector"),
        ("a.bin", "99999999999 512\nx 1234", r": the file is truncated: its 22 bytes are too few"),
    ],
)
def test_a_malformed_text_file_is_refused_with_the_line(tmp_path, name, text, message):
    data = text.encode(errors="surrogateescape")
    (tmp_path / name).write_bytes(data)
    assert re.match(message, refusal(tmp_path / name))
    if name.endswith(("csv", "tsv")) and "no line break" not in message:
        compressed = tmp_path / f"{name}.gz"
        compressed.write_bytes(gzip.compress(data))
        assert re.match(message, refusal(compressed))


LISTS = [[1.0, 2.0], [3.0, 4.0]]
REQUIRED = (
    r": an embedding must have a column 'id' of integers or strings, and either a column "
    r"'embedding' of lists of floats or one column of floats per dimension; the columns are "
)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, REQUIRED + "none"),
        ({"id": [1, 2]}, REQUIRED + r"id \(int64\)"),
        ({"embedding": LISTS}, REQUIRED + r"embedding \(list<"),
        ({"id": [1, 2], "embedding": ["a", "b"]}, REQUIRED + r"id \(int64\), embedding \(string\)"),
        (
            {"one": ["a", "b"], "two": ["a", "b"], "embedding": LISTS},
            REQUIRED + r"one \(string\), t",
        ),
        ({"id": [1, 2], "x": LISTS, "y": LISTS}, REQUIRED + r"id \(int64\), x \(list"),
        ({"id": [1, 2], "x": [1.0, 2.0], "y": ["a", "b"]}, REQUIRED),
        (
            {"id": [1, 2], "embedding": [[1.0, 2.0], [3.0]]},
            r", row 1 \(2\): embedding has 1 numb",
        ),
        ({"id": [1, 2], "embedding": [[1.0], None]}, r", row 1 \(2\): embedding is null"),
        ({"id": [1, 2], "embedding": [[1.0], [None]]}, r", row 1 \(2\): embedding contains a null"),
        ({"id": ["a", "b"], "x": [1.0, None]}, r", row 1 \('b'\): x is null"),
        (
            {"id": [1, None], "embedding": LISTS},
            r", row 1: the id is null",
        ),
    ],
)
def test_a_table_that_is_not_an_embedding_is_refused(tmp_path, suffix, columns, message):
    path, table = tmp_path / f"other{suffix}", pa.table(columns)
    if suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    assert re.match(message, refusal(path))


def test_a_table_of_pandas_without_ids_is_refused(tmp_path):
    pd.DataFrame(VECTORS, columns=["a", "b", "c"]).to_parquet(tmp_path / "a.parquet")
    assert re.match(REQUIRED + r"a \(float\), b \(float\)", refusal(tmp_path / "a.parquet"))


def test_vectors_without_their_file_of_ids_are_refused(tmp_path):
    path = tmp_path / "vectors.npy"
    random_embedding().save(path)
    (tmp_path / "vectors.ids.arrow").unlink()
    assert refusal(path) == (
        ": the file of its ids, vectors.ids.arrow, is missing. It must be in the same directory."
    )


def test_vectors_with_the_ids_of_another_embedding_are_refused(tmp_path):
    random_embedding().save(tmp_path / "vectors.npy")
    np.save(tmp_path / "vectors.npy", np.zeros((3, 5), np.float32))
    assert refusal(tmp_path / "vectors.npy") == (
        ": the file has 3 vectors, but vectors.ids.arrow has 9 ids."
    )


def test_truncated_vectors_are_refused_with_their_size(tmp_path):
    path = tmp_path / "vectors.npy"
    random_embedding().save(path)
    path.write_bytes(path.read_bytes()[:-1])
    assert refusal(path) == ": the file is truncated: it has 307 bytes instead of 308."


@pytest.mark.parametrize("vectors", [VECTORS.astype(int), VECTORS.astype(complex), VECTORS > 0])
def test_vectors_that_are_not_floats_are_refused(tmp_path, vectors):
    path = tmp_path / "vectors.npy"
    random_embedding(pa.array([1, 2])).save(path)
    np.save(path, vectors)
    assert "the vectors must be floating-point numbers, got" in refusal(path)


@pytest.mark.parametrize(
    "arrays",
    [
        {"vectors": VECTORS},
        {"ids": np.arange(2)},
        {"vectors": VECTORS, "ids": np.arange(3)},
        {"vectors": VECTORS[0], "ids": np.arange(3)},
        {"vectors": np.float32(1), "ids": np.arange(3)},
        {"vectors": VECTORS, "ids": np.arange(2.0)},
        {"vectors": VECTORS, "ids": np.zeros((2, 1), int)},
        {"vectors": VECTORS, "ids": np.array([1, 2**63], np.uint64)},
        {"vectors": VECTORS, "ids": np.arange(2), "hopvec": "not JSON"},
        {"vectors": VECTORS, "ids": np.arange(2), "hopvec": "[1]"},
        {"vectors": VECTORS, "ids": np.arange(2), "hopvec": '{"parameters": 3}'},
        {"vectors": VECTORS, "ids": np.array(["a", None], object)},
    ],
    ids=lambda arrays: "-".join(arrays),
)
def test_an_npz_that_is_not_an_embedding_is_refused(tmp_path, arrays):
    np.savez(tmp_path / "other.npz", **arrays)
    assert refusal(tmp_path / "other.npz").startswith(": cannot be read as an embedding (")


def test_an_npz_without_parameters_is_read(tmp_path):
    np.savez(tmp_path / "other.npz", vectors=VECTORS, ids=np.array(["a", "b"]))
    loaded = hopvec.load(tmp_path / "other.npz")
    assert loaded.ids.to_pylist() == ["a", "b"]
    assert loaded.parameters == loaded.graph == {}


@pytest.mark.parametrize(
    "ids",
    [pa.array([1.0, 2.0]), pa.array([1, None]), pa.array([True, False]), pa.array([[1], [2]])],
)
def test_ids_of_other_types_are_refused(tmp_path, ids):
    path = tmp_path / "vectors.npy"
    np.save(path, VECTORS)
    table = pa.table({"id": ids})
    with pa.ipc.new_file(str(npy_format.ids_path(path)), table.schema) as writer:
        writer.write_table(table)
    expected = ", row 1: the id is null" if ids.null_count else ": ids must be int64 or strings"
    assert refusal(path).startswith(expected)


def test_a_repeated_id_is_refused(path):
    ids = pa.array(["b", "a", "b"])
    # The ids of a run are distinct, so they are not compared when they are saved.
    hopvec.Embedding(np.ones((3, 2), np.float32), ids, {}, {"nodes": 3}).save(path)
    assert refusal(path) == ": the id 'b' is repeated; ids must be unique."


@pytest.mark.filterwarnings("error")
def test_a_signaling_nan_is_read_without_a_warning(tmp_path):
    hopvec.Embedding(VECTORS, pa.array([0, 1])).save(tmp_path / "vectors.npy")
    rows = VECTORS.astype(float)
    rows.view(np.uint64)[1, 2] = 0x7FF4 << 48
    np.save(tmp_path / "vectors.npy", rows)
    assert np.isnan(hopvec.load(tmp_path / "vectors.npy").vectors[1, 2])
