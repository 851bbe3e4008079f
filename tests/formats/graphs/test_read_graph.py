"""read_graph: one graph in every format, plain and compressed, and the broken twins of each."""

import bz2
import gzip
import io
import json
import os
import subprocess
import sys
import threading

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

import hopvec
from hopvec import (
    FormatError,
    GraphError,
    HopvecError,
    MemoryLimitError,
    ParameterError,
    read_graph,
)
from hopvec.formats.graphs.read import GRAPH_FORMATS

SOURCE, TARGET = [0, 0, 0, 1, 2, 4, 5], [1, 2, 3, 2, 3, 3, 4]
WEIGHT = [0.5, 2.0, 1.0, 4.0, 8.0, 0.25, 3.0]
ONES = [1.0] * len(SOURCE)


def table(weight):
    return pa.table({"source": SOURCE, "target": TARGET, "weight": weight})


def matrix(weight):
    half = sp.coo_array((weight, (SOURCE, TARGET)), shape=(6, 6))
    return sp.csr_array(half + half.T)


def network(weight):
    graph = nx.Graph()
    graph.add_weighted_edges_from(zip(SOURCE, TARGET, weight, strict=True))
    return graph


def write_text(separator, header):
    def write(path, weight):
        rows = [header] if header else []
        rows += [
            separator.join(map(str, edge)) for edge in zip(SOURCE, TARGET, weight, strict=True)
        ]
        path.write_text("\n".join(rows))

    return write


def write_arrow(new):
    def write(path, weight):
        with new(path, table(weight).schema) as writer:
            writer.write_table(table(weight))

    return write


WRITERS = {
    ("text", "edges.csv"): write_text(",", "source,target,weight"),
    ("text", "edges.tsv"): write_text("\t", "# from to weight"),
    ("text", "edges.txt"): write_text("   ", None),
    ("columnar", "edges.parquet"): lambda path, weight: pq.write_table(table(weight), path),
    ("columnar", "edges.arrow"): write_arrow(pa.ipc.new_file),
    ("columnar", "edges.arrows"): write_arrow(pa.ipc.new_stream),
    ("npz", "matrix.npz"): lambda path, weight: sp.save_npz(path, matrix(weight)),
    ("npz", "edges.npz"): lambda path, weight: np.savez(
        path, src=SOURCE, dst=TARGET, weight=weight
    ),
    ("matlab", "matrix.mat"): lambda path, weight: scipy.io.savemat(
        path, {"network": matrix(weight)}
    ),
    ("matrix-market", "matrix.mtx"): lambda path, weight: scipy.io.mmwrite(path, matrix(weight)),
    ("graphml", "graph.graphml"): lambda path, weight: nx.write_graphml(network(weight), path),
    ("gml", "graph.gml"): lambda path, weight: nx.write_gml(network(weight), path),
    ("adjacency", "graph.adjlist"): lambda path, weight: nx.write_adjlist(network(weight), path),
}
NAMES = [name for _, name in WRITERS]
COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda whole: pa.Codec("zstd").compress(whole, asbytes=True),
}


@pytest.fixture
def written(tmp_path):
    def written(name, compression="", weight=WEIGHT):
        write = next(write for (_, other), write in WRITERS.items() if other == name)
        write(tmp_path / name, weight)
        path = tmp_path / (name + compression)
        path.write_bytes(COMPRESS[compression]((tmp_path / name).read_bytes()))
        return path

    return written


def assert_same(graph, other):
    assert graph.ids.equals(other.ids)
    for one, two in zip(parts(graph), parts(other), strict=True):
        np.testing.assert_array_equal(one, two)


def parts(graph):
    weights = graph.weights if graph.weights is not None else np.ones(len(graph.indices))
    return graph.indptr, graph.indices, weights, graph.keys, graph.rows


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


def test_every_format_is_in_these_tests():
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
def test_and_from_standard_input_that_trickles(written, monkeypatch, name, compression):
    feed(monkeypatch, written(name, compression).read_bytes(), step=7)
    graph = read_graph("-")
    assert_same(graph, expected(name))
    assert graph.origin["file"] == "standard input"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("name", NAMES)
