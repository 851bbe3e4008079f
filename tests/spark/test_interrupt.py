"""Ctrl-C during a run on Spark: one line, soon, and no vectors."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
@pytest.mark.usefixtures("spark")  # which skips without Java
def test_ctrl_c_ends_a_run_on_spark_in_one_line_and_leaves_no_vectors(tmp_path):
    ends = np.random.default_rng(0).integers(0, 50_000, (2, 500_000))
    pq.write_table(pa.table({"source": ends[0], "target": ends[1]}), tmp_path / "edges.parquet")
    command = ["embed", "edges.parquet", "-o", "vectors", "--spark", "local[1]", "--dim", "1024"]
    command += ["--passes", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "hopvec", *command],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    try:
        shown = next(line for line in process.stderr if line.startswith("embedding on Spark"))
        assert "100 %" not in shown
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        left = process.stderr.read()
        process.wait(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert time.monotonic() - start < 10  # stopping Java takes a second on an idle machine
    assert left.splitlines()[-1].startswith("Stopped"), left
    assert "Traceback" not in left
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.parquet"]
