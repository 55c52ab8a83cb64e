"""Who asks, what is left of their quota, their tokens and saved tables; and what they write."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from sdcensus.model.spec.question import Question
from sdcensus.web.api.errors import ApiError, busy, not_found, too_many
from sdcensus.web.api.requests import (
    check_forgery,
    check_parameters,
    check_session,
    json_response,
    made_response,
    read_object,
    request_id,
    text_member,
)
from sdcensus.web.api.site import Site
from sdcensus.web.api.telling import link_of
from sdcensus.web.database import AccessToken, Account, SavedTable
from sdcensus.web.identity import Caller
from sdcensus.web.routing import Routes

Json = dict[str, Any]

_LONGEST_FEEDBACK = 4_000
_LONGEST_QUESTION = 20_000
_MOST_DAYS = 3_650
#: When to come back after the office has more messages than it can read.
_FULL_SECONDS = 3_600


routes = Routes[Site]()


@routes.get("/account")
async def account(site: Site, request: Request) -> Response:
    """Who asks."""
    check_parameters(request, "lang")
    site.language(request)
    caller = await site.caller(request)
    await site.quotas.know(caller.who, site.rules(caller.role))
    return json_response(_told(site, caller))


@routes.get("/account/tokens")
async def tokens(site: Site, request: Request) -> Response:
    """The tokens of the account."""
    held = await site.in_thread(site.database.tokens.of, await known_account(site, request))
    valid = [told_token(token) for token in held if not token.revoked]
    return json_response({"tokens": valid})


@routes.post("/account/tokens")
async def make_token(site: Site, request: Request) -> Response:
    """A new token. Its secret is shown this once."""
    account, by = await _in_session(site, request)
    members = await read_object(request, "name", "days")
    name = text_member(members, "name", 80, None)
    days = members.get("days")
    if days is None:
        days = site.settings.token_days
    if type(days) is not int or not 1 <= days <= _MOST_DAYS:
        raise ApiError(400, "bad_request", place="days")
    new = await site.in_thread(
        site.database.tokens.make, account, name, days=days, by=by.actor(request_id(request))
    )
    return json_response({"secret": new.text, "token": told_token(new.token)}, 201)


@routes.get("/account/tokens/{id}")
async def show_token(site: Site, request: Request) -> Response:
    """A token, without its secret."""
    return json_response(
        told_token(await _own_token(site, request, await known_account(site, request)))
    )


@routes.delete("/account/tokens/{id}")
async def revoke_token(site: Site, request: Request) -> Response:
    """Make a token worth nothing."""
    account, by = await _in_session(site, request)
    token = await _own_token(site, request, account)
    await site.in_thread(
        site.database.tokens.revoke,
        token.id,
        account=account,
        by=by.actor(request_id(request)),
    )
    return made_response(204, b"", "")


@routes.get("/saved")
async def saved(site: Site, request: Request) -> Response:
    """The tables that somebody keeps."""
    kept = await site.in_thread(site.database.saved.of, await known_account(site, request))
    return json_response({"saved": [told_saved(table) for table in kept]})


@routes.post("/saved")
async def save(site: Site, request: Request) -> Response:
    """Keep a table: its question, and how it is shown."""
    account, caller = await _changing(site, request)
    members = await read_object(request, "name", "title", "question", "view")
    name = text_member(members, "name" if "name" in members else "title", 200, None)
    question = Question.from_json(members.get("question"))
    await site.in_thread(site.service.check, question, caller.role)
    view = members.get("view", {})
    if not isinstance(view, dict):
        raise ApiError(400, "bad_request", place="view")
    shown = {"view": orjson.dumps(view).decode("utf-8")}
    table = await site.in_thread(site.database.saved.add, account, name, question.text, shown)
    return json_response(told_saved(table), 201)


@routes.delete("/saved/{id}")
async def forget(site: Site, request: Request) -> Response:
    """Keep a table no longer."""
    account, _ = await _changing(site, request)
    wanted = request.path_params["id"]
    kept = await site.in_thread(site.database.saved.of, account)
    if wanted not in {table.id for table in kept}:
        raise not_found("unknown_item")
    await site.in_thread(site.database.saved.remove, account, wanted)
    return made_response(204, b"", "")


@routes.post("/feedback")
async def feedback(site: Site, request: Request) -> Response:
    """Write to the office."""
    check_parameters(request, "lang")
    site.language(request)
    caller = await check_forgery(site, request)
    members = await read_object(request, "text", "contact", "question")
    text = text_member(members, "text", _LONGEST_FEEDBACK, None).strip()
    contact = text_member(members, "contact", 200, "")
    if not text:
        raise ApiError(400, "bad_request", place="text")
    asked = members.get("question")
    question = "" if asked is None else _written(asked)
    wait = site.feedback.wait(caller.who)
    if wait:
        raise too_many("quota_feedback", wait)
    if await site.in_thread(site.database.feedback.is_full):
        raise busy("feedback_full", _FULL_SECONDS)
    site.feedback.note(caller.who)
    message = await site.in_thread(
        site.database.feedback.add, text, contact=contact, question=question
    )
    return json_response({"id": message.id}, 201)


async def known_account(site: Site, request: Request) -> Account:
    """Who asks, for what is only theirs.

    Raises:
        ApiError: They have not said who they are (401).
    """
    check_parameters(request, "lang")
    site.language(request)
    caller = await site.caller(request)
    if caller.account is None:
        raise ApiError(401, "unauthorised", headers=((b"www-authenticate", b"Bearer"),))
    return caller.account


async def _changing(site: Site, request: Request) -> tuple[Account, Caller]:
    account = await known_account(site, request)
    return account, await check_forgery(site, request)


async def _in_session(site: Site, request: Request) -> tuple[Account, Caller]:
    """Who has logged in. Whoever finds a token must not be able to make themselves others."""
    account, caller = await _changing(site, request)
    check_session(caller)
    return account, caller


async def _own_token(site: Site, request: Request, account: Account) -> AccessToken:
    wanted = request.path_params["id"]
    for token in await site.in_thread(site.database.tokens.of, account):
        if token.id == wanted and not token.revoked:
            return token
    raise not_found("unknown_item")


def _written(asked: object) -> str:
    """The question that somebody writes about, as they see it: the staff reads it, nobody else."""
    if isinstance(asked, dict):
        return orjson.dumps(asked).decode("utf-8")[:_LONGEST_QUESTION]
    raise ApiError(400, "bad_request", place="question")


def _told(site: Site, caller: Caller) -> Json:
    account = caller.account
    windows = {
        window.what: window for window in site.quotas.windows(caller.who, site.rules(caller.role))
    }
    quota: Json = {}
    for what in ("tables", "cells"):
        window = windows.get(what)
        quota[what] = {
            name: None if window is None else getattr(window, name)
            for name in ("limit", "left", "reset")
        }
    limit = site.job_limit(caller.role)
    left = max(limit - site.jobs.going_on_of(caller.who), 0)
    quota["jobs"] = {"limit": limit, "left": left, "reset": None}
    return {
        "account": None if account is None else told_members(account, "name", "display_name"),
        "role": caller.role.value,
        "quota": quota,
    }


def told_time(moment: datetime | None) -> str | None:
    """A moment as programs write it."""
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def told_members(record: object, *names: str) -> Json:
    """Members of a record, none but those that are named, as plain values."""
    values = {name: getattr(record, name) for name in names}
    return {
        name: told_time(value) if isinstance(value, datetime) else value
        for name, value in values.items()
    }


def told_token(token: AccessToken) -> Json:
    """A token without its secret."""
    return told_members(token, "id", "name", "created", "last_used", "expires")


def told_saved(saved: SavedTable) -> Json:
    """A saved table."""
    question = Question.from_json(orjson.loads(saved.question))
    return {
        **told_members(saved, "id", "name"),
        "question": question.to_json(),
        "view": orjson.loads(saved.view.get("view", "{}")),
        "link": link_of(question),
        "created": told_time(saved.created),
    }
