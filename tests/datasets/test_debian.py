"""The bundled Debian graph, and the script that builds it."""

import hashlib
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hopvec.datasets import Packages, debian, debian_edges

BUILDER = Path(__file__).resolve().parents[2] / "scripts" / "build-debian-graph"

PUBLISHED_PAIRS = "4c9385162cf05220d80cd6701f3b3ba11bad932c67431dc1e2afc8b5c9d926ea"

# mail-reader has one provider, web-server has two, and gone does not exist.
PACKAGES = """\
Package: editor
Section: editors
Pre-Depends: libc (>= 2.36)
Depends: libc (>= 2.34), perl:any | python (<< 4),
 mail-reader,
 editor
Recommends: web-server, gone [amd64]
Suggests: lonely, libc

Package: libc
Section: libs
Description: the C library
 Depends: lonely

Package: apache
Section: httpd
Provides: web-server
Depends: libc

Package: nginx
Section: httpd
Provides: web-server (= 1.22), web-server
Recommends: imap-client

Package: mutt
Section: mail
Provides: mail-reader (= 2), imap-client
Recommends: imap-client

Package: perl
Section: perl
Breaks: lonely

Package: python
Section: python
Depends: editor

Package: lonely
Section: misc
"""


@pytest.fixture(scope="module")
def dataset() -> Packages:
    return debian()


@pytest.fixture(scope="module")
def edges() -> pa.Table:
    return debian_edges()


@pytest.fixture(scope="module")
def bundled_pairs(edges: pa.Table) -> set[frozenset[str]]:
    return {
        frozenset((row["source"], row["target"]))
        for row in edges.to_pylist()
        if row["relation"] != "Suggests"
    }


def named_edges(nodes: pa.Table, edges: pa.Table) -> list[tuple[str, str, str]]:
    """The stored edges with names."""
    names = nodes["name"].to_pylist()
    return [
        (names[row["source"]], names[row["target"]], row["relation"]) for row in edges.to_pylist()
    ]


def build(index: Path, output: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BUILDER), str(index), "--output", str(output)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_package_is_one_node_in_the_order_of_names(dataset):
    names = dataset.graph.ids.to_pylist()
    assert len(names) == 63_436
    assert names == sorted(set(names))


def test_every_node_has_one_of_58_sections(dataset):
    assert len(dataset.labels) == 63_436
    assert dataset.labels.type == pa.string()
    assert dataset.labels.null_count == 0
    assert len(dataset.labels.unique()) == 58


@pytest.mark.parametrize(
    ("package", "section"),
    [("0ad", "games"), ("libc6", "libs"), ("python3-numpy", "python"), ("vim", "editors")],
)
def test_labels_are_in_the_order_of_the_ids(dataset, package, section):
    row = dataset.graph.ids.index(package).as_py()
    assert dataset.labels[row].as_py() == section


def test_each_package_has_every_dependency_once_per_relation(edges):
    assert edges.schema.names == ["source", "target", "relation"]
    assert edges.schema.types == [pa.string()] * 3
    rows = [tuple(row.values()) for row in edges.to_pylist()]
    assert len(set(rows)) == len(rows)
    assert all(source != target for source, target, _ in rows)
    counts = {"Depends": 267_362, "Recommends": 29_011, "Suggests": 23_092}
    assert Counter(relation for _, _, relation in rows) == counts


@pytest.mark.parametrize(
    ("package", "dependency", "relation"),
    [
        ("vim", "libc6", "Depends"),
        ("bash", "libc6", "Depends"),  # Pre-Depends
        ("apt", "ca-certificates", "Recommends"),
        ("vim", "vim-doc", "Suggests"),
    ],
)
def test_an_edge_leads_from_a_package_to_its_dependency(edges, package, dependency, relation):
    row = {"source": package, "target": dependency, "relation": relation}
    assert row in edges.to_pylist()
    assert row | {"source": dependency, "target": package} not in edges.to_pylist()


def test_without_suggests_there_are_294758_pairs(bundled_pairs):
    assert len(bundled_pairs) == 294_758


def test_the_pairs_are_those_of_the_published_results(bundled_pairs):
    lines = "\n".join(sorted(" ".join(sorted(pair)) for pair in bundled_pairs))
    assert hashlib.sha256(lines.encode()).hexdigest() == PUBLISHED_PAIRS


