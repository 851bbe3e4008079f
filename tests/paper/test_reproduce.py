"""Reproductions with available and with missing datasets."""

import json
import re
import shutil
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from hopvec import FastRP, MissingExtraError, ParameterError
from hopvec.paper import ITEMS, classification, neighbors, published, runtime, sensitivity
from hopvec.paper import map as maps
from hopvec.paper.experiment_cache import ExperimentCache, Score, no_stage
from hopvec.paper.reproduce import reproduce
from hopvec.paper.scalability import Point, Series, measure
from hopvec.paper.settings import PAPER_METHODS, method, methods_text, weakened


@pytest.fixture
def cache(tmp_path):
    return ExperimentCache(
        data=tmp_path, directory=tmp_path / "vectors", quick=True, stage=no_stage
    )


@pytest.mark.parametrize("item", ["sensitivity", "projection"])
def test_missing_datasets_are_reported(tmp_path, item):
    page = reproduce([item], data=tmp_path, out=tmp_path / "report", quick=True)
    text = (page.parent / "report.md").read_text()
    assert "*Missing: blogcatalog (hopvec data get blogcatalog)" in text
    assert "✓" not in text
    assert "✗" not in text


def test_an_unknown_item_is_refused_and_the_items_are_listed(tmp_path):
    with pytest.raises(ParameterError, match=r"no item 'figure9'. The items are runtime, .*projec"):
        reproduce(["figure9"], out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_every_item_has_a_module_and_a_description():
    from importlib import import_module

    for item, line in ITEMS.items():
        assert callable(import_module(f"hopvec.paper.{item}").reproduce)
        assert len(line) > 10


class TestOnSmallGraphs:
    """Items that need data, on a small published graph."""

    @pytest.fixture(scope="class")
    @classmethod
    def report(cls, data_dir, tmp_path_factory):
        directory = tmp_path_factory.mktemp("reproduce")
        shutil.copytree(data_dir / "eurosis", directory / "data" / "eurosis")
        stages = []

        def stage(name):
            stages.append(name)
            return no_stage(name)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sensitivity, "DATASET", "eurosis")
            patch.setattr(neighbors, "WELL_KNOWN", {"eurosis": ()})
            patch.setattr(maps, "CLASSES", {"eurosis": maps.CLASSES["eurosis"]})
            for module in (runtime, classification):
                patch.setattr(module, "NOT_IN_PAPER", ("eurosis", "cora"))
            items = ["runtime", "classification", "neighbors", "map", "sensitivity"]
            page = reproduce(
                items, data=directory / "data", out=directory / "out", quick=True, stage=stage
            )
        return page.parent, stages

    def rows(self, report, name):
        lines = (report[0] / f"{name}.csv").read_text().splitlines()
        return {line.split(",")[0]: line.split(",")[1:] for line in lines[1:]}

    def test_every_method_is_timed_on_every_dataset(self, report):
        rows = self.rows(report, "runtime-all")
        assert list(rows) == ["eurosis"]
        assert all(float(cell) > 0 for row in rows.values() for cell in row)
        assert all(float(row[0]) < float(row[3]) for row in rows.values())  # FastRP, DeepWalk

    def test_every_method_is_scored_on_every_dataset(self, report):
        for row in self.rows(report, "classification-beyond").values():
            assert row[0] == "10%"
            assert len(row[1:]) == 6
            assert all(10 < float(cell) < 100 for cell in row[1:])

    def test_maps_are_drawn_and_their_purity_is_measured(self, report):
        assert float(self.rows(report, "map")["eurosis"][0]) > 0.8
        assert (report[0] / "map-eurosis.png").stat().st_size > 20_000

    def test_neighbors_are_in_the_class_of_their_node(self, report):
        assert float(self.rows(report, "neighbors-classes")["eurosis"][0]) > 0.8

    def test_scores_are_plotted_over_each_parameter(self, report):
        assert len(self.rows(report, "sensitivity-beta")) == 5
        dims = self.rows(report, "sensitivity-dim")
        assert float(dims["32"][0]) < float(dims["512"][0])
        assert (report[0] / "sensitivity.svg").exists()

    def test_a_quick_run_judges_no_claim_on_weakened_baselines(self, report):
        text = (report[0] / "report.md").read_text()
        rows = [line for line in text.splitlines() if "DeepWalk's" in line or "Highest" in line]
        rows = [row for row in rows if row.startswith("|")]
        assert len(rows) == 2
        assert all(row.startswith("| ○ not judged") for row in rows)
        assert "1 walk per node instead of 10" in text
        assert "1 seed of R." in text
        assert all(row[1] == "" for row in self.rows(report, "sensitivity-dim").values())

    def test_missing_data_and_stages_are_reported(self, report):
        directory, stages = report
        text = (directory / "report.md").read_text()
        assert "*Missing: cora" in text
        assert "*Missing: flickr" in text
        assert "blogcatalog" not in " ".join(stages)
        assert "eurosis: searching parameters of FastRP" in stages

    def test_a_second_run_reuses_the_measurements(self, report, monkeypatch):
        directory, _ = report
        before = (directory / "sensitivity-dim.csv").read_text()
        monkeypatch.setattr(FastRP, "_compute", None)
        monkeypatch.setattr(sensitivity, "DATASET", "eurosis")
        reproduce(["sensitivity"], data=directory.parent / "data", out=directory, quick=True)
        assert (directory / "sensitivity-dim.csv").read_text() == before


