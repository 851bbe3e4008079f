"""What the tests of datasets share: web servers that end with the test."""

import pytest

from file_server import FileServer


@pytest.fixture
def serve(monkeypatch):
    """Starts a server of one file."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    servers = []

    def start(content, **settings):
        servers.append(FileServer(content, **settings))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()
