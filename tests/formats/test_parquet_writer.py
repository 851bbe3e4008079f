"""The Parquet writer produces files equivalent to those of pyarrow."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hopvec import Embedding
from hopvec.formats import blocks, parquet_writer
from hopvec.formats.table import batches_of, schema_of
from saved_embeddings import INTEGERS, STRINGS


def random_embedding(ids, count, dim):
    vectors = np.random.default_rng(dim).standard_normal((count, dim)).astype(np.float32)
    # Ids repeat here. Those of a run do not, so with its metadata they are not compared.
    repeated = ids.take(np.arange(count) % len(ids))
    return Embedding(vectors, repeated, {"dim": dim}, {"nodes": count})


def saved(embedding, path, dtype="float32"):
    embedding.save(path, dtype=dtype)
    return pq.ParquetFile(path, page_checksum_verification=True)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("ids", [STRINGS, INTEGERS], ids=["strings", "integers"])
@pytest.mark.parametrize(
    ("count", "dim"), [(0, 3), (1, 1), (1, 2), (7, 1), (100, 9), (50, 64), (3, 65536), (301, 128)]
)
def test_pyarrow_reads_the_table_that_was_written(tmp_path, monkeypatch, count, dim, ids, dtype):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 20_000)
    monkeypatch.setattr(parquet_writer, "PAGE_BYTES", 3_000)
    embedding = random_embedding(ids, count, dim)
    schema = schema_of(embedding, dtype)
    expected = pa.Table.from_batches(batches_of(embedding, dtype), schema)
    found = saved(embedding, tmp_path / "vectors.parquet", dtype).read()
    found.validate(full=True)
    assert found.equals(expected)
    assert found.schema.equals(schema, check_metadata=True)


def test_the_footer_is_equivalent_to_that_of_pyarrow(tmp_path):
    embedding = random_embedding(INTEGERS, 300, 70)
    table = pa.Table.from_batches(batches_of(embedding), schema_of(embedding))
    pq.write_table(table, tmp_path / "theirs", use_dictionary=False, compression={"id": "zstd"})
    ours, theirs = (
        pq.ParquetFile(path).metadata
        for path in (
            saved(embedding, tmp_path / "ours.parquet") and tmp_path / "ours.parquet",
            tmp_path / "theirs",
        )
    )
    assert ours.schema.equals(theirs.schema)
    assert ours.created_by == theirs.created_by
    assert (ours.num_rows, ours.num_row_groups) == (300, 1)
    for number, statistics in ((0, True), (1, False)):
        found, expected = (footer.row_group(0).column(number) for footer in (ours, theirs))
        for field in ("path_in_schema", "physical_type", "compression", "num_values"):
            assert getattr(found, field) == getattr(expected, field)
        assert set(found.encodings) == set(expected.encodings)
        assert found.is_stats_set == statistics
    ids = ours.row_group(0).column(0).statistics
    assert (ids.min, ids.max, ids.null_count) == (-(2**63), 2**63 - 1, 0)


def test_a_row_group_can_be_read_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 400)
    embedding = random_embedding(STRINGS, 35, 10)
    file = saved(embedding, tmp_path / "vectors.parquet")
    assert file.num_row_groups == 4
    last = file.read_row_group(3)
    assert last["id"].to_pylist() == embedding.ids[30:].to_pylist()
    assert (np.array(last["embedding"].to_pylist(), np.float32) == embedding.vectors[30:]).all()


def test_every_page_has_a_checksum(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_writer, "PAGE_BYTES", 400)
    embedding = random_embedding(INTEGERS, 30, 10)
    path = tmp_path / "vectors.parquet"
    column = saved(embedding, path).metadata.row_group(0).column(1)
    data = bytearray(path.read_bytes())
    for row in (0, 15, 29):
        at = data.index(embedding.vectors[row].tobytes())
        assert column.data_page_offset < at < column.data_page_offset + column.total_compressed_size
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(OSError, match="CRC checksum"):
            pq.ParquetFile(path, page_checksum_verification=True).read()


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_vectors_are_saved_without_loading_pandas(tmp_path, suffix):
    code = (
        "import sys, numpy, pyarrow, hopvec\n"
        "graph = hopvec.read_graph(sys.argv[1])\n"
        "hopvec.FastRP(dim=4).embed(graph).save(sys.argv[2])\n"
        "assert 'pandas' not in sys.modules\n"
    )
    for name, edges in (("strings", "a,b\nb,c\n"), ("numbers", "1,2,0.5\n2,3,4\n")):
        path = tmp_path / f"{name}.csv"
        path.write_text(edges)
        subprocess.run([sys.executable, "-c", code, path, tmp_path / f"{name}{suffix}"], check=True)
