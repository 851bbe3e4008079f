"""read_graph: one graph in every format, plain and compressed, and damaged files of each."""

import io
import os
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import hopvec
from graph_files import COMPRESS, NAMES, ONES, SOURCE, TARGET, WEIGHT, WRITERS, assert_same
from hopvec import FormatError, GraphError, HopvecError, read_graph
from hopvec.formats.graphs.read import GRAPH_FORMATS


def expected(name, weight=WEIGHT):
    return hopvec.Graph.from_edges(SOURCE, TARGET, ONES if "adjlist" in name else weight)


def feed(monkeypatch, content, step):
    """Standard input as a pipe that delivers a few bytes at a time."""
    reading, writing = os.pipe()

    def write():
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            for first in range(0, len(content), step):
                pipe.write(content[first : first + step])

    threading.Thread(target=write, daemon=True).start()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(os.fdopen(reading, "rb")))


def test_every_format_is_tested_here():
    assert {name for name, _ in WRITERS} == set(GRAPH_FORMATS)


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("name", NAMES)
def test_one_graph_is_the_same_in_every_format(written, name, compression):
    graph = read_graph(written(name, compression))
    assert_same(graph, expected(name))
    assert graph.origin["format"] == next(kind for kind, other in WRITERS if other == name)
    kinds = {"": None, ".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
    assert graph.origin.get("compression") == kinds[compression]


@pytest.mark.parametrize("compression", ["", ".gz"])
@pytest.mark.parametrize("name", NAMES)
def test_the_graph_is_the_same_from_slow_standard_input(written, monkeypatch, name, compression):
    feed(monkeypatch, written(name, compression).read_bytes(), step=7)
    graph = read_graph("-")
    assert_same(graph, expected(name))
    assert graph.origin["file"] == "standard input"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("name", NAMES)
def test_the_graph_is_the_same_from_a_named_pipe(written, tmp_path, name):
    content, pipe = written(name).read_bytes(), tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=[content], daemon=True).start()
    assert_same(read_graph(pipe), expected(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_content_takes_precedence_over_the_suffix(written, name):
    path = written(name)
    wrong = path.rename(path.with_name("edges.csv" if "csv" not in name else "edges.dat"))
    assert_same(read_graph(wrong), expected(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_graph_with_all_weights_1_is_unweighted(written, name):
    assert read_graph(written(name, weight=ONES)).weights is None


def refused(path, **options):
    """The error message for a file that cannot be read."""
    with pytest.raises(HopvecError) as caught:
        read_graph(path, **options)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


@pytest.mark.parametrize("compression", [".gz", ".bz2", ".zst"])
@pytest.mark.parametrize("name", NAMES)
def test_a_truncated_compressed_file_is_refused(written, name, compression):
    path = written(name, compression)
    path.write_bytes(path.read_bytes()[:-12])
    assert "the file is truncated" in refused(path)


@pytest.mark.parametrize("compression", ["", ".gz"])
@pytest.mark.parametrize("name", NAMES)
def test_random_bytes_are_refused_for_any_suffix(written, name, compression):
    path = written(name, compression)
    rubbish = np.random.default_rng(5).bytes(5000)
    path.write_bytes(COMPRESS[compression](rubbish))
    refused(path)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_file_is_refused(written, name):
    path = written(name)
    path.write_bytes(b"")
    refused(path)


@pytest.mark.parametrize("name", [name for name in NAMES if "adjlist" not in name])
@pytest.mark.parametrize("wrong", [float("nan"), -1.0])
def test_a_wrong_weight_is_refused(written, name, wrong):
    message = refused(written(name, weight=[1.0, 2.0, 3.0, wrong, 5.0, 6.0, 7.0]))
    assert "nan" in message.lower() or "-1" in message


@pytest.mark.parametrize("name", ["edges.csv", "edges.parquet", "edges.arrow", "edges.npz"])
def test_a_missing_column_is_refused(written, name):
    assert "'nowhere'" in refused(written(name), source="nowhere")


def test_a_missing_file_and_an_unknown_format_are_refused(tmp_path, written):
    assert "there is no such file" in refused(tmp_path / "nothing.csv")
    assert "there is no format 'excel'" in refused(written("edges.csv"), format="excel")
    assert "variable= does not apply to the format text" in refused(
        written("edges.csv"), variable="x"
    )


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("name", ["edges.csv", "graph.gml"])
@pytest.mark.parametrize("compression", ["", ".gz"])
def test_exceptions_of_the_progress_callback_propagate(written, name, compression, kind):
    def progress(done, total):
        raise kind("stop")

    with pytest.raises(kind, match="stop"):
        read_graph(written(name, compression), progress=progress)


def test_the_file_is_always_closed(written, recwarn):
    path = written("edges.csv")
    read_graph(path)
    with pytest.raises(FormatError):
        read_graph(path, source="nowhere")
    assert not [warning for warning in recwarn if warning.category is ResourceWarning]


def test_a_matrix_that_is_not_symmetric_is_refused_with_arguments_of_read_graph(tmp_path):
    sp.save_npz(tmp_path / "matrix.npz", sp.coo_array(([1.0], ([0], [1])), shape=(2, 2)))
    with pytest.raises(GraphError) as error:
        read_graph(tmp_path / "matrix.npz")
    assert str(error.value) == (
        f"{tmp_path / 'matrix.npz'}: The adjacency matrix is not symmetric. Use directed=True "
        "if the direction matters, or symmetrize=True to take every entry as an undirected edge."
    )
