"""Requests that change something must come from pages of this server, or from no browser at all."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request

from sdcensus.web.api.errors import ApiError
from sdcensus.web.api.site import Site
from sdcensus.web.identity import Caller

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
