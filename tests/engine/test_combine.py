"""How the orders of a slab are summed."""

import numpy as np
import pytest

from hopvec import Graph, GraphError, _native
from hopvec.engine.slab import checked_scales
from one_pass import one_pass

GRAPH = Graph.from_edges(np.arange(40), (np.arange(40) * 7 + 1) % 40)


@pytest.mark.parametrize(
    ("weights", "self_weight", "passes"),
    [
        ((1,), 0, 1),
        ((1, 1), 0, 1),
        ((1, 1, 1), 0, 1),
        ((0, 0, 1, 1, 1, 1), 0, 2),
        ((1, 1, 1, 1, 1), 0, 2),
        ((1, 0, 1), 0, 2),
        ((1, 1, 1), 1, 2),
    ],
)
def test_orders_still_held_in_blocks_are_added_at_once(monkeypatch, weights, self_weight, passes):
    sums = []

    def sink(**targets):
        sums.append(targets.get("sum"))
        return native(**targets)

    native = _native.Sink
    monkeypatch.setattr(_native, "Sink", sink)
    one_pass(dim=16, weights=weights, self_weight=self_weight, normalize="none").embed(GRAPH)
    assert sum(one is not None for one in sums) == passes


def test_orders_whose_sum_overflows_float32_are_rejected():
    scale = 2.0**112  # times the largest entry, 2^15, this is half of the largest float32
    assert checked_scales({1: scale}) == {1: scale}
    with pytest.raises(GraphError, match="Order 1 overflows float32"):
        checked_scales({1: scale, 2: -scale})
