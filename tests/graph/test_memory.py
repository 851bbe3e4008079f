"""The peak memory of building a graph."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RESET = Path("/proc/self/clear_refs")

# Node i has edges to i + 1, ..., i + degree; edges and nodes are in random order.
MEASURE = """
import json
import sys
from pathlib import Path

import numpy as np

import hopvec


def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


nodes, degree = int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(0)
names = random.permutation(nodes).astype(np.int32) * np.int32(sys.argv[4])
order = random.permutation(nodes * degree)
source = names[order % nodes]
target = names[(order % nodes + order // nodes + 1) % nodes]
options = json.loads(sys.argv[1])
hopvec.Graph.from_edges(source[:100_000], target[:100_000], **options)
del order, names

Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
graph = hopvec.Graph.from_edges(source, target, **options)
peak = status("VmHWM") - before
assert graph.weights is None and graph.edges == len(source) and source.dtype == np.int32
print(json.dumps({"peak": peak, "rows": graph.nbytes}))
"""


@pytest.mark.skipif(not RESET.exists(), reason="peak memory is read from /proc, which needs Linux")
@pytest.mark.parametrize(
    ("options", "degree"),
    [
        ({"threads": 1}, 13),
        ({"threads": 5}, 13),
        ({"directed": True}, 25),
        ({"nodes": 200_000}, 13),
    ],
    ids=str,
)
def test_building_a_dense_graph_takes_at_most_2_5_times_the_memory_of_the_graph(options, degree):
    check_peak(options, nodes=200_000, degree=degree)


@pytest.mark.skipif(not RESET.exists(), reason="peak memory is read from /proc, which needs Linux")
@pytest.mark.parametrize(("nodes", "degree"), [(300_000, 8), (2_000_000, 1)])
def test_building_a_sparse_graph_takes_at_most_2_5_times_the_memory_of_the_graph(nodes, degree):
    check_peak({}, nodes=nodes, degree=degree)


@pytest.mark.skipif(not RESET.exists(), reason="peak memory is read from /proc, which needs Linux")
@pytest.mark.parametrize(("step", "factor"), [(25, 2.5), (100, 5)])
def test_widely_spaced_integer_ids_do_not_need_a_large_table(step, factor):
    check_peak({}, nodes=200_000, degree=13, factor=factor, step=step)


def check_peak(options, nodes, degree, factor=2.5, step=1):
    # Freed memory is returned at once, so the peak is that of the builder, not of malloc.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "1000000"}
    numbers = map(str, (nodes, degree, step))
    command = [sys.executable, "-c", MEASURE, json.dumps(options), *numbers]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout)
    assert found["rows"] > 20e6
    assert found["peak"] > found["rows"]  # otherwise the peak was not measured
    assert found["peak"] <= factor * found["rows"]
