"""LINE: similarities of its vectors, progress, plan and errors."""

import logging
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.io

import reference
import reference_sampling
from example_graphs import example, path, random_example, skewed_example
from hopvec import LINE, Graph, Labels, MemoryLimitError, ParameterError, estimate
from hopvec.engine.line import EdgeSampler
from hopvec.evaluate import classify


def communities(sizes, *, inside, outside, seed=0):
    """A random graph in which edges within a community are more likely."""
    random = np.random.default_rng(seed)
    community = np.repeat(np.arange(len(sizes)), sizes)
    probability = np.where(community[:, None] == community, inside, outside)
    pairs = np.argwhere(np.triu(random.random(probability.shape) < probability, 1))
    return example(pairs, len(community)).graph(), community


def cosines(vectors):
    unit = reference.unit_rows(vectors)
    return unit @ unit.T


class TestSimilarity:
    @pytest.mark.parametrize("order", ["first", "second", "both"])
    def test_nodes_of_a_community_are_similar(self, order):
        graph, community = communities([60, 60, 60], inside=0.3, outside=0.01)
        vectors = LINE(dim=32, order=order, samples=300_000, seed=1).embed(graph).vectors
        similarity = cosines(vectors) - 2 * np.eye(graph.nodes)
        nearest = np.argsort(-similarity, axis=1)[:, :5]
        assert (community[nearest] == community[:, None]).mean() > 0.95

    def test_in_the_second_order_nodes_with_the_same_neighbors_are_similar(self):
        sides = np.arange(40)  # two bipartite graphs: 0..9 with 10..19, and 20..29 with 30..39
        pairs = [
            (u, v)
            for u in (*range(10), *range(20, 30))
            for v in range(u // 10 * 10 + 10, u // 10 * 10 + 20)
        ]
        vectors = (
            LINE(dim=16, order="second", samples=200_000).embed(example(pairs, 40).graph()).vectors
        )
        similarity = cosines(vectors)
        same = sides[:, None] // 10 == sides // 10
        assert similarity[same].min() > 0.9
        assert similarity[~same].max() < 0.5

    def test_in_the_first_order_the_ends_of_an_edge_are_similar(self):
        graph = random_example(200, 300, seed=3).graph()
        similarity = cosines(LINE(dim=32, order="first", samples=300_000).embed(graph).vectors)
        adjacent = graph.to_scipy().toarray() > 0
        np.fill_diagonal(adjacent, False)
        assert similarity[adjacent].mean() > np.abs(similarity).mean() + 0.3

    def test_vectors_predict_the_labels_of_a_published_graph(self, data_dir):
        content = scipy.io.loadmat(data_dir / "email-eu-core" / "email-eu-core.mat")
        graph = Graph.from_scipy(content["network"])
        node, label = content["group"].nonzero()
        embedding = LINE(dim=64, samples=2_000_000).embed(graph)
        labels = Labels.from_pairs(node.tolist(), label.tolist())
        scores = classify(embedding, labels, shares=[0.5], shuffles=2, C=1.0).shares[0]
        assert scores.micro_f1 > 60  # the largest department has 11 % of the nodes


class TestVectors:
    def test_each_order_is_the_same_alone_and_with_the_other(self):
        graph = skewed_example(300, 1200, weighted=True, seed=2).graph()
        both = LINE(dim=40, samples=3000, seed=4).embed(graph).vectors
        for index, order in enumerate(["first", "second"]):
            alone = LINE(dim=20, order=order, samples=3000, seed=4).embed(graph).vectors
            assert alone.tobytes() == both[:, 20 * index : 20 * index + 20].tobytes()

    def test_rows_of_each_order_are_unit(self):
        graph = skewed_example(300, 1200, seed=2).graph()
        vectors = LINE(dim=40, samples=3000).embed(graph).vectors
        for half in np.split(vectors, 2, axis=1):
            assert np.linalg.norm(half, axis=1) == pytest.approx(1, abs=1e-5)

    def test_they_equal_the_reference_trained_on_as_many_samples(self):
        graph, samples = skewed_example(30, 60, weighted=True, seed=2).graph(), 700
        found = LINE(dim=5, order="first", samples=samples, learning_rate=0.2, seed=3).embed(graph)
        vectors = reference_sampling.line_vectors(3, 1, graph.keys.tolist(), 5)
        nodes = draws(graph, samples)
        rates = [0.2 * max(1 - sample / samples, 1e-4) for sample in range(samples)]
        reference_sampling.train_line(nodes, rates, vectors, vectors)
        assert np.abs(found.vectors[graph.rows] - reference.unit_rows(vectors)).max() < 1e-4

    def test_the_number_of_samples_grows_with_the_entries_by_default(self):
        graph = example(path(6001), 6001).graph()
        assert graph.entries == 12_000
        seen = {}
        for samples in ("auto", 2_400_000, 2_400_001):
            method = LINE(dim=2, order="first", negatives=1, samples=samples)
            seen[samples] = method.embed(graph).vectors.tobytes()
        assert seen["auto"] == seen[2_400_000] != seen[2_400_001]

    def test_nodes_without_edges_have_zero_vectors_and_cause_a_warning(self, caplog):
        graph = random_example(60, 200, isolated=7, seed=1).graph()
        with caplog.at_level(logging.WARNING):
            vectors = LINE(dim=8, samples=500).embed(graph).vectors
        zero = ~vectors.any(axis=1)
        assert (zero == (graph.degrees == 0)).all()
        assert f"Zero vectors: {zero.sum()} of 60 nodes, all without edges." in caplog.text

    def test_only_the_second_order_depends_on_the_direction_of_edges(self):
        graph = example([(0, 1), (1, 2), (0, 2), (3, 0)], 4, directed=True).graph()
        first, second = np.split(LINE(dim=8, samples=500).embed(graph).vectors, 2, axis=1)
        assert first.any(axis=1).tolist() == [True, True, True, True]
        assert second.any(axis=1).tolist() == [True, True, False, True]


def draws(graph, samples):
    """The samples of the first order with seed 3."""
    from hopvec import _native

    order = _native.LineOrder(
        seed=3, number=1, samples=samples, negatives=5, rate=0.2, both_directions=False
    )
    return EdgeSampler(graph, threads=1).native.draw(order, 0, samples).reshape(samples, 7)


class TestProgress:
    @pytest.mark.parametrize("threads", [1, 2])
    @pytest.mark.parametrize(("order", "orders"), [("second", 1), ("both", 2)])
    def test_it_counts_the_samples_of_all_orders(self, order, orders, threads, monkeypatch):
        monkeypatch.setattr("hopvec.engine.line.SEGMENT", 116 * 1000)
        seen, method = [], LINE(dim=16 * orders, order=order, samples=4500, threads=threads)
        method.embed(skewed_example(50, 100).graph(), progress=lambda *counts: seen.append(counts))
        done, total = np.array(seen).T
        assert len(seen) == 5 * orders
        assert (np.diff(done) >= 0).all()
        assert done[-1] == 4500 * orders
        assert set(total) == {4500 * orders}

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
    def test_ctrl_c_stops_a_long_training(self):
        program = (
            "import hopvec; graph = hopvec.Graph.from_edges([0, 1], [1, 2])\n"
            "hopvec.LINE(samples=10**12).embed(graph, progress=lambda *_: print(flush=True))\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            start = time.monotonic()
            _, errors = process.communicate(timeout=30)
            took = time.monotonic() - start
        finally:
            process.kill()
        assert took < 5  # far less on an idle machine
        assert errors.rstrip().endswith("KeyboardInterrupt")


class TestPlan:
    def test_memory_is_reported_by_purpose(self):
        weighted = skewed_example(500, 2000, weighted=True).graph()
        plan = LINE(dim=40, threads=1).plan(weighted)
        assert plan.bytes.output == 500 * 40 * 4
        assert plan.bytes.working == {
            "vectors in training": 500 * 3 * 32 * 4,
            "alias tables": 8 * (2 * 500 + weighted.entries),
            "rows in a file": 0,
        }
        plain = LINE(dim=40, order="first").plan(example(path(500), 500).graph())
        assert plain.bytes.working["vectors in training"] == 500 * 48 * 4
        assert plain.bytes.working["alias tables"] == 8 * 2 * 500

    @pytest.mark.parametrize(
        ("options", "threads"),
        [
            ({"threads": 8}, 2),
            ({"threads": 1}, 1),
            ({"threads": 8, "order": "first"}, 1),
            ({"threads": 2, "workers": 3}, 6),
        ],
    )
    def test_an_order_has_a_thread_or_its_workers(self, options, threads):
        assert LINE(**options).plan(skewed_example(50, 100).graph()).threads == threads

    def test_too_low_a_limit_is_rejected_with_the_memory_needed(self):
        with pytest.raises(
            MemoryLimitError,
            match=r"LINE needs .* MB \(.* for the graph, .* for vectors in training.*"
            r"the memory limit is 100 kB",
        ):
            LINE(memory="100kB").embed(skewed_example(500, 2000).graph())

    def test_the_time_is_estimated_from_a_few_samples(self):
        graph = skewed_example(500, 2000).graph()
        few, many = (estimate(graph, LINE(dim=16, samples=n)).seconds for n in (1000, 10**10))
        assert 0 < few < 5
        assert many > 100
        assert estimate(example([], 3).graph(), LINE()).seconds == 0


class TestParameters:
    def test_an_odd_dim_cannot_be_shared_by_two_orders(self):
        graph = example(path(3), 3).graph()
        with pytest.raises(ParameterError) as error:
            LINE(dim=33).embed(graph)
        assert str(error.value) == (
            "LINE: dim must be even with order='both', since each order has half of the columns, "
            "got 33."
        )
        assert LINE(dim=33, order="second", samples=10).embed(graph).vectors.shape == (3, 33)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"order": "third"},
            {"order": 1},
            {"samples": 0},
            {"samples": 1e9},
            {"samples": "many"},
            {"negatives": 0},
            {"negatives": 64},
            {"learning_rate": 0},
            {"workers": 0},
        ],
    )
    def test_invalid_values_are_rejected(self, wrong):
        (name,) = wrong
        with pytest.raises(ParameterError, match=f"LINE: {name} must be "):
            LINE(**wrong).embed(example(path(3), 3).graph())
