"""Parquet and Arrow IPC, and the tables of other libraries."""

import decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_formats import edges_of, open_edges, read, reason
from hopvec import FormatError
from hopvec.formats.graphs import columnar
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.options import ReadOptions

TABLE = pa.table({"src": ["a", "b", "c"], "dst": ["b", "c", "a"], "weight": [1.0, 2.5, 4.0]})
EDGES = [("a", "b", 1.0), ("b", "c", 2.5), ("c", "a", 4.0)]


def write_ipc(table, path, stream):
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(path, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "parquet": pq.write_table,
    "arrow": lambda table, path: write_ipc(table, path, stream=False),
    "arrows": lambda table, path: write_ipc(table, path, stream=True),
    "feather": pyarrow.feather.write_feather,
}
BEGINS = {"parquet": "PAR1", "arrow": "ARROW1", "arrows": "ff ff ff ff", "feather": "ARROW1"}


@pytest.fixture(params=WRITERS)
def kind(request):
    return request.param


def written(table, directory, kind):
    path = directory / f"edges.{kind}"
    WRITERS[kind](table, path)
    return path


def test_every_columnar_file_is_recognized_by_its_first_bytes_and_read(tmp_path, kind):
    path = written(TABLE, tmp_path, kind)
    bare = path.rename(tmp_path / "edges")
    assert reason(columnar, bare) == f"it begins with {BEGINS[kind]}"
    stream = open_edges(columnar, bare)
    assert stream.metadata.pop("kind").split()[0] in ("Parquet", "Arrow")
    assert stream.metadata == {"columns": {"source": "src", "target": "dst", "weight": "weight"}}
    assert edges_of(stream) == EDGES
    assert stream.locate(2) == "row 3"


def test_requested_columns_are_used_and_others_are_reported_as_ignored(tmp_path, kind):
    table = TABLE.append_column("other", pa.array([[1], [2], [3]]))
    path = written(table, tmp_path, kind)
    stream = open_edges(columnar, path, source="dst", target=1, unweighted=True)
    assert stream.metadata["ignored"] == ["weight", "other"]
    assert edges_of(stream) == [(v, u) for u, v, _ in EDGES]


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([0, 1, 1], pa.int8()),
        pa.array([0, 1, 1], pa.uint32()),
        pa.array([0, 1, 1], pa.uint64()),
        pa.array([decimal.Decimal(0), decimal.Decimal(1), decimal.Decimal(1)], pa.decimal128(20)),
        pa.array([0, 1, 1]).dictionary_encode(),
    ],
    ids=lambda ids: str(ids.type),
)
def test_all_integers_become_64_bits_wide(tmp_path, kind, ids):
    path = written(pa.table({"source": ids, "target": ids}), tmp_path, kind)
    (batch,) = open_edges(columnar, path).batches
    assert batch.source.type == pa.int64()
    assert batch.target.to_pylist() == [0, 1, 1]


@pytest.mark.parametrize(
    "ids",
    [
        pa.array(["é", "b", "b"], pa.string_view()),
        pa.array(["é", "b", "b"]).dictionary_encode(),
        pa.array(["é".encode(), b"b", b"b"], pa.large_binary()),
    ],
    ids=lambda ids: str(ids.type),
)
def test_all_string_types_become_large_strings(tmp_path, ids):
    path = written(pa.table({"source": ids, "target": ids}), tmp_path, "arrow")
    (batch,) = open_edges(columnar, path).batches
    assert batch.source.type == pa.large_string()
    assert batch.target.to_pylist() == ["é", "b", "b"]


def test_a_missing_id_or_weight_is_left_to_read_graph(tmp_path, kind):
    table = pa.table({"source": ["a", None], "target": ["b", "c"], "weight": [None, 1.0]})
    assert read(columnar, written(table, tmp_path, kind)) == [("a", "b", None), (None, "c", 1.0)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"src": [1], "dst": [[2]]}, r"'dst' for the target holds list.*; ids are integers or"),
        ({"src": [True], "dst": [True]}, r"holds bool; ids are integers or strings"),
        ({"src": [1], "dst": [2], "weight": ["x"]}, r"'weight' holds string, but weights are num"),
        ({"src": [1]}, r"an edge needs two columns, found 1 \(src\)"),
    ],
)
def test_columns_that_cannot_hold_edges_are_refused(tmp_path, kind, columns, message):
    path = written(pa.table(columns), tmp_path, kind)
    with pytest.raises(FormatError, match=rf"edges\.{kind}: .*{message}"):
        open_edges(columnar, path)


