"""pandas, polars, DuckDB and NumPy read the files of hopvec, and hopvec reads theirs."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hopvec
from hopvec import Embedding
from saved_embeddings import random_embedding

NAMES = ["b", "é", 'say "hi"', "a,b", "007"]


@pytest.fixture
def embedding():
    return random_embedding(pa.array(NAMES, pa.large_string()), dim=4)


def test_pandas_reads_csv_with_the_ids_as_index(tmp_path, embedding):
    embedding.save(tmp_path / "vectors.csv")
    frame = pd.read_csv(tmp_path / "vectors.csv", index_col="id")
    assert frame.index.tolist() == NAMES
    assert frame.columns.tolist() == ["e0", "e1", "e2", "e3"]
    assert (frame.to_numpy(np.float32) == embedding.vectors).all()


@pytest.mark.parametrize("name", ["vectors.tsv", "vectors.tsv.gz"])
def test_polars_reads_tsv(tmp_path, embedding, name):
    embedding.save(tmp_path / name)
    frame = pl.read_csv(tmp_path / name, separator="\t", infer_schema_length=None)
    assert frame["id"].to_list() == NAMES
    assert (frame.drop("id").to_numpy().astype(np.float32) == embedding.vectors).all()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_pandas_polars_and_duckdb_read_parquet(tmp_path, embedding, dtype):
    path = tmp_path / "vectors.parquet"
    embedding.save(path, dtype=dtype)
    expected = embedding.vectors.astype(dtype)
    frame = pd.read_parquet(path)
    assert frame["id"].tolist() == NAMES
    assert (np.stack(frame["embedding"]) == expected).all()
    assert (pl.read_parquet(path)["embedding"].to_numpy() == expected).all()
    rows = duckdb.sql(f"SELECT id, embedding FROM '{path}'").fetchall()
    assert [row[0] for row in rows] == NAMES
    assert (np.array([row[1] for row in rows], dtype) == expected).all()


@pytest.mark.parametrize("suffix", [".arrow", ".feather"])
def test_pandas_and_polars_read_arrow(tmp_path, embedding, suffix):
    path = tmp_path / f"vectors{suffix}"
    embedding.save(path)
    assert (np.stack(pd.read_feather(path)["embedding"]) == embedding.vectors).all()
    assert (pl.read_ipc(path)["embedding"].to_numpy() == embedding.vectors).all()


def test_numpy_memory_maps_npy_and_reads_npz(tmp_path, embedding):
    embedding.save(tmp_path / "vectors.npy")
    embedding.save(tmp_path / "vectors.npz")
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    assert isinstance(mapped, np.memmap)
    assert (mapped == embedding.vectors).all()
    with np.load(tmp_path / "vectors.npz") as arrays:
        assert arrays["ids"].tolist() == NAMES
        assert (arrays["vectors"] == embedding.vectors).all()


@pytest.mark.parametrize("small", [False, True])
def test_large_vectors_of_npy_are_memory_mapped(tmp_path, embedding, monkeypatch, small):
    embedding.save(tmp_path / "vectors.npy")
    size = (tmp_path / "vectors.npy").stat().st_size
    monkeypatch.setattr("hopvec.formats.npy.SMALL_FILE", size if small else size - 1)
    assert isinstance(hopvec.load(tmp_path / "vectors.npy").vectors, np.memmap) != small


def wide(vectors):
    return {f"x{number}": vectors[:, number] for number in range(vectors.shape[1])}


WRITERS = {
    "pandas lists": lambda path, vectors: pd.DataFrame(
        {"id": NAMES, "embedding": list(vectors)}
    ).to_parquet(path),
    "pandas index": lambda path, vectors: pd.DataFrame(wide(vectors), index=NAMES).to_parquet(path),
    "pandas doubles": lambda path, vectors: pd.DataFrame(
        {"id": NAMES} | wide(vectors.astype(np.float64))
    ).to_parquet(path),
    "polars arrays": lambda path, vectors: pl.DataFrame(
        {"node": NAMES, "vector": vectors}
    ).write_parquet(path),
    "polars lists": lambda path, vectors: pl.DataFrame(
        {"vector": vectors.tolist(), "node": pl.Series(NAMES, dtype=pl.Categorical)}
    ).write_parquet(path),
    "polars with more": lambda path, vectors: pl.DataFrame(
        {"title": NAMES, "id": NAMES, "embedding": vectors, "other": vectors}
    ).write_parquet(path),
    "polars ipc": lambda path, vectors: pl.DataFrame({"id": NAMES, "embedding": vectors}).write_ipc(
        path
    ),
    "pandas feather": lambda path, vectors: pd.DataFrame({"id": NAMES} | wide(vectors)).to_feather(
        path
    ),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_tables_of_other_programs_are_read_if_the_columns_are_unambiguous(
    tmp_path, embedding, write
):
    write(tmp_path / "other.parquet", embedding.vectors)
    loaded = hopvec.load(tmp_path / "other.parquet")
    assert loaded.ids.equals(embedding.ids)
    assert loaded.vectors.tobytes() == embedding.vectors.tobytes()
    assert loaded.parameters == loaded.graph == {}


def test_a_table_written_by_duckdb_is_read(tmp_path):
    path = tmp_path / "other.parquet"
    duckdb.sql(f"COPY (SELECT 3::UTINYINT AS id, [0.5, 2]::FLOAT[2] AS v) TO '{path}'")
    loaded = hopvec.load(path)
    assert loaded.ids.to_pylist() == [3]
    assert loaded.ids.type == pa.int64()
    assert loaded.vectors.tolist() == [[0.5, 2]]


@pytest.mark.parametrize("columns", [None, ["e0", "e1", "e2", "e3"]])
def test_csv_written_by_pandas_with_its_index_is_read(tmp_path, embedding, columns):
    path = tmp_path / "other.csv"
    pd.DataFrame(embedding.vectors, index=NAMES, columns=columns).to_csv(path)
    loaded = hopvec.load(path)
    assert loaded.ids.to_pylist() == NAMES
    assert loaded.vectors.tobytes() == embedding.vectors.tobytes()


def test_csv_with_the_ids_in_any_column_is_read(tmp_path):
    (tmp_path / "other.csv").write_bytes(b"\xef\xbb\xbfx,id,y\r\n1,-7,2.5\r\n\r\nnan,8,INF\r\n")
    loaded = hopvec.load(tmp_path / "other.csv")
    assert loaded.ids.to_pylist() == [-7, 8]
    assert loaded.ids.type == pa.int64()
    np.testing.assert_array_equal(loaded.vectors, [[1, 2.5], [np.nan, np.inf]])


@pytest.mark.parametrize("dtype", [np.float64, ">f4", np.float16])
def test_arrays_of_other_floats_are_read_as_float32(tmp_path, embedding, dtype):
    vectors = embedding.vectors.astype(np.float16).astype(dtype)
    embedding.save(tmp_path / "vectors.npy")
    np.save(tmp_path / "vectors.npy", np.asfortranarray(vectors))
    loaded = hopvec.load(tmp_path / "vectors.npy").vectors
    assert loaded.dtype == np.float32
    assert loaded.flags.c_contiguous
    assert (loaded == vectors).all()


def test_a_chain_of_conversions_preserves_the_embedding(tmp_path):
    embedding = random_embedding(pa.array([3, 1, 2]))
    steps = ["a.csv", "b.bin", "c.parquet", "d.tsv.gz", "e.npz", "f.txt", "g.feather", "h.npy"]
    current: Embedding = embedding
    for name in steps:
        current.save(tmp_path / name)
        current = hopvec.load(tmp_path / name)
    assert current.ids.equals(embedding.ids)
    assert current.vectors.tobytes() == embedding.vectors.tobytes()
