"""What stands between the network and the routes, as plain ASGI.

Slow connections, sizes of bodies, hosts, headers of protection, the id of a request, metrics. Who
asks is found out in ``web/identity.py``.
"""

from __future__ import annotations

import asyncio
import logging
import random
import socket
import time
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect, HTTPConnection
from uvicorn.protocols.http.h11_impl import H11Protocol

from sdcensus.web.api.errors import ApiError, busy
from sdcensus.web.identity import HOST, SESSION_COOKIE, Headers, headers_of, is_secure
from sdcensus.web.languages import language_of
from sdcensus.web.metrics import Metrics
from sdcensus.web.security import DATA_HEADERS, STAY_SECURE, headers_for, is_open
from sdcensus.web.settings import Settings

if TYPE_CHECKING:
    _Base = H11Protocol
else:
    _Base = object


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

logger = logging.getLogger("sdcensus.web")

_API = "/api/v1"
#: The status, in the metrics only, of requests whose sender went away.
_GONE = 499
_PREFLIGHT = (
    (b"access-control-allow-methods", b"GET, POST"),
    # A token is sent by a script that holds it: nothing that a browser keeps is ever sent along.
    (
        b"access-control-allow-headers",
        b"Accept, Authorization, Content-Type, If-None-Match, Prefer",
    ),
    (b"access-control-max-age", b"86400"),
    (b"content-length", b"0"),
)


class Shell:
    """Wraps everything. Nothing leaves without the headers of protection, whatever happens."""

    def __init__(self, app: App, *, settings: Settings, metrics: Metrics) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics
        self._active = 0
        # Ids of requests are names, and no secrets.
        self._random = random.Random()
        self._hosts = settings.bare_hosts
        self._domains = tuple(host[1:] for host in self._hosts if host.startswith("*."))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        headers = headers_of(scope)
        request = f"{self._random.getrandbits(64):016x}"
        scope["sdcensus.request"] = request
        method, path = scope["method"], scope["path"]
        head = method == "HEAD"
        if head:
            scope = {**scope, "method": "GET"}
        session = SESSION_COOKIE in headers.get(b"cookie")
        extra = [*headers_for(path, session=session), (b"x-request-id", request.encode())]
        if is_secure(scope, headers, self._settings):
            extra.append(STAY_SECURE)
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *extra]
            elif head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        self._active += 1
        try:
            self._check(scope, headers)
            if method == "OPTIONS" and is_open(path) and b"origin" in headers:
                await sending(
                    {"type": "http.response.start", "status": 204, "headers": [*_PREFLIGHT]}
                )
                await sending({"type": "http.response.body", "body": b""})
            else:
                await self._app(scope, receive, sending)
        except ApiError as error:
            await self._say(error, scope, request, sending, started=bool(status))
        except ClientDisconnect:
            # Whoever went away in the middle of a request is no fault of the server.
            status = _GONE
        except Exception as error:
            self._metrics.failures.inc()
            log_failure(request, error)
            internal = ApiError(500, "internal")
            await self._say(internal, scope, request, sending, started=bool(status))
        finally:
            self._active -= 1
            matched = scope.get("sdcensus.route") or getattr(scope.get("route"), "path", None)
            route = "other" if matched is None else str(matched)
            if path.startswith(_API) and not route.startswith(("/api", "other")):
                route = f"{_API}{route}"
            known = method if method in ("GET", "HEAD", "POST", "DELETE", "OPTIONS") else "other"
            self._metrics.request(route, known, status, time.perf_counter() - started)

    def _check(self, scope: Scope, headers: Headers) -> None:
        if self._active > self._settings.connections:
            self._metrics.too_many.labels("connections").inc()
            raise busy()
        if not self._answers_for(headers.get(b"host")):
            raise ApiError(421, "host")
        length = len(scope.get("raw_path") or b"") + len(scope["query_string"])
        if length > self._settings.address_limit:
            most = self._settings.address_limit
            raise ApiError(414, "long_address", values={"most": most})
        if sum(len(name) + len(value) for name, value in scope["headers"]) > (
            self._settings.header_limit
        ):
            most = self._settings.header_limit
            raise ApiError(431, "too_large", values={"most": most})

    def _answers_for(self, host: str) -> bool:
        if "*" in self._hosts:
            return True
        match = HOST.fullmatch(host)
        if match is None:
            return False
        name = match.group(1).lower().rstrip(".")
        return name in self._hosts or name.endswith(self._domains or ("\0",))

    async def _say(
        self, error: ApiError, scope: Scope, request: str, send: Send, *, started: bool
    ) -> None:
        if started:
            # The beginning of the answer is on its way: all that is left is to break it off.
            return
        language = language_of(HTTPConnection(scope), self._settings.languages)
        body = error.body(language, request)
        await send(
            {
                "type": "http.response.start",
                "status": error.status,
                "headers": [
                    (b"content-type", b"application/json"),
                    (b"content-length", b"%d" % len(body)),
                    (b"cache-control", b"no-store"),
                    (b"content-language", language.encode("ascii")),
                    *error.headers,
                ],
            }
        )
        await send({"type": "http.response.body", "body": body})


