"""Positions are stored with the vectors; everything else in the file is unchanged."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hopvec
from hopvec.errors import FormatError, ParameterError
from hopvec.formats.positions import read_positions, write_positions
from saved_embeddings import INTEGERS, STRINGS, directory_contents, random_embedding, same_embedding

PLANE = np.float32([[number, -number / 2] for number in range(len(STRINGS))])


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
@pytest.mark.parametrize("ids", [STRINGS, INTEGERS], ids=["strings", "integers"])
def test_vectors_ids_and_parameters_are_unchanged(tmp_path, suffix, ids):
    path, embedding = tmp_path / f"vectors{suffix}", random_embedding(ids)
    embedding.save(path)
    assert read_positions(path) is None
    plane = PLANE[: len(ids)].copy()
    plane[2] = np.nan
    write_positions(path, plane)
    np.testing.assert_array_equal(read_positions(path), plane)
    assert same_embedding(hopvec.load(path), embedding, path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_float16_and_additional_columns_are_preserved(tmp_path):
    path, embedding = tmp_path / "vectors.parquet", random_embedding()
    embedding.save(path, dtype="float16")
    table = pq.read_table(path).append_column("section", pa.array(["a"] * len(embedding)))
    pq.write_table(table, path)
    write_positions(path, PLANE[: len(embedding)])
    write_positions(path, PLANE[: len(embedding)] + 1)  # replaces the first
    found = pq.read_table(path)
    assert found.column_names == ["id", "embedding", "section", "x", "y"]
    assert found.schema.field("embedding").type.value_type == pa.float16()
    assert found.column("x").to_pylist() == [1 + n for n in range(len(embedding))]
    assert hopvec.load(path).parameters == embedding.parameters


def test_output_leaves_the_original_file_unchanged(tmp_path):
    path, other = tmp_path / "vectors.parquet", tmp_path / "mapped.parquet"
    random_embedding().save(path)
    before = path.read_bytes()
    calls = []
    write_positions(
        path,
        PLANE[: len(random_embedding())],
        output=other,
        progress=lambda *arguments: calls.append(arguments),
    )
    assert path.read_bytes() == before
    assert read_positions(other).shape == (len(random_embedding()), 2)
    assert calls[-1] == (len(random_embedding()), len(random_embedding()))


@pytest.mark.parametrize(
    ("name", "count", "kind", "message"),
    [
        ("vectors.npz", 9, FormatError, "in .parquet and .arrow files only. Convert the file"),
        ("none.parquet", 9, FormatError, "there is no such file"),
        ("vectors.parquet", 3, ParameterError, "one position for each of the 9 vectors, got 3"),
        ("wide.parquet", 2, FormatError, "x and y would be read as two more dimensions"),
        ("broken.parquet", 2, FormatError, "damaged Parquet data"),
    ],
)
def test_a_file_that_cannot_hold_positions_is_refused_and_unchanged(
    tmp_path, name, count, kind, message
):
    random_embedding().save(tmp_path / "vectors.parquet")
    random_embedding().save(tmp_path / "vectors.npz")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nothing")
    pq.write_table(
        pa.table({"id": [1, 2], "e0": [0.5, 1], "e1": [1, 0.5]}), tmp_path / "wide.parquet"
    )
    before = directory_contents(tmp_path)
    with pytest.raises(kind, match=message):
        write_positions(tmp_path / name, PLANE[:count])
    assert directory_contents(tmp_path) == before
