"""`hopvec embed --bipartite`."""

import hopvec


def test_the_report_has_both_sides_and_ids_have_prefixes(run, tmp_path):
    (tmp_path / "links.csv").write_text("user,item\n1,1\n1,2\n2,2\n3,1\n")
    arguments = ["--bipartite", "--prefixes", "user:,item:", "--header"]
    result = run("embed", "links.csv", "-o", "vectors.npz", "--dim", 8, *arguments)
    assert result.exit_code == 0, result.stderr
    assert "5 nodes, 4 edges, bipartite (3 sources and 2 targets), undirected" in result.stderr
    ids = list(hopvec.load(tmp_path / "vectors.npz"))
    assert ids == ["item:1", "item:2", "user:1", "user:2", "user:3"]


def test_ids_on_both_sides_and_odd_orders_only_are_rejected(run, tmp_path):
    (tmp_path / "links.txt").write_text("1 1\n1 2\n")
    result = run("embed", "links.txt", "-o", "vectors.npz", "--bipartite")
    assert result.exit_code == 2
    assert "The id 1 is on both sides of the bipartite graph" in result.stderr
    arguments = ["--bipartite", "--prefixes", "u,i", "--weights", "0,0,1"]
    result = run("embed", "links.txt", "-o", "vectors.npz", *arguments)
    assert result.exit_code == 2
    assert "only odd orders have a weight" in result.stderr
