"""Connections to the explorer: slow clients, many of them, and few file descriptors."""

import http.client
import os
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path

import explored
import pytest

from hopvec.view.explorer import connections
from hopvec.view.explorer.guard import HEADER, PLAIN

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")

SERVER = """
import resource, sys
sys.path[:0] = {path!r}
files, seconds = int(sys.argv[1]), float(sys.argv[2])
import explored
from hopvec.view.explorer import Exploration, connections, serve
connections.REQUEST_SECONDS = seconds
found = Exploration.from_embeddings({{"planted": explored.embedding()}}, layout="pca")
resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
serve(found, port=int(sys.argv[3]), started=lambda url: print(url, flush=True))
"""


@pytest.fixture
def start():
    """Starts a server; returns its process and its port."""
    servers = []

    def run(files=1024, seconds=1.0):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        code = SERVER.format(path=[str(Path(explored.__file__).parent), *sys.path])
        command = [sys.executable, "-c", code, str(files), str(seconds), str(port)]
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        servers.append(server)
        assert server.stdout.readline().startswith("http://")
        return server, port

    yield run
    for server in servers:
        server.kill()
        server.wait()


def about(port, timeout=10.0):
    """The status of a request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    connection.request("GET", "/api/about", headers={HEADER: PLAIN})
    status = connection.getresponse().status
    connection.close()
    return status


def is_closed(client):
    """Whether the server closes a connection within five seconds."""
    client.settimeout(5)
    try:
        return client.recv(1000) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def send_slowly(client):
    """Send a byte at a time, for five seconds."""
    for _ in range(100):
        client.sendall(b"G")
        time.sleep(0.05)


def cpu_seconds(server):
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("sent", [b"", b"GET /api/about HTTP/1.1\r\nHost: "])
def test_a_connection_without_a_complete_request_is_closed(start, sent):
    _, port = start(seconds=0.5)
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(sent)
        assert is_closed(client)
    assert about(port) in (200, 403)


def test_a_second_request_that_stays_incomplete_is_closed(start):
    _, port = start(seconds=0.5)
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert client.recv(10_000)
        client.sendall(b"GET / HTTP/1.1\r\nHo")
        client.settimeout(5)
        while client.recv(10_000):
            pass


def test_a_client_that_sends_a_byte_at_a_time_is_closed(start):
    _, port = start(seconds=0.5)
    with socket.create_connection(("127.0.0.1", port)) as client:
        begin = time.monotonic()
        with pytest.raises(ConnectionError):
            send_slowly(client)
        assert time.monotonic() - begin < 4


@pytest.mark.parametrize("files", [110, 1024])
def test_600_slow_connections_neither_spin_nor_shut_others_out(start, files):
    server, port = start(files=files, seconds=1.0)
    slow = []
    for _ in range(600):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", port))
        slow.append(client)
    time.sleep(0.5)
    before = cpu_seconds(server)
    time.sleep(2)
    assert cpu_seconds(server) - before < 0.5
    for client in slow:
        client.close()
    assert about(port, timeout=20) in (200, 403)
    assert len(list(Path(f"/proc/{server.pid}/fd").iterdir())) < 64


CHUNKED = b"Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
UPGRADE = b"Host: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"


@pytest.mark.parametrize(
    "parts",
    [
        [b"POST /static/main.js HTTP/1.1\r\n" + CHUNKED + b"ZZZZ\r\n"],
        [b"POST /static/main.js HTTP/1.1\r\n" + CHUNKED, b"ZZZZ\r\n"],
        [b"HEAD /static/main.js HTTP/1.1\r\n" + CHUNKED + b"ZZZZ\r\n"],
        [b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nZZZZ\r\n\r\n"],
        [b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: x\r\n\r\n"],
        [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
        [b"GET / HTTP/1.1\r\n" + UPGRADE + b"\r\n"],
        [b"POST / HTTP/1.1\r\n" + UPGRADE + b"Sec-WebSocket-Key: x\r\n\r\n"],
    ],
    ids=[
        "body",
        "late body",
        "HEAD",
        "second request",
        "length",
        "TLS",
        "websocket",
        "websocket key",
    ],
)
def test_a_malformed_request_prints_nothing(start, parts):
    server, port = start()
    with socket.create_connection(("127.0.0.1", port)) as client:
        for part in parts:
            client.sendall(part)
            time.sleep(0.2)
        client.settimeout(5)
        while client.recv(10_000):
            pass
    assert about(port) in (200, 403)
    server.kill()
    assert server.stderr.read() == ""


def test_the_limits_leave_room_for_other_files(monkeypatch):
    for soft, hard in [(64, 64), (100, 100), (256, 4096), (1024, 1024)]:
        monkeypatch.setattr(resource, "getrlimit", lambda kind, pair=(soft, hard): pair)
        raised = []
        monkeypatch.setattr(resource, "setrlimit", lambda kind, pair, to=raised: to.append(pair[0]))
        settings = connections.connection_settings()
        total = settings["limit_concurrency"] + settings["backlog"]
        assert 2 <= total <= max(2, max([soft, *raised]) - connections.OTHER_FILES)
