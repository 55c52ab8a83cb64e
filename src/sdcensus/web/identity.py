"""Who asks: somebody with a token, somebody with a session, or an address of today."""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Any

from itsdangerous import BadSignature, URLSafeSerializer

from sdcensus.model.policy.policy import UserRole
from sdcensus.web.database import ANONYMOUS, Account, Actor, Database, Session
from sdcensus.web.database.sessions import one_spelling
from sdcensus.web.security import ServerKeys
from sdcensus.web.settings import Network, Settings

Scope = MutableMapping[str, Any]
#: Runs something that blocks in a thread.
InThread = Callable[..., Awaitable[Any]]

SESSION_COOKIE = "sdcensus-session"
CLIENT_COOKIE = "sdcensus-client"
_HOST = "__Host-"
_MOST_PSEUDONYMS = 50_000
_LONGEST_COOKIE = 4_096
_LONGEST_TOKEN = 200
_LONGEST_HOST = 270


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, as quotas, audit and watch know them.

    Attributes:
        who: The name of the account, or the pseudonym of the address for this day.
        role: The role in the policy.
        account: The account, for those who have one.
        session: The session, for those who came with a cookie.
        session_id: What the cookie of the session holds.
        client: What the signed cookie of a browser without account holds; empty without.
        secure: Whether they came over https.
        bad_token: Whether they sent a token that is worth nothing.
    """

    who: str
    role: UserRole = UserRole.PUBLIC
    account: Account | None = None
    session: Session | None = None
    session_id: str = ""
    client: str = ""
    secure: bool = False
    bad_token: bool = False

    @property
    def audit_role(self) -> str:
        """The role as the audit writes it."""
        return ANONYMOUS if self.account is None else self.account.role.value

    @property
    def owner(self) -> str:
        """To whom jobs belong; empty for somebody who cannot be known again."""
        if self.account is not None:
            return f"account:{self.account.id}"
        return f"client:{self.client}" if self.client else ""

    def actor(self, request: str) -> Actor:
        """Who changes something, for the audit."""
        return Actor(self.who, self.audit_role, request)


class Headers:
    """The headers of a request by name, read once; several with one name are one list.

    Some proxies write a line of their own behind the one that the client made up: whoever reads
    the first line only believes the client.
    """

    __slots__ = ("_found",)

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        self._found: dict[bytes, bytes] = {}
        for name, value in raw:
            known = self._found.get(name)
            if known is not None:
                value = known + (b"; " if name == b"cookie" else b", ") + value
            self._found[name] = value

    def __contains__(self, name: bytes) -> bool:
        return name in self._found

    def get(self, name: bytes) -> str:
        """The value of a header; empty without."""
        value = self._found.get(name)
        return "" if value is None else value.decode("latin-1")


def headers_of(scope: Scope) -> Headers:
    """The headers of a request; read once for each."""
    known = scope.get("sdcensus.headers")
    if known is None:
        known = scope["sdcensus.headers"] = Headers(scope["headers"])
    assert isinstance(known, Headers)
    return known


def cookies_of(header: str) -> Mapping[str, str]:
    """The cookies of a request; none if they cannot be read."""
    if not header or len(header) > _LONGEST_COOKIE:
        return {}
    jar: SimpleCookie = SimpleCookie()
    try:
        jar.load(header)
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in jar.items()}


def client_address(scope: Scope, headers: Headers, proxies: tuple[Network, ...]) -> str:
    """The address of the one who asks: behind our own proxies, the last that is none of them."""
    peer = scope.get("client")
    address = str(peer[0]) if peer else ""
    if not proxies or not _inside(address, proxies):
        return address
    for forwarded in reversed(headers.get(b"x-forwarded-for").split(",")[-20:]):
        hop = forwarded.strip().strip("[]")
        if not _is_address(hop):
            break
        address = hop
        if not _inside(hop, proxies):
            break
    return address


def is_secure(scope: Scope, headers: Headers, settings: Settings) -> bool:
    """Whether the one who asks came over https, as far as can be believed."""
    if settings.secure is not None:
        return settings.secure
    if scope.get("scheme") == "https":
        return True
    peer = scope.get("client")
    if not settings.trusted_proxies or not peer or not _inside(str(peer[0]), settings.proxies):
        return False
    return headers.get(b"x-forwarded-proto").split(",")[-1].strip().lower() == "https"


#: What a header ``Host`` may be: a name or an address, and a port.
HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")


def origin_of(scope: Scope, *, secure: bool) -> str:
    """The address of the server as the one who asks wrote it; empty if it is none.

    Hosts that the server does not answer for never come so far.
    """
    host = headers_of(scope).get(b"host")
    if len(host) > _LONGEST_HOST or not HOST.fullmatch(host):
        return ""
    return f"{'https' if secure else 'http'}://{host.lower()}"


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _inside(text: str, networks: tuple[Network, ...]) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return any(address in network for network in networks)


@lru_cache(maxsize=10_000)
def network_of(address: str) -> str:
    """What stands for one household of addresses: an IPv4 address, or 64 bits of an IPv6 one."""
    return one_spelling(address) if _is_address(address) else "unknown"


class Identities:
    """Finds out who asks. Blocking work is done in threads."""

    def __init__(
        self, database: Database, settings: Settings, keys: ServerKeys, in_thread: InThread
    ) -> None:
        self._database = database
        self._settings = settings
        self._proxies = settings.proxies
        self._in_thread = in_thread
        self._key = keys.cookie
        self._signer = URLSafeSerializer(keys.cookie, salt="client")
        self._pseudonyms: OrderedDict[tuple[str, int], str] = OrderedDict()

    async def of(self, scope: Scope) -> Caller:
        """Who asks; found once for each request."""
        known = scope.get("sdcensus.caller")
        if isinstance(known, Caller):
            return known
        caller = await self._found(scope, headers_of(scope))
        scope["sdcensus.caller"] = caller
        return caller

    async def _found(self, scope: Scope, headers: Headers) -> Caller:
        secure = is_secure(scope, headers, self._settings)
        token = headers.get(b"authorization")
        if token:
            account = await self._by_token(token)
            if account is not None:
                return Caller(account.name, _role(account), account, secure=secure)
        cookies = cookies_of(headers.get(b"cookie")) if b"cookie" in headers else {}
        session_id = "" if token else cookies.get(self.cookie_name(SESSION_COOKIE, secure), "")
        if session_id:
            session = await self._in_thread(self._database.sessions.find, session_id)
            if session is not None:
                account = session.account
                return Caller(
                    account.name, _role(account), account, session, session_id, secure=secure
                )
        who = await self.pseudonym(scope, headers)
        client = self.read_client(cookies.get(self.cookie_name(CLIENT_COOKIE, secure), ""))
        return Caller(who, client=client, secure=secure, bad_token=bool(token))

    async def _by_token(self, header: str) -> Account | None:
        kind, _, text = header.partition(" ")
        text = text.strip()
        if kind.lower() != "bearer" or not text or len(text) > _LONGEST_TOKEN:
            return None
        if not text.isascii() or not text.isprintable():
            return None
        account: Account | None = await self._in_thread(self._database.tokens.verify, text)
        return account

    async def pseudonym(self, scope: Scope, headers: Headers) -> str:
        """What stands today for the address of the one who asks."""
        address = network_of(client_address(scope, headers, self._proxies))
        key = (address, int(time.time()) // 86_400)
        known = self._pseudonyms.get(key)
        if known is None:
            known = str(await self._in_thread(self._database.pseudonyms.of, address))
            self._pseudonyms[key] = known
            if len(self._pseudonyms) > _MOST_PSEUDONYMS:
                self._pseudonyms.popitem(last=False)
        return known

    def cookie_name(self, name: str, secure: bool) -> str:
        """The name of a cookie; over https browsers then keep it from other hosts."""
        return f"{_HOST}{name}" if secure else name

    def cookie(self, name: str, value: str, secure: bool, seconds: int | None) -> str:
        """The header that sets a cookie, or removes it after 0 seconds."""
        parts = [f"{self.cookie_name(name, secure)}={value}", "Path=/", "HttpOnly", "SameSite=Lax"]
        if secure:
            parts.append("Secure")
        if seconds is not None:
            parts.append(f"Max-Age={seconds}")
        return "; ".join(parts)

    def new_client(self) -> str:
        """What is put into the cookie of a browser without account."""
        return secrets.token_urlsafe(16)

    def signed_client(self, client: str) -> str:
        """The cookie of a browser without account, so that nobody can write one."""
        return str(self._signer.dumps(client))

    def read_client(self, text: str) -> str:
        """What the cookie of a browser holds; empty if we did not write it."""
        if not text:
            return ""
        try:
            return str(self._signer.loads(text))
        except BadSignature:
            return ""

    def csrf(self, caller: Caller) -> str:
        """What forms and scripts of our own pages send back with what they change."""
        if caller.session is not None:
            return caller.session.csrf
        return self._client_csrf(caller.client) if caller.client else ""

    def csrf_matches(self, caller: Caller, sent: str) -> bool:
        """Whether a page of our own sent this. In constant time."""
        if caller.session is not None:
            return bool(self._database.sessions.csrf_matches(caller.session, sent))
        if not caller.client:
            return True
        return hmac.compare_digest(self._client_csrf(caller.client).encode(), sent.encode())

    def _client_csrf(self, client: str) -> str:
        return blake2b(client.encode(), key=self._key, person=b"csrf", digest_size=16).hexdigest()


def _role(account: Account) -> UserRole:
    return UserRole(account.role.value)
