"""Held-out edges, training graphs and negatives."""

import os
import sys
import threading
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from edge_splits import as_keys, components, edge_splits, edges_of, ends
from example_graphs import complete, example, random_example, skewed_example
from hopvec import FormatError, Graph, GraphError, ParameterError, UnknownNodeError, read_graph
from hopvec.evaluate import HeldOut, hold_out, read_links
from hopvec.evaluate.pairs import Pairs


def same(one, other):
    return (
        one.edges.equals(other.edges)
        and list(one.negatives) == list(other.negatives)
        and all(pairs.equals(other.negatives[how]) for how, pairs in one.negatives.items())
        and edges_of(one.training) == edges_of(other.training)
    )


@settings(max_examples=30)
@given(edge_splits())
def test_training_and_held_out_edges_partition_the_edges(split):
    graph, held_out = split
    out, left, every = as_keys(graph, held_out.edges), edges_of(held_out.training), edges_of(graph)
    assert len(out) == len(set(out))
    assert not set(out) & set(left)
    assert {**left, **{edge: every[edge] for edge in out}} == every


@settings(max_examples=30)
@given(edge_splits())
def test_negatives_are_distinct_and_neither_edges_nor_loops(split):
    graph, held_out = split
    for pairs in held_out.negatives.values():
        negatives = as_keys(graph, pairs)
        assert len(negatives) == len(set(negatives)) == len(held_out.edges)
        assert not set(negatives) & set(edges_of(graph))
        assert all(u != v for u, v in ends(pairs))


@settings(max_examples=30)
@given(edge_splits())
def test_nodes_loops_and_components_are_kept(split):
    graph, held_out = split
    training = held_out.training
    assert training.ids.equals(graph.ids)
    assert training.directed == graph.directed
    assert components(training) == components(graph)
    np.testing.assert_array_equal(training.to_scipy().diagonal(), graph.to_scipy().diagonal())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_the_order_of_edges_and_nodes_does_not_matter(directed, weighted):
    made = skewed_example(60, 300, directed=directed, weighted=weighted)
    shuffle = np.random.default_rng(1)
    edges, nodes = shuffle.permutation(len(made.source)), shuffle.permutation(made.nodes)
    source, target = made.source[edges], made.target[edges]
    if not directed:
        swapped = shuffle.random(len(edges)) < 0.5
        source, target = np.where(swapped, target, source), np.where(swapped, source, target)
    weight = made.weight[edges] if weighted else None
    shuffled = Graph.from_edges(source, target, weight, directed=directed, nodes=nodes)
    assert same(hold_out(made.graph(), seed=3), hold_out(shuffled, seed=3))


def test_the_same_seed_holds_out_the_same_edges_and_another_seed_others():
    graph = random_example(50, 200).graph()
    assert same(hold_out(graph, seed=5), hold_out(graph, seed=5))
    one, other = hold_out(graph, seed=5), hold_out(graph, seed=6)
    assert set(ends(one.edges)) != set(ends(other.edges))
    for how in ("uniform", "degree"):
        assert set(ends(one.negatives[how])) != set(ends(other.negatives[how]))
    assert set(ends(one.negatives["uniform"])) != set(ends(one.negatives["degree"]))


@pytest.mark.parametrize("directed", [False, True])
def test_new_edges_do_not_change_the_order_of_the_others(directed):
    made = random_example(200, 600, directed=directed)
    hubs = np.random.default_rng(0).choice(200, 20, replace=False)
    source = np.concatenate([made.source, np.repeat(hubs, 30)])
    target = np.concatenate([made.target, np.arange(1000, 1600)])
    later = Graph.from_edges(source, target, directed=directed)
    earlier = made.graph()
    before = set(as_keys(earlier, hold_out(earlier, connected=False, share=0.5).edges))
    after = set(as_keys(later, hold_out(later, connected=False, share=0.5).edges))
    kept = after & edges_of(earlier).keys()
    assert kept <= before or before <= kept


def test_all_edges_of_a_cycle_are_held_out_equally_often():
    graph = Graph.from_edges(np.arange(12), (np.arange(12) + 1) % 12)
    often = {}
    for seed in range(600):
        (edge,) = as_keys(graph, hold_out(graph, count=1, negatives=0, seed=seed).edges)
        often[edge] = often.get(edge, 0) + 1
    assert len(often) == 12
    assert stats.chisquare(list(often.values())).pvalue > 1e-4


