"""Plans of reading, building and embedding within a memory limit.

A limit that is large enough for a run is followed by larger ones only, and the minimum that a
refusal names is the smallest of them.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from hopvec import MemoryLimitError
from hopvec.graph.build_plan import EdgesSize, plan_build
from hopvec.graph.csr_builder import BUILDER_NODE_BYTES, MIN_LIMIT
from hopvec.graph.size import GraphSize, RelationsSize, id_bytes
from hopvec.memory import data_limit, rounded_up
from hopvec.methods import METHODS
from hopvec.methods.slab_method import SlabMethod

CASES = 250  # graphs and options; each is planned within 8 limits
FASTRP = {
    "dim": (1, 16, 64, 96, 256, 1024),
    "passes": (1, 2, 3),
    "precision": ("float32", "float16"),
    "direction": ("out", "in", "both", "concat"),
    "normalize": ("none", "full"),
    "oversample": (1, 2),
    "threads": (1, 2, 16),
}


def fastrp(random):
    """FastRP with random parameters that do not contradict each other."""
    while True:
        chosen = {name: values[random.integers(len(values))] for name, values in FASTRP.items()}
        if chosen["passes"] > 1 and chosen["normalize"] != "full":
            continue
        if chosen["direction"] == "concat" and chosen["dim"] % 64:
            continue
        return METHODS["fastrp"](**chosen)


def methods(random):
    """Random methods: mostly FastRP, since it has the most ways to run."""
    others = ("randne", "deepwalk", "line", "netmf")
    if random.random() < 0.8:
        return fastrp(random)
    return METHODS[others[random.integers(len(others))]](dim=int(16 * random.integers(1, 9)))


def sizes(random):
    """The sizes of a random graph when its edges have been read."""
    nodes = int(10 ** random.uniform(0, 8))
    edges = int(nodes * 10 ** random.uniform(-1, 2)) + 1
    directed, weighted, given = (bool(random.integers(2)) for _ in range(3))
    weighted |= given
    ids = id_bytes(nodes, int(nodes * random.integers(0, 30)))
    entries = edges * (1 if directed else 2)
    relations = None
    if random.random() < 0.2:
        pairs = int(nodes * random.uniform(1, 3)) + 1
        relations = RelationsSize(int(random.integers(1, 9)), pairs, entries, 8 * pairs)
    size = GraphSize(nodes, entries, weighted, directed, ids, relations=relations)
    arrays = edges * (12 if given else 8)
    return size, EdgesSize(given, arrays, ids + int(nodes * random.uniform(40, 100)))


def cases():
    """Random graphs and methods."""
    random = np.random.default_rng(20)
    for _ in range(CASES):
        yield random, *sizes(random), methods(random)


def plan(size, edges, limit, method):
    return plan_build("This graph", size, edges, limit, method._run_memory)


def minimum(size, edges, method):
    """The minimum that a refusal names."""
    with pytest.raises(MemoryLimitError) as error:
        plan(size, edges, 1, method)
    return error.value.shortage.needs.total


def smaller(random, size):
    """The size of a graph that may come of one with these upper bounds."""
    weighted = size.weighted and bool(random.integers(2))
    return replace(size, entries=int(size.entries * random.random()), weighted=weighted)


def test_a_limit_suffices_exactly_from_the_minimum_on_that_a_refusal_names():
    triples = 0
    for random, size, edges, method in cases():
        least = minimum(size, edges, method)
        limits = [least - 1, least, *(int(least * 10 ** random.uniform(-1, 2)) for _ in range(6))]
        for limit in limits:
            triples += 1
            if limit >= least:
                plan(size, edges, limit, method)
                continue
            with pytest.raises(MemoryLimitError) as error:
                plan(size, edges, max(1, limit), method)
            assert error.value.shortage.needs.total == least
    assert triples == 2000


def test_what_is_built_leaves_enough_for_the_embedding():
    kept = 0
    for random, size, edges, method in cases():
        least = minimum(size, edges, method)
        for limit in (least, least + 1, *(int(least * 10 ** random.uniform(0, 2)) for _ in "abc")):
            chosen = plan(size, edges, limit, method)
            kept += not chosen.in_file
            built = replace(smaller(random, size), in_file=chosen.in_file)
            method.set_params(memory=limit)
            assert method._min_memory(built).total <= limit
            if isinstance(method, SlabMethod):
                work = method._work(built, method._orders_with_norms())
                assert work.choose(built, limit).bytes.total <= limit
    assert 300 < kept < 5 * CASES


def test_rows_and_edges_in_memory_fit_while_the_graph_is_built():
    for random, size, edges, method in cases():
        least = minimum(size, edges, method)
        for limit in (least, int(least * 10 ** random.uniform(0, 2))):
            chosen = plan(size, edges, limit, method)
            held = size.id_bytes + BUILDER_NODE_BYTES * size.nodes
            held += edges.nbytes * (not chosen.edges_in_file)
            rows = chosen.limit
            if rows is None:
                rows = size.entry_bytes + size.entries * (8 if edges.weighted else 4)
            else:
                assert rows >= MIN_LIMIT
            assert held + rows <= limit


def test_the_sum_of_duplicates_counts_as_weighted():
    """100 million edges without weights, of which some are repeated, and 64 columns."""
    nodes, edges = 8_600_000, 100_000_000
    size = GraphSize(nodes, 2 * edges, True, False, id_bytes(nodes, 0))
    read = EdgesSize(False, 8 * edges, 90 * nodes)
    method = METHODS["fastrp"](dim=64)
    least = minimum(size, read, method)
    assert 2e9 < least < 3e9
    for limit in range(least, 2 * 10**10, 10**8):
        chosen = plan(size, read, limit, method)
        built = replace(size, entries=190_000_000, in_file=chosen.in_file)
        assert method._min_memory(built).total <= limit


@pytest.mark.parametrize(
    ("size", "shown"), [(999, 999), (1000, 1000), (1001, 1010), (2_345_001, 2_350_000)]
)
def test_a_minimum_is_rounded_up(size, shown):
    assert rounded_up(size) == shown


def test_the_limit_of_a_program_below_its_own_memory_leaves_nothing_for_data():
    assert data_limit(None) is None
    assert [data_limit(limit) for limit in (1, 180_000_000, 180_000_002)] == [1, 1, 2]


@pytest.mark.parametrize("dim", [1, 8, 16, 64])
@pytest.mark.parametrize("passes", [1, 3])
def test_the_minimum_of_an_embedding_is_that_of_its_smallest_plan(dim, passes):
    method = METHODS["fastrp"](dim=dim, passes=passes)
    size = GraphSize(100_000, 1_000_000, False, False, 800_000)
    work = method._work(size, method._orders_with_norms())
    totals = [plan.bytes.total for plan in work.plans(size)]
    assert method._min_memory(size).total == min(totals)
    for total, other in itertools.product(totals, totals):
        if other <= total:
            assert work.choose(size, total).bytes.total <= total
    with pytest.raises(MemoryLimitError):
        work.choose(size, min(totals) - 1)
