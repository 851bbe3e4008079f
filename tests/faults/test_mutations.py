"""Files that random damage found; see tests/fuzz. Each once ended with an error of another kind."""

import gzip
import io
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import hopvec
from hopvec import Embedding, FormatError, Graph, GraphError
from hopvec.cli.program import hopvec as program
from hopvec.formats.features import read_features
from hopvec.formats.positions import read_positions
from hopvec.formats.recognize import holds_embedding
from hopvec.graph.ids import numpy_view
from hopvec.snapshots.manifest import Manifest


@pytest.mark.parametrize("damage", ["truncated", "changed"])
@pytest.mark.parametrize("name", ["edges.csv.gz", "edges.tsv.gz", "graph.gml.gz"])
def test_damaged_gzip_data_are_refused_by_info(tmp_path, name, damage):
    path = tmp_path / name
    data = bytearray(gzip.compress(b"source,target\n" + bytes(range(65, 90)) * 9 + b"\na,b\n" * 9))
    if damage == "truncated":
        path.write_bytes(data[:20])
    else:
        path.write_bytes(data[:11] + b"\xff" * 9 + data[20:])
    assert not holds_embedding(path)
    result = CliRunner().invoke(program, ["info", str(path)])
    assert result.exit_code == 2
    assert str(path) in result.output


CODES = [0x110000, 0xD800]  # beyond Unicode, and a surrogate


@pytest.mark.parametrize("code", CODES, ids=hex)
def test_strings_of_arrays_that_are_not_unicode_are_refused(tmp_path, code):
    wrong = np.array([97, code], np.uint32).view("U1")
    np.savez(tmp_path / "vectors.npz", vectors=np.eye(2, dtype=np.float32), ids=wrong)
    np.savez(tmp_path / "edges.npz", src=wrong, dst=wrong)
    np.savez(tmp_path / "labels.npz", label=[0, 1], label_names=wrong)
    reads = {"vectors": hopvec.load, "edges": hopvec.read_graph, "labels": hopvec.read_labels}
    for name, read in reads.items():
        with pytest.raises(FormatError, match=rf"{name}\.npz: .* not valid Unicode"):
            read(tmp_path / f"{name}.npz")


def test_headers_of_python_2_are_read_without_a_warning(tmp_path, recwarn):
    hopvec.FastRP(dim=4).embed(Graph.from_edges([0], [1])).save(tmp_path / "vectors.npy")
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 4L)}".ljust(117) + b"\n"
    array = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    (tmp_path / "vectors.npy").write_bytes(array + bytes(32))
    assert hopvec.load(tmp_path / "vectors.npy").vectors.shape == (2, 4)
    assert not recwarn.list


@pytest.mark.parametrize("name", ["snapshots.json", "params.json"])
def test_json_that_is_nested_too_deeply_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text('{"settings": ' + "[" * 100_000)
    if name == "snapshots.json":
        with pytest.raises(FormatError, match="not the manifest of snapshots"):
            Manifest.open(tmp_path, {}, force=False)
        return
    (tmp_path / "edges.csv").write_text("a,b\nb,c\n")
    arguments = ["embed", str(tmp_path / "edges.csv"), "--params", str(path), "-o"]
    result = CliRunner().invoke(program, [*arguments, str(tmp_path / "x.npy")])
    assert result.exit_code == 2
    assert "this is not a parameter file" in result.output


def test_ids_of_half_precision_are_read_without_a_warning(recwarn):
    ids = pa.array(np.array([0, 1, 2], np.float16))
    assert hopvec.Labels.from_pairs(ids, ["a", "b", "c"]).ids.to_pylist() == [0, 1, 2]
    assert Graph.from_edges(ids, ids).nodes == 3
    with pytest.raises(GraphError):
        Graph.from_edges(pa.array(np.array([np.inf], np.float16)), [1])
    assert not recwarn.list


@pytest.mark.parametrize(("field", "value"), [(6, 255), (8, 1)], ids=["version 25.5", "encrypted"])
def test_archives_that_cannot_be_opened_are_refused(tmp_path, field, value):
    path = tmp_path / "edges.npz"
    np.savez(path, src=[0, 1], dst=[1, 2])
    data = bytearray(path.read_bytes())
    for entry in (data.find(b"PK\1\2"), data.rfind(b"PK\1\2")):  # of the central directory
        data[entry + field] = value
    path.write_bytes(data)
    assert not holds_embedding(path)
    with pytest.raises(FormatError, match=r"edges\.npz"):
        hopvec.read_graph(path)
    assert CliRunner().invoke(program, ["info", str(path)]).exit_code == 2


def test_positions_beyond_float32_are_infinite_without_a_warning(tmp_path, recwarn):
    columns = {
        "id": [1, 2],
        "embedding": [[1.0, 2.0], [3.0, 4.0]],
        "x": [1e308, 1.0],
        "y": [0.0, 1],
    }
    pq.write_table(pa.table(columns), tmp_path / "vectors.parquet")
    assert read_positions(tmp_path / "vectors.parquet").tolist() == [[np.inf, 0], [1, 1]]
    assert not recwarn.list


