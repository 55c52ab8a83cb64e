"""The address of a table builder: what may be connected to, and with a token over what."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from sdcensus.errors import SpecError

#: What stands between the address of a table builder and the parts of its API.
API = "/api/v1"


def base_address(url: str) -> str:
    """The address of a table builder without what may be left out.

    Examples:
        >>> base_address("https://census.example/tables/")
        'https://census.example/tables'
        >>> base_address("http://127.0.0.1:8080/api/v1/")
        'http://127.0.0.1:8080'
    """
    if type(url) is not str or re.search(r"[\s\x00-\x1f\x7f]", url.strip()):
        raise SpecError(f"The address of a table builder is a text{_SUCH_AS}.")
    parts = _split(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SpecError(
            f"The address of a table builder begins with https:// or http://{_SUCH_AS}."
        )
    if parts.username is not None or parts.password is not None:
        raise SpecError("The address holds a name or a password. Give a token instead: token=...")
    if parts.query or parts.fragment:
        raise SpecError(
            "The address of a table builder ends before a ? or #. The link of a table is asked for"
            " with Connection.open_link."
        )
    path = parts.path.rstrip("/").removesuffix(API).rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}"


def check_token(token: str | None, base: str, *, allow_insecure: bool) -> None:
    """Refuse a token that is none, or that would travel where others can read it."""
    if token is None:
        return
    # Nothing of what was given is shown: it may be a real token with a slip in it.
    if type(token) is not str or not re.fullmatch(r"[\x21-\x7e]{8,200}", token):
        raise SpecError("This is no token: a token is one word, as the account page showed it.")
    parts = _split(base)
    if parts.scheme == "http" and not is_loopback(parts.hostname or "") and not allow_insecure:
        raise SpecError(
            "With http:// everybody on the way can read the token. Use https://, or say"
            " allow_insecure=True where the whole way is your own."
        )


def is_loopback(host: str) -> bool:
    """Whether a host is the machine itself.

    Examples:
        >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("10.0.0.1")
        (True, True, False)
    """
    if host.lower() == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def same_origin(one: str, other: str) -> bool:
    """Whether two addresses are those of one server."""
    return _origin(one) == _origin(other)


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = _split(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or usual


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise SpecError(f"The address of the table builder cannot be read{_SUCH_AS}.") from None
    return parts


_SUCH_AS = ", such as https://census.example or http://127.0.0.1:8080"
