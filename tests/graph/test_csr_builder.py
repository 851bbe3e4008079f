"""CSRBuilder within a memory limit: a range of rows at a time, from files and into files."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopvec.graph import csr_builder
from hopvec.graph.csr_builder import EdgeList
from hopvec.graph.edge_list import from_numbered_edges
from hopvec.graph.ids import number_nodes


def edges(nodes, count, seed, weighted):
    random = np.random.default_rng(seed)
    source, target = random.integers(0, nodes, (2, count)).astype(np.int32)
    weight = random.integers(0, 4, count).astype(np.float32) / 2 if weighted else None
    return source, target, weight


def built(source, target, weight, memory_limit, **options):
    options = {"directed": False, "duplicates": "sum", "loops": "keep"} | options
    numbering = number_nodes(source, target, None)
    return from_numbered_edges(numbering, weight, threads=2, memory_limit=memory_limit, **options)


def same(one, other):
    for name in ("indptr", "indices", "weights", "rows", "keys"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None)
        assert a is None or a.tobytes() == b.tobytes()
    assert one.describe() == other.describe()


@given(
    nodes=st.integers(2, 40),
    count=st.integers(1, 200),
    seed=st.integers(0, 99),
    weighted=st.booleans(),
    directed=st.booleans(),
    duplicates=st.sampled_from(["sum", "first"]),
    loops=st.sampled_from(["keep", "drop"]),
    memory_limit=st.integers(1, 400),
)
def test_the_graph_is_the_same_for_any_memory_limit(
    nodes, count, seed, weighted, directed, duplicates, loops, memory_limit
):
    options = {"directed": directed, "duplicates": duplicates, "loops": loops}
    arrays = edges(nodes, count, seed, weighted)
    same(built(*arrays, None, **options), built(*arrays, memory_limit, **options))


def test_rows_that_do_not_fit_are_in_a_file():
    arrays = edges(2_000, 50_000, 1, True)
    small, large = built(*arrays, 100_000), built(*arrays, None)
    assert isinstance(small.indices, np.memmap)
    assert isinstance(small.weights, np.memmap)
    assert not isinstance(large.indices, np.memmap)
    same(small, large)


def test_edges_in_a_file_are_read_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("hopvec.graph.csr_builder.MAX_EDGES", 1000)
    source, target, weight = edges(500, 20_000, 2, True)
    mapped = []
    for name, array in (("source", source), ("target", target), ("weight", weight)):
        array.tofile(tmp_path / name)
        mapped.append(np.memmap(tmp_path / name, array.dtype, "r"))
    chunks = list(EdgeList(*mapped).chunks(1000, directed=False, drop_loops=False))
    assert len(chunks) == 20
    same(built(*mapped, 5_000), built(source, target, weight, None))


def test_a_repeated_edge_is_refused_within_a_memory_limit_too():
    source, target, _ = edges(50, 2_000, 3, False)
    with pytest.raises(ValueError, match="repeats an earlier edge"):
        built(source, target, None, 100, duplicates="error")


def test_progress_advances_while_edges_are_read_and_reaches_the_end(monkeypatch, tmp_path):
    monkeypatch.setattr(csr_builder, "MAX_EDGES", 100)
    source, target, _ = edges(50, 1000, seed=1, weighted=False)
    numbering = number_nodes(source, target, None)
    mapped_ends = {}
    for end in ("source", "target"):
        getattr(numbering, end).astype(np.int32).tofile(tmp_path / end)
        mapped_ends[end] = np.memmap(tmp_path / end, np.int32)
    reported = []
    from_numbered_edges(
        replace(numbering, **mapped_ends),
        *(None, False, "first", "drop", 2),
        memory_limit=10**6,
        progress=lambda done, total: reported.append(done),
    )
    assert reported == sorted(reported)
    assert reported[-1] == 100
    assert len([done for done in set(reported) if 10 < done < 50]) > 5


def test_a_memory_limit_of_the_size_of_the_rows_avoids_a_second_copy():
    arrays = edges(20_000, 500_000, 0, False)
    size = 2 * 500_000 * 4

    def peak(memory_limit):
        tracemalloc.start()
        built(*arrays, memory_limit, duplicates="first")
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    assert peak(None) - peak(size) > 0.9 * size
