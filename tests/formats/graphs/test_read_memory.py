"""read_graph within a memory limit."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
import scipy.io
import scipy.sparse as sp

from graph_files import NAMES, assert_same
from hopvec import MemoryLimitError, read_graph
from hopvec.formats.graphs import build

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
errors = []
for path in paths:
    before, clock = peak(), time.process_time()
    try:
        hopvec.read_graph(path)
    except hopvec.HopvecError as error:
        errors.append([str(error), peak() - before, time.process_time() - clock])
print(json.dumps(errors))
"""


@LINUX
def test_a_decompression_bomb_is_refused_quickly(written, tmp_path):
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
    errors = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert len(errors) == len(paths)
    for path, (message, memory, seconds) in zip(paths, errors, strict=True):
        assert message.startswith(str(path))
        assert memory < 50e6
        assert seconds < 3
    assert "line 100,001: a null byte" in errors[-3][0]
    assert "line 100,001: a null byte" in errors[-2][0]
    assert "line 100,001: the line is longer" in errors[-1][0]


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


def test_a_memory_limit_below_the_ids_is_refused_with_the_minimum(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("".join(f"node-{number},node-{number + 1}\n" for number in range(50_000)))
    with pytest.raises(MemoryLimitError, match=r"a graph of 50,001 nodes needs at least") as error:
        read_graph(path, memory="1MB")
    least = error.value.shortage.needs.total
    assert read_graph(path, memory=least).nodes == 50_001
    with pytest.raises(MemoryLimitError):
        read_graph(path, memory=least - 1)


def test_ids_that_exceed_the_limit_by_far_are_not_read_to_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "MIN_READ_BYTES", 1 << 20)
    path = tmp_path / "edges.csv"
    path.write_text("".join(f"node-{number},node-{number + 1}\n" for number in range(200_000)))
    with pytest.raises(
        MemoryLimitError, match=r"a graph of more than .* nodes needs at least .* MB"
    ):
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
def test_text_ten_times_larger_than_the_memory_limit_is_read_within_it():
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


def test_a_run_that_does_not_fit_is_refused_before_the_graph_is_built(tmp_path):
    path = tmp_path / "ring.csv"
    path.write_text("".join(f"{node},{node + 1}\n" for node in range(20_000)))
    built = []
    with pytest.raises(MemoryLimitError, match=r"a graph of 20,001 nodes needs at least"):
        read_graph(
            path,
            memory="30MB",
            reserve=lambda nodes, rows: 2000 * nodes,
            build_progress=lambda done, total: built.append(done),
        )
    assert built in ([], [0])


@pytest.mark.parametrize("suffix", [".mtx", ".npz", ".mat"])
def test_a_matrix_beyond_the_memory_limit_is_refused(tmp_path, suffix):
    path = tmp_path / f"matrix{suffix}"
    matrix = sp.random_array((2000, 2000), density=0.01, rng=np.random.default_rng(0)).tocsc()
    if suffix == ".mtx":
        scipy.io.mmwrite(path, matrix)
    elif suffix == ".npz":
        sp.save_npz(path, matrix)
    else:
        scipy.io.savemat(path, {"network": matrix})
    with pytest.raises(MemoryLimitError, match=r"\.\w+: a matrix of 40"):
        read_graph(path, directed=True, memory="500kB")
    assert read_graph(path, directed=True, memory="9MB").nodes == 2000
