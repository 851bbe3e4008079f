"""docs/reference/architecture.md follows a run: the functions it names are called in that order."""

import re
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

import hopvec
from hopvec.cli.program import hopvec as program

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "architecture.md"
PACKAGE = Path(hopvec.__file__).parent
STEP = re.compile(r"^(\d+)\. (.*?)(?=^\d+\. |^## )", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(r"`([\w.]+)`\s+in\s+`([\w/]+\.py)`")


def steps():
    """The functions of the numbered steps, as (file, qualified name)."""
    text = PAGE.read_text(encoding="utf-8")
    return [FUNCTION.findall(step)[0][::-1] for _, step in STEP.findall(text)]


def first_calls(work):
    """The functions of hopvec that some work calls, in the order of their first calls."""
    calls = {}

    def profile(frame, event, argument):
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(PACKAGE):
            name = (file.relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname)
            calls.setdefault(name, len(calls))

    previous = sys.getprofile()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(previous)
        threading.setprofile(None)
    return calls


def test_there_are_at_most_fifteen_steps():
    assert 10 <= len(steps()) <= 15


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """The calls of a real run of the command line."""
    monkeypatch.chdir(tmp_path)
    edges = "".join(f"n{node},n{node * 7 % 500}\n" for node in range(1, 500))
    Path("edges.csv").write_text("source,target\n" + edges, encoding="utf-8")
    command = ["embed", "edges.csv", "-o", "vectors.parquet"]
    results = []
    found = first_calls(lambda: results.append(CliRunner().invoke(program, command)))
    assert results[0].exit_code == 0, results[0].output
    return found


def test_the_functions_are_called_in_the_order_of_the_page(calls):
    missing = [step for step in steps() if step not in calls]
    assert not missing
    order = [calls[step] for step in steps()]
    assert order == sorted(order)
