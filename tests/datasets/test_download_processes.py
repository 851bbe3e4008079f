"""Downloads by several processes, and by processes that are stopped."""

import os
import signal
import subprocess
import sys
import time

import pytest

from downloads import CONTENT, files, get

PROGRAM = "import sys; from hopvec.datasets.download import download; download(*sys.argv[1:])"


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither these signals nor these locks")
class TestProcesses:
    @pytest.fixture
    def start(self):
        started = []

        def start(server, path):
            command = [sys.executable, "-c", PROGRAM, server.url, str(path)]
            started.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
            return started[-1]

        yield start
        for process in started:
            process.kill()
            process.wait()

    def wait_for(self, condition):
        end = time.monotonic() + 20
        while not condition() and time.monotonic() < end:
            time.sleep(0.02)
        assert condition()

    @pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill"])
    def test_a_stopped_download_is_resumed(self, serve, path, start, sent):
        server = serve()
        server.pace = 0.02
        process = start(server, path)
        part = path.with_name("graph.mat.part")
        self.wait_for(lambda: part.exists() and part.stat().st_size > 100_000)
        process.send_signal(sent)
        process.wait(timeout=10)
        kept = part.stat().st_size
        assert part.read_bytes() == CONTENT[:kept]
        server.pace = 0
        get(server, path)
        assert path.read_bytes() == CONTENT
        assert server.requested_ranges == [None, f"bytes={kept}-"]

    def test_a_concurrent_download_waits_for_the_first(self, serve, path, start):
        server = serve()
        server.pace = 0.01
        processes = [start(server, path) for _ in range(2)]
        assert [process.wait(timeout=30) for process in processes] == [0, 0]
        assert path.read_bytes() == CONTENT
        assert len(server.requests) == 1
        assert files(path) == ["graph.mat", "graph.mat.sha256"]

    def test_a_waiting_download_resumes_one_that_was_killed(self, serve, path, start):
        server = serve()
        server.pace = 0.02
        first = start(server, path)
        part = path.with_name("graph.mat.part")
        self.wait_for(lambda: part.exists() and part.stat().st_size > 50_000)
        second = start(server, path)
        time.sleep(0.3)
        first.kill()
        server.pace = 0
        assert second.wait(timeout=30) == 0
        assert path.read_bytes() == CONTENT
        assert server.requested_ranges[1].startswith("bytes=")
