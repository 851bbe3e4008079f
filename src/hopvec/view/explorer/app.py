"""The web app of the explorer: the page and its API."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hopvec.view.explorer.exploration import Exploration

MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
COMPLETIONS = 12
MAX_NEIGHBORS = 200
MAX_NAMES = 100


def explorer_app(exploration: Exploration) -> Starlette:
    """The app of an exploration, without its guard.

    The handlers are plain functions, which starlette runs on threads, so that a search does not
    block other requests.
    """
    return Starlette(routes=[*_page(), *_api(exploration)])


def _page() -> list[Route]:
    """A route for each file of the page; no other file is served."""
    directory = files("hopvec.view.explorer").joinpath("static")
    contents = {
        file.name: file.read_bytes()
        for file in directory.iterdir()
        if _suffix(file.name) in MEDIA_TYPES
    }

    def handler(name: str) -> Callable[[Request], Response]:
        media_type = MEDIA_TYPES[_suffix(name)]
        return lambda request: Response(contents[name], media_type=media_type)

    static = [Route(f"/static/{name}", handler(name)) for name in sorted(contents)]
    return [Route("/", handler("index.html")), *static]


def _api(exploration: Exploration) -> list[Route]:
    def about(request: Request) -> Response:
        return JSONResponse(exploration._about())

    def positions(request: Request) -> Response:
        return _binary(_one_of(exploration._sides, request, "side").positions)

    def legend(request: Request) -> Response:
        return JSONResponse(_one_of(exploration._columns, request, "column").legend())

    def codes(request: Request) -> Response:
        return _binary(_one_of(exploration._columns, request, "column").codes)

    def members(request: Request) -> Response:
        column = _one_of(exploration._columns, request, "column")
        code = _number(request.path_params["code"])
        if code < 0:
            raise HTTPException(404, "There is no such class.")
        return _binary(column.members(code))

    def names(request: Request) -> Response:
        nodes = [_number(text) for text in request.query_params.get("nodes", "").split(",")]
        if len(nodes) > MAX_NAMES or not all(0 <= node < len(exploration) for node in nodes):
            raise HTTPException(400, f"nodes must be at most {MAX_NAMES} node numbers.")
        return JSONResponse([exploration._card(node) for node in nodes])

    def complete(request: Request) -> Response:
        found = exploration._search.complete(request.query_params.get("text", ""), COMPLETIONS)
        return JSONResponse([exploration._card(node) for node in found])

    def find(request: Request) -> Response:
        node = exploration._search.node(request.query_params.get("name", ""))
        if node is None:
            raise HTTPException(404, "There is no node with that name.")
        return JSONResponse(exploration._card(node))

    def neighborhood(request: Request) -> Response:
        node, k = _number(request.path_params["node"]), _number(request.query_params.get("k", "10"))
        if not 0 <= node < len(exploration):
            raise HTTPException(404, "There is no such node.")
        if not 1 <= k <= MAX_NEIGHBORS:
            raise HTTPException(400, f"k must be an integer from 1 to {MAX_NEIGHBORS}.")
        return JSONResponse(exploration._neighborhood(node, k))

    return [
        Route("/api/about", about),
        Route("/api/positions/{side}", positions),
        Route("/api/columns/{column}", legend),
        Route("/api/columns/{column}/codes", codes),
        Route("/api/columns/{column}/members/{code}", members),
        Route("/api/names", names),
        Route("/api/complete", complete),
        Route("/api/find", find),
        Route("/api/nodes/{node}", neighborhood),
    ]


def _binary(array: NDArray[Any]) -> Response:
    """The bytes of an array, little-endian."""
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return Response(plain.tobytes(), media_type="application/octet-stream")


def _one_of(listed: tuple[Any, ...], request: Request, name: str) -> Any:
    number = _number(request.path_params[name])
    if not 0 <= number < len(listed):
        raise HTTPException(404, f"There is no such {name}.")
    return listed[number]


def _number(text: str) -> int:
    """The number that a text holds, or -1; int() refuses more than 4,300 digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else -1


def _suffix(name: str) -> str:
    return name[name.rfind(".") :]
