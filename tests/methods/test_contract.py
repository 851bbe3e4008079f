"""Tests that every method of METHODS must pass."""

import hashlib
import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from example_graphs import example, on_disk, path, random_example, skewed_example
from hopvec import Graph, GraphError, MemoryLimitError, _native
from hopvec.methods import METHODS
from hopvec.methods.dense_method import DenseMethod
from hopvec.methods.slab_method import SlabMethod
from hopvec.methods.walk_method import WalkMethod
from method_variants import CASES, QUICK, every_method

# Walks are the same at every level, and gensim does its own dispatch.
WITH_LEVELS = [case for case in CASES if not issubclass(METHODS[case[0]], WalkMethod)]

every_case = pytest.mark.parametrize(
    ("name", "options"),
    CASES,
    ids=[" ".join([name, *(f"{k}={v}" for k, v in options.items())]) for name, options in CASES],
)

WEIGHTED = skewed_example(530, 2300, weighted=True, seed=1)
PLAIN = random_example(530, 1900, seed=2, isolated=5)
DIRECTED = skewed_example(530, 2300, weighted=True, directed=True, seed=3)


def cases(name, *wanted):
    """The cases that a method supports."""
    return [case for case in wanted if METHODS[name]._supports_directed or not case.directed]


def embed(name, graph, options, **more):
    return METHODS[name](**options, **more).embed(graph).vectors


def with_names(case, order):
    """The graph of a case with string ids and its nodes in the given order."""
    names = np.array([f"node {number}" for number in range(case.nodes)])
    source, target = (names[ends].tolist() for ends in (case.source, case.target))
    nodes = names[order].tolist()
    return Graph.from_edges(source, target, case.weight, nodes=nodes, directed=case.directed)


@every_case
class TestVectors:
    def test_they_are_finite_float32_and_c_contiguous(self, name, options):
        for case in cases(name, WEIGHTED, PLAIN, DIRECTED):
            vectors = embed(name, case.graph(), options)
            assert vectors.shape == (case.nodes, METHODS[name](**options).dim)
            assert vectors.dtype == np.float32
            assert vectors.flags.c_contiguous
            assert np.isfinite(vectors).all()
            assert vectors.any(axis=0).all()

    def test_they_are_read_only(self, name, options):
        assert not embed(name, PLAIN.graph(), options).flags.writeable

    def test_isolated_nodes_have_a_zero_vector_unless_order_0_has_a_weight(self, name, options):
        vectors = embed(name, PLAIN.graph(), options)
        isolated = ~PLAIN.S.any(axis=1)
        assert isolated.sum() >= 5
        method = METHODS[name](**options)
        own = isinstance(method, SlabMethod) and 0 in method._order_weights()
        assert (vectors[isolated].any(axis=1) == own).all()
        assert vectors[~isolated].any(axis=1).mean() > 0.95

    def test_one_node_two_nodes_and_graphs_without_edges(self, name, options):
        for case in (example([(0, 0)], 1), example(path(2), 2), example([], 3)):
            vectors = embed(name, case.graph(), options)
            assert vectors.shape[0] == case.nodes
            assert np.isfinite(vectors).all()