def test_escape_sequences_in_headers_give_no_warning(tmp_path, recwarn):
    hopvec.FastRP(dim=4).embed(Graph.from_edges([0], [1])).save(tmp_path / "vectors.npy")
    data = (tmp_path / "vectors.npy").read_bytes()
    (tmp_path / "vectors.npy").write_bytes(data.replace(b"'shape'", b"'\\shap'"))
    with pytest.raises(FormatError, match=r"vectors\.npy"):
        hopvec.load(tmp_path / "vectors.npy")
    assert not recwarn.list


def test_a_buffer_may_be_longer_than_its_numbers_by_any_number_of_bytes():
    data = pa.py_buffer(np.array([1.0, 2.0, 3.0]).tobytes() + b"abc")
    numbers = pa.Array.from_buffers(pa.float64(), 2, [None, data], offset=1)
    numbers.validate(full=True)
    assert numpy_view(numbers).tolist() == [2.0, 3.0]


HEADERS = [b"{'descr': '<i8', ((((", b"!", b'"""', b"[" * 60]


@pytest.mark.parametrize("wrong", HEADERS)
def test_a_damaged_header_of_an_array_is_refused(tmp_path, wrong):
    right = io.BytesIO()
    np.save(right, np.array([0, 1]))
    data = bytearray(right.getvalue())
    data[10 : 10 + len(wrong)] = wrong
    for name in ("labels", "edges"):
        with zipfile.ZipFile(tmp_path / f"{name}.npz", "w") as archive:
            for member in ("label", "src", "dst"):
                archive.writestr(f"{member}.npy", bytes(data))
    with pytest.raises(FormatError, match=r"labels\.npz: the array 'label' cannot be read"):
        hopvec.read_labels(tmp_path / "labels.npz")
    with pytest.raises(FormatError, match=r"edges\.npz: the array 'src' cannot be read"):
        hopvec.read_graph(tmp_path / "edges.npz")


def test_columns_of_unions_are_refused(tmp_path):
    path = tmp_path / "table.arrow"
    types = pa.array([0, 1], pa.int8())
    union = pa.UnionArray.from_sparse(types, [pa.array([1, 2]), pa.array(["a", "b"])])
    table = pa.table({"id": [1, 2], "mixed": union})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(FormatError, match=r"table\.arrow"):
        read_features(path)


@pytest.mark.parametrize("text", ["b\nc\n", "1\nb 0", '"\nb 0', "a\n\n\nb"])
def test_a_first_line_of_one_cell_is_no_header_of_edges(tmp_path, text):
    path = tmp_path / "edges.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"edges\.txt"):
        hopvec.read_graph(path)


def test_column_names_that_are_not_utf8_are_refused(tmp_path):
    path = tmp_path / "table.arrow"
    table = pa.table({"id": [1, 2], "naïve": ["a", "b"]})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    path.write_bytes(path.read_bytes().replace("naïve".encode(), b"na\xec\xecve"))
    for read in (read_features, hopvec.read_labels):
        with pytest.raises(FormatError, match=r"table\.arrow: damaged Arrow file data"):
            read(path)


def test_indices_beyond_64_bits_are_refused_with_their_line(tmp_path):
    path = tmp_path / "matrix.mtx"
    header = "%%MatrixMarket matrix coordinate real symmetric\n9 9 2\n"
    path.write_text(header + "2 1 1\n6 9223372036854775808 6\n")
    with pytest.raises(FormatError, match=r"line 4: rows and columns must be integers from 1 to 9"):
        hopvec.read_graph(path)


NESTED = [
    pa.array([{"a": "x"}] * 3),
    pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int8())),
    pa.array([["a"]] * 3, pa.list_view(pa.string())),
    pa.array([[["a"]]] * 3),
]


@pytest.mark.parametrize("column", NESTED, ids=lambda column: str(column.type))
def test_nested_columns_of_features_are_refused_with_their_type(column):
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    for table in ({"x": column}, {"id": ["a", "b", "c"], "x": column}):
        with pytest.raises(GraphError, match=r"the column 'x(\.0)?' has the type"):
            graph.with_features(pa.table(table))


def test_lists_of_strings_are_no_ids_of_features():
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    lists = pa.table({"x": [["a"], ["b"], ["c"]]})
    assert graph.with_features(lists).describe()["features"]


def test_ids_that_are_not_text_are_not_saved(tmp_path):
    ids = pa.array([b"a", b"\xff"], pa.large_binary()).view(pa.large_string())
    with pytest.raises(FormatError, match=r"vectors\.npy: an id is not UTF-8 text"):
        Embedding(np.eye(2, dtype=np.float32), ids).save(tmp_path / "vectors.npy")
