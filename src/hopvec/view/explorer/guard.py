"""Guard: which requests to the explorer are allowed; other web pages must not reach it."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "x-hopvec"  # a page of another origin cannot send it without a CORS preflight
PLAIN = "explore"  # its value without a token
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
NO_FRAMES = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True)
class Guard:
    """Passes a request on to the app, or rejects it with status 400 or 403.

    - The Host must be one of `hosts`, against DNS rebinding.
    - Cross-site requests are rejected, except for links to the page.
    - The API requires a header that only the page itself can send.
    - With a token, this header and the URL of the page must contain it, against other users of this
      machine and of the network. Nothing depends on cookies, which browsers withhold in frames.
    - No page can show the explorer in a frame, unless `framed`.
    """

    app: ASGIApp
    hosts: frozenset[str] | None
    """Allowed Host headers, with the port; None allows any, which is only safe with a token."""
    token: str | None = None
    framed: bool = False
    """Whether pages of any origin, such as notebooks, may show the explorer in a frame. That is
    only safe with a token, which such a page must know."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        added = SECURITY_HEADERS | ({} if self.framed else NO_FRAMES)

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(added)
            await send(message)

        rejection = self._rejection(scope) if scope["type"] == "http" else None
        await (rejection or self.app)(scope, receive, protected)

    def _rejection(self, scope: Scope) -> PlainTextResponse | None:
        headers, path = Headers(scope=scope), scope["path"]
        if self.hosts is not None and headers.get("host", "").lower() not in self.hosts:
            return PlainTextResponse("The Host header is not that of the explorer.", 400)
        link = path == "/" and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not link:
            return PlainTextResponse("Requests from other sites are not allowed.", 403)
        if path.startswith("/api/") and not _equal(
            headers.get(HEADER, ""), PLAIN if self.token is None else self.token
        ):
            return PlainTextResponse(
                f"The API requires the header {HEADER}, which the page sends.", 403
            )
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if path == "/" and self.token is not None and not _equal(given, self.token):
            return PlainTextResponse("Open the printed URL, which contains the token.", 403)
        return None


def _equal(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), right.encode())