class TestExperimentCache:
    def test_a_slow_embedding_is_computed_once_and_then_read(self, cache, monkeypatch):
        monkeypatch.setattr("hopvec.paper.experiment_cache.MIN_CACHED_SECONDS", 0.0)
        method = FastRP(dim=8, threads=1)
        first = cache.embedding("debian-packages", method)
        seconds = cache.cpu_seconds("debian-packages", method)
        monkeypatch.setattr(FastRP, "_compute", None)
        second = cache.embedding("debian-packages", method)
        assert second.vectors.tobytes() == first.vectors.tobytes()
        assert cache.cpu_seconds("debian-packages", method) == seconds > 0

    def test_measurements_are_cached_by_settings(self, cache, tmp_path):
        for seed in (1, 2, 1):
            settings = {"method": FastRP(dim=8, seed=seed)}
            assert cache.measure_once("answer", settings, lambda seed=seed: seed) == seed
        notes = [json.loads(path.read_text()) for path in (tmp_path / "vectors").iterdir()]
        assert sorted((note["method"]["seed"], note["answer"]) for note in notes) == [
            (1, 1),
            (2, 2),
        ]

    def test_a_nested_stage_is_not_reported(self, tmp_path):
        opened = []

        def stage(name):
            opened.append(name)
            return no_stage(name)

        cache = ExperimentCache(data=tmp_path, directory=tmp_path, quick=True, stage=stage)
        with cache.stage("outer"), cache.stage("inner") as progress:
            progress(1, 2)
        with cache.stage("next"):
            pass
        assert opened == ["outer", "next"]

    def test_available_and_missing_datasets(self, cache):
        assert cache.available("flickr", "debian-packages") == ["debian-packages"]
        assert cache.missing("flickr", "debian-packages") == ["flickr (hopvec data get flickr)"]


class TestVerdicts:
    PAPER = published.MACRO_F1["blogcatalog"]

    def scores(self, **changed):
        return {
            label: [Score(0.1, macro, 0.5, 40.0, 1.0)]
            for label, macro in (self.PAPER | changed).items()
        }

    def test_the_results_of_the_paper_hold(self):
        found = classification._verdicts("blogcatalog", self.scores())
        assert [verdict.status for verdict in found] == ["holds", "holds"]

    def test_a_better_baseline_is_named(self):
        found = classification._verdicts("blogcatalog", self.scores(LINE=30.0))
        assert [verdict.status for verdict in found] == ["differs", "differs"]
        assert "LINE, 30.00" in found[0].found

    @pytest.mark.parametrize(("deepwalk", "status"), [(8000.0, "holds"), (100.0, "differs")])
    def test_times_are_compared_as_ratios(self, deepwalk, status):
        row = {"FastRP": 1.0, "RandNE": 2.0, "DeepWalk": deepwalk}
        assert [v.status for v in runtime._verdicts("blogcatalog", row)] == [status, "holds"]

    def test_weakened_baselines_are_not_ranked(self):
        found = classification._verdicts("blogcatalog", self.scores(LINE=30.0), "Not judged: why.")
        assert [(verdict.status, verdict.found) for verdict in found] == [
            ("not judged", "Not judged: why.")
        ] * 2
        row = {"FastRP": 1.0, "RandNE": 2.0, "DeepWalk": 8000.0}
        statuses = [v.status for v in runtime._verdicts("blogcatalog", row, "Not judged: why.")]
        assert statuses == ["not judged", "holds"]