def test_a_bridge_is_never_held_out():
    graph = Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3])
    held_out = {
        edge
        for seed in range(100)
        for edge in as_keys(graph, hold_out(graph, count=2, seed=seed).edges)
    }
    assert held_out == {*map(frozenset, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])}


def test_one_of_two_opposite_edges_can_be_held_out():
    graph = Graph.from_edges([0, 1], [1, 0], directed=True)
    held_out = hold_out(graph, count=1, negatives=0)
    assert held_out.training.edges == 1
    assert components(held_out.training) == [0, 0]


def test_share_is_relative_to_all_edges_except_loops():
    graph = example([*complete(10), (3, 3)], 10).graph()
    assert len(hold_out(graph, share=0.4, negatives=0).edges) == 18
    assert len(hold_out(graph, count=7, negatives=0).edges) == 7


def test_negatives_is_the_number_per_edge():
    graph = random_example(100, 200).graph()
    held_out = hold_out(graph, count=20, negatives=3)
    assert {how: len(pairs) for how, pairs in held_out.negatives.items()} == {
        "uniform": 60,
        "degree": 60,
    }
    expected = "HeldOut(edges: 20, negatives: 60 uniform + 60 degree, training: Graph(100"
    assert repr(held_out).startswith(expected)
    none = hold_out(graph, count=20, negatives=0)
    assert none.negatives == {}
    assert repr(none).startswith("HeldOut(edges: 20, negatives: none, training")


def test_one_sampling_draws_the_same_negatives_and_edges_as_both():
    graph = skewed_example(100, 400).graph()
    both = hold_out(graph)
    for how in ("uniform", "degree"):
        one = hold_out(graph, sampling=how)
        assert list(one.negatives) == [how]
        assert one.negatives[how].equals(both.negatives[how])
        assert one.edges.equals(both.edges)


def test_ends_of_degree_negatives_have_the_degrees_of_ends_of_edges():
    graph = skewed_example(3000, 9000).graph()
    degree = np.diff(graph.to_scipy().indptr)
    held_out = hold_out(graph, connected=False)
    mean = {
        how: degree[np.array(ends(pairs))].mean()
        for how, pairs in {"edges": held_out.edges, **held_out.negatives}.items()
    }
    assert mean["uniform"] < 0.2 * mean["edges"]
    assert 0.7 * mean["edges"] < mean["degree"] < 1.1 * mean["edges"]


def test_components_may_split_if_connected_is_false():
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    held_out = hold_out(graph, share=0.5, connected=False)
    assert len(held_out.edges) == 2
    assert held_out.training.nodes == 5


def test_progress_reaches_the_total():
    reports = []
    hold_out(random_example(50, 200).graph(), progress=lambda *report: reports.append(report))
    assert reports[-1][0] == reports[-1][1]
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)


