"""Reading requests and writing answers, the same on every route.

Requests that change something must come from pages of this server, or from no browser at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import orjson
from starlette.requests import Request
from starlette.responses import Response

from sdcensus.web.answers import VARY, CachedAnswer, accepts_packed, is_known
from sdcensus.web.api.errors import ApiError
from sdcensus.web.api.site import Site
from sdcensus.web.caching import etag_of, packed
from sdcensus.web.identity import Caller

Json = dict[str, Any]
Header = tuple[bytes, bytes]

JSON = "application/json"


def request_id(request: Request) -> str:
    """The id of a request, as the log and the reader know it."""
    return str(request.scope.get("sdcensus.request", ""))


async def read_json(request: Request) -> Any:
    """The body of a request.

    Raises:
        ApiError: It is not said to be JSON in UTF-8 and not packed (415), or is none (400).
    """
    kind, _, parameters = _header(request, "content-type").lower().partition(";")
    charset = parameters.replace(" ", "").replace('"', "").removeprefix("charset=")
    if kind.strip() != JSON or charset not in ("", "utf-8", "utf8"):
        raise ApiError(415, "media_type")
    if _header(request, "content-encoding").strip().lower() not in ("", "identity"):
        raise ApiError(415, "content_encoding")
    try:
        return orjson.loads(await request.body())
    except (ValueError, RecursionError):
        raise ApiError(400, "malformed_json") from None


async def read_object(request: Request, *members: str) -> Json:
    """The body of a request as an object that has no members but these.

    Raises:
        ApiError: It is something else (400).
    """
    document = await read_json(request)
    if not isinstance(document, dict):
        raise ApiError(400, "not_an_object")
    for name in document:
        if name not in members:
            values = {"known": ", ".join(members)}
            raise ApiError(400, "unknown_member", values=values, place=_shown(name))
    return document


def text_member(members: Mapping[str, Any], name: str, longest: int, default: str | None) -> str:
    """A text of a body.

    Raises:
        ApiError: It is missing and has no default, is no text, or is too long (400).
    """
    value = members.get(name, default)
    if not isinstance(value, str) or len(value) > longest or "\0" in value:
        raise ApiError(400, "bad_request", place=name)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ApiError(400, "bad_request", place=name) from None
    return value


def parameter(request: Request, name: str, longest: int = 500) -> str | None:
    """A parameter of the address.

    Raises:
        ApiError: It stands there twice, or is too long (400).
    """
    values = request.query_params.getlist(name)
    if not values:
        return None
    if len(values) > 1 or len(values[0]) > longest:
        raise ApiError(400, "repeated_parameter", place=name)
    return values[0]


def number_parameter(request: Request, name: str, default: int, least: int, most: int) -> int:
    """A whole number of the address.

    Raises:
        ApiError: It is no number, or not within the bounds (400).
    """
    text = parameter(request, name, 20)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        raise ApiError(
            400,
            "parameter",
            values={"name": name, "problem": f"{least} – {most}"},
            place=name,
        )
    return int(text)


def check_parameters(request: Request, *known: str) -> None:
    """Refuse parameters that mean nothing here: they are mistakes.

    Raises:
        ApiError: There is one (400).
    """
    for name in request.query_params:
        if name not in known:
            values = {"known": ", ".join(known)}
            raise ApiError(400, "unknown_parameter", values=values, place=_shown(name))


def _shown(name: str) -> str:
    return name[:40].encode("utf-8", "replace").decode("utf-8")


def made_response(
    status: int, body: bytes, media_type: str, headers: Sequence[Header] = ()
) -> Response:
    """An answer with exactly these headers."""
    response = Response(status_code=status)
    response.body = body
    raw = [*headers]
    if status not in (204, 304):
        raw += [
            (b"content-type", media_type.encode("latin-1")),
            (b"content-length", b"%d" % len(body)),
        ]
    response.raw_headers = raw
    return response


def json_response(document: object, status: int = 200, headers: Sequence[Header] = ()) -> Response:
    """Plain values as JSON, for the one who asked only."""
    return made_response(
        status, orjson.dumps(document), JSON, [(b"cache-control", b"no-store"), *headers]
    )


def public_json(
    request: Request, site: Site, document: object, language: str, *, media_type: str = JSON
) -> Response:
    """Plain values as JSON that everybody gets alike: with a tag, packed where that helps."""
    body = orjson.dumps(document)
    tag = etag_of(body)
    small = (
        packed(body, media_type) if accepts_packed(_header(request, "accept-encoding")) else None
    )
    headers = [
        (b"etag", f'"{tag}{"-gz" if small else ""}"'.encode("ascii")),
        (b"cache-control", b"public, max-age=%d" % min(site.settings.cache_seconds, 300)),
        (b"vary", VARY),
        (b"content-language", language.encode("ascii")),
    ]
    if is_known(tag, _header(request, "if-none-match")):
        return made_response(304, b"", media_type, headers)
    if small is not None:
        headers.append((b"content-encoding", b"gzip"))
    return made_response(200, body if small is None else small, media_type, headers)


def entry_response(request: Request, site: Site, caller: Caller, entry: CachedAnswer) -> Response:
    """A finished answer as it is sent."""
    # "Not modified" is an answer to GET and HEAD only.
    known = _header(request, "if-none-match") if request.method == "GET" else ""
    encoding = _header(request, "accept-encoding")
    return sent_entry(site, caller, entry, encoding=encoding, if_none_match=known)


def wants_job(request: Request) -> bool:
    """Whether somebody would rather not wait: ``Prefer: respond-async``."""
    preferred = _header(request, "prefer").lower().replace(";", ",").split(",")
    return "respond-async" in {preference.strip() for preference in preferred}


def sent_entry(
    site: Site, caller: Caller, entry: CachedAnswer, *, encoding: str, if_none_match: str
) -> Response:
    """A finished answer, packed if that is understood, or the news that it is known already."""
    small = entry.zipped is not None and accepts_packed(encoding)
    private = caller.account is not None
    headers = entry.headers(private=private, seconds=site.settings.cache_seconds, packed=small)
    headers += site.quotas.headers(caller.who, site.rules(caller.role))
    response = Response()
    if entry.is_known(if_none_match):
        response.status_code, response.body, response.raw_headers = 304, b"", headers
        return response
    response.body = entry.zipped if small and entry.zipped is not None else entry.body
    response.raw_headers = [*headers, *entry.content_headers(packed=small)]
    return response


def _header(request: Request, name: str) -> str:
    return str(request.headers.get(name, ""))


#: What browsers say about where a request comes from, when it comes from our own pages.
_OWN = ("same-origin", "none")


async def check_forgery(
    site: Site, request: Request, *, sent: str | None = None, always: bool = False
) -> Caller:
    """Who asks, if the request was not made up by another site.

    Args:
        site: The server.
        request: The request.
        sent: The token of the form; else that of the header ``X-CSRF-Token`` counts.
        always: Also for those without a session, such as somebody who logs in.

    Raises:
        ApiError: It was made up (403).
    """
    caller = await site.caller(request)
    if caller.session is None and not always:
        return caller
    from_elsewhere = request.headers.get("sec-fetch-site", "none") not in _OWN
    if from_elsewhere or not _same_origin(request):
        raise ApiError(403, "csrf", "csrf")
    token = request.headers.get("x-csrf-token", "") if sent is None else sent
    if not site.identities.csrf_matches(caller, token[:200]):
        raise ApiError(403, "csrf", "csrf")
    return caller


def check_session(caller: Caller) -> None:
    """That somebody has logged in, and not sent a token: for what gives access to others.

    Raises:
        ApiError: They have not (403).
    """
    if caller.session is None:
        raise ApiError(403, "session_needed")


def _same_origin(request: Request) -> bool:
    origin = request.headers.get("origin")
    if origin is None:
        return True
    try:
        said = urlsplit(origin).netloc
    except ValueError:
        return False
    return bool(said) and said.lower() == request.headers.get("host", "").lower()
