"""`hopvec demo`."""

import re
import sys
from importlib import import_module

import pytest

import hopvec
from clustered_embedding import clustered_embedding
from hopvec.formats.positions import read_positions

demo = import_module("hopvec.cli.demo")


@pytest.fixture
def small(monkeypatch):
    """Replaces the graph of Debian by a small one."""
    embedding, labels = clustered_embedding(200)
    near = embedding.nearest_rows(range(200), 6).rows
    names = [*demo.PACKAGES, *(f"package {number}" for number in range(5, 200))]
    source = [names[row] for row in range(200) for _ in range(6)]
    graph = hopvec.Graph.from_edges(source, [names[row] for row in near.ravel()])
    classes = {
        name: labels.classes[code] for name, code in zip(names, labels.matrix.indices, strict=True)
    }
    sections = [classes[name] for name in graph.ids.to_pylist()]
    monkeypatch.setattr("hopvec.datasets.debian", lambda: (graph, sections))
    return graph


def test_it_shows_neighbors_and_scores_and_keeps_all_files(run, small, tmp_path):
    result = run("demo")
    assert result.exit_code == 0, result.stderr
    for package in demo.PACKAGES:
        assert f"Nearest neighbors of {package}" in result.stdout
    assert "FastRP" in result.stdout
    assert "RandNE" in result.stdout
    assert re.search(r"macro F1.*micro F1", result.stdout)
    directory = tmp_path / "hopvec-demo"
    assert sorted(path.name for path in directory.iterdir()) == sorted(demo.FILES)
    assert (directory / "map.png").read_bytes().startswith(b"\x89PNG")
    assert read_positions(directory / "fastrp.parquet").shape == (200, 2)
    assert len(hopvec.read_labels(directory / "sections.csv")) == 200
    assert hopvec.read_graph(directory / "edges.parquet").edges == small.edges
    nearest = hopvec.load(directory / "fastrp.parquet").nearest("gimp", 1)[0]
    assert nearest[0] in result.stdout
    assert "hopvec explore hopvec-demo/fastrp.parquet" in result.stderr


def test_a_file_as_output_directory_is_rejected(run, small, tmp_path):
    (tmp_path / "taken").write_text("")
    result = run("demo", "-o", "taken")
    assert result.exit_code == 2
    assert "taken: cannot create this directory" in result.stderr


def test_a_missing_extra_is_reported_before_the_work(run, small, tmp_path, monkeypatch):
    for package in ("openTSNE", "threadpoolctl"):
        monkeypatch.setitem(sys.modules, package, None)
    result = run("demo")
    assert result.exit_code == 2
    assert result.stderr == (
        "demo needs the extras evaluate and view: pip install 'hopvec[evaluate,view]'.\n"
    )
    assert not (tmp_path / "hopvec-demo").exists()


def test_open_starts_the_explorer(run, small, monkeypatch):
    served = []
    monkeypatch.setattr(
        "hopvec.view.explorer.serve", lambda exploration, **how: served.append((exploration, how))
    )
    result = run("demo", "--open")
    assert result.exit_code == 0, result.stderr
    ((exploration, how),) = served
    assert len(exploration) == 200
    assert how["open_browser"]