def test_and_from_a_named_pipe(written, tmp_path, name):
    content, pipe = written(name).read_bytes(), tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=[content], daemon=True).start()
    assert_same(read_graph(pipe), expected(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_content_counts_more_than_the_suffix(written, name):
    path = written(name)
    wrong = path.rename(path.with_name("edges.csv" if "csv" not in name else "edges.dat"))
    assert_same(read_graph(wrong), expected(name))


@pytest.mark.parametrize("name", NAMES)
def test_weights_of_1_are_no_weights(written, name):
    assert read_graph(written(name, weight=ONES)).weights is None


def refused(path, **options):
    """What is said of a file that cannot be read."""
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
def test_rubbish_is_refused_whatever_it_is_called(written, name, compression):
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
def test_a_column_that_is_not_there_is_refused(written, name):
    assert "'nowhere'" in refused(written(name), source="nowhere")


def test_a_missing_file_and_an_unknown_format_are_told(tmp_path, written):
    assert "there is no such file" in refused(tmp_path / "nothing.csv")
    assert "there is no format 'excel'" in refused(written("edges.csv"), format="excel")
    assert "variable= does not apply to the format text" in refused(
        written("edges.csv"), variable="x"
    )


@pytest.mark.parametrize(
    "options",
    [{"duplicates": "add"}, {"loops": "no"}, {"threads": 0}, {"directed": "yes"}, {"memory": "x"}],
)
def test_a_wrong_option_is_told_before_anything_is_read(tmp_path, options):
    with pytest.raises(ParameterError):
        read_graph(tmp_path / "nothing.csv", **options)


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
PEAK = r"""
import json, pathlib, re, sys, time
import hopvec

def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) * 1024
"""
BOMBS = """
first, *paths = sys.argv[1:]
hopvec.read_graph(first)
told = []
for path in paths:
    before, clock = peak(), time.process_time()
    try:
        hopvec.read_graph(path)
    except hopvec.HopvecError as error:
        told.append([str(error), peak() - before, time.process_time() - clock])
print(json.dumps(told))
"""


@LINUX
def test_a_gigabyte_out_of_a_small_file_is_refused_in_a_moment(written, tmp_path):
    first = written("edges.csv")
    zeros, letters = (gzip.compress(byte * (1 << 24)) * 64 for byte in (b"\0", b"a"))
    paths = [tmp_path / f"bomb{index}{name}.gz" for index, name in enumerate(NAMES)]
    for path in paths:
        path.write_bytes(zeros)
    paths += [tmp_path / name for name in ("late.adjlist.gz", "late.csv.gz", "letters.csv.gz")]
    paths[-3].write_bytes(gzip.compress(b"a b\n" * 100_000) + zeros)
    paths[-2].write_bytes(gzip.compress(b"a,b\n" * 100_000) + zeros)
    paths[-1].write_bytes(gzip.compress(b"a,b\n" * 100_000) + letters)
    command = [sys.executable, "-c", PEAK + BOMBS, first, *paths]
    told = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert len(told) == len(paths)
    for path, (message, memory, seconds) in zip(paths, told, strict=True):
        assert message.startswith(str(path))
        assert memory < 50e6
        assert seconds < 3
    assert "line 100,001: a null byte" in told[-3][0]
    assert "line 100,001: a null byte" in told[-2][0]
    assert "line 100,001: the line is longer" in told[-1][0]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_graph_is_the_same_within_a_memory_limit(tmp_path, weighted):
    random = np.random.default_rng(2)
    ends = random.integers(0, 3000, (600_000, 2))
    columns = [ends[:, 0], ends[:, 1], *([random.integers(1, 9, 600_000)] if weighted else [])]
    path = tmp_path / "edges.csv"
    pa.csv.write_csv(pa.table(columns, [*"uvw"[: len(columns)]]), path)
    free, bound = read_graph(path), read_graph(path, memory="9MB")
    assert isinstance(bound.indices, np.memmap)
    assert_same(bound, free)
    assert free.edges == bound.edges


def test_a_bound_below_the_ids_is_refused(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("".join(f"node-{number},node-{number + 1}\n" for number in range(50_000)))
    with pytest.raises(MemoryLimitError, match=r"the ids of the first .* nodes alone take"):
        read_graph(path, memory="1MB")


PIPE = """
from hopvec.machine import return_freed_memory
return_freed_memory()  # as the command line does
hopvec.read_graph  # loads the libraries
before = peak()
graph = hopvec.read_graph("-", memory="30MB")
print(graph.nodes, before, peak())
"""


@LINUX
def test_text_of_ten_times_the_memory_bound_is_read_within_it():
    random = np.random.default_rng(1)
    ends = random.integers(0, 1000, (16_000, 2))
    line = "https://example.org/pages/{:05},https://example.org/pages/{:05}\n"
    chunk = "".join(line.format(*edge) for edge in ends.tolist()).encode()
    with subprocess.Popen(
        [sys.executable, "-c", PEAK + PIPE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        for _ in range(300_000_000 // len(chunk) + 1):
            process.stdin.write(chunk)
        process.stdin.close()
        nodes, before, peak = map(int, process.stdout.read().split())
    assert nodes == 1000
    # The system decides how much of the libraries' own files is in memory: 60 to 90 MB.
    assert peak <= 1.1 * 30e6 + max(100e6, before + 45e6), (before, peak)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("name", ["edges.csv", "graph.gml"])
@pytest.mark.parametrize("compression", ["", ".gz"])
def test_what_happens_while_reading_comes_out_as_it_is(written, name, compression, kind):
    def progress(done, total):
        raise kind("stop")

    with pytest.raises(kind, match="stop"):
        read_graph(written(name, compression), progress=progress)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("names", [("name", "id"), ("id", "name")])
def test_the_column_called_id_comes_before_the_one_called_name(tmp_path, suffix, names):
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    columns = {"id": ["a", "z"], "name": ["Ann", "Zoe"]}
    table = pa.table({name: columns[name] for name in names})
    path = tmp_path / f"nodes{suffix}"
    (pq.write_table if suffix == ".parquet" else pyarrow.csv.write_csv)(table, path)
    graph = read_graph(tmp_path / "edges.csv", nodes=path)
    assert graph.ids.to_pylist() == ["a", "b", "z"]


def test_ids_of_a_text_of_nodes_are_of_the_kind_of_the_edges(written, tmp_path):
    (tmp_path / "nodes.txt").write_text("7\n3\n")
    graph = read_graph(written("edges.parquet"), nodes=tmp_path / "nodes.txt")
    assert graph.ids.to_pylist() == [0, 1, 2, 3, 4, 5, 7]
    with pytest.raises(GraphError, match="integers and others are strings"):
        read_graph(written("edges.parquet"), nodes=["x"])


def test_the_file_is_closed_whatever_happens(written, recwarn):
    path = written("edges.csv")
    read_graph(path)
    with pytest.raises(FormatError):
        read_graph(path, source="nowhere")
    assert not [warning for warning in recwarn if warning.category is ResourceWarning]


def test_a_run_that_cannot_fit_is_refused_before_the_graph_is_built(tmp_path):
    path = tmp_path / "ring.csv"
    path.write_text("".join(f"{node},{node + 1}\n" for node in range(20_000)))
    built = []
    with pytest.raises(MemoryLimitError, match=r"a graph of 20,001 nodes needs at least"):
        read_graph(
            path,
            memory="30MB",
            reserve=lambda nodes, rows: 2000 * nodes,
            build_progress=lambda done, of: built.append(done),
        )
    assert built in ([], [0])


@pytest.mark.parametrize("suffix", [".mtx", ".npz", ".mat"])
def test_a_matrix_beyond_the_memory_bound_is_refused(tmp_path, suffix):
    path = tmp_path / f"matrix{suffix}"
    matrix = sp.random_array((2000, 2000), density=0.01, rng=np.random.default_rng(0)).tocsc()
    if suffix == ".mtx":
        scipy.io.mmwrite(path, matrix)
    elif suffix == ".npz":
        sp.save_npz(path, matrix)
    else:
        scipy.io.savemat(path, {"network": matrix})
    with pytest.raises(
        MemoryLimitError, match=r"\.\w+: a matrix is read as a whole, and one of 40"
    ):
        read_graph(path, directed=True, memory="500kB")
    assert read_graph(path, directed=True, memory="9MB").nodes == 2000


def test_a_matrix_that_is_not_symmetric_is_refused_with_the_options_of_read_graph(tmp_path):
    sp.save_npz(tmp_path / "matrix.npz", sp.coo_array(([1.0], ([0], [1])), shape=(2, 2)))
    with pytest.raises(GraphError) as error:
        read_graph(tmp_path / "matrix.npz")
    assert str(error.value) == (
        f"{tmp_path / 'matrix.npz'}: The adjacency matrix is not symmetric. Use directed=True "
        "if the direction matters, or symmetrize=True to take every entry as an undirected edge."
    )