@every_case
class TestSameBytes:
    def test_same_seed_same_bytes(self, name, options):
        first, second = (embed(name, WEIGHTED.graph(), options, seed=5) for _ in range(2))
        assert first.tobytes() == second.tobytes()

    def test_other_seed_other_vectors(self, name, options):
        first, second = (embed(name, WEIGHTED.graph(), options, seed=seed) for seed in (5, 6))
        if issubclass(METHODS[name], DenseMethod):  # the graph determines the vectors
            np.testing.assert_allclose(first, second, atol=1e-5 * np.abs(first).max())
        else:
            assert np.abs(first - second).max() > 0.01 * np.abs(first).max()

    def test_embedding_twice_gives_the_same_bytes(self, name, options):
        method, graph = METHODS[name](**options), WEIGHTED.graph()
        assert method.embed(graph).vectors.tobytes() == method.embed(graph).vectors.tobytes()

    def test_for_1_2_and_5_threads(self, name, options):
        for case in cases(name, WEIGHTED, PLAIN, DIRECTED):
            graph = case.graph()
            results = {embed(name, graph, options, threads=n).tobytes() for n in (1, 2, 5)}
            assert len(results) == 1

    def test_for_every_plan_that_a_memory_limit_can_cause(self, name, options):
        for case in cases(name, WEIGHTED, DIRECTED):
            graph = case.graph()
            plans, results = [], set()
            for memory in memory_limits(METHODS[name](**options), graph):
                plans.append(METHODS[name](**options, memory=memory, threads=2).plan(graph))
                results.add(embed(name, graph, options, memory=memory, threads=2).tobytes())
            assert len(results) == 1
            if issubclass(METHODS[name], SlabMethod):
                assert {plan.output for plan in plans} == {"memory", "file"}
            if options.get("normalize") in ("authors", "full"):
                assert {plan.orders for plan in plans} == {"cached", "recomputed"}

    def test_for_memory_mapped_rows(self, name, options):
        for case in cases(name, WEIGHTED, PLAIN, DIRECTED):
            graph = case.graph()
            mapped = replace(
                graph, **{part: on_disk(graph, part) for part in ("indices", "weights")}
            )
            assert mapped._mapped
            expected = embed(name, graph, options).tobytes()
            assert embed(name, mapped, options).tobytes() == expected
            assert mapped.describe() == graph.describe()
            copied = pickle.loads(pickle.dumps(mapped))
            assert not copied._mapped  # its arrays are memmap objects, but in memory
            assert embed(name, copied, options).tobytes() == expected

    def test_for_shuffled_edges(self, name, options):
        for case in cases(name, WEIGHTED, PLAIN, DIRECTED):
            order = np.random.default_rng(0).permutation(len(case.source))
            weight = None if case.weight is None else case.weight[order]
            shuffled = Graph.from_edges(
                case.source[order],
                case.target[order],
                weight,
                nodes=case.nodes,
                directed=case.directed,
            )
            expected = embed(name, case.graph(), options)
            assert embed(name, shuffled, options).tobytes() == expected.tobytes()

    def test_for_edges_with_their_ends_swapped(self, name, options):
        for case in (WEIGHTED, PLAIN):
            swap = np.random.default_rng(0).random(len(case.source)) < 0.5
            source = np.where(swap, case.target, case.source)
            target = np.where(swap, case.source, case.target)
            swapped = Graph.from_edges(source, target, case.weight, nodes=case.nodes)
            expected = embed(name, case.graph(), options)
            assert embed(name, swapped, options).tobytes() == expected.tobytes()

    def test_for_a_graph_built_on_any_number_of_threads(self, name, options):
        results = {
            embed(name, WEIGHTED.graph(threads=threads), options).tobytes() for threads in (1, 2, 5)
        }
        assert len(results) == 1

    def test_by_id_for_permuted_nodes(self, name, options):
        for case in cases(name, WEIGHTED, DIRECTED):
            method = METHODS[name](**options)
            order = np.random.default_rng(0).permutation(case.nodes)
            first = method.embed(with_names(case, np.arange(case.nodes)))
            second = method.embed(with_names(case, order))
            ids = first.ids.to_pylist()
            assert second.ids.to_pylist() != ids
            assert second[ids].tobytes() == first.vectors.tobytes()

    def test_for_scipy_networkx_and_edge_list_inputs(self, name, options):
        method = METHODS[name](**options)
        expected = method.embed(PLAIN.graph()).vectors.tobytes()
        adjacency = PLAIN.graph().to_scipy()
        for matrix in (adjacency, sp.coo_matrix(adjacency), adjacency.toarray()):
            assert method.embed(matrix).vectors.tobytes() == expected
        networkx = nx.MultiGraph()
        networkx.add_nodes_from(range(PLAIN.nodes))
        networkx.add_edges_from(zip(PLAIN.source.tolist(), PLAIN.target.tolist(), strict=True))
        assert method.embed(networkx).vectors.tobytes() == expected

    def test_for_32_bit_and_64_bit_ids(self, name, options):
        narrow = Graph.from_edges(
            PLAIN.source.astype(np.int32), PLAIN.target.astype(np.uint16), nodes=PLAIN.nodes
        )
        expected = embed(name, PLAIN.graph(), options)
        assert embed(name, narrow, options).tobytes() == expected.tobytes()


