"""After a fault in any file operation, the old file is whole or the new one is.

Here, each writer has one of the faults at a few n; ./scripts/fault-injection runs every n.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fault_injection.shim import COMPILER, FAULTS, compile_shim
from fault_injection.writers import WRITERS

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the shim is loaded with LD_PRELOAD"),
    pytest.mark.skipif(COMPILER is None, reason="no C compiler"),
]
MAX_OPERATIONS = 2  # operations of a writer, beside the run without a fault


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A function that runs writers whose names contain a text; returns the rows of the table."""
    shim = compile_shim(tmp_path_factory.mktemp("shim"))

    def rows(*arguments):
        command = [sys.executable, "-m", "fault_injection", *arguments]
        finished = subprocess.run(
            command,
            env=os.environ | {"LD_PRELOAD": str(shim)},
            cwd=Path(__file__).parent.parent,
            capture_output=True,
            text=True,
        )
        found = [json.loads(line) for line in finished.stdout.splitlines()]
        assert found, finished.stderr
        return found

    return rows


def test_every_operation_of_a_file_and_its_ids(run):
    rows = run("--only", "embedding .npy", "--start", "old")
    assert [row["fault"] for row in rows] == list(FAULTS)
    for row in rows:
        assert row["failures"] == []
        assert row["runs"] == row["operations"] + 1 > 1


def test_some_operations_of_every_writer(run):
    rows = run("--rotate", "--max-operations", str(MAX_OPERATIONS), "--start", "old")
    assert [row["writer"] for row in rows] == [writer.name for writer in WRITERS]
    assert {row["fault"] for row in rows} == set(FAULTS)
    assert [failure for row in rows for failure in row["failures"]] == []
    assert all(row["runs"] > 1 for row in rows)
