"""Who may use the page: Host, Origin and token are checked before anything else is done."""

from __future__ import annotations

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mockdriver.runtime.secrecy import new_secret
from mockdriver.web.addresses import Bound
from mockdriver.web.hosts import allowed_host, allowed_origin

LOGIN_PATH = "/login"
_WITHOUT_TOKEN = (LOGIN_PATH, "/static/login.js", "/static/style.css", "/static/icon.svg")
"""What somebody needs who has yet to give the token."""

_SAFE_METHODS = ("GET", "HEAD")

_SOURCES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
POLICY = "; ".join(f"{kind} {source}" for kind, source in _SOURCES.items())
"""Nothing is loaded from elsewhere, nothing that stands in the page itself is executed."""

HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Not no-referrer: with that, browsers hide the Origin of the form at /login too.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Token:
    """The token that users must know, if there is one, and the cookie that stands for it."""

    def __init__(self, token: str | None, port: int) -> None:
        self._token = token
        # Cookies do not know ports: two pages on one machine must not sign each other out.
        self.cookie_name = f"mockdriver-{port}"
        # Not the token itself: who sees the cookie can use this page until it ends, and no other.
        self._secret = new_secret()

    @property
    def is_needed(self) -> bool:
        """Tell whether there is a token."""
        return self._token is not None

    def matches(self, given: str) -> bool:
        """Tell whether what somebody gives is the token."""
        return self._token is not None and hmac.compare_digest(
            given.encode(errors="replace"), self._token.encode(errors="replace")
        )

    def cookie(self) -> str:
        """Return the cookie's value for somebody who has given the token."""
        return hmac.new(self._secret, (self._token or "").encode(), hashlib.sha256).hexdigest()

    def is_given(self, headers: Headers) -> bool:
        """Tell whether a request may pass: with `Authorization: Bearer`, or with the cookie."""
        if not self.is_needed:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.matches(given.strip()):
            return True
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie_name)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value, self.cookie())


class Guard:
    """An ASGI application around another one: refuses, or lets through and adds headers."""

    def __init__(self, app: ASGIApp, bound: Bound, token: Token) -> None:
        self._app = app
        self._bound = bound
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = self._refusal(scope) or self._app
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host")
        if not allowed_host(host, self._bound):
            return _refuse(421, "WrongHost", "this name is not that of a server here")
        changes = scope["method"] not in _SAFE_METHODS
        if changes and not allowed_origin(headers.get("origin"), host):
            return _refuse(403, "CrossSite", "requests from pages of other sites are refused")
        if changes and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _refuse(403, "CrossSite", "requests from pages of other sites are refused")
        if scope["path"] in _WITHOUT_TOKEN or self._token.is_given(headers):
            return None
        if scope["path"] == "/":
            return RedirectResponse(LOGIN_PATH, status_code=303)
        return _refuse(
            401, "TokenMissing", "the token is missing or wrong: send Authorization: Bearer TOKEN"
        )


def _refuse(status: int, error: str, message: str) -> Response:
    code = {401: "UNAUTHENTICATED"}.get(status, "PERMISSION_DENIED")
    body = {"code": code, "error": error, "message": f"{error}: {message}"}
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(body, status_code=status, headers=headers)
