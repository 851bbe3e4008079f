import json
import subprocess
import sys

import networkx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

import hopvec
from hopvec import Embedding, Labels, MissingExtraError, ParameterError
from hopvec.evaluate import ClassificationProtocol, classify, one_vs_rest
from hopvec.evaluate.classification import _Split

FEW = {"shares": (0.3, 0.6), "shuffles": 3}


def labeled(nodes=150, dim=8, classes=6, seed=0, single=False):
    """An embedding that correlates with the labels, the labels, and their matrix."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((nodes, dim)).astype(np.float32)
    signal = vectors @ random.standard_normal((dim, classes)) + random.standard_normal(
        (nodes, classes)
    )
    members = signal > np.linspace(0.5, 4, classes)
    members[np.arange(nodes), signal.argmax(axis=1)] = True
    if single:
        members = signal == signal.max(axis=1, keepdims=True)
    node, label = np.nonzero(members)
    return Embedding(vectors, pa.array(np.arange(nodes))), Labels.from_pairs(node, label), members


def by_scikit_learn(vectors, members, share, seed, shuffle, C):  # noqa: N803
    """What one shuffle scores, one class after the other."""
    order = np.random.default_rng([seed, shuffle]).permutation(len(vectors))
    training = round(share * len(vectors))
    train, test = order[:training], order[training:]
    margins = np.full((len(test), members.shape[1]), -np.inf)
    for number, member in enumerate(members[train].T):
        if member.any():
            model = LogisticRegression(solver="liblinear", C=C).fit(vectors[train], member)
            margins[:, number] = model.decision_function(vectors[test])
    predicted = np.zeros(margins.shape, bool)
    for row, wanted in enumerate(members[test].sum(axis=1)):
        predicted[row, np.argsort(-margins[row], kind="stable")[:wanted]] = True
    return [
        100 * f1_score(members[test], predicted, average=average, zero_division=0)
        for average in ("macro", "micro")
    ]


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_scores_equal_those_of_liblinear_trained_class_by_class(single, C):  # noqa: N803
    embedding, labels, members = labeled(single=single)
    found = classify(embedding, labels, C=C, scale="none", seed=3, **FEW)
    for scores in found.shares:
        assert len(scores.shuffles) == 3
        for number, shuffle in enumerate(scores.shuffles):
            expected = by_scikit_learn(embedding.vectors, members, scores.share, 3, number, C)
            assert [shuffle.macro_f1, shuffle.micro_f1] == pytest.approx(expected, abs=1e-9)


def test_scores_on_blogcatalog_equal_those_of_liblinear(data_dir):
    from scipy.io import loadmat

    content = loadmat(data_dir / "blogcatalog" / "blogcatalog.mat")
    members = content["group"].toarray() > 0
    labels = Labels.from_pairs(*np.nonzero(members))
    embedding = hopvec.FastRP(dim=32, seed=1).embed(content["network"])
    seed = 1
    found = classify(embedding, labels, C=0.1, shares=[0.1], shuffles=1, seed=seed)
    vectors = embedding.vectors / np.sqrt(np.mean(embedding.vectors.astype(float) ** 2))
    expected = by_scikit_learn(vectors, members, 0.1, seed, 0, 0.1)
    assert [found.shares[0].macro_f1, found.shares[0].micro_f1] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("C", [1.0, "auto"])
@pytest.mark.parametrize("single", [False, True])
def test_vectors_that_are_the_labels_score_100(single, C):  # noqa: N803
    _, labels, members = labeled(single=single)
    perfect = Embedding(members.astype(np.float32), pa.array(np.arange(len(members))))
    for scores in classify(perfect, labels, C=C, shares=[0.5], shuffles=3).shares:
        assert (scores.macro_f1, scores.micro_f1) == (100, 100)


def test_constant_vectors_score_like_predicting_the_most_common_classes():
    _, labels, members = labeled(nodes=400)
    same = Embedding(np.ones((400, 3), np.float32), pa.array(np.arange(400)))
    (scores,) = classify(same, labels, shares=[0.5], shuffles=1, seed=5).shares
    order = np.random.default_rng([5, 0]).permutation(400)
    train, test = members[order[:200]], members[order[200:]]
    common = np.argsort(-train.sum(axis=0), kind="stable")
    predicted = np.zeros(test.shape, bool)
    for row, wanted in enumerate(test.sum(axis=1)):
        predicted[row, common[:wanted]] = True
    assert scores.micro_f1 == pytest.approx(100 * f1_score(test, predicted, average="micro"))
    assert scores.macro_f1 == pytest.approx(
        100 * f1_score(test, predicted, average="macro", zero_division=0)
    )


def test_random_vectors_score_like_chance():
    """Of K equally common classes, one label a node, a guess is right once in K times."""
    random = np.random.default_rng(0)
    nodes, classes = 3000, 5
    noise = Embedding(
        random.standard_normal((nodes, 4)).astype(np.float32), pa.array(np.arange(nodes))
    )
    labels = Labels.from_pairs(np.arange(nodes), random.permutation(np.arange(nodes) % classes))
    (scores,) = classify(noise, labels, shares=[0.5], shuffles=4, C=1.0).shares
    deviation = 100 * np.sqrt(0.2 * 0.8 / (4 * nodes / 2))
    assert abs(scores.micro_f1 - 100 / classes) < 4 * deviation


@pytest.mark.parametrize("C", [0.3, "auto"])
def test_labels_of_test_nodes_are_not_used_in_training(monkeypatch, C):  # noqa: N803
    """Whatever they are, the same C is chosen and the same weights are found."""
    embedding, _, members = labeled()
    order = np.random.default_rng([0, 0]).permutation(len(members))
    other = members.copy()
    other[order[75:]] = np.random.default_rng(1).permutation(members[order[75:]])
    assert (other != members).any()
    found = []
    fit = one_vs_rest.fit
    monkeypatch.setattr(one_vs_rest, "fit", lambda *given, **more: keep(fit(*given, **more)))

    def keep(weights):
        found[-1].append(weights.tobytes())
        return weights

    chosen = []
    for these in (members, other):
        found.append([])
        labels = Labels.from_pairs(*np.nonzero(these))
        scores = classify(embedding, labels, C=C, shares=[0.5], shuffles=1, threads=1)
        chosen.append(scores.shares[0].C)
    assert chosen[0] == chosen[1]
    assert found[0] == found[1]


def test_the_order_of_nodes_and_labels_does_not_matter():
    embedding, labels, members = labeled()
    random = np.random.default_rng(2)
    rows = random.permutation(len(embedding))
    mixed = Embedding(embedding.vectors[rows], embedding.ids.take(pa.array(rows)))
    node, label = np.nonzero(members)
    pairs = random.permutation(len(node))
    names = Labels.from_pairs(node[pairs], label[pairs])
    assert classify(mixed, names, **FEW).shares == classify(embedding, labels, **FEW).shares


def test_nodes_without_a_label_do_not_matter():
    embedding, labels, _ = labeled()
    more = Embedding(
        np.concatenate([embedding.vectors, np.full((5, 8), 9, np.float32)]),
        pa.array(np.arange(155)),
    )
    assert classify(more, labels, **FEW).shares == classify(embedding, labels, **FEW).shares


def test_scores_do_not_depend_on_the_number_of_threads():
    embedding, labels, _ = labeled()
    one, three = (classify(embedding, labels, threads=count, **FEW) for count in (1, 3))
    assert one.shares == three.shares


def test_shuffles_depend_only_on_their_number_and_the_seed():
    embedding, labels, _ = labeled()
    few, more, other = (
        classify(embedding, labels, shares=[0.5], C=1.0, shuffles=count, seed=seed).shares[0]
        for count, seed in ((2, 0), (4, 0), (2, 1))
    )
    assert more.shuffles[:2] == few.shuffles
    assert len(set(more.shuffles)) == 4
    assert other.shuffles != few.shuffles


def test_progress_starts_at_0_and_reaches_the_total():
    embedding, labels, _ = labeled()
    reports = []
    classify(embedding, labels, **FEW, progress=lambda *report: reports.append(report))
    total = 3 * (45 + 90)
    assert reports[0] == (0, total)
    assert reports[-1] == (total, total)
    assert len(reports) == 7
    assert reports == sorted(reports)


@pytest.mark.parametrize("scale", ["rms", "standardize"])
def test_the_unit_of_the_vectors_does_not_matter(scale):
    embedding, labels, _ = labeled()
    larger = Embedding(embedding.vectors * np.float32(1024), embedding.ids)
    first, second = (classify(e, labels, scale=scale, C=0.1, **FEW) for e in (embedding, larger))
    assert first.shares == second.shares


def test_standardized_columns_have_the_same_weight():
    embedding, labels, _ = labeled()
    uneven = Embedding(
        embedding.vectors * np.float32([1, 2, 4, 8, 16, 32, 64, 128]) + np.float32(0),
        embedding.ids,
    )
    even, rms = (
        [classify(e, labels, scale=scale, C=0.01, **FEW).shares for e in (embedding, uneven)]
        for scale in ("standardize", "rms")
    )
    assert even[0] == even[1]
    assert rms[0] != rms[1]


def test_a_constant_column_is_zero_after_standardizing():
    embedding, labels, _ = labeled()
    column = np.full((len(embedding), 1), 0.1, np.float32)
    column[0] += np.float32(1e-8)  # as rounding may have left it
    more = Embedding(np.concatenate([embedding.vectors, column], axis=1), embedding.ids)
    with_it, without = (
        classify(e, labels, scale="standardize", C=1.0, **FEW) for e in (more, embedding)
    )
    assert with_it.shares == without.shares


@pytest.mark.parametrize("scale", ["rms", "standardize", "none"])
def test_zero_vectors_can_be_scored(scale):
    _, labels, members = labeled()
    zeros = Embedding(np.zeros((len(members), 2), np.float32), pa.array(np.arange(len(members))))
    assert classify(zeros, labels, scale=scale, **FEW).shares[0].micro_f1 > 0


def test_a_class_with_test_nodes_only_counts_in_the_mean():
    """Two classes of 50 are found without fault; the third, a single node, is a test node."""
    names = ["a"] * 50 + ["b"] * 50 + ["rare"]
    vectors = np.eye(3, dtype=np.float32)[[0] * 50 + [1] * 50 + [2]]
    embedding = Embedding(vectors, pa.array(np.arange(101)))
    seed = next(s for s in range(9) if 100 in np.random.default_rng([s, 0]).permutation(101)[50:])
    found = classify(
        embedding, Labels.from_pairs(np.arange(101), names), shares=[0.5], shuffles=1, seed=seed
    ).shares[0]
    assert 65 < found.macro_f1 < 200 / 3
    assert found.micro_f1 == pytest.approx(100 * 50 / 51)


def test_the_result_describes_the_data_and_the_protocol():
    embedding, labels, members = labeled()
    found = classify(embedding, labels, C=0.5, **FEW)
    assert (found.nodes, found.classes, found.dim, found.without_vector) == (150, 6, 8, 0)
    assert found.labels_per_node == pytest.approx(members.sum() / 150)
    scores = found.shares[0]
    macros = [shuffle.macro_f1 for shuffle in scores.shuffles]
    assert scores.macro_f1 == pytest.approx(np.mean(macros))
    assert scores.macro_deviation == pytest.approx(np.std(macros, ddof=1))
    lines = str(found).splitlines()
    assert lines[0].startswith("dim 8, 150 labeled nodes, 6 classes")
    assert lines[1] == "3 shuffles (seed 0), scale rms, C 0.5"
    assert lines[3].split() == [
        "30", "%", f"{scores.macro_f1:.2f}", "±", f"{scores.macro_deviation:.2f}",
        f"{scores.micro_f1:.2f}", "±", f"{scores.micro_deviation:.2f}", "0.5",
    ]  # fmt: skip


def test_the_result_can_be_written_as_json():
    embedding, labels, _ = labeled()
    found = classify(embedding, labels, **FEW)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["shares"][1]["share"] == 0.6
    assert plain["shares"][1]["shuffles"][2]["macro_f1"] == found.shares[1].shuffles[2].macro_f1


def test_one_shuffle_has_no_deviation():
    embedding, labels, _ = labeled()
    (scores,) = classify(embedding, labels, shares=[0.5], shuffles=1, C=1.0).shares
    assert (scores.macro_deviation, scores.micro_deviation) == (0, 0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"shares": (0.5, 1.0)}, r"classify: shares must .* \(entry 2 is beyond 0.9999\)"),
        ({"shares": ()}, r"classify: shares must hold 1 to 99 numbers from 0.0001 to 0.9999"),
        ({"shares": 0.5}, r"classify: shares must .*, got 0.5"),
        ({"shuffles": 0}, r"classify: shuffles must be an integer from 1 to 10,000, got 0"),
        ({"seed": -1}, r"classify: seed must be an integer"),
        ({"C": 0}, r"classify: C must be a number from 1e-06 to 1e\+06, or be 'auto', got 0"),
        ({"C": "best"}, r"classify: C must .*, got 'best'"),
        ({"scale": "unit"}, r"scale must be 'rms' or 'standardize' or 'none', got 'unit'"),
        ({"threads": 0}, r"classify: threads must"),
        ({"shares": [0.001]}, r"a share of 0.001 of 150 labeled nodes trains on 0"),
        ({"shares": [0.999]}, r"trains on 150 and leaves 0 to predict"),
    ],
)
def test_invalid_parameters_are_refused(wrong, message):
    embedding, labels, _ = labeled()
    with pytest.raises(ParameterError, match=message):
        classify(embedding, labels, **wrong)


def test_labels_of_the_wrong_type_are_refused():
    embedding, _, _ = labeled()
    with pytest.raises(ParameterError, match=r"labels must be Labels, .* got a list"):
        classify(embedding, ["a"] * 150)


def test_labels_of_one_class_are_refused():
    vectors = np.ones((100, 2), np.float32)
    labels = Labels.from_pairs(np.arange(100), ["common"] * 100)
    with pytest.raises(ParameterError) as error:
        classify(Embedding(vectors, pa.array(np.arange(100))), labels, shares=[0.1, 0.2])
    assert str(error.value) == (
        "classify: a share of 0.2 of 100 labeled nodes trains on 20, in shuffle 1 of one class "
        "only, 'common'. Give more labels, or other shares=."
    )


class TestStratifiedShuffles:
    def test_the_karate_club_works_with_the_defaults(self, caplog):
        club = networkx.karate_club_graph()
        names = [club.nodes[node]["club"] for node in club]
        embedding = hopvec.FastRP(dim=16).embed(club)
        found = classify(embedding, Labels.from_pairs(list(club), names))
        assert [scores.share for scores in found.shares] == list(ClassificationProtocol.shares)
        assert all(scores.macro_f1 > 60 for scores in found.shares)
        assert caplog.text == ""

    @given(
        st.integers(2, 60).flatmap(
            lambda nodes: st.tuples(
                st.lists(st.integers(0, 5), min_size=nodes, max_size=nodes),
                st.integers(2, nodes),
                st.integers(0, 100),
            )
        )
    )
    def test_every_class_of_several_nodes_is_trained_on_if_there_is_room(self, drawn):
        one, training, seed = drawn
        members = np.zeros((len(one), 6), bool)
        members[np.arange(len(one)), one] = True
        members = members[:, members.any(axis=0)]
        order = _Split(0.5, 0, training).order(seed, members)
        assert sorted(order) == list(range(len(one)))
        trained = members[order[:training]].any(axis=0)
        if training >= members.shape[1]:
            assert trained[members.sum(axis=0) > 1].all()
        assert trained.sum() >= min(2, members.shape[1])

    def test_nodes_with_several_labels_are_not_stratified(self):
        members = np.zeros((100, 3), bool)
        members[:, 0] = members[50:, 1] = True
        plain = np.random.default_rng([0, 0]).permutation(100)
        members[plain[10:12], 2] = True  # missing from the first ten
        np.testing.assert_array_equal(_Split(0.1, 0, 10).order(0, members), plain)

    def test_classes_are_trained_on_in_proportion(self):
        names = np.repeat(["a", "b", "c", "rare"], [600, 300, 97, 3])
        members = names[:, None] == np.unique(names)
        plain = np.random.default_rng([0, 0]).permutation(1000)
        order = _Split(0.1, 0, 100).order(0, members)
        assert not members[plain[:100], 3].any()
        assert members[order[:100]].sum(axis=0).tolist() == [60, 30, 9, 1]

    def test_a_shuffle_that_misses_no_class_is_not_changed(self):
        names = np.repeat(["a", "b", "single"], [50, 50, 1])
        members = names[:, None] == np.unique(names)
        for shuffle in range(20):
            order = _Split(0.2, shuffle, 20).order(7, members)
            plain = np.random.default_rng([7, shuffle]).permutation(101)
            np.testing.assert_array_equal(order, plain)

    def test_the_most_common_classes_are_trained_on_if_there_are_too_many(self):
        members = np.repeat(np.eye(5, dtype=bool), [9, 7, 5, 3, 2], axis=0)
        order = _Split(0.1, 0, 3).order(0, members)
        assert members[order[:3]].any(axis=0).tolist() == [True, True, True, False, False]

    def test_a_share_that_is_too_small_or_too_large_is_dropped_with_a_warning(self, caplog):
        embedding, labels, _ = labeled(single=True)
        found = classify(embedding, labels, shares=[0.001, 0.5, 0.007, 0.999], shuffles=2)
        assert [scores.share for scores in found.shares] == [0.5]
        assert found.shares == classify(embedding, labels, shares=[0.5], shuffles=2).shares
        assert [record.getMessage()[:60] for record in caplog.records] == [
            "A share of 0.999 of 150 labeled nodes trains on 150 and leav",
            "A share of 0.007 of 150 labeled nodes trains on 1, in shuffl",
            "A share of 0.001 of 150 labeled nodes trains on 0 and leaves",
        ]
        assert {record.name for record in caplog.records} == {"hopvec"}


class TestComparison:
    def test_each_embedding_scores_as_if_it_were_alone(self):
        embedding, labels, _ = labeled()
        other = Embedding(embedding.vectors[:, :3], embedding.ids)
        found = classify({"all": embedding, "three": other}, labels, **FEW)
        assert list(found.results) == ["all", "three"]
        assert found.results["all"] == classify(embedding, labels, **FEW)
        assert found.results["three"] == classify(other, labels, **FEW)

    def test_one_table_has_the_deviations_of_all(self):
        embedding, labels, _ = labeled()
        other = Embedding(embedding.vectors[:, :3], embedding.ids)
        found = classify({"all": embedding, "three": other}, labels, C=0.5, **FEW)
        lines = str(found).splitlines()
        assert lines[0].startswith("150 labeled nodes, 6 classes")
        assert lines[1] == "3 shuffles (seed 0), scale rms, C 0.5"
        assert [line.split()[:3] for line in lines[3:]] == [
            [share, "%", name] for share in ("30", "60") for name in ("all", "three")
        ]
        scores = found.results["three"].shares[1]
        assert f"{scores.macro_f1:.2f} ± {scores.macro_deviation:.2f}" in lines[-1]
        assert len({len(line) for line in lines[2:]}) == 1
        assert json.loads(json.dumps(found.to_dict()))["three"]["dim"] == 3

    def test_the_nodes_that_all_have_are_compared_in_the_same_order(self, caplog):
        embedding, labels, _ = labeled()
        rows = np.random.default_rng(0).permutation(150)[:120]
        ids = pa.array([str(row) for row in rows])  # strings, which sort differently
        some = Embedding(embedding.vectors[rows], ids)
        found = classify({"all": embedding, "some": some}, labels, **FEW)
        assert found.results["all"] == found.results["some"]
        assert (found.results["all"].nodes, found.results["all"].without_vector) == (120, 30)
        assert "some: Ignoring 30 of 150 labeled nodes, which have no vector" in caplog.text
        assert "Comparing on the 120 labeled nodes that have a vector in every" in caplog.text

    def test_progress_covers_all_embeddings(self):
        embedding, labels, _ = labeled()
        reports = []
        given = {"one": embedding, "two": embedding}
        classify(given, labels, **FEW, progress=lambda *report: reports.append(report))
        assert reports[0] == (0, 2 * 3 * (45 + 90))
        assert reports[-1][0] == reports[-1][1]
        assert reports == sorted(reports)

    def test_errors_name_the_embedding(self):
        embedding, labels, _ = labeled()
        vectors = embedding.vectors.copy()
        vectors[7, 3] = np.nan
        wrong = Embedding(vectors, embedding.ids)
        with pytest.raises(ParameterError, match=r"^bad: classify: the vector of 7 contains NaN"):
            classify({"good": embedding, "bad": wrong}, labels)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({}, "must be an Embedding, or a dict of at least one, got an empty dict."),
            ([1], "must be an Embedding, or a dict of at least one, got a list."),
            ({"a": 1}, "classify: 'a' must be an Embedding, got a int."),
        ],
    )
    def test_other_types_are_refused(self, given, message):
        _, labels, _ = labeled()
        with pytest.raises(ParameterError, match=message):
            classify(given, labels)

    def test_embeddings_without_common_nodes_are_refused(self):
        embedding, labels, _ = labeled()
        first, second = (
            Embedding(embedding.vectors[part], embedding.ids.take(pa.array(part)))
            for part in (np.arange(75), np.arange(75, 150))
        )
        with pytest.raises(ParameterError, match="no labeled node has a vector in every"):
            classify({"first": first, "second": second}, labels)


def test_a_vector_with_nan_is_refused_and_named():
    embedding, labels, _ = labeled()
    vectors = embedding.vectors.copy()
    vectors[7, 3] = np.nan
    with pytest.raises(ParameterError, match="classify: the vector of 7 contains NaN or infinity"):
        classify(Embedding(vectors, embedding.ids), labels)


def test_without_the_extra_the_message_names_it(monkeypatch):
    embedding, labels, _ = labeled()
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'hopvec\[evaluate\]'"):
        classify(embedding, labels, **FEW)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")
def test_ctrl_c_ends_it_within_seconds():
    import signal
    import time

    code = (
        "import numpy as np, pyarrow as pa\n"
        "from hopvec import Embedding, Labels\n"
        "from hopvec.evaluate import classify\n"
        "random = np.random.default_rng(0)\n"
        "vectors = random.standard_normal((20_000, 200)).astype(np.float32)\n"
        "labels = Labels.from_pairs(np.arange(20_000), random.integers(0, 50, 20_000))\n"
        "report = lambda done, total: print('going', flush=True)\n"
        "classify(Embedding(vectors, pa.array(np.arange(20_000))), labels, progress=report)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "going\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        _, trace = process.communicate(timeout=30)
        assert "KeyboardInterrupt" in trace
        assert time.monotonic() - start < 15
