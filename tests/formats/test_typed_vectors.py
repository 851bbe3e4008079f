"""Types of nodes in files and tables of vectors: a column `type` beside the ids."""

import csv
import hashlib

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hopvec
from hopvec import Embedding, Graph
from hopvec.formats import read_preview
from hopvec.formats.positions import read_positions, write_positions
from hopvec.formats.recognize import holds_embedding
from saved_embeddings import SUFFIXES, WHITESPACE_FORMATS, WORDS, random_embedding

TYPES = ["x", None, 'a "b", c', "é\n", "x", "日", "x", None, "y"]
TYPED = [suffix for suffix in SUFFIXES if suffix not in WHITESPACE_FORMATS]


def typed_embedding(types=TYPES):
    plain = random_embedding(WORDS)
    return Embedding(plain.vectors, plain.ids, plain.parameters, plain.graph, types=types)


@pytest.mark.parametrize("suffix", TYPED)
def test_types_are_loaded_as_they_were_saved(suffix, tmp_path):
    path, embedding = tmp_path / f"vectors{suffix}", typed_embedding()
    embedding.save(path)
    loaded = hopvec.load(path)
    assert loaded.types.to_pylist() == TYPES
    assert loaded.ids.to_pylist() == WORDS.to_pylist()
    assert np.array_equal(loaded.vectors, embedding.vectors)
    assert holds_embedding(path)
    assert read_preview(path).embedding.types.to_pylist()[:4] == TYPES[:4]


@pytest.mark.parametrize("suffix", sorted(WHITESPACE_FORMATS))
def test_word2vec_files_have_no_types(suffix, tmp_path):
    typed_embedding().save(tmp_path / f"vectors{suffix}")
    assert hopvec.load(tmp_path / f"vectors{suffix}").types is None


def test_large_files_are_read_in_batches_with_all_types(tmp_path):
    nodes = 30_000
    types = [f"type {at // 1000}" for at in range(nodes)]
    vectors = np.random.default_rng(0).random((nodes, 256), np.float32)
    embedding = Embedding(vectors, pa.array(range(nodes)), types=types)
    for suffix in (".parquet", ".arrow", ".csv"):
        embedding.save(tmp_path / f"vectors{suffix}")
        assert hopvec.load(tmp_path / f"vectors{suffix}").types.to_pylist() == types


def test_other_programs_read_the_column(tmp_path):
    path = tmp_path / "vectors.parquet"
    typed_embedding().save(path)
    assert pq.read_schema(path).names == ["id", "type", "embedding"]
    assert pq.read_table(path)["type"].to_pylist() == TYPES
    assert polars.read_parquet(path)["type"].to_list() == TYPES
    found = duckdb.sql(f"SELECT type FROM '{path}'").fetchall()
    assert [type_ for (type_,) in found] == TYPES
    typed_embedding().save(tmp_path / "vectors.csv")
    with (tmp_path / "vectors.csv").open(newline="") as file:
        assert [row["type"] for row in csv.DictReader(file)] == [type_ or "" for type_ in TYPES]


def test_a_type_column_of_another_program_is_read(tmp_path):
    table = pa.table({"name": ["a", "b"], "x": [0.5, 1.0], "type": ["u", "v"], "y": [1.0, 2.0]})
    pq.write_table(table, tmp_path / "vectors.parquet")
    loaded = hopvec.load(tmp_path / "vectors.parquet")
    assert loaded.types.to_pylist() == ["u", "v"]
    assert loaded["b"].tolist() == [1, 2]


def test_tables_have_a_column_of_types():
    embedding = typed_embedding()
    assert embedding.to_arrow().column_names == ["id", "type", "embedding"]
    assert embedding.to_arrow(as_list=False).column_names[:3] == ["id", "type", "e0"]
    assert embedding.to_polars()["type"].to_list() == TYPES
    frame = embedding.to_pandas()
    assert frame["type"].astype(object).where(frame["type"].notna(), None).tolist() == TYPES
    assert embedding.to_pandas(as_list=True).columns.tolist() == ["type", "embedding"]
    assert Embedding.from_pandas(frame).types.to_pylist() == TYPES
    assert Embedding.from_arrow(embedding.to_arrow()).types.to_pylist() == TYPES
    assert Embedding.from_arrow(embedding.to_arrow(as_list=False)).types.to_pylist() == TYPES
    assert "<td>日</td>" not in embedding._repr_html_()  # only the first rows
    assert "<th>type</th>" in embedding._repr_html_()


def test_positions_are_stored_beside_types(tmp_path):
    path, embedding = tmp_path / "vectors.parquet", typed_embedding()
    embedding.save(path)
    write_positions(path, np.zeros((len(embedding), 2), np.float32))
    assert hopvec.load(path).types.to_pylist() == TYPES
    assert read_positions(path).shape == (len(embedding), 2)


@pytest.mark.parametrize("suffix", [*TYPED, ".txt"])
def test_without_types_files_have_the_bytes_of_before(suffix, tmp_path):
    plain, none = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    random_embedding(WORDS).save(plain)
    typed_embedding([None] * len(TYPES)).save(none)
    digests = [hashlib.sha256(path.read_bytes()).digest() for path in (plain, none)]
    assert digests[0] == digests[1]
    assert hopvec.load(plain).types is None
    assert "type" not in random_embedding(WORDS).to_arrow().column_names


def test_a_file_of_typed_vectors_is_not_read_as_a_graph(tmp_path):
    for suffix in (".parquet", ".csv"):
        typed_embedding().save(tmp_path / f"vectors{suffix}")
        with pytest.raises(hopvec.FormatError, match="vectors"):
            hopvec.read_graph(tmp_path / f"vectors{suffix}")
    with pytest.raises(hopvec.FormatError):
        Graph.from_arrow(typed_embedding().to_arrow())
