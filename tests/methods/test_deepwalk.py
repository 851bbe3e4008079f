"""DeepWalk and node2vec: skip-gram on random walks."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from example_graphs import example, path, random_example, skewed_example
from hopvec import DeepWalk, Graph, MemoryLimitError, MissingExtraError, Node2Vec, ParameterError
from hopvec import estimate as estimate_of
from hopvec.methods.parameters import parameters
from planted_partition import planted_partition

SMALL = {"dim": 16, "walks": 2, "length": 8, "window": 3}
LOSSES = ("negative-sampling", "hierarchical-softmax")
every_loss = pytest.mark.parametrize("loss", LOSSES)


def same_class(embedding, classes, k=5):
    """The share of nearest neighbors of the same class, which is the id modulo `classes`."""
    own = {id: int(str(id).removeprefix("n")) % classes for id in embedding.ids.to_pylist()}
    pairs = [(own[node], own[near]) for node in own for near, _ in embedding.nearest(node, k)]
    return np.mean([first == second for first, second in pairs])


class TestQuality:
    @every_loss
    @pytest.mark.parametrize(
        "method", [DeepWalk(), Node2Vec(p=0.5, q=2)], ids=["deepwalk", "node2vec"]
    )
    def test_nodes_of_a_class_are_near_each_other(self, method, loss):
        graph, _ = planted_partition(within=0.9)
        method.set_params(dim=16, walks=10, length=20, window=5, loss=loss)
        assert same_class(method.embed(graph), 3) > 0.95

    def test_weights_have_an_effect(self):
        source, target = np.triu_indices(40, 1)
        labels = np.arange(40) % 2
        weight = np.where(labels[source] == labels[target], 1.0, 0.02)
        graph = Graph.from_edges(source, target, weight)
        embedding = DeepWalk(dim=16, walks=20, length=20, window=2).embed(graph)
        assert same_class(embedding, 2) > 0.95

    def test_several_workers_reach_the_same_quality(self):
        graph, _ = planted_partition(within=0.9)
        embedding = DeepWalk(dim=16, walks=10, length=20, window=5, workers=3).embed(graph)
        assert same_class(embedding, 3) > 0.95

    def test_more_epochs_train_more(self):
        graph, _ = planted_partition(within=0.9)
        options = {"dim": 16, "walks": 1, "length": 20, "window": 5}
        once, often = (DeepWalk(**options, epochs=epochs).embed(graph) for epochs in (1, 15))
        assert same_class(often, 3) > same_class(once, 3) + 0.2

    def test_cora_is_classified_as_well_as_by_other_implementations(self, data_dir):
        from scipy.io import loadmat
        from sklearn.linear_model import LogisticRegression

        content = loadmat(data_dir / "cora" / "cora.mat")
        labels = content["group"].toarray().argmax(axis=1)
        vectors = DeepWalk(dim=32, walks=5, window=5, seed=1).embed(content["network"]).vectors
        shuffled = np.random.default_rng(0).permutation(len(labels))
        known, unknown = shuffled[:541], shuffled[541:]
        classifier = LogisticRegression(max_iter=1000).fit(vectors[known], labels[known])
        assert classifier.score(vectors[unknown], labels[unknown]) > 0.72


class TestNode2Vec:
    @every_loss
    def test_without_a_bias_it_equals_deepwalk_byte_for_byte(self, loss):
        graph = skewed_example(300, 1000, weighted=True).graph()
        deepwalk = DeepWalk(**SMALL, loss=loss, seed=3).embed(graph)
        node2vec = Node2Vec(**SMALL, loss=loss, seed=3, p=1, q=1).embed(graph)
        assert node2vec.vectors.tobytes() == deepwalk.vectors.tobytes()

    def test_p_and_q_change_the_vectors(self):
        graph = skewed_example(300, 1000).graph()
        options = [{}, {"p": 0.25}, {"q": 0.25}, {"p": 0.25, "q": 0.25}]
        assert (
            len({Node2Vec(**SMALL, **some).embed(graph).vectors.tobytes() for some in options}) == 4
        )


class TestDirected:
    def test_a_node_without_outgoing_edges_has_a_vector_if_walks_reach_it(self):
        graph = example(path(5), 6, directed=True).graph()
        vectors = DeepWalk(**SMALL).embed(graph).vectors
        assert vectors.any(axis=1).tolist() == [True] * 5 + [False]

    def test_walks_follow_the_direction(self):
        ring = [(node, (node + 1) % 12) for node in range(12)]
        embedding = DeepWalk(dim=8, walks=50, length=20, window=1).embed(
            example(ring, 12, directed=True).graph()
        )
        near = [embedding.nearest(node, 2) for node in range(12)]
        for node, found in enumerate(near):
            assert {other for other, _ in found} <= {(node + k) % 12 for k in (-2, -1, 1, 2)}


class TestParameters:
    def test_negatives_with_another_loss_are_rejected(self):
        method = DeepWalk(loss="hierarchical-softmax", negatives=7)
        with pytest.raises(
            ParameterError,
            match="DeepWalk: negatives applies to loss='negative-sampling' only",
        ):
            method.embed(example(path(3), 3).graph())

    def test_the_number_of_negatives_changes_the_vectors(self):
        graph = example(path(30), 30).graph()
        few, many = (DeepWalk(**SMALL, negatives=n).embed(graph).vectors for n in (5, 6))
        assert few.tobytes() != many.tobytes()

    def test_the_docs_list_every_parameter_with_its_default(self):
        page = (Path(__file__).parents[2] / "docs" / "reference" / "methods.md").read_text(
            encoding="utf-8"
        )
        section = page.split("## DeepWalk")[1].split("\n## ")[0]
        listed = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", section, re.MULTILINE))
        assert "| `p`, `q` | 1, 1 |" in section
        common = {"p", "q", "seed", "threads", "memory", "spill_dir"}
        declared = {p.name: str(p.default) for p in parameters(Node2Vec) if p.name not in common}
        assert listed == declared

    def test_without_gensim_the_error_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "gensim", None)
        with pytest.raises(MissingExtraError) as error:
            Node2Vec().embed(example(path(3), 3).graph())
        message = "Node2Vec needs the baselines extra: pip install 'hopvec[baselines]'."
        assert str(error.value) == message
        with pytest.raises(MissingExtraError):
            estimate_of(example(path(3), 3).graph(), DeepWalk())


class TestMemory:
    def test_too_low_a_limit_is_rejected_with_the_memory_needed(self):
        graph = random_example(300, 1000).graph()
        need = DeepWalk().plan(graph).bytes.total
        with pytest.raises(MemoryLimitError, match=r"DeepWalk needs .* for training"):
            DeepWalk(memory=need - 1).embed(graph)
        assert DeepWalk(memory=need).plan(graph).bytes.total == need

    def test_the_planned_memory_grows_with_the_graph_and_dim(self):
        graph = random_example(300, 1000, weighted=True).graph()
        plan = DeepWalk().plan(graph)
        assert plan.bytes.working["sums of weights"] == 8 * graph.entries
        assert DeepWalk(dim=256).plan(graph).bytes.total == plan.bytes.total + 2 * 4 * 300 * 128
        tree = DeepWalk(loss="hierarchical-softmax").plan(graph)
        assert tree.bytes.total > plan.bytes.total
        assert 0 < DeepWalk().working_bytes(300) < plan.bytes.total


class TestProgress:
    @pytest.mark.parametrize("epochs", [1, 3])
    def test_it_is_reported_up_to_the_total_from_the_calling_thread(self, epochs):
        graph = random_example(700, 2500, isolated=5).graph()
        seen, callers = [], set()

        def progress(done, total):
            seen.append((done, total))
            callers.add(threading.current_thread())

        DeepWalk(dim=4, walks=3, length=40, window=1, epochs=epochs).embed(graph, progress=progress)
        rounds, batches = 3, -(-graph._connected // 250)
        expected = rounds * (1 + epochs * batches)
        assert seen == [(done, expected) for done in range(1, expected + 1)]
        assert callers == {threading.current_thread()}

    def test_an_exception_in_the_callback_stops_the_run_and_is_raised(self):
        class EnoughError(Exception):
            pass

        def progress(done, total):
            if done == 5:
                raise EnoughError

        before = threading.active_count()
        with pytest.raises(EnoughError):
            DeepWalk(workers=2).embed(random_example(700, 2500).graph(), progress=progress)
        assert threading.active_count() == before

    def test_an_estimate_grows_with_the_work(self):
        graph, seen = random_example(700, 2500).graph(), []
        few = estimate_of(graph, DeepWalk(dim=8, walks=1), progress=lambda *n: seen.append(n))
        many = estimate_of(graph, DeepWalk(dim=8, walks=1000))
        assert 0 < 50 * few.seconds < many.seconds
        assert seen[-1][0] <= seen[-1][1]
        assert estimate_of(example([], 3).graph(), DeepWalk()).seconds == 0


DIGEST = """
import hashlib, numpy, hopvec
ends = numpy.random.default_rng(0).integers(0, 60, (2, 200))
names = numpy.array([f"node {number}" for number in range(60)])
graph = hopvec.Graph.from_edges(*names[ends].tolist())
digest = hashlib.sha256()
for loss in ("negative-sampling", "hierarchical-softmax"):
    method = hopvec.DeepWalk(dim=16, walks=5, length=10, window=3, loss=loss)
    digest.update(method.embed(graph).vectors.tobytes())
print(digest.hexdigest())
"""


def test_the_same_bytes_for_every_hash_seed_of_python():
    printed = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(printed) == 1
    assert len(printed.pop().strip()) == 64


LONG_RUN = """
import numpy, hopvec

graph = hopvec.Graph.from_edges(*numpy.random.default_rng(0).integers(0, 2000, (2, 20_000)))
method = hopvec.DeepWalk(dim=16, walks=200, window=5, workers=2)
method.embed(graph, progress=lambda done, total: print(done, total, flush=True))
print("finished", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
def test_ctrl_c_stops_the_training_after_the_current_batch():
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_RUN], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        while True:
            done, total = map(int, process.stdout.readline().split())
            if done > total / 8:  # training has started
                break
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode in (-signal.SIGINT, 130)
    done, total = map(int, (printed.splitlines() or [f"{done} {total}"])[-1].split())
    assert done < total / 2
