"""Requests to a table builder over HTTP, with nothing but the standard library."""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar
from typing import IO, Any
from urllib.parse import urlencode, urljoin, urlsplit

from sdcensus._version import __version__
from sdcensus.client.addresses import API, is_loopback, same_origin
from sdcensus.client.failures import NotReached, NotUnderstood, failure
from sdcensus.errors import SdcensusError, SpecError
from sdcensus.model.text import parse_json

JSON = "application/json"

#: An answer to read from; errors are answers as well.
Response = http.client.HTTPResponse | urllib.error.HTTPError

#: A larger answer is refused where it would be held whole; downloads may be larger.
LARGEST_ANSWER = 1 << 30
_PIECE = 1 << 16
_LARGEST_ERROR = 1 << 20
#: Statuses after which the same request may be sent again, when the server says so.
_LATER = (429, 503)


@dataclass(frozen=True, slots=True)
class Received:
    """An answer that was read whole: its status, headers in small letters, and content."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """The content as plain values."""
        try:
            return parse_json(self.content)
        except ValueError:
            raise NotUnderstood(
                "The answer is not JSON. Is the address that of a table builder?",
                status=self.status,
            ) from None


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follows a server to another place on it, and never to another one with a token in hand."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        target = urljoin(req.full_url, newurl)
        parts = urlsplit(target)
        if not same_origin(req.full_url, target):
            raise NotReached(
                f"The server sends on to another one, {parts.scheme}://{parts.netloc}. If that is"
                " the right one, connect to it.",
                status=code,
            )
        if req.get_method() != "GET":
            raise NotReached(
                f"The server sends on to {parts.path or '/'}, and a question is not sent twice."
                " Connect to that address.",
                status=code,
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@dataclass(frozen=True, slots=True, repr=False)
class Transport:
    """The way to one server. It shows the address, and never the token.

    Attributes:
        base: The address of the table builder.
        timeout: After how many seconds without a sign a request is given up.
        patience: For how many seconds altogether a request waits where the server says "later".
        largest_cache: How many bytes of answers are kept, to be asked for only if they changed.
    """

    base: str
    authorization: Callable[[], str | None]
    timeout: float = 60.0
    patience: float = 60.0
    largest_cache: int = 0
    sleep: Callable[[float], None] = time.sleep
    _opener: urllib.request.OpenerDirector = field(init=False)
    _cache: OrderedDict[tuple[str, str], tuple[str, Received]] = field(
        init=False, default_factory=OrderedDict
    )

    def __post_init__(self) -> None:
        # Jobs of those who have no account belong to a cookie.
        handlers: list[urllib.request.BaseHandler] = [
            urllib.request.HTTPCookieProcessor(CookieJar()),
            _SameServer(),
        ]
        if is_loopback(urlsplit(self.base).hostname or ""):
            handlers.append(urllib.request.ProxyHandler({}))
        object.__setattr__(self, "_opener", urllib.request.build_opener(*handlers))

    def __repr__(self) -> str:
        return f"<Transport {self.base}>"

    def address(self, path: str, parameters: list[tuple[str, str]] | None = None) -> str:
        """The address of a part of the API."""
        query = f"?{urlencode(parameters)}" if parameters else ""
        return f"{self.base}{API}{path}{query}"

    def get(
        self,
        path: str,
        parameters: list[tuple[str, str]] | None = None,
        *,
        accept: str = JSON,
    ) -> Received:
        """Ask for a part of the API; what did not change since is not sent again."""
        url = self.address(path, parameters)
        known = self._cache.get((url, accept))
        more = {} if known is None else {"If-None-Match": known[0]}
        received = self.send("GET", url, accept=accept, headers=more)
        if received.status == 304 and known is not None:
            self._cache.move_to_end((url, accept))
            return known[1]
        self._keep((url, accept), received)
        return received

    def send(
        self,
        method: str,
        url: str,
        *,
        document: object = None,
        accept: str = JSON,
        headers: Mapping[str, str] | None = None,
    ) -> Received:
        """Send a request and read the answer whole; errors of the server are raised."""
        with self.opened(
            method, url, document=document, accept=accept, headers=headers
        ) as response:
            pieces, size = [], 0
            for piece in pieces_of(response):
                size += len(piece)
                if size > LARGEST_ANSWER:
                    raise NotUnderstood("The answer is too large to be held. Download it instead.")
                pieces.append(piece)
            return Received(response.status or 0, _headers(response), b"".join(pieces))

    @contextmanager
    def opened(
        self,
        method: str,
        url: str,
        *,
        document: object = None,
        accept: str = JSON,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Response]:
        """Send a request; the answer to read from, once the server has one."""
        waited = 0.0
        while True:
            response = self._response(method, url, document, accept, headers or {})
            with response:
                if not isinstance(response, urllib.error.HTTPError) or response.code == 304:
                    yield response
                    return
                problem, pause = _problem(response), _retry_after(response.headers)
            later = response.code in _LATER and pause is not None
            if not later or pause is None or waited + pause > self.patience:
                raise problem
            waited += pause
            self.sleep(pause)

    def _response(
        self, method: str, url: str, document: object, accept: str, headers: Mapping[str, str]
    ) -> Response:
        request = urllib.request.Request(url, method=method)
        request.add_header("Accept", accept)
        request.add_header("Accept-Encoding", "gzip")
        request.add_header("User-Agent", f"sdcensus/{__version__}")
        for name, value in headers.items():
            request.add_header(name, value)
        if document is not None:
            request.data = json.dumps(document, ensure_ascii=False).encode("utf-8")
            request.add_header("Content-Type", JSON)
        authorization = self.authorization()
        if authorization is not None:
            request.add_unredirected_header("Authorization", authorization)
        with _network(self.base):
            try:
                return self._opener.open(request, timeout=self.timeout)  # type: ignore[no-any-return]
            except urllib.error.HTTPError as answer:
                return answer

    def _keep(self, key: tuple[str, str], received: Received) -> None:
        """Remember an answer that has a mark by which its server knows it again."""
        mark = received.headers.get("etag")
        if not mark or received.status != 200 or len(received.content) > self.largest_cache:
            return
        self._cache[key] = (mark, received)
        self._cache.move_to_end(key)
        while (
            sum(len(received.content) for _, received in self._cache.values()) > self.largest_cache
        ):
            self._cache.popitem(last=False)


def pieces_of(response: Response) -> Iterator[bytes]:
    """The content of an answer, piece by piece; an answer that is cut short is an error."""
    expected, read = response.headers.get("Content-Length"), 0
    packed = (response.headers.get("Content-Encoding") or "").strip().lower()
    if packed not in ("", "identity", "gzip"):
        raise NotUnderstood(f"The answer is packed as {packed!r}, which was not asked for.")
    unpack = zlib.decompressobj(wbits=31) if packed == "gzip" else None
    try:
        with _network(""):
            while piece := response.read(_PIECE):
                read += len(piece)
                yield unpack.decompress(piece) if unpack else piece
    except zlib.error:
        raise NotUnderstood("The answer cannot be unpacked.") from None
    whole = expected is None or not expected.isdigit() or read == int(expected)
    if not whole or (unpack is not None and read and not unpack.eof):
        raise NotUnderstood("The answer was cut short. Ask again.")


@contextmanager
def _network(base: str) -> Iterator[None]:
    """Say in one sentence what the many errors of networks mean."""
    where = base or "The server"
    try:
        yield
    except urllib.error.URLError as error:
        raise _not_reached(where, error.reason) from None
    except http.client.IncompleteRead:
        raise NotUnderstood("The answer was cut short. Ask again.") from None
    except (http.client.HTTPException, OSError) as error:
        raise _not_reached(where, error) from None
    except ValueError:
        # Addresses and headers with signs that HTTP does not have.
        raise SpecError("The request cannot be sent: it has signs that HTTP does not have.") from (
            None
        )


def _not_reached(where: str, reason: object) -> NotReached:
    if isinstance(reason, ssl.SSLCertVerificationError):
        return NotReached(
            f"{where} has no certificate that this machine trusts ({reason.verify_message}). Ask"
            " the office; do not send a token."
        )
    if isinstance(reason, TimeoutError):
        return NotReached(f"{where} did not answer in time.")
    said = reason.strerror if isinstance(reason, OSError) and reason.strerror else ""
    said = said or (type(reason).__name__ if isinstance(reason, Exception) else str(reason))
    return NotReached(f"{where} cannot be reached: {said}.")


def _problem(answer: urllib.error.HTTPError) -> SdcensusError:
    if 300 <= answer.code < 400:
        return NotReached("The server sends on in circles.", status=answer.code)
    try:
        # An error is small; whatever stands behind is of no use.
        raw = answer.read(_LARGEST_ERROR)
        if (answer.headers.get("Content-Encoding") or "").lower() == "gzip":
            raw = zlib.decompressobj(wbits=31).decompress(raw, _LARGEST_ERROR)
        body = parse_json(raw)
    except (ValueError, RecursionError, OSError, zlib.error, http.client.HTTPException):
        body = None
    return failure(answer.code, body, retry_after=_retry_after(answer.headers))


def _retry_after(headers: Any) -> float | None:
    """In how many seconds the server wants to be asked again, where it says so."""
    said = (headers.get("Retry-After") or "").strip()
    if said.isdigit():
        return float(min(int(said), 10**9))
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time()) if said else None
    except (ValueError, TypeError, OverflowError):
        return None


def _headers(response: Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}
