"""Random graphs: their distribution, and the same edges for any number of threads."""

import numpy as np
import pytest
from scipy import stats

import hopvec
import reference_sampling
from hopvec import ParameterError
from hopvec.datasets import ChungLu, ErdosRenyi, RMat, generate
from hopvec.methods.parameters import parameters

EXAMPLES = {
    "erdos-renyi": ErdosRenyi(nodes=1000, edges=7000, seed=3),
    "erdos-renyi, all pairs": ErdosRenyi(nodes=40, edges=780, seed=1),
    "erdos-renyi, many nodes": ErdosRenyi(nodes=2**31 - 1, edges=5000, seed=2**64 - 1),
    "chung-lu": ChungLu(nodes=1000, edges=9000, seed=3),
    "chung-lu, by rank": ChungLu(nodes=777, edges=5000, exponent=3.5, numbering="plain"),
    "rmat": RMat(scale=10, edges=9000, seed=3),
    "rmat, not shuffled": RMat(scale=7, edges=5000, numbering="plain", seed=9),
    "rmat, many nodes": RMat(scale=30, edges=5000),
}
every_example = pytest.mark.parametrize("name", EXAMPLES)


def with_(random_graph, **changed):
    settings = {p.name: getattr(random_graph, p.name) for p in parameters(type(random_graph))}
    return type(random_graph)(**settings | changed)


def edges_of(random_graph):
    """Both ends of all edges: [2][edges]."""
    return np.concatenate([np.stack(block) for block in random_graph.blocks()], axis=1)


def p_value(counts, expected):
    """The p-value of counts by Pearson's chi-squared test, with rare values combined."""
    frequent = expected >= 20
    counts, expected = (
        np.append(values[frequent], values[~frequent].sum()) for values in (counts, expected)
    )
    nonzero = expected > 0
    statistic = ((counts - expected)[nonzero] ** 2 / expected[nonzero]).sum()
    return stats.chi2.sf(statistic, nonzero.sum() - 1)


class TestContract:
    @every_example
    def test_nodes_are_numbered_from_0(self, name):
        ends = edges_of(EXAMPLES[name])
        assert ends.shape == (2, EXAMPLES[name].edges)
        assert ends.dtype == np.int32
        assert ends.min() >= 0
        assert ends.max() < EXAMPLES[name].node_count

    @every_example
    def test_the_same_edges_on_one_thread_and_on_five(self, name):
        one, five = (edges_of(with_(EXAMPLES[name], threads=threads)) for threads in (1, 5))
        assert (one == five).all()

    @every_example
    def test_the_same_edges_in_blocks_of_another_size(self, name, monkeypatch):
        whole = edges_of(EXAMPLES[name])
        monkeypatch.setattr(generate, "BLOCK_EDGES", 700)
        assert (edges_of(EXAMPLES[name]) == whole).all()

    @every_example
    def test_fewer_edges_are_the_first_of_more(self, name):
        assert (
            edges_of(with_(EXAMPLES[name], edges=300)) == edges_of(EXAMPLES[name])[:, :300]
        ).all()

    @every_example
    def test_another_seed_gives_other_edges(self, name):
        other = edges_of(with_(EXAMPLES[name], seed=12345))
        assert (edges_of(EXAMPLES[name]) != other).mean() > 0.5

    @every_example
    def test_the_graph_has_every_node_and_every_edge_once(self, name):
        random_graph = EXAMPLES[name]
        if random_graph.node_count > 10**6:
            pytest.skip("a graph takes memory for each of its nodes")
        reported = []
        graph = random_graph.graph(progress=lambda *state: reported.append(state))
        ends = np.sort(edges_of(random_graph), axis=0)
        distinct = np.unique(ends[:, ends[0] != ends[1]], axis=1)
        assert graph.nodes == random_graph.node_count
        assert graph.edges == distinct.shape[1]
        assert graph.weights is None
        matrix = graph.to_scipy()
        assert (np.asarray(matrix[distinct[0], distinct[1]]) == 1).all()
        assert reported[-1] == (random_graph.edges, random_graph.edges)


class TestReference:
    @every_example
    def test_edges_match_the_reference(self, name):
        random_graph = EXAMPLES[name]
        ends = edges_of(random_graph)[:, :300]
        settings = {
            p.name: getattr(random_graph, p.name)
            for p in parameters(type(random_graph))
            if p.name not in ("edges", "threads", "numbering", "quadrants")
        }
        if hasattr(random_graph, "numbering"):
            settings["shuffled"] = random_graph.numbering == "shuffled"
        if isinstance(random_graph, ChungLu):
            settings["offset"] = random_graph.nodes / 500
        if isinstance(random_graph, RMat):
            settings |= dict(zip("abc", random_graph.quadrants, strict=False))
        reference = {
            ErdosRenyi: reference_sampling.erdos_renyi_edge,
            ChungLu: reference_sampling.chung_lu_edge,
            RMat: reference_sampling.rmat_edge,
        }[type(random_graph)]
        assert [reference(number, **settings) for number in range(300)] == list(
            zip(*ends.tolist(), strict=True)
        )

    @pytest.mark.parametrize("size", [1, 2, 3, 5, 64, 100, 1025])
    def test_permuted_is_a_permutation(self, size):
        assert sorted(reference_sampling.permuted(i, size, 7) for i in range(size)) == list(
            range(size)
        )


