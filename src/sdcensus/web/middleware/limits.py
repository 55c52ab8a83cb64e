"""The body of a request: so large, so fast, and no more, however it is sent."""

from __future__ import annotations

import asyncio

from sdcensus.web.api.errors import ApiError
from sdcensus.web.middleware.shell import App, Message, Receive, Scope, Send
from sdcensus.web.settings import Settings

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
