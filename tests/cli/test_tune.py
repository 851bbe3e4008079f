"""`hopvec tune`, and `--params` of other commands."""

import csv
import json
import os
import signal
import sys
import time

import pytest

import hopvec
from hopvec.cli.terminal import Terminal
from hopvec.formats.graphs.write import write_graph
from planted_partition import planted_partition
from pseudo_terminal import run_on_terminal

QUICK = ("--trials", 4, "--search-dim", 8, "--shuffles", 2, "--dim", 16)


@pytest.fixture
def files(tmp_path):
    """A file of edges and a file of labels that match its clusters."""
    graph, labels = planted_partition()
    write_graph(graph, tmp_path / "edges.csv")
    rows, classes = labels.matrix.nonzero()
    ids = labels.ids.to_pylist()
    lines = [f"{ids[r]},{labels.classes[c]}" for r, c in zip(rows, classes, strict=True)]
    (tmp_path / "labels.csv").write_text("\n".join(["id,label", *lines, ""]))
    return "edges.csv", "labels.csv"


def read_json(path):
    return json.loads(path.read_text())


def trials(path):
    """The rows of trials.csv without their durations."""
    with path.open() as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


class TestFiles:
    def test_the_output_directory_has_all_results(self, run, files, tmp_path):
        result = run("tune", *files, *QUICK, "-o", "found")
        assert result.exit_code == 0, result.stderr
        found = tmp_path / "found"
        assert sorted(path.name for path in found.iterdir()) == [
            "best.json",
            "search.png",
            "study.jsonl",
            "trials.csv",
            "unseen.csv",
        ]
        rows, best = trials(found / "trials.csv"), read_json(found / "best.json")
        assert list(rows[0]) == [
            *("trial", "beta", "spectrum", "weights.1", "weights.2"),
            *("orders", "score"),
        ]
        assert [row["trial"] for row in rows] == ["1", "2", "3", "4"]
        assert max(float(row["score"]) for row in rows) == best["score"]
        assert len(hopvec.read_labels(found / "unseen.csv")) == 120
        assert (found / "search.png").read_bytes().startswith(b"\x89PNG")

    def test_the_result_is_that_of_the_library(self, run, files, tmp_path):
        run("tune", *files, *QUICK, "--normalize", "authors", "--passes", 1, "--seed", 5)
        graph = hopvec.read_graph(tmp_path / "edges.csv")
        labels = hopvec.read_labels(tmp_path / "labels.csv")
        method = hopvec.FastRP(dim=16, normalize="authors", passes=1, seed=5)
        expected = hopvec.tune(graph, labels, method=method, trials=4, search_dim=8, shuffles=2)
        assert read_json(tmp_path / "tuned" / "best.json") == expected.to_dict()

    def test_embed_makes_the_vectors_of_the_best_parameters(self, run, files, tmp_path):
        run("tune", *files, *QUICK)
        result = run("embed", files[0], "-o", "vectors.npz", "--params", "tuned/best.json")
        assert result.exit_code == 0, result.stderr
        embedding = hopvec.load(tmp_path / "vectors.npz")
        best = read_json(tmp_path / "tuned" / "best.json")["parameters"]
        assert {name: embedding.parameters[name] for name in best} == best
        method = hopvec.methods.method_of(best)
        expected = method.embed(hopvec.read_graph(tmp_path / "edges.csv"))
        assert embedding.vectors.tobytes() == expected.vectors.tobytes()

    def test_without_labels_links_are_predicted(self, run, files, tmp_path):
        result = run("tune", files[0], "--trials", 2, "--space", "beta=-1:1")
        assert result.exit_code == 0, result.stderr
        best = read_json(tmp_path / "tuned" / "best.json")
        assert best["settings"]["measure"] == "mean link AUC"
        assert not (tmp_path / "tuned" / "unseen.csv").exists()

    def test_any_space_and_method(self, run, files, tmp_path):
        options = ("--method", "deepwalk", "--walks", 1, "--length", 5, "--dim", 8)
        space = ("--space", "window=1,2", "--space", "negatives=1:2:1", "--search", "grid")
        result = run("tune", *files, *options, *space)
        assert result.exit_code == 0, result.stderr
        rows = trials(tmp_path / "tuned" / "trials.csv")
        assert [(row["window"], row["negatives"]) for row in rows] == [
            ("1", "1"),
            ("1", "2"),
            ("2", "1"),
            ("2", "2"),
        ]


