"""Files that are no embedding, or no longer one: a sentence that names the file, never vectors."""

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
    with pytest.raises(FormatError) as error:
        hopvec.load(path)
    message = str(error.value)
    assert message.startswith(str(path))
    assert message.endswith(".")
    assert "\n" not in message
    return message.removeprefix(str(path))


def damaged(data):
    """The file with single bytes changed, and other files in its place."""
    for place in range(0, len(data), max(1, len(data) // 300)):
        yield data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]
    yield b"rubbish"
    yield np.random.default_rng(0).bytes(5000)
    yield b"\x93NUMPY" + bytes(100)
    yield b"PK\x03\x04" + bytes(100)
    yield b"ARROW1\0\0" + bytes(100)
    yield b"PAR1" + bytes(100) + b"PAR1"
    yield b"\x1f\x8b" + bytes(100)


def test_a_damaged_file_is_refused_in_a_sentence_or_read_whole(path):
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
                continue  # whole lines: nothing says that there were more
            refusal(path)
        (path.parent / file).write_bytes(data)


def test_a_flipped_bit_in_the_vectors_of_parquet_is_noticed(tmp_path):
    path = tmp_path / "vectors.parquet"
    random_embedding(pa.array(np.arange(1000)), dim=64).save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert "could not verify page integrity" in refusal(path)


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("a.csv", "", ": is empty"),
        ("a.csv", "id\n1\n", r", line 1: a column of ids and at least one of numbers"),
        ("a.csv", "x,0.5,0.25\ny,1,2\n", r", line 1: holds numbers where the names"),
        ("a.csv", "id,e0,e1\nx,1,2\ny,1,two\n", r", line 3: 'two' in column e1 is not a number"),
        ("a.csv", 'id,e0,e1\n"x\nx",1,2\ny,,2\n', r", line 4: '' in column e0 is not a number"),
        ("a.csv", "id,e0,e1\nx,1,2\ny,1\n", r", line 3: 2 cells where 3 are needed"),
        ("a.csv", "id,e0,e1\nx,1,2\ny,1,2,3\n", r", line 3: 4 cells where 3"),
        ("a.csv", "id,e0,e1\nx,1,2\n\udcff,1,2\n", r", line 3: the id is not UTF-8 text"),
        ("a.csv", "\udcffid,e0,e1\nx,1,2\n", r", line 1: byte 0 is not UTF-8 text"),
        ("a.csv", "id,e0,e1\nx,1,2\ny,1,2", r": its last line does not end, .* at byte 20;"),
        ("a.csv", 'id,e0\n"x,1\ny,2\n', r", line 2: 1 cell where 2 are needed"),
        ("a.tsv", "id\te0\nx\t1\ny\tz\n", r", line 3: 'z' in column e0 is not a number"),
        ("a.tsv", "id,e0\nx,1\n", r", line 1: .* found \['id,e0'\]"),
        ("a.txt", "", r", line 1: the count of the vectors and their dim are needed"),
        ("a.txt", "x 1 2\n", r", line 1: .* found 'x 1 2'"),
        ("a.txt", "2 2\nx 1 2\n", r": 1 vectors where line 1 announces 2"),
        ("a.txt", "1 2\nx 1 2\ny 1 2\n", r": 2 vectors where line 1 announces 1"),
        ("a.txt", "2 2\nx 1 2\ny 1\n", r", line 3: 2 cells where 3 are needed"),
        ("a.vec", "2 2\nx 1 2\ny 1 z\n", r", line 3: 'z' in column 2 is not a number"),
        ("a.vec", "1 2\nx 1 2", r": its last line does not end"),
        ("a.bin", "1 2\nx 1234567", r", byte 4: vector 1 is cut short"),
        ("a.bin", "2 1\nx 1234y1234567890", r", byte 10: vector 2 is cut short"),
        ("a.bin", "1 1\n\udcff 1234", r", vector 1: its id b'\\xff' is not UTF-8 text"),
        ("a.bin", "1 1\nx 1234567", r", byte 10: more follows the last vector"),
        ("a.bin", "99999999999 512\nx 1234", r": ends at byte 22, too early"),
    ],
)
def test_text_that_is_wrong_is_refused_with_its_line(tmp_path, name, text, where):
    data = text.encode(errors="surrogateescape")
    (tmp_path / name).write_bytes(data)
    assert re.match(where, refusal(tmp_path / name))
    if name.endswith(("csv", "tsv")) and "does not end" not in where:
        packed = tmp_path / f"{name}.gz"
        packed.write_bytes(gzip.compress(data))
        assert re.match(where, refusal(packed))


