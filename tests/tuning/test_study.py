"""A study: trials are saved, however the process ends."""

import json
import sys
from pathlib import Path

import pytest

from hopvec import FormatError, ParameterError
from hopvec.tuning.study import Study, Trial

SETTINGS = {"method": "FastRP", "space": {"beta": "-1:0"}, "C": 0.1}
TRIALS = [Trial(n, {"beta": -0.1 / n}, 0.3 * n, 0.5) for n in (1, 2, 3)]


@pytest.fixture
def path(tmp_path):
    with Study(tmp_path / "study.jsonl", SETTINGS) as study:
        for trial in TRIALS:
            study.add(trial)
    return tmp_path / "study.jsonl"


def read(path, settings=SETTINGS):
    with Study(path, settings) as study:
        return study.trials


def test_trials_are_read_back_exactly(path):
    assert read(path) == TRIALS


def test_without_a_file_trials_are_kept_in_memory():
    with Study(None, SETTINGS) as study:
        study.add(TRIALS[0])
    assert study.trials == TRIALS[:1]


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_an_incomplete_line_is_dropped(path, cut):
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with Study(path, SETTINGS) as study:
        assert study.trials == TRIALS[:2]
        study.add(TRIALS[2])
    assert path.read_bytes() == whole


def test_a_file_with_an_incomplete_first_line_starts_over(path):
    path.write_bytes(path.read_bytes()[:20])
    assert read(path) == []
    assert json.loads(path.read_text())["settings"] == SETTINGS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"C": 1.0},
            r"this study has different settings \(C: 0\.1, now 1\.0\)\. "
            "Use the same settings, or choose another file",
        ),
        ({"space": {"beta": "-1:1"}}, r"different settings \(space: beta -1:0, now beta -1:1\)"),
        ({"labels": "abc"}, r"different settings \(labels: nothing, now abc\)"),
    ],
)
def test_different_settings_are_refused_and_named(path, change, message):
    before = path.read_bytes()
    with pytest.raises(ParameterError, match=message):
        read(path, SETTINGS | change)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("line", "content", "message"),
    [
        (1, "{}", "line 1: this is not a study"),
        (1, "[1]", "line 1: this is not a study"),
        (3, "beta", "line 3: this is not a line of a study"),
        (3, "{}", "line 3: this is not trial number 2"),
        (
            3,
            json.dumps({"number": 7, "parameters": {}, "score": 1, "seconds": 1}),
            "trial number 2",
        ),
    ],
)
def test_a_damaged_file_is_refused_and_its_line_is_named(path, line, content, message):
    lines = path.read_text().splitlines()
    lines[line - 1] = content
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(FormatError, match=message):
        read(path)


def test_two_searches_on_one_study_are_refused(path):
    with (
        Study(path, SETTINGS),
        pytest.raises(FormatError, match="another search is using this study"),
    ):
        read(path)
    assert read(path) == TRIALS


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(FormatError, match="cannot be written"):
        read(tmp_path / "nowhere" / "study.jsonl")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /dev/zero")
def test_a_device_is_refused_before_it_is_read():
    with pytest.raises(FormatError, match="/dev/zero: a study must be a regular file"):
        read(Path("/dev/zero"))