class TestStudy:
    def test_the_same_command_resumes(self, run, files, tmp_path):
        few, many = (("--trials", 2, *QUICK[2:]), ("--trials", 5, *QUICK[2:]))
        assert run("tune", *files, *few).exit_code == 0
        assert run("tune", *files, *many).exit_code == 0
        assert run("tune", *files, *many, "-o", "whole").exit_code == 0
        resumed, whole = (tmp_path / name / "trials.csv" for name in ("tuned", "whole"))
        assert trials(resumed) == trials(whole)

    def test_another_search_in_the_same_directory_is_rejected(self, run, files):
        run("tune", *files, *QUICK)
        result = run("tune", *files, *QUICK, "--seed", 1)
        assert result.exit_code == 2
        assert "tuned/study.jsonl: this study has different settings (parameters" in result.stderr

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no signals for another process")
    def test_after_ctrl_c_it_says_how_to_resume(self, process, run, files, tmp_path):
        endless = ("--trials", 100_000, *QUICK[2:])
        running = process("tune", *files, *endless)
        study, deadline = tmp_path / "tuned" / "study.jsonl", time.monotonic() + 120
        while not study.exists() or study.read_bytes().count(b"\n") < 4:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        assert running.returncode == 130
        assert said.strip() == (
            "Stopped; the trials are in tuned/study.jsonl. Run the same command again to resume."
        )
        assert not (tmp_path / "tuned" / "best.json").exists()
        assert run("tune", *files, "--trials", 3, *QUICK[2:]).exit_code == 0
        assert run("tune", *files, "--trials", 3, *QUICK[2:], "-o", "whole").exit_code == 0
        resumed, whole = (tmp_path / name / "trials.csv" for name in ("tuned", "whole"))
        assert trials(resumed) == trials(whole)


class TestOutput:
    def test_piped_it_prints_the_trials(self, run, files, tmp_path):
        result = run("tune", *files, *QUICK)
        rows = list(csv.DictReader(result.stdout.splitlines(), delimiter="\t"))
        for row, stored in zip(rows, trials(tmp_path / "tuned" / "trials.csv"), strict=True):
            assert float(row["score"]) == pytest.approx(float(stored["score"]), rel=1e-5)
        assert result.stderr.endswith(
            "Next: hopvec embed edges.csv -o vectors.parquet --params tuned/best.json\n"
        )

    def test_the_next_command_reads_the_graph_in_the_same_way(self, run, files):
        options = ("--trials", 1, "--search-dim", 8, "--shuffles", 1, "--dim", 8, "--passes", 1)
        reading = ("--separator", ",", "--header", "--loops", "drop", "--space", "beta=0.25")
        printed = run("tune", *files, *options, *reading).stderr
        assert "best.json --loops drop --separator , --header\n" in printed

    def test_the_json_is_that_of_the_file(self, run, files, tmp_path):
        result = run("tune", *files, *QUICK, "--json", "--quiet")
        assert json.loads(result.stdout) == read_json(tmp_path / "tuned" / "best.json")
        assert result.stderr == ""

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
    def test_a_terminal_shows_the_best_so_far_and_a_table(self, files, tmp_path):
        code, text = run_on_terminal(["tune", *files, *map(str, QUICK)], tmp_path)
        assert code == 0, text
        assert "searching, best so far" in text
        assert "macro F1" in text

    def test_progress_lines_have_the_best_score_so_far(self, monkeypatch, capsys):
        monkeypatch.setattr("hopvec.cli.terminal.LINE_SECONDS", 0)
        arguments = iter(["searching", "searching, best so far 3"])
        with Terminal().progress(lambda: next(arguments), "%") as progress:
            progress(1, 4)
            progress(2, 4)
        said = capsys.readouterr().err.splitlines()
        assert said[0].startswith("searching: 25 %")
        assert said[1].startswith("searching, best so far 3: 50 %")


