"""The advice of the warning about zero vectors works."""

import logging
import re

import numpy as np
import pytest

from hopvec import FastRP, Graph

GRAPHS = {
    "edge": [(0, 1)],
    "path of three": [(0, 1), (1, 2)],
    "cycle of four": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "star of ten": [(0, leaf) for leaf in range(1, 10)],
    "complete bipartite": [(a, b) for a in range(3) for b in range(3, 6)],
}


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("name", GRAPHS)
def test_following_the_advice_leaves_no_zero_vector(name, passes, caplog):
    graph = Graph.from_edges(*zip(*GRAPHS[name], strict=True))
    method = FastRP(dim=16, passes=passes)
    with caplog.at_level(logging.WARNING, "hopvec"):
        vectors = method.embed(graph).vectors
    if vectors.any(axis=1).all():
        assert caplog.text == ""
        return
    advice = caplog.text.rpartition(";")[2]
    given = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", advice)}
    assert given
    advised = FastRP(dim=16, **{"passes": passes} | given).embed(graph).vectors
    assert np.count_nonzero(advised.any(axis=1)) == graph.nodes
