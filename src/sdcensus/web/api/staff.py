"""What the staff sees: load, slow questions, refusals, alarms, versions; feedback and accounts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from sdcensus.errors import UnknownName
from sdcensus.session.gate.gate import GateReport
from sdcensus.session.watch import WatchScore
from sdcensus.web.api.account import known_account, told_members, told_time
from sdcensus.web.api.errors import ApiError, not_found
from sdcensus.web.api.requests import (
    check_forgery,
    check_session,
    json_response,
    read_object,
    request_id,
    text_member,
)
from sdcensus.web.api.site import Site
from sdcensus.web.api.telling import told_versions
from sdcensus.web.database import Account, AccountRole, Alarm, Feedback
from sdcensus.web.identity import Caller
from sdcensus.web.routing import Routes

Json = dict[str, Any]
Item = TypeVar("Item")


routes = Routes[Site](prefix="/staff")


@routes.get("/summary")
async def summary(site: Site, request: Request) -> Response:
    """The state of the server."""
    await _staff(site, request)
    return json_response(await site.in_thread(_summary, site))


@routes.post("/alarms/{id}/acknowledge")
async def acknowledge(site: Site, request: Request) -> Response:
    """Mark an alarm as seen."""
    return json_response(
        {"alarm": _alarm(await _marked(site, request, site.database.alarms.acknowledge))}
    )


@routes.get("/feedback")
async def feedback(site: Site, request: Request) -> Response:
    """What readers wrote."""
    await _staff(site, request)
    messages = await site.in_thread(site.database.feedback.all)
    return json_response({"feedback": [_feedback(message) for message in messages]})


@routes.post("/feedback/{id}/read")
async def mark_read(site: Site, request: Request) -> Response:
    """Mark a message as read."""
    return json_response(
        {"feedback": _feedback(await _marked(site, request, site.database.feedback.mark_read))}
    )


@routes.get("/accounts")
async def accounts(site: Site, request: Request) -> Response:
    """The accounts."""
    await _staff(site, request)
    known = await site.in_thread(site.database.accounts.all)
    return json_response({"accounts": [_account(account) for account in known]})


@routes.post("/accounts")
async def add_account(site: Site, request: Request) -> Response:
    """A new account. A token is not enough: whoever finds one would have an account as well."""
    caller = await _changing(site, request)
    check_session(caller)
    members = await read_object(request, "name", "role", "password", "display_name")
    account = await site.in_thread(
        site.database.accounts.add,
        text_member(members, "name", 200, None),
        AccountRole.named(text_member(members, "role", 20, "registered")),
        text_member(members, "password", 1_000, None),
        display_name=text_member(members, "display_name", 200, ""),
        by=caller.actor(request_id(request)),
    )
    return json_response({"account": _account(account)}, 201)


async def _staff(site: Site, request: Request) -> None:
    if (await known_account(site, request)).role is not AccountRole.STAFF:
        raise ApiError(403, "forbidden")


async def _changing(site: Site, request: Request) -> Caller:
    await _staff(site, request)
    return await check_forgery(site, request)


async def _marked(site: Site, request: Request, mark: Callable[..., Item]) -> Item:
    """An alarm or a message that somebody has looked at."""
    by = (await _changing(site, request)).actor(request_id(request))
    try:
        return await site.in_thread(mark, request.path_params["id"], by=by)
    except UnknownName:
        raise not_found("unknown_item") from None


def _summary(site: Site) -> Json:
    slowest = sorted(site.made, key=lambda table: -table.milliseconds)[: site.settings.slowest_kept]
    head = site.database.audit.head()
    report = site.watch.report()
    now = datetime.now(UTC)
    return {
        "load": {
            "since": told_time(site.started),
            "seconds": int((now - site.started).total_seconds()),
            "making": len(site.flights),
            "workers": site.settings.workers,
            "queue": site.settings.queue,
            "jobs": site.jobs.going_on,
            "cache": {
                "entries": len(site.cache),
                "bytes": site.cache.weight,
                "limit": site.settings.cache_bytes,
                **{"hit": 0, "miss": 0},
                **site.metrics.cached(),
            },
            "processor_seconds": round(time.process_time(), 1),
            "processors": os.cpu_count(),
        },
        "outcomes": site.metrics.outcomes(),
        "refusals": site.metrics.refused(),
        "slowest": [
            told_members(table, "at", "question", "format", "cells", "milliseconds")
            for table in slowest
        ],
        "alarms": [_alarm(alarm) for alarm in site.database.alarms.all()],
        "watch": {
            "everybody": _score(report.everybody),
            "accounts": [_score(account) for account in report.accounts],
        },
        "versions": {
            **told_versions(site.service.versions),
            "secret_id": site.service.versions.secret_id,
            "started": told_time(site.started),
        },
        "groups": told_groups(site.service.risks),
        "audit": {
            **told_members(site.writer, "healthy", "waiting", "error"),
            "entries": head.sequence,
            "head": head.hash,
        },
    }


def told_groups(gate: GateReport | None) -> Json | None:
    """What the gate found before the service was opened: for the staff only.

    A share that had to be counted is told as what it is below: no figure of true counts leaves.
    """
    if gate is None:
        return None
    return {
        "limit": gate.limit,
        "units": [
            {
                "of": share.of.plural,
                "share": round(share.share, 6) if share.bounded else gate.limit,
                "bounded": share.bounded,
                "smallest_group": share.noise.smallest_group,
                "definition_keys": share.noise.definition_keys,
            }
            for share in gate.shares
        ],
    }


def _score(score: WatchScore) -> Json:
    return {name: value for name, value in asdict(score).items() if name != "last"}


def _alarm(alarm: Alarm) -> Json:
    return {
        **told_members(alarm, "id", "pattern", "who"),
        "score": round(alarm.score, 2),
        **told_members(alarm, "explanation", "first", "last", "count"),
        **told_members(alarm, "acknowledged_by", "acknowledged"),
    }


def _feedback(feedback: Feedback) -> Json:
    return told_members(feedback, "id", "time", "text", "contact", "question", "read_by", "read")


def _account(account: Account) -> Json:
    return told_members(account, "name", "role", "display_name", "created", "disabled")