def test_a_fraction_is_refused_with_its_row(tmp_path, kind):
    path = written(pa.table({"source": [1.0, 1.5], "target": [2, 3]}), tmp_path, kind)
    with pytest.raises(FormatError, match=r"row 2: the id 1\.5 is a fraction; ids are integers or"):
        read(columnar, path)


def test_an_id_beyond_64_bits_is_refused_with_its_row(tmp_path, kind):
    ids = pa.array([1, 2**63], pa.uint64())
    path = written(pa.table({"source": ids, "target": ids}), tmp_path, kind)
    with pytest.raises(FormatError, match=r"row 2: the id 9223372036854775808 is out of range"):
        read(columnar, path)


def test_a_missing_column_is_refused_with_a_list_of_columns(tmp_path, kind):
    path = written(TABLE, tmp_path, kind)
    with pytest.raises(FormatError, match=r"no column 'to' for the target; .* src, dst, weight"):
        open_edges(columnar, path, target="to")


def test_a_truncated_file_is_refused(tmp_path, kind):
    whole = written(TABLE, tmp_path, kind).read_bytes()
    path = tmp_path / "cut"
    for size in (9, 40, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:size])
        if kind == "arrows" and size == len(whole) - 9:
            continue  # the end mark of a stream may be missing
        with pytest.raises(FormatError, match=r"cut: damaged (Parquet|Arrow)"):
            read(columnar, path)


def test_changed_bytes_give_edges_or_a_format_error(tmp_path, kind):
    table = pa.table({"src": ["a", "bb"] * 20, "dst": pa.array(["c", "d"] * 20)})
    whole = written(table, tmp_path, kind).read_bytes()
    path = tmp_path / "changed"
    random = np.random.default_rng(1)
    for at in random.integers(8, len(whole), 60):
        path.write_bytes(whole[:at] + random.bytes(4) + whole[at + 4 :])
        try:
            read(columnar, path)
        except FormatError as error:
            assert str(error).startswith(str(path))  # noqa: PT017


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"neither Parquet nor Arrow IPC; it is empty"),
        (b"\x00rubbish", r"neither Parquet nor Arrow IPC; it begins with"),
        (b"PARExxxx", r"the Parquet file is encrypted"),
        (b"FEA1xxxx", r"Feather version 1"),
    ],
)
def test_what_is_not_columnar_is_refused(tmp_path, content, message):
    path = tmp_path / "edges.parquet"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        open_edges(columnar, path)


def test_a_compressed_file_is_read(tmp_path, kind):
    import gzip

    path = written(TABLE, tmp_path, kind)
    zipped = tmp_path / f"edges.{kind}.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert read(columnar, zipped) == EDGES


