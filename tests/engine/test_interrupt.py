"""Long runs can be interrupted, and report progress."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from example_graphs import random_example
from hopvec import _native
from hopvec.machine import run_all
from one_pass import one_pass

LONG_RUN = """
import numpy, sys, hopvec
ends = numpy.random.default_rng(0).integers(0, 20_000, (2, 2_000_000))
graph = hopvec.Graph.from_edges(*ends)
method = hopvec.FastRP(dim=4096, weights=[1] * 32, passes=1, {options})
print(hopvec.estimate(graph, method).seconds, method.plan(graph).output, flush=True)
method.embed(graph, progress=lambda done, total: print(done, total, flush=True))
print("finished", flush=True)
"""

OPTIONS = {
    "in memory": ("normalize='none', threads=2", "memory"),
    "in a file, recomputed": ("memory='60MB'", "file"),
}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
@pytest.mark.parametrize("how", OPTIONS)
def test_ctrl_c_stops_a_long_run_within_a_second_and_leaves_nothing_behind(how, tmp_path):
    options, output = OPTIONS[how]
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_RUN.format(options=options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    try:
        seconds, where = process.stdout.readline().split()
        assert float(seconds) > 10
        assert where == output
        process.stdout.readline()  # the first slab is done
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        printed, errors = process.communicate(timeout=30)
        took = time.monotonic() - start
    finally:
        process.kill()
    assert took < 1.5  # a second, plus the shutdown of the interpreter
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode in (-signal.SIGINT, 130)
    assert "finished" not in printed
    assert list(tmp_path.iterdir()) == []


class TestProgress:
    @pytest.mark.parametrize("threads", [1, 3])
    @pytest.mark.parametrize(
        ("options", "passes"),
        [
            ({"normalize": "none"}, 1),
            ({"normalize": "full"}, 1),
            ({"normalize": "full", "memory": "250kB"}, 2),
            ({"normalize": "none", "precision": "float16"}, 1),
        ],
        ids=["none", "cached", "recomputed", "float16"],
    )
    def test_it_counts_every_slab_of_every_pass(self, options, passes, threads):
        graph = random_example(300, 1000).graph()
        method = one_pass(dim=100, threads=threads, **options)
        plan, seen = method.plan(graph), []
        assert plan.slab_runs == passes
        method.embed(graph, progress=lambda *counts: seen.append(counts))
        total = plan.slabs * passes
        assert seen == [(done, total) for done in range(1, total + 1)]

    def test_it_is_called_from_the_calling_thread(self):
        seen = set()
        one_pass(dim=64, threads=3).embed(
            random_example(300, 1000).graph(),
            progress=lambda done, total: seen.add(threading.current_thread()),
        )
        assert seen == {threading.current_thread()}

    @pytest.mark.parametrize("normalize", ["none", "full"])
    def test_an_exception_in_the_callback_stops_the_run_and_is_raised(self, normalize):
        class EnoughError(Exception):
            pass

        calls = []

        def progress(done, total):
            calls.append(done)
            if done == 2:
                raise EnoughError

        before = threading.active_count()
        with pytest.raises(EnoughError):
            one_pass(dim=1024, threads=2, normalize=normalize).embed(
                random_example(300, 1000).graph(), progress=progress
            )
        assert calls == [1, 2]
        assert threading.active_count() == before

    def test_a_run_after_a_stopped_one_is_not_stopped(self):
        graph, method = random_example(300, 1000).graph(), one_pass(dim=64)
        expected = method.embed(graph).vectors.tobytes()

        def fail(done, total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            method.embed(graph, progress=fail)
        assert method.embed(graph).vectors.tobytes() == expected


class TestRunAll:
    def test_an_exception_in_a_task_stops_the_others_and_is_raised(self):
        started, stops = [], []

        def task(number):
            def work(stop):
                started.append(number)
                stops.append(stop)
                if number == 1:
                    raise ValueError("the second task")
                time.sleep(0.05)

            return work

        with pytest.raises(ValueError, match="the second task"):
            run_all([task(number) for number in range(50)], max_workers=2)
        assert len(started) < 10
        assert all(isinstance(stop, _native.Stop) for stop in stops)

    def test_all_results_are_returned_and_counted(self):
        counts = []
        results = run_all(
            [lambda stop, n=n: n for n in range(20)], max_workers=3, done=counts.append
        )
        assert sorted(results) == list(range(20))
        assert counts == list(range(1, 21))
