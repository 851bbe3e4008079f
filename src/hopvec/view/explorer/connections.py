"""Limits of the connections to the explorer: their number, and the time that a request may take.

A client that opens connections and sends little would otherwise hold all file descriptors; asyncio
then tries to accept connections again and again.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 10.0  # until the headers of a request are complete
MAX_CONNECTIONS = 500
BACKLOG = 128  # connections that are accepted at once, or wait for that
OTHER_FILES = 64  # descriptors that are not connections: files, and those of the event loop


def connection_settings() -> dict[str, Any]:
    """The settings of uvicorn that limit connections, so that descriptors cannot run out."""
    connections, backlog = MAX_CONNECTIONS, BACKLOG
    if os.name == "posix":
        files = _raised_file_limit(connections + backlog + OTHER_FILES) - OTHER_FILES
        backlog = max(1, min(backlog, files // 4))
        connections = max(1, min(connections, files - backlog))
    return {"http": _LimitedConnection, "backlog": backlog, "limit_concurrency": connections}


def _raised_file_limit(wanted: int) -> int:
    """The number of files that this process may open; raised to `wanted` if that is allowed."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    raised = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    return raised


class _LimitedConnection(H11Protocol):
    """A connection that is closed if a request does not arrive in time, or if there are too many.

    uvicorn limits the time between two requests only.
    """

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        if self.limit_concurrency and len(self.connections) > self.limit_concurrency:
            transport.abort()
        else:
            self._watch()

    def data_received(self, data: bytes) -> None:
        """Stop waiting when a request is complete, and wait again when the next one begins."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request, or close the connection if it cannot be answered any more.

        The app may have got the headers already, before a malformed body: its response is dropped,
        since uvicorn would log that it cannot be sent.
        """
        if self.cycle is not None:
            self.cycle.disconnected = True
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # after an answer, or with a body after HEAD
            self.transport.close()

    def _watch(self) -> None:
        is_waiting = self.cycle is None or self.cycle.response_complete
        if not is_waiting:
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
