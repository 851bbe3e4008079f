"""read_labels: every format, and its error messages."""

import bz2
import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

import hopvec
from hopvec import FormatError

PAIRS = {"ann": {"red"}, "bob": {"red", "blue"}, "cem": set()}


def members(labels):
    """Node id -> its classes."""
    names = np.array(labels.classes, object)
    rows = labels.matrix.toarray()
    return {id_: set(names[row]) for id_, row in zip(labels.ids.to_pylist(), rows, strict=True)}


@pytest.fixture
def labels_of(tmp_path):
    """Writes text to a file and reads its labels."""

    def read(text, name="labels.csv", **options):
        (tmp_path / name).write_text(text)
        return hopvec.read_labels(tmp_path / name, **options)

    return read


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("node,label\nann,red\nbob,red\nbob,blue\ncem,\n", {}),
        ("ann,red\nbob,red\nbob,blue\nbob,red\ncem,\n", {}),
        ("id\tclass\nann\tred\nbob\tred|blue\ncem\t\n", {}),
        ("name;group\nann;red\nbob;red| blue\ncem;\n", {}),
        ("age,name,color\n7,ann,red\n8,bob,red;blue\n9,cem,\n", {"label_column": "color"}),
        ("red,1,ann\nred;blue,2,bob\n,3,cem\n", {"id_column": 3, "label_column": 1}),
        ("ann,red\nbob,red/blue\ncem,\n", {"label_separator": "/"}),
        ('"ann","red"\n"bob","red;blue"\n"cem",""\n', {}),
        ("page,topic\nann,red\nbob,red;blue\ncem,\n", {"header": True}),
        ("// colors\nann,red\nbob,red;blue\ncem,\n", {"comment": "//"}),
    ],
)
def test_text_of_any_dialect_is_read(labels_of, text, options):
    assert members(labels_of(text, **options)) == PAIRS


def test_the_adjacency_format_reads_lines_of_a_node_and_its_labels(labels_of):
    labels = labels_of("1 4 5\n2 4\n3 6 5 4\n", "labels.txt", format="adjacency")
    assert members(labels) == {1: {"4", "5"}, 2: {"4"}, 3: {"4", "5", "6"}}


def test_lines_of_several_labels_are_refused_with_advice(labels_of):
    message = "If each line holds a node and its labels, use format='adjacency'"
    with pytest.raises(FormatError, match=message):
        labels_of("1 4\n2 4\n3 4\n4 5 6\n", "labels.txt")


@pytest.mark.parametrize(("compression", "suffix"), [(gzip, ".gz"), (bz2, ".bz2")])
def test_compressed_text_is_read(tmp_path, compression, suffix):
    path = tmp_path / f"labels.csv{suffix}"
    path.write_bytes(compression.compress(b"node,label\n1,x\n2,y\n"))
    assert members(hopvec.read_labels(path)) == {1: {"x"}, 2: {"y"}}


def test_a_first_line_with_a_unique_label_is_a_header(labels_of):
    lines = [f"n{number},{'ab'[number % 2]}" for number in range(12)]
    assert set(labels_of("\n".join(["Article,Subject", *lines])).classes) == {"a", "b"}
    assert set(labels_of("\n".join(["n99,c", *lines, "n98,c"])).classes) == {"a", "b", "c"}


def test_a_label_separator_is_detected_only_if_labels_recur(labels_of):
    found = labels_of("1,red;blue\n2,red\n3,blue\n")
    assert found.classes == ("blue", "red")
    assert found.origin["label separator"] == ";"
    names = labels_of("1,sales; north\n2,research; south\n3,legal\n")
    assert names.classes == ("legal", "research; south", "sales; north")
    assert "label separator" not in names.origin


def test_an_empty_label_separator_does_not_split_cells(labels_of):
    assert labels_of("1,red;blue\n2,red\n3,blue\n", label_separator="").classes == (
        "blue",
        "red",
        "red;blue",
    )


def test_ids_are_integers_if_all_of_them_are(labels_of):
    assert labels_of("7,x\n8,y\n").ids.to_pylist() == [7, 8]
    assert labels_of("007,x\n8,y\n").ids.to_pylist() == ["007", "8"]


def test_the_origin_records_columns_format_and_separator(labels_of):
    origin = labels_of("age,name,label\n7,ann,red\n8,bob,blue\n").origin
    assert origin["columns"] == {"id": "name", "label": "label"}
    assert origin["ignored"] == ["age"]
    assert (origin["format"], origin["separator"], origin["header"]) == ("text", "comma", True)


def write_parquet(path, table):
    pq.write_table(table, path)