class TestErrors:
    def test_more_edges_than_a_spanning_forest_leaves(self):
        graph = Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 4, 2])
        with pytest.raises(ParameterError) as error:
            hold_out(graph, count=2)
        assert str(error.value) == (
            "hold_out: 2 of 5 edges cannot be held out, since 4 are needed to keep the components "
            "connected. Hold out at most 1, a share of 0.2, or allow components to split: "
            "connected=False."
        )
        assert len(hold_out(graph, share=0.2).edges) == 1

    def test_a_share_that_rounds_to_0(self):
        with pytest.raises(
            ParameterError, match=r"a share of 0.01 of 3 edges rounds to 0\. Choose a larger share"
        ):
            hold_out(Graph.from_edges([0, 1, 2], [1, 2, 0]), share=0.01)

    def test_a_graph_without_edges_between_nodes(self):
        with pytest.raises(GraphError, match="the graph has no edges between different nodes"):
            hold_out(Graph.from_edges([0], [0]))

    def test_a_directed_graph_in_which_no_pair_can_be_drawn_by_degree(self):
        star = Graph.from_edges([0] * 9 + [1], [*range(1, 10), 2], directed=True)
        assert len(hold_out(star, count=1, sampling="uniform").negatives["uniform"]) == 1
        with pytest.raises(ParameterError) as error:
            hold_out(star, count=9, negatives=2, connected=False)
        assert str(error.value) == (
            "18 pairs that are not edges are needed, but only 7 of the 17 pairs of a node with "
            "outgoing and a node with incoming edges are left. Hold out fewer edges, use fewer "
            "negatives, or draw them uniformly: sampling='uniform'."
        )

    def test_negatives_of_no_kind(self):
        edges = hold_out(random_example(40, 150).graph()).edges
        with pytest.raises(ParameterError, match=r"negatives must be a dict of tables, .* a Table"):
            HeldOut(None, edges, edges)

    def test_a_graph_too_dense_for_negatives(self):
        with pytest.raises(ParameterError, match="only 0 of the 45 pairs of nodes are left"):
            hold_out(example(complete(10), 10).graph(), count=1)

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"share": 1.5}, "hold_out: share must be a number from 0 to 1, got 1.5."),
            ({"count": 0}, "hold_out: count must be an integer from 1 to 3, got 0."),
            ({"negatives": -1}, "hold_out: negatives must be an integer from 0 to 1,000, got -1."),
            (
                {"sampling": "popular"},
                "hold_out: sampling must be 'both' or 'uniform' or 'degree', got 'popular'.",
            ),
            ({"connected": 1}, "hold_out: connected must be True or False, got 1."),
            (
                {"seed": -1},
                "hold_out: seed must be an integer from 0 to 18,446,744,073,709,551,615, got -1.",
            ),
        ],
    )
    def test_parameters(self, options, sentence):
        with pytest.raises(ParameterError) as error:
            hold_out(Graph.from_edges([0, 1, 2], [1, 2, 0]), **options)
        assert str(error.value) == sentence


