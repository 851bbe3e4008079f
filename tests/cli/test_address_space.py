"""Limits of the address space, as by `ulimit -v`."""

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")

LIMITED = """
import os, resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
os.execv(sys.executable, [sys.executable, "-m", "hopvec", *sys.argv[1:]])
"""


def limited(process, megabytes, *arguments):
    """The exit code and the messages of a command within a limit of the address space."""
    run = process(megabytes * 1_000_000, *arguments, program=["-c", LIMITED])
    _, stderr = run.communicate(timeout=120)
    return run.returncode, stderr


@pytest.mark.parametrize("megabytes", [40, 100, 150, 200, 250, 300])
def test_a_limit_below_what_imports_need_is_a_user_error(process, edges, megabytes):
    assert limited(process, megabytes, "embed", edges, "-o", "v.parquet", "--quiet") == (
        2,
        f"The address space of this process is limited to {megabytes} MB, as by ulimit -v, which "
        "is too little. Raise that limit; --memory limits the memory in use.\n",
    )


@pytest.mark.parametrize("megabytes", [450, 500, 600])
def test_a_small_graph_is_embedded_in_little_address_space(process, edges, megabytes):
    arguments = ["embed", edges, "-o", "v.parquet", "--quiet", "--threads", 2]
    assert limited(process, megabytes, *arguments) == (0, "")


@pytest.mark.parametrize("nodes", ["3e5", "1e6", "3e6"])
def test_a_graph_that_does_not_fit_ends_in_a_sentence(process, tmp_path, nodes):
    run = process("generate", "erdos-renyi", "--nodes", nodes, "--edges", nodes, "-o", "e.parquet")
    assert run.wait(timeout=60) == 0, run.communicate()
    code, stderr = limited(process, 600, "embed", "e.parquet", "-o", "v.parquet", "--threads", 2)
    assert code in (0, 2)
    assert code == 0 or "address space" in stderr
    assert "bug" not in stderr
    assert "terminate" not in stderr
