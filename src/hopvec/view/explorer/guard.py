"""Guard: who may ask the explorer. Other pages in the same browser may not."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "x-hopvec"  # a page of another origin cannot send it without asking first
PLAIN = "explore"  # its value where there is no token
PROTECTION = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Guard:
    """Lets a request through to the app, or answers 400 or 403 with a sentence.

    The Host must be one of ours, or a page could reach us by a name of its own that it has pointed
    at this machine. What a page of another site asks for is refused, but for following a link to
    the page. The API wants a header that only the page itself can send; with a token, which is for
    a server that other machines reach, that header and the address of the page must hold it.
    """

    app: ASGIApp
    hosts: frozenset[str] | None
    """What the Host may be, with the port; None for any, which is only safe with a token."""
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(PROTECTION)
            await send(message)

        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self.app)(scope, receive, protected)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers, path = Headers(scope=scope), scope["path"]
        if self.hosts is not None and headers.get("host", "").lower() not in self.hosts:
            return PlainTextResponse("The Host of this request is not the explorer's.", 400)
        link = path == "/" and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not link:
            return PlainTextResponse("Other sites may not ask the explorer.", 403)
        if path.startswith("/api/") and not _equal(
            headers.get(HEADER, ""), PLAIN if self.token is None else self.token
        ):
            return PlainTextResponse(f"The API is for the page, which sends {HEADER}.", 403)
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if path == "/" and self.token is not None and not _equal(given, self.token):
            return PlainTextResponse("Open the address with the token that was printed.", 403)
        return None


def _equal(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), right.encode())
