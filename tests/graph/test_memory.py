"""The memory that building a graph takes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RESET = Path("/proc/self/clear_refs")

# Every edge once: node i is joined to i + 1, ..., i + degree, in a random order of edges and nodes.
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


@pytest.mark.skipif(not RESET.exists(), reason="peak memory is read from Linux's /proc")
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
def test_building_many_edges_peaks_below_two_and_a_half_times_the_rows(options, degree):
    within_two_and_a_half(options, nodes=200_000, degree=degree)


@pytest.mark.skipif(not RESET.exists(), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(("nodes", "degree"), [(300_000, 8), (2_000_000, 1)])
def test_nor_does_a_sparse_graph_where_nodes_weigh_as_much_as_edges(nodes, degree):
    within_two_and_a_half({}, nodes=nodes, degree=degree)


@pytest.mark.skipif(not RESET.exists(), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize(("step", "times"), [(25, 2.5), (100, 5)])
def test_spread_out_integers_need_no_table_beyond_what_the_edges_could_fill(step, times):
    within({}, nodes=200_000, degree=13, times=times, step=step)


def within_two_and_a_half(options, nodes, degree):
    within(options, nodes, degree, times=2.5)


def within(options, nodes, degree, times, step=1):
    # What is freed is given back at once: the memory of the builder is meant, not that of malloc.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "1000000"}
    numbers = map(str, (nodes, degree, step))
    command = [sys.executable, "-c", MEASURE, json.dumps(options), *numbers]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout)
    assert found["rows"] > 20e6
    assert found["peak"] > found["rows"]  # else it was not measured
    assert found["peak"] <= times * found["rows"]
