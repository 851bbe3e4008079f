"""`hopvec embed --like`, `hopvec diff` and `hopvec transform`."""

import json
from pathlib import Path

import pytest

import hopvec


def embed(run, edges, output, *more):
    result = run("embed", edges, "-o", output, *more)
    assert result.exit_code == 0, result.stderr


def test_the_same_graph_embedded_with_like_has_not_moved(run, edges):
    embed(run, edges, "old.parquet", "--dim", "8", "--beta", "0", "--sparsity", "2")
    embed(run, edges, "new.parquet", "--like", "old.parquet")
    old, new = hopvec.load("old.parquet"), hopvec.load("new.parquet")
    assert new.vectors.tobytes() == old.vectors.tobytes()
    found = json.loads(run("diff", "old.parquet", "new.parquet", "--json").stdout)
    assert (found["nodes"], found["removed"], found["added"]) == (6, 0, 0)
    assert min(node["cosine"] for node in found["moved"]) > 0.9999


def test_the_list_starts_with_the_node_that_moved_most(run, edges):
    embed(run, edges, "old.parquet", "--dim", "64", "--sparsity", "1", "--weights", "1,1")
    Path("more.csv").write_text(Path(edges).read_text() + "gus,eve\ngus,ann\n")
    embed(run, "more.csv", "new.parquet", "--like", "old.parquet")
    lines = run("diff", "old.parquet", "new.parquet", "-k", "2").stdout.splitlines()
    cosines = [float(line.split("\t")[1]) for line in lines]
    assert len(lines) == 2
    assert cosines == sorted(cosines)
    assert cosines[0] < 0.999


def test_parameters_given_with_like_are_rejected(run, edges):
    embed(run, edges, "old.parquet", "--dim", "8")
    result = run("embed", edges, "-o", "new.parquet", "--like", "old.parquet", "--dim", "4")
    assert result.exit_code == 2
    assert "--like takes all parameters from its file; remove --dim" in result.stderr


@pytest.mark.parametrize(
    ("output", "options", "message"),
    [
        ("old.parquet", ["--method", "randne"], "old.parquet: these vectors were made by RandNE"),
        ("old.csv", [], "old.csv: this file lacks the fitted state that comparable vectors share"),
    ],
)
def test_vectors_without_a_fitted_state_are_rejected(run, edges, output, options, message):
    embed(run, edges, output, "--dim", "16", *options)
    for command in (
        ["embed", edges, "--like", output, "-o", "new.parquet"],
        ["transform", output, edges, "--base", edges, "-o", "new.parquet"],
    ):
        result = run(*command)
        assert result.exit_code == 2
        assert message in result.stderr
        assert not Path("new.parquet").exists()


def test_the_reference_vectors_are_not_replaced(run, edges):
    embed(run, edges, "old.parquet", "--dim", "8")
    result = run("embed", edges, "-o", "old.parquet", "--like", "old.parquet")
    assert "old.parquet: this is an input file" in result.stderr
    arguments = ("--base", edges, "--nodes", "nodes.parquet", "-o", "nodes.parquet")
    Path("nodes.parquet").write_bytes(Path("old.parquet").read_bytes())
    result = run("transform", "old.parquet", edges, *arguments)
    assert "nodes.parquet: this is an input file" in result.stderr


def test_vectors_that_are_not_comparable_are_rejected(run, edges):
    embed(run, edges, "old.parquet", "--dim", "8")
    Path("more.csv").write_text(Path(edges).read_text() + "gus,eve\ngus,ann\n")
    embed(run, "more.csv", "new.parquet", "--dim", "8")
    assert "was not aligned with the first" in run("diff", "old.parquet", "new.parquet").stderr
    embed(run, "more.csv", "new.parquet", "--like", "old.parquet")
    assert "was not aligned" not in run("diff", "old.parquet", "new.parquet").stderr


def test_new_nodes_get_vectors(run, edges):
    embed(run, edges, "old.parquet", "--dim", "8", "--sparsity", "2")
    Path("new.csv").write_text("source,target\ngus,ann\ngus,hal\n")
    result = run("transform", "old.parquet", "new.csv", "--base", edges, "-o", "more.parquet")
    assert result.exit_code == 0, result.stderr
    assert hopvec.load("more.parquet").ids.to_pylist() == ["gus", "hal"]
    assert "more.parquet: 2 vectors of dimension 8" in result.stderr


def test_both_graphs_are_reported_and_another_base_graph_is_rejected(run, edges):
    embed(run, edges, "old.parquet", "--dim", "8", "--sparsity", "2")
    Path("new.csv").write_text("source,target\ngus,ann\n")
    arguments = ("transform", "old.parquet", "new.csv", "-o", "more.parquet", "--base")
    printed = run(*arguments, edges).stderr
    assert "new.csv: text" in printed
    assert "2 nodes, 1 edge, undirected" in printed
    Path("other.csv").write_text(Path(edges).read_text() + "ann,zoe\n")
    result = run(*arguments, "other.csv")
    assert result.exit_code == 2
    assert "The embedding was made from a graph with 6 nodes and" in result.stderr
    assert "but this graph has 7 nodes and" in result.stderr
