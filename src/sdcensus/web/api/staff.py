"""What the staff sees: load, slow questions, refusals, alarms, versions; feedback and accounts."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sdcensus.errors import UnknownName
from sdcensus.session.gate.gate import GateReport
from sdcensus.session.watch import WatchScore
from sdcensus.web.api.account import told_time
from sdcensus.web.api.errors import ApiError, not_found
from sdcensus.web.api.requests import (
    check_forgery,
    check_parameters,
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


routes = Routes[Site](prefix="/staff")


@routes.get("/summary")
async def summary(site: Site, request: Request) -> Response:
    """The state of the server."""
    await _staff(site, request)
    return json_response(await site.in_thread(_summary, site))


@routes.post("/alarms/{id}/acknowledge")
async def acknowledge(site: Site, request: Request) -> Response:
    """Mark an alarm as seen."""
    caller = await _staff(site, request, changing=True)
    try:
        alarm = await site.in_thread(
            site.database.alarms.acknowledge,
            request.path_params["id"],
            by=caller.actor(request_id(request)),
        )
    except UnknownName:
        raise not_found("unknown_item") from None
    return json_response({"alarm": _alarm(alarm)})


@routes.get("/feedback")
async def feedback(site: Site, request: Request) -> Response:
    """What readers wrote."""
    await _staff(site, request)
    messages = await site.in_thread(site.database.feedback.all)
    return json_response({"feedback": [_feedback(message) for message in messages]})


@routes.post("/feedback/{id}/read")
async def mark_read(site: Site, request: Request) -> Response:
    """Mark a message as read."""
    caller = await _staff(site, request, changing=True)
    try:
        message = await site.in_thread(
            site.database.feedback.mark_read,
            request.path_params["id"],
            by=caller.actor(request_id(request)),
        )
    except UnknownName:
        raise not_found("unknown_item") from None
    return json_response({"feedback": _feedback(message)})


@routes.get("/accounts")
async def accounts(site: Site, request: Request) -> Response:
    """The accounts."""
    await _staff(site, request)
    known = await site.in_thread(site.database.accounts.all)
    return json_response({"accounts": [_account(account) for account in known]})


@routes.post("/accounts")
async def add_account(site: Site, request: Request) -> Response:
    """A new account. A token is not enough: whoever finds one would have an account as well."""
    caller = await _staff(site, request, changing=True)
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


async def _staff(site: Site, request: Request, *, changing: bool = False) -> Caller:
    check_parameters(request, "lang")
    site.language(request)
    caller = await site.caller(request)
    if caller.account is None:
        raise ApiError(401, "unauthorised", headers=((b"www-authenticate", b"Bearer"),))
    if caller.account.role is not AccountRole.STAFF:
        raise ApiError(403, "forbidden")
    return await check_forgery(site, request) if changing else caller


def _summary(site: Site) -> Json:
    slowest = sorted(site.made, key=lambda one: -one.milliseconds)[: site.settings.slowest_kept]
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
            {
                "at": told_time(one.at),
                "question": one.question,
                "format": one.format,
                "cells": one.cells,
                "milliseconds": one.milliseconds,
            }
            for one in slowest
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
            "healthy": site.writer.healthy,
            "waiting": site.writer.waiting,
            "error": site.writer.error,
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
        "id": alarm.id,
        "pattern": alarm.pattern,
        "who": alarm.who,
        "score": round(alarm.score, 2),
        "explanation": dict(alarm.explanation),
        "first": told_time(alarm.first),
        "last": told_time(alarm.last),
        "count": alarm.count,
        "acknowledged_by": alarm.acknowledged_by,
        "acknowledged": told_time(alarm.acknowledged),
    }


def _feedback(feedback: Feedback) -> Json:
    return {
        "id": feedback.id,
        "time": told_time(feedback.time),
        "text": feedback.text,
        "contact": feedback.contact,
        "question": feedback.question,
        "read_by": feedback.read_by,
        "read": told_time(feedback.read),
    }


def _account(account: Account) -> Json:
    return {
        "name": account.name,
        "role": account.role.value,
        "display_name": account.display_name,
        "created": told_time(account.created),
        "disabled": told_time(account.disabled),
    }