def memory_limits(method, graph):
    """Memory limits that lead to every possible plan, in descending order."""
    memory = None
    while True:
        yield memory
        plan = method.set_params(memory=memory, threads=2).plan(graph)
        memory = plan.bytes.total - 1
        try:
            method.set_params(memory=memory).plan(graph)
        except MemoryLimitError:
            return


DIGESTS = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import hashlib
from example_graphs import skewed_example
from hopvec import _native
from hopvec.methods import METHODS
from hopvec.methods.dense_method import DenseMethod
graphs = [
    skewed_example(530, 2300, weighted=True, seed=1).graph(),
    skewed_example(16_500, 40_000, seed=4).graph(),  # large enough for prefetching
]
cases = json.loads(sys.argv[2])
digest = hashlib.sha256()
for name, options in cases:
    for graph in graphs[:1] if issubclass(METHODS[name], DenseMethod) else graphs:
        embedding = METHODS[name](**options).embed(graph)
        digest.update(embedding.vectors.tobytes())
    digest.update(embedding.nearest(7, 50).__repr__().encode())
print(_native.level(), digest.hexdigest())
"""


def run_at_level(level, cases):
    """The level and digest that another process prints, or None and its error output."""
    directory = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120
    run = subprocess.run(
        [sys.executable, "-c", DIGESTS, json.dumps([directory]), json.dumps(cases)],
        env=os.environ | {"HOPVEC_LEVEL": level},
        capture_output=True,
        text=True,
    )
    return run.stdout.split() if run.returncode == 0 else (None, run.stderr)


@pytest.fixture(scope="module")
def plain():
    """The digest at the level that every machine supports."""
    level, found = run_at_level("plain", WITH_LEVELS)
    assert level == "plain", found
    return found


class TestDispatch:
    @pytest.mark.parametrize("level", ["v3", "v4"])
    def test_the_same_bytes_at_every_level(self, level, plain):
        found, result = run_at_level(level, WITH_LEVELS)
        if found is None and "is not a level this machine can run" in result:
            pytest.skip(f"this machine cannot run {level}")
        assert (found, result) == (level, plain)

    def test_the_best_level_is_the_default(self):
        found, _ = run_at_level("", CASES[:1])
        assert found == _native.level()
        better = ["v4", "v3", "plain"][: ["v4", "v3", "plain"].index(found)]
        assert all(run_at_level(level, CASES[:1])[0] is None for level in better)

    def test_an_unknown_level_is_rejected_with_the_valid_ones(self):
        found, errors = run_at_level("v9", CASES[:1])
        assert found is None
        assert (
            "HOPVEC_LEVEL=v9 is not a level this machine can run; "
            "leave it unset, or use plain, v3 or v4" in errors
        )


@every_method
class TestDirectedGraphs:
    def test_are_embedded_or_rejected(self, name):
        method = METHODS[name](**QUICK[name])
        if method._supports_directed:
            assert method.embed(DIRECTED.graph()).vectors.any()
            return
        with pytest.raises(GraphError, match="is defined for undirected graphs"):
            method.embed(DIRECTED.graph())


def digest(embedding):
    return hashlib.sha256(embedding.vectors.tobytes()).hexdigest()
