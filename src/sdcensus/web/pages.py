"""Pages for people: rendered on the server, with the words of the catalogues."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import orjson
from jinja2 import Environment, FileSystemLoader, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sdcensus.web.api.errors import ApiError
from sdcensus.web.api.requests import (
    check_forgery,
    json_response,
    made_response,
    read_object,
    request_id,
)
from sdcensus.web.api.site import Site, told_formats
from sdcensus.web.database import Account, AccountRole, Action
from sdcensus.web.identity import CLIENT_COOKIE, SESSION_COOKIE, Caller
from sdcensus.web.languages import LANGUAGE_COOKIE, language_of, text, texts
from sdcensus.web.reading import about_page
from sdcensus.web.routing import Routes
from sdcensus.web.security import local_path

Header = tuple[bytes, bytes]

TEMPLATES = Path(__file__).resolve().parent / "templates"
_HTML = "text/html; charset=utf-8"
_FORM = "application/x-www-form-urlencoded"
_YEAR = 31_536_000
_LONGEST_FIELD = 1_000
#: In a block of data inside a page, these could end the block or begin a comment.
_ESCAPED = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def data_block(value: object) -> Markup:
    """Plain values for a block of JSON inside a page; nothing in them can leave the block.

    Examples:
        >>> data_block({"a": "</script>"})
        Markup('{"a":"\\\\u003c/script\\\\u003e"}')
    """
    return Markup(orjson.dumps(value).decode("utf-8").translate(_ESCAPED))


@cache
def _texts_block(language: str) -> Markup:
    """The texts that pages show themselves; what is wrong is told by the server."""
    every = texts(language).items()
    others = ("mistakes.", "editor.")
    return data_block({key: words for key, words in every if not key.startswith(others)})


class Pages:
    """Renders pages."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._environment = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=select_autoescape(default=True, default_for_string=True),
            auto_reload=False,
        )
        self._environment.policies["json.dumps_kwargs"] = {"sort_keys": False}

    def response(
        self,
        request: Request,
        name: str,
        caller: Caller | None,
        status: int = 200,
        more: Mapping[str, object] | None = None,
    ) -> Response:
        """A page as an answer."""
        site = self.site
        language = language_of(request, site.settings.languages)
        headers: list[Header] = [
            (b"cache-control", b"private, no-cache"),
            (b"content-language", language.encode("ascii")),
            (b"vary", b"Accept-Language, Cookie"),
        ]
        caller, cookie = self._known_again(caller, needed=name == "login")
        headers += cookie
        if request.query_params.get("lang") in site.settings.languages:
            kept = f"{LANGUAGE_COOKIE}={language}; Path=/; SameSite=Lax; Max-Age={_YEAR}"
            headers.append((b"set-cookie", kept.encode("ascii")))
        context = {**self._context(caller, language, name), **(more or {})}
        body = self._environment.get_template(f"{name}.html").render(context)
        return made_response(status, body.encode("utf-8", "replace"), _HTML, headers)

    def _known_again(
        self, caller: Caller | None, *, needed: bool
    ) -> tuple[Caller | None, list[Header]]:
        """A browser that is about to log in gets a cookie, to which its form is bound."""
        if not needed or caller is None or caller.session is not None or caller.client:
            return caller, []
        identities = self.site.identities
        client = identities.new_client()
        cookie = identities.cookie(
            CLIENT_COOKIE, identities.signed_client(client), caller.secure, None
        )
        known = Caller(caller.who, client=client, secure=caller.secure)
        return known, [(b"set-cookie", cookie.encode("latin-1"))]

    def _context(self, caller: Caller | None, language: str, name: str) -> dict[str, Any]:
        site = self.site
        account = None if caller is None else caller.account
        census = site.catalogue.census
        formats = told_formats(site, language)
        return {
            "t": lambda key, **values: text(language, key, **values),
            "language": language,
            "languages": site.settings.languages,
            "language_names": {
                spoken: text(spoken, "language.name") for spoken in site.settings.languages
            },
            "texts_json": _texts_block(language),
            "formats": formats,
            "formats_json": data_block(formats),
            "census": {"name": census.name_in(language), "country": census.country_in(language)},
            "account": None if account is None else _shown_account(account),
            "csrf": "" if caller is None else site.identities.csrf(caller),
            "office": {
                "name": site.settings.office or site.service.source.show(language),
                "feedback": site.settings.feedback,
            },
            "page": name,
            "start": {"question": site.catalogue.start.to_json(), "view": {}},
            "versions": site.service.versions,
        }


def _shown_account(account: Account) -> dict[str, str]:
    return {"name": account.display_name or account.name, "role": account.role.value}


routes = Routes[Pages]()


def _plain(name: str) -> Callable[[Pages, Request], Awaitable[Response]]:
    async def page(pages: Pages, request: Request) -> Response:
        return pages.response(request, name, await pages.site.identities.of(request.scope))

    return page


@routes.get("/about")
async def figures_page(pages: Pages, request: Request) -> Response:
    """How the figures came about, as far as that is public."""
    site = pages.site
    language = language_of(request, site.settings.languages)
    say = partial(text, language)
    more = about_page(site.service.reading, language, say)
    return pages.response(request, "about", await site.identities.of(request.scope), more=more)