class TestUserErrors:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--space", "beta"), "--space must be a parameter and its values, such as beta=-1:0"),
            (("--space", "beta=-1:2"), "FastRP: beta must be a number from -1 to 1, got 2."),
            (("--space", "gamma=0:1"), "FastRP has no parameter 'gamma'"),
            (("--space", "beta=0:1", "--space", "beta=0:1"), "--space names beta twice"),
            (("--beta", "0.5"), "--beta sets a parameter that is searched"),
            (("--weights", "0,1"), "--weights sets a parameter that is searched"),
            (("--held-out", "0.5"), "--held-out applies only to a search without labels"),
            (
                ("--search", "grid"),
                "a grid needs lists of values or ranges with a step, and beta is any number in",
            ),
            (
                ("--space", "dim=8,16", "--search-dim", "8"),
                "--search-dim has no effect if dim is searched",
            ),
            (("--features", "absent.csv"), "absent.csv: there is no such file"),
            (("--validation", "0"), "validation must be a number from 0.001 to 1, got 0"),
        ],
    )
    def test_they_are_one_sentence_and_nothing_is_written(
        self, run, files, tmp_path, options, message
    ):
        result = run("tune", *files, *options)
        assert result.exit_code == 2
        assert message in result.stderr
        assert not (tmp_path / "tuned" / "best.json").exists()

    def test_options_of_labels_without_labels(self, run, files):
        assert (
            "--id-column needs a file of labels"
            in run("tune", files[0], "--id-column", "id").stderr
        )
        assert (
            "--shuffles applies only to a search with labels"
            in run("tune", files[0], "--shuffles", 3).stderr
        )

    def test_a_method_without_a_default_space(self, run, files):
        printed = run("tune", *files, "--method", "deepwalk").stderr
        assert "DeepWalk has no default search space" in printed

    def test_a_grid_that_is_too_large_is_refused_before_reading(self, run):
        space = ("--search", "grid", "--space", "beta=0:1:1e-9")
        result = run("tune", "no-such-file.csv", *space, "-o", "t")
        assert result.exit_code == 2
        assert "points, and a search at most 100,000 trials" in result.stderr
        assert "--trials" in result.stderr

    def test_a_file_as_output_directory(self, run, files):
        result = run("tune", *files, "-o", "edges.csv")
        assert result.exit_code == 2
        assert "edges.csv: cannot create this directory" in result.stderr


class TestParams:
    @pytest.fixture
    def params(self, tmp_path):
        saved = {"method": "FastRP", "dim": 8, "weights": [0, 1, 2.5], "beta": -0.5, "seed": 3}
        (tmp_path / "best.json").write_text(json.dumps({"parameters": saved}))
        return "--params", "best.json"

    def embed(self, run, tmp_path, *options):
        result = run("embed", "edges.csv", "-o", "vectors.npz", *options)
        assert result.exit_code == 0, result.stderr
        return hopvec.load(tmp_path / "vectors.npz").parameters

    def test_given_options_override_them(self, run, edges, params, tmp_path):
        found = self.embed(run, tmp_path, *params, "--beta", "0.75", "--weights", "1")
        assert (found["dim"], found["seed"]) == (8, 3)
        assert (found["beta"], found["weights"]) == (0.75, [1])

    def test_the_report_of_a_run_repeats_it(self, run, edges, tmp_path):
        options = ("--dim", "8", "--beta", "-0.25", "--passes", "1", "--report", "run.json")
        first = self.embed(run, tmp_path, *options)
        assert self.embed(run, tmp_path, "--params", "run.json") == first

    def test_the_method_must_be_that_of_the_file(self, run, edges, tmp_path):
        saved = {"method": "DeepWalk", "dim": 4, "walks": 1, "length": 3}
        (tmp_path / "walks.json").write_text(json.dumps({"parameters": saved}))
        assert self.embed(run, tmp_path, "--params", "walks.json")["method"] == "DeepWalk"
        result = run(
            "embed", edges, "-o", "v.npz", "--params", "walks.json", "--method", "node2vec"
        )
        assert result.exit_code == 2
        assert "parameters of the method deepwalk, but --method is node2vec" in result.stderr
        result = run("embed", edges, "-o", "v.npz", "--params", "walks.json", "--beta", "1")
        assert "The method deepwalk has no --beta" in result.stderr

    def test_estimate_takes_them_too(self, run, edges, params):
        printed = json.loads(run("estimate", edges, *params, "--json").stdout)
        assert printed["parameters"]["beta"] == -0.5

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{", "best.json: this is not a parameter file of `hopvec tune` or --report"),
            ("[]", "this is not a parameter file"),
            ("{}", "this is not a parameter file"),
            (
                '{"parameters": {"method": "word2vec"}}',
                "There is no method 'word2vec'; the methods are",
            ),
            ('{"parameters": {"method": "FastRP", "gamma": 1}}', "has no parameter 'gamma'"),
            ('{"parameters": {"method": "FastRP", "beta": 7}}', "beta must be a number from -1"),
        ],
    )
    def test_a_file_without_parameters_is_rejected(self, run, edges, tmp_path, content, message):
        (tmp_path / "best.json").write_text(content)
        result = run("embed", edges, "-o", "vectors.npz", "--params", "best.json")
        assert result.exit_code == 2
        assert message in result.stderr

    def test_a_missing_file_is_rejected(self, run, edges):
        result = run("embed", edges, "-o", "vectors.npz", "--params", "nowhere.json")
        assert result.exit_code == 2
        assert "nowhere.json: cannot be read" in result.stderr
