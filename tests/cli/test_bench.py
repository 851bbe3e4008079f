"""`hopvec bench`."""

import json

import pytest

from hopvec.cli import bench as bench_file
from hopvec.datasets import ErdosRenyi


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Replaces the graphs and the bandwidth test by fast ones."""
    graphs = {"random": ErdosRenyi(nodes=500, edges=2000).graph}
    monkeypatch.setattr(bench_file, "GRAPHS", graphs)
    monkeypatch.setattr(bench_file, "SECONDS", 0)
    monkeypatch.setattr(bench_file, "stream_bandwidth", lambda threads: 20.0)


def test_it_prints_the_pace_of_every_graph(run):
    result = run("bench", "--dim", 16)
    assert result.exit_code == 0, result.stderr
    head, row = (line.split("\t") for line in result.stdout.splitlines())
    assert head == bench_file.COLUMNS
    assert row[:2] == ["random", "500"]
    assert "stream bandwidth 20 GB/s" in result.stderr


def test_its_json_has_the_machine_and_the_graphs(run):
    answer = json.loads(run("bench", "--dim", 16, "--json").stdout)
    assert answer["machine"]["stream_gb_per_second"] == 20
    assert answer["graphs"]["random"]["edges"] == 2000
    assert answer["graphs"]["random"]["pace"]["float32"] > 0


def test_an_invalid_dimension_is_rejected(run):
    result = run("bench", "--dim", 0)
    assert result.exit_code == 2
    assert "dim must be an integer from 1" in result.stderr
