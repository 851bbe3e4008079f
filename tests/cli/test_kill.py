"""A run that is killed at any moment leaves the old file or the new one, and nothing else."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import hopvec

MOMENTS = 12  # a few; HOPVEC_KILLS=50 takes more
EMBED = [sys.executable, "-m", "hopvec", "embed", "edges.csv", "--dim", "64", "--quiet"]


@pytest.fixture
def directory(tmp_path):
    ends = np.random.default_rng(0).integers(0, 30_000, (200_000, 2)).tolist()
    (tmp_path / "edges.csv").write_text("".join(f"n{u},n{v}\n" for u, v in ends))
    return tmp_path


def run(directory, output, *options):
    return subprocess.Popen([*EMBED, "-o", output, *options], cwd=directory)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("options", [(), ("--memory", "215MB")], ids=["in memory", "in files"])
@pytest.mark.parametrize("output", ["vectors.parquet", "vectors.npy"])
def test_a_killed_run_leaves_no_partial_file(directory, output, options):
    start = time.monotonic()
    assert run(directory, output, *options).wait() == 0
    whole_run = time.monotonic() - start
    old = hopvec.load(directory / output)
    vectors = np.array(old.vectors)
    moment, finished = random.Random(1), 0
    for _ in range(int(os.environ.get("HOPVEC_KILLS", MOMENTS)) // 4):
        process = run(directory, output, "--seed", "1", *options)
        time.sleep(moment.random() * whole_run * 1.1)
        process.send_signal(signal.SIGKILL)
        finished += process.wait() == 0
        if (directory / output).exists():  # of two files, the first may have been moved aside
            found = hopvec.load(directory / output)
            assert found.ids.equals(old.ids)
            same = np.array_equal(found.vectors, vectors)
            assert same == (found.parameters["seed"] == 0)
    assert run(directory, output, "--seed", "1", *options).wait() == 0
    assert not [file for file in directory.iterdir() if file.suffix == ".part"]
    again = hopvec.load(directory / output)
    assert again.parameters["seed"] == 1
    assert not np.array_equal(again.vectors, vectors)
    assert np.isfinite(again.vectors).all()
