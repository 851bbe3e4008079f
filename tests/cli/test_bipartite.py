"""`--bipartite`: users and items."""

import hopvec


def test_the_sides_are_told_and_prefixes_are_in_the_ids(run, tmp_path):
    (tmp_path / "links.csv").write_text("user,item\n1,1\n1,2\n2,2\n3,1\n")
    words = ["--bipartite", "--prefixes", "user:,item:", "--header"]
    result = run("embed", "links.csv", "-o", "vectors.npz", "--dim", 8, *words)
    assert result.exit_code == 0, result.stderr
    assert "5 nodes, 4 edges, bipartite (3 sources and 2 targets), undirected" in result.stderr
    ids = list(hopvec.load(tmp_path / "vectors.npz"))
    assert ids == ["item:1", "item:2", "user:1", "user:2", "user:3"]


def test_equal_ids_and_unequal_orders_are_refused_in_a_sentence(run, tmp_path):
    (tmp_path / "links.txt").write_text("1 1\n1 2\n")
    result = run("embed", "links.txt", "-o", "vectors.npz", "--bipartite")
    assert result.exit_code == 2
    assert "The id 1 is on both sides of the bipartite graph" in result.stderr
    words = ["--bipartite", "--prefixes", "u,i", "--weights", "0,0,1"]
    result = run("embed", "links.txt", "-o", "vectors.npz", *words)
    assert result.exit_code == 2
    assert "only odd orders count" in result.stderr
