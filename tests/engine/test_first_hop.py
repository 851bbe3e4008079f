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
