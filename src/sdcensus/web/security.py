"""Headers that keep browsers from doing more than they should, and keys of the server."""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sdcensus.errors import SecretError
from sdcensus.session.office.private_files import make_private_file, open_private_file

Header = tuple[bytes, bytes]

#: Hexadecimal digits of the key of cookies; read in place of the file.
COOKIE_KEY_VARIABLE = "SDCENSUS_COOKIE_KEY"
COOKIE_KEY_FILE = "cookie.key"
_KEY = re.compile(r"[0-9a-f]{64}")

#: The page that draws charts: its library makes code at run time, so it lives in a box of its own.
CHART_FRAME = "/static/result/chart-frame.html"

_PAGE_POLICY = (
    b"default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    b" connect-src 'self'; font-src 'self'; frame-src 'self'; object-src 'none';"
    b" base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_DATA_POLICY = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_FRAME_POLICY = (
    b"default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline';"
    b" img-src 'self' data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none';"
    b" frame-ancestors 'self'; sandbox allow-scripts"
)
_PERMISSIONS = (
    b"accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(),"
    b" magnetometer=(), microphone=(), midi=(), payment=(), usb=(), browsing-topics=()"
)
_COMMON: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"permissions-policy", _PERMISSIONS),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_OWN: tuple[Header, ...] = ((b"cross-origin-resource-policy", b"same-origin"),)
_SHARED: tuple[Header, ...] = ((b"cross-origin-resource-policy", b"cross-origin"),)
_NOT_FRAMED: tuple[Header, ...] = ((b"x-frame-options", b"DENY"),)

PAGE_HEADERS: tuple[Header, ...] = (
    *_COMMON,
    *_OWN,
    *_NOT_FRAMED,
    (b"content-security-policy", _PAGE_POLICY),
)
DATA_HEADERS: tuple[Header, ...] = (
    *_COMMON,
    *_OWN,
    (b"content-security-policy", _DATA_POLICY),
)
#: For what scripts of any site may read: tables and lists, without an account or with a token that
#: the script holds. Credentials that a browser keeps stay out: ``*`` does not go with them.
OPEN_HEADERS: tuple[Header, ...] = (
    *_COMMON,
    *_SHARED,
    (b"content-security-policy", _DATA_POLICY),
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        b"ETag, Link, Location, Retry-After, RateLimit, RateLimit-Policy, RateLimit-Limit,"
        b" RateLimit-Remaining, RateLimit-Reset, Content-Disposition, Preference-Applied,"
        b" X-Request-ID",
    ),
)
#: Files of the pages; the box of the charts has no origin and reads them as a stranger.
STATIC_HEADERS: tuple[Header, ...] = (
    *_COMMON,
    *_SHARED,
    *_NOT_FRAMED,
    (b"content-security-policy", _DATA_POLICY),
    (b"access-control-allow-origin", b"*"),
)
FRAME_HEADERS: tuple[Header, ...] = (
    *_COMMON,
    *_SHARED,
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"content-security-policy", _FRAME_POLICY),
)
#: For browsers that came over https: stay there.
STAY_SECURE: Header = (b"strict-transport-security", b"max-age=31536000")

_OPEN = ("/api/v1/datasets", "/api/v1/tables", "/api/v1/openapi.json")


def is_open(path: str) -> bool:
    """Whether scripts of any site may read what is at an address."""
    return path.startswith(_OPEN)


def headers_for(path: str, *, session: bool) -> tuple[Header, ...]:
    """The headers of protection for an address.

    Args:
        path: The address.
        session: Whether a browser asks in which somebody has logged in.
    """
    if path.startswith("/api/"):
        return DATA_HEADERS if session or not is_open(path) else OPEN_HEADERS
    if path == CHART_FRAME:
        return FRAME_HEADERS
    return STATIC_HEADERS if path.startswith("/static/") else PAGE_HEADERS


def content_disposition(filename: str, *, inline: bool = False) -> str:
    """The header that names a download; nothing in a name can become another header.

    Args:
        filename: The name.
        inline: Whether a browser may show it; else it is saved.

    Examples:
        >>> content_disposition('año "1".csv')
        'attachment; filename="a_o__1_.csv"; filename*=UTF-8\\'\\'a%C3%B1o%20%221%22.csv'
    """
    name = "".join(sign for sign in filename if sign.isprintable() and sign not in "/\\")[:150]
    name = name.strip(". ") or "table"
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    kind = "inline" if inline else "attachment"
    if plain == name:
        return f'{kind}; filename="{plain}"'
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def local_path(target: str) -> str:
    """A path of this server to go to next; anything else becomes the first page.

    Examples:
        >>> local_path("/account?lang=es"), local_path("//evil.example"), local_path("https://x")
        ('/account?lang=es', '/', '/')
    """
    safe = (
        target.startswith("/")
        and not target.startswith(("//", "/\\"))
        and all(32 < ord(sign) < 127 and sign not in '\\<>"' for sign in target)
        and len(target) <= 4_000
    )
    return target if safe else "/"


@dataclass(frozen=True, slots=True)
class ServerKeys:
    """The secrets of the server that are not those of the census."""

    cookie: bytes

    def __repr__(self) -> str:
        return "<ServerKeys>"


def read_keys(state: Path) -> ServerKeys:
    """The key of cookies: of the environment, else of a file of its owner only, made if missing.

    Raises:
        SecretError: It is not a key.
        OutputError: The file cannot be written.
    """
    given = os.environ.get(COOKIE_KEY_VARIABLE)
    if given is not None:
        if not _KEY.fullmatch(given.strip().lower()):
            raise SecretError(
                f"{COOKIE_KEY_VARIABLE} must be 64 hexadecimal digits. Make some with:"
                ' python -c "import secrets; print(secrets.token_hex(32))"'
            )
        return ServerKeys(bytes.fromhex(given.strip()))
    text = _own_key(state / COOKIE_KEY_FILE)
    if not _KEY.fullmatch(text):
        raise SecretError(
            f"{state / COOKIE_KEY_FILE} does not hold a key. Remove it; a new one is made, and"
            " everybody has to log in again."
        )
    return ServerKeys(bytes.fromhex(text))


def _own_key(path: Path) -> str:
    is_new = make_private_file(path)
    text = "" if is_new else path.read_text(encoding="utf-8").strip()
    if not text:
        # New, or left empty by a server that was stopped while it made it.
        text = secrets.token_hex(32)
        with open_private_file(path) as file:
            file.write(text.encode("ascii"))
    return text
