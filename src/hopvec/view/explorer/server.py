"""serve: runs the web server of the explorer until Ctrl-C."""

from __future__ import annotations

import errno
import os
import re
import secrets
import socket
import webbrowser
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING

from hopvec.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from hopvec.view.explorer.exploration import Exploration

ANY = ("0.0.0.0", "::")  # all addresses of this machine
LOCAL = "127.0.0.1"
PORT = 8765
HTTP = 80
PORTS_TRIED = 20  # if no port is given


def require_extra() -> None:
    """Raise MissingExtraError if the web server is not installed."""
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
    token: str | bool = True,
    open_browser: bool = False,
    started: Callable[[str], object] = lambda url: None,
) -> None:
    """Serve the page of an exploration until Ctrl-C.

    The page loads nothing from the network. By default, only this machine can open it, and only
    with the token in its URL.

    Parameters
    ----------
    exploration : Exploration
        The embeddings to show.
    host : str, default="127.0.0.1"
        Address to listen on. With another address, other machines can connect.
    port : int, optional
        Port to listen on; 8765 or the next free port if it is not given.
    token : str or bool, default=True
        The token that the page requires, at least eight letters, digits, "-" or "_"; True for a
        random one. With False, all users of this machine can open the page.
    open_browser : bool, default=False
        Whether to open the page in a browser.
    started : callable, optional
        Called with the URL of the page once the server accepts requests.

    Raises
    ------
    MissingExtraError
        If the web extra is not installed.
    ParameterError
        If the token is invalid, or the server cannot listen on the host or port.

    Examples
    --------
    >>> from hopvec.view.explorer import Exploration, serve
    >>> exploration = Exploration.from_embeddings({"fastrp": embedding})  # doctest: +SKIP
    >>> serve(exploration, open_browser=True, started=print)  # doctest: +SKIP
    """
    require_extra()

    def on_start(url: str) -> None:
        started(url)
        if open_browser:
            Thread(target=webbrowser.open, args=[url], daemon=True).start()

    required = required_token(token, host)
    with listening(host, port) as listener:
        server, _ = new_server(exploration, host, listener, required, started=on_start)
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:  # the server has shut down already
            return


def required_token(token: str | bool, host: str) -> str | None:
    """The token that requests must contain, or None if they need none."""
    if token is True:
        return secrets.token_urlsafe(24)
    if token is False:
        if host == LOCAL:
            return None
        raise ParameterError(
            f"explore: other machines can open {host}, so it needs a token; leave out token=False."
        )
    if not isinstance(token, str) or not re.fullmatch(r"[A-Za-z0-9_-]{8,200}", token):
        raise ParameterError(
            'explore: token must be 8 to 200 letters, digits, "-" or "_", or a bool, got '
            f"{token!r}."
        )
    return token


def new_server(
    exploration: Exploration,
    host: str,
    listener: socket.socket,
    token: str | None,
    *,
    framed: bool = False,
    started: Callable[[str], object],
) -> tuple[uvicorn.Server, str]:
    """A server for a listening socket, and its URL, which `started` is called with."""
    import uvicorn

    from hopvec.view.explorer.connections import connection_settings

    port = listener.getsockname()[1]
    url = _url(host, port, token)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started(url)

    settings = uvicorn.Config(
        guarded(exploration, host, port, token, framed=framed),
        lifespan="off",
        log_level="error",
        server_header=False,
        timeout_graceful_shutdown=1,
        **connection_settings(),
    )
    return Server(settings), url


def guarded(
    exploration: Exploration, host: str, port: int, token: str | None, *, framed: bool = False
) -> ASGIApp:
    """The app of an exploration, protected by the guard."""
    from hopvec.view.explorer.app import explorer_app
    from hopvec.view.explorer.guard import Guard

    any_host = host in ANY
    names = {LOCAL, "localhost"} if host == LOCAL else {_url_host(host).lower()}
    ports = [f":{port}", ""] if port == HTTP else [f":{port}"]  # browsers omit the default port
    hosts = None if any_host else frozenset(name + end for name in names for end in ports)
    return Guard(explorer_app(exploration), hosts, token, framed)


def listening(host: str, port: int | None) -> socket.socket:
    """A listening socket, on the port or on the first free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = range(PORT, PORT + PORTS_TRIED) if port is None else [port]
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
                    f"explore: cannot listen on {host} ({error.strerror or error}). "
                    "Remove host=, or use an address of this machine."
                ) from error
    what = f"port {port} is" if port is not None else f"ports {PORT} to {ports[-1]} are"
    raise ParameterError(f"explore: {what} in use or not permitted. Try another one: port=9000.")


def _url(host: str, port: int, token: str | None) -> str:
    """The URL of the page, with the host name if it listens on all addresses."""
    host = socket.gethostname() if host in ANY else host
    plain = f"http://{_url_host(host)}:{port}/"
    return plain if token is None else f"{plain}?token={token}"


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
