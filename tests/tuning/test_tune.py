"""The search: reproducible, resumable, and its result."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import hopvec
from hopvec import DeepWalk, Graph, ParameterError, tune
from hopvec.engine import slab
from one_pass import one_pass
from planted_partition import planted_partition

GRAPH, LABELS = planted_partition()
QUICK = {"method": one_pass(dim=32), "search_dim": 16, "shuffles": 2, "trials": 12}


def untimed(trials):
    """Trials without what they took, which differs from run to run."""
    return [replace(trial, seconds=0.0) for trial in trials]


class StopError(Exception):
    """What interrupts a search."""


class TestSearch:
    def test_the_same_seed_gives_the_same_trials_and_another_seed_others(self):
        first, second = (tune(GRAPH, LABELS, **QUICK) for _ in range(2))
        assert untimed(first.trials) == untimed(second.trials)
        assert first.method.get_params() == second.method.get_params()
        other = tune(GRAPH, LABELS, **QUICK | {"method": one_pass(dim=32, seed=1), "trials": 2})
        assert untimed(other.trials) != untimed(first.trials[:2])

    def test_trials_do_not_depend_on_the_number_of_threads(self):
        one, two = (
            tune(GRAPH, LABELS, **QUICK | {"method": one_pass(dim=32, threads=n), "trials": 3})
            for n in (1, 2)
        )
        assert untimed(one.trials) == untimed(two.trials)

    def test_the_default_with_one_pass_is_the_search_of_the_paper(self):
        tuning = tune(GRAPH, LABELS, method=one_pass(), shuffles=1)
        assert len(tuning.trials) == 20
        assert list(tuning.dimensions) == ["beta", "weights.4"]
        assert tuning.settings["parameters"]["dim"] == 64
        assert tuning.settings["search"] == "tpe"
        for trial in tuning.trials:
            assert -1 <= trial.parameters["beta"] <= 0
            assert 2**-3 <= trial.parameters["weights.4"] <= 2**6

    def test_the_default_with_several_passes_includes_the_defaults(self):
        dimensions = tune(GRAPH, LABELS, trials=1, shuffles=1).dimensions
        assert list(dimensions) == ["beta", "spectrum", "weights.1", "weights.2"]
        for name, default in zip(dimensions, (0.25, 0.75, 1, 1), strict=True):
            assert dimensions[name].low < default < dimensions[name].high

    def test_untuned_is_the_score_of_the_method_as_given(self):
        scores = [
            tune(GRAPH, LABELS, trials=1, shuffles=1, space=space).untuned
            for space in (None, {"beta": "0:0.5"}, {"weights": "0:2,1,log:0.125:64"})
        ]
        assert scores[0] == scores[1] == scores[2]

    def test_the_best_method_keeps_its_dim_and_the_parameters_not_searched(self):
        method = one_pass(dim=48, normalize="authors", seed=3, threads=1)
        tuning = tune(GRAPH, LABELS, **QUICK | {"method": method, "trials": 3})
        best = tuning.best.parameters
        assert tuning.best.score == max(trial.score for trial in tuning.trials)
        expected = {"beta": best["beta"], "weights": [0, 0, 1, best["weights.4"]]}
        assert tuning.method.get_params() == method.get_params() | expected
        assert (
            method.get_params()
            == one_pass(dim=48, normalize="authors", seed=3, threads=1).get_params()
        )
        assert tuning.method.embed(GRAPH).dim == 48

    def test_a_searched_dim_is_not_reduced(self):
        space = {"dim": [32, 128]}
        tuning = tune(GRAPH, LABELS, space=space, search="grid", shuffles=1)
        assert [trial.parameters["dim"] for trial in tuning.trials] == [32, 128]

    def test_without_labels_the_score_is_the_auc_of_links(self):
        tuning = tune(GRAPH, space={"weights": "0,1,0:1"}, trials=3)
        assert tuning.measure == "mean link AUC"
        assert tuning.unseen is None
        assert all(0.5 < trial.score < 1 for trial in tuning.trials)

    def test_any_method_can_be_tuned(self):
        method = DeepWalk(dim=8, walks=1, length=5)
        tuning = tune(GRAPH, LABELS, method=method, space={"window": "1,2"}, search="grid")
        assert [trial.parameters["window"] for trial in tuning.trials] == [1, 2]
        assert isinstance(tuning.method, DeepWalk)

    def test_a_point_is_computed_only_once(self):
        tuning = tune(GRAPH, LABELS, **QUICK, space={"normalize": "authors,full"})
        assert sum(trial.seconds > 0 for trial in tuning.trials) <= 2
        scores = {trial.parameters["normalize"]: trial.score for trial in tuning.trials}
        assert [scores[trial.parameters["normalize"]] for trial in tuning.trials] == [
            trial.score for trial in tuning.trials
        ]

    def test_trials_with_the_same_beta_share_their_hops(self, monkeypatch):
        made, kernel = [], slab._native.hop
        monkeypatch.setattr(slab._native, "hop", lambda *given: made.append(1) or kernel(*given))
        tune(GRAPH, LABELS, **QUICK, space={"weights": "0,0,1,log:0.125:64"})
        # One slab through four orders, for twelve trials, and through six for the defaults.
        assert len(made) == 4 + 6

    def test_progress_increases_to_the_total(self):
        reports = []
        tune(GRAPH, LABELS, **QUICK | {"trials": 3}, progress=lambda *at: reports.append(at))
        done = [at for at, _ in reports]
        assert {total for _, total in reports} == {300}
        assert done == sorted(done)
        assert done[-1] == 300
        assert any(at % 100 for at in done)

    @pytest.mark.parametrize(("range_", "warns"), [("0:0.5:0.5", True), ("-1:1:2", False)])
    def test_a_best_value_at_the_end_of_its_range_warns_if_more_is_allowed(
        self, range_, warns, caplog
    ):
        tune(GRAPH, LABELS, shuffles=1, space={"beta": range_}, search="grid")  # ends only
        assert (f"is at the end of its range {range_}" in caplog.text) == warns

    def test_the_parameters_as_given_are_scored_like_a_trial(self, caplog):
        tuning = tune(GRAPH, LABELS, shuffles=2, space={"beta": [0.25, 0.5]}, search="grid")
        assert tuning.untuned == tuning.trials[0].score  # 0.25 is the default of FastRP
        assert tuning.to_dict()["untuned"] == tuning.untuned
        assert "parameters as given" not in caplog.text

    def test_a_search_that_finds_nothing_better_warns(self, caplog):
        tuning = tune(GRAPH, LABELS, shuffles=2, space={"sparsity": [1e4]}, search="grid")
        assert tuning.untuned > tuning.best.score
        assert "The parameters as given score" in caplog.text

    def test_integers_at_the_end_of_their_range_warn_as_well(self, caplog):
        tune(GRAPH, LABELS, shuffles=1, space={"oversample": "2:3:1"}, search="grid")
        assert "is at the end of its range" in caplog.text


class TestStudy:
    @pytest.mark.parametrize("after", [1, 4, 11])
    def test_an_interrupted_search_gives_the_same_result(self, tmp_path, after):
        path = tmp_path / "study.jsonl"

        def stop(trial):
            if trial.number == after:
                raise StopError

        with pytest.raises(StopError):
            tune(GRAPH, LABELS, **QUICK, study=path, finished=stop)
        resumed, whole = tune(GRAPH, LABELS, **QUICK, study=path), tune(GRAPH, LABELS, **QUICK)
        assert untimed(resumed.trials) == untimed(whole.trials)
        assert resumed.best.parameters == whole.best.parameters

    def test_a_search_interrupted_after_every_trial_gives_the_same_result(self, tmp_path):
        space = {"beta": "-1:1", "normalize": "authors,full", "weights": [(0, 0, 1), (0, 1, 1, 1)]}
        options = QUICK | {"trials": 14, "space": space, "study": tmp_path / "study.jsonl"}
        for number in range(1, 15):
            tune(GRAPH, LABELS, **options | {"trials": number})
        whole = tune(GRAPH, LABELS, **options | {"study": None})
        assert untimed(tune(GRAPH, LABELS, **options).trials) == untimed(whole.trials)

    def test_a_killed_process_loses_only_the_running_trial(self, tmp_path):
        path = tmp_path / "study.jsonl"
        code = (
            "import sys; sys.path.insert(0, sys.argv[2])\n"
            "from test_tune import *\n"
            "tune(GRAPH, LABELS, **QUICK | {'trials': 100_000}, study=sys.argv[1])"
        )
        paths = ":".join(str(path) for path in Path(__file__).parents[:2])
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(path), str(Path(__file__).parent)],
            env={"PYTHONPATH": paths},
        )
        deadline = time.monotonic() + 120
        while (not path.exists() or path.read_bytes().count(b"\n") < 5) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
        process.wait()
        saved = path.read_bytes().count(b"\n") - 1
        assert saved >= 4
        resumed = tune(GRAPH, LABELS, **QUICK | {"trials": saved + 3}, study=path)
        whole = tune(GRAPH, LABELS, **QUICK | {"trials": saved + 3})
        assert untimed(resumed.trials) == untimed(whole.trials)

    def test_saved_trials_are_reported_but_not_run_again(self, tmp_path):
        path, trials = tmp_path / "study.jsonl", []
        tune(GRAPH, LABELS, **QUICK, study=path)
        before = path.read_bytes()
        again = tune(GRAPH, LABELS, **QUICK, study=path, finished=trials.append)
        assert path.read_bytes() == before
        assert tuple(trials) == again.trials

    def test_fewer_trials_than_saved_are_the_first_ones(self, tmp_path):
        whole = tune(GRAPH, LABELS, **QUICK, study=tmp_path / "study.jsonl")
        first = tune(GRAPH, LABELS, **QUICK | {"trials": 5}, study=tmp_path / "study.jsonl")
        assert first.trials == whole.trials[:5]
        assert first.best == max(whole.trials[:5], key=lambda trial: trial.score)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                {"method": one_pass(dim=32, seed=1)},
                r"different settings \(parameters: .*seed 0.*, now .*seed 1",
            ),
            ({"space": {"beta": "-1:1"}}, r"different settings \((space|parameters): "),
            ({"shuffles": 3}, r"different settings \(shuffles: 2, now 3\)"),
            ({"search": "random"}, r"different settings \(search: tpe, now random\)"),
            ({"search_dim": 8}, r"different settings \(parameters: dim 16, .*now dim 8"),
        ],
    )
    def test_it_resumes_only_with_the_same_settings(self, tmp_path, change, message):
        options = QUICK | {"trials": 1, "study": tmp_path / "study.jsonl"}
        tune(GRAPH, LABELS, **options)
        with pytest.raises(ParameterError, match=message):
            tune(GRAPH, LABELS, **options | change)
        tune(GRAPH, LABELS, **options | {"method": one_pass(dim=64, threads=1, memory="1GB")})

    def test_it_resumes_only_with_the_same_graph_and_labels(self, tmp_path):
        options = QUICK | {"trials": 1, "study": tmp_path / "study.jsonl"}
        tune(GRAPH, LABELS, **options)
        with pytest.raises(ParameterError, match=r"different settings \(graph: "):
            tune(planted_partition(seed=1)[0], LABELS, **options)
        swapped = hopvec.Labels(LABELS.ids, LABELS.matrix[::-1], LABELS.classes)
        with pytest.raises(ParameterError, match=r"different settings \(labels: "):
            tune(GRAPH, swapped, **options)


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"trials": 0}, "tune: trials must be an integer from 1 to 100,000"),
            ({"search": "bayes"}, "tune: search must be 'tpe' or 'random' or 'grid', got 'bayes'"),
            ({"validation": 2}, "tune: validation must be a number from 0.001 to 1, got 2"),
            ({"held_out": 0.5}, "held_out= applies only to a search without labels"),
            ({"sampling": "degree"}, "sampling= applies only to a search without labels"),
            ({"space": {"beta": "-1:2"}}, "FastRP: beta must be a number from -1 to 1, got 2"),
            ({"method": one_pass(beta=7)}, "FastRP: beta must be a number from -1 to 1, got 7"),
            (
                {"method": DeepWalk()},
                r"DeepWalk has no default search space\. Give one, such as space=",
            ),
        ],
    )
    def test_invalid_arguments_are_refused_before_any_trial(self, options, message, monkeypatch):
        monkeypatch.setattr(slab._native, "hop", None)
        with pytest.raises(ParameterError, match=message):
            tune(GRAPH, LABELS, **QUICK | options)

    def test_a_method_and_labels_of_the_wrong_type(self):
        with pytest.raises(
            ParameterError, match=r"method must be a Method such as FastRP\(\), got 'fastrp'"
        ):
            tune(GRAPH, LABELS, method="fastrp")
        with pytest.raises(ParameterError, match="labels must be Labels, got a dict"):
            tune(GRAPH, {"n1": "class 1"})

    def test_settings_for_labels_are_refused_without_labels(self):
        with pytest.raises(ParameterError, match="shuffles= applies only to a search with labels"):
            tune(GRAPH, shuffles=3)


@pytest.fixture(scope="module")
def tuning():
    space = {"beta": "-1:1:0.5", "sparsity": ["sqrt", 3]}
    return tune(GRAPH, LABELS, **QUICK | {"trials": None}, space=space, search="grid")


class TestTuning:
    def test_the_table_has_one_row_per_trial_and_one_column_per_dimension(self, tuning):
        table = tuning.table()
        assert table.column_names == [
            *["number", "beta", "sparsity"],
            *["score", "seconds", "orders"],
        ]
        assert table["number"].to_pylist() == list(range(1, 11))
        assert table["sparsity"].to_pylist() == ["sqrt", "3"] * 5
        assert max(table["score"].to_pylist()) == tuning.best.score

    def test_the_table_shows_which_trials_reuse_orders(self, tuning):
        assert tuning.table()["orders"].to_pylist() == ["new"] * 10
        once, each = ["new", *["reused"] * 3], ["new", "reused"] * 2
        for passes, name, expected in (
            (1, "weights", once),
            (2, "weights", once),
            (2, "beta", each),
        ):
            values = [(0, 1, 1), (0, 1, 2)] if name == "weights" else [0, 0.5]
            options = QUICK | {"trials": None, "method": one_pass(dim=16, passes=passes)}
            space = {name: values, "spectrum": [0.5, 1]}
            found = tune(GRAPH, LABELS, **options, space=space, search="grid")
            assert found.orders == expected

    def test_printing_shows_a_table_with_the_best_trial_marked(self, tuning):
        lines = str(tuning).splitlines()
        assert lines[0].split() == ["trial", "beta", "sparsity", "orders", "macro", "F1"]
        assert len(lines) == 11
        assert [line.endswith("best") for line in lines].index(True) == tuning.best.number

    def test_the_saved_file_has_the_parameters_and_the_settings(self, tuning, tmp_path):
        tuning.save(tmp_path / "best.json")
        saved = json.loads((tmp_path / "best.json").read_text())
        assert saved["score"] == tuning.best.score
        assert saved["settings"]["space"] == {"beta": "-1:1:0.5", "sparsity": "sqrt,3"}
        assert "threads" not in saved["parameters"]
        method = hopvec.methods.method_of(saved["parameters"])
        assert method._plain_params() == tuning.method._plain_params()

    def test_the_unseen_labels_can_be_used_for_a_test(self, tuning):
        assert len(tuning.unseen) == 120
        embedding = tuning.method.embed(GRAPH)
        scores = hopvec.evaluate.classify(embedding, tuning.unseen, shares=[0.5], shuffles=2)
        assert scores.nodes == 120


def test_a_graph_with_isolated_nodes_can_be_tuned():
    names = [str(node) for node in range(60)]
    graph = Graph.from_edges(names[:40], names[1:41], nodes=names)
    labels = hopvec.Labels.from_pairs(names, ["a" if int(n) % 20 < 10 else "b" for n in names])
    assert len(tune(graph, labels, trials=2, shuffles=1).trials) == 2