def log_failure(request: str, error: BaseException) -> None:
    """Note what went wrong inside: where, and of what kind; never what the values were."""
    place = "".join(traceback.format_tb(error.__traceback__)[-8:])
    logger.error("request %s failed: %s\n%s", request, type(error).__qualname__, place)


_MOST_DIGITS = 15


class BodyLimits:
    """Refuses bodies that are too large, also those that do not say how large they are."""

    def __init__(self, app: App, *, settings: Settings) -> None:
        self._app, self._most = app, settings.body_limit
        self._seconds = settings.request_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        for name, value in scope["headers"]:
            if name == b"content-length" and not self._fits(value):
                raise self._too_large()
        total, complete = 0, False
        end = asyncio.get_running_loop().time() + self._seconds

        async def receiving() -> Message:
            nonlocal total, complete
            if complete:
                # Nothing but the end of the connection can come now.
                return await receive()
            left = end - asyncio.get_running_loop().time()
            try:
                message = await asyncio.wait_for(receive(), max(left, 0.001))
            except TimeoutError:
                raise ApiError(408, "slow_request", headers=((b"connection", b"close"),)) from None
            if message["type"] == "http.request":
                total += len(message.get("body", b""))
                complete = not message.get("more_body", False)
                if total > self._most:
                    raise self._too_large()
            return message

        await self._app(scope, receiving, send)

    def _fits(self, length: bytes) -> bool:
        return length.isdigit() and len(length) <= _MOST_DIGITS and int(length) <= self._most

    def _too_large(self) -> ApiError:
        return ApiError(
            413,
            "too_large",
            values={"most": self._most},
            headers=((b"connection", b"close"),),
        )


#: Seconds in which somebody who is refused may still send, and read why.
FAREWELL = 0.5


class ConnectionPatience(_Base):
    """Limits of the headers of a request: their time, and their bytes.

    The time runs from the connection, or from the first byte of a later request. The time between
    two requests has its own limit, and so has the body. For either protocol of uvicorn.
    """

    #: Seconds in which the headers must have arrived.
    patience: float = 20.0
    #: Bytes that may arrive before there is a request.
    most_bytes: int = 64 * 1024

    _timer: asyncio.TimerHandle | None = None
    _arrived: int = 0
    _refused: bool = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        # No address is logged, also where something else has opened the log of the server.
        self.access_log = False
        super().connection_made(transport)
        _send_at_once(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Take what arrived; the clock runs while it is not a whole request."""
        if self._hangs_up():
            return  # read and forgotten, so that the other side gets to read why
        waiting = not self._is_answering()
        super().data_received(data)
        if self._hangs_up():
            return
        if self._is_answering() or self.timeout_keep_alive_task is not None:
            self._end()
            return
        self._arrived += len(data) if waiting else 0
        if self._arrived > self.most_bytes:
            self._refuse(ApiError(431, "too_large", values={"most": self.most_bytes}))
        elif self._timer is None:
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        self._end()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Say that this is no request, in the shape of every error."""
        self._refuse(ApiError(400, "bad_request"))

    def _refuse(self, error: ApiError) -> None:
        """Answer without the application, and hang up."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        self._end()
        body = error.body("en", "")
        headers = [
            *DATA_HEADERS,
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"cache-control", b"no-store"),
            (b"connection", b"close"),
        ]
        lines = [b"%s: %s" % header for header in headers]
        status = HTTPStatus(error.status)
        first = f"HTTP/1.1 {status.value} {status.phrase}".encode("ascii")
        self.transport.write(b"\r\n".join([first, *lines, b"", b""]) + body)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        # Closed at once, with something unread, the system would throw the answer away.
        self._timer = self.loop.call_later(FAREWELL, self.transport.close)

    def _hangs_up(self) -> bool:
        return self._refused

    def _is_answering(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _begin(self) -> None:
        self._timer = self.loop.call_later(self.patience, self._give_up)

    def _end(self) -> None:
        self._arrived = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._end()
        if not self._is_answering() and not self.transport.is_closing():
            self.transport.close()


def _send_at_once(transport: asyncio.Transport) -> None:
    """Let no answer wait until its headers are acknowledged, which takes a reader 40 ms.

    asyncio does this only for sockets that were told their protocol, and ours were not.
    """
    connected = transport.get_extra_info("socket")
    if connected is not None and connected.family in (socket.AF_INET, socket.AF_INET6):
        with suppress(OSError):  # whoever has gone already is noticed elsewhere
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def protocol(seconds: float, most_bytes: int) -> type[asyncio.Protocol]:
    """The fastest protocol that is installed, with limits for the headers of a request.

    Args:
        seconds: In which the headers must have arrived.
        most_bytes: How many bytes they may be.
    """
    base: type[asyncio.Protocol] = H11Protocol
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
    except ImportError:
        pass
    else:
        base = HttpToolsProtocol
    return type(
        "PatientProtocol",
        (ConnectionPatience, base),
        {"patience": seconds, "most_bytes": most_bytes},
    )