LISTS = [[1.0, 2.0], [3.0, 4.0]]
NEEDED = (
    r": an embedding needs a column 'id' of integers or strings, and beside it a column "
    r"'embedding' of lists of floats or one column of floats a dimension; its columns are "
)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize(
    ("columns", "where"),
    [
        ({}, NEEDED + "none"),
        ({"id": [1, 2]}, NEEDED + r"id \(int64\)"),
        ({"embedding": LISTS}, NEEDED + r"embedding \(list<"),
        ({"id": [1, 2], "embedding": ["a", "b"]}, NEEDED + r"id \(int64\), embedding \(string\)"),
        ({"one": ["a", "b"], "two": ["a", "b"], "embedding": LISTS}, NEEDED + r"one \(string\), t"),
        ({"id": [1, 2], "x": LISTS, "y": LISTS}, NEEDED + r"id \(int64\), x \(list"),
        ({"id": [1, 2], "x": [1.0, 2.0], "y": ["a", "b"]}, NEEDED),
        (
            {"id": [1, 2], "embedding": [[1.0, 2.0], [3.0]]},
            r", row 1 \(2\): embedding holds 1 numb",
        ),
        ({"id": [1, 2], "embedding": [[1.0], None]}, r", row 1 \(2\): embedding is null"),
        ({"id": [1, 2], "embedding": [[1.0], [None]]}, r", row 1 \(2\): embedding holds a null"),
        ({"id": ["a", "b"], "x": [1.0, None]}, r", row 1 \('b'\): x is null"),
        (
            {"id": [1, None], "embedding": LISTS},
            r": its ids must be int64 or strings without nulls",
        ),
    ],
)
def test_a_table_that_is_no_embedding_is_refused_with_its_columns(tmp_path, suffix, columns, where):
    path, table = tmp_path / f"other{suffix}", pa.table(columns)
    if suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    assert re.match(where, refusal(path))


def test_a_table_of_pandas_without_ids_is_refused(tmp_path):
    pd.DataFrame(VECTORS, columns=["a", "b", "c"]).to_parquet(tmp_path / "a.parquet")
    assert re.match(NEEDED + r"a \(float\), b \(float\)", refusal(tmp_path / "a.parquet"))


def test_vectors_without_their_file_of_ids_are_refused(tmp_path):
    path = tmp_path / "vectors.npy"
    random_embedding().save(path)
    (tmp_path / "vectors.ids.arrow").unlink()
    assert refusal(path) == ": the file with its ids, vectors.ids.arrow, is not beside it."


def test_vectors_beside_the_ids_of_others_are_refused(tmp_path):
    random_embedding().save(tmp_path / "vectors.npy")
    np.save(tmp_path / "vectors.npy", np.zeros((3, 5), np.float32))
    assert refusal(tmp_path / "vectors.npy") == ": 3 vectors but 9 ids beside them."


def test_vectors_that_end_early_are_refused_with_the_byte(tmp_path):
    path = tmp_path / "vectors.npy"
    random_embedding().save(path)
    path.write_bytes(path.read_bytes()[:-1])
    assert refusal(path) == ": ends at byte 307, but its vectors need 308."


@pytest.mark.parametrize("vectors", [VECTORS.astype(int), VECTORS.astype(complex), VECTORS > 0])
def test_vectors_that_are_no_floats_are_refused(tmp_path, vectors):
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
        {"vectors": VECTORS, "ids": np.arange(2), "hopvec": "no JSON"},
        {"vectors": VECTORS, "ids": np.arange(2), "hopvec": "[1]"},
        {"vectors": VECTORS, "ids": np.arange(2), "hopvec": '{"parameters": 3}'},
        {"vectors": VECTORS, "ids": np.array(["a", None], object)},
    ],
    ids=lambda arrays: "-".join(arrays),
)
def test_an_npz_that_is_no_embedding_is_refused(tmp_path, arrays):
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
def test_ids_of_other_kinds_beside_vectors_are_refused(tmp_path, ids):
    path = tmp_path / "vectors.npy"
    np.save(path, VECTORS)
    table = pa.table({"id": ids})
    with pa.ipc.new_file(str(npy_format.ids_path(path)), table.schema) as writer:
        writer.write_table(table)
    assert refusal(path).startswith(": its ids must be int64 or strings without nulls")


def test_an_id_that_comes_twice_is_refused(path):
    twice = hopvec.Embedding(np.ones((3, 2), np.float32), pa.array(["b", "a", "b"]))
    twice.save(path)
    assert refusal(path) == ": the id 'b' comes more than once, and every row must have its own."
