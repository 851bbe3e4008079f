"""Stopped runs, closed pipes, and bugs in hopvec."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import hopvec
from hopvec.cli import completion

LONG = [
    "embed",
    "edges.csv",
    "-o",
    "vectors.parquet",
    "--dim",
    "65536",
    "--passes",
    "1",
    "--weights",
    ",".join("1" * 32),
]

unix = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals for another process")


@pytest.fixture
def many_edges(tmp_path):
    lines = (f"{i % 20_000},{i * 7919 % 19_997}" for i in range(200_000))
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *lines, ""]))


def wait_for_work(run):
    """Until a run has used the processor for a while, and so has all its imports behind it.

    Ctrl-C within an exec() of theirs would make Python end by the signal, whatever we exit with.
    """
    spent = Path(f"/proc/{run.pid}/stat")
    if not spent.exists():
        time.sleep(2.0)
        return
    end = time.monotonic() + 60
    while run.poll() is None and time.monotonic() < end:
        user, system = spent.read_text().rpartition(")")[2].split()[11:13]
        if (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") > 2:
            return
        time.sleep(0.02)


@unix
@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [(signal.SIGINT, 130, "Stopped; nothing was written."), (signal.SIGTERM, 143, "")],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_a_stopped_run_exits_at_once_and_leaves_no_files(
    process, many_edges, tmp_path, sent, code, said
):
    (tmp_path / "temporary").mkdir()
    run = process(
        *LONG, "--memory", "500MB", env=os.environ | {"TMPDIR": str(tmp_path / "temporary")}
    )
    wait_for_work(run)
    assert run.poll() is None, run.communicate()
    run.send_signal(sent)
    start = time.monotonic()
    stdout, stderr = run.communicate(timeout=30)
    assert time.monotonic() - start < 2
    assert (run.returncode, stdout, stderr.strip()) == (code, "", said)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "temporary"]
    assert list((tmp_path / "temporary").iterdir()) == []


@unix
def test_ctrl_c_stops_it_while_it_waits_for_standard_input(process, tmp_path):
    run = process("embed", "-", "-o", tmp_path / "vectors.parquet", stdin=subprocess.PIPE)
    run.stdin.write("ann,bob\nbob,cem\n" * 400_000)
    run.stdin.flush()  # more than a pipe holds: it has begun to read
    time.sleep(0.5)
    assert run.poll() is None
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=30) == 130
    assert not list(tmp_path.iterdir())


@unix
def test_a_closed_pipe_stops_it_silently(process, vectors):
    reader, writer = os.pipe()
    os.close(reader)
    run = process("neighbors", vectors, "ann", stdout=writer)
    os.close(writer)
    _, stderr = run.communicate(timeout=30)
    assert (run.returncode, stderr) == (1, "")


def test_errors_have_exit_code_2_in_a_process_too(process):
    run = process("info", "absent.npz")
    assert run.communicate(timeout=30) == ("", "absent.npz: there is no such file.\n")
    assert run.returncode == 2


class TestBugs:
    @pytest.fixture
    def failure(self, monkeypatch):
        def raise_it(error):
            def fail(shell):
                raise error

            monkeypatch.setattr(completion, "get_completion_class", fail)

        return raise_it

    def test_a_bug_in_hopvec_has_exit_code_1(self, run, failure):
        failure(ZeroDivisionError("by zero"))
        result = run("completion", "bash")
        assert result.exit_code == 1
        assert result.stderr == (
            "hopvec failed with ZeroDivisionError: by zero. "
            "This is a bug in hopvec; --debug shows the traceback.\n"
        )

    def test_debug_shows_the_traceback(self, run, failure):
        failure(ZeroDivisionError("by zero"))
        result = run("completion", "bash", "--debug")
        assert result.exit_code == 1
        assert "Traceback" in result.stderr
        assert "test_signals.py" in result.stderr

    def test_debug_shows_the_traceback_of_a_user_error_too(self, run, failure):
        failure(hopvec.FormatError("a sentence."))
        result = run("completion", "bash", "--debug")
        assert result.exit_code == 2
        assert "Traceback" in result.stderr
        assert result.stderr.endswith("\na sentence.\n")

    def test_out_of_memory_is_reported_with_advice(self, run, failure):
        failure(MemoryError())
        result = run("completion", "bash")
        assert result.exit_code == 1
        assert "--memory 2GB" in result.stderr

    @pytest.mark.parametrize("kind", [name for name in hopvec.__all__ if name.endswith("Error")])
    def test_every_error_of_the_library_is_printed_with_exit_code_2(self, run, failure, kind):
        failure(getattr(hopvec, kind)("A complete sentence."))
        result = run("completion", "bash")
        assert (result.exit_code, result.stderr) == (2, "A complete sentence.\n")