def test_batches_are_limited_for_any_size_of_row_group(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(columnar, "BATCH_ROWS", 1000)
    ids = np.arange(4500)
    path = written(pa.table({"source": ids, "target": ids[::-1]}), tmp_path, kind)
    batches = list(open_edges(columnar, path).batches)
    assert max(len(batch.source) for batch in batches) <= 1000
    assert np.concatenate([batch.source.to_numpy() for batch in batches]).tolist() == ids.tolist()


def test_progress_reaches_the_end(tmp_path):
    path = written(TABLE, tmp_path, "parquet")
    seen = []
    file = InputFile(path, progress=lambda done, size: seen.append((done, size)))
    list(columnar.read_edges(file, ReadOptions()).batches)
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_directory_is_one_table_and_other_files_are_skipped(tmp_path):
    directory = tmp_path / "edges"
    directory.mkdir()
    pq.write_table(TABLE, directory / "part-1.parquet")
    pq.write_table(TABLE.slice(0, 1), directory / "part-0.parquet")
    for name in ("_SUCCESS", "_metadata", ".part-1.parquet.crc", "notes.txt"):
        (directory / name).write_bytes(b"x")
    assert reason(columnar, directory) == "it is a directory"
    stream = open_edges(columnar, directory)
    assert (stream.metadata["files"], stream.metadata["other files"]) == (2, ["notes.txt"])
    assert edges_of(stream) == [EDGES[0], *EDGES]
    assert stream.locate(0) == "part-0.parquet, row 1"
    assert stream.locate(3) == "part-1.parquet, row 3"


def test_partition_directories_are_columns(tmp_path):
    pq.write_to_dataset(
        pa.table({"source": ["a", "b", "c"], "to": [1, 2, 3], "year": [7, 7, 8]}),
        tmp_path,
        partition_cols=["year", "source"],
    )
    assert sorted(read(columnar, tmp_path)) == [("a", 1), ("b", 2), ("c", 3)]
    assert sorted(read(columnar, tmp_path, source="year")) == [(7, 1), (7, 2), (8, 3)]


def test_a_null_partition_is_a_missing_id(tmp_path):
    directory = tmp_path / "source=__HIVE_DEFAULT_PARTITION__"
    directory.mkdir()
    pq.write_table(pa.table({"target": [1]}), directory / "part-0.parquet")
    assert read(columnar, tmp_path) == [(None, 1)]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (TABLE.drop(["dst"]), r"part-1\.parquet: there is no column 'dst', unlike in part-0"),
        (pa.table({"src": [1], "dst": [2], "weight": [1]}), r"part-1.*integers in some files"),
        (pa.table({"src": [1.5], "dst": [2], "weight": [1]}), r"part-1.*the id 1\.5 is a fraction"),
    ],
)
def test_files_of_a_directory_with_different_columns_are_refused(tmp_path, second, message):
    pq.write_table(TABLE, tmp_path / "part-0.parquet")
    pq.write_table(second, tmp_path / "part-1.parquet")
    with pytest.raises(FormatError, match=message):
        read(columnar, tmp_path)


def test_a_damaged_file_of_a_directory_is_named(tmp_path):
    pq.write_table(TABLE, tmp_path / "part-0.parquet")
    (tmp_path / "part-1.parquet").write_bytes(b"PAR1")
    with pytest.raises(FormatError, match=r"part-1\.parquet: damaged Parquet data \("):
        read(columnar, tmp_path)


def test_a_directory_without_parquet_is_refused_with_its_content(tmp_path):
    with pytest.raises(FormatError, match=r"must contain Parquet files, but it is empty"):
        open_edges(columnar, tmp_path)
    (tmp_path / "edges.csv").write_text("a,b")
    with pytest.raises(FormatError, match=r"must contain Parquet files, but it holds edges\.csv"):
        open_edges(columnar, tmp_path)


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        TABLE.to_reader(),
        TABLE.to_pandas(),
        TABLE.to_pandas().set_index(pd.Index([7, 8, 9])),
        pl.from_arrow(TABLE),
        duckdb.from_arrow(TABLE),
        pa.chunked_array([TABLE.to_struct_array().combine_chunks()]),
    ],
    ids=["pyarrow", "reader", "pandas", "pandas index", "polars", "duckdb", "structs"],
)
def test_the_tables_of_other_libraries_are_streams_of_edges(table):
    assert edges_of(columnar.from_stream(table)) == EDGES


@given(
    st.lists(st.tuples(st.text(), st.text(), st.floats(0, 1e9)), max_size=20),
    st.sampled_from(list(WRITERS)),
)
def test_any_table_round_trips(tmp_path_factory, rows, kind):
    source, target, weight = zip(*rows, strict=True) if rows else ((), (), ())
    table = pa.table(
        {
            "source": pa.array(source, pa.string()),
            "target": pa.array(target, pa.string()),
            "weight": pa.array(weight, pa.float64()),
        }
    )
    path = written(table, tmp_path_factory.mktemp("any"), kind)
    assert read(columnar, path) == rows
