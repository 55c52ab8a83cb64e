"""Tables: asked by POST or by a link, checked without counting, made as jobs."""

from __future__ import annotations

import time
from collections.abc import Container

from starlette.requests import Request
from starlette.responses import Response

from sdcensus.errors import SdcensusError
from sdcensus.model.spec.question import Question
from sdcensus.web.answers import CachedAnswer
from sdcensus.web.api.answering import (
    answer,
    audit_question,
    deliver,
    job_response,
    told_job,
    with_quota,
)
from sdcensus.web.api.errors import ApiError, as_api_error, not_found
from sdcensus.web.api.requests import (
    check_forgery,
    check_parameters,
    entry_response,
    json_response,
    made_response,
    parameter,
    read_json,
    request_id,
    sent_entry,
    wants_job,
)
from sdcensus.web.api.site import Site, asked_format
from sdcensus.web.api.telling import TABLES, AskedTable, told_check
from sdcensus.web.caching import Key, key_of
from sdcensus.web.identity import Caller, Headers, headers_of, origin_of
from sdcensus.web.jobs import Job
from sdcensus.web.middleware import App, Receive, Scope, Send
from sdcensus.web.routing import Routes

_QUESTION = ("of", "measure", "by", "where", "codes", "groups")


routes = Routes[Site]()


async def _asked_table(site: Site, request: Request, question: Question | None) -> Response:
    caller = await site.caller(request)
    try:
        check_parameters(request, *(_QUESTION if question is None else ()), "lang", "format")
        language = site.language(request)
        format_name = asked_format(parameter(request, "format"), request.headers.get("accept", ""))
        if question is None:
            question = Question.from_parameters(request.query_params.multi_items())
    except Exception as error:
        audit_question(site, caller, error, request_id(request))
        raise
    origin = origin_of(request.scope, secure=caller.secure)
    asked = AskedTable(question, format_name, language, origin=origin)
    later = wants_job(request)
    answered = await answer(site, caller, asked, request=request_id(request), as_job=later)
    if isinstance(answered, Job):
        return job_response(site, caller, answered)
    if request.method == "GET" and _is_plain(request.headers):
        site.cache.put_alias(_alias(request.scope), asked.key(caller.role))
    return entry_response(request, site, caller, answered)


async def _read_question(site: Site, request: Request) -> Question:
    try:
        return Question.from_json(await read_json(request))
    except (SdcensusError, ApiError) as error:
        caller = await site.caller(request)
        audit_question(site, caller, error, request_id(request))
        raise


@routes.get("/tables")
async def get_table(site: Site, request: Request) -> Response:
    """A published table by its link."""
    return await _asked_table(site, request, None)


@routes.post("/tables")
async def post_table(site: Site, request: Request) -> Response:
    """A published table. Large ones become jobs."""
    await check_forgery(site, request)
    return await _asked_table(site, request, await _read_question(site, request))


@routes.post("/tables/check")
async def check_table(site: Site, request: Request) -> Response:
    """How large a table would be, and whether it is allowed. Nothing is counted."""
    check_parameters(request, "lang")
    language = site.language(request)
    caller = await check_forgery(site, request)
    question = Question.from_json(await read_json(request))
    checked = await site.in_thread(site.service.check, question, caller.role)
    return json_response(told_check(checked, site.schema, language))


@routes.get("/jobs/{job}")
async def get_job(site: Site, request: Request) -> Response:
    """How far a large table is."""
    _, job = await _own_job(site, request)
    again = [] if job.ended else [(b"retry-after", b"1")]
    return json_response(told_job(job), headers=again)


@routes.get("/jobs/{job}/result")
async def get_result(site: Site, request: Request) -> Response:
    """A large table that is ready."""
    caller, job = await _own_job(site, request)
    entry = await site.in_thread(site.jobs.result, job)
    if entry is None:
        raise not_found("job")
    response = entry_response(request, site, caller, entry)
    return _only_for_one(response)


@routes.delete("/jobs/{job}")
async def delete_job(site: Site, request: Request) -> Response:
    """Forget a large table."""
    await check_forgery(site, request)
    _, job = await _own_job(site, request)
    site.jobs.remove(job)
    return made_response(204, b"", "")


async def _own_job(site: Site, request: Request) -> tuple[Caller, Job]:
    caller = await site.caller(request)
    job = site.jobs.find(request.path_params["job"], caller.owner)
    if job is None:
        raise not_found("job")
    return caller, job


def _only_for_one(response: Response) -> Response:
    """The result of a job is its owner's: nobody in between keeps it."""
    response.raw_headers = [
        (name, b"private, no-cache") if name == b"cache-control" else (name, value)
        for name, value in response.raw_headers
    ]
    return response


class FastTables:
    """Answers links whose answers are at hand, before anything else looks at them.

    Only for those without account and cookies; everybody else takes the usual way, and gets the
    same answer.
    """

    def __init__(self, app: App, *, site: Site) -> None:
        self._app, self._site = app, site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == TABLES:
            headers = headers_of(scope)
            if not (b"authorization" in headers or b"cookie" in headers or b"prefer" in headers):
                entry = self._site.cache.get_alias(_alias(scope))
                if entry is not None and entry.refusal is None:
                    response = await self._answered(scope, headers, entry)
                    await response(scope, receive, send)
                    return
        await self._app(scope, receive, send)

    async def _answered(self, scope: Scope, headers: Headers, entry: CachedAnswer) -> Response:
        site, started = self._site, time.perf_counter()
        scope["sdcensus.route"] = TABLES
        caller = await site.identities.of(scope)
        rules = site.rules(caller.role)
        await site.quotas.know(caller.who, rules)
        site.metrics.cache.labels("hit").inc()
        try:
            site.quotas.take(caller.who, rules, entry.cells)
        except Exception as error:
            known = as_api_error(error)
            raise (error if known is None else with_quota(site, caller, known)) from error
        await deliver(site, caller, entry, scope["sdcensus.request"], started)
        return sent_entry(
            site,
            caller,
            entry,
            encoding=headers.get(b"accept-encoding"),
            if_none_match=headers.get(b"if-none-match"),
        )


def _is_plain(headers: Container[str]) -> bool:
    """Whether nothing but the link and what it accepts decides about the answer."""
    return not any(name in headers for name in ("authorization", "cookie", "prefer"))


def _alias(scope: Scope) -> Key:
    """A key for a link as it was written, with what the answer depends on besides."""
    headers = headers_of(scope)
    said = [headers.get(name) for name in (b"accept", b"accept-language", b"host")]
    return key_of(scope["query_string"], *said, headers.get(b"x-forwarded-proto"))