class TestErdosRenyi:
    def test_no_edge_is_repeated_and_none_is_a_loop(self):
        ends = np.sort(edges_of(ErdosRenyi(nodes=500, edges=100_000)), axis=0)
        assert (ends[0] < ends[1]).all()
        assert np.unique(ends, axis=1).shape[1] == 100_000

    def test_all_pairs_are_equally_likely(self):
        draws = [edges_of(ErdosRenyi(nodes=30, edges=87, seed=seed)) for seed in range(400)]
        counts = np.zeros((30, 30))
        np.add.at(counts, tuple(np.concatenate(draws, axis=1)), 1)
        expected = np.full((30, 30), 400 * 87 / (30 * 29))
        np.fill_diagonal(expected, 0)
        assert p_value(counts.ravel(), expected.ravel()) > 0.001

    def test_degrees_are_hypergeometric(self):
        ends = edges_of(ErdosRenyi(nodes=20_000, edges=100_000, seed=5))
        degrees = np.bincount(ends.ravel(), minlength=20_000)
        distribution = stats.hypergeom(20_000 * 19_999 // 2, 19_999, 100_000)
        counts = np.bincount(degrees, minlength=60)[:60]
        assert p_value(counts, 20_000 * distribution.pmf(np.arange(60))) > 0.001

    def test_more_edges_than_pairs_are_refused(self):
        with pytest.raises(ParameterError, match="5 nodes have 10 pairs, got 11 edges"):
            ErdosRenyi(nodes=5, edges=11)


class TestChungLu:
    @pytest.mark.parametrize("exponent", [2.1, 2.3, 4.0])
    def test_both_ends_follow_the_weights(self, exponent):
        random_graph = ChungLu(nodes=2000, edges=200_000, exponent=exponent, numbering="plain")
        power = 1 - 1 / (exponent - 1)
        share = np.diff((np.arange(2001) + 4.0) ** power)
        share /= share.sum()
        for end in edges_of(random_graph):
            assert p_value(np.bincount(end, minlength=2000), 200_000 * share) > 0.001

    def test_source_and_target_are_independent(self):
        source, target = edges_of(ChungLu(nodes=2000, edges=100_000, numbering="plain"))
        assert abs(stats.spearmanr(source, target).statistic) < 0.01

    def test_shuffled_nodes_have_the_degrees_of_the_ranks(self):
        settings = {"nodes": 500, "edges": 20_000}
        plain = np.bincount(edges_of(ChungLu(**settings, numbering="plain")).ravel())
        shuffled = np.bincount(edges_of(ChungLu(**settings)).ravel())
        assert sorted(plain) == sorted(shuffled)
        assert abs(stats.spearmanr(np.arange(500), shuffled).statistic) < 0.15


class TestRMat:
    @pytest.mark.parametrize("quadrants", [(0.57, 0.19, 0.19, 0.05), (0.1, 0.2, 0.3, 0.4)])
    def test_quadrants_have_their_probabilities_at_every_level(self, quadrants):
        random_graph = RMat(scale=6, edges=60_000, quadrants=quadrants, numbering="plain")
        row, column = edges_of(random_graph)
        for level in range(6):
            quadrant = 2 * (row >> level & 1) + (column >> level & 1)
            expected = 60_000 * np.array(quadrants)
            assert p_value(np.bincount(quadrant, minlength=4), expected) > 0.001
        probabilities = np.ones((1, 1))
        for _ in range(6):
            probabilities = np.kron(probabilities, np.reshape(quadrants, (2, 2)))
        counts = np.bincount(64 * row + column, minlength=64**2)
        assert p_value(counts, 60_000 * probabilities.ravel()) > 0.001

    def test_quadrants_that_do_not_add_up_are_refused(self):
        with pytest.raises(ParameterError, match=r"add up to 1, got \[0.5, 0.5, 0.5, 0.5\]"):
            RMat(scale=3, edges=1, quadrants=(0.5, 0.5, 0.5, 0.5))


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv", ".tsv.gz"])
def test_the_edges_are_written_in_order(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr(generate, "BLOCK_EDGES", 1000)
    reported = []
    random_graph = RMat(scale=8, edges=2500)
    path = tmp_path / f"edges{suffix}"
    random_graph.write(path, progress=lambda *state: reported.append(state))
    assert reported == [(1000, 2500), (2000, 2500), (2500, 2500)]
    graph = hopvec.read_graph(path, duplicates="first", loops="drop")
    expected = random_graph.graph()
    assert graph.edges == expected.edges
    ids = np.array(graph.ids)
    assert (graph.to_scipy() != expected.to_scipy()[ids][:, ids]).nnz == 0


def test_invalid_parameters_are_refused():
    with pytest.raises(ParameterError, match="RMat: scale must be an integer from 1 to 30, got 31"):
        RMat(scale=31, edges=1)
    with pytest.raises(
        ParameterError, match=r"ChungLu: exponent must be a number from 2\.01 to 10"
    ):
        ChungLu(nodes=10, edges=1, exponent=2)
    with pytest.raises(ParameterError, match="ErdosRenyi: edges must be an integer from 1"):
        ErdosRenyi(nodes=10, edges=0)
