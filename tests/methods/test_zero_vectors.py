"""The warning about zero vectors of nodes that have edges, also for vectors in spill files."""

import numpy as np
import pytest

from hopvec import FastRP, Graph, RandNE

OPTIONS = {
    "one pass": {"passes": 1},
    "plain sum": {"passes": 1, "normalize": "none"},
    "compressed": {"passes": 1, "oversample": 2},
    "three passes": {"passes": 3},
}


@pytest.fixture
def warnings(caplog):
    def take():
        messages = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return messages

    return take


@pytest.mark.parametrize("name", OPTIONS)
def test_zero_vectors_in_a_spill_file_are_warned_of_as_in_memory(name, warnings, tmp_path):
    source, target = np.random.default_rng(1).integers(0, 500, (2, 900))
    weight = np.where(source < 250, 1e30, 1e-30)
    graph = Graph.from_edges(source, target, weight, nodes=range(505))
    method = FastRP(dim=64, beta=1.0, spill_dir=tmp_path, **OPTIONS[name])
    in_memory = method.embed(graph)
    expected = warnings()
    spilled = method.embed(graph, plan=spill_plan(method, graph))
    assert isinstance(spilled.vectors, np.memmap)
    assert warnings() == expected
    assert any("although they have edges" in message for message in expected)
    np.testing.assert_array_equal(spilled.vectors, in_memory.vectors)


def spill_plan(method, graph):
    """A plan for little memory, in which the vectors are in a spill file."""
    plan = method.plan(graph)
    while plan.output == "memory":
        plan = method.set_params(memory=int(0.97 * plan.bytes.total)).plan(graph)
    return plan


def test_a_method_that_mixes_columns_warns_as_well(warnings, tmp_path):
    source, target = np.random.default_rng(1).integers(0, 3000, (2, 4000))
    graph = Graph.from_edges(source, target, nodes=range(3005))
    method = RandNE(dim=64, weights=(0, 1), spill_dir=tmp_path)
    method.embed(graph)
    expected = warnings()
    spilled = method.embed(graph, plan=spill_plan(method, graph))
    assert isinstance(spilled.vectors, np.memmap)
    assert warnings() == expected
    assert expected
