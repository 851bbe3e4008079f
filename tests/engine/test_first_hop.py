"""Memory use of the first hop."""

import subprocess
import sys
from pathlib import Path

import pytest

# Only the first hop, on a ring; memory used by each thread would show as bytes per node.
MEASURE = """
import sys
from pathlib import Path

import numpy as np

from hopvec import FastRP, Graph


def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


nodes = 300_000
ring = np.arange(nodes)
graph = Graph.from_edges(ring, np.roll(ring, 1))
method = FastRP(
    passes=1, dim=32, weights=(1,), sparsity=32, precision="float16", normalize="none", threads=32
)
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
method.embed(graph)
print((status("VmHWM") - before) // nodes)
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc"
)
def test_many_threads_share_the_random_entries_of_the_first_hop():
    run = [sys.executable, "-c", MEASURE]
    found = subprocess.run(run, check=True, capture_output=True, text=True)
    assert int(found.stdout) < 600  # vectors 128, blocks 128; 24 per thread would be 768


# Rows in a file are released once they were read; those that R selects are in most of its pages.
MEASURE_MAPPED = """
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from hopvec import FastRP, Graph


def peak(graph):
    \"\"\"The peak memory of embedding a graph, beyond what is in use before.\"\"\"
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    method.embed(graph)
    return status("VmHWM") - before


def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


def mapped(name):
    values = getattr(graph, name)
    Path(f"{sys.argv[1]}/{name}").write_bytes(values)
    return np.memmap(f"{sys.argv[1]}/{name}", values.dtype, "r")


random = np.random.default_rng(0)
source = (100_000 * random.random(6_000_000) ** 4).astype(int)  # a few nodes have most entries
target = random.integers(0, 100_000, len(source))
graph = Graph.from_edges(source, target, random.random(len(source)) + 0.5)
method = FastRP(passes=1, dim=16, weights=(1,), normalize="none", threads=2)
in_file = replace(graph, indices=mapped("indices"), weights=mapped("weights"))
method.embed(graph)
print(peak(in_file) - peak(graph), in_file.indices.nbytes + in_file.weights.nbytes)
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from Linux's /proc"
)
def test_the_first_hop_releases_rows_that_are_memory_mapped(tmp_path):
    run = [sys.executable, "-c", MEASURE_MAPPED, tmp_path]
    found = subprocess.run(run, check=True, capture_output=True, text=True)
    more, size = map(int, found.stdout.split())
    assert size > 80e6
    assert more < size / 6