class TestSettings:
    """The text of a report describes the settings of its run."""

    @pytest.fixture(params=[True, False], ids=["quick", "full"])
    def settings(self, request, tmp_path):
        return ExperimentCache(
            data=tmp_path, directory=tmp_path / "vectors", quick=request.param, stage=no_stage
        )

    @pytest.fixture
    def graph_sizes(self, monkeypatch):
        sizes = {"blogcatalog": 10_312, "flickr": 80_513, "cora": 2_708}
        monkeypatch.setattr(
            ExperimentCache,
            "dataset",
            lambda self, name: SimpleNamespace(graph=SimpleNamespace(nodes=sizes[name])),
        )

    def test_the_text_names_the_walks_samples_and_trials_of_the_methods(self, settings):
        text = methods_text(settings)
        for name in ("blogcatalog", "cora"):
            walks = method(settings, name, "DeepWalk").walks
            samples = method(settings, name, "LINE").samples
            assert re.search(rf"\b{walks} walks? per node", text)
            assert f" {samples // 1_000_000} million samples" in text
        assert f"with {settings.trials} trials" in text

    def test_only_a_full_run_ranks_the_baselines(self, settings):
        reason = weakened(settings, "blogcatalog", *PAPER_METHODS)
        assert reason == (
            "Not judged: DeepWalk and node2vec use 8 walks per node instead of 80, and LINE uses "
            "10 million samples instead of 100 million."
            if settings.quick
            else ""
        )
        assert weakened(settings, "blogcatalog", "FastRP", "RandNE") == ""

    def test_the_text_names_the_shuffles_of_each_graph(self, settings, graph_sizes):
        text = classification._shuffles_text(settings, ["blogcatalog", "flickr", "cora"])
        assert text == (
            "Scores are means of 3 shuffles in the tables (1 on blogcatalog, flickr) and 1 at the "
            "other shares of the curves."
            if settings.quick
            else "Scores are means of 10 shuffles in the tables (5 on flickr) and 5 at the other "
            "shares of the curves."
        )

    def test_the_text_does_not_call_one_shuffle_a_mean(self, cache, graph_sizes):
        text = classification._shuffles_text(cache, ["blogcatalog"])
        assert text == "Scores are those of a single shuffle."

    def test_a_single_shuffle_has_no_deviation(self, cache):
        one, two = (
            cache.scores("debian-packages", FastRP(dim=4, passes=1), [0.1], C=1.0, shuffles=n)[0]
            for n in (1, 2)
        )
        assert one.deviation is None
        assert two.deviation > 0

    def test_a_quick_sensitivity_study_has_no_deviations_and_no_best_values(self):
        sweeps = (
            sensitivity.Sweep("beta", "β", [-1, 0], [3.0, 2.0], None),
            sensitivity.Sweep("alpha_4", "a", [1, 8], [1.0, 2.0], None),
            sensitivity.Sweep("dim", "d", [32, 128], [1.0, 2.0], None),
        )
        found = sensitivity._verdicts(*sweeps, unsupported="Not judged: why.")
        assert [verdict.status for verdict in found] == ["not judged", "not judged", "holds"]
        assert [row[2] for row in sensitivity._table(sweeps[0]).rows] == [None, None]


@pytest.mark.parametrize("package", ["optuna", "gensim", "matplotlib", "openTSNE"])
def test_a_missing_extra_is_reported_before_the_work(tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"^reproduce needs .* 'hopvec\[paper\]'\.$"):
        reproduce(["projection"], data=tmp_path, out=tmp_path / "report")
    assert not (tmp_path / "report").exists()


class TestScalability:
    def test_a_point_is_measured_once(self, cache):
        point = measure(cache, 500, 2000)
        assert (point.nodes, point.edges, point.seconds > 0) == (500, 2000, True)
        assert measure(cache, 500, 2000) == point

    def test_a_line_is_fitted_with_its_slope(self):
        points = [Point(1000, m, 3.0 + 2e-3 * m) for m in (1000, 2000, 5000)]
        slope, intercept, r_squared = Series("m", "", points).line()
        assert np.allclose([slope, intercept, r_squared], [2e-3, 3.0, 1.0])

    def test_points_off_the_line_lower_its_r_squared(self):
        points = [Point(n, 1, seconds) for n, seconds in ((1, 1.0), (2, 5.0), (3, 2.0))]
        assert Series("n", "", points).line()[2] < 0.5