for _path, _name in {
    "/": "builder",
    "/commands": "commands",
    "/api": "api",
}.items():
    routes.get(_path)(_plain(_name))


@routes.get("/login")
async def login_page(pages: Pages, request: Request) -> Response:
    """The page on which somebody logs in."""
    caller = await pages.site.identities.of(request.scope)
    target = local_path(request.query_params.get("next", "/"))
    if caller.account is not None:
        return RedirectResponse(target, 303)
    return pages.response(request, "login", caller, more={"next": target})


@routes.get("/account")
async def account_page(pages: Pages, request: Request) -> Response:
    """Tokens and saved tables of an account."""
    caller = await pages.site.identities.of(request.scope)
    if caller.account is None:
        return RedirectResponse("/login?next=/account", 303)
    return pages.response(request, "account", caller)


@routes.get("/staff")
async def staff_page(pages: Pages, request: Request) -> Response:
    """The state of the server, for the staff."""
    caller = await pages.site.identities.of(request.scope)
    if caller.account is None:
        return RedirectResponse("/login?next=/staff", 303)
    if caller.account.role is not AccountRole.STAFF:
        raise ApiError(403, "forbidden")
    return pages.response(request, "staff", caller)


@routes.post("/login")
async def login(pages: Pages, request: Request) -> Response:
    """Log in, by a form or by JSON."""
    site = pages.site
    form, fields = await _fields(request, "name", "password", "next", "csrf")
    caller = await check_forgery(
        site, request, sent=fields.get("csrf") if form else None, always=True
    )
    name, password = fields.get("name", ""), fields.get("password", "")
    wait = max(site.logins.wait(caller.who), site.logins.wait(f"={name.casefold()}"))
    account, problem = None, "quota_logins"
    if not wait:
        account, wait = await _checked(site, name, password)
        problem = "quota_logins" if wait else "wrong_login"
    if account is not None:
        return await _begin(site, request, caller, account, fields, form=form)
    site.logins.note(caller.who)
    site.logins.note(f"={name.casefold()}")
    site.note_action(caller, Action.LOGIN_FAILED, request_id(request), reason=name[:100])
    status = 429 if wait else 401
    after: tuple[Header, ...] = ((b"retry-after", b"%d" % wait),) if wait else ()
    if not form:
        raise ApiError(status, problem, headers=after)
    more = {
        "problem": text(language_of(request, site.settings.languages), f"errors.{problem}"),
        "next": local_path(fields.get("next", "/")),
        "name": name[:200],
        "minutes": -(-wait // 60),
    }
    page = pages.response(request, "login", caller, status, more)
    page.raw_headers = [*page.raw_headers, *after]
    return page


async def _checked(site: Site, name: str, password: str) -> tuple[Account | None, int]:
    if not 0 < len(name) <= 200 or not 0 < len(password) <= _LONGEST_FIELD:
        return None, 0
    answer = await site.in_thread(site.database.accounts.check_password, name, password)
    return answer.account, answer.wait


async def _begin(
    site: Site,
    request: Request,
    caller: Caller,
    account: Account,
    fields: dict[str, str],
    *,
    form: bool,
) -> Response:
    site.logins.forget(caller.who)
    site.logins.forget(f"={fields['name'].casefold()}")
    if caller.session_id:
        # Whoever was logged in before in this browser is not any more.
        await site.in_thread(site.database.sessions.end, caller.session_id)
    session = await site.in_thread(site.database.sessions.start, account)
    known = Caller(account.name, account=account)
    site.note_action(known, Action.LOGIN, request_id(request))
    cookie = site.identities.cookie(
        SESSION_COOKIE, session.id, caller.secure, round(3_600 * site.settings.session_hours)
    )
    headers = [(b"set-cookie", cookie.encode("latin-1"))]
    if not form:
        shown = {"account": _shown_account(account), "csrf": session.csrf}
        return json_response(shown, headers=headers)
    target = local_path(fields.get("next") or "/").encode("ascii")
    return made_response(303, b"", _HTML, [*headers, (b"location", target)])


@routes.post("/logout")
async def logout(pages: Pages, request: Request) -> Response:
    """End the session."""
    site = pages.site
    form, fields = await _fields(request, "csrf", "next")
    caller = await check_forgery(site, request, sent=fields.get("csrf") if form else None)
    if caller.session_id:
        await site.in_thread(site.database.sessions.end, caller.session_id)
        site.note_action(caller, Action.LOGOUT, request_id(request))
    gone = site.identities.cookie(SESSION_COOKIE, "", caller.secure, 0)
    headers = [
        (b"set-cookie", gone.encode("latin-1")),
        (b"location", b"/"),
        (b"clear-site-data", b'"cache"'),
    ]
    return made_response(303 if form else 204, b"", _HTML, headers if form else headers[:1])


async def _fields(request: Request, *names: str) -> tuple[bool, dict[str, str]]:
    """The fields of a form, or the members of a JSON body; and whether it was a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        if kind == "" and not await request.body():
            return False, {}
        members = await read_object(request, *names)
        for name, value in members.items():
            if not isinstance(value, str):
                raise ApiError(400, "bad_request", place=name)
        return False, members
    body = (await request.body()).decode("utf-8", "replace")
    try:
        pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=20, encoding="utf-8")
    except ValueError:
        raise ApiError(400, "bad_request") from None
    return True, {name: value for name, value in pairs if name in names}