class TestFiles:
    @pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".arrow"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_pairs_and_training_edges_are_read_back(self, tmp_path, suffix, weighted):
        made = skewed_example(40, 150, weighted=weighted)
        names = [f'node "{at}", {at}' for at in range(40)]
        graph = Graph.from_edges(
            [names[u] for u in made.source], [names[v] for v in made.target], made.weight
        )
        held_out = hold_out(graph)
        held_out.save(tmp_path / f"links{suffix}", tmp_path / f"training{suffix}")
        links = read_links(tmp_path / f"links{suffix}")
        assert ends(links.edges) == ends(held_out.edges)
        assert list(links.negatives) == ["uniform", "degree"]
        for how, pairs in held_out.negatives.items():
            assert ends(links.negatives[how]) == ends(pairs)
        assert links.training is None
        assert edges_of(read_graph(tmp_path / f"training{suffix}")) == edges_of(held_out.training)

    def test_files_are_replaced_together_or_not_at_all(self, tmp_path):
        graph = random_example(40, 150).graph()
        paths = tmp_path / "links.csv", tmp_path / "training.csv"
        hold_out(graph).save(*paths)
        before = [path.read_bytes() for path in paths]

        def fail(done, total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            hold_out(graph, seed=1).save(*paths, progress=fail)
        assert [path.read_bytes() for path in paths] == before
        assert len(list(tmp_path.iterdir())) == 2

    @pytest.mark.parametrize("given", ["whole", "training"])
    def test_the_whole_graph_and_the_training_graph_give_the_same_result(self, tmp_path, given):
        graph = random_example(40, 150).graph()
        held_out = hold_out(graph)
        held_out.save(tmp_path / "links.csv")
        from_file = read_links(
            tmp_path / "links.csv", graph=graph if given == "whole" else held_out.training
        )
        assert edges_of(from_file.training) == edges_of(held_out.training)

    @pytest.mark.parametrize("given", ["whole", "training"])
    def test_negatives_are_sampled_if_a_file_has_none(self, tmp_path, given):
        graph = random_example(40, 150).graph()
        held_out = hold_out(graph)
        HeldOut(None, held_out.edges, {}).save(tmp_path / "links.csv")
        from_file = read_links(
            tmp_path / "links.csv",
            graph=graph if given == "whole" else held_out.training,
            negatives=2,
        )
        assert list(from_file.negatives) == ["uniform", "degree"]
        for pairs in from_file.negatives.values():
            assert len(pairs) == 2 * len(held_out.edges)
            assert not set(as_keys(graph, pairs)) & set(edges_of(graph))

    def test_negatives_of_a_file_without_the_column_sampling_are_given(self, tmp_path):
        (tmp_path / "links.csv").write_text("source,target,label\na,b,1\na,c,0\nb,c,0\n")
        links = read_links(tmp_path / "links.csv")
        assert {how: ends(pairs) for how, pairs in links.negatives.items()} == {
            "given": [("a", "c"), ("b", "c")]
        }

    def test_one_kind_of_negatives_can_be_selected(self, tmp_path):
        graph = random_example(40, 150).graph()
        hold_out(graph).save(tmp_path / "links.csv")
        both = read_links(tmp_path / "links.csv")
        one = read_links(tmp_path / "links.csv", sampling="degree")
        assert list(one.negatives) == ["degree"]
        assert one.negatives["degree"].equals(both.negatives["degree"])
        hold_out(graph, sampling="uniform").save(tmp_path / "links.csv")
        with pytest.raises(ParameterError, match="no negatives are 'degree', only 'uniform'"):
            read_links(tmp_path / "links.csv", sampling="degree")

    def test_other_names_of_negatives_are_kept(self, tmp_path):
        text = "source,target,label,sampling\na,b,1,\na,c,0,two hops\nb,c,0,\n"
        (tmp_path / "links.csv").write_text(text)
        links = read_links(tmp_path / "links.csv")
        assert {how: ends(pairs) for how, pairs in links.negatives.items()} == {
            "two hops": [("a", "c")],
            "given": [("b", "c")],
        }

    @pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes")
    def test_a_pipe_with_the_column_sampling_is_refused(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        text = "source,target,label,sampling\na,b,1,\na,c,0,uniform\n"
        writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=[text])
        writer.start()
        with pytest.raises(FormatError, match="is read twice, which a pipe does not allow"):
            read_links(tmp_path / "pipe")
        writer.join()

    def test_all_pairs_of_a_file_without_labels_are_edges(self, tmp_path):
        (tmp_path / "links.txt").write_text("a b\nc d\n")
        graph = Graph.from_edges(["a", "b", "c"], ["c", "d", "d"])
        links = read_links(tmp_path / "links.txt", graph=graph)
        assert ends(links.edges) == [("a", "b"), ("c", "d")]
        assert edges_of(links.training) == {frozenset("ac"): 1, frozenset("bd"): 1}
        for pairs in links.negatives.values():
            assert set(as_keys(graph, pairs)) == {frozenset("ad"), frozenset("bc")}

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            (
                "source,target,label\na,b,1\nb,c,2\n",
                ", line 3: the label must be 1 (an edge) or 0 (not an edge), got 2",
            ),
            ("source,target,label\na,b,1\n,c,0\n", ", line 3: the source is empty."),
            ("a,b\nb,c\n", ": all pairs are edges. Add pairs with the label 0, or give the graph"),
            ("source,target,label\na,b,0\n", ": no pair has the label 1, so there are no edges"),
        ],
    )
    def test_errors_in_a_file_name_the_line(self, tmp_path, text, sentence):
        (tmp_path / "links.csv").write_text(text)
        with pytest.raises((FormatError, ParameterError)) as error:
            read_links(tmp_path / "links.csv")
        assert f"{tmp_path / 'links.csv'}{sentence}" in str(error.value)

    def test_a_file_of_another_format_is_refused(self, tmp_path):
        (tmp_path / "links.csv").write_bytes(b"\0\1\2")
        with pytest.raises(FormatError, match="pairs are read from text, Parquet or Arrow"):
            read_links(tmp_path / "links.csv")

    def test_a_negative_that_is_an_edge_is_refused(self, tmp_path):
        (tmp_path / "links.csv").write_text("source,target,label\na,b,1\nc,b,0\n")
        graph = Graph.from_edges(["a", "b"], ["b", "c"])
        with pytest.raises(
            ParameterError, match="'c' - 'b' has the label 0 but is an edge of the graph"
        ):
            read_links(tmp_path / "links.csv", graph=graph)

    def test_an_unknown_node_is_refused(self, tmp_path):
        (tmp_path / "links.csv").write_text("source,target,label\na,x,1\na,c,0\n")
        with pytest.raises(UnknownNodeError, match="No node 'x' among the 3 of the graph"):
            read_links(tmp_path / "links.csv", graph=Graph.from_edges(["a", "b"], ["b", "c"]))

    @pytest.mark.parametrize("names", [("links.csv", "t.parquet"), ("links.arrow", "t.tsv")])
    def test_an_id_that_text_cannot_hold_is_refused_and_nothing_is_written(self, tmp_path, names):
        graph = Graph.from_edges(["a\0x"] * 4, ["b", "c", "d", "e"])
        held_out = hold_out(graph, count=1, connected=False)
        with pytest.raises(
            FormatError, match=r"text files cannot hold the id 'a\\x00x'.*\.parquet"
        ):
            held_out.save(tmp_path / names[0], tmp_path / names[1])
        assert not list(tmp_path.iterdir())

    def test_pairs_without_a_training_graph_cannot_write_one(self, tmp_path):
        (tmp_path / "links.csv").write_text("source,target,label\na,b,1\na,c,0\n")
        with pytest.raises(ParameterError, match="these pairs have no training graph"):
            read_links(tmp_path / "links.csv").save(tmp_path / "a.csv", tmp_path / "b.csv")

    @pytest.mark.parametrize("names", [("a.csv", "b.xlsx"), ("a.xlsx", "b.csv")])
    def test_an_unknown_suffix_is_refused_before_a_file_is_written(self, tmp_path, names):
        held_out = hold_out(random_example(40, 150).graph())
        with pytest.raises(FormatError, match=r"the suffix '.xlsx' is not a format for tables"):
            held_out.save(*(tmp_path / name for name in names))
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("users", [6, 300])  # few pairs are listed, many are drawn
def test_negatives_of_a_bipartite_graph_have_one_node_on_each_side(users):
    random = np.random.default_rng(3)
    source, target = random.integers(0, users, 4 * users), random.integers(0, users, 4 * users)
    graph = Graph.from_bipartite(source, target, prefixes=("user ", "item "))
    held_out = hold_out(graph, count=users // 3, connected=False, negatives=2)
    edges = set(zip(source.tolist(), target.tolist(), strict=True))
    for pairs in held_out.negatives.values():
        assert len(set(ends(pairs))) == 2 * (users // 3)
        for user, item in ends(pairs):
            assert (user[:5], item[:5]) == ("user ", "item ")
            assert (int(user[5:]), int(item[5:])) not in edges


def test_columns_of_links_that_cannot_be_pairs_are_refused_with_a_remedy(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text("person,size,team\nann,3,x\nbob,4,y\n")
    with pytest.raises(FormatError, match=r"a pair, .* Rename the columns to source and target\.$"):
        read_links(path)


@pytest.mark.parametrize("kind", ["undirected", "directed", "bipartite"])
@pytest.mark.parametrize("seed", range(4))
def test_per_node_holds_out_an_edge_of_every_node_that_can_lose_one(kind, seed):
    if kind == "bipartite":
        random = np.random.default_rng(seed)
        pairs = np.unique(random.integers(0, [[40], [30]], (2, 120)), axis=1)
        graph = Graph.from_bipartite(*pairs, prefixes=("user ", "item "))
    else:
        graph = random_example(60, 120, directed=kind == "directed").graph()
    held_out = hold_out(graph, per_node=True, negatives=0, seed=seed)
    before, after = edges_of(graph), edges_of(held_out.training)
    out = as_keys(graph, held_out.edges)
    assert {**after, **{edge: before[edge] for edge in out}} == before
    assert {node for edge in after for node in edge} == {node for edge in before for node in edge}
    pairs = Pairs(graph)
    every, out = ends(pairs.decode_ids(pairs.edges)), ends(held_out.edges)
    if kind == "undirected":  # either end may have held an edge out
        every, out = (edges + [edge[::-1] for edge in edges] for edges in (every, out))
    owners, lost = Counter(source for source, _ in every), Counter(source for source, _ in out)
    could = {node for node, edges in owners.items() if edges > 1}
    assert len(lost.keys() & could) > 0.8 * len(could)
    if kind != "undirected":
        assert set(lost.values()) == {1}
        assert set(lost) <= could


def test_per_node_depends_on_the_seed_only():
    graph = random_example(60, 240).graph()
    one, again, other = (hold_out(graph, per_node=True, seed=seed) for seed in (1, 1, 2))
    assert same(one, again)
    assert not same(one, other)


def test_per_node_needs_a_node_with_two_edges():
    with pytest.raises(ParameterError, match="no node can lose an edge"):
        hold_out(Graph.from_edges([0, 0, 0], [1, 2, 3]), per_node=True)
