"""Search of nodes by name."""

import time

import pyarrow as pa

from hopvec.view.explorer.search import NameSearch

NAMES = ["Python", "python3", "libpython", "pythonista", "cython", "Äpfel", "a\nb", "", "100%"]


def completed(text, count=5, names=NAMES):
    search = NameSearch(pa.array(names, pa.large_string()))
    return [names[node] for node in search.complete(text, count)]


def test_prefix_matches_come_first_shortest_first():
    assert completed("pyth") == ["Python", "python3", "pythonista", "libpython"]
    assert completed("PYTHON", 2) == ["Python", "python3"]


def test_substrings_are_found_literally():
    assert completed("thon", 2) == ["Python", "cython"]
    assert completed("%") == ["100%"]
    assert completed(".*") == []
    assert completed("äp") == ["Äpfel"]


def test_an_empty_string_matches_nothing():
    assert completed("  ") == []


def test_a_node_is_found_by_its_exact_name():
    search = NameSearch(pa.array(NAMES, pa.large_string()))
    assert search.node("a\nb") == 6
    assert search.node("python") is None


def test_a_million_names_are_completed_quickly():
    names = [f"host-{at * 7919 % 1_000_003}.example.org" for at in range(1_000_000)]
    search = NameSearch(pa.array(names, pa.large_string()))

    def seconds(text):
        start = time.perf_counter()
        assert search.complete(text, 12)
        return time.perf_counter() - start

    for text in ("h", "host-99", "9.exam"):
        assert min(seconds(text) for _ in range(3)) < 0.5
