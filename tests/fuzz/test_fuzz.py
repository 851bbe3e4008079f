"""Damaged files of every format are read or refused; and the harness finds the faults it is for."""

import sys
from pathlib import Path

import pytest

from fuzz.runner import Case, Fuzzer, Worker, describe, make_case, minimize, signature
from fuzz.seeds import Seed, all_seeds
from hopvec.formats import EMBEDDING_FORMATS
from hopvec.formats.graphs.read import GRAPH_FORMATS
from hopvec.formats.labels.read import LABEL_FORMATS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork and limits as on Linux")

SECONDS, CASES = 60.0, 12_000  # the same cases everywhere; a slow machine runs fewer
SEED = 0  # ./scripts/fuzz --seed runs other cases


@pytest.fixture(scope="module")
def seeds():
    return all_seeds()


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    with Worker(sys.executable, tmp_path_factory.mktemp("worker")) as worker:
        yield worker


def test_there_are_seeds_of_every_format(seeds):
    found = {(seed.format.split()[0], seed.format.split()[-1]) for seed in seeds}
    assert found >= {("graph", name) for name in GRAPH_FORMATS}
    assert found >= {("labels", name) for name in LABEL_FORMATS}
    assert found >= {("vectors", suffix) for suffix in EMBEDDING_FORMATS}


def test_seeds_are_read_undamaged(seeds):
    assert Fuzzer(seeds, SEED).drop_unreadable_seeds() == {}


def test_damaged_files_are_read_or_refused(seeds):
    fuzzer = Fuzzer(seeds, SEED)
    fuzzer.run(seconds=SECONDS, cases=CASES)
    print(sorted(fuzzer.counts.items()), fuzzer.outcomes)
    assert not [finding.title for finding in fuzzer.findings.values()]
    assert len(fuzzer.counts) == len({seed.format for seed in seeds})


def test_cases_depend_on_the_seed_and_the_number_only(seeds):
    assert make_case(seeds, 3, 17) == make_case(seeds, 3, 17)
    assert make_case(seeds, 3, 17) != make_case(seeds, 4, 17)


FAULTS = {
    "KEYERROR": ("exception", "KeyError: 'missing'"),
    "HANG": ("time", "SIGXCPU"),
    "SLEEP": ("waits", "more than"),
    "ALLOCATE": ("memory", "more than"),
    "HUGE": ("memory", "MemoryError"),
    "CRASH": ("signal", "SIGSEGV"),
    "NAN": ("wrong result", "a vector is not finite"),
    "WARN": ("warning", "RuntimeWarning"),
    "UNNAMED": ("error without the name of the file", "This file cannot be read."),
}


def planted(content, number=0):
    return Case(number, Seed("planted", "planted", "file", {"file": content}), "file")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, worker, monkeypatch):
    monkeypatch.setattr("fuzz.runner.WAIT_SECONDS", 2.0 if fault == "SLEEP" else 60.0)
    monkeypatch.setattr("fuzz.runner.BASE_CPU", 0.5 if fault == "HANG" else 60.0)
    outcome, _, message = describe(worker.run(planted(fault.encode()))).partition(": ")
    kind, cause = FAULTS[fault]
    assert outcome.startswith(kind)
    assert cause in message


def test_refusals_and_results_are_fine(worker):
    outcomes = worker.run_all([planted(b"WRONG", 0), planted(b"right", 1)])
    assert [outcome["outcome"] for outcome in outcomes] == ["refused", "read"]


def test_cases_after_a_crash_are_run(worker):
    contents = [b"right", b"CRASH", b"WRONG", b"KEYERROR", b"right"]
    cases = [planted(content, number) for number, content in enumerate(contents)]
    outcomes = [outcome["outcome"] for outcome in worker.run_all(cases)]
    assert outcomes == ["read", "signal", "refused", "exception", "read"]


def test_a_finding_is_minimized(worker):
    case = planted(b"line\n" * 50 + b"some KEYERROR here\n" + b"line\n" * 50)
    outcome = worker.run(case)
    least = minimize(case, outcome, worker.run)
    assert least.seed.files["file"] == b"KEYERROR"
    assert signature(least, worker.run(least)) == signature(case, outcome)


def test_a_finding_is_reproduced_by_its_directory(tmp_path, monkeypatch, capsys):
    from fuzz import __main__ as program

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(program, "all_seeds", lambda: [planted(b"KEYERROR " * 3).seed])
    monkeypatch.setattr(Fuzzer, "drop_unreadable_seeds", lambda fuzzer: {})
    monkeypatch.setattr(sys, "argv", ["fuzz", "--minutes", "0.01"])
    assert program.main() == 1
    assert "1 findings" in capsys.readouterr().out
    (directory,) = Path("fuzz-findings").iterdir()
    monkeypatch.setattr(sys, "argv", ["fuzz", "--reproduce", str(directory)])
    assert program.main() == 1
    assert "KeyError: 'missing'" in capsys.readouterr().out
