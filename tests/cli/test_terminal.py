"""Terminal: progress bars, progress lines, and the log of the library."""

import logging
import re
import sys

import pytest

from hopvec.cli import terminal as terminal_file
from hopvec.cli.terminal import Terminal, duration, progress_text, wrap
from pseudo_terminal import run_on_terminal


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminals")
class TestOnATerminal:
    def test_a_run_shows_a_bar_for_each_stage_and_then_the_report(self, edges, tmp_path):
        code, text = run_on_terminal(["embed", edges, "-o", "vectors.npz"], tmp_path)
        assert code == 0, text
        for stage in ("reading edges.csv", "embedding", "writing vectors.npz"):
            assert stage in text
        assert "slabs" not in text
        assert "6 vectors of dimension 256" in text

    def test_neighbors_are_a_table(self, vectors, tmp_path):
        code, text = run_on_terminal(["neighbors", vectors, "ann"], tmp_path)
        assert code == 0, text
        assert "similarity" in text

    @pytest.mark.parametrize(
        "arguments",
        [["neighbors", "{}", "ann"], ["convert", "{}", "other.npy"], ["info", "{}"]],
        ids=lambda arguments: arguments[0],
    )
    def test_reading_vectors_shows_a_bar(self, vectors, tmp_path, arguments):
        code, text = run_on_terminal([word.format(vectors) for word in arguments], tmp_path)
        assert code == 0, text
        assert f"reading {vectors} ━" in text

    def test_the_timing_of_an_estimate_shows_a_bar(self, edges, tmp_path):
        code, text = run_on_terminal(["estimate", edges], tmp_path)
        assert code == 0, text
        assert "timing a sample ━" in text

    def test_it_says_that_it_waits_for_edges(self, tmp_path):
        code, text = run_on_terminal(
            ["embed", "-", "-o", "vectors.npz"], tmp_path, b"a b\n" + 9 * b"\x04"
        )
        assert code == 0, text
        assert "Waiting for edges on standard input" in text


def test_a_line_break_does_not_separate_a_number_from_its_unit():
    text = "0 duplicate edges, 8 loops, largest component 6 nodes (100 %)"
    for width in range(20, 60):
        lines = wrap(text, width)
        assert " ".join(lines) == text
        assert not [line for line in lines[:-1] if line[-1].isdigit()]


class TestElsewhere:
    def test_a_short_stage_is_silent(self, capfd):
        with Terminal() as terminal, terminal.progress("reading", "bytes") as progress:
            progress(1, 2)
        assert capfd.readouterr().err == ""

    def test_a_long_stage_prints_lines(self, capfd, monkeypatch):
        monkeypatch.setattr(terminal_file, "LINE_SECONDS", 0.0)
        with Terminal() as terminal, terminal.progress("reading", "bytes") as progress:
            progress(1_000_000, 4_000_000)
        assert re.fullmatch(r"reading: 25 %, .*B/s, .* left\n", capfd.readouterr().err)

    def test_quiet_prints_no_lines(self, capfd, monkeypatch):
        monkeypatch.setattr(terminal_file, "LINE_SECONDS", 0.0)
        with Terminal(quiet=True) as terminal, terminal.progress("reading", "bytes") as progress:
            progress(1, 2)
        assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("done", "total", "seconds", "unit", "expected"),
    [
        (3, 12, 6.0, "rows", "25 %, 0.5 rows/s, 18 s left"),
        (3, 12, 6.0, "%", "25 %, 18 s left"),
        (5_000_000, 0, 2.0, "bytes", "5 MB, 2.5 MB/s"),
        (0, 12, 6.0, "rows", "0 %, 0 rows/s"),
        (0, 12, 0.0, "rows", "0 %, 0 rows/s"),
    ],
)
def test_progress_as_a_string(done, total, seconds, unit, expected):
    assert progress_text(done, total, seconds, unit) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0123, "0.012 s"),
        (12.3, "12 s"),
        (59.6, "1 min 0 s"),
        (3599.9, "1 h 0 min"),
        (9000, "2 h 30 min"),
    ],
)
def test_a_duration_as_a_string(seconds, expected):
    assert duration(seconds) == expected


class TestLog:
    logger = logging.getLogger("hopvec")

    def test_warnings_become_notes(self, capfd):
        with Terminal() as terminal:
            self.logger.warning("%s of them", 3)
        assert terminal.notes == ["3 of them"]
        assert capfd.readouterr().err == ""

    @pytest.mark.parametrize(("verbose", "seen"), [(True, "on the way\n"), (False, "")])
    def test_verbose_shows_info_messages(self, capfd, verbose, seen):
        with Terminal(verbose=verbose):
            self.logger.info("on the way")
        assert capfd.readouterr().err == seen

    def test_the_logger_is_restored(self):
        before = (self.logger.level, list(self.logger.handlers))
        with Terminal(verbose=True):
            pass
        assert (self.logger.level, list(self.logger.handlers)) == before
