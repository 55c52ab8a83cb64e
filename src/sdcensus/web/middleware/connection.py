"""Connections that do not get on are closed: whoever sends a header a minute holds no place."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from sdcensus.web.api.errors import ApiError
from sdcensus.web.security import DATA_HEADERS

if TYPE_CHECKING:
    _Base = H11Protocol
else:
    _Base = object


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
