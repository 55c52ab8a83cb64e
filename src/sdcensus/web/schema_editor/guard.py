"""Who may see the editor of a schema: the browser that was opened with its address, once.

True counts are shown here, so every request is refused that does not come from a page of this
very server on this machine:

- The name in ``Host`` must be that of loopback, with our port. Otherwise another site could let a
  name of its own point to this machine and read our answers (DNS rebinding).
- The address with the token works once and leaves a cookie behind. The cookie belongs to a path
  that nobody else knows, since cookies do not tell ports apart and other servers of this machine
  would be sent it as well.
- What changes something must say that it comes from our page (``Origin``), and so must whatever a
  browser marks as sent by another site (``Sec-Fetch-Site``).
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect

from sdcensus.web.middleware import App, Message, Receive, Scope, Send, log_failure

COOKIE = "sdcensus_editor"
LOOPBACK = "127.0.0.1"
#: No request of the page is larger.
LARGEST_BODY = 4 * 1024 * 1024

_INTERNAL = b'{"error":{"code":"internal","message":""}}'
_PAGE_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    b" base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", _PAGE_POLICY),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)


@dataclass(slots=True)
class Admission:
    """The secrets of one session: its address, its token and its cookie."""

    base: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(18)}")
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def __repr__(self) -> str:
        return "<Admission>"

    @property
    def address(self) -> str:
        """The path to open first; it works once."""
        return f"{self.base}/?token={self._token}"

    def admits(self, token: str) -> bool:
        """Whether a token is the right one; from then on it is not."""
        if not self._token or not hmac.compare_digest(token.encode(), self._token.encode()):
            return False
        self._token = ""
        return True

    def knows(self, cookie: str) -> bool:
        """Whether a cookie is the one that the token left."""
        return hmac.compare_digest(cookie.encode(), self.cookie.encode())


class Guard:
    """Refuses whatever is not the page of this session, and adds the headers of protection."""

    def __init__(self, app: App, *, admission: Admission, port: int) -> None:
        self._app, self._admission = app, admission
        self._hosts = {f"{name}:{port}" for name in (LOOPBACK, "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                kept = [pair for pair in message["headers"] if pair[0].lower() != b"cache-control"]
                message = {**message, "headers": [*kept, *HEADERS]}
            await send(message)

        try:
            await self._answer(scope, receive, sending)
        except ClientDisconnect:
            return
        except Exception as error:
            # What we did wrong is told without values, which are those of the census.
            log_failure("of the schema editor", error)
            if not started:
                await _say(sending, 500, _INTERNAL, b"application/json")

    async def _answer(self, scope: Scope, receive: Receive, sending: Send) -> None:
        headers = _Headers(scope)
        if not self._is_ours(scope, headers):
            await _refuse(sending, 403)
            return
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        at_start = scope["path"] == f"{self._admission.base}/"
        if token and at_start and scope["method"] == "GET" and self._admission.admits(token):
            await self._welcome(sending)
        elif not scope["path"].startswith(f"{self._admission.base}/") or not self._admission.knows(
            headers.cookie(COOKIE)
        ):
            await _refuse(sending, 403)
        elif int(headers.get("content-length") or 0) > LARGEST_BODY:
            await _refuse(sending, 413)
        else:
            await self._app(scope, receive, sending)

    def _is_ours(self, scope: Scope, headers: _Headers) -> bool:
        host = headers.get("host")
        if headers.count("host") != 1 or host not in self._hosts:
            return False
        if headers.get("sec-fetch-site") not in ("", "same-origin", "none"):
            return False
        if scope["method"] in ("GET", "HEAD"):
            return not headers.get("origin") or headers.get("origin") == f"http://{host}"
        # Only what says how long it is can be told to be short enough.
        sized = headers.get("content-length").isdigit() and len(headers.get("content-length")) < 10
        return headers.get("origin") == f"http://{host}" and sized

    async def _welcome(self, send: Send) -> None:
        """Leave the cookie, and go to the address without the token."""
        path = f"{self._admission.base}/"
        cookie = f"{COOKIE}={self._admission.cookie}; Path={path}; HttpOnly; SameSite=Strict"
        headers = [
            (b"location", path.encode("ascii")),
            (b"set-cookie", cookie.encode("ascii")),
            (b"content-length", b"0"),
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


class _Headers:
    """The headers of a request."""

    def __init__(self, scope: Scope) -> None:
        self._pairs = [
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in scope["headers"]
        ]

    def get(self, name: str) -> str:
        return next((value for key, value in self._pairs if key == name), "")

    def count(self, name: str) -> int:
        return sum(key == name for key, _ in self._pairs)

    def cookie(self, name: str) -> str:
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(self.get("cookie"))
        except CookieError:
            return ""
        return cookies[name].value if name in cookies else ""


async def _refuse(send: Send, status: int) -> None:
    """Say no more than that: whoever asks is not the one who was let in."""
    body = b"Refused. Open the address that sdcensus schema edit printed, in one browser."
    await _say(send, status, body, b"text/plain; charset=utf-8")


async def _say(send: Send, status: int, body: bytes, kind: bytes) -> None:
    headers = [
        (b"content-type", kind),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
