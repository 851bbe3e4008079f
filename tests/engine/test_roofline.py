"""Loops that measure the limits of the machine, and the paces of a hop."""

import numpy as np
import pytest

from example_graphs import random_example
from hopvec import _native
from hopvec.engine import roofline


@pytest.mark.parametrize("distance", roofline.PREFETCH_DISTANCES)
def test_the_bare_loop_adds_up_the_lines_of_neighbors(distance):
    graph = random_example(300, 2000, seed=1).graph()
    rng = np.random.default_rng(2)
    lines, out = rng.integers(0, 9, (2, 300 * 16)).astype(np.float32)
    padded = np.append(graph.indices, np.zeros(max(roofline.PREFETCH_DISTANCES), np.int32))
    adjacency = _native.Adjacency(graph.indptr, padded, None, np.ones(300, np.float32))
    _native.gather_lines(adjacency, lines, out, distance, 2, _native.Stop())
    rows = np.split(lines.reshape(300, 16)[graph.indices], graph.indptr[1:-1])
    assert (out.reshape(300, 16) == np.stack([row.sum(axis=0) for row in rows])).all()


def test_the_triad_is_a_plus_2_b():
    a, b = np.arange(200_000, dtype=np.float32), np.ones(200_000, np.float32)
    out = np.empty_like(a)
    _native.triad(a, b, out, 2, _native.Stop())
    assert (out == a + 2).all()


def test_paces_are_measured_for_every_number_of_threads():
    graph = random_example(300, 2000, seed=1).graph()
    paces = roofline.hop_paces(graph, [1, 2], seconds=0)
    assert [pace.threads for pace in paces] == [1, 2]
    for pace in paces:
        assert min(pace.float32, pace.float16, pace.bare, pace.random) > 0
        assert pace.bandwidth == 64 / pace.float32
        assert pace.share == pace.random / pace.float32
