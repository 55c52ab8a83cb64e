"""The outermost layer: hosts, addresses, headers of protection, the id of a request, metrics."""

from __future__ import annotations

import logging
import random
import re
import time
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.requests import ClientDisconnect, HTTPConnection

from sdcensus.web.api.errors import ApiError, busy
from sdcensus.web.identity import SESSION_COOKIE, Headers, headers_of, is_secure
from sdcensus.web.languages import language_of
from sdcensus.web.metrics import Metrics
from sdcensus.web.security import STAY_SECURE, headers_for, is_open
from sdcensus.web.settings import Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

logger = logging.getLogger("sdcensus.web")

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")
_API = "/api/v1"
#: The status, in the metrics only, of requests whose sender went away.
_GONE = 499
_PREFLIGHT = (
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", b"Accept, Content-Type, Prefer"),
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
        anonymous = b"authorization" not in headers and (
            SESSION_COOKIE not in headers.get(b"cookie")
        )
        extra = [*headers_for(path, anonymous=anonymous), (b"x-request-id", request.encode())]
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
            found = scope.get("sdcensus.route") or getattr(scope.get("route"), "path", None)
            route = "other" if found is None else str(found)
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
        match = _HOST.fullmatch(host)
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
