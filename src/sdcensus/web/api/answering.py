"""From a question to its answer: at hand, made while somebody waits, or as a job.

The order is always the same: quota, answer, watch, audit, and only then the reader.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime

from starlette.responses import Response

from sdcensus.session.answer import JSON_STAT
from sdcensus.session.watch import Observation, WatchAlarm
from sdcensus.web.answers import CachedAnswer
from sdcensus.web.api.errors import COME_BACK, ApiError, as_api_error, busy, too_many
from sdcensus.web.api.requests import json_response
from sdcensus.web.api.site import Site
from sdcensus.web.api.telling import AskedTable, make_entry, refused_entry
from sdcensus.web.caching import CacheBusy, Flight
from sdcensus.web.database import Action, AuditEntry as AuditEntry
from sdcensus.web.identity import CLIENT_COOKIE, Caller
from sdcensus.web.jobs import Job, JobStatus
from sdcensus.web.middleware import log_failure

#: Reasons that the audit and the metrics note beside a failure.
_LONGEST_REASON = 200


async def answer(
    site: Site, caller: Caller, asked: AskedTable, *, request: str, as_job: bool = False
) -> CachedAnswer | Job:
    """The answer to a question, or the job that makes it.

    Raises:
        ApiError: It is refused, or cannot be answered now.
    """
    started = time.perf_counter()
    try:
        return await _answered(site, caller, asked, request, as_job, started)
    except Exception as error:
        known = as_api_error(error)
        if known is None or known.reason != "refused":
            _note_failure(site, caller, asked, request, known, started)
        if isinstance(error, CacheBusy):
            site.metrics.too_many.labels("queue").inc()
        if known is None:
            raise
        raise with_quota(site, caller, known) from error


def with_quota(site: Site, caller: Caller, error: ApiError) -> ApiError:
    """An error that also says what is left of the quota, as every answer about a table does."""
    quota = site.quotas.headers(caller.who, site.rules(caller.role))
    error.headers = (*error.headers, *quota)
    return error


async def _answered(
    site: Site, caller: Caller, asked: AskedTable, request: str, as_job: bool, started: float
) -> CachedAnswer | Job:
    rules = site.rules(caller.role)
    await site.quotas.know(caller.who, rules)
    key = asked.key(caller.role)
    entry = site.cache.get(key)
    site.metrics.cache.labels("miss" if entry is None else "hit").inc()
    taken = 0
    if entry is None:
        if site.stopping:
            raise busy("stopping")
        checked = await site.in_thread(site.service.check, asked.question, caller.role)
        entry = refused_entry(site.service, asked, checked)
        taken = checked.cells
    elif entry.refusal is None:
        taken = entry.cells
    if entry is not None and entry.refusal is not None:
        return await deliver(site, caller, entry, request, started)
    if rules.cells_per_hour is not None and taken > rules.cells_per_hour:
        # Waiting does not help: there is no Retry-After.
        values = {"cells": taken, "limit": rules.cells_per_hour}
        raise ApiError(429, "quota_table", values=values)
    site.quotas.take(caller.who, rules, taken)
    try:
        if entry is None:
            most = site.settings.online_cells
            if asked.format.startswith("xlsx"):
                most = min(most, site.settings.online_workbook_cells)
            if as_job or taken > most:
                return start_job(site, caller, asked, request, taken)
            flight = _flight(site, caller, asked)
            try:
                entry = await flight.wait(site.settings.time_limit)
            except TimeoutError:
                return _as_job_after_all(site, caller, asked, request, taken, flight)
        return await deliver(site, caller, entry, request, started)
    except BaseException as error:
        _give_back(site, caller, taken, error)
        raise


def _give_back(site: Site, caller: Caller, taken: int, error: BaseException) -> None:
    """Uncount a table that was not delivered. One that is refused after it was counted costs its
    cells: counting is the work. Those that code lists refuse never come here."""
    counted = isinstance(error, ApiError) and error.reason == "refused"
    site.quotas.give_back(caller.who, 0 if counted else taken)


def _flight(site: Site, caller: Caller, asked: AskedTable) -> Flight[CachedAnswer]:
    key, role = asked.key(caller.role), caller.role
    flight = site.flights.start(
        key, lambda progress: make_entry(site.service, asked, role, progress)
    )
    flight.future.add_done_callback(lambda future: _keep(site, asked, caller, future))
    return flight


def _keep(
    site: Site, asked: AskedTable, caller: Caller, future: asyncio.Future[CachedAnswer]
) -> None:
    if not future.cancelled() and future.exception() is None:
        key = asked.key(caller.role)
        if site.cache.get(key) is None:
            site.keep(key, future.result())


async def deliver(
    site: Site,
    caller: Caller,
    entry: CachedAnswer,
    request: str,
    started: float,
    action: Action | None = None,
) -> CachedAnswer:
    """Hand out an answer: watched, slowed where the watch says so, and noted.

    Raises:
        ApiError: The policy refuses it (403).
        OutputError: It cannot be noted, and is therefore not given.
    """
    given = entry.refusal is None and entry.spec is not None
    if given and site.is_new(caller.who, entry.spec_hash):
        await _watched(site, caller, entry, request)
    if action is None:
        action = Action.TABLE if entry.format == JSON_STAT else Action.DOWNLOAD
    site.note(
        AuditEntry(
            who=caller.who,
            role=caller.audit_role,
            action=action,
            spec_hash=entry.spec_hash,
            question=entry.question,
            cells=entry.cells,
            format=entry.format,
            outcome=entry.outcome,
            reason=",".join(dict.fromkeys(entry.codes))[:_LONGEST_REASON],
            milliseconds=round(1_000 * (time.perf_counter() - started)),
            request=request,
        )
    )
    site.metrics.answers.labels(entry.outcome, caller.audit_role).inc()
    if entry.refusal is not None:
        for code in dict.fromkeys(entry.codes):
            site.metrics.refusals.labels(code).inc()
        raise ApiError(
            403,
            "refused",
            "refused",
            reasons=list(entry.refusal.reasons),
            remedies=list(entry.refusal.remedies),
        )
    return entry


async def _watched(site: Site, caller: Caller, entry: CachedAnswer, request: str) -> None:
    """Tell the watch; wait as long as it says. It cannot refuse, and a fault of it does not."""
    assert entry.spec is not None
    loop = asyncio.get_running_loop()
    try:
        seen: Observation = await loop.run_in_executor(
            site.watching, site.watch.seen, caller.who, entry.spec, time.time()
        )
        for alarm in seen.alarms:
            site.metrics.alarms.labels(alarm.pattern.value).inc()
            await site.in_thread(_report, site, alarm)
    except Exception as error:
        log_failure(request, error)
        return
    delay = min(max(seen.delay, 0.0), site.settings.longest_delay)
    if delay > 0:
        site.metrics.delays.inc(delay)
        await asyncio.sleep(delay)


def _report(site: Site, alarm: WatchAlarm) -> None:
    explanation = {
        "values": dict(alarm.values),
        "tables": list(alarm.specs),
        "sentence": alarm.sentence,
    }
    site.database.alarms.report(alarm.pattern.value, alarm.who, alarm.score, explanation)


def _note_failure(
    site: Site,
    caller: Caller,
    asked: AskedTable,
    request: str,
    error: ApiError | None,
    started: float,
) -> None:
    reason = "internal" if error is None else error.reason
    entry = _failed(site, caller, reason, request)
    took = round(1_000 * (time.perf_counter() - started))
    question = asked.question.text
    site.note(replace(entry, question=question, format=asked.format, milliseconds=took))


def _failed(site: Site, caller: Caller, reason: str, request: str) -> AuditEntry:
    site.metrics.answers.labels("failed", caller.audit_role).inc()
    return AuditEntry(
        who=caller.who,
        role=caller.audit_role,
        action=Action.TABLE,
        outcome="failed",
        reason=reason,
        request=request,
    )


# ---------------------------------------------------------------------------------------- jobs


def start_job(
    site: Site,
    caller: Caller,
    asked: AskedTable,
    request: str,
    taken: int,
    flight: Flight[CachedAnswer] | None = None,
) -> Job:
    """Begin to make a table that nobody waits for.

    Raises:
        ApiError: Somebody has enough of them already (429), or everybody together (503).
    """
    limit = site.job_limit(caller.role)
    if site.jobs.going_on_of(caller.who) >= limit:
        site.metrics.too_many.labels("jobs").inc()
        raise too_many("quota_jobs", COME_BACK, limit=limit)
    if site.jobs.going_on >= site.settings.jobs_waiting + site.settings.jobs_running:
        raise CacheBusy
    owner = caller.owner or f"client:{site.identities.new_client()}"
    job = site.jobs.add(owner, caller.who)
    task = asyncio.create_task(_run_job(site, caller, asked, request, job, taken, flight))
    site.job_tasks.add(task)
    task.add_done_callback(site.job_tasks.discard)
    return job


def _as_job_after_all(
    site: Site,
    caller: Caller,
    asked: AskedTable,
    request: str,
    taken: int,
    flight: Flight[CachedAnswer],
) -> Job:
    """The table takes longer than a request waits: it goes on as a job, if one may be had."""
    try:
        return start_job(site, caller, asked, request, taken, flight)
    except (ApiError, CacheBusy):
        raise busy("slow", seconds=max(COME_BACK, round(site.settings.time_limit / 2))) from None


async def _run_job(
    site: Site,
    caller: Caller,
    asked: AskedTable,
    request: str,
    job: Job,
    taken: int,
    flight: Flight[CachedAnswer] | None,
) -> None:
    started = time.perf_counter()
    key, role = asked.key(caller.role), caller.role
    try:
        entry = site.cache.get(key)
        if entry is None:
            if flight is None:
                flight = site.job_flights.start(
                    key, lambda progress: make_entry(site.service, asked, role, progress)
                )
            job.flight = flight
            entry = await flight.wait()
            if site.cache.get(key) is None:
                site.keep(key, entry)
        await deliver(site, caller, entry, request, started, Action.JOB)
        files = await site.in_thread(site.jobs.write, job, entry)
        site.jobs.done(job, entry, files)
    except asyncio.CancelledError:
        site.jobs.failed(job, busy("stopping").told(asked.language, request))
        raise
    except Exception as error:
        known = as_api_error(error)
        if known is None:
            site.metrics.failures.inc()
            log_failure(request, error)
            known = ApiError(500, "internal")
        _give_back(site, caller, taken, known)
        site.jobs.failed(job, known.told(asked.language, request))
        if known.reason != "refused":
            _note_failure(site, caller, asked, request, known, started)


def told_job(job: Job) -> dict[str, object]:
    """A job as plain values."""
    result = f"/api/v1/jobs/{job.id}/result" if job.status is JobStatus.DONE else None
    expires = datetime.fromtimestamp(job.expires, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "job": {
            "id": job.id,
            "status": job.shown_status.value,
            "progress": round(job.progress, 3),
            "stage": job.stage,
            "result": result,
            "expires": expires,
            "error": job.error,
        }
    }


def audit_question(site: Site, caller: Caller, error: Exception, request: str) -> None:
    """Note a question that could not even be read."""
    known = as_api_error(error)
    reason = "bad-question" if known is None else known.reason
    site.note(_failed(site, caller, reason, request))


def job_response(site: Site, caller: Caller, job: Job) -> Response:
    """Where to look for a table that is being made."""
    headers = [
        (b"location", f"/api/v1/jobs/{job.id}".encode("ascii")),
        (b"retry-after", b"1"),
        (b"preference-applied", b"respond-async"),
        *site.quotas.headers(caller.who, site.rules(caller.role)),
    ]
    if not caller.owner:
        # Somebody without an account is known again by a cookie, from the first job on.
        value = site.identities.signed_client(job.owner.removeprefix("client:"))
        cookie = site.identities.cookie(CLIENT_COOKIE, value, caller.secure, None)
        headers.append((b"set-cookie", cookie.encode("latin-1")))
    return json_response(told_job(job), 202, headers)
