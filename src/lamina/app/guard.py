"""Who may talk to the server: pages that it has served itself, in a browser that was let in."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
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


class Entrance:
    """Launch tokens: each is part of an address that lets one browser in, once.

    Other users of this machine can read the arguments of a browser that is started with an address, long after it has
    started. A token that has been used tells them nothing.
    """

    def __init__(self, used: Callable[[str], None] = lambda token: None) -> None:
        self.used = used
        self.tokens: set[str] = set()

    def issue(self) -> str:
        """A new launch token."""
        token = secrets.token_urlsafe(24)
        self.tokens.add(token)
        return token

    def admits(self, given: str) -> bool:
        """Whether a launch token is valid. It is not from now on, and ``used`` is called with it."""
        found = [token for token in self.tokens if same(given, token)]
        for token in found:
            self.tokens.remove(token)
            self.used(token)
        return bool(found)


class Guard:
    """Passes on the requests of its own pages, and refuses all others. Every answer gets ``HEADERS``.

    A page of another site can make the browser send requests here (cross-site requests), and can point its own name to
    this machine (DNS rebinding). The first lack the token, and carry another Origin; the second carry another Host.
    """

    def __init__(self, app: ASGIApp, token: str, entrance: Entrance, port: int) -> None:
        self.app, self.token, self.entrance = app, token, entrance
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
        """The answer to an address with a launch token: the browser gets the cookie, and an address without a token."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if scope["path"] != "/" or scope["method"] != "GET" or not given:
            return None
        if self._is_known(scope):  # a browser that is in may follow a used address, and uses up no other
            return RedirectResponse("/", status_code=303)
        if not self.entrance.admits(given[0]):
            return _no("This address lets in one browser, once. Open the newest address that lamina app has printed.")
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return answer

    def unknown(self, scope: Scope) -> Response | None:
        """The answer to a request without the token: in the cookie, and where something changes in the header too."""
        if not self._is_known(scope):
            return _no("Open the newest address that lamina app has printed: this browser has not been let in.")
        if scope["method"] not in READING and not same(Headers(scope=scope).get(TOKEN_HEADER, ""), self.token):
            return _no("The page is out of date: load it again.")
        return None

    def _is_known(self, scope: Scope) -> bool:
        return same(cookie_parser(Headers(scope=scope).get("cookie", "")).get(self.cookie, ""), self.token)


def same(given: str, token: str) -> bool:
    """Whether two texts are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(given.encode(), token.encode())


def _no(why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status_code=403)
