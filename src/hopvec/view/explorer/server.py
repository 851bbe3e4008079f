"""serve: an exploration on a port of this machine, until Ctrl-C."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import webbrowser
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING

from hopvec.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from hopvec.view.explorer.exploration import Exploration

ANY = ("0.0.0.0", "::")  # all addresses of this machine
LOCAL = "127.0.0.1"
PORT = 8765
HTTP = 80
TRIED = 20  # ports, where none is asked for


def require_extra() -> None:
    """Raises MissingExtraError if the web server is not installed."""
    try:
        import starlette
        import uvicorn
    except ImportError as error:
        raise MissingExtraError(
            "explore needs the web extra: pip install 'hopvec[web]'."
        ) from error
    del starlette, uvicorn


def serve(
    exploration: Exploration,
    *,
    host: str = LOCAL,
    port: int | None = None,
    open_browser: bool = False,
    tell: Callable[[str], object] = lambda address: None,
) -> None:
    """Serves the page of an exploration until Ctrl-C, and returns then.

    Without a `port`, it is 8765 or the next that is free. Any `host` but 127.0.0.1 lets other
    machines in: then only the address with its token opens the page. `tell` is called with the
    address once it answers. Raises ParameterError if the port or the host cannot be had.
    """
    require_extra()
    import uvicorn

    token = None if host == LOCAL else secrets.token_urlsafe(24)
    with listening(host, port) as taken:
        number = taken.getsockname()[1]
        address = _address(host, number, token)

        class Told(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                tell(address)
                if open_browser:
                    Thread(target=webbrowser.open, args=[address], daemon=True).start()

        settings = uvicorn.Config(
            guarded(exploration, host, number, token),
            lifespan="off",
            log_level="error",
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        try:
            Told(settings).run(sockets=[taken])
        except KeyboardInterrupt:  # it has ended by then, and Ctrl-C is how one ends it
            return


def guarded(exploration: Exploration, host: str, port: int, token: str | None) -> ASGIApp:
    """The app of an exploration behind its guard."""
    from hopvec.view.explorer.app import explorer_app
    from hopvec.view.explorer.guard import Guard

    any_host = host in ANY
    names = {LOCAL, "localhost"} if host == LOCAL else {_in_address(host).lower()}
    ports = [f":{port}", ""] if port == HTTP else [f":{port}"]  # browsers leave that of http out
    hosts = None if any_host else frozenset(name + end for name in names for end in ports)
    return Guard(explorer_app(exploration), hosts, token)


def listening(host: str, port: int | None) -> socket.socket:
    """A socket that listens: at the port, or without one at the first that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = range(PORT, PORT + TRIED) if port is None else [port]
    for number in ports:
        taken = socket.socket(family)
        if os.name == "posix":  # on Windows two processes would share the port
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind((host, number))
            taken.listen()
            return taken
        except OSError as error:
            taken.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise ParameterError(
                    f"explore: cannot listen at {host} ({error.strerror or error}). Leave --host "
                    "out, or name an address of this machine."
                ) from error
    what = f"the port {port} is" if port is not None else f"the ports {PORT} to {ports[-1]} are"
    raise ParameterError(
        f"explore: {what} taken, or not for us to have. Name another one: --port 9000."
    )


def _address(host: str, port: int, token: str | None) -> str:
    """What to type into a browser: where all addresses are listened at, by this machine's name."""
    host = socket.gethostname() if host in ANY else host
    plain = f"http://{_in_address(host)}:{port}/"
    return plain if token is None else f"{plain}?token={token}"


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host