def write_arrow(path, table):
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)


@pytest.mark.parametrize(
    ("write", "suffix"), [(write_parquet, ".parquet"), (write_arrow, ".arrow")]
)
@pytest.mark.parametrize(
    "columns",
    [
        {"id": ["ann", "bob", "bob", "cem"], "label": ["red", "red", "blue", None]},
        {"id": ["ann", "bob", "cem"], "labels": ["red", "red;blue", ""]},
        {"x": [1.5, 2.5, 3.5], "label": ["red", "red;blue", None], "name": ["ann", "bob", "cem"]},
        {"name": pa.array(["ann", "bob", "cem"]).dictionary_encode(),
         "group": pa.array(["red", "red|blue", None]).dictionary_encode()},
    ],
)  # fmt: skip
def test_tables_are_read(tmp_path, write, suffix, columns):
    path = tmp_path / f"labels{suffix}"
    write(path, pa.table(columns))
    assert members(hopvec.read_labels(path)) == PAIRS


def test_lists_and_numbers_in_tables_are_labels(tmp_path):
    path = tmp_path / "labels.parquet"
    write_parquet(path, pa.table({"id": [5, 6], "label": [[3, 1], [2]]}))
    assert members(hopvec.read_labels(path)) == {5: {"1", "3"}, 6: {"2"}}
    write_parquet(path, pa.table({"id": [5, 6], "label": [3.0, None]}))
    assert members(hopvec.read_labels(path)) == {5: {"3"}, 6: set()}


def test_the_group_of_a_matlab_file_is_read_with_row_numbers_as_ids(tmp_path):
    group = sp.csc_matrix(np.array([[1.0, 0, 1], [0, 0, 0], [0, 1, 0]]))
    path = tmp_path / "graph.mat"
    scipy.io.savemat(path, {"network": sp.eye(3).tocsc(), "group": group, "dense": group.toarray()})
    expected = {0: {"0", "2"}, 1: set(), 2: {"1"}}
    assert members(hopvec.read_labels(path)) == expected
    assert members(hopvec.read_labels(path, variable="dense")) == expected


def test_a_matlab_matrix_with_rows_in_any_order_is_read(tmp_path):
    path = tmp_path / "labels.mat"
    group = sp.csc_array((np.ones(3), ([5, 7, 6], [0, 0, 1])), shape=(8, 2))
    scipy.io.savemat(path, {"group": group})
    rows = np.array([5, 7], np.int32)
    assert path.read_bytes().count(rows.tobytes()) == 1
    path.write_bytes(path.read_bytes().replace(rows.tobytes(), rows[::-1].tobytes()))
    assert members(hopvec.read_labels(path))[5] == {"0"}


def test_the_labels_of_numpy_arrays_are_read_with_their_names(tmp_path):
    path = tmp_path / "edges.npz"
    np.savez(path, label=np.int16([1, -1, 0]), label_names=["red", "blue"])
    assert members(hopvec.read_labels(path)) == {0: {"blue"}, 1: set(), 2: {"red"}}
    np.savez(path, label=np.int16([1, -1, 0]))
    assert members(hopvec.read_labels(path)) == {0: {"1"}, 1: set(), 2: {"0"}}
    for label in ([], [0, 2]):
        np.savez(path, label=np.array(label, np.uint64))
        assert hopvec.read_labels(path).classes == tuple(map(str, range(3 if label else 0)))
    np.savez(path, label=[[True, True], [False, False]], label_names=["red", "blue"])
    assert members(hopvec.read_labels(path)) == {0: {"red", "blue"}, 1: set()}


@pytest.mark.parametrize(
    ("file", "nodes", "labeled", "classes"),
    [
        ("blogcatalog/blogcatalog.mat", 10_312, 10_312, 39),
        ("citeseer/citeseer.mat", 3_327, 3_312, 6),
        ("wikispeedia/edges.npz", 4_604, 4_598, 15),
        ("wikispeedia/nodes.csv.gz", 4_604, 4_598, 15),
    ],
)
def test_published_labels_are_read(data_dir, file, nodes, labeled, classes):
    labels = hopvec.read_labels(data_dir / file)
    assert (len(labels), labels.labeled, len(labels.classes)) == (nodes, labeled, classes)


