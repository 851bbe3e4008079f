"""`hopvec snapshots`, and the options for times: --time, --half-life, --as-of, --since, --until."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hopvec
from pseudo_terminal import run_on_terminal

OPTIONS = ("--time", "day", "--every", "7d", "--window", "14d", "--dim", "16")
SNAPSHOTS = ("snapshots", "edges.csv", *OPTIONS)


@pytest.fixture
def timed(tmp_path):
    """Writes a file of edges with days, in random order."""

    def write(count=2000, nodes=100, days=45):
        rng = np.random.default_rng(3)
        ends = rng.integers(0, nodes, (2, count))
        first = np.datetime64("2024-01-01")
        moments = np.datetime_as_string(first + rng.integers(0, days, count)).tolist()
        rows = zip(*ends.tolist(), moments, strict=True)
        text = "".join(f"{u},{v},{day}\n" for u, v, day in rows)
        (tmp_path / "edges.csv").write_text("source,target,day\n" + text)

    return write


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def test_the_table_shows_each_window_and_diff_compares_any_two(run, timed):
    timed()
    result = run(*SNAPSHOTS, "-o", "out")
    assert result.exit_code == 0, result.stderr
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [row[0] for row in rows] == [f"2024-01-{day}" for day in (15, 22, 29)] + [
        f"2024-02-{day}" for day in ("05", "12", "19")
    ]
    assert "ISO dates, from 2024-01-01 to 2024-02-14" in result.stderr
    assert "out: 6 snapshots of dimension 16" in result.stderr
    compared = run("diff", "out/2024-01-15.parquet", "out/2024-02-19.parquet")
    assert compared.exit_code == 0
    assert "aligned" not in compared.stderr
    found = json.loads(run(*SNAPSHOTS, "-o", "out", "--json").stdout)["windows"]
    assert [row["path"] for row in found][:1] == ["out/2024-01-15.parquet"]
    assert f"{found[1]['mean_cosine']:.4f}" == rows[1][6]


def test_a_snapshot_has_the_bytes_of_embed_with_the_same_window(run, timed):
    timed()
    run(*SNAPSHOTS, "-o", "out", "--half-life", "7d")
    window = ("--time", "day", "--since", "2024-01-15", "--until", "2024-01-29")
    aged = ("--half-life", "7d", "--as-of", "2024-01-29")
    like = ("--like", "out/2024-01-15.parquet")
    result = run("embed", "edges.csv", "-o", "one.parquet", *window, *aged, *like)
    assert result.exit_code == 0, result.stderr
    assert Path("one.parquet").read_bytes() == Path("out/2024-01-29.parquet").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--time", "day", "--window", "7d", "-o", "out"), "Give --every, such as --every 7d"),
        (("--every", "7d", "--window", "7d", "-o", "out"), "Give --time, such as --time COLUMN"),
        (OPTIONS, "Name the output directory, such as -o snapshots/"),
        ((*OPTIONS, "-o", "out", "--window", "1m"), "--window must be a positive duration"),
        ((*OPTIONS, "-o", "out", "--as-of", "2024", "--half-life", "1d"), "leave --as-of out"),
        ((*OPTIONS, "-o", "edges.csv"), "edges.csv: cannot create this directory"),
    ],
)
def test_missing_and_invalid_options_are_refused(run, timed, arguments, message):
    timed()
    result = run("snapshots", "edges.csv", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_other_options_are_refused_unless_forced(run, timed):
    timed()
    run(*SNAPSHOTS, "-o", "out")
    result = run(*SNAPSHOTS, "-o", "out", "--seed", "5")
    assert result.exit_code == 2
    assert (
        "out: the snapshots in this directory were made with --seed 0, not 5. Choose another "
        in (result.stderr)
    )
    assert "replace them with --force" in result.stderr
    assert run(*SNAPSHOTS, "-o", "out", "--seed", "5", "--force").exit_code == 0
    assert hopvec.load("out/2024-01-15.parquet").parameters["seed"] == 5


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_killed_run_is_resumed_with_the_same_bytes(tmp_path, timed):
    timed(60_000, 4_000, 120)
    command = [sys.executable, "-m", "hopvec", *SNAPSHOTS, "--dim", "64", "--quiet", "-o"]
    start = time.monotonic()
    subprocess.run([*command, "whole"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    whole_run, moment = time.monotonic() - start, random.Random(2)
    for _ in range(6):
        process = subprocess.Popen([*command, "killed"], cwd=tmp_path, stdout=subprocess.DEVNULL)
        time.sleep(moment.uniform(0.3, 0.9) * whole_run)
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            break
    subprocess.run([*command, "killed"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
def test_a_terminal_shows_one_progress_bar_after_the_other_and_a_table(tmp_path, timed):
    timed()
    code, shown = run_on_terminal([*SNAPSHOTS, "-o", "out"], tmp_path)
    assert code == 0, shown
    assert "How far nodes moved" in shown


def test_info_shows_kind_span_window_and_half_life(run, timed):
    timed()
    arguments = ("--time", "day", "--since", "2024-01-15", "--half-life", "7d")
    shown = run("info", "edges.csv", *arguments).stdout
    assert "time   ISO dates, from 2024-01-15 to 2024-02-14, since 2024-01-15" in shown
    assert "half-life 7d as of 2024-02-14" in shown
    assert "weighted (by age)" in shown
    found = json.loads(run("info", "edges.csv", *arguments, "--json").stdout)["input"]["time"]
    assert found["kind"] == "ISO dates"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--half-life", "7d"), "--half-life needs --time"),
        (("--time", "day", "--as-of", "2024"), "--as-of needs --half-life"),
        (("--time", "day", "--since", "soon"), "--since must be a time"),
        (
            ("--time", "day", "--half-life", "7d", "--as-of", "2024-01-02"),
            "is after --as-of 2024-01-02. Leave later edges out with --until. Use --bad-rows skip",
        ),
    ],
)
def test_errors_about_times_name_options(run, timed, arguments, message):
    timed()
    result = run("embed", "edges.csv", "-o", "out.parquet", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
