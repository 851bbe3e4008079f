"""Damaged Parquet and Arrow files of nodes, labels, features and further columns.

Each is refused with FormatError, whatever byte is wrong. A file that crashes Arrow would end the
process, so mutated files are read in a process of their own.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hopvec
from hopvec import FormatError
from hopvec.formats import read_preview
from hopvec.formats.arrow_data import arrow_errors
from hopvec.formats.features import read_features
from hopvec.formats.graphs.nodes import read_nodes
from hopvec.formats.positions import write_positions
from hopvec.view.explorer.extra_columns import read_extra_columns

FILES = Path(__file__).parent / "files"
READERS = {"nodes": read_nodes, "labels": hopvec.read_labels, "features": read_features}


@pytest.mark.parametrize(
    ("reader", "name"),
    [
        ("nodes", "crash-nodes.arrow"),
        ("labels", "crash-labels.arrow"),
        ("features", "crash-features.arrow"),
        ("features", "damaged-features.parquet"),
        ("nodes", "cut.parquet"),
        ("labels", "cut.parquet"),
        ("features", "cut.parquet"),
    ],
)
def test_a_damaged_file_is_refused_with_its_name(reader, name):
    with pytest.raises(FormatError, match=rf"{name}: damaged (Parquet|Arrow file) data"):
        READERS[reader](FILES / name)


@pytest.mark.parametrize("path", sorted(FILES.glob("further-*")), ids=lambda path: path.name)
def test_a_damaged_column_beside_the_vectors_is_refused(path):
    with pytest.raises(FormatError, match=r"damaged (Parquet|Arrow) data"):
        read_extra_columns(path)


@pytest.mark.parametrize("path", sorted(FILES.glob("further-*")), ids=lambda path: path.name)
def test_a_damaged_input_is_not_reported_as_an_output_that_cannot_be_written(path, tmp_path):
    rows = read_preview(path).rows
    output = tmp_path / f"output{path.suffix}"
    with pytest.raises(FormatError, match=rf"{path.name}: damaged (Parquet|Arrow) data"):
        write_positions(path, np.zeros((rows, 2)), output=output)
    assert not any(tmp_path.iterdir())


def test_vectors_that_declare_more_memory_than_there_is_are_refused():
    with pytest.raises(FormatError, match=r"load-memory\.arrow: cannot be read"):
        hopvec.load(FILES / "load-memory.arrow")


@pytest.mark.parametrize(
    ("size", "error"), [(8_589_934_656, FormatError), (1 << 30, MemoryError)], ids=str
)
def test_a_small_file_cannot_hold_what_takes_gigabytes(size, error):
    with (
        pytest.raises(error, match=f"malloc of size {size} failed"),
        arrow_errors(str(FILES / "crash-nodes.arrow"), "Arrow file"),
    ):
        raise pa.ArrowMemoryError(f"malloc of size {size} failed")


TABLE = pa.table(
    {
        "id": [f"node {number}" for number in range(40)],
        "label": pa.array(["red", "green"] * 20).dictionary_encode(),
        "age": np.arange(40) / 7,
        "tags": [["a", "b"], [], None, ["c"]] * 10,
    }
)
MUTATE = """
import sys
import numpy as np
from hopvec import FormatError, read_labels
from hopvec.formats.features import read_features
from hopvec.formats.graphs.nodes import read_nodes

path, seed = sys.argv[1:]
data, rng, refused = open(path, "rb").read(), np.random.default_rng(int(seed)), 0
for number in range(150):
    changed = bytearray(data)
    for at in rng.integers(0, len(data), 1 + number % 3):
        changed[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, changed[at] ^ 1 << rng.integers(8)])
    if number % 10 == 0:
        changed = changed[: rng.integers(len(data))]
    with open(path, "wb") as file:
        file.write(changed)
    for read in (read_nodes, read_labels, read_features):
        try:
            read(path)
        except FormatError as error:
            refused += str(error).startswith(path)
print(refused)
"""


def write_arrow(table, path):
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def write_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


WRITERS = {".parquet": pq.write_table, ".arrow": write_arrow, ".arrows": write_stream}


@pytest.mark.parametrize("suffix", WRITERS)
def test_mutated_files_are_read_or_refused_and_nothing_else(suffix, tmp_path):
    path = tmp_path / f"table{suffix}"
    WRITERS[suffix](TABLE, str(path))
    assert len(read_nodes(path)) == 40
    assert read_features(path).num_rows == 40
    run = subprocess.run(
        [sys.executable, "-c", MUTATE, str(path), "1"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout) > 20


@pytest.mark.parametrize("suffix", WRITERS)
def test_columns_are_read_as_they_were_written(suffix, tmp_path):
    path = tmp_path / f"table{suffix}"
    WRITERS[suffix](TABLE, str(path))
    assert read_features(path).to_pylist() == TABLE.to_pylist()
    assert hopvec.read_labels(path).ids.to_pylist() == TABLE["id"].to_pylist()


def test_features_of_a_directory_of_parquet_files_are_read_in_order(tmp_path):
    directory = tmp_path / "table.parquet"
    directory.mkdir()
    pq.write_table(TABLE[:15], directory / "part-0.parquet")
    pq.write_table(TABLE[15:], directory / "part-1.parquet")
    assert read_features(directory).to_pylist() == TABLE.to_pylist()