def test_several_labels_of_published_nodes_are_read(data_dir):
    path = data_dir / "wikispeedia" / "nodes.csv.gz"
    labels = hopvec.read_labels(path, label_column="categories")
    assert labels.origin["label separator"] == ";"
    assert labels.matrix.nnz > labels.labeled


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("node,label\n1,x\n", {"label_column": "color"},
         r"there is no column 'color' for the label; the columns are node, label"),
        ("1,x\n2,y\n", {"id_column": 3}, r"no column 3 for the id; it has 2 columns, no header"),
        ("node,label\n1,x\n", {"id_column": "label", "label_column": "label"},
         r"id and label are the same column, 2"),
        ("ann\nbob\n", {}, r"line 1: 'ann' is one column, but a label needs two"),
        ("node,label\n", {}, r"there are no labels in it"),
        ("node,label\n1,x\n,y\n", {}, r"line 3: the id is empty"),
        ("node,label\n1,x\n2\n", {}, r"line 3: '2' has 1 columns, but the lines before it have 2"),
        ('[{"node": 1}]', {}, r"looks like JSON. Write the labels as CSV"),
        ("id,e0,e1\n1,0.5,0.5\n", {}, r"these are vectors written by hopvec, not labels"),
        ("1,x\n", {"variable": "group"}, r"variable= does not apply to labels in the format text"),
        ("1,x\n", {"format": "gml"}, r"no format 'gml' for labels; choose one of columnar, .* csv"),
    ],
)  # fmt: skip
def test_a_malformed_text_file_is_refused_with_the_location(labels_of, text, options, message):
    with pytest.raises(FormatError, match=rf"labels\.csv.*{message}"):
        labels_of(text, **options)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"src": [0], "dst": [1]}, r"there is no array 'label'; it holds src, dst"),
        ({"label": [0.5]}, r"array label: it must have one integer per node, .* got float64"),
        ({"label": [0, 2], "label_names": ["a", "b"]}, r"entry 2: there is no class 2; .* 0 to 1"),
        ({"label": np.eye(3), "label_names": ["a"]}, r"there are 3 classes, but 1 names in label_"),
    ],
)
def test_malformed_arrays_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "edges.npz", **arrays)
    with pytest.raises(FormatError, match=message):
        hopvec.read_labels(tmp_path / "edges.npz")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"network": np.eye(3)}, r"no variable 'group'; the file holds network \(double, 3 x 3\)"),
        ({"group": np.ones((3, 1))}, r"variable group: labels must be a matrix .* one is 3 x 1"),
    ],
)
def test_a_matlab_file_without_labels_is_refused(tmp_path, content, message):
    scipy.io.savemat(tmp_path / "graph.mat", content)
    with pytest.raises(FormatError, match=message):
        hopvec.read_labels(tmp_path / "graph.mat")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [1.5], "label": ["x"]}, r"the id 1\.5 is not an integer or a string"),
        ({"id": [1, None], "label": ["x", "y"]}, r"ids, entry 2: there is no id"),
        ({"id": [1, 2], "label": [0.5, 1]}, r"labels must be strings or integers"),
        ({"id": [1]}, r"a label needs two columns, found 1 \(id\)"),
    ],
)
def test_a_malformed_table_is_refused(tmp_path, columns, message):
    write_parquet(tmp_path / "labels.parquet", pa.table(columns))
    with pytest.raises(FormatError, match=rf"labels\.parquet: .*{message}"):
        hopvec.read_labels(tmp_path / "labels.parquet")


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(FormatError, match="there is no such file"):
        hopvec.read_labels(tmp_path / "labels.csv")


def test_progress_is_reported_to_the_end(labels_of):
    calls = []
    labels_of("1,x\n2,y\n", progress=lambda *call: calls.append(call))
    assert calls[-1] == (8, 8)


NODES = "id,age,city,bio\nann,,Rome,likes tea\nbob,31,Rome,reads\ncem,27,Oslo,\n"


def test_a_line_with_the_name_of_an_id_column_is_a_header(labels_of, caplog):
    found = labels_of(NODES)
    assert members(found) == {"ann": set(), "bob": {"31"}, "cem": {"27"}}
    assert "'age' as the label because of its position" in caplog.text
    assert "Choose another with label_column=" in caplog.text
    assert set(labels_of(NODES.replace("31", "n/a"), label_column="city").classes) == {
        "Rome",
        "Oslo",
    }


def test_an_unknown_column_is_refused_with_the_known_ones(labels_of):
    with pytest.raises(
        FormatError, match=r"no column 'town' .* the columns are id, age, city, bio"
    ):
        labels_of(NODES, label_column="town")


def test_a_label_column_chosen_by_position_logs_a_warning(tmp_path, caplog):
    table = pa.table({"id": [1, 2], "age": [3, 4], "city": ["Rome", "Oslo"]})
    write_parquet(tmp_path / "labels.parquet", table)
    hopvec.read_labels(tmp_path / "labels.parquet")
    assert "'age' as the label because of its position" in caplog.text
