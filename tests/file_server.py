"""A web server for the tests of downloads: it serves one file, and fails on request."""

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Fault:
    """A failure of one request."""

    status: int | None = None
    cut_after: int | None = None
    """Bytes of the response after which the connection is closed."""
    stall_after: int | None = None
    """Bytes of the response after which the server sends nothing."""
    before: object = None
    """A function that is called first, for example to change the file."""


class FileServer(ThreadingHTTPServer):
    """Serves `content` at every path that is not in `files`.

    Each fault affects one request, in order.
    """

    daemon_threads = True

    def __init__(self, content, *, etag='"1"', ranges=True, length=True):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.etag, self.ranges, self.length = content, etag, ranges, length
        self.files = {}
        self.last_modified = None
        self.content_range = None
        self.location = None
        self.faults = []
        self.requests = []
        self.sent = 0
        self.pace = 0.0
        self.closing = threading.Event()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/graph.mat"

    @property
    def requested_ranges(self):
        """The requested ranges, None for the whole file."""
        return [headers.get("Range") for headers in self.requests]

    def stop(self):
        self.closing.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """Ignores clients that disconnect, which is part of the tests."""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.requests.append(dict(self.headers))
        fault = server.faults.pop(0) if server.faults else Fault()
        if fault.before:
            fault.before()
        if fault.status:
            self.send_response(fault.status)
            if fault.status in (301, 302):
                self.send_header("Location", server.location)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = self.send_headers()
        self.end_headers()
        self.send(body, fault)

    def send_headers(self):
        """Sends the headers of the response, and returns its body."""
        server, start = self.server, 0
        content = server.files.get(self.path.rpartition("/")[2], server.content)
        given = self.headers.get("Range")
        same = self.headers.get("If-Range") in (server.etag, server.last_modified)
        if server.ranges and given and same:
            start = int(given.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self.send_response(416)
                return b""
            self.send_response(206)
            whole = len(content)
            content_range = server.content_range or f"bytes {start}-{whole - 1}/{whole}"
            self.send_header("Content-Range", content_range)
        else:
            self.send_response(200)
        body = content[start:]
        for name, value in (
            ("ETag", server.etag),
            ("Last-Modified", server.last_modified),
            ("Content-Length", str(len(body)) if server.length else None),
        ):
            if value:
                self.send_header(name, value)
        return body

    def send(self, body, fault):
        server = self.server
        step = 1 << 14 if server.pace else 1 << 20
        limits = [n for n in (fault.cut_after, fault.stall_after) if n is not None]
        end = min(len(body), *limits, len(body))
        for at in range(0, end, step):
            block = body[at : min(at + step, end)]
            self.wfile.write(block)
            server.sent += len(block)
            server.closing.wait(server.pace)
        if fault.stall_after is not None:
            server.closing.wait(30)

    def log_message(self, *arguments):
        pass
