"""Who may talk to the server: pages that it has served itself, in the browser that has its token."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: The header in which scripts send the token. Pages of other sites can neither read the token nor send the header.
TOKEN_HEADER = "x-lamina-token"
#: Plotly writes styles into the page; scripts come from files only.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: A report is a page of its own: its scripts run, but not in the name of the server.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
READING = ("GET", "HEAD")


class Guard:
    """Passes on the requests of its own pages, and refuses all others. Every answer gets ``HEADERS``.

    A page of another site can make the browser send requests here (cross-site requests), and can point its own name to
    this machine (DNS rebinding). The first lack the token, and carry another Origin; the second carry another Host.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie = f"lamina-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self.refused(scope) or self.entering(scope) or self.unknown(scope)
        await (answer or self.app)(scope, receive, send_guarded)

    def refused(self, scope: Scope) -> Response | None:
        """The answer to a request that another site has sent, or that came by another name."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self.hosts:
            return _no("This server answers only to its own address.")
        if origin is not None and origin != f"http://{host}":
            return _no("This server answers only its own pages.")
        elsewhere = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        followed = scope["method"] in READING and headers.get("sec-fetch-mode") == "navigate"
        if elsewhere and not followed:  # a link may lead here; it gets nothing without the cookie
            return _no("This server answers only its own pages.")
        return None

    def entering(self, scope: Scope) -> Response | None:
        """The answer to the address that ``lamina app`` prints: the token moves into a cookie, out of the address."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if scope["path"] != "/" or scope["method"] not in READING or not given or not self._is_token(given[0]):
            return None
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return answer

    def unknown(self, scope: Scope) -> Response | None:
        """The answer to a request without the token: in the cookie, and where something changes in the header too."""
        headers = Headers(scope=scope)
        if not self._is_token(cookie_parser(headers.get("cookie", "")).get(self.cookie, "")):
            return _no("Open the address that lamina app has printed: this page has no access without its token.")
        if scope["method"] not in READING and not self._is_token(headers.get(TOKEN_HEADER, "")):
            return _no("The page is out of date: load it again.")
        return None

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.token.encode())


def _no(why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status_code=403)