def test_3076_packages_are_isolated(bundled_pairs):
    assert 63_436 - len(frozenset().union(*bundled_pairs)) == 3_076


def test_the_graph_has_every_edge_once_without_loops_or_weights(dataset):
    graph = dataset.graph
    assert (graph.nodes, graph.edges, graph.isolated) == (63_436, 294_758, 3_076)
    assert (graph.duplicates, graph.loops, graph.weights) == (0, 0, None)
    assert not graph.directed


def test_the_graph_has_the_stored_edges(dataset, bundled_pairs):
    names = np.array(dataset.graph.ids.to_pylist(), object)
    entries = dataset.graph.to_scipy().tocoo()
    source, target = (names[end].tolist() for end in entries.coords)
    assert set(map(frozenset, zip(source, target, strict=True))) == bundled_pairs


@pytest.mark.parametrize(
    ("package", "dependency"),
    [("0ad", "0ad-data"), ("vim", "vim-common"), ("vim", "libc6"), ("python3-numpy", "libblas3")],
)
def test_packages_have_edges_to_their_dependencies(bundled_pairs, package, dependency):
    assert frozenset((package, dependency)) in bundled_pairs


def test_the_data_files_take_less_than_a_megabyte():
    directory = files("hopvec.datasets")
    sizes = [len(entry.read_bytes()) for entry in directory.iterdir() if ".parquet" in entry.name]
    assert len(sizes) == 2
    assert sum(sizes) < 1_000_000


def test_the_builder_resolves_alternatives_versions_and_single_providers(tmp_path):
    index = tmp_path / "Packages"
    index.write_text(PACKAGES, encoding="utf-8")
    finished = build(index, tmp_path / "out")
    assert finished.returncode == 0, finished.stderr
    nodes = pq.read_table(tmp_path / "out" / "debian-nodes.parquet")
    edges = pq.read_table(tmp_path / "out" / "debian-edges.parquet")
    assert nodes.to_pylist() == [
        {"name": "apache", "section": "httpd"},
        {"name": "editor", "section": "editors"},
        {"name": "libc", "section": "libs"},
        {"name": "lonely", "section": "misc"},
        {"name": "mutt", "section": "mail"},
        {"name": "nginx", "section": "httpd"},
        {"name": "perl", "section": "perl"},
        {"name": "python", "section": "python"},
    ]
    assert edges.schema.types == [pa.int32(), pa.int32(), pa.string()]
    assert named_edges(nodes, edges) == [  # by relation, dependency and package
        ("python", "editor", "Depends"),
        ("apache", "libc", "Depends"),
        ("editor", "libc", "Depends"),
        ("editor", "mutt", "Depends"),
        ("editor", "perl", "Depends"),
        ("editor", "python", "Depends"),
        ("nginx", "mutt", "Recommends"),
        ("editor", "libc", "Suggests"),
        ("editor", "lonely", "Suggests"),
    ]


def test_the_builder_prints_what_was_used_and_dropped(tmp_path):
    index = tmp_path / "Packages"
    index.write_text(PACKAGES, encoding="utf-8")
    printed = [line.split() for line in build(index, tmp_path / "out").stdout.splitlines()]
    assert ["8", "packages", "in", "7", "sections,", "1", "isolated"] in printed
    assert ["6", "edges", "between"] in [line[:3] for line in printed]
    assert ["9", "directed", "edges", "with", "relations:"] in printed
    assert printed[3:6] == [["6", "Depends"], ["1", "Recommends"], ["2", "Suggests"]]
    assert [
        "3",
        "a",
        "name",
        "with",
        "one",
        "provider,",
        "taken",
        "as",
        "that",
        "package",
    ] in printed
    assert ["1", "a", "name", "with", "several", "providers,", "dropped"] in printed
    assert ["1", "an", "unknown", "name,", "dropped"] in printed


@pytest.mark.parametrize("text", ["", "Origin: Debian\n", "Package: alone\nSection: misc\n"])
def test_the_builder_refuses_a_file_that_is_not_a_package_index(tmp_path, text):
    index = tmp_path / "Release"
    index.write_text(text, encoding="utf-8")
    finished = build(index, tmp_path / "out")
    assert finished.returncode == 2
    assert finished.stderr.startswith(f"build-debian-graph: {index}")
    assert "Traceback" not in finished.stderr
    assert not (tmp_path / "out").exists()
