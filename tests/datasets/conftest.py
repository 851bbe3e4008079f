"""Fixtures for the tests of datasets: web servers that stop at the end of a test."""

import pytest

from downloads import CONTENT
from file_server import FileServer


@pytest.fixture
def serve(monkeypatch):
    """Starts servers, each with one file."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    servers = []

    def start(content=CONTENT, **settings):
        servers.append(FileServer(content, **settings))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def path(tmp_path):
    """Where a download goes, in a directory that does not exist yet."""
    return tmp_path / "data" / "graph.mat"
